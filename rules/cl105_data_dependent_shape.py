"""An operator whose result's shape depends on values breaks the graph.

## What it does
Reports, in compiled code, `nonzero`, `argwhere`, one-argument `where`, `masked_select`, `unique`, `bincount`,
`combinations`, `ctc_loss`, `linalg.lstsq`, `repeat_interleave` with counts and no `output_size`, `one_hot` without
`num_classes`, `tensor_split` by a tensor, and reads (`x[mask]`, `x[mask] += 1`) through a boolean mask. Writing a
tensor through a mask is traced; it waits for the device all the same.

## Why it costs
The compiler must know shapes. The graph ends at the operator, the CPU waits for the device to count, and the rest is
compiled anew.

## Example
    loss = loss[labels != -100].mean()

## Use instead
    keep = labels != -100
    loss = torch.where(keep, loss, 0).sum() / keep.sum()

`nonzero_static(size=)`, `output_size=` and `num_classes=` give the operator the size it would count.

## Fix safety
Unsafe: `x[mask].sum()` and `.mean()` become `torch.where`, and `cross_entropy(logits[keep], labels[keep])` with `keep
= labels != K` the loss over all with `ignore_index=K`: the same terms, summed in another order. The first index of a
condition, `cond.nonzero()[0].item()`, becomes `argmax` where it is stored or an index (unsafe). Safe for
`repeat_interleave` by counts that were made of a list of integers written out in the function, both bound once and only
read: it gives `output_size` (unsafe for lists from elsewhere). Where the rows that a mask picks are
worked on one by one and put back, as in a loop over experts, all rows are worked on and those of the mask kept (unsafe:
more is computed); `bincount` to a given number scatters ones. The rest is manual: only you know the size.

## Versions
From the table of the chosen release: `torch.combinations` is traced since 2.14.
`torch._dynamo.config.capture_dynamic_output_shape_ops` keeps the operator in the graph, and the wait.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    NONE,
    Applicability,
    Call,
    Const,
    Context,
    Event,
    Fix,
    Read,
    Report,
    Rule,
    Value,
    Write,
    break_effects,
    constant,
    cost,
    counted_by_list,
    dense_rows,
    first_match,
    is_host_number,
    keep_shape,
    known_classes,
    masks,
    on_device,
    tensor_of,
    words,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule(
    "CL105",
    "data-dependent-shape-in-graph",
    effects=("graph-break", "sync"),
    gb_types=("Dynamic shape operator", "Data dependent operator"),
    fixable=Applicability.UNSAFE,
)

COUNTED = words("nonzero argwhere masked_select unique unique_consecutive bincount combinations")
NMS = ("torchvision.ops.nms", "torchvision.ops.batched_nms", "torch.ops.torchvision.nms")
OTHERS = ("torch.nn.functional.ctc_loss", "torch.ctc_loss", "torch.linalg.lstsq", *NMS)
NUMPY = ("numpy.nonzero", "numpy.argwhere", "numpy.flatnonzero", "numpy.unique", "numpy.bincount")
HINT = "keep the shape: use a mask, or pass the size"


def report(
    event: Event, value: Value | None, what: str, ctx: Context, hint: str = HINT, fix: Fix | None = None
) -> Iterator[Report]:
    if ctx.compiled and value is not None and tensor_of(value) is not None:
        message = f"`{ctx.source(event.node)}` {what}: {cost(event, ctx)}"
        yield Report(event.node, message, because=value, effects=break_effects(value), hint=hint, fix=fix)


@rule.on(Call, *(f"{owner}.{name}" for owner in ("torch", "Tensor") for name in COUNTED), *OTHERS, *NUMPY)
def counted(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.receiver if event.target.startswith("Tensor.") else event.args[0] if event.args else None
    if ctx.torch_says(event.target).get("breaks") is not False:
        yield from report(event, value, "has a shape that depends on values", ctx, HINT, picked(event, ctx))


def picked(event: Call, ctx: Context) -> Fix | None:
    return first_match(event, ctx) or dense_rows(event, ctx) or scattered(event)


def scattered(event: Call) -> Fix | None:
    """`torch.bincount(ids, minlength=n)` → ones, scattered into `n` zeros."""
    call = event.node
    match call:
        case ast.Call(func=ast.Attribute(value=ids, attr="bincount"), args=[], keywords=[ast.keyword("minlength", n)]):
            pass
        case ast.Call(func=ast.Attribute(attr="bincount"), args=[ids], keywords=[ast.keyword("minlength", n)]):
            pass
        case _:
            return None
    if not isinstance(ids, ast.Name):
        return None
    name, size = ids.id, n

    def build(rw: Rewriter) -> None:
        zeros, long, ones = (rw.name_for(f"torch.{each}") for each in ("zeros", "long", "ones_like"))
        made = f"{zeros}({rw.code(size)}, dtype={long}, device={name}.device)"
        rw.replace(call, f"{made}.scatter_add_(0, {name}, {ones}({name}))")

    why = "a value beyond the given number is an error, where the result grew; the values must be 64-bit integers"
    return Fix("scatter the counts", Applicability.UNSAFE, build, why)


@rule.on(Call, "torch.where", "numpy.where")
def where(event: Call, ctx: Context) -> Iterator[Report]:
    if len(event.args) + len(event.kwargs) == 1 and not event.starred:
        yield from report(
            event,
            event.argument(0, "condition"),
            "is `nonzero`",
            ctx,
            "give `where` both branches",
            dense_rows(event, ctx),
        )


@rule.on(Call, "torch.repeat_interleave", "Tensor.repeat_interleave")
def repeats(event: Call, ctx: Context) -> Iterator[Report]:
    method = event.target.startswith("Tensor.")
    counts = event.argument(0 if method else 1, "repeats")
    if counts is None and not method:
        counts = event.argument(0, "input")  # repeat_interleave(repeats)
    size = event.kwargs.get("output_size", NONE)
    if not event.starred and isinstance(size, Const) and size.value is None:
        hint = "pass `output_size=`, where the host knows the total"
        yield from report(event, counts, "sums its counts", ctx, hint, counted_by_list(event, ctx))


@rule.on(Call, "torch.nn.functional.one_hot")
def one_hot(event: Call, ctx: Context) -> Iterator[Report]:
    classes = event.argument(1, "num_classes")
    if not event.starred and (classes is None or constant(classes) == -1):
        ids, hint = event.argument(0, "tensor"), "pass `num_classes=`"
        yield from report(event, ids, "looks for its maximum", ctx, hint, known_classes(event, ctx))


@rule.on(Call, "torch.tensor_split", "Tensor.tensor_split")
def tensor_split(event: Call, ctx: Context) -> Iterator[Report]:
    places = event.argument(0 if event.target.startswith("Tensor.") else 1, "tensor_indices_or_sections")
    yield from report(event, places, "splits where a tensor says", ctx, "split at places the host knows")


@rule.on(Read)
def mask_read(event: Read, ctx: Context) -> Iterator[Report]:
    if tensor_of(event.base) is not None and (mask := next(masks(event.index), None)) is not None:
        hint = "keep the shape: `torch.where(mask, x, 0)`, or weights of 0 and 1"
        yield from report(event, mask, "selects by a mask", ctx, hint, keep_shape(event, ctx) or dense_rows(event, ctx))


@rule.on(Write)
def mask_write(event: Write, ctx: Context) -> Iterator[Report]:
    mask, value = next(masks(event.index), None), tensor_of(event.value)
    if tensor_of(event.base) is None or mask is None or not ctx.compiled:
        return
    if event.augmented:
        hint = f"`torch.where(mask, x {event.augmented} value, x)` keeps the shape"
        yield from report(event, mask, "reads and writes through a mask", ctx, hint, dense_rows(event, ctx))
    elif value is not None and value.rank != 0 and not is_host_number(event.value) and on_device(mask):
        message = f"`{ctx.source(event.node)} = …` writes a tensor through a mask: the CPU waits for the device"
        hint = "use `masked_scatter`, or `torch.where` with a value of the full shape"
        yield Report(event.node, message, because=mask, effects=("sync",), hint=hint)
