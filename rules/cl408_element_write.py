"""A Python number written to one element of a device tensor is copied from the host, and the CPU waits for it.

## What it does
Reports `x[i, j] = 0.5`, where the index names a single element, and `x[rows] = 0`, where `rows` is an integer
tensor on the device. A slice or row (`x[i] = 0.5` of a matrix) is filled by a kernel and costs nothing of the kind.

## Why it costs
The number becomes a 0-d tensor in pageable memory. Torch fills a larger target with it, but copies it into one of
the same size, and into an indexed write, and waits.

## Example
    transform[0, 2] = width / 2
    mask[rows] = 1

## Use instead
    transform[0, 2].fill_(width / 2)
    mask.index_fill_(0, rows, 1)

## Fix safety
Safe for an element: `fill_` writes the same number to the same place. Unsafe where calls make the number and the place
could depend on them, or the other way round (`y[len(todo)] = todo.pop()`): `fill_` finds the place first. For an
indexed write: manual.

## Versions
Measured on torch 2.11 with `scripts/sync_probe.py`.

## References
https://docs.pytorch.org/docs/stable/generated/torch.Tensor.fill_.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Context,
    Fix,
    Report,
    Rule,
    Value,
    Write,
    index_parts,
    is_host_number,
    is_number,
    on_device,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL408", "element-write", effects=("sync", "transfer"), fixable=Applicability.SAFE)

CALLING = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)


@rule.on(Write)
def check(event: Write, ctx: Context) -> Iterator[Report]:
    base, parts = tensor_of(event.base), index_parts(event.index)
    if (
        ctx.region.kind == "compiled"
        or base is None
        or not on_device(base)
        or event.augmented
        or not is_host_number(event.value)
    ):
        return
    element = base.rank is not None and len(parts) == base.rank and all(is_number(p) for p in parts)
    if not element and not any(is_rows(p) for p in parts):
        return
    message = f"`{ctx.source(event.node)} = …` copies a number from the host: the CPU waits until the device has it"
    hint = "`fill_` the element" if element else "`index_fill_`, or a tensor on the device as the value"
    yield Report(event.node, message, because=base, hint=hint, fix=filled(event) if element else None)


def is_rows(part: Value) -> bool:
    tensor = tensor_of(part)
    return tensor is not None and on_device(part) and tensor.dtype == "int" and tensor.rank != 0


def filled(event: Write) -> Fix | None:
    node, statement = event.node, event.statement
    if not isinstance(statement, ast.Assign) or statement.targets != [node]:
        return None

    def build(rw: Rewriter) -> None:
        rw.replace_statement(statement, f"{rw.code(node)}.fill_({rw.code(statement.value)})")

    if is_order_free(node, statement.value):
        return Fix("Fill the element", Applicability.SAFE, build, "the same number in the same place, without a copy")
    why = "the place is found before the number is made, where Python makes the number first"
    return Fix("Fill the element", Applicability.UNSAFE, build, why)


def is_order_free(place: ast.AST, number: ast.expr) -> bool:
    """Whether it doesn't matter which is evaluated first: no calls, or none that change the other side."""
    nodes = [*ast.walk(place), *ast.walk(number)]
    if any(isinstance(each, ast.NamedExpr) for each in nodes):
        return False
    calls = any(isinstance(each, CALLING) for each in nodes)
    return not calls or _is_plain(place) or _is_plain(number)


def _is_plain(node: ast.AST) -> bool:
    """Whether an expression is of names and constants alone: the element of a named tensor, a sum of numbers."""
    base = node.value if isinstance(node, ast.Subscript) else None
    parts = (base, node.slice) if isinstance(node, ast.Subscript) and isinstance(base, ast.Name) else (node,)
    allowed = (ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(each, allowed) for part in parts for each in ast.walk(part))
