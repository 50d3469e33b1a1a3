"""A fill by a mask, of which an `if` asks first whether any element is set: it can be done always.

Part of `compilelint.rewrites.branches`, which offers it to rules.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import alike
from compilelint.rewrites.owned import FACTS, is_own
from compilelint.rewrites.preserved import covers, fills_harmlessly, is_needed_backward, is_real
from compilelint.rewrites.scalars import no_grad
from compilelint.source.walk import loaded

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

TITLE = "do it always: where no element is set it changes nothing"
# What reads a tensor without keeping it for backward.
KEEPS_NOTHING = frozenset(words("sum mean any all isnan isinf isfinite size dim numel detach"))


def fill_always(owner: ast.If, ctx: Context) -> Fix | None:
    """`if m.any(): x = x.masked_fill(m, v)` and `if m.any(): x[m] = v`: nothing happens where no element is set."""
    match owner:
        case ast.If(test=test, body=[ast.Assign(targets=[target], value=value) as body], orelse=[]):
            mask = _any_of(test)
        case _:
            return None
    if mask is None or tensor_of(ctx.value(mask)) is None:
        return None
    match target, value:
        case ast.Name(id=name), ast.Call(func=ast.Attribute(value=ast.Name(id=filled), attr="masked_fill"), args=args):
            if filled == name and args and alike(args[0], mask):
                return _filled_anew(owner, body, value, mask, ctx)
        case ast.Subscript(slice=index), ast.Constant() | ast.UnaryOp() if alike(index, mask):
            return _written_anew(owner, target, value, mask, ctx) or _written(owner, body, target.value, ctx)
    return None


def _filled_anew(owner: ast.If, body: ast.stmt, call: ast.Call, mask: ast.expr, ctx: Context) -> Fix:
    from compilelint.sdk import Fix

    safe = fills_harmlessly(call, mask, owner, ctx)
    why = "mask and tensor must fit, and the result is a new tensor"
    if safe:
        why = "a fill by a mask without elements is the tensor as it was"
    safety = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix(TITLE, safety, lambda rw: rw.replace_statement(owner, rw.text(body)), why)


def _written_anew(owner: ast.If, target: ast.Subscript, value: ast.expr, mask: ast.expr, ctx: Context) -> Fix | None:
    """Of a tensor that nobody else holds, a new one can be made: what autograd has kept of the old one stays."""
    from compilelint.sdk import Fix

    name = target.value.id if isinstance(target.value, ast.Name) else ""
    tensor = tensor_of(ctx.value(target.value))
    if tensor is None or tensor.kind:  # of NumPy: an array has no masked_fill
        return None
    if not is_own(name, owner, ctx) or not covers(mask, name, ctx) or not is_real(value, ctx):
        return None

    def build(rw: Rewriter) -> None:
        rw.replace_statement(owner, f"{name} = {name}.masked_fill({rw.text(mask)}, {rw.text(value)})")

    return Fix(TITLE, Applicability.UNSAFE, build, "the result is a new tensor")


def _written(owner: ast.If, body: ast.stmt, target: ast.expr, ctx: Context) -> Fix | None:
    from compilelint.sdk import Fix

    if not no_grad(owner, ctx) and _is_kept(target, owner, ctx):
        return None
    why = "mask and tensor must fit, and backward must not need what stood there"
    return Fix(TITLE, Applicability.UNSAFE, lambda rw: rw.replace_statement(owner, rw.text(body)), why)


def _is_kept(written: ast.expr, owner: ast.If, ctx: Context) -> bool:
    """Whether autograd may have kept a tensor by then: as the result of an activation or a module, or what was read."""
    tensor = tensor_of(ctx.value(written))
    made = tensor.origin if tensor is not None else None
    if tensor is not None and (is_needed_backward(tensor) or (made and made.why == "is a module's output")):
        return True
    if not isinstance(written, ast.Name) or ctx.function is None:
        return False
    last = owner.lineno - 1
    around: ast.AST | None = owner
    while around is not None and around is not ctx.function:
        if isinstance(around, (ast.For, ast.While)):
            last = around.end_lineno or last  # what follows has run in the round before
        around = ctx.parent(around)
    inside = {id(node) for node in ast.walk(owner)}
    uses = [use for use in loaded(ctx.function, written.id) if use.lineno <= last and id(use) not in inside]
    return any(_keeps(use, ctx) for use in uses)


def _keeps(use: ast.Name, ctx: Context) -> bool:
    parent = ctx.parent(use)
    match parent:
        case ast.Compare() | ast.BinOp(op=ast.Add() | ast.Sub()):
            return False
        case ast.Attribute(attr=attr):
            called = ctx.parent(parent)
            asks = isinstance(called, ast.Call) and called.func is parent and attr in KEEPS_NOTHING
            return attr not in FACTS and not asks
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr not in KEEPS_NOTHING
    return True


def _any_of(test: ast.expr) -> ast.expr | None:
    """The mask of `mask.any()` and `torch.any(mask)`."""
    match test:
        case ast.Call(func=ast.Attribute(value=mask, attr="any"), args=[], keywords=[]):
            return mask
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="any"), args=[mask], keywords=[]):
            return mask
    return None
