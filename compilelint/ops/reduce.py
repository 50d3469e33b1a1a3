"""Reductions over lists of tensors: one kernel for a list, two where its tensors are long or one number is wanted.

The operators are in register.py. Called eagerly on CUDA with nothing to differentiate, these functions go past the
dispatcher, which would take thousands of tensors out of their list and put them back, several times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from compilelint.ops.pointers import Plan, Scan, TensorTable, plan, scan
from compilelint.ops.register import check, kernels, launch


def sum_tensors(tensors: Iterable[Tensor] | TensorTable) -> Tensor:
    """The sum of all elements of all tensors, 0-d on their device: float32, or float64 where one of them is.

    Tensors of any shape, float32, float16, bfloat16 or float64, on one device; accumulated in the result's dtype, in
    the same order each time. Of no tensors, 0 on the CPU. Differentiable.

    Raises TypeError for what is no tensor or of another dtype, ValueError for tensors on several devices.
    """
    return _reduce(tensors, "sum", whole=True)


def sum_each(tensors: Iterable[Tensor] | TensorTable) -> Tensor:
    """The sum of each tensor, [tensors]; else as `sum_tensors`."""
    return _reduce(tensors, "sum")


def mean_each(tensors: Iterable[Tensor] | TensorTable) -> Tensor:
    """The mean of each tensor, [tensors], NaN for one without elements; else as `sum_tensors`."""
    return _reduce(tensors, "mean")


def max_abs_each(tensors: Iterable[Tensor] | TensorTable) -> Tensor:
    """The largest magnitude in each tensor, [tensors]: NaN where it holds one, 0 for one without elements.

    The gradient is shared out evenly among equal largest elements, as `torch.amax` does. Else as `sum_tensors`.
    """
    return _reduce(tensors, "max")


def squared_norm_each(tensors: Iterable[Tensor] | TensorTable) -> Tensor:
    """The sum of squares of each tensor, [tensors]; else as `sum_tensors`."""
    return _reduce(tensors, "square")


def all_finite(tensors: Iterable[Tensor] | TensorTable) -> Tensor:
    """Whether no element of any tensor is infinite or NaN: a 0-d bool on their device, which nobody waits for.

    Takes and raises as `sum_tensors`. Of no tensors, True on the CPU.
    """
    items = _items(tensors)
    if not items:
        return torch.ones((), dtype=torch.bool)
    if not torch.compiler.is_compiling():
        if (found := _launchable(tensors, items, differentiable=False)) is not None:
            return launch(_planner(tensors), found, "max", whole=True, finite=True)
        check(items)
    result: Tensor = torch.ops.compilelint.all_finite.default([dense(tensor.detach()) for tensor in items])
    return result


def _reduce(tensors: Iterable[Tensor] | TensorTable, how: str, *, whole: bool = False) -> Tensor:
    items = _items(tensors)
    if not items:
        return torch.zeros(() if whole else 0)
    if not torch.compiler.is_compiling():
        if (found := _launchable(tensors, items, differentiable=True)) is not None:
            return launch(_planner(tensors), found, how, whole=whole)
        check(items)
    items = [dense(tensor) for tensor in items]
    result: Tensor
    if whole:
        result = torch.ops.compilelint.reduce_all.default(items)
    else:
        result = torch.ops.compilelint.reduce_each.default(items, how)
    return result


def _items(tensors: Iterable[Tensor] | TensorTable) -> list[Tensor]:
    if isinstance(tensors, TensorTable):
        return tensors.tensors
    return tensors if type(tensors) is list else list(tensors)


def _planner(tensors: Iterable[Tensor] | TensorTable) -> Callable[[Scan], Plan]:
    return tensors.plan if isinstance(tensors, TensorTable) else plan


def _launchable(tensors: Iterable[Tensor] | TensorTable, items: list[Tensor], *, differentiable: bool) -> Scan | None:
    """None unless kernels can be launched right away: nothing to differentiate, no mode that wants to see operators."""
    if not getattr(items[0], "is_cuda", False) or kernels() is None or _intercepted():
        return None
    want_grad = differentiable and torch.is_grad_enabled()
    return tensors.scan(want_grad) if isinstance(tensors, TensorTable) else scan(items, want_grad)


def _intercepted() -> bool:
    return bool(torch._C._len_torch_dispatch_stack()) or torch._C._functorch.peek_interpreter_stack() is not None


def dense(tensor: Tensor) -> Tensor:
    """Contiguous; where another order of dimensions does it, without a copy: a reduction doesn't mind the order."""
    if tensor.is_contiguous():
        return tensor
    order = sorted(range(tensor.dim()), key=tensor.stride, reverse=True)
    return tensor.permute(order).contiguous()
