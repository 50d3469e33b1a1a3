"""Launches of the kernels: one over the chunks, a second where chunks must be combined."""

from __future__ import annotations

from typing import Any, Literal

import torch
import triton
import triton.language as tl
from torch import Tensor

from compilelint.ops import kernels
from compilelint.ops.pointers import DTYPES, Plan

How = Literal["sum", "mean", "max", "square"]

BLOCK = 4096  # elements a program reads at once
ACCUMULATORS = {torch.float32: tl.float32, torch.float64: tl.float64}
# Since 3.3 the launcher of a compiled kernel takes constants too, as JITFunction.run passes them.
RELAUNCH = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 3)

_compiled: dict[tuple[object, ...], Any] = {}


def launch(
    kernel: Any,
    grid: int,
    first: Tensor,
    arguments: tuple[object, ...],
    constants: dict[str, object],
    warps: int = 4,
) -> None:
    """Triton's own look-up of the compiled kernel costs more than the launch: it is done once for each kind of call.

    Constants are in the order of the kernel's parameters. Tensors that are passed begin at allocations, hence are
    aligned.
    """
    types = (x.dtype if isinstance(x, Tensor) else type(x) for x in arguments)
    key = (kernel.__name__, first.get_device(), first.dtype, *types, *constants.values())
    if (compiled := _compiled.get(key)) is not None:
        compiled[grid, 1, 1](first, *arguments, *constants.values())
        return
    compiled = kernel[(grid,)](first, *arguments, **constants, num_warps=warps)
    if compiled is not None and RELAUNCH:  # None in Triton's interpreter
        _compiled[key] = compiled


def reduce(plan: Plan, how: How, *, whole: bool = False, finite: bool = False) -> Tensor:
    """[tensors], or 0-d for the whole list; float32 or float64, bool for `finite` (of `how="max"`)."""
    scan, dtype = plan.scan, plan.scan.accumulator
    direct = plan.single and not whole
    partials = torch.empty(plan.rows, dtype=dtype, device=scan.device)
    constants = {"KIND": scan.kind, "HOW": how, "MEAN": direct and how == "mean", "ACC": ACCUMULATORS[dtype]}
    launch(kernels.reduce_chunks, plan.rows, plan.table, (partials, plan.rows), {**constants, "BLOCK": BLOCK})
    if direct:
        return partials
    out = torch.empty(() if whole else scan.count, dtype=torch.bool if finite else dtype, device=scan.device)
    constants = {
        "HOW": "max" if how == "max" else "sum",
        "FINISH": "finite" if finite else "mean" if how == "mean" else "",
        "WHOLE": whole,
        "BLOCK": BLOCK if whole else 256,
    }
    arguments = (plan.bounds, plan.counts, out, plan.rows)
    launch(kernels.combine, 1 if whole else scan.count, partials, arguments, constants, warps=8 if whole else 4)
    return out


def spread(plan: Plan, grads: Tensor, how: How) -> Tensor:
    """The gradient of each element of the list, of tensors of one dtype, one behind the other."""
    scan, chunks = plan.scan, plan.chunks
    flat = torch.empty(int(chunks.counts.sum()), dtype=DTYPES[scan.kind], device=scan.device)
    owners, offsets, counts = plan.upload([chunks.owners, chunks.offsets, chunks.counts])
    grads = grads.clone(memory_format=torch.contiguous_format)  # a view may begin anywhere
    arguments = (owners, offsets, counts, grads, flat, 1 if grads.dim() else 0)
    launch(kernels.spread_chunks, plan.rows, plan.table, arguments, {"HOW": how, "BLOCK": 1024})
    return flat
