"""What is read of a profile: a real one of the CPU, in which operators stand for calls of the CUDA runtime."""

from __future__ import annotations

import inspect
import json
import os
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilelint.runtime.trace.cupti import END, MARK, Reader, Window, gaps, merged  # noqa: E402
from compilelint.runtime.trace.record import Frame, Sync, Work  # noqa: E402
from compilelint.runtime.trace.sources import Sources  # noqa: E402
from compilelint.runtime.trace.stacks import moments  # noqa: E402


def program(layer: Any, x: Any) -> None:
    for _ in range(2):
        y = layer(x)
        flag = y.sum() > 0

        if flag:
            y = y + 1
        y.mean().item()


FIRST = inspect.getsourcelines(program)[1]


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Window:
    """Each `aten::_local_scalar_dense` is a `cudaStreamSynchronize`, each `aten::linear` launches a kernel."""
    from torch.profiler import ProfilerActivity, profile, python_tracer

    layer, x = torch.nn.Linear(4, 4), torch.ones(2, 4)
    with profile(activities=[ProfilerActivity.CPU], with_stack=True) as done:
        program(layer, x)
    path = tmp_path_factory.mktemp("profile") / "trace.json"
    done.export_chrome_trace(str(path))
    trace = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    events = list(trace["traceEvents"])
    for number, event in enumerate(list(events)):
        if event.get("cat") != "cpu_op":
            continue
        if event["name"] == "aten::_local_scalar_dense":
            events.append({**event, "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "args": {}})
        if event["name"] == "aten::linear":
            launch = {"correlation": number}
            events.append({**event, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "args": launch})
            events.append(
                {**event, "cat": "kernel", "name": "linear", "ts": event["ts"] + 1, "dur": 2.0, "args": launch}
            )
    assert done.profiler is not None and done.profiler.kineto_results is not None
    tree = done.profiler.kineto_results.experimental_event_tree()
    prefixes: Any = python_tracer._prefix_regex
    base = int(trace["baseTimeNanoseconds"])
    return Window(events, base, tree, threading.get_native_id(), prefixes=prefixes())


def sources() -> Sources:
    return Sources([str(Path(__file__).parent)], str(Path(__file__).parent))


def test_waits_and_work_stand_at_the_lines_of_the_program(window: Window) -> None:
    events = Reader(window, sources()).events()
    syncs = [event for event in events if isinstance(event, Sync)]
    reads = [sync for sync in syncs if sync.line - FIRST == 7]
    assert len(syncs) == 4 and len(reads) == 2  # the other two: `if flag`, which calls nothing in Python
    assert {(sync.what, sync.path, sync.function) for sync in reads} == {("aten::item", Path(__file__).name, "program")}
    assert all(sync.blocked_us and sync.calls == {"cudaStreamSynchronize": 1} for sync in syncs)
    work = [event for event in events if isinstance(event, Work)]
    assert [(each.line - FIRST, each.kernels, each.gpu_us) for each in work] == [(2, 1, 2.0)] * 2


def test_a_mark_gives_a_wait_its_exact_line(window: Window) -> None:
    syncs = [event for event in window.events if event["name"] == "cudaStreamSynchronize"]
    first = min(syncs, key=lambda event: float(event["ts"]))
    mark = {**first, "cat": "user_annotation", "name": f"{MARK}0", "ts": first["ts"] + first["dur"]}
    marked = replace(window, events=[*window.events, mark], marks=[[Frame("m.py", 5, "f")]])
    found = [event for event in Reader(marked, sources()).events() if isinstance(event, Sync)]
    assert [(sync.path, sync.line) for sync in found if sync.path == "m.py"] == [("m.py", 5)] and len(found) == 4


def test_a_mark_without_a_wait_is_a_sync(window: Window) -> None:
    mark = {"ph": "X", "cat": "user_annotation", "name": f"{MARK}0", "ts": 0.0, "dur": 0.0, "tid": window.thread}
    lone = Window([mark], 0, [], window.thread, [[Frame("m.py", 5, "f")]])
    reader = Reader(lone, sources())
    (sync,) = reader.events()
    assert isinstance(sync, Sync) and (sync.line, sync.blocked_us) == (5, None)
    assert reader.timeline() is None


def test_other_threads_do_not_wait_for_the_program(window: Window) -> None:
    elsewhere = [{**event, "tid": 1} if event.get("cat") == "cuda_runtime" else event for event in window.events]
    assert not Reader(replace(window, events=elsewhere), sources()).waits


def test_timeline(window: Window) -> None:
    timeline = Reader(window, sources()).timeline()
    assert timeline is not None and timeline.kernels == 2 and timeline.busy_us == pytest.approx(4.0)
    assert len(timeline.waits) == 4
    (idle,) = timeline.idle
    assert idle.end - idle.start > 5 and idle.line >= FIRST


def test_a_gap_after_a_wait_is_its_fault() -> None:
    def event(cat: str, name: str, ts: float, dur: float, correlation: int) -> dict[str, Any]:
        return {
            "ph": "X",
            "cat": cat,
            "name": name,
            "ts": ts,
            "dur": dur,
            "tid": 1,
            "args": {"correlation": correlation},
        }

    events = [
        event("cuda_runtime", "cudaLaunchKernel", 0, 5, 1),
        event("kernel", "one", 10, 100, 1),
        event("cuda_runtime", "cudaStreamSynchronize", 20, 91, 2),
        event("cuda_runtime", "cudaLaunchKernel", 150, 5, 3),
        event("kernel", "two", 160, 10, 3),
    ]
    timeline = Reader(Window(events, 0, [], 1), sources()).timeline()
    assert timeline is not None
    (idle,) = timeline.idle
    assert (idle.start, idle.end, idle.cause) == (110, 160, "after the wait for cudaStreamSynchronize")


def test_pageable_copies_wait() -> None:
    copy = {"ph": "X", "ts": 0.0, "dur": 5.0, "tid": 1, "args": {"correlation": 1}}
    call = {**copy, "cat": "cuda_runtime", "name": "cudaMemcpyAsync"}
    for name, waits in (("Memcpy HtoD (Pageable -> Device)", 1), ("Memcpy HtoD (Pinned -> Device)", 0)):
        done = {**copy, "cat": "gpu_memcpy", "name": name, "ts": 6.0}
        assert len(Reader(Window([call, done], 0, [], 1), sources()).waits) == waits


def test_the_wait_that_ends_the_window_is_none_of_the_programs() -> None:
    end = {"ph": "X", "cat": "user_annotation", "name": END, "ts": 10.0, "dur": 9.0, "tid": 1}
    ours = {**end, "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "ts": 11.0, "dur": 5.0}
    (wait,) = Reader(Window([end, ours, {**ours, "ts": 1.0}], 0, [], 1), sources()).waits
    assert wait.start == 1.0


def test_spans() -> None:
    assert merged([(0, 1), (1.5, 2), (5, 6), (0.5, 3)], 1) == [(0, 3), (5, 6)]
    device = [{"ts": 0, "dur": 10}, {"ts": 12, "dur": 1}, {"ts": 30, "dur": 1}]
    assert gaps(device) == [(13, 30)]
    assert moments([], [1]) == {}


@pytest.mark.filterwarnings("ignore:.*CUDA")  # a profiler that finds no GPU
def test_a_window_marks_what_the_debug_mode_warns_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Opened and closed without a GPU: the mode's warnings are given by hand, and no call of the runtime is seen."""
    from compilelint.runtime.trace import journal, syncs_cuda

    modes: list[object] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: 0)
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", modes.append)
    written = journal.Journal(str(tmp_path / "journal"))
    shown: list[str] = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    before = warnings.showwarning, list(warnings.filters)
    window = syncs_cuda.Profiled(sources(), written)
    window.open()
    for _ in range(3):
        warnings.warn(f"{syncs_cuda.WARNING} (Triggered internally)", stacklevel=1)
    warnings.warn("another", stacklevel=1)
    line = inspect.currentframe().f_lineno - 2  # type: ignore[union-attr]
    window.close()
    written.end()
    assert modes == ["warn", 0] and shown == ["another"]
    assert (warnings.showwarning, list(warnings.filters)) == before
    (sync,) = journal.read(tmp_path / "journal").of(Sync)
    assert (sync.path, sync.line, sync.count) == (Path(__file__).name, line, 3)
    assert "KINETO_LOG_LEVEL" not in os.environ
