"""Tensors of a list added up one by one in Python: one kernel launch each.

## What it does
Reports `for t in tensors: total = total + t` and builtin `sum(tensors)` over a list or tuple of tensors of unknown
or large length. A short list of known length is left alone.

## Why it costs
1,000 tensors of 4,096 floats: 22 ms and 2,001 kernels; compiled, 37 s to compile and still 957 kernels. One `cat`
and one `sum`: 0.28 ms.

## Example
    total = 0
    for t in tensors:
        total = total + t

## Use instead
    total = torch.stack(tensors).sum(0)

## Fix safety
Unsafe: `stack` wants tensors of one shape and type, where adding broadcasts; the order of summation, and so the
last digits, change. An empty list gives 0, as before.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.stack.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Accumulate,
    Applicability,
    Call,
    Context,
    Fix,
    Report,
    Rule,
    Seq,
    Severity,
    Value,
    on_device,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL301", "sum-of-list", effects=("launch",), fixable=Applicability.UNSAFE)

FEW = 8  # of known length: not worth a word
MANY = 32
HINT = "`torch.stack(tensors).sum(0)` is two kernels"


def size(tensors: Value) -> int | None:
    """How many tensors a list holds: 0 where it isn't one of device tensors, None where nobody knows."""
    if not isinstance(tensors, Seq) or tensors.kind not in ("list", "tuple") or not on_device(tensors.any_item()):
        return 0
    return None if tensors.items is None else len(tensors.items)


def report(node: ast.AST, tensors: Value, count: int | None, fix: Fix | None) -> Iterator[Report]:
    if count is None or count >= FEW:
        severity = Severity.NOTE if count is None or count < MANY else None
        message = "tensors are added one by one in Python: a kernel launch for each"
        yield Report(node, message, because=tensors, hint=HINT, severity=severity, fix=fix)


@rule.on(Call, "sum")
def summed(event: Call, ctx: Context) -> Iterator[Report]:
    call, tensors = event.node, event.args[0] if event.args else None
    if tensors is None or not isinstance(call, ast.Call) or (count := size(tensors)) == 0:
        return
    name = call.args[0]
    fix = None
    if isinstance(name, ast.Name) and len(call.args) == 1 and not call.keywords:

        def build(rw: Rewriter) -> None:
            total = f"{rw.name_for('torch.stack')}({name.id}).sum(0)"
            rw.replace(call, total if count else f"{total} if {name.id} else 0")

        fix = Fix("Stack and sum", Applicability.UNSAFE, build, "one shape and type needed; last digits may differ")
    yield from report(call, tensors, count, fix)


@rule.on(Accumulate)
def looped(event: Accumulate, ctx: Context) -> Iterator[Report]:
    """The loop's own variable is what is added: nothing else is computed for it."""
    loop = event.loop.node
    if event.operator != "+" or not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return
    match event.statement:
        case ast.AugAssign(value=ast.Name(id=name)) | ast.Assign(value=ast.BinOp(right=ast.Name(id=name))):
            if name == loop.target.id and (count := size(event.loop.iterated)) != 0:
                yield from report(event.statement, event.loop.iterated, count, None)
