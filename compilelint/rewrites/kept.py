"""Rewrites of a host read that the device doesn't need: the tensor itself, or a list that was read before.

Part of `compilelint.sdk`, which is where rules import them from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import tensor_of
from compilelint.source.walk import loaded, named, nodes_of, stored

if TYPE_CHECKING:
    from compilelint.engine.events import Call
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
SCALED = ("add_", "sub_", "add", "sub")  # x.add_(y, alpha=a): `alpha` must be a Python number
TENSOR_OPERAND = ("mul", "mul_", "div", "div_", *SCALED)
ON_LISTS = {"sum": "sum", "max": "max", "min": "min"}


def kept_as_tensor(event: Call, ctx: Context) -> Fix | None:
    """`s = t.item() + eps`, used only to scale tensors: keep `s` a 0-d tensor."""
    from compilelint.sdk import Applicability, Fix

    node, statement, function = event.node, event.statement, ctx.function
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "item":
        return None
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            pass
        case _:
            return None
    if function is None or isinstance(function, ast.Lambda) or _outermost(node, ctx) is not statement.value:
        return None
    reads = loaded(function, name)
    if not reads or len(named(function, name)) - len(reads) != 1:
        return None
    calls: list[tuple[ast.Call, ast.expr]] = []
    for use in reads:
        outer = _outermost(use, ctx)
        scaled = _alpha(outer, ctx)
        if scaled is not None:
            calls.append((scaled, outer))
        elif not _meets_tensor(use, outer, ctx):
            return None
    if len({id(call) for call, _ in calls}) != len(calls):
        return None
    inner = node.func.value

    def build(rw: Rewriter) -> None:
        rw.replace(node, rw.code(inner))
        for call, factor in calls:
            assert isinstance(call.func, ast.Attribute)
            scaled = f"{rw.operand(call.args[0])} * {rw.operand(factor)}"
            rw.replace(call, f"{rw.code(call.func)}({scaled})")

    why = "computed in the tensor's own precision, and its dtype may change by promotion"
    return Fix("Keep it a tensor", Applicability.UNSAFE, build, why)


def _outermost(node: ast.expr, ctx: Context) -> ast.expr:
    """The largest arithmetic expression around a node."""
    parent = ctx.parent(node)
    while (isinstance(parent, ast.BinOp) and isinstance(parent.op, ARITHMETIC)) or (
        isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)
    ):
        node = parent
        parent = ctx.parent(node)
    return node


def _alpha(outer: ast.expr, ctx: Context) -> ast.Call | None:
    """The call that takes an expression as its `alpha=`, where that is all it takes beside its operand."""
    keyword = ctx.parent(outer)
    if not isinstance(keyword, ast.keyword) or keyword.arg != "alpha":
        return None
    call = ctx.parent(keyword)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in SCALED:
        return None
    alone = len(call.args) == 1 and len(call.keywords) == 1 and not isinstance(call.args[0], ast.Starred)
    return call if alone and tensor_of(ctx.value(call.func.value)) is not None else None


def _meets_tensor(use: ast.Name, outer: ast.expr, ctx: Context) -> bool:
    """Whether the expression is arithmetic with a tensor, or the operand of a tensor's method."""
    for part in ast.walk(outer):
        if isinstance(part, ast.BinOp):
            for side in (part.left, part.right):
                if use not in ast.walk(side) and tensor_of(ctx.value(side)) is not None:
                    return True
    call = ctx.parent(outer)
    if not isinstance(call, ast.Call) or call.args != [outer] or call.keywords:
        return False
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in TENSOR_OPERAND
        and tensor_of(ctx.value(call.func.value)) is not None
    )


def read_before(event: Call, ctx: Context) -> Fix | None:
    """`t.sum().item()` after `sizes = t.tolist()`: `sum(sizes)`."""
    from compilelint.sdk import Applicability, Fix

    node, function = event.node, ctx.function
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "item":
        return None
    if function is None or isinstance(function, ast.Lambda):
        return None
    reduced = node.func.value
    if isinstance(reduced, ast.Name):
        made = _only_value(reduced.id, function)
        if made is None:
            return None
        reduced = made
    match reduced:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=source), attr=how), args=[], keywords=[]) if how in ON_LISTS:
            pass
        case _:
            return None
    tensor = tensor_of(ctx.value(reduced.func.value)) if isinstance(reduced.func, ast.Attribute) else None
    if tensor is None or tensor.rank != 1 or tensor.dtype != "int" or len(stored(function, source)) > 1:
        return None
    for statement in function.body:
        if statement.lineno >= event.statement.lineno:
            break
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=listed)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=read), attr="tolist"), args=[]),
            ) if read == source and len(stored(function, listed)) == 1:
                replacement = f"{ON_LISTS[how]}({listed})"

                def build(rw: Rewriter, code: str = replacement) -> None:
                    rw.replace(node, code)

                return Fix("Use the list that was read", Applicability.UNSAFE, build, "the list must not have changed")
    return None


def _only_value(name: str, function: ast.AST) -> ast.expr | None:
    """What the only assignment to a name assigns."""
    stores = stored(function, name)
    assigns = nodes_of(function, ast.Assign) if len(stores) == 1 else ()
    return next((n.value for n in assigns if n.targets == stores), None)
