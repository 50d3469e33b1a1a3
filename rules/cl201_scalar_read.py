"""A Python number read from a device tensor makes the CPU wait for the GPU.

## What it does
Reports `.item()`, `int(t)`, `float(t)`, `bool(t)`, `complex(t)`, `round(t)`, `math.f(t)`, `range(t)`, a size, a
slice bound or a list index that is a tensor, `print(t)`, f-strings with a tensor, and builtin `max`, `min` and
`sorted` over a tensor: each hands a value from device memory to Python. Inside compiled code the same sites are
CL103 (they break the graph as well).

## Why it costs
The CPU queues kernels ahead of the GPU. A read stops it until everything queued so far has run, and the GPU then
idles until new work arrives.

## Example
    longest = lengths.max().item()
    x = x[:, :longest]

## Use instead
Pass the number down from where the host knows it, or keep it a 0-d tensor:

    x = x * (position < lengths.max())

## Fix safety
Unsafe, in these cases: a number that only scales tensors (`s = t.item() + eps`, then `x * s` or `alpha=-lr / s`) is
kept a 0-d tensor, computed in its own precision, and so is one that bounds a `clamp` or is compared with a tensor; and
the sum, minimum or maximum of a vector that was read with `tolist()` before comes from that list. Where the vector was
made of a list, that is read: safe within one function, unsafe where callers pass it. Else manual: whether a tensor can
stand for the number depends on every use of it. A literal of several reads becomes one
stacked copy, the numbers of a schedule that a loop goes through are read before it, and a loop over as many rounds as a
mask holds goes over all of the mask (unsafe). Metrics (CL204) and reads for each key (CL205) have their own
rewrites.

## Versions
All releases.

## References
https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Convert,
    Event,
    Fix,
    Report,
    Rule,
    Seq,
    Severity,
    Value,
    is_reported,
    keep_tensor,
    kept_as_tensor,
    on_device,
    over_the_mask,
    read_before,
    read_kind,
    read_schedule,
    read_the_list,
    stack_literal,
    sum_after_loop,
)

rule = Rule("CL201", "scalar-read", effects=("sync",), fixable=Applicability.UNSAFE)

HINT = "keep it a 0-d tensor, or take the number from where the host knows it"
# the arguments that torch takes as a Python number: a tensor there is read
NUMBERS = {"torch.full": (1, "fill_value"), "Tensor.new_full": (1, "fill_value")}
SCALED = ("torch.add", "torch.sub", "Tensor.add", "Tensor.add_", "Tensor.sub", "Tensor.sub_")


def report(
    event: Event, value: Value, ctx: Context, how: str, metrics: bool = False, fix: Fix | None = None
) -> Iterator[Report]:
    if ctx.compiled or not on_device(value):
        return
    if not metrics and read_kind(event, ctx) != "plain":
        return  # CL204, CL205
    yield found(event, value, ctx, how, fix)


def found(event: Event, value: Value, ctx: Context, how: str, fix: Fix | None = None) -> Report:
    severity = Severity.NOTE if is_reported(event, ctx) else None
    message = f"`{ctx.source(event.node)}` {how}: the CPU waits for the device"
    return Report(event.node, message, because=value, hint=HINT, severity=severity, fix=fix)


@rule.on(Call, "Tensor.item", "Tensor.__float__", "Tensor.__int__", "Tensor.__bool__", "Tensor.__index__")
def reads(event: Call, ctx: Context) -> Iterator[Report]:
    if event.receiver is not None:
        fix = (
            read_the_list(event, ctx)
            or read_before(event, ctx)
            or over_the_mask(event, ctx)
            or read_schedule(event, ctx)
            or sum_after_loop(event, ctx)
            or stack_literal(event, ctx)
            or kept_as_tensor(event, ctx)
            or keep_tensor(event, ctx)
        )
        yield from report(event, event.receiver, ctx, "reads a number from the device", fix=fix)


@rule.on(Convert)
def converts(event: Convert, ctx: Context) -> Iterator[Report]:
    if event.kind == "order":  # without a key it is told of as the call
        if "key" in keywords(event.node) and not ctx.compiled and on_device(event.value):
            yield found(event, event.value, ctx, "compares tensors one by one in Python")
        return
    how = "formats a tensor" if event.kind in ("str", "format", "%") else "turns a tensor into a Python number"
    if event.kind == "format" and ctx.compiled and ctx.region.kind != "compiled":
        if on_device(event.value):  # Dynamo traces it, should it come here
            yield found(event, event.value, ctx, how)
        return
    first = over_the_mask(event, ctx) or read_the_list(event, ctx) or read_schedule(event, ctx)
    fix = first or stack_literal(event, ctx) or keep_tensor(event, ctx)
    yield from report(event, event.value, ctx, how, fix=fix)


def keywords(node: ast.AST) -> list[str | None]:
    return [keyword.arg for keyword in node.keywords] if isinstance(node, ast.Call) else []


@rule.on(Call, "max", "min", "sorted")
def compares(event: Call, ctx: Context) -> Iterator[Report]:
    """Python's own `max` asks the truth of each comparison; compiled code computes it on the device."""
    several = len(event.args) > 1
    first = event.args[0] if event.args and "key" not in event.kwargs else None
    if first is None or (isinstance(first, Seq) and not several and first.items is not None and len(first.items) < 2):
        return
    value = first.any_item() if isinstance(first, Seq) and not several else first
    traced = ctx.compiled if event.target == "sorted" else ctx.region.kind == "compiled"
    if not traced and on_device(value):
        yield found(event, value, ctx, "compares tensors one by one in Python")


@rule.on(Call, *NUMBERS, *SCALED)
def numbers(event: Call, ctx: Context) -> Iterator[Report]:
    """`fill_value=` and `alpha=` take a number."""
    value = event.argument(*NUMBERS[event.target]) if event.target in NUMBERS else event.kwargs.get("alpha")
    call = event.node
    if value is not None and isinstance(call, ast.Call):
        yield from report(event, value, ctx, "reads a tensor that stands for a number", metrics=True)


@rule.on(Call, "torch.linspace", "torch.logspace", "torch.arange")
def bounds(event: Call, ctx: Context) -> Iterator[Report]:
    """Both ends of a range; in compiled code they are traced, and those of `arange` are CL106."""
    traced = ctx.compiled if event.target == "torch.arange" else ctx.region.kind == "compiled"
    given = (*event.args[:2], *(event.kwargs[name] for name in ("start", "end") if name in event.kwargs))
    value = next((v for v in given if on_device(v)), None)
    if value is not None and not traced:
        yield found(event, value, ctx, "reads a tensor that stands for a number")


@rule.on(Call, "print", "logging.*")
def shows(event: Call, ctx: Context) -> Iterator[Report]:
    for value in event.args:
        if on_device(value):
            yield from report(event, value, ctx, "prints a tensor")
            return
