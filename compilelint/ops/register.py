"""The operators as torch.library knows them: implementations in plain torch and in Triton, fake ones, gradients.

`compilelint::reduce_each`, `reduce_all` and `all_finite` take a list of tensors; `spread` makes the gradients of the
first two.
"""

from __future__ import annotations

import importlib.util
from array import array
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op

from compilelint.ops.pointers import KIND_SHIFT, KINDS, Plan, Scan, plan, scan


def check(tensors: Sequence[Tensor]) -> None:
    """Raises what the operators raise for tensors that they don't take."""
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensor {place} is {type(tensor).__name__}, not a tensor")
        if tensor.dtype not in KINDS:
            raise TypeError(f"tensor {place} is {tensor.dtype}: only {', '.join(map(str, KINDS))} are reduced")
        if tensor.device != tensors[0].device:
            there, here = tensors[0].device, tensor.device
            raise ValueError(f"tensors on several devices: tensor 0 is on {there}, tensor {place} on {here}")


def accumulator(tensors: Sequence[Tensor]) -> torch.dtype:
    return torch.float64 if any(tensor.dtype == torch.float64 for tensor in tensors) else torch.float32


def on(device: torch.device) -> AbstractContextManager[Any]:
    """Triton launches on the current device."""
    return nullcontext() if device.index == torch.cuda.current_device() else torch.cuda.device(device)


@cache
def kernels() -> Any:
    """The module with the launches, None where Triton isn't installed."""
    if importlib.util.find_spec("triton") is None:
        return None
    module: ModuleType = importlib.import_module(f"{__package__}.reduce_triton")
    return module


def launch(
    planned: Callable[[Scan], Plan], found: Scan, how: str, *, whole: bool = False, finite: bool = False
) -> Tensor:
    """The kernels over what a scan found."""
    with on(found.device):
        result: Tensor = kernels().reduce(planned(found), how, whole=whole, finite=finite)
    return result


# In plain torch, on any device


def reduce_each(tensors: Sequence[Tensor], how: str) -> Tensor:
    check(tensors)
    dtype = accumulator(tensors)
    return torch.stack([_one(tensor, how, dtype) for tensor in tensors])


def _one(tensor: Tensor, how: str, dtype: torch.dtype) -> Tensor:
    match how:
        case "sum":
            return tensor.sum(dtype=dtype)
        case "mean":
            return tensor.mean(dtype=dtype)
        case "square":
            return tensor.to(dtype).square().sum()
        case "max":
            return tensor.abs().amax().to(dtype) if tensor.numel() else tensor.new_zeros((), dtype=dtype)
        case _:
            raise ValueError(f"no reduction {how!r}: sum, mean, max or square")


def reduce_all(tensors: Sequence[Tensor]) -> Tensor:
    return reduce_each(tensors, "sum").sum()


def all_finite(tensors: Sequence[Tensor]) -> Tensor:
    check(tensors)
    return torch.stack([tensor.isfinite().all() for tensor in tensors]).all()


def spread(grads: Tensor, tensors: Sequence[Tensor], counts: Sequence[int], dtype: torch.dtype, how: str) -> Tensor:
    parts = []
    for place, count in enumerate(counts):
        grad = grads[place] if grads.dim() else grads
        if how == "square":
            part = 2 * grad * tensors[place].flatten()
        else:
            part = (grad / count if how == "mean" else grad).expand(count)
        parts.append(part.to(dtype))
    return torch.cat(parts)


# In Triton

_passing = partial(plan, keep=False)


def _scanned(tensors: Sequence[Tensor]) -> tuple[Scan, list[Tensor]]:
    """The tensors must live until the kernel is launched: some may be copies."""
    if (found := scan(list(tensors))) is not None:  # as a rule; a look at each in Python takes longer than all the rest
        return found, []
    check(tensors)
    plain = [tensor.detach().contiguous() for tensor in tensors]
    found = scan(plain)
    assert found is not None, "checked and contiguous"
    return found, plain


def reduce_each_cuda(tensors: Sequence[Tensor], how: str) -> Tensor:
    found, _alive = _scanned(tensors)
    return launch(_passing, found, how)


def reduce_all_cuda(tensors: Sequence[Tensor]) -> Tensor:
    found, _alive = _scanned(tensors)
    return launch(_passing, found, "sum", whole=True)


def all_finite_cuda(tensors: Sequence[Tensor]) -> Tensor:
    found, _alive = _scanned(tensors)
    return launch(_passing, found, "max", whole=True, finite=True)


def spread_cuda(
    grads: Tensor, tensors: Sequence[Tensor], counts: Sequence[int], dtype: torch.dtype, how: str
) -> Tensor:
    if how == "square":
        found, _alive = _scanned(tensors)
    else:  # what the tensors hold doesn't matter
        rows = array("q", bytes(16 * len(counts)))
        rows[1::2] = array("q", (count | KINDS[dtype] << KIND_SHIFT for count in counts))
        found = Scan(bytearray(rows), len(counts), 1 << KINDS[dtype], grads.device)
    with on(found.device):
        result: Tensor = kernels().spread(_passing(found), grads, how)
    return result


# What shapes and dtypes come out


def reduce_each_fake(tensors: Sequence[Tensor], how: str) -> Tensor:
    check(tensors)
    return tensors[0].new_empty((len(tensors),), dtype=accumulator(tensors))


def reduce_all_fake(tensors: Sequence[Tensor]) -> Tensor:
    check(tensors)
    return tensors[0].new_empty((), dtype=accumulator(tensors))


def all_finite_fake(tensors: Sequence[Tensor]) -> Tensor:
    check(tensors)
    return tensors[0].new_empty((), dtype=torch.bool)


def spread_fake(
    grads: Tensor, tensors: Sequence[Tensor], counts: Sequence[int], dtype: torch.dtype, how: str
) -> Tensor:
    return grads.new_empty((sum(counts),), dtype=dtype)


# Gradients


def keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """For backward: the tensors where their values are needed, else only what they look like."""
    tensors, ctx.how = inputs[0], inputs[1] if len(inputs) > 1 else "sum"
    ctx.looks = [(tensor.shape, tensor.dtype) for tensor in tensors]
    values = {"square": tensors, "max": [*tensors, output]}.get(ctx.how, [])
    ctx.save_for_backward(*values)


def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    needed = [place for place, wanted in enumerate(ctx.needs_input_grad[0]) if wanted]
    grads: list[Tensor | None] = [None] * len(ctx.looks)
    if ctx.how == "max":
        *tensors, peaks = ctx.saved_tensors
        for place in needed:
            grads[place] = _of_largest(tensors[place], peaks[place], grad[place])
    else:
        for dtype in dict.fromkeys(ctx.looks[place][1] for place in needed):
            places = [place for place in needed if ctx.looks[place][1] == dtype]
            for place, part in zip(places, _parts(ctx, grad, places, dtype), strict=True):
                grads[place] = part
    return grads, *[None] * (len(ctx.needs_input_grad) - 1)


def _parts(ctx: Any, grad: Tensor, places: list[int], dtype: torch.dtype) -> list[Tensor]:
    """The gradients of tensors of one dtype: parts of one buffer, which one kernel fills."""
    if grad.dim() and len(places) < len(ctx.looks):
        grad = torch.stack([grad[place] for place in places])
    shapes = [ctx.looks[place][0] for place in places]
    counts = [shape.numel() for shape in shapes]
    tensors = [ctx.saved_tensors[place] for place in places] if ctx.how == "square" else []
    flat = torch.ops.compilelint.spread.default(grad, tensors, counts, dtype, ctx.how)
    return [part.view(shape) for part, shape in zip(flat.split(counts), shapes, strict=True)]


def _of_largest(tensor: Tensor, peak: Tensor, grad: Tensor) -> Tensor:
    """Shared evenly among equals."""
    largest = tensor.abs() == peak
    return (grad / largest.sum() * largest * tensor.sgn()).to(tensor.dtype)


_OPERATORS: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor], Callable[..., Tensor]]] = {
    "reduce_each(Tensor[] tensors, str how) -> Tensor": (reduce_each, reduce_each_cuda, reduce_each_fake),
    "reduce_all(Tensor[] tensors) -> Tensor": (reduce_all, reduce_all_cuda, reduce_all_fake),
    "all_finite(Tensor[] tensors) -> Tensor": (all_finite, all_finite_cuda, all_finite_fake),
    "spread(Tensor grads, Tensor[] tensors, SymInt[] counts, ScalarType dtype, str how) -> Tensor": (
        spread,
        spread_cuda,
        spread_fake,
    ),
}


def _register() -> None:
    for signature, (plain, cuda, fake) in _OPERATORS.items():
        name, parameters = signature.split("(", 1)
        operator = custom_op(f"compilelint::{name}", plain, mutates_args=(), schema=f"({parameters}")
        operator.register_fake(fake)
        if kernels() is not None:
            operator.register_kernel("cuda", cuda)
        if name.startswith("reduce"):
            operator.register_autograd(backward, setup_context=keep)


_register()
