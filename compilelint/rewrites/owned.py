"""Whether a tensor is a function's own: made just before, and held under one name alone."""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import External, tensor_of
from compilelint.idioms import block_of
from compilelint.source.walk import walk

if TYPE_CHECKING:
    from compilelint.sdk import Context

# What gives a new tensor always, in whatever state its operands are: not `float`, `contiguous`, `dropout`, views.
FRESH = frozenset(
    words(
        "relu gelu silu sigmoid tanh softmax log_softmax exp log sqrt abs neg add sub mul div matmul mm bmm linear"
        " layer_norm where clone clamp clip clamp_min clamp_max nan_to_num masked_fill"
    )
)
READS = frozenset(words("sum mean std var norm max min amax amin any all isnan isinf isfinite item size dim numel"))
FACTS = frozenset(words("shape dtype device ndim requires_grad"))


def is_own(name: str, place: ast.AST, ctx: Context) -> bool:
    """Whether, at a branch, a name was bound in the same block to a new tensor that nothing can have kept since."""
    statement: ast.AST | None = place
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = ctx.parent(statement)
    if statement is None:
        return False
    for before in reversed(list(takewhile(lambda each: each is not statement, block_of(statement, ctx)))):
        match before:
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                return _is_fresh(value, ctx)
        if any(isinstance(n, ast.Name) and n.id == name and not _is_read(n, ctx) for n in walk(before)):
            return False
    return False


def _is_fresh(value: ast.expr, ctx: Context) -> bool:
    if tensor_of(ctx.value(value)) is None:
        return False
    match value:
        case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Call(args=args, keywords=keywords):
            in_place = any(k.arg in ("inplace", "out", None) for k in keywords)
            given = any(isinstance(a, ast.Constant) and a.value is True for a in args)  # relu(x, True) is in place
            return not in_place and not given and _called(value, ctx) in FRESH
    return False


def _called(call: ast.Call, ctx: Context) -> str | None:
    """The last name of a function of torch, or of a method of a tensor."""
    function = ctx.value(call.func)
    if isinstance(function, External) and function.name.startswith("torch."):
        return function.name.rpartition(".")[2]
    if isinstance(call.func, ast.Attribute) and tensor_of(ctx.value(call.func.value)) is not None:
        return call.func.attr
    return None


def _is_read(node: ast.Name, ctx: Context) -> bool:
    """Whether a use of a tensor leaves nobody else holding it."""
    parent = ctx.parent(node)
    if not isinstance(node.ctx, ast.Load):
        return False
    match parent:
        case ast.BinOp() | ast.Compare() | ast.UnaryOp(op=ast.USub() | ast.Not()):
            return True
        case ast.Attribute(attr=attr) if attr in FACTS:
            return True
        case ast.Attribute():
            call = ctx.parent(parent)
            return isinstance(call, ast.Call) and call.func is parent and _called(call, ctx) in FRESH | READS
        case ast.Call():
            return node in parent.args and _called(parent, ctx) in FRESH | READS
    return False
