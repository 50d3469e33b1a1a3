"""On a GPU: the host syncs of the measured window, with the time that each line was blocked, and the timeline.

CUPTI tells of every call of the CUDA runtime, through the profiler; `set_sync_debug_mode`, which misses `synchronize`,
`empty_cache` and pageable `non_blocking` copies, knows the Python line of the others exactly. While the window is open
each of its warnings leaves a mark in the profile: the wait before it on the same thread is the one it is about.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, python_tracer, record_function

from compilelint.runtime.trace.cupti import END, MARK, Reader, Window
from compilelint.runtime.trace.journal import Journal
from compilelint.runtime.trace.record import Frame, Sync
from compilelint.runtime.trace.sources import Sources

_PREFIXES: Any = python_tracer._prefix_regex  # those that it cuts off
WARNING = "called a synchronizing CUDA operation"


class Profiled:
    """The measured window, opened and closed once, on the main thread."""

    def __init__(self, sources: Sources, journal: Journal, keep: str | None = None) -> None:
        self._sources, self._journal, self._keep = sources, journal, keep
        self._marks: list[list[Frame]] = []
        self._profile: Any = None
        self._mode = 0
        self._show: Any = None
        self.starting = False

    def open(self) -> None:
        self.starting = True
        with _quiet():
            self._profile = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)
            try:
                self._profile.start()
            except RuntimeError as error:
                self._profile = None
                self._journal.note(f"no times: the profiler could not be started ({error})")
        self.starting = False
        self._warn()

    def close(self) -> None:
        self._unwarn()
        with record_function(END):
            torch.cuda.synchronize()
        if self._profile is not None:
            with _quiet():
                self._profile.stop()
            self._read(self._profile)
        else:
            for stack in self._marks:
                at = stack[-1]
                self._journal.add(Sync(at.path, at.line, at.function, stack=stack, what="synchronizing CUDA operation"))

    def _warn(self) -> None:
        if any(kind == "error" and issubclass(UserWarning, category) for kind, _, category, *_ in warnings.filters):
            self._journal.note("set_sync_debug_mode is not used: the program makes errors of warnings")
            return
        self._mode = torch.cuda.get_sync_debug_mode()
        warnings.filterwarnings("always", message=WARNING)
        self._show = warnings.showwarning
        warnings.showwarning = self._shown
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of being a prototype
            torch.cuda.set_sync_debug_mode("warn")

    def _unwarn(self) -> None:
        if self._show is not None:
            torch.cuda.set_sync_debug_mode(self._mode)
            warnings.showwarning = self._show
            warnings.filters[:] = [each for each in warnings.filters if not _is_ours(each)]  # type: ignore[index]

    def _shown(self, message: Any, *arguments: Any, **named: Any) -> None:
        if WARNING not in str(message) or self._mode:
            self._show(message, *arguments, **named)
        if WARNING in str(message) and (stack := self._sources.here()):
            with record_function(f"{MARK}{len(self._marks)}"):
                self._marks.append(stack)

    def _read(self, done: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(self._keep or folder) / "profile.json"
            done.export_chrome_trace(str(path))
            trace = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        window = Window(
            trace["traceEvents"],
            int(trace.get("baseTimeNanoseconds", 0)),
            done.profiler.kineto_results.experimental_event_tree(),
            threading.get_native_id(),
            self._marks,
            _PREFIXES(),
        )
        reader = Reader(window, self._sources)
        for event in reader.events():
            self._journal.add(event)
        if (timeline := reader.timeline()) is not None:
            self._journal.facts(timeline=asdict(timeline))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what the profiler logs to stderr: Kineto looks at this variable each time."""
    with contextlib.ExitStack() as stack:
        if "KINETO_LOG_LEVEL" not in os.environ:
            os.environ["KINETO_LOG_LEVEL"] = "99"
            stack.callback(os.environ.pop, "KINETO_LOG_LEVEL", None)
        yield


def _is_ours(entry: Any) -> bool:
    pattern = entry[1]
    return pattern is not None and getattr(pattern, "pattern", pattern) == WARNING
