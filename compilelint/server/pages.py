"""The pages of the rules, as files that an editor can open."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from compilelint import api


class Pages:
    """Written when first asked for; gone with the server."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="compilelint-")
        self._uris: dict[str, str] = {}

    def uri(self, code: str) -> str:
        """Where the page of a rule is. Raises ConfigError for what is no rule."""
        if code not in self._uris:
            page = Path(self._folder.name).resolve() / f"{code}.md"
            page.write_text(self.text(code), encoding="utf-8")
            self._uris[code] = page.as_uri()
        return self._uris[code]

    def text(self, code: str) -> str:
        return api.rule_page(api.find_rule(code))

    def close(self) -> None:
        self._folder.cleanup()
