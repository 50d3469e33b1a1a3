"""A read or write through a boolean mask on the device makes the CPU wait until the mask is counted.

## What it does
Reports, outside compiled code, `x[mask]` and `x[mask] = values`, where `mask` is a boolean tensor on the device and
`values` a tensor, `x[mask] += y`, and `x[flag] = 0` of a single number. Inside compiled code the same sites are CL105.

## Why it costs
Indexing by a mask is `nonzero` first: the host waits for the number of elements.

## Example
    loss = loss[mask].sum()
    embeds[is_slot] = features

## Use instead
    loss = torch.where(mask, loss, 0).sum()
    embeds = embeds.masked_scatter(is_slot.unsqueeze(-1), features)

Assigning a Python number through a mask (`y[mask] = 0.0`) is a masked fill and costs nothing of the kind.

## Fix safety
Unsafe. A write becomes `masked_scatter_`, which takes the elements of the source in order, where an assignment would
also broadcast a source of fewer elements. A masked sum or mean becomes `where`, and `cross_entropy(logits[keep],
labels[keep])` with `keep = labels != K` the loss over all with `ignore_index=K`: the order of summation changes.
Rows that are picked, worked on one by one and put back are worked on whole, see CL105. Other reads are manual.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Context,
    Fix,
    Read,
    Report,
    Rule,
    Write,
    dense_rows,
    keep_shape,
    masks,
    on_device,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL210", "boolean-mask", effects=("sync",), fixable=Applicability.UNSAFE)

WAITS = "the CPU waits until the device has counted it"


@rule.on(Read)
def reads(event: Read, ctx: Context) -> Iterator[Report]:
    base, mask = tensor_of(event.base), next(masks(event.index), None)
    if ctx.compiled or base is None or mask is None or not (on_device(base) and on_device(mask)):
        return
    message = f"`{ctx.source(event.node)}` selects by a mask: {WAITS}"
    hint = "keep the shape: `torch.where(mask, x, 0)`, or weights of 0 and 1"
    yield Report(event.node, message, because=mask, hint=hint, fix=keep_shape(event, ctx) or dense_rows(event, ctx))


@rule.on(Write)
def writes(event: Write, ctx: Context) -> Iterator[Report]:
    base, mask, value = tensor_of(event.base), next(masks(event.index), None), tensor_of(event.value)
    if mask is None:
        yield from single(event, ctx)
    if ctx.compiled or base is None or mask is None or not (on_device(base) and on_device(mask)):
        return
    if not event.augmented and (value is None or (value.rank == 0 and not on_device(value))):
        return  # a number through a mask is a masked fill
    many = value is not None and value.rank != 0
    message = f"`{ctx.source(event.node)} = …` writes through a mask: {WAITS}"
    hint = "use `masked_scatter`, or `torch.where` with a value of the full shape"
    yield Report(event.node, message, because=mask, hint=hint, fix=scatter(event) if many else None)


def single(event: Write, ctx: Context) -> Iterator[Report]:
    """`total[flag] = 0`, one element through a 0-d mask: no masked fill, but an indexed write."""
    base, mask = tensor_of(event.base), tensor_of(event.index)
    if base is None or base.rank != 0 or mask is None or mask.dtype != "bool" or ctx.region.kind == "compiled":
        return
    if on_device(base) and on_device(mask):
        message = f"`{ctx.source(event.node)} = …` writes through a mask: {WAITS}"
        yield Report(event.node, message, because=mask, hint="select with `torch.where`")


def scatter(event: Write) -> Fix | None:
    """`x[mask] = values` as one `masked_scatter_`, the mask padded to the rank of `x`."""
    match event.statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=x), slice=ast.Name(id=m)) as target]):
            if target is not event.node:
                return None
        case _:
            return None
    statement = event.statement
    value = statement.value
    selected = (n.slice for n in ast.walk(value) if isinstance(n, ast.Subscript))
    if any(isinstance(index, ast.Name) and index.id == m for index in selected):
        return None  # `x[m] = y[m]` would count the mask all the same

    def build(rw: Rewriter) -> None:
        padded = f"{m}.reshape({m}.shape + (1,) * ({x}.dim() - {m}.dim()))"
        rw.replace_statement(statement, f"{x}.masked_scatter_({padded}, {rw.code(value)})")

    why = "a source with fewer elements than the mask selects was broadcast, and is an error now"
    return Fix("Write with `masked_scatter_`", Applicability.UNSAFE, build, why)
