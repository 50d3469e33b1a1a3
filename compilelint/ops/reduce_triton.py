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
# From 3.3 on a compiled kernel is launched with its constants too, as JITFunction.run does (CompiledKernel.run).
RELAUNCH = (3, 3) <= tuple(map(int, triton.__version__.split(".")[:2])) <= (3, 6)

_compiled: dict[tuple[object, ...], Any] = {}


def launch(
    kernel: Any,
    variant: tuple[object, ...],
    grid: int,
    tensors: tuple[Tensor, ...],
    number: int,
    constants: dict[str, object],
    warps: int = 4,
) -> None:
    """Triton's own look-up of the compiled kernel costs more than the launch: it is done once for each variant.

    `variant` tells apart what is compiled anew: names, dtypes, the device. Tensors, a number and constants are in the
    order of the kernel's parameters. Tensors begin at allocations, hence are aligned. Addresses are passed instead of
    them: for a tensor, the launcher asks the driver what it is.
    """
    if (compiled := _compiled.get(variant)) is not None:
        addresses = [tensor.data_ptr() for tensor in tensors]
        stream = torch._C._cuda_getCurrentRawStream(tensors[0].get_device())
        how = (compiled.function, compiled.packed_metadata, None, None, None)  # no hooks of Triton's own profiler
        compiled.run(grid, 1, 1, stream, *how, *addresses, number, *constants.values())
        return
    compiled = kernel[(grid,)](*tensors, number, **constants, num_warps=warps)
    if compiled is not None and RELAUNCH:  # None in Triton's interpreter
        _compiled[variant] = compiled


def reduce(plan: Plan, how: How, *, whole: bool = False, finite: bool = False) -> Tensor:
    """[tensors], or 0-d for the whole list; float32 or float64, bool for `finite` (of `how="max"`)."""
    dtype, device = plan.dtype, plan.scan.device
    direct = plan.single and not whole
    partials = torch.empty(plan.rows, dtype=dtype, device=device)
    mean = direct and how == "mean"
    variant: tuple[object, ...] = ("chunks", plan.kind, how, mean, dtype, device.index)
    constants: dict[str, object] = {
        "KIND": plan.kind,
        "HOW": how,
        "MEAN": mean,
        "ACC": ACCUMULATORS[dtype],
        "BLOCK": BLOCK,
    }
    launch(kernels.reduce_chunks, variant, plan.rows, (plan.table, partials), plan.rows, constants)
    if direct:
        return partials
    out = torch.empty(() if whole else plan.scan.count, dtype=torch.bool if finite else dtype, device=device)
    variant = ("combine", how, finite, whole, dtype, device.index)
    constants = {
        "HOW": "max" if how == "max" else "sum",
        "FINISH": "finite" if finite else "mean" if how == "mean" else "",
        "WHOLE": whole,
        "BLOCK": BLOCK if whole else 256,
    }
    tensors = (partials, plan.bounds, plan.counts, out)
    grid, warps = (1, 8) if whole else (plan.scan.count, 4)
    launch(kernels.combine, variant, grid, tensors, plan.rows, constants, warps)
    return out


def spread(plan: Plan, grads: Tensor, how: How) -> Tensor:
    """The gradient of each element of the list, of tensors of one dtype, one behind the other."""
    scan, chunks = plan.scan, plan.chunks
    flat = torch.empty(int(chunks.counts.sum()), dtype=DTYPES[scan.kind], device=scan.device)
    owners, offsets, counts = plan.upload([chunks.owners, chunks.offsets, chunks.counts])
    grads = grads.clone(memory_format=torch.contiguous_format)  # a view may begin anywhere
    variant = ("spread", how, flat.dtype, grads.dtype, scan.device.index)
    tensors = (plan.table, owners, offsets, counts, grads, flat)
    constants: dict[str, object] = {"HOW": how, "BLOCK": 1024}
    launch(kernels.spread_chunks, variant, plan.rows, tensors, 1 if grads.dim() else 0, constants)
    return flat
