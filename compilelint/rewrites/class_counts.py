"""How many classes there are, where the code at hand tells: `one_hot` without it looks for the largest on the device.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import External, Method, tensor_of
from compilelint.finding import Applicability
from compilelint.rewrites.twins import host_twin, is_flat
from compilelint.source.walk import named, nodes_of

if TYPE_CHECKING:
    from compilelint.engine.events import Call
    from compilelint.sdk import Context, Fix

PICKS = {"argmax": 0, "argmin": 0, "topk": 1, "max": 0, "min": 0, "sort": 0}  # where `dim` stands behind the tensor
PAIRS = frozenset({"topk", "max", "min", "sort"})  # (values, indices)


def known_classes(event: Call, ctx: Context) -> Fix | None:
    """`one_hot(x.argmax(-1))` → `num_classes=x.shape[-1]`; of a tensor made of a list, the list's maximum and one."""
    from compilelint.sdk import Fix

    call, function = event.node, ctx.function
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    if function is None or isinstance(function, ast.Lambda):
        return None
    of = call.args[0]
    if isinstance(of, ast.Name) and (twin := host_twin(of.id, ctx)) is not None:
        if not is_flat(twin, function, ctx):
            return None
        classes, why = f"max({twin}) + 1", "the same number, as far as calls in sight tell"
    elif (found := _picked_from(of, function, ctx)) is not None:
        classes, why = found, "a column for each class, also for those after the last one that occurs"
    else:
        return None
    return Fix(
        "tell it how many classes there are",
        Applicability.UNSAFE,
        lambda rw: rw.add_argument(call, f"num_classes={classes}"),
        why,
    )


def _picked_from(node: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context) -> str | None:
    """`x.shape[-1]` of indices into the last dimension of `x`: `x.argmax(-1)`, or the second of `x.topk(2)`."""
    paired = False
    if isinstance(node, ast.Name):
        uses = named(function, node.id)
        target: ast.AST | None = next((n for n in uses if isinstance(n.ctx, ast.Store)), None)
        made = ctx.parent(target) if target is not None else None
        if isinstance(made, ast.Tuple) and len(made.elts) == 2 and made.elts[1] is target:
            paired, target, made = True, made, ctx.parent(made)
        if sum(isinstance(n.ctx, ast.Store) for n in uses) != 1:
            return None
        if not isinstance(made, ast.Assign) or made.targets != [target]:
            return None
        node = made.value
    match node:
        case ast.Attribute(value=ast.Call() as call, attr="indices"):
            paired = True
        case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=1)):
            paired = True
        case ast.Call() as call:
            pass
        case _:
            return None
    called, arguments = ctx.value(call.func), call.args
    if not isinstance(call.func, ast.Attribute) or not isinstance(called, (External, Method)):
        return None
    source, name = call.func.value, call.func.attr
    if isinstance(called, External):
        if called.name != f"torch.{name}" or not arguments:
            return None
        source, arguments = arguments[0], arguments[1:]
    if name not in PICKS or (name in PAIRS) is not paired or not isinstance(source, ast.Name):
        return None
    given = [k.value for k in call.keywords if k.arg == "dim"] or arguments[PICKS[name] : PICKS[name] + 1]
    dimension = ast.unparse(given[0]) if given else "-1" if name in ("topk", "sort") else ""
    if not dimension.removeprefix("-").isdigit() or tensor_of(ctx.value(source)) is None:
        return None
    stores = [n for n in nodes_of(function, ast.Name) if isinstance(n.ctx, ast.Store)]
    changed = any(n.id == source.id and n.lineno >= call.lineno for n in stores)
    return None if changed else f"{source.id}.shape[{dimension}]"
