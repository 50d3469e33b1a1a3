"""A Python loop over the rows of a device tensor launches its kernels once a row.

## What it does
Notes `for row in tensor` over a device tensor outside compiled code, and `torch.stack([f(row) for row in tensor])`.

## Why it costs
Each round launches its kernels for one row; the same work on the whole tensor is one launch. In compiled code the
loop is unrolled: one copy of the body for each row to compile.

## Example
    total = 0.0
    for row in x:
        total = total + row.norm()

## Use instead
    total = x.norm(dim=1).sum()

or `torch.vmap` of the body.

## Fix safety
Unsafe: last digits may change; no rows are refused. Offered for `torch.stack` of what functions of torch compute of
each row: `torch.vmap` refuses what depends on values (`if`, `.item()`), what writes to tensors, and random numbers,
which other functions may do. Loops: manual.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.vmap.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    External,
    Fix,
    Iterate,
    Method,
    Report,
    Rule,
    Severity,
    comprehension_of,
    names_in,
    on_device,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL304", "loop-over-rows", effects=("launch",), fixable=Applicability.UNSAFE)
HINT = "work on the whole tensor, or `torch.vmap` the body"


@rule.on(Iterate)
def check(event: Iterate, ctx: Context) -> Iterator[Report]:
    if event.kind != "for" or ctx.compiled or not on_device(event.value) or not isinstance(event.statement, ast.For):
        return
    message = f"each row of `{ctx.source(event.statement.iter)}` is handled by kernels of its own"
    yield Report(event.statement.iter, message, because=event.value, hint=HINT, severity=Severity.NOTE)


@rule.on(Call, "torch.stack")
def stacked(event: Call, ctx: Context) -> Iterator[Report]:
    """`torch.stack([f(row) for row in x])`."""
    match event.node:
        case ast.Call(args=[only], keywords=[]) as call if not ctx.compiled and (found := comprehension_of(only)):
            each, element = found
        case _:
            return
    rows = tensor_of(ctx.value(each.source))
    if rows is None or rows.kind or not on_device(rows) or not isinstance(each.target, ast.Name) or each.tests:
        return
    row = each.target.id
    if row not in names_in(element):
        return

    def build(rw: Rewriter) -> None:
        mapped = f"lambda {row}: {rw.code(element)}"
        rw.replace(call, f"{rw.name_for('torch.vmap')}({mapped})({rw.code(each.source)})")

    message = f"each row of `{ctx.source(each.source)}` is handled by kernels of its own"
    fix = None
    if _maps(element, ctx):
        fix = Fix("Map over all rows", Applicability.UNSAFE, build, "last digits may differ, and no rows are refused")
    yield Report(each.source, message, because=rows, hint=HINT, severity=Severity.NOTE, fix=fix)


PLAIN = (ast.Call, ast.Attribute, ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Tuple)
NOT_PLAIN = (ast.Not, ast.In, ast.NotIn, ast.Is, ast.IsNot)


def _maps(element: ast.expr, ctx: Context) -> bool:
    """Whether `torch.vmap` takes an expression: functions of torch alone, whose work doesn't depend on values."""
    for part in ast.walk(element):
        if isinstance(part, ast.Call):
            function = ctx.value(part.func)
            name = function.name if isinstance(function, (External, Method)) else ""
            on_tensor = isinstance(function, Method) and tensor_of(function.receiver) is not None
            said = ctx.torch_says(f"Tensor.{name}" if on_tensor else name)
            if name.endswith("_") or said.get("breaks") is not False or said.get("syncs") or said.get("tags"):
                return False
        elif isinstance(part, NOT_PLAIN) or (isinstance(part, ast.expr) and not isinstance(part, PLAIN)):
            return False
    return True
