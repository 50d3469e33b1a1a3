"""compilelint.ops on a GPU against what one would write without it; writes JSON and Markdown to benchmarks/results/.

    python benchmarks/ops_gpu.py                 # all, some minutes
    python benchmarks/ops_gpu.py --only lists    # one part: lists, compiled, finite, scalars or loop

Run it from the root of the repository, with the project installed or with PYTHONPATH=. set. Times are medians, ratios
those of one run. "Floor" is each byte read once at the copy bandwidth measured in the same run. The sets of tensors are
larger than the L2 cache, or several of them take turns; "one list again and again" is in the CPU's caches, too, as
far as they reach. Host waits are those of the calls, without the harness' own.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import platform
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from ops_loop import loop_rows
from timing import copy_bandwidth, in_graph, microseconds, returned, seen

from compilelint import __version__, ops

RESULTS = Path(__file__).resolve().parent / "results"
Tensors = list[torch.Tensor]
Row = dict[str, Any]


def sizes_of(case: str) -> list[int]:
    if case == "ragged":
        generator = torch.Generator().manual_seed(0)
        return torch.randint(1, 20_001, (10_000,), generator=generator).tolist()
    count, size = map(int, case.split(" x "))
    return [size] * count


def made(sizes: list[int]) -> Tensors:
    return [torch.randn(size, device="cuda") for size in sizes]


def loop(tensors: Tensors) -> torch.Tensor:
    total = torch.zeros((), device="cuda")
    for tensor in tensors:
        total = total + tensor.sum()
    return total


def turns(sets: list[Any], function: Callable[[Any], object]) -> Callable[[], object]:
    """Each call takes the next set, so that no call finds its data in the cache."""
    following: Iterator[Any] = itertools.cycle(sets)
    return lambda: function(next(following))


def row(case: str, name: str, work: Callable[[], object], loop_us: float, floor_us: float, calls: int = 8) -> Row:
    us, what = microseconds(work), seen(work, calls)
    return {
        "case": case,
        "what": name,
        "us": us,
        "returned_us": returned(work),
        "gpu_us": what.gpu_us,
        "kernels": what.kernels,
        "waits": what.waits,
        "times_faster": loop_us / us,
        "times_floor": what.gpu_us / floor_us if floor_us else None,
    }


def list_rows(bandwidth: float) -> list[Row]:
    rows = []
    for case in ("4000 x 4096", "1000 x 65536", "ragged"):
        sizes = sizes_of(case)
        count = 10 if case == "4000 x 4096" else 2
        sets = [made(sizes) for _ in range(count)]
        floor = 4 * sum(sizes) / bandwidth
        loop_us = microseconds(turns(sets, loop), least=3)
        rows.append({"case": case, "what": "floor", "gpu_us": floor})
        rows.append({"case": case, "what": "loop of sum and +", "us": loop_us, "kernels": 2 * len(sizes), "waits": 0})
        few = sets[:4]
        tables = [ops.TensorTable(tensors) for tensors in few]
        ways: dict[str, Callable[[], object]] = {
            "sum_tensors, prepared": turns(tables, ops.sum_tensors),
            "sum_tensors, prepared, one list again and again": turns(tables[:1], ops.sum_tensors),
            "sum_tensors, same lists again": turns(few, ops.sum_tensors),
            "torch.cat(tensors).sum()": turns(few, lambda tensors: torch.cat(tensors).sum()),
        }
        if count > 8:  # more than there are plans kept: each is packed anew
            ways["sum_tensors, fresh lists"] = turns(sets, ops.sum_tensors)
        for name in ("sum_each", "mean_each", "max_abs_each", "squared_norm_each", "all_finite"):
            ways[f"{name}, prepared"] = turns(tables, getattr(ops, name))
        if case != "ragged":
            ways["torch.stack(tensors).sum()"] = turns(few, lambda tensors: torch.stack(tensors).sum())
        ways["torch.stack(torch._foreach_norm(tensors))"] = turns(
            few, lambda tensors: torch.stack(torch._foreach_norm(tensors))
        )
        rows += [row(case, name, work, loop_us, floor) for name, work in ways.items()]
        for name in ("sum_tensors", "sum_each", "all_finite"):
            whole = [*map(getattr(ops, name), tables)]  # compiled, and planned
            us = in_graph(lambda name=name, tables=tables: [*map(getattr(ops, name), tables)], len(whole))
            rows.append(
                {"case": case, "what": f"{name}, prepared, in a CUDA graph", "gpu_us": us, "times_floor": us / floor}
            )
        sets, few, tables = [], [], []
    return rows


def compiled_rows(bandwidth: float) -> list[Row]:
    """A list short enough to be unrolled by Dynamo in reasonable time."""
    case = "256 x 4096"
    tensors = made(sizes_of(case))
    loop_us = microseconds(lambda: loop(tensors), least=3)
    rows = [row(case, "loop of sum and +", lambda: loop(tensors), loop_us, 0.0)]
    for combo in (False, True):
        torch._dynamo.reset()
        compiled = torch.compile(loop, options={"combo_kernels": combo})
        start = time.perf_counter()
        compiled(tensors)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        name = f"loop, torch.compile{', combo_kernels' if combo else ''}"
        rows.append(
            {**row(case, name, lambda compiled=compiled: compiled(tensors), loop_us, 0.0), "compile_s": seconds}
        )
    torch._dynamo.reset()
    inside = torch.compile(lambda given: ops.sum_tensors(given) * 2, fullgraph=True)
    start = time.perf_counter()
    inside(tensors)
    seconds = time.perf_counter() - start
    rows.append(
        {**row(case, "sum_tensors, torch.compile", lambda: inside(tensors), loop_us, 0.0), "compile_s": seconds}
    )
    table = ops.TensorTable(tensors)
    rows.append(row(case, "sum_tensors, prepared", lambda: ops.sum_tensors(table), loop_us, 0.0))
    return rows


def finite_rows(bandwidth: float) -> list[Row]:
    """The gradients of a model of 400 tensors."""
    case = "400 gradients"
    layer = [(768, 768), (768,), (768, 768), (768,), (3072, 768), (3072,), (768, 3072), (768,)]
    grads = [torch.randn(shape, device="cuda") for _ in range(50) for shape in layer]
    floor = sum(grad.nbytes for grad in grads) / bandwidth
    table = ops.TensorTable(grads)
    guard = ops.FiniteGuard()
    each = lambda: all(bool(torch.isfinite(grad).all()) for grad in grads)  # noqa: E731
    loop_us = microseconds(each, least=3)
    ways: dict[str, Callable[[], object]] = {
        "isfinite(g).all() of each, read": each,
        "isfinite(g).all() of each, stacked, read": lambda: bool(
            torch.stack([g.isfinite().all() for g in grads]).all()
        ),
        "torch._foreach_norm, stacked, isfinite": lambda: torch.stack(torch._foreach_norm(grads)).isfinite().all(),
        "all_finite": lambda: ops.all_finite(grads),
        "all_finite, prepared": lambda: ops.all_finite(table),
        "FiniteGuard.check": lambda: guard.check(grads),
    }
    return [row(case, name, work, loop_us, floor) for name, work in ways.items()]


def scalar_rows(bandwidth: float) -> list[Row]:
    case = "20 scalars"
    values = {str(place): torch.rand((), device="cuda") for place in range(20)}
    metrics = ops.DeviceMetrics()
    loss = torch.rand((), device="cuda")
    one_by_one = lambda: {name: value.item() for name, value in values.items()}  # noqa: E731
    loop_us = microseconds(one_by_one)
    return [
        row(case, "item() of each", one_by_one, loop_us, 0.0),
        row(case, "to_host", lambda: ops.to_host(values), loop_us, 0.0),
        row("a metric", "DeviceMetrics.mean", lambda: metrics.mean("loss", loss), microseconds(loss.item), 0.0),
    ]


PARTS: dict[str, Callable[[float], list[Row]]] = {
    "lists": list_rows,
    "compiled": compiled_rows,
    "finite": finite_rows,
    "scalars": scalar_rows,
    "loop": lambda bandwidth: loop_rows(),
}
COLUMNS = {
    "what": "",
    "us": "call, µs",
    "returned_us": "returns after, µs",
    "gpu_us": "GPU, µs",
    "kernels": "kernels",
    "waits": "host waits",
    "busy": "GPU busy",
    "steps_per_s": "steps/s",
    "times_faster": "times faster than the first",
    "times_floor": "times the floor",
    "compile_s": "compile, s",
}


def shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return "" if value is None else str(value)


def markdown(rows: list[Row], versions: dict[str, str]) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in versions.items() if value)
    text = f"# compilelint.ops\n\nMade by `python benchmarks/ops_gpu.py`: {facts}.\n"
    for case, group in itertools.groupby(rows, key=lambda row: row["case"]):
        mine = list(group)
        columns = [key for key in COLUMNS if any(row.get(key) is not None for row in mine)]
        text += f"\n## {case}\n\n| {' | '.join(COLUMNS[key] for key in columns)} |\n"
        text += "| --- |" + " ---: |" * (len(columns) - 1) + "\n"
        text += "".join(f"| {' | '.join(shown(row.get(key)) for key in columns)} |\n" for row in mine)
    return text


def driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0].strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--name", default="ops_h200", help="of the two files written")
    options = parser.parse_args()
    start = time.perf_counter()
    ops.build_native()
    print(f"native scan: {time.perf_counter() - start:.0f} s", flush=True)
    bandwidth = copy_bandwidth()
    rows: list[Row] = []
    versions = {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "device": torch.cuda.get_device_name(),
        "compilelint": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "driver": driver(),
        "copy bandwidth": f"{bandwidth / 1e6:.2f} TB/s",
    }
    options.out.mkdir(parents=True, exist_ok=True)
    for part in options.only:
        rows += PARTS[part](bandwidth)
        text = markdown(rows, versions)  # written after each part: what is measured is kept
        (options.out / f"{options.name}.md").write_text(text, encoding="utf-8")
        data = json.dumps({"versions": versions, "rows": rows}, indent=1) + "\n"
        (options.out / f"{options.name}.json").write_text(data, encoding="utf-8")
        print(f"{part}: {time.perf_counter() - start:.0f} s", flush=True)
    print(text)


if __name__ == "__main__":
    main()
