"""Branches too heavy to take both of: `torch.cond`, which runs one of two functions, by a tensor.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import External, Instance, Namespace, tensor_of
from compilelint.finding import Applicability
from compilelint.rewrites.preserved import VIEWS

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

SINCE = (2, 6)
SHARING = VIEWS | frozenset(
    words(
        "view_as reshape_as expand_as swapaxes swapdims movedim moveaxis unflatten select diagonal unfold chunk split"
        " real imag to float half double bfloat16 int long type type_as detach alias ravel"
        " broadcast_to as_strided"
    )
)
# What runs inside may not write into anything, draw, or read: torch.cond refuses it, or its order is lost.
STATEFUL = words("BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm Dropout Dropout1d Dropout2d Dropout3d LSTM GRU RNN")
REFUSED = frozenset(words("item tolist cpu numpy nonzero unique masked_select backward dropout rand randn randint"))


def cond_instead(owner: ast.If, condition: Callable[[Rewriter], str], ctx: Context) -> Fix | None:
    """`if c: y = self.a(x)` `else: y = self.b(x)`, also with returns → `torch.cond(c, lambda: …, lambda: …)`.

    `condition` writes the truth test as a tensor.
    """
    from compilelint.sdk import Fix

    if not ctx.compiled or ctx.torch < SINCE or len(owner.body) != 1 or len(owner.orelse) > 1:
        return None
    following = None if owner.orelse else _next(owner, ctx)
    other = owner.orelse[0] if owner.orelse else following
    match owner.body[0], other:
        case ast.Return(value=ast.expr() as first), ast.Return(value=ast.expr() as second):
            lead = "return"
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=first),
            ast.Assign(targets=[ast.Name(id=same)], value=second),
        ) if name == same and owner.orelse:
            lead = f"{name} ="
        case _:
            return None
    one, two = tensor_of(ctx.value(first)), tensor_of(ctx.value(second))
    if one is None or two is None or (one.rank != two.rank and None not in (one.rank, two.rank)):
        return None
    if len({one.dtype, two.dtype, None}) > 2 or not (_is_computed(first, ctx) and _is_computed(second, ctx)):
        return None

    def build(rw: Rewriter) -> None:
        cond = rw.name_for("torch.cond")
        rw.replace_statement(
            owner, f"{lead} {cond}({condition(rw)}, lambda: {rw.code(first)}, lambda: {rw.code(second)})"
        )
        if following is not None:
            rw.delete_statement(following)

    why = "both must give one shape, dtype and layout, and have no side effects; eager code compiles the two functions"
    return Fix("choose with torch.cond", Applicability.UNSAFE, build, why)


def _is_computed(node: ast.expr, ctx: Context) -> bool:
    """A new tensor, by calls of modules and of torch's functions that have no side effects."""
    if not isinstance(node, (ast.Call, ast.BinOp)) or _is_view(node, ctx):
        return False  # an input itself, or a view of it, can't be a result of torch.cond
    for part in ast.walk(node):
        match part:
            case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr() | ast.Lambda() | ast.Starred():
                return False
            case ast.Call(func=func):
                value = ctx.value(func)
                name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
                if name in REFUSED or name.endswith("_"):
                    return False
                if isinstance(value, Instance):
                    if value.external.rpartition(".")[2] in STATEFUL or not value.isa(
                        "torch.nn.Module", value.external
                    ):
                        return False
                elif isinstance(value, (External, Namespace)):
                    if not value.name.startswith("torch."):
                        return False
                elif not isinstance(func, ast.Attribute) or tensor_of(ctx.value(func.value)) is None:
                    return False
    return True


def _is_view(node: ast.expr, ctx: Context) -> bool:
    """Whether a result may share memory with an operand."""
    if not isinstance(node, ast.Call) or isinstance(ctx.value(node.func), Instance):
        return False
    return isinstance(node.func, ast.Attribute) and node.func.attr in SHARING


def _next(owner: ast.stmt, ctx: Context) -> ast.stmt | None:
    block = getattr(ctx.parent(owner), "body", None)
    if not isinstance(block, list) or owner not in block:
        return None
    place = block.index(owner) + 1
    return block[place] if place < len(block) else None
