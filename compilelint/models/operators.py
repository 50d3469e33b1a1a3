"""Python operators on abstract values: type promotion, devices and flow as Python and torch define them.

Source: torch's type promotion rules (https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from compilelint.engine.values import (
    BATCH,
    OF_LOADED,
    OUTPUT,
    UNKNOWN,
    Const,
    Device,
    External,
    Flow,
    Instance,
    Map,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    declared,
    join,
    join_all,
    scalar_type,
    walk,
)

if TYPE_CHECKING:
    from compilelint.engine.frame import Frame

SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_NUMERIC = frozenset((ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.MatMult))  # no container has them
_FOLD: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


def device_of(*values: Value) -> Device:
    """The device of an operation on these: a number in a CPU tensor yields to a tensor that may be elsewhere."""
    tensors = [v for value in values for v in walk(value, 2) if isinstance(v, Tensor)]
    if not tensors:
        return Device.UNKNOWN
    if any(t.device is Device.CPU and t.rank for t in tensors):
        return Device.CPU  # one that is no number can't be mixed with a device's
    return max((t.device for t in tensors), key=lambda d: {Device.CPU: 0, Device.UNKNOWN: 1, Device.DEVICE: 2}[d])


def binary(run: Frame, node: ast.AST, op: type[ast.operator], left: Value, right: Value) -> Value:
    if isinstance(left, Union) or isinstance(right, Union):
        return _spread(lambda a, b: binary(run, node, op, a, b), left, right)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _tensors(run, node, op, left, right)
    if (isinstance(left, Instance) and left.external == BATCH) or (
        isinstance(right, Instance) and right.external == BATCH
    ):
        return Tensor(Device.CPU, origin=run.origin(node, OF_LOADED))
    if _output(left, right) or (op in _NUMERIC and _unknown_output(left, right)):
        return Tensor(origin=run.origin(node, "is computed from a module's output", left))
    if isinstance(left, Const) and isinstance(right, Const):
        return _constants(op, left, right)
    if isinstance(left, (Const, Scalar)) and isinstance(right, (Const, Scalar)):
        return _scalars(run, node, op, left, right)
    if isinstance(left, Seq) and isinstance(right, Seq) and op is ast.Add:
        if left.items is not None and right.items is not None and len(left.items) + len(right.items) <= 64:
            return Seq(left.kind, left.items + right.items)
        if left.items == ():
            return right
        return left if right.items == () else Seq(left.kind, None, join(left.any_item(), right.any_item()))
    if isinstance(left, Seq) and op is ast.Mult:
        return Seq(left.kind, None, left.any_item())
    if isinstance(right, Seq) and op is ast.Mult:
        return Seq(right.kind, None, right.any_item())
    if isinstance(left, Map) and isinstance(right, Map):
        return join(left, right)
    return UNKNOWN


def _output(left: Value, right: Value) -> bool:
    """Whether a module's output is calculated with as only a tensor can be."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Instance) and value.external == OUTPUT:
            number = isinstance(other, Const) and type(other.value) in (int, float)
            if number or (isinstance(other, Scalar) and other.type in ("int", "float", "number")):
                return True
    return False


def _unknown_output(left: Value, right: Value) -> bool:
    """Whether a module's output is an operand, the other one being another or not known."""
    outputs = [isinstance(v, Instance) and v.external == OUTPUT for v in (left, right)]
    return any(outputs) and all(o or isinstance(v, Unknown) for o, v in zip(outputs, (left, right), strict=True))


def _spread(apply: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    found = []
    for a in left.options if isinstance(left, Union) else (left,):
        for b in right.options if isinstance(right, Union) else (right,):
            if (isinstance(a, Const) and a.value is None) or (isinstance(b, Const) and b.value is None):
                continue  # would raise
            found.append(apply(a, b))
    if not found:
        return UNKNOWN
    result = join_all(found)
    return declared(result) if any(isinstance(v, Union) and v.declared for v in (left, right)) else result


def _tensors(run: Frame, node: ast.AST, op: type[ast.operator], left: Value, right: Value) -> Value:
    tensor = left if isinstance(left, Tensor) else right
    assert isinstance(tensor, Tensor)
    other = right if tensor is left else left
    if isinstance(other, (Seq, Map)) and not (isinstance(other, Seq) and tensor.kind == "numpy"):
        return UNKNOWN
    if isinstance(other, Const) and isinstance(other.value, str):
        return UNKNOWN
    dtype = tensor.dtype
    rank = tensor.rank
    if isinstance(other, Tensor):
        dtype = _promote(tensor.dtype, other.dtype)
        rank = max(tensor.rank, other.rank) if tensor.rank is not None and other.rank is not None else None
        if rank is not None and op is ast.MatMult and 1 in (tensor.rank, other.rank):
            rank -= 1
    elif isinstance(other, (Const, Scalar)):
        kind = other.type if isinstance(other, Scalar) else scalar_type(other.value)
        if kind == "float" and dtype in ("int", "bool"):
            dtype = "float"
        elif kind == "int" and dtype == "bool":
            dtype = "int"
    else:
        rank = None
    if op is ast.Div and dtype in ("int", "bool"):
        dtype = "float"
    kind_ = "numpy" if tensor.kind == "numpy" and not (isinstance(other, Tensor) and other.kind != "numpy") else ""
    return Tensor(
        device_of(left, right), dtype, rank, kind=kind_,
        dynamic=any(isinstance(v, Tensor) and v.dynamic for v in (left, right)),
        constant=all(_constant(v) or (kind_ == "numpy" and not isinstance(v, Tensor)) for v in (left, right)),
        origin=run.origin(node, "is computed from a tensor", left if isinstance(left, Tensor) else right),
    )  # fmt: skip


def _constant(value: Value) -> bool:
    return isinstance(value, Const) or (isinstance(value, Tensor) and value.constant)


def _promote(a: str | None, b: str | None) -> str | None:
    if a is None or b is None:
        return "float" if "float" in (a, b) else None
    order = ("bool", "int", "float", "complex")
    return order[max(order.index(a), order.index(b))]


def _constants(op: type[ast.operator], left: Const, right: Const) -> Value:
    fold = _FOLD.get(op)
    texts = isinstance(left.value, str) or isinstance(right.value, str)
    if fold is not None and _is_small(left.value) and _is_small(right.value) and not (texts and op is ast.Mult):
        try:
            return Const(fold(left.value, right.value))
        except (TypeError, ValueError, ArithmeticError):
            return UNKNOWN
    kinds = {scalar_type(left.value), scalar_type(right.value)}
    return Scalar("str" if "str" in kinds else "number") if None not in kinds else UNKNOWN


def _is_small(value: object) -> bool:
    """Whether a constant is worth folding: a program can square a number until it fills the memory."""
    if isinstance(value, str):
        return len(value) < 200
    return isinstance(value, float) or (isinstance(value, int) and -(2**64) < value < 2**64)


def _scalars(run: Frame, node: ast.AST, op: type[ast.operator], left: Const | Scalar, right: Const | Scalar) -> Value:
    kinds = []
    flow = Flow.STATIC
    source: Value = left
    for value in (left, right):
        kind = value.type if isinstance(value, Scalar) else scalar_type(value.value)
        if kind is None:
            return UNKNOWN
        kinds.append(kind)
        if isinstance(value, Scalar) and value.flow >= flow:
            flow, source = value.flow, value
    if "str" in kinds:
        return Scalar("str", flow)
    if op is ast.Div or "float" in kinds:
        kind = "float"
    elif "number" in kinds:
        kind = "number"
    else:
        kind = "int"
    origin = run.origin(node, "is computed from it", source) if flow is Flow.DATA else None
    return Scalar(kind, flow, origin=origin)


def unary(run: Frame, node: ast.AST, op: type[ast.unaryop], value: Value) -> Value:
    match value:
        case Tensor():
            return Tensor(
                value.device, value.dtype, value.rank, kind="numpy" if value.kind == "numpy" else "",
                dynamic=value.dynamic, constant=value.constant,
                origin=run.origin(node, "is computed from a tensor", value),
            )  # fmt: skip
        case Const() if isinstance(value.value, (int, float)) and op in (ast.USub, ast.UAdd):
            return Const(-value.value if op is ast.USub else +value.value)
        case Scalar():
            return Scalar(value.type, value.flow, origin=value.origin)
        case Union():
            return join_all(unary(run, node, op, v) for v in value.options)
    return UNKNOWN


def compare(run: Frame, node: ast.AST, op: type[ast.cmpop], left: Value, right: Value) -> Value:
    if op in (ast.Is, ast.IsNot):
        return _identity(op, left, right)
    if op in (ast.In, ast.NotIn):
        return _membership(run, node, op, left, right)
    if isinstance(left, Union) or isinstance(right, Union):
        none = any(isinstance(v, Const) and v.value is None for v in (left, right))
        if none:
            return Scalar("bool")
        return _spread(lambda a, b: compare(run, node, op, a, b), left, right)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        tensor = left if isinstance(left, Tensor) else right
        assert isinstance(tensor, Tensor)
        other = right if tensor is left else left
        if isinstance(other, Const) and (other.value is None or isinstance(other.value, str)):
            return Const(op is ast.NotEq)
        rank = tensor.rank
        if isinstance(other, Tensor):
            rank = max(rank, other.rank) if rank is not None and other.rank is not None else None
        elif not isinstance(other, (Const, Scalar)):
            rank = None
        numpy = tensor.kind == "numpy" and not (isinstance(other, Tensor) and other.kind != "numpy")
        return Tensor(
            device_of(left, right), "bool", rank, kind="numpy" if numpy else "",
            constant=_constant(left) and _constant(right),
            dynamic=any(isinstance(v, Tensor) and v.dynamic for v in (left, right)),
            origin=run.origin(node, "compares a tensor", tensor),
        )  # fmt: skip
    if _output(left, right):
        return Tensor(dtype="bool", origin=run.origin(node, "compares a module's output", left))
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return Const(bool(_COMPARE[op](left.value, right.value)))
        except TypeError:
            return UNKNOWN
    flow, source = Flow.STATIC, left
    for value in (left, right):
        if isinstance(value, Scalar) and value.flow > flow:
            flow, source = value.flow, value
        elif isinstance(value, Unknown):
            return UNKNOWN
    return Scalar("bool", flow, origin=run.origin(node, "compares it", source) if flow is Flow.DATA else None)


def _identity(op: type[ast.cmpop], left: Value, right: Value) -> Value:
    wanted = op is ast.Is
    for a, b in ((left, right), (right, left)):
        if isinstance(b, Const) and b.value is None:
            if isinstance(a, Const):
                return Const((a.value is None) is wanted)
            if isinstance(a, Unknown) or (isinstance(a, Union) and any(isinstance(v, Const) for v in a.options)):
                return Scalar("bool")
            if isinstance(a, External):
                return Scalar("bool")
            return Const(not wanted)
    return Scalar("bool")


def _membership(run: Frame, node: ast.AST, op: type[ast.cmpop], left: Value, right: Value) -> Value:
    items = right.items if isinstance(right, Seq) else None
    if isinstance(left, Const) and isinstance(right, Map) and right.items is not None and isinstance(left.value, str):
        return Const((left.value in right.items) is (op is ast.In)) if left.value in right.items else Scalar("bool")
    if isinstance(left, Const) and items is not None and all(isinstance(v, Const) for v in items):
        return Const(any(isinstance(v, Const) and v.value == left.value for v in items) is (op is ast.In))
    if isinstance(right, Tensor) and right.kind != "numpy":
        return Scalar("bool", Flow.DATA, origin=run.origin(node, "searches a tensor", right))
    if isinstance(left, Tensor) and isinstance(right, Seq) and right.kind != "set":  # a set asks the identity
        origin = run.origin(node, "compares a tensor", left)
        if left.kind == "numpy":
            return Scalar("bool", Flow.DATA, origin=origin)
        return Tensor(left.device, "bool", 0, origin=origin)  # traced: what breaks is the test of the result
    flow = left.flow if isinstance(left, Scalar) else Flow.STATIC
    return Scalar("bool", flow, origin=left.origin)
