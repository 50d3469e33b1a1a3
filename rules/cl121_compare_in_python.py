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
    Call,
    Compare,
    Context,
    External,
    Report,
    Rule,
    Seq,
    Tensor,
    Value,
    break_effects,
    cost,
    tensor_in,
    tensor_of,
    walk,
)

rule = Rule(
    "CL121",
    "compare-tensors-in-python",
    effects=("graph-break", "sync"),
    gb_types=("sort with non-constant keys", "list_richcompare_nonconst", "invalid call to builtin op handler"),
)

HINT = "stack the tensors and use `torch.sort`, `argmax`, `torch.equal`"


@rule.on(Call, "sorted", "list.sort")
def ordered(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.receiver if event.target == "list.sort" else event.args[0] if event.args else None
    tensor = tensor_of(value) if value is not None else None
    if tensor is None and isinstance(value, Seq):
        tensor = tensor_in(value.any_item())
    if "key" in event.kwargs and (tensor is None or sizes_only(event.kwargs["key"])):
        return
    if ctx.compiled and tensor is not None:
        message = f"`{ctx.source(event.node)}` compares tensors in Python: {cost(event, ctx)}"
        yield Report(event.node, message, because=tensor, effects=break_effects(tensor), hint=HINT)


def sizes_only(key: Value) -> bool:
    """Whether a sort key certainly gives no tensor."""
    return isinstance(key, External) and key.name in ("len", "str", "id", "type")


@rule.on(Call, "max", "min")
def extreme(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.args[0] if event.args else None
    if (
        ctx.compiled
        and "key" in event.kwargs
        and isinstance(value, Seq)
        and (tensor := tensor_in(value.any_item())) is not None
    ):
        message = f"`{ctx.source(event.node)}` compares tensors in Python: {cost(event, ctx)}"
        yield Report(event.node, message, because=tensor, effects=break_effects(tensor), hint=HINT)


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
