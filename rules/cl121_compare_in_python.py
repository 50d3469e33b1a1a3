"""Sorting by tensors, or comparing lists and tuples of them, in Python breaks the graph.

## What it does
Reports, in compiled code, `sorted` and `list.sort` whose elements or keys are tensors, `max` and `min` with a `key=`
over tensors, and `==` or `<` between lists or tuples that hold tensors.

## Why it costs
Each comparison is a Python decision on device values. Outside compiled code every one of them waits for the device.

## Example
    first = sorted(candidates, key=lambda c: c.sum())[0]

## Use instead
    stacked = torch.stack(candidates)
    first = stacked[stacked.flatten(1).sum(1).argmin()]

## Fix safety
Manual: stacking needs tensors of one shape.

## Versions
All releases. `max(a, b)`, `max(tensor)` and `tensor in list` are traced.

## References
https://docs.pytorch.org/docs/stable/generated/torch.argsort.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Compare,
    Context,
    Convert,
    Report,
    Rule,
    Seq,
    Tensor,
    break_effects,
    cost,
    walk,
)

rule = Rule(
    "CL121",
    "compare-tensors-in-python",
    effects=("graph-break", "sync"),
    gb_types=("sort with non-constant keys", "list_richcompare_nonconst", "invalid call to builtin op handler"),
)

HINT = "stack the tensors and use `torch.sort`, `argmax`, `torch.equal`"


@rule.on(Convert)
def ordered(event: Convert, ctx: Context) -> Iterator[Report]:
    if ctx.compiled and event.kind == "order":
        message = f"`{ctx.source(event.node)}` compares tensors in Python: {cost(event, ctx)}"
        yield Report(event.node, message, because=event.value, effects=break_effects(event.value), hint=HINT)


@rule.on(Compare)
def containers(event: Compare, ctx: Context) -> Iterator[Report]:
    sides = (event.left, event.right)
    if (
        not ctx.compiled
        or event.operator in ("in", "not in", "is", "is not")
        or not all(isinstance(s, Seq) for s in sides)
    ):
        return
    tensor = next((v for side in sides for v in walk(side) if isinstance(v, Tensor)), None)
    if tensor is not None:
        message = f"`{ctx.source(event.node)}` compares tensors in Python: {cost(event, ctx)}"
        yield Report(event.node, message, because=tensor, effects=break_effects(tensor), hint=HINT)
