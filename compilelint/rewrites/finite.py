"""Checks of each tensor of a list for infinities and NaN, one read of the device for each: asked of all at once."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from compilelint.engine.values import tensor_of
from compilelint.finding import Applicability
from compilelint.rewrites.pertensor import Each, Lists, comprehension_of, is_choice, is_tensor_place, loop_of

if TYPE_CHECKING:
    from compilelint.engine.events import Branch, Call
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

ALL_FINITE = "compilelint.ops.all_finite"
WHY = "the tensors must be floating-point, on one device"


def is_asked_of_all(node: ast.AST, ctx: Context) -> bool:
    """Whether a check is made only after `all_finite` has said that there is something to find."""
    child, parent = node, ctx.parent(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(parent, ast.If) and child in parent.body and _asks(parent.test):
            return True
        if isinstance(parent, ast.BoolOp) and any(map(_asks, parent.values[: _place(parent, child)])):
            return True
        child, parent = parent, ctx.parent(parent)
    return False


def check_all_first(event: Branch, ctx: Context) -> Fix | None:
    """`for p in params: if not torch.isfinite(p.grad).all(): …`, nothing else in the loop: entered only where one
    isn't finite."""
    from compilelint.sdk import Fix

    statement = event.owner
    if ctx.compiled or not isinstance(statement, ast.If) or statement.orelse:
        return None
    if (around := loop_around(statement, ctx)) is None:
        return None
    loop, each = around
    if (found := bad_in_round(statement.test, each, ctx)) is None:
        return None
    each, place = found

    def build(rw: Rewriter) -> None:
        lists = Lists(rw, each, ctx)
        lists.check([each.target, each.target])
        rw.wrap_statement(loop, f"if not {rw.name_for(ALL_FINITE)}({lists.of(place)}):")

    return Fix("Ask all tensors at once first", Applicability.UNSAFE, build, WHY)


def loop_around(owner: ast.stmt, ctx: Context) -> tuple[ast.For, Each] | None:
    """The loop that does nothing but make a check in each round."""
    loop = ctx.parent(owner)
    if isinstance(loop, ast.If):
        loop = ctx.parent(loop)
    if isinstance(loop, ast.For) and (found := loop_of(loop)) is not None and found[1] == [owner]:
        return loop, found[0]
    return None


def bad_in_round(test: ast.expr, each: Each, ctx: Context) -> tuple[Each, ast.expr] | None:
    """The tensor of a round of which a test holds only where it is bad, in those rounds that the test chooses."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and all(map(is_choice, test.values[:-1])):
        each, test = replace(each, tests=(*each.tests, *test.values[:-1])), test.values[-1]
    place = bad_place(test, each, ctx)
    return None if place is None else (each, place)


def ask_all(event: Call, ctx: Context) -> Fix | None:
    """`all(torch.isfinite(g).all() for g in grads)`, and `any(torch.isnan(g).any() for g in grads)`."""
    from compilelint.sdk import Fix

    match event.node:
        case ast.Call(args=[only]) as call if not ctx.compiled and (found := comprehension_of(only)) is not None:
            each, element = found
        case _:
            return None
    wanted = ast.UnaryOp(ast.Not(), element) if event.target == "all" else element
    place = bad_place(wanted, each, ctx)
    if place is None:
        return None

    def build(rw: Rewriter) -> None:
        lists = Lists(rw, each, ctx)
        asked = f"{rw.name_for(ALL_FINITE)}({lists.of(place)})"
        if event.target == "all" and _is_finite_all(element) is not None:
            rw.replace(call, f"bool({asked})")
            return
        lists.check([each.target, each.target])
        template = "{asked} or {call}" if event.target == "all" else "not {asked} and {call}"
        rw.replace(call, rw.fill(f"bool({template})", asked=asked, call=call))

    return Fix("Ask all tensors at once", Applicability.UNSAFE, build, WHY)


def bad_place(test: ast.expr, each: Each, ctx: Context) -> ast.expr | None:
    """The one tensor of a round of which a test holds only where it has an infinity or NaN."""
    place = bad_tensor(test, ctx)
    return place if place is not None and is_tensor_place(place, each, ctx) else None


def bad_tensor(test: ast.expr, ctx: Context) -> ast.expr | None:
    """The one tensor of which a test holds only where it has an infinity or NaN."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            places = [bad_tensor(value, ctx) for value in values]
            known = {ast.unparse(place) for place in places if place is not None}
            return places[0] if None not in places and len(known) == 1 else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_finite_all(operand) or _of_number(operand, ("isfinite",), ctx)
    return _is_bad_any(test) or _of_number(test, ("isnan", "isinf"), ctx)


def _of_number(node: ast.expr, names: tuple[str, ...], ctx: Context) -> ast.expr | None:
    """The x of `torch.isnan(x)` for a 0-d tensor, which needs no `any()`."""
    place = _asked(_unwrapped(node), names)
    tensor = tensor_of(ctx.value(place)) if place is not None else None
    return place if tensor is not None and tensor.rank == 0 else None


def _is_finite_all(node: ast.expr) -> ast.expr | None:
    """The x of `torch.isfinite(x).all()`."""
    return _asked(_operand(_unwrapped(node), "all"), ("isfinite",))


def _is_bad_any(node: ast.expr) -> ast.expr | None:
    """The x of `torch.isnan(x).any()`, `(~x.isfinite()).any()`."""
    inner = _operand(_unwrapped(node), "any")
    if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Invert):
        return _asked(inner.operand, ("isfinite",))
    return _asked(inner, ("isnan", "isinf"))


def _unwrapped(node: ast.expr) -> ast.expr:
    """Without `bool()` and `.item()`."""
    match node:
        case ast.Call(func=ast.Name(id="bool"), args=[inner], keywords=[]):
            return _unwrapped(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            return inner
    return node


def _operand(node: ast.expr, name: str) -> ast.expr | None:
    """The x of `x.name()` and `torch.name(x)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=attr), args=[operand], keywords=[]):
            return operand if attr == name else None
        case ast.Call(func=ast.Attribute(value=operand, attr=attr), args=[], keywords=[]):
            return operand if attr == name else None
    return None


def _asked(node: ast.expr | None, names: tuple[str, ...]) -> ast.expr | None:
    found = [_operand(node, name) for name in names] if node is not None else []
    return next((place for place in found if place is not None), None)


def _asks(test: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and ast.unparse(n.func).split(".")[-1] == "all_finite" for n in ast.walk(test))


def _place(parent: ast.BoolOp, child: ast.AST) -> int:
    return next((n for n, value in enumerate(parent.values) if value is child), 0)
