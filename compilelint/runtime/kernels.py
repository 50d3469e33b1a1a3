"""What one call launches: on a GPU by the profiler; on a CPU Inductor's kernels, and the operators run outside them."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch._inductor import metrics
from torch.profiler import ProfilerActivity, profile, record_function

# Operators that only describe memory: on a GPU they launch nothing.
LAUNCHES_NOTHING = frozenset(
    "aten::" + name
    for name in (
        *(
            "view",
            "_unsafe_view",
            "_reshape_alias",
            "reshape",
            "t",
            "transpose",
            "permute",
            "expand",
            "expand_as",
            "as_strided",
        ),
        *(
            "detach",
            "detach_",
            "alias",
            "select",
            "slice",
            "narrow",
            "squeeze",
            "unsqueeze",
            "split",
            "split_with_sizes",
            "chunk",
        ),
        *(
            "unbind",
            "unfold",
            "flatten",
            "unflatten",
            "movedim",
            "swapaxes",
            "diagonal",
            "real",
            "view_as",
            "view_as_real",
        ),
        *(
            "empty",
            "empty_like",
            "empty_strided",
            "new_empty",
            "new_empty_strided",
            "resize_",
            "set_",
            "contiguous",
            "to",
        ),
        *(
            "item",
            "_local_scalar_dense",
            "is_nonzero",
            "lift_fresh",
            "lift",
            "result_type",
            "numpy_T",
            "mT",
            "T",
            "__dispatch_device",
        ),
        *(
            "conj",
            "resolve_conj",
            "resolve_neg",
            "is_same_size",
            "size",
            "stride",
            "requires_grad_",
            "_has_compatible_shallow_copy_type",
        ),
    )
)
WAITS = ("StreamSynchronize", "DeviceSynchronize", "EventSynchronize", "CtxSynchronize")
WINDOW = "compilelint: the measured call"


@dataclass
class Counts:
    """Of one call."""

    kernels: dict[str, int] = field(default_factory=dict)
    kernel_us: dict[str, float] = field(default_factory=dict)
    launches: int | None = None
    graph_launches: int | None = None
    replayed: int | None = None  # kernels of CUDA graphs
    memops: dict[str, int] = field(default_factory=dict)
    waits: dict[str, int] = field(default_factory=dict)  # runtime API → times
    gpu_us: float | None = None

    @property
    def total(self) -> int:
        return sum(self.kernels.values())


@contextmanager
def inductor_kernels() -> Iterator[Callable[[], int]]:
    """How many kernels Inductor generated since."""
    start = metrics.generated_kernel_count
    yield lambda: metrics.generated_kernel_count - start


def count_operators(call: Callable[[], object]) -> Counts:
    """The operators of one call that would each launch a kernel on a GPU, and Inductor's C++ kernels.

    The latter are seen if they were compiled under `kernels_report_themselves`.
    """
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        call()
    kernels: Counter[str] = Counter()
    for event in prof.events() or ():
        if event.cpu_parent is None:
            kernels += _launched(event)
    return Counts(dict(kernels))


def kernels_report_themselves() -> AbstractContextManager[object]:
    """C++ kernels that Inductor compiles meanwhile show in the profiler (on Linux and Windows)."""
    from torch._inductor import config

    manager: AbstractContextManager[object] = config.patch({"cpp.enable_kernel_profile": True})
    return manager


def is_inductors(name: str) -> bool:
    """Whether a profiler event is a C++ kernel of Inductor's."""
    return name.startswith("graph_") and "_cpp_" in name


def _launched(event: Any) -> Counter[str]:
    below: Counter[str] = Counter()
    for child in event.cpu_children:
        below += _launched(child)
    name = str(event.name)
    if is_inductors(name):
        return Counter({re.sub(r"^graph_\d+_", "", name): 1})
    if below or not name.startswith("aten::") or name in LAUNCHES_NOTHING:
        return below
    return Counter({name: 1})


def profile_cuda(call: Callable[[], object]) -> Counts:
    """Kernels, memory operations and waits of one call, from CUPTI through the profiler's trace."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):  # CUPTI's own set-up, out of the way
        torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        with record_function(WINDOW):
            call()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        prof.export_chrome_trace(str(path))
        trace = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    return read_trace(trace["traceEvents"])


def read_trace(events: list[dict[str, Any]]) -> Counts:
    """Count what the host asked for between the start and the end of the marked call. Device work is joined by its
    correlation id: a kernel may start after the window; the harness's own synchronisation lies outside it."""
    events = [event for event in events if event.get("ph") == "X"]
    windows = [e for e in events if e.get("name") == WINDOW and e.get("cat") == "user_annotation"]
    if not windows:
        raise RuntimeError("the profiler's trace holds no mark of the measured call")
    start = float(windows[0]["ts"])
    end = start + float(windows[0]["dur"])
    asked: set[int] = set()
    graphs: set[int] = set()  # of those, launches of a CUDA graph: its kernels carry the launch's id
    counts = Counts(launches=0, graph_launches=0, replayed=0, gpu_us=0.0)
    kernels: Counter[str] = Counter()
    times: defaultdict[str, float] = defaultdict(float)
    memops: Counter[str] = Counter()
    waits: Counter[str] = Counter()
    for event in events:
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and start <= float(event["ts"]) <= end:
            name = str(event["name"])
            correlation = event.get("args", {}).get("correlation", -1)
            asked.add(correlation)
            if "Launch" in name:
                counts.launches = (counts.launches or 0) + 1
            if "GraphLaunch" in name:
                counts.graph_launches = (counts.graph_launches or 0) + 1
                graphs.add(correlation)
            if name.endswith(WAITS) or (name.endswith(("Memcpy", "MemcpyHtoD_v2", "MemcpyDtoH_v2"))):
                waits[name] += 1
    for event in events:
        category, correlation = event.get("cat"), event.get("args", {}).get("correlation", -2)
        if category not in ("kernel", "gpu_memcpy", "gpu_memset") or correlation not in asked:
            continue
        name, spent = str(event["name"]), float(event["dur"])
        counts.gpu_us = (counts.gpu_us or 0.0) + spent
        if category == "kernel":
            kernels[name] += 1
            times[name] += spent
            counts.replayed = (counts.replayed or 0) + (correlation in graphs)
        else:
            memops[name] += 1
    counts.kernels, counts.kernel_us, counts.memops = dict(kernels), dict(times), dict(memops)
    counts.waits = dict(waits)
    return counts
