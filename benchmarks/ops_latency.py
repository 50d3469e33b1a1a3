"""A call of compilelint.ops on a prepared list, in total and by part; the host's time in a step of the training loop.

    python benchmarks/ops_latency.py     # under a minute on a GPU, half of it the compiler's

Run it from the root of the repository, with the project installed or with PYTHONPATH=. set. 4,000 tensors x 4,096: the
median of one call with the GPU's work done, and until it returns; of one list again and again (in the CPU's caches),
and of four that take turns. Ratios are to the loop of the same run.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from ops_gpu import loop, made, sizes_of, turns
from ops_loop import MODES, STEPS, Net, batches
from timing import copy_bandwidth, in_graph, microseconds, returned, seen
from torch import nn

from compilelint import ops
from compilelint.ops import pointers, reduce, reduce_triton, register

CASE = "4000 x 4096"
Work = Callable[[], object]


def calls(bandwidth: float) -> None:
    sizes = sizes_of(CASE)
    sets = [made(sizes) for _ in range(pointers.KEPT + 2)]
    floor = 4 * sum(sizes) / bandwidth
    loop_us = microseconds(turns(sets, loop), seconds=0.3, least=3)
    print(f"{CASE}: floor {floor:.1f} us, loop {loop_us:,.0f} us")
    for name, few in (("one list", sets[:1]), ("four lists in turn", sets[:4])):
        tables = [ops.TensorTable(tensors) for tensors in few]
        fixed = [ops.TensorTable(tensors, fixed=True) for tensors in few]
        ways: dict[str, Work] = {
            "sum_tensors, fixed": turns(fixed, ops.sum_tensors),
            "sum_each, fixed": turns(fixed, ops.sum_each),
            "all_finite, fixed": turns(fixed, ops.all_finite),
            "sum_tensors, prepared": turns(tables, ops.sum_tensors),
            "sum_tensors, same list": turns(few, ops.sum_tensors),
        }
        if len(few) > 1:
            ways["sum_tensors, fresh list"] = turns(sets, ops.sum_tensors)
        print(f"\n{name}: us, us until it returns, us of the GPU, times the loop")
        for way, work in ways.items():
            us, gpu = microseconds(work), seen(work).gpu_us
            print(f"{us:10.1f} {returned(work, 200):8.1f} {gpu:8.1f} {loop_us / us:8,.0f}  {way}")
        plans = [plan_of(table) for table in tables]
        parts: dict[str, Work] = {
            "did anything move": turns(tables, lambda table: table.scan()),
            "did anything move, fixed": turns(fixed, lambda table: table.scan()),
            "both launches": turns(plans, lambda plan: reduce_triton.reduce(plan, "sum", whole=True)),
            "the first launch": turns(plans, lambda plan: reduce_triton.reduce(plan, "sum")),
            "an output": lambda device=plans[0].scan.device: torch.empty((), dtype=torch.float32, device=device),
            "device, modes": lambda device=plans[0].scan.device: (register.on(device), reduce._intercepted()),
            "nothing": lambda: None,
        }
        print("until it returns, us")
        for part, work in parts.items():
            print(f"{returned(work, 200):10.1f}  {part}")
    graph_us = in_graph(lambda: [ops.sum_tensors(table) for table in fixed], len(fixed))
    print(f"\nin a CUDA graph, fixed: {graph_us:.1f} us")


def plan_of(table: ops.TensorTable) -> pointers.Plan:
    found = table.scan()
    assert found is not None
    return table.plan(found)


def compiled() -> None:
    """Where a compiled call over a list spends its time: each tensor is an input of the graph."""
    tensors = made([4096] * 256)
    inside = torch.compile(lambda given: ops.sum_tensors(given) * 2, fullgraph=True)
    nothing = torch.compile(lambda given: given[0].new_zeros(()) + given[-1].sum(), fullgraph=True)
    ways: dict[str, Work] = {
        "sum_tensors, torch.compile": lambda: inside(tensors),
        "the first and last of the list, torch.compile": lambda: nothing(tensors),
        "the operator, through the dispatcher": lambda: torch.ops.compilelint.reduce_all.default(tensors),
        "its CUDA implementation": lambda: register.reduce_all_cuda(tensors),
        "sum_tensors": lambda: ops.sum_tensors(tensors),
    }
    print("\n256 x 4096: us, us until it returns")
    for way, work in ways.items():
        print(f"{microseconds(work, seconds=0.2):10.1f} {returned(work):8.1f}  {way}")


class Laps:
    """Host time of the parts of a step."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.last = time.perf_counter()

    def __call__(self, part: str) -> None:
        now = time.perf_counter()
        self.times[part].append(now - self.last)
        self.last = now


def steps(mode: str) -> None:
    torch._dynamo.reset()
    model = Net().cuda()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    target: Any = MODES[mode](model)
    for epoch in range(5):
        torch.cuda.synchronize()
        if epoch in (0, 2):  # the first compiles
            laps = Laps()
        start = time.perf_counter()
        metrics, guard = ops.DeviceMetrics(), ops.FiniteGuard()
        for x, y in ops.prefetch(batches(), "cuda"):
            laps("prefetch")
            loss = nn.functional.cross_entropy(target(x), y)
            laps("forward")
            loss.backward()
            laps("backward")
            guard.check({"loss": loss})
            laps("guard.check")
            norm = ops.squared_norm_each([p.grad for p in parameters if p.grad is not None]).sum().sqrt()
            laps("norm")
            optimizer.step()
            laps("optimizer.step")
            optimizer.zero_grad()
            laps("zero_grad")
            metrics.mean("loss", loss)
            metrics.sum("norm", norm)
            laps("metrics")
        guard.flush(), metrics.read()
        whole = (time.perf_counter() - start) / STEPS
    parts = {part: statistics.median(times) * 1e6 for part, times in laps.times.items()}
    print(f"\ntraining loop after fix, {mode}: {whole * 1e6:,.0f} us a step, of them on the host")
    for part, us in sorted(parts.items(), key=lambda pair: -pair[1]):
        print(f"{us:10.1f}  {part}")


def main() -> None:
    start = time.perf_counter()
    ops.build_native()
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}; built in {time.perf_counter() - start:.0f} s")
    calls(copy_bandwidth())
    compiled()
    for mode in itertools.islice(MODES, 2):
        steps(mode)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
