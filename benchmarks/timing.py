"""How the GPU benchmarks measure: wall time, kernels and host waits as CUPTI saw them, the copy bandwidth."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function

MEASURED = "measured"
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy")


def microseconds(work: Callable[[], object], seconds: float = 0.5, least: int = 5) -> float:
    """The median of one call, the GPU's work done."""
    work()
    torch.cuda.synchronize()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def returned(work: Callable[[], object], calls: int = 50) -> float:
    """Microseconds until a call returns, the GPU idle before it: the median."""
    times = []
    for _ in range(calls):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    return statistics.median(times) * 1e6


@dataclass
class Seen:
    """For one call."""

    kernels: float
    copies: float
    waits: float
    gpu_us: float  # kernels and copies added up
    busy: float  # share of the time from the first to the last that the GPU had something to do


def seen(work: Callable[[], object], calls: int = 8) -> Seen:
    work()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        with record_function(MEASURED):
            for _ in range(calls):
                work()
        torch.cuda.synchronize()
    events = profiler.events()
    host = [event for event in events if event.device_type == DeviceType.CPU]
    span = next(event.time_range for event in host if event.name == MEASURED)
    device = sorted(
        ((event.time_range.start, event.time_range.end, event.name) for event in events
         if event.device_type == DeviceType.CUDA and event.name != MEASURED
         and not getattr(event, "is_user_annotation", False)),
    )  # fmt: skip
    copies = sum(name.startswith(("Memcpy", "Memset")) for _, _, name in device)
    waits = sum(event.name in WAITS and span.start <= event.time_range.start <= span.end for event in host)
    covered, last = 0.0, device[0][0] if device else 0.0
    for start, end, _ in device:
        covered += max(0.0, end - max(start, last))
        last = max(last, end)
    whole = last - device[0][0] if device else 0.0
    total = sum(end - start for start, end, _ in device)
    return Seen(
        (len(device) - copies) / calls, copies / calls, waits / calls, total / calls, covered / whole if whole else 0.0
    )


def in_graph(work: Callable[[], object], calls: int = 1) -> float:
    """Microseconds of one of `calls` calls that `work` makes, replayed in a CUDA graph back to back."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()
    torch.cuda.synchronize()
    replays = 50
    start.record()
    for _ in range(replays):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e3 / replays / calls


def copy_bandwidth() -> float:
    """Bytes a microsecond, read and written counted, of a copy on the device."""
    source = torch.empty(1 << 29, device="cuda").normal_()
    target = torch.empty_like(source)
    return 2 * source.nbytes / seen(lambda: target.copy_(source)).gpu_us
