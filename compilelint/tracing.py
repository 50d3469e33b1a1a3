"""A trace from a program to a report: run it, check the sources that ran, join the two."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from compilelint import checking
from compilelint.config import Settings
from compilelint.errors import UsageProblem
from compilelint.runtime.trace import run
from compilelint.runtime.trace.record import Record
from compilelint.runtime.trace.report import report

if TYPE_CHECKING:
    from compilelint.runtime.trace.run import Options

TIMED_OUT = 124  # as timeout(1)


@dataclass(slots=True)
class TraceResult:
    """`report` is the JSON object."""

    record: Record
    report: dict[str, Any]

    @property
    def exit_code(self) -> int:
        """The program's own; 124 after the timeout, 128 and the signal's number for one that a signal ended."""
        if self.record.timed_out is not None:
            return TIMED_OUT
        if self.record.signal:
            return 128 + signal_number(self.record.signal)
        return self.record.exit_code or 0


def trace(
    program: str, arguments: Sequence[str], settings: Settings, options: Options, *, module: bool = False
) -> TraceResult:
    """Raises UsageProblem where there is no program to run."""
    record = run.run("module" if module else kind_of(program, options.cwd), program, arguments, options)
    files = [Path(path) for path in record.files if Path(path).is_file()]
    checked = checking.check(files, settings)
    findings = []
    for finding in checked.findings:  # the check shows paths from this process's folder, the run from the program's
        shown = record.files.get(os.path.realpath(finding.span.path))
        if shown is not None:
            steps = [replace(s, path=record.files.get(os.path.realpath(s.path), s.path)) for s in finding.trace]
            findings.append(replace(finding, span=replace(finding.span, path=shown), trace=tuple(steps)))
    problems = [f"check: {error.path}: internal error: {error.message}" for error in checked.errors]
    return TraceResult(record, report(record, findings, problems))


def kind_of(program: str, cwd: Path) -> Literal["file", "target"]:
    """A name with a colon, that no file has, is a TARGET."""
    if ":" in program and not (cwd / program).exists():
        from compilelint.runtime.target import parse_target

        with contextlib.suppress(UsageProblem):
            parse_target(program)
            return "target"
    return "file"


def end_as(result: TraceResult) -> int:
    """The exit code to end with. Where a signal ended the program, it ends this process too, without a second core."""
    if result.record.signal and hasattr(signal, "SIGKILL"):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = signal_number(result.record.signal)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return result.exit_code


def signal_number(name: str) -> int:
    return int(getattr(signal, name)) if hasattr(signal, name) else int(name.rpartition(" ")[2])
