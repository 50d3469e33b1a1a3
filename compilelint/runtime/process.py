"""Starts a worker process and brings its result back; a crash, a hang or an early exit becomes a WorkerError."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from compilelint.runtime.orphans import end_marked
from compilelint.source.files import read_regular

MODULE = "compilelint.runtime.worker"
_HUNG_AT = re.compile(r'File "([^"]+)", line (\d+) in (\S+)')


class WorkerError(Exception):
    """A worker that gave no result; the message says why."""


def run_worker(
    request: dict[str, Any], *, scratch: Path, cwd: Path, path: Sequence[Path], timeout: float
) -> dict[str, Any]:
    """Run one job (see worker.py) in a fresh interpreter, `path` first in PYTHONPATH; `scratch` takes all it writes."""
    scratch.mkdir(parents=True, exist_ok=True)
    names = {name: str(scratch / f"{name}.json") for name in ("request", "result", "progress")}
    Path(names["request"]).write_text(
        json.dumps({**request, **names, "deadline": time.time() + timeout}), encoding="utf-8"
    )
    environment = _environment(scratch, path)
    with _ended_by_signals():
        process = subprocess.Popen(
            [sys.executable, "-m", MODULE, names["request"]],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that Inductor's and the user's own child processes end with it
        )
        said = _Tail(process)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
            end_marked(f"TMPDIR={environment['TMPDIR']}")
    if (answer := _answer(Path(names["result"]))) is not None:
        return answer
    raise WorkerError(_why(code, said.text(), Path(names["progress"]), timeout, path))


def _answer(file: Path) -> dict[str, Any] | None:
    """What a worker wrote; None where that is nothing, or not what it writes."""
    try:
        answer = json.loads(read_regular(file).decode())
    except (OSError, ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


class _Tail:
    """The end of what a process says on stderr: it may say any amount."""

    MOST = 1_000_000  # bytes, twice

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        self._pipe = process.stderr
        self._last = self._kept = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self._pipe.fileno(), 65536):
                self._kept += piece
                if len(self._kept) > self.MOST:
                    self._last, self._kept = self._kept, b""

    def text(self) -> str:
        self._thread.join(1.0)  # a process that got away may hold the other end
        return (self._last + self._kept).decode("utf-8", "replace")


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """What would end this process at once ends it in order: the worker is killed, temporary files are deleted."""

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # others can't handle signals
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def private_caches(scratch: Path) -> dict[str, str]:
    """The environment in which what compiles is compiled anew, and leaves nothing outside of a temporary folder."""
    caches = {"TORCHINDUCTOR_CACHE_DIR": scratch / "inductor", "TRITON_CACHE_DIR": scratch / "triton"}
    for folder in caches.values():
        folder.mkdir(exist_ok=True)
    return {"PYTHONDONTWRITEBYTECODE": "1", **{name: str(folder) for name, folder in caches.items()}}


def _environment(scratch: Path, path: Sequence[Path]) -> dict[str, str]:
    """The user's environment, with the side's sources first and private caches."""
    here = Path(__file__).resolve().parents[2]
    places = [str(each) for each in path]
    if here.name not in ("site-packages", "dist-packages"):
        places.append(str(here))
    if inherited := os.environ.get("PYTHONPATH"):
        places.append(inherited)
    temporary = scratch / "tmp"
    temporary.mkdir(exist_ok=True)
    dropped = ("TORCH_LOGS", "TORCH_TRACE", "TORCH_COMPILE_DEBUG", "TORCHDYNAMO_DISABLE", "PYTHONSTARTUP")
    return {
        **{name: value for name, value in os.environ.items() if name not in dropped},
        "PYTHONPATH": os.pathsep.join(places),
        "PYTHONHASHSEED": "0",
        **private_caches(scratch),
        "TMPDIR": str(temporary),
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the worker and whatever it started and left behind (they share its process group)."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _why(code: int | None, stderr: str, progress: Path, timeout: float, path: Sequence[Path]) -> str:
    doing = progress.read_text(encoding="utf-8", errors="replace") if progress.is_file() else "starting"
    if code is None:
        return f"did not finish within {timeout:g} s (while {doing}{_hung_at(stderr, path)}); see --timeout"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"was ended by {name} while {doing}{_hung_at(stderr, path)}{_tail(stderr)}"
    return f"exited with code {code} without a result while {doing} (os._exit, or a crash){_tail(stderr)}"


def _hung_at(stderr: str, path: Sequence[Path]) -> str:
    """The innermost of the user's lines in the last stack that faulthandler dumped."""
    for file, line, function in _HUNG_AT.findall(stderr[stderr.rfind("most recent call first") :]):
        for root in path:
            if Path(file).is_relative_to(root):
                return f", in {function} at {Path(file).relative_to(root)}:{line}"
    return ""


def _tail(stderr: str) -> str:
    lines = [line for line in stderr.strip().splitlines() if line.strip()]
    return "\n  " + "\n  ".join(lines[-8:]) if lines else ""
