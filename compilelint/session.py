"""Documents that are being edited: checked and fixed again and again, as texts that are not on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from compilelint import registry
from compilelint.checking import display_path, excluded, findings_in
from compilelint.config import Settings
from compilelint.finding import Finding
from compilelint.fix.fixpoint import fix_texts
from compilelint.outcome import Outcome
from compilelint.source.parsed import Parsed

Texts = Mapping[Path, str]  # by absolute path: they stand for what is on disk


@dataclass(slots=True)
class Session:
    """Remembers what documents import, so that only the document itself is read again. For one thread at a time."""

    _parsed: Parsed = field(default_factory=Parsed)

    def check(self, path: Path, texts: Texts, settings: Settings, *, build_fixes: bool = False) -> Outcome:
        """What is found in the document at `path`; nothing where it is excluded."""
        registry.selected_codes(settings)
        if excluded(path, settings):
            return Outcome()
        return self._check(path, texts, settings, build_fixes=build_fixes)

    def fixed(
        self, path: Path, texts: Texts, settings: Settings, wanted: Callable[[Finding], bool], *, unsafe: bool
    ) -> str:
        """The document's text with all fixes of `wanted` findings made, `unsafe` ones too."""
        shown = display_path(path)

        def find(current: Mapping[str, str], dirty: Collection[str]) -> list[Finding]:
            outcome = self._check(path, {**texts, path: current[shown]}, settings, build_fixes=True)
            return [finding for finding in outcome.findings if wanted(finding)]

        return fix_texts({shown: texts[path]}, find, unsafe=unsafe)[shown].after

    def _check(self, path: Path, texts: Texts, settings: Settings, *, build_fixes: bool) -> Outcome:
        shown = display_path(path)
        named = {shown if other == path else other.as_posix(): text for other, text in texts.items()}
        alone = replace(settings, jobs=1, cache=None)
        outcome = findings_in([Path(shown)], alone, build_fixes=build_fixes, texts=named, parsed=self._parsed)
        outcome.findings = [f for f in outcome.findings if f.severity.rank >= settings.severity.rank]
        return outcome
