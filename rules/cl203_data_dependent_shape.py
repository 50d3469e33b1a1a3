"""An operator whose result's shape depends on values makes the CPU wait for the GPU to learn that shape.

## What it does
Reports, outside compiled code, `nonzero`, one-argument `where`, `argwhere`, `masked_select`, `unique`, `bincount`,
`repeat_interleave` with a tensor of counts and no `output_size`, `one_hot` without `num_classes`, and `combinations`.
Inside compiled code the same sites are CL105. Boolean masks are CL210.

## Why it costs
The host must allocate the result, so it waits until the device has counted. Every such call is a full stop of the
pipeline.

## Example
    owner = torch.repeat_interleave(ids, counts)

## Use instead
    owner = torch.repeat_interleave(ids, counts, output_size=total)

## Fix safety
Safe for `repeat_interleave` by counts that were made of a list of the same function, which gives `output_size`.
Unsafe where the first index of a condition, `cond.nonzero()[0].item()`, is stored or an index: it becomes `argmax`, a
0-d tensor. Rows that a mask picks are worked on whole, see CL105 (unsafe). Elsewhere manual: only you know it, or what
shape would do.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.repeat_interleave.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Fix,
    Report,
    Rule,
    Value,
    counted_by_list,
    dense_rows,
    first_match,
    known_classes,
    on_device,
)

rule = Rule("CL203", "data-dependent-shape", effects=("sync",), fixable=Applicability.UNSAFE)

SIZE = "pass `output_size=` where the host knows the total"
COUNTED = ("nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "bincount", "combinations")


def report(
    event: Call, ctx: Context, what: str, value: Value | None, hint: str, fix: Fix | None = None
) -> Iterator[Report]:
    if not ctx.compiled and not event.starred and value is not None and on_device(value):
        message = f"`{ctx.source(event.node)}` {what}: the CPU waits for the device to learn the size of the result"
        yield Report(event.node, message, because=value, hint=hint, fix=fix)


@rule.on(Call, *(f"{owner}.{name}" for owner in ("torch", "Tensor") for name in COUNTED))
def counted(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.receiver if event.target.startswith("Tensor.") else event.argument(0, "input")
    hint = "keep the shape, and use a mask"
    yield from report(
        event, ctx, "counts on the device", value, hint, first_match(event, ctx) or dense_rows(event, ctx)
    )


@rule.on(Call, "torch.where")
def where(event: Call, ctx: Context) -> Iterator[Report]:
    if len(event.args) + len(event.kwargs) == 1:
        value = event.argument(0, "condition")
        hint = "give `where` both branches, or keep the mask"
        yield from report(event, ctx, "is `nonzero`", value, hint, dense_rows(event, ctx))


@rule.on(Call, "torch.repeat_interleave", "Tensor.repeat_interleave")
def repeats(event: Call, ctx: Context) -> Iterator[Report]:
    method = event.target.startswith("Tensor.")
    counts = event.argument(0 if method else 1, "repeats")
    if counts is None and not method:
        counts = event.argument(0, "input")  # repeat_interleave(repeats)
    if "output_size" not in event.kwargs:
        yield from report(event, ctx, "sums its counts", counts, SIZE, counted_by_list(event, ctx))


@rule.on(Call, "torch.nn.functional.one_hot")
def one_hot(event: Call, ctx: Context) -> Iterator[Report]:
    if event.argument(1, "num_classes") is None:
        ids, hint = event.argument(0, "tensor"), "pass `num_classes=`"
        yield from report(event, ctx, "looks for its maximum", ids, hint, known_classes(event, ctx))
