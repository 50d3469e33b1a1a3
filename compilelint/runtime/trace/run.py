"""Starts the traced process, waits for it, and reads its record. Runs in the caller's process, which has no torch."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from compilelint.errors import UsageProblem
from compilelint.runtime.orphans import end_marked
from compilelint.runtime.process import private_caches
from compilelint.runtime.target import parse_input, parse_target
from compilelint.runtime.trace import journal
from compilelint.runtime.trace.record import Record

CHILD = Path(__file__).parent / "child.py"
STDERR = 2  # whatever sys.stderr stands for by now
MARK = "COMPILELINT_TRACE"  # in the environment of the program, and of what it starts
FORWARDED = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_HUNG_AT = re.compile(r'File "([^"]+)", line (\d+) in (\S+)')
NO_TORCH = (
    'trace runs the program, and needs torch in this environment: python -m pip install torch (or "compilelint[dev]")'
)


@dataclass(frozen=True)
class Options:
    """`steps` ends the program after so many, `after` of them are warm-up. `syncs` None: measured where there is a GPU.
    `quiet_stdout` sends what the program prints to stderr. `private`: what compiles is compiled anew, in caches that
    are deleted with the run, no bytecode is written, and sets have one order. `keep`: a folder for the raw profile."""

    steps: int | None = None
    after: int = 0
    timeout: float | None = None
    syncs: Literal["measure", "predict"] | None = None
    inputs: Sequence[str] = ()
    backend: str = "inductor"
    quiet_stdout: bool = False
    private: bool = False
    keep: str | None = None
    cwd: Path = field(default_factory=Path.cwd)


def run(kind: Literal["file", "module", "target"], name: str, arguments: Sequence[str], options: Options) -> Record:
    """Runs a program to its end, whichever that is. Raises UsageProblem where there is none to run, or a TARGET can't
    be used."""
    file = _program_file(kind, name, options)
    if importlib.util.find_spec("torch") is None:
        raise UsageProblem(NO_TORCH)
    cwd = options.cwd.resolve()
    with tempfile.TemporaryDirectory(prefix="compilelint-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        request: dict[str, Any] = {
            "kind": kind,
            "name": name,
            "arguments": list(arguments),
            "file": str(file) if file is not None else None,
            "cwd": str(cwd),
            "roots": [str(cwd), *([str(file.parent)] if file is not None else [])],
            "inputs": list(options.inputs),
            "backend": options.backend,
            "after": options.after,
            "steps": options.steps,
            "syncs": options.syncs,
            "deadline": None if options.timeout is None else time.time() + options.timeout,
            "keep": options.keep,
            "journal": str(scratch / "journal"),
            "hang": str(scratch / "hang"),
            "group": not _in_foreground(),
        }
        (scratch / "request.json").write_text(json.dumps(request), encoding="utf-8")
        started = time.monotonic()
        code = _wait(_start(scratch, options), options.timeout)
        if code is None:
            end_marked(f"{MARK}={scratch}")
        record = journal.read(scratch / "journal")
        record.seconds = time.monotonic() - started
        hang = scratch / "hang"
        stack = hang.read_text(encoding="utf-8", errors="replace") if hang.is_file() else ""
    if record.refused:
        raise UsageProblem(record.refused)
    record.argv = [*(["-m"] if kind == "module" else []), name, *arguments]
    if code is None:
        record.timed_out = options.timeout
        record.hung_at = _hung_at(stack, record)
    elif code < 0:
        record.signal = _signal_name(-code)
    else:
        record.exit_code = code
    return record


def _program_file(kind: str, name: str, options: Options) -> Path | None:
    """The file that is run, for a module None."""
    if kind == "module":
        return None
    if kind == "target":
        target = parse_target(name)
        for text in options.inputs:
            parse_input(text)
        if target.file is None:
            return None
        name = target.file
    path = options.cwd / name
    if not path.exists():
        raise UsageProblem(f"{name}: no such file")
    return path.resolve()


def _start(scratch: Path, options: Options) -> subprocess.Popen[bytes]:
    private = {"PYTHONHASHSEED": "0", **private_caches(scratch)} if options.private else {}
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(scratch / "request.json")],
        cwd=options.cwd,
        env={**os.environ, MARK: str(scratch), **private},
        stdout=STDERR if options.quiet_stdout else None,
    )


def _wait(process: subprocess.Popen[bytes], timeout: float | None) -> int | None:
    """The exit code (minus the signal, for one that ended it); None after the timeout, when it is killed."""
    with _signals_to(process):
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            for pid in [*_descendants(process.pid), process.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            return None


@contextlib.contextmanager
def _signals_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """What is sent to us is meant for the program. A terminal sends Ctrl-C to both of us: then it isn't sent again."""

    def forward(number: int, _: FrameType | None) -> None:
        if number != signal.SIGINT or not _in_foreground():
            process.send_signal(number)

    numbers = [getattr(signal, name) for name in (*FORWARDED, "SIGINT") if hasattr(signal, name)]
    previous = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _descendants(pid: int) -> list[int]:
    """Processes that it started and that still belong to it, where /proc tells."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, queue = [], [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def _hung_at(stack: str, record: Record) -> str:
    """The innermost of the program's lines in the stack that faulthandler dumped, main thread last."""
    for file, line, function in _HUNG_AT.findall(stack[stack.rfind("most recent call first") :]):
        if (shown := record.files.get(os.path.realpath(file))) is not None:
            return f"{shown}:{line} in {function}"
    return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
