"""Documents that are being edited: checked and fixed again and again, as texts that are not on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from compilelint import baseline, registry, runner
from compilelint.checking import display_path, excluded, source_lines, visible
from compilelint.config import Settings
from compilelint.finding import Finding
from compilelint.fix.fixpoint import fix_texts
from compilelint.outcome import Outcome
from compilelint.source.parsed import Parsed
from compilelint.source.remarks import Remarks

Texts = Mapping[Path, str]  # by absolute path: they stand for what is on disk


@dataclass(slots=True)
class _Last:
    """The newest analysis of a document, and what it went by."""

    text: str
    others: Texts
    settings: Settings
    remarks: Remarks
    outcome: Outcome


@dataclass(slots=True)
class Session:
    """Remembers what documents import, so that only the document itself is read again. For one thread at a time."""

    _parsed: Parsed = field(default_factory=Parsed)
    _last: dict[Path, _Last] = field(default_factory=dict)

    def check(self, path: Path, texts: Texts, settings: Settings, *, build_fixes: bool = False) -> Outcome:
        """What is found in the document at `path`; nothing where it is excluded.

        After a change of comments alone, what other files hold is not looked at again.
        """
        registry.selected_codes(settings)
        if excluded(path, settings):
            return Outcome()
        text = texts[path]
        if build_fixes:
            return self._visible(self._analysed(path, texts, settings, build_fixes=True), path, text, settings)
        others = {other: text for other, text in texts.items() if other != path}
        last = self._last.get(path)
        if (
            last is None
            or last.text == text
            or (last.others, last.settings) != (others, settings)
            or not last.remarks.only_differ(text)
        ):
            outcome = self._analysed(path, texts, settings, build_fixes=False)
            last = self._last[path] = _Last(text, others, settings, Remarks(text), outcome)
        last.text = text
        return self._visible(last.outcome, path, text, settings)

    def close(self, path: Path) -> None:
        """Forgets a document."""
        self._last.pop(path, None)

    def fixed(
        self, path: Path, texts: Texts, settings: Settings, wanted: Callable[[Finding], bool], *, unsafe: bool
    ) -> str:
        """The document's text with all fixes of `wanted` findings made, `unsafe` ones too."""
        shown = display_path(path)

        def find(current: Mapping[str, str], dirty: Collection[str]) -> list[Finding]:
            now = {**texts, path: current[shown]}
            return [
                finding for finding in self.check(path, now, settings, build_fixes=True).findings if wanted(finding)
            ]

        return fix_texts({shown: texts[path]}, find, unsafe=unsafe)[shown].after

    def _analysed(self, path: Path, texts: Texts, settings: Settings, *, build_fixes: bool) -> Outcome:
        shown = display_path(path)
        named = {shown if other == path else other.as_posix(): text for other, text in texts.items()}
        alone = replace(settings, jobs=1, cache=None)
        return runner.run([Path(shown)], alone, build_fixes=build_fixes, texts=named, parsed=self._parsed)

    def _visible(self, outcome: Outcome, path: Path, text: str, settings: Settings) -> Outcome:
        shown = display_path(path)
        found = visible(outcome.findings, [Path(shown)], settings, {shown: text})
        kept = [finding for finding in found if finding.severity.rank >= settings.severity.rank]
        if settings.baseline is not None:
            kept = baseline.judge(settings.baseline, kept, [shown], lambda path: source_lines(path, {shown: text})).new
        return Outcome(kept, outcome.stats, outcome.errors, outcome.reads)
