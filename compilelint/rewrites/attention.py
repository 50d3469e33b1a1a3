"""Attention masks that are left out where they hide nothing: passing them always computes the same.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import Const, External, Value, tensor_of
from compilelint.finding import Applicability
from compilelint.rewrites.twins import written_calls
from compilelint.source.walk import named

if TYPE_CHECKING:
    from compilelint.engine.events import Branch
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix, Frame

ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
SHAPED = ("view", "reshape", "expand", "unsqueeze", "expand_as", "contiguous", "repeat", "transpose", "permute")


def pass_mask_always(event: Branch, ctx: Context) -> Fix | None:
    """`if m is not None and (m == 0).any(): return m[:, None].bool()`, else None, where that is an `attn_mask`."""
    from compilelint.sdk import Fix

    owner = event.owner
    if not isinstance(owner, (ast.If, ast.IfExp)) or ctx.function is None:
        return None
    test = owner.test
    tests = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    keep = _gated(tests[-1], ctx)
    given = _given(owner, ctx)
    if keep is None or given is None or not _same_truth(given, keep, ctx) or len(tests) > 2:
        return None
    if len(tests) == 2 and ast.unparse(tests[0]) != f"{keep} is not None":
        return None
    if not _only_masks(owner, ctx):
        return None

    def build(rw: Rewriter) -> None:
        if len(tests) == 2:
            rw.replace(test, rw.code(tests[0]))
        elif isinstance(owner, ast.IfExp):
            rw.replace(owner, rw.code(given))
        else:
            rw.replace_statement(owner, rw.code(owner.body[0]))

    why = "a mask that hides nothing is given where none was: another kernel may be chosen"
    return Fix("pass the mask always", Applicability.UNSAFE, build, why)


def _gated(test: ast.expr, ctx: Context) -> str | None:
    """The name of the mask that `(m == 0).any()`, `torch.any(m == 0)`, `(~m).any()` and `not m.all()` ask about."""
    match test:
        case ast.Call(func=ast.Attribute(value=zero, attr="any"), args=[], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(attr="any"), args=[zero], keywords=[]) if _is_torch(test.func, ctx):
            pass
        case ast.UnaryOp(
            op=ast.Not(),
            operand=ast.Call(func=ast.Attribute(value=ast.Name(id=name) as mask, attr="all"), args=[], keywords=[]),
        ):
            return name if tensor_of(ctx.value(mask)) is not None else None
        case _:
            return None
    match zero:
        case ast.Compare(left=ast.Name(id=name) as mask, ops=[ast.Eq()], comparators=[ast.Constant(value=number)]):
            return name if number == 0 and tensor_of(ctx.value(mask)) is not None else None
        case ast.UnaryOp(op=ast.Invert(), operand=ast.Name(id=name) as mask):
            tensor = tensor_of(ctx.value(mask))
            return name if tensor is not None and tensor.dtype == "bool" else None
    return None


def _given(owner: ast.If | ast.IfExp, ctx: Context) -> ast.expr | None:
    """The mask of one arm, where the other has None."""
    if isinstance(owner, ast.IfExp):
        return owner.body if _is_none(owner.orelse) else None
    if len(owner.body) != 1 or len(owner.orelse) > 1:
        return None
    match owner.body[0], owner.orelse:
        case ast.Return(value=ast.expr() as mask), []:
            return mask if _falls_to_none(owner, ctx) else None
        case ast.Return(value=ast.expr() as mask), [ast.Return(value=other)]:
            return mask if other is None or _is_none(other) else None
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=mask),
            [ast.Assign(targets=[ast.Name(id=same)], value=other)],
        ) if name == same:
            return mask if _is_none(other) else None
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _falls_to_none(owner: ast.If, ctx: Context) -> bool:
    """Whether a function returns None where an `if` at its end is not taken."""
    function = ctx.function
    if function is None or isinstance(function, ast.Lambda) or owner not in function.body:
        return False
    match function.body[function.body.index(owner) + 1 :]:
        case [] | [ast.Return(value=None | ast.Constant(value=None))]:
            return True
    return False


def _same_truth(node: ast.expr, name: str, ctx: Context) -> bool:
    """Whether a boolean tensor is true exactly where the mask `name` is not zero, whatever its shape."""
    tensor = tensor_of(ctx.value(node))
    return tensor is not None and tensor.dtype == "bool" and _follows(node, name)


def _follows(node: ast.expr, name: str) -> bool:
    match node:
        case ast.Name(id=found):
            return found == name
        case ast.Subscript(value=inner, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            whole = (isinstance(p, ast.Slice) and p.lower is p.upper is p.step is None for p in parts)
            return all(w or _is_none(p) for w, p in zip(whole, parts, strict=True)) and _follows(inner, name)
        case ast.Compare(left=inner, ops=[ast.NotEq()], comparators=[ast.Constant(value=number)]):
            return number == 0 and _follows(inner, name)
        case ast.Call(func=ast.Attribute(value=inner, attr="bool"), args=[], keywords=[]):
            return _follows(inner, name)
        case ast.Call(func=ast.Attribute(value=inner, attr="to"), args=[ast.Attribute(attr="bool")], keywords=[]):
            return _follows(inner, name)
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in SHAPED:
            return _follows(inner, name)
    return False


def _only_masks(owner: ast.If | ast.IfExp, ctx: Context) -> bool:
    """Whether all that is done with the value, in sight, is to pass it as the mask of attention."""
    if isinstance(owner, ast.If) and isinstance(owner.body[0], ast.Return):
        calls = list(written_calls(ctx))
        return bool(calls) and all(_is_mask(call, frame) for frame, call in calls)
    if isinstance(owner, ast.IfExp):
        if _is_mask(owner, ctx):
            return True
        made = ctx.parent(owner)
        target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    else:
        target = owner.body[0].targets[0] if isinstance(owner.body[0], ast.Assign) else None
    if not isinstance(target, ast.Name) or ctx.function is None:
        return False
    uses = list(named(ctx.function, target.id))
    reads = [n for n in uses if isinstance(n.ctx, ast.Load)]
    stores = len(uses) - len(reads)
    return bool(reads) and stores == (1 if isinstance(owner, ast.IfExp) else 2) and all(_is_mask(n, ctx) for n in reads)


def _is_mask(node: ast.expr, frame: Frame) -> bool:
    """Whether an expression is the `attn_mask` of `scaled_dot_product_attention`, without `is_causal`."""
    parent = frame.parent(node)
    call = frame.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or not _names(frame.value(call.func), ATTENTION):
        return False
    for keyword in call.keywords:
        causal = frame.value(keyword.value)
        if keyword.arg is None or (keyword.arg == "is_causal" and not (isinstance(causal, Const) and not causal.value)):
            return False
    if isinstance(parent, ast.keyword):
        return parent.arg == "attn_mask"
    return len(call.args) == 4 and call.args[3] is node


def _names(value: Value, name: str) -> bool:
    return isinstance(value, External) and value.name == name


def _is_torch(function: ast.expr, ctx: Context) -> bool:
    return _names(ctx.value(function), "torch.any")
