"""The pages of the rules, as files that an editor can open."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from compilelint import api
from compilelint.errors import UsageProblem


class Pages:
    """Written when first asked for; gone with the server."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="compilelint-")
        self._uris: dict[str, str] = {}

    def uri(self, code: str) -> str | None:
        """Where the page of a rule is; None where the rule is not known here: one of another folder's settings."""
        if code not in self._uris:
            text = self.text(code)
            if not text:
                return None
            page = Path(self._folder.name).resolve() / f"{code}.md"
            page.write_text(text, encoding="utf-8")
            self._uris[code] = page.as_uri()
        return self._uris[code]

    def text(self, code: str) -> str:
        """The page of a rule, empty where there is none."""
        try:
            return api.rule_page(api.find_rule(code))
        except UsageProblem:
            return ""

    def close(self) -> None:
        self._folder.cleanup()
