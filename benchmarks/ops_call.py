"""Where the time of one call of compilelint.ops on a prepared list goes, on the host.

    python benchmarks/ops_call.py        # 4,000 tensors x 4,096; under a minute on a GPU

Run it from the root of the repository, with the project installed or with PYTHONPATH=. set. Each line is the median
over calls, the GPU idle before each: of one list again and again (in the CPU's caches), and of four that take turns.
"""

from __future__ import annotations

import cProfile
import itertools
import pstats
from collections.abc import Callable

import torch
from timing import microseconds, returned

from compilelint import ops
from compilelint.ops import pointers, reduce, reduce_triton, register

COUNT, SIZE = 4000, 4096


def main() -> None:
    ops.build_native()
    tables = [ops.TensorTable([torch.randn(SIZE, device="cuda") for _ in range(COUNT)]) for _ in range(4)]
    for table in tables:
        ops.sum_tensors(table), ops.sum_each(table)
    scans = [pointers.scan(table.tensors) for table in tables]
    plans = [table.plan(found) for table, found in zip(tables, scans, strict=True) if found is not None]
    device = plans[0].scan.device
    for name, picked in (("one list", [0]), ("four lists in turn", [0, 1, 2, 3])):
        turn = itertools.cycle(picked)
        parts: dict[str, Callable[[], object]] = {
            "nothing": lambda turn=turn: next(turn),
            "sum_tensors": lambda turn=turn: ops.sum_tensors(tables[next(turn)]),
            "sum_each": lambda turn=turn: ops.sum_each(tables[next(turn)]),
            "  did anything move": lambda turn=turn: tables[next(turn)].scan(),
            "  a scan anew": lambda turn=turn: pointers.scan(tables[next(turn)].tensors),
            "  the plan of a scan": lambda turn=turn: tables[i := next(turn)].plan(plans[i].scan),
            "  both launches": lambda turn=turn: reduce_triton.reduce(plans[next(turn)], "sum", whole=True),
            "  the first launch": lambda turn=turn: reduce_triton.reduce(plans[next(turn)], "sum"),
            "  an output": lambda: torch.empty((), dtype=torch.float32, device=device),
            "  device, modes": lambda: (register.on(device), reduce._intercepted(), torch.compiler.is_compiling()),
        }
        print(f"{name}, us until it returns")
        for part, work in parts.items():
            print(f"{returned(work, 200):10.1f}  {part}")
        print(f"{microseconds(parts['sum_tensors']):10.1f}  sum_tensors, the GPU's work done")
    profiler = cProfile.Profile()
    for _ in range(500):
        torch.cuda.synchronize()
        profiler.enable()
        ops.sum_tensors(tables[0])
        profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(18)


if __name__ == "__main__":
    main()
