"""Documents that are being edited: checked and fixed again and again, as texts that are not on disk."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from compilelint import baseline, registry, runner
from compilelint.again.edited import Edited
from compilelint.checking import display_path, excluded, source_lines, visible
from compilelint.config import Settings
from compilelint.finding import Finding
from compilelint.fix.fixpoint import fix_texts
from compilelint.outcome import Outcome
from compilelint.source.notebook import is_notebook
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
    _edited: tuple[Path, Texts, Edited] | None = None  # the analysis done last, of which document, beside which others

    def check(self, path: Path, texts: Texts, settings: Settings, *, build_fixes: bool = False) -> Outcome:
        """What is found in the document at `path`; nothing where it is excluded.

        After a change of comments alone, what other files hold is not looked at again; after one in a function that
        nobody else would notice, the other functions are not.
        """
        registry.selected_codes(settings)
        if excluded(path, settings):
            return Outcome()
        text = texts[path]
        if build_fixes:
            return self._visible(self._analysed(path, texts, settings, build_fixes=True), path, text, settings)
        others = {other: text for other, text in texts.items() if other != path}
        last = self._last.get(path)
        same = last is not None and last.text == text
        if (
            last is None
            or same
            or (last.others, last.settings) != (others, settings)
            or not last.remarks.only_differ(text)
        ):
            outcome = None if same else self._followed(path, text, others, settings)
            outcome = outcome or self._begun(path, texts, others, settings)
            last = self._last[path] = _Last(text, others, settings, Remarks(text), outcome)
        last.text = text
        return self._visible(last.outcome, path, text, settings)

    def close(self, path: Path) -> None:
        """Forgets a document."""
        self._last.pop(path, None)
        if self._edited is not None and self._edited[0] == path:
            self._forget()

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

    def _followed(self, path: Path, text: str, others: Texts, settings: Settings) -> Outcome | None:
        """What is found, where the last analysis can follow the text."""
        if self._edited is None or self._edited[:2] != (path, others) or self._edited[2].settings != _alone(settings):
            return None
        edited = self._edited[2]
        outcome = edited.update(text)
        if outcome is None and not edited.spoilt and (finding := runner.unreadable(Path(display_path(path)), text)):
            return Outcome([finding])  # it may go on once that can be read
        return outcome

    def _begun(self, path: Path, texts: Texts, others: Texts, settings: Settings) -> Outcome:
        """What is found, looked at anew. The analysis is kept."""
        self._forget()
        if "torch" not in texts[path].lower() or is_notebook(path):
            return self._analysed(path, texts, settings, build_fixes=False)
        shown = Path(display_path(path))
        try:
            outcome, edited = Edited.begun(shown, _alone(settings), self._named(path, texts), self._parsed)
        except Exception:  # noqa: BLE001  # what it was is told by a run that is made for it
            return self._analysed(path, texts, settings, build_fixes=False)
        self._edited = path, others, edited
        gc.freeze()  # it is large, and stays
        return outcome

    def _forget(self) -> None:
        if self._edited is not None:
            gc.unfreeze()
            self._edited[2].release()
            self._edited = None

    def _analysed(self, path: Path, texts: Texts, settings: Settings, *, build_fixes: bool) -> Outcome:
        shown, named = Path(display_path(path)), self._named(path, texts)
        return runner.run([shown], _alone(settings), build_fixes=build_fixes, texts=named, parsed=self._parsed)

    @staticmethod
    def _named(path: Path, texts: Texts) -> dict[str, str]:
        return {display_path(path) if other == path else other.as_posix(): text for other, text in texts.items()}

    def _visible(self, outcome: Outcome, path: Path, text: str, settings: Settings) -> Outcome:
        shown = display_path(path)
        found = visible(outcome.findings, [Path(shown)], settings, {shown: text})
        kept = [finding for finding in found if finding.severity.rank >= settings.severity.rank]
        if settings.baseline is not None:
            kept = baseline.judge(settings.baseline, kept, [shown], lambda path: source_lines(path, {shown: text})).new
        return Outcome(kept, outcome.stats, outcome.errors, outcome.reads)


def _alone(settings: Settings) -> Settings:
    return replace(settings, jobs=1, cache=None)
