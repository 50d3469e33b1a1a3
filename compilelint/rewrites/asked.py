"""Questions that Python asks a tensor, put on the device: the branch on the answer is the next finding.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import is_host_number

if TYPE_CHECKING:
    from compilelint.engine.events import Call, Read
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

COMPARED = {
    "torch.equal": "({0} == {1}).all()",
    "Tensor.equal": "({0} == {1}).all()",
    "torch.allclose": "{isclose}({0}, {1}{rest}).all()",
    "Tensor.allclose": "{isclose}({0}, {1}{rest}).all()",
}


def _is_tested(node: ast.AST, ctx: Context) -> bool:
    """Whether an answer is only a truth test."""
    parent = ctx.parent(node)
    match parent:
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            return _is_tested(parent, ctx)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.Assert(test=test) | ast.While(test=test):
            return test is node
    return False


def any_of_list(event: Call, ctx: Context) -> Fix | None:
    """`any(t.any() for t in ts)` → `torch.stack([t.any() for t in ts]).any()`."""
    from compilelint.sdk import Fix

    call = event.node
    match call:
        case ast.Call(args=[ast.GeneratorExp(generators=[ast.comprehension(ifs=[])]) as each], keywords=[]):
            pass
        case ast.Call(args=[ast.ListComp(generators=[ast.comprehension(ifs=[])]) as each], keywords=[]):
            pass
        case _:
            return None
    tensor = tensor_of(ctx.value(each.elt))
    if tensor is None or tensor.dtype != "bool" or tensor.rank != 0 or not _is_tested(call, ctx):
        return None

    def build(rw: Rewriter) -> None:
        loop = each.generators[0]
        listed = f"[{rw.code(each.elt)} for {rw.code(loop.target)} in {rw.code(loop.iter)}]"
        rw.replace(call, f"{rw.name_for('torch.stack')}({listed}).{event.target}()")

    why = "nothing to iterate over is an error; all are computed, also behind the first that decides"
    return Fix("ask them all at once", Applicability.UNSAFE, build, why)


def compare_on_device(event: Call, ctx: Context) -> Fix | None:
    """`if torch.equal(a, b):` → `if (a == b).all():`; `torch.allclose` → `torch.isclose(…).all()`."""
    from compilelint.sdk import Fix

    call = event.node
    template = COMPARED.get(event.target)
    if template is None or not isinstance(call, ast.Call) or not _is_tested(call, ctx):
        return None
    method = event.target.startswith("Tensor.") and isinstance(call.func, ast.Attribute)
    given = [call.func.value, *call.args] if method and isinstance(call.func, ast.Attribute) else list(call.args)
    if len(given) < 2 or any(isinstance(a, ast.Starred) for a in given) or any(k.arg is None for k in call.keywords):
        return None
    one, other = (tensor_of(ctx.value(node)) for node in given[:2])
    if one is None or other is None or (one.rank is not None and other.rank is not None and one.rank != other.rank):
        return None

    def build(rw: Rewriter) -> None:
        rest = "".join(f", {rw.code(a)}" for a in (*given[2:], *call.keywords))
        exact = event.target.endswith("equal")
        sides = [rw.operand(node) if exact else rw.code(node) for node in given[:2]]
        isclose = "" if exact else rw.name_for("torch.isclose")
        rw.replace(call, template.format(*sides, rest=rest, isclose=isclose))

    why = "tensors of other shapes were not equal, and are broadcast or an error now"
    return Fix("compare on the device", Applicability.UNSAFE, build, why)


def select_row(event: Read, ctx: Context) -> Fix | None:
    """`x[t]` and `x[:, t]` with a 0-d `t` → `x[t.reshape(1)].squeeze(0)`, an index that isn't read."""
    from compilelint.sdk import Fix

    node = event.node
    if not isinstance(node, ast.Subscript) or tensor_of(event.base) is None:
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    tensors = [(n, part) for n, part in enumerate(parts) if _is_number_on_device(part, ctx)]
    whole = all(_is_whole(part) for n, part in enumerate(parts) if n not in {place for place, _ in tensors})
    if len(tensors) != 1 or not whole:
        return None
    place, index = tensors[0]

    def build(rw: Rewriter) -> None:
        rw.replace(node, selected(rw.operand(node.value), rw.operand(index), place))

    why = "the result is a copy, no view"
    return Fix("select by the tensor", Applicability.UNSAFE, build, why)


def selected(base: str, index: str, place: int = 0) -> str:
    return f"{base}[{':, ' * place}{index}.reshape(1)].squeeze({place})"


def _is_whole(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None


def _is_number_on_device(part: ast.expr, ctx: Context) -> bool:
    tensor = tensor_of(ctx.value(part))
    integer = tensor is not None and tensor.rank == 0 and tensor.dtype == "int"
    return integer and not is_host_number(ctx.value(part))
