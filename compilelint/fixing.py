"""A fix from paths to texts: like a check, with the rewrites built, in rounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from compilelint import registry
from compilelint.checking import cut_short, display_path, findings_in, select_files, source_lines
from compilelint.config import Settings
from compilelint.finding import Finding
from compilelint.fix.run import FixResult, fix_files
from compilelint.runner import unreadable
from compilelint.source.notebook import is_notebook, place
from compilelint.vendor import Copies

if TYPE_CHECKING:
    from compilelint.outcome import InternalError
    from compilelint.proving import Prover


@dataclass(slots=True)
class FixRun:
    """The outcome of a fix: the files' (`result`), those that are no Python (`unreadable`), and what went wrong."""

    result: FixResult
    files: int
    applied: bool
    unreadable: list[Finding] = field(default_factory=list)
    errors: list[InternalError] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    prover: Prover | None = None

    @property
    def told(self) -> list[str]:
        """A line for each file that is no Python: where, and what is wrong."""
        lines = []
        for finding in self.unreadable:
            span, where = finding.span, f"{finding.span.path}:{finding.span.line}"
            if is_notebook(span.path):
                cell, line = place(source_lines(span.path), span.line)
                where = f"{span.path}:cell {cell}:{line}"
            lines.append(f"{where}:{span.column}: {finding.message}")
        return lines

    @property
    def exit_code(self) -> int:
        """2 when something went wrong, 1 for an unreadable file or a diff that was only shown, else 0."""
        if self.errors or self.problems:
            return 2
        return max(self.result.exit_code(applied=self.applied), int(bool(self.unreadable)))


def fix(
    paths: Sequence[Path],
    settings: Settings,
    *,
    apply: bool = False,
    prover: Prover | None = None,
    copies: Copies | None = None,
) -> FixRun:
    """Rewrites what can be rewritten, safe fixes only unless `settings.unsafe_fixes`, and of these what `prover` keeps;
    writes only with `apply`. What fixes import from `compilelint.ops` comes from `copies`, where there are."""
    registry.selected_codes(settings)
    selection = select_files(paths, settings)
    run = FixRun(FixResult(), len(selection.files), apply, problems=selection.problems, notices=selection.notices)
    readable = []
    for file in selection.files:
        shown = Path(display_path(file))
        if (finding := unreadable(shown)) is None:
            readable.append(shown)
        else:
            run.unreadable.append(finding)

    cut: list[str] = []

    def find(texts: Mapping[str, str], dirty: Collection[str]) -> list[Finding]:
        outcome = findings_in(readable, settings, build_fixes=True, texts=texts)
        run.errors = outcome.errors
        cut[:] = cut_short(outcome.stats)
        return outcome.findings

    run.prover = prover
    run.result = fix_files(
        readable,
        find,
        apply=apply,
        unsafe=settings.unsafe_fixes,
        prove=prover,
        finish=copies.redirect if copies is not None else str,
        needs=copies.files if copies is not None else None,
    )
    run.notices += cut
    return run
