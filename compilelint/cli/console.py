"""What commands write to: colour only where it is seen, problems on stderr."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, TextIO

import click

from compilelint.escaping import escape


def prepare() -> None:
    """Characters that the terminal's encoding lacks are written as escapes, not as a crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def wants_color(stream: TextIO | None = None) -> bool:
    """NO_COLOR and FORCE_COLOR decide, in this order; else whether the stream is a terminal."""
    stream = stream or sys.stdout
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def write(text: str) -> None:
    """To stdout as it is; click.echo would drop colours that were asked for and take ASCII terminals for UTF-8.

    Raises UsageProblem where there is no room, as on a full disk.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        from compilelint.errors import UsageProblem

        discard_output()
        raise UsageProblem(f"the output can't be written: {error.strerror}") from None


def write_source(text: str) -> None:
    """What holds code as it is: not to a terminal, which would obey what is in it."""
    write(escape(text.replace("\r\n", "\n"), keep="\n\t") if sys.stdout.isatty() else text)


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def fix_mark(fix: Any) -> str:
    """`[*]` for a safe fix, `[!]` for an unsafe one; an Applicability, or None."""
    return {"safe": "[*]", "unsafe": "[!]"}.get(fix.value if fix is not None else "", "   ")


def error(text: str) -> None:
    _tell("error", "red", text)


def internal_errors(errors: Sequence[Any], *, debug: bool) -> None:
    """Each in a line, with its traceback for `debug`, and how to report them."""
    from compilelint.api import describe_error

    for each in errors:
        error(describe_error(each))
        for line in each.traceback.rstrip().split("\n") if debug else ():
            note(line)
    if errors:
        how = "the lines above" if debug else "what --debug shows of them"
        error(f"findings may be missing because of the internal errors above; please report them, with {how}")


def warn(text: str) -> None:
    _tell("warning", "yellow", text)


def note(text: str) -> None:
    """A line for --verbose."""
    click.echo(click.style(escape(text), dim=True), err=True, color=wants_color(sys.stderr))


def progress(text: str) -> None:
    """What is under way, for those who wait at a terminal."""
    if sys.stderr.isatty():
        note(f"{text} ...")


class Bar:
    """How far a long run has come, on stderr; nothing where that is no terminal, or for a run of a moment."""

    MOMENT = 1.0  # seconds

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown: Any = None

    def __enter__(self) -> Bar:
        return self

    def __call__(self, done: int, of: int) -> None:
        if self._shown is None and sys.stderr.isatty() and time.monotonic() - self._started > self.MOMENT:
            self._shown = _bar(of)
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], completed=done)

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.stop()


def _bar(total: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), "files", TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task("", total=total)
    bar.start()
    return bar


def _tell(label: str, color: str, text: str, keep: str = "") -> None:
    shown = f"{click.style(label, fg=color, bold=True)}: {escape(text, keep)}"
    click.echo(shown, err=True, color=wants_color(sys.stderr))


def fail(problem: Exception) -> int:
    """Tells of what ended the run, and gives the exit code: 2. A traceback only for what is our fault."""
    from compilelint.errors import UsageProblem

    if isinstance(problem, UsageProblem):
        _tell("error", "red", str(problem), keep="\n")
        return 2
    import traceback

    click.echo(escape("".join(traceback.format_exception(problem)), keep="\n"), err=True, nl=False)
    error("this is a bug in compilelint; please report it with the lines above")
    return 2


def discard_output() -> None:
    """Where nobody reads a pipe any more, or there is no room: no more is written, nor complained about at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
