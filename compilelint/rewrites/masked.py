"""Selections by a mask that keep their shape instead: the masked sum, the masked mean, the loss over labelled targets.

Part of `compilelint.sdk`, which is where rules import them from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import Const, External, tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import alike, masks
from compilelint.source.walk import nodes_of

if TYPE_CHECKING:
    from compilelint.engine.events import Call, Read
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

LOSSES = ("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def keep_shape(event: Read, ctx: Context) -> Fix | None:
    """The first of these rewrites that is right for `x[mask]`."""
    return ignored_targets(event, ctx) or masked_reduction(event, ctx)


def masked_reduction(event: Read, ctx: Context) -> Fix | None:
    """`x[mask].sum()` and `.mean()` of a mask of the shape of `x`."""
    from compilelint.sdk import Fix

    node, method = event.node, ctx.parent(event.node)
    call = ctx.parent(method) if isinstance(method, ast.Attribute) else None
    if not (isinstance(node, ast.Subscript) and isinstance(method, ast.Attribute) and isinstance(call, ast.Call)):
        return None
    if call.func is not method or method.attr not in ("sum", "mean") or call.args or call.keywords:
        return None
    base, mask = tensor_of(event.base), next(masks(event.index), None)
    if base is None or mask is None or isinstance(node.slice, ast.Tuple):
        return None
    if (base.rank is None or base.rank != mask.rank) and not _compares(node.slice, node.value, ctx):
        return None

    def build(rw: Rewriter) -> None:
        total = f"{rw.name_for('torch.where')}({rw.code(node.slice)}, {rw.code(node.value)}, 0).sum()"
        rw.replace(call, total if method.attr == "sum" else f"{total} / {rw.operand(node.slice)}.sum()")

    why = "the sum runs over zeros too: the last digits may differ"
    return Fix("Mask with `torch.where`", Applicability.UNSAFE, build, why)


def _compares(mask: ast.expr, base: ast.expr, ctx: Context) -> bool:
    """`x[x > 0]`: a comparison of the tensor itself with a number has its shape."""
    match mask:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant()]) if isinstance(op, COMPARISONS):
            return isinstance(base, ast.Name) and alike(left, base)
    return False


def ignored_targets(event: Read, ctx: Context) -> Fix | None:
    """`cross_entropy(logits[keep], labels[keep])`, `keep = labels != K` → all of both, with `ignore_index=K`."""
    from compilelint.sdk import Fix

    call = ctx.parent(event.node)
    match call:
        case ast.Call(
            args=[
                ast.Subscript(value=logits, slice=ast.Name(id=keep)),
                ast.Subscript(value=ast.Name(id=target) as labels, slice=ast.Name(id=same)),
            ]
        ) if keep == same:
            pass
        case _:
            return None
    function = ctx.value(call.func)
    if not isinstance(function, External) or function.name not in LOSSES or not _reduces(call, ctx):
        return None
    ignored = _ignored(keep, target, ctx)
    given, scores = tensor_of(ctx.value(labels)), tensor_of(ctx.value(logits))
    if ignored is None or given is None or scores is None or given.dtype not in ("int", None):
        return None

    def build(rw: Rewriter) -> None:
        flat = given.rank == 1
        first = rw.code(logits) if flat else f"{rw.operand(logits)}.flatten(0, -2)"
        second = rw.code(labels) if flat else f"{rw.operand(labels)}.flatten()"
        rest = [rw.code(keyword) for keyword in call.keywords]
        arguments = ", ".join([first, second, *rest, f"ignore_index={rw.code(ignored)}"])
        rw.replace(call, f"{rw.code(call.func)}({arguments})")

    why = "the same terms, summed in another order: the last digits may differ"
    return Fix("Let the loss ignore them", Applicability.UNSAFE, build, why)


def _reduces(call: ast.Call, ctx: Context) -> bool:
    """Whether a loss is a mean or a sum, and names no index to ignore itself."""
    for keyword in call.keywords:
        if keyword.arg not in ("weight", "reduction", "label_smoothing"):
            return False
        value = ctx.value(keyword.value)
        if keyword.arg == "reduction" and not (isinstance(value, Const) and value.value in ("mean", "sum")):
            return False
    return True


def _ignored(keep: str, target: str, ctx: Context) -> ast.expr | None:
    """The `K` of the only `keep = labels != K`, `K` an integer constant, `labels` not rebound behind it."""
    if ctx.function is None:
        return None
    stores = [n for n in nodes_of(ctx.function, ast.Name) if isinstance(n.ctx, ast.Store)]
    made = [ctx.parent(n) for n in stores if n.id == keep]
    match made:
        case [
            ast.Assign(
                targets=[ast.Name()],
                value=ast.Compare(left=ast.Name(id=compared), ops=[ast.NotEq()], comparators=[number]),
            ) as assign
        ] if compared == target:
            value = ctx.value(number)
            if not isinstance(value, Const) or type(value.value) is not int:
                return None
            return None if any(n.id == target and n.lineno >= assign.lineno for n in stores) else number
    return None


def first_match(event: Call, ctx: Context) -> Fix | None:
    """`(times == t).nonzero()[0].item()` → `(times == t).int().argmax()`, as an index that stays on the device."""
    from compilelint.sdk import Fix

    call = event.node
    match call:
        case ast.Call(func=ast.Attribute(value=condition, attr="nonzero"), args=[], keywords=[]):
            pass
        case ast.Call(args=[condition], keywords=[]):
            pass
        case _:
            return None
    tested, (read, firsts) = tensor_of(ctx.value(condition)), _first_read(call, ctx)
    if event.target not in ("torch.nonzero", "Tensor.nonzero") or tested is None or tested.dtype != "bool":
        return None
    if read is None or not _is_kept_as_index(read, ctx):
        return None
    if tested.rank != 1 and not (tested.rank is None and firsts == 1):
        return None  # a row of `nonzero` that is one number has one dimension behind it

    def build(rw: Rewriter) -> None:
        rw.replace(read, f"{rw.operand(condition)}.int().argmax()")

    why = "it is a 0-d tensor, and 0 where nothing matches, which was an error"
    return Fix("find the first with `argmax`", Applicability.UNSAFE, build, why)


def _first_read(call: ast.Call, ctx: Context) -> tuple[ast.expr | None, int]:
    """The whole of `nonzero()[0].item()`, `nonzero()[0, 0].item()`, `int(nonzero()[0])`, and the number of indices."""
    node: ast.expr = call
    firsts = 0
    while isinstance(parent := ctx.parent(node), ast.Subscript) and parent.value is node:
        index = parent.slice.elts if isinstance(parent.slice, ast.Tuple) else [parent.slice]
        if not all(isinstance(each, ast.Constant) and type(each.value) is int and each.value == 0 for each in index):
            return None, 0
        firsts += len(index)
        node = parent
    match parent:
        case ast.Attribute(attr="item") if firsts in (1, 2):
            whole = ctx.parent(parent)
            return (whole if isinstance(whole, ast.Call) else None), firsts
        case ast.Call(func=ast.Name(id="int"), args=[_], keywords=[]) if firsts in (1, 2):
            return parent, firsts
    return None, 0


def _is_kept_as_index(read: ast.expr, ctx: Context) -> bool:
    """Whether a number is stored, or is an index itself: where a 0-d tensor does as well."""
    parent = ctx.parent(read)
    return isinstance(parent, ast.Subscript) or (
        isinstance(parent, ast.Assign) and all(isinstance(target, ast.Attribute) for target in parent.targets)
    )
