"""A metric read from the device in every step, where one read after the steps would do.

## What it does
Reports `total += loss.item()`, `losses.append(loss.item())`, `meter.update(float(loss))`,
`writer.add_scalar("loss", loss.item(), step)` and the like in a loop that trains, evaluates or decodes.

## Why it costs
Nothing in the step needs the number, yet the CPU waits for the step to finish before it queues the next. Projects
that removed it report 40 to 50 ms a step.

## Example
    for x, y in batches:
        loss = train_step(x, y)
        total += loss.item()
    print(total)

## Use instead
    for x, y in batches:
        loss = train_step(x, y)
        total += loss.detach()
    print(float(total))

Or read every N steps: a read under `if step % n == 0` is a note only.

## Fix safety
Unsafe: the sum is kept on the device and rounded in the tensor's own type (Python adds in double precision).
Offered where the name is a local number, and each other use of it in the function can be wrapped in `float()`. For
the rest: manual.

## Versions
All releases.

## References
https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Convert,
    Event,
    Fix,
    Report,
    Rule,
    Value,
    on_device,
    read_kind,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL204", "metric-read", effects=("sync",), fixable=Applicability.UNSAFE)

HINT = "accumulate `.detach()`ed tensors, and read them once after the loop or every N steps"


def report(event: Event, value: Value, ctx: Context) -> Iterator[Report]:
    if ctx.compiled or not on_device(value) or read_kind(event, ctx) != "metric":
        return
    message = f"`{ctx.source(event.node)}` is read in every step: the CPU waits for the device each time"
    yield Report(event.node, message, because=value, hint=HINT, fix=accumulate(event, value, ctx))


@rule.on(Call, "Tensor.item")
def items(event: Call, ctx: Context) -> Iterator[Report]:
    if event.receiver is not None:
        yield from report(event, event.receiver, ctx)


@rule.on(Convert)
def converts(event: Convert, ctx: Context) -> Iterator[Report]:
    yield from report(event, event.value, ctx)


@rule.on(Call, "print", "logging.*")
def shows(event: Call, ctx: Context) -> Iterator[Report]:
    for value in event.args:
        if on_device(value):
            yield from report(event, value, ctx)
            return


def accumulate(event: Event, value: Value, ctx: Context) -> Fix | None:
    """`total += loss.item()`, `total` a local number of this function that nothing else writes but constants."""
    node, statement, function = event.node, event.statement, ctx.function
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "item":
        return None
    read = node.func.value
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name) or function is None:
        return None
    if statement.value is not node or isinstance(function, ast.Lambda):
        return None
    name = statement.target.id
    uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
    reads = [n for n in uses if isinstance(n.ctx, ast.Load)]
    if not all(plain_store(n, statement, ctx) for n in uses if not isinstance(n.ctx, ast.Load)):
        return None
    if any(
        isinstance(n, ast.Lambda | ast.FunctionDef | ast.Global | ast.Nonlocal)
        for n in ast.walk(function)
        if n is not function
    ):
        return None
    tensor = tensor_of(value)
    number = "int" if tensor is not None and tensor.dtype in ("int", "bool") else "float"

    def build(rw: Rewriter) -> None:
        rw.replace(node, f"{rw.operand(read)}.detach()")
        for use in reads:
            rw.replace(use, f"{number}({name})")

    why = "the sum is kept on the device, in the tensor's own precision"
    return Fix("Accumulate on the device", Applicability.UNSAFE, build, why)


def plain_store(use: ast.Name, statement: ast.AugAssign, ctx: Context) -> bool:
    """The accumulation itself, or a start from a constant."""
    parent = ctx.parent(use)
    if parent is statement:
        return True
    if isinstance(parent, ast.Tuple) and isinstance(parent.ctx, ast.Store):
        assign = ctx.parent(parent)
        values = assign.value if isinstance(assign, ast.Assign) else None
        if not isinstance(values, ast.Tuple) or len(values.elts) != len(parent.elts):
            return False
        return isinstance(values.elts[parent.elts.index(use)], ast.Constant)
    return isinstance(parent, ast.Assign) and isinstance(parent.value, ast.Constant)
