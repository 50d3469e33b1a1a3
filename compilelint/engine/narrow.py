"""What a test tells: the values of names once it held or failed, and the gates of the code behind it."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from compilelint.engine.values import (
    BATCH,
    OUTPUT,
    UNKNOWN,
    Class,
    Const,
    Device,
    External,
    Flow,
    Function,
    Instance,
    Map,
    Origin,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    options,
    without_none,
)
from compilelint.source.walk import nodes_of

if TYPE_CHECKING:
    from compilelint.engine.expressions import Expressions

COMPILING = {"torch.compiler.is_compiling"}  # its other names are canonicalised
COMPILING_NAMES = ("is_compiling", "is_torchdynamo_compiling", "is_dynamo_compiling", "is_torch_compiling")
TRACING = {
    "torch.jit.is_tracing",
    "torch._C._get_tracing_state",
    "torch.jit.is_scripting",
    "torch.onnx.is_in_onnx_export",
}
HALF = {"torch.float16", "torch.half", "torch.bfloat16"}


ELSEWHERE = ("mps", "xla", "hpu", "npu", "xpu", "mlu", "musa")  # accelerators that are no CUDA device
IS_ELSEWHERE = frozenset(f"is_{name}" for name in ELSEWHERE)  # of a tensor
ASKS_ELSEWHERE = re.compile(r"is_(torch_)?(mps|xla|hpu|npu|xpu|mlu|musa|sdaa|tpu)_available")


class Narrowing:
    """The result for one truth value: new values by path, gates added; `dead` when it can't happen.

    `asserted`: the code says that it is so, and has no other side.
    """

    __slots__ = ("asserted", "dead", "gates", "values")

    def __init__(self, asserted: bool = False) -> None:
        self.asserted = asserted
        self.values: dict[str, Value] = {}
        self.gates: set[str] = set()
        self.dead = False


def narrow(run: Expressions, test: ast.expr, truth: bool, asserted: bool = False) -> Narrowing:
    result = Narrowing(asserted)
    _narrow(run, test, truth, result)
    return result


def _narrow(run: Expressions, test: ast.expr, truth: bool, out: Narrowing) -> None:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _narrow(run, operand, not truth, out)
        case ast.BoolOp(op=op, values=values):
            if isinstance(op, ast.And) is truth:
                for value in values:
                    _narrow(run, value, truth, out)
            else:
                gates = []
                for value in values:
                    inner = Narrowing()
                    _narrow(run, value, truth, inner)
                    gates.append(inner.gates)
                out.gates |= set.intersection(*gates)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            _compare(run, left, op, right, truth, out)
        case ast.Call():
            _call(run, test, truth, out)
        case ast.NamedExpr(target=target):
            _truthy(run, target, truth, out)
        case ast.Name() | ast.Attribute():
            _truthy(run, test, truth, out)
        case ast.BinOp(op=ast.Mod(), left=counted):
            if not truth and not _is_size(run.peek(counted)):
                out.gates.add("every-n")


def _truthy(run: Expressions, node: ast.expr, truth: bool, out: Narrowing) -> None:
    path = run.dotted(node)
    if path is None:
        return
    if path.endswith(".training"):
        out.gates.add("training" if truth else "eval")
    if isinstance(node, ast.Attribute) and node.attr in ("is_cpu", "is_cuda"):
        _tells_place(run, node.value, node.attr[3:], truth, out)
    if truth and isinstance(node, ast.Attribute) and node.attr in IS_ELSEWHERE:
        out.gates.add("elsewhere")
    value = run.peek(node)
    if truth and isinstance(value, Union):
        out.values[path] = without_none(value)


def _tells_place(run: Expressions, node: ast.expr, device: str, truth: bool, out: Narrowing) -> None:
    """A test told whether the tensor `node` is on a device of that type.

    What is not on "cuda" may be on "mps", but who asserts that means the host.
    """
    path, tensor = run.dotted(node), run.peek(node)
    if path is None or not isinstance(tensor, Tensor):
        return
    if device == "cpu" if truth else device == "cuda" and out.asserted:
        out.values[path] = replace(tensor, device=Device.CPU)
    elif truth is not (device == "cpu") and tensor.device is Device.UNKNOWN:
        out.values[path] = replace(tensor, device=Device.DEVICE)


def _device_test(run: Expressions, left: ast.expr, right: ast.expr) -> tuple[ast.expr, str] | None:
    """Of `x.device.type == "cpu"`, `x.device == torch.device("cpu")`: `x`, and the type of the device."""
    match left:
        case ast.Attribute(value=ast.Attribute(value=owner, attr="device"), attr="type"):
            name = run.peek(right)
        case ast.Attribute(value=owner, attr="device") if isinstance(device := run.peek(right), Instance):
            name = device.attrs.get("type", UNKNOWN) if device.external == "torch.device" else UNKNOWN
        case _:
            return None
    return (owner, name.value) if isinstance(name, Const) and isinstance(name.value, str) else None


def _compare(run: Expressions, left: ast.expr, op: ast.cmpop, right: ast.expr, truth: bool, out: Narrowing) -> None:
    equal = isinstance(op, (ast.Is, ast.Eq))
    if (
        isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))
        and isinstance(right, ast.Constant)
        and right.value is None
    ):
        path = run.dotted(left.target if isinstance(left, ast.NamedExpr) else left)
        if path is not None:
            value = run.peek(left)
            if equal is truth:
                if (
                    isinstance(value, Union) and any(isinstance(v, Const) and v.value is None for v in value.options)
                ) or isinstance(value, Unknown):
                    out.values[path] = Const(None)
            elif isinstance(value, Union):
                out.values[path] = without_none(value)
        return
    if isinstance(left, ast.Call) and getattr(left.func, "id", "") == "type" and len(left.args) == 1:
        _type_is(run, left.args[0], op, right, truth, out)
        return
    if isinstance(op, ast.Eq) and truth and isinstance(right, ast.Constant) and right.value in ELSEWHERE:
        out.gates.add("elsewhere")
    if isinstance(op, (ast.Eq, ast.NotEq)) and (told := _device_test(run, left, right)) is not None:
        owner, device = told
        _tells_place(run, owner, device, equal is truth, out)
        return
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod) and isinstance(op, (ast.Eq, ast.NotEq)):
        if isinstance(op, ast.Eq) is truth and not _is_size(run.peek(left.left)):
            out.gates.add("every-n")
        return
    if isinstance(left, ast.Name) and left.id == "__name__" and isinstance(op, ast.Eq) and truth:
        out.gates.add("main")
        return
    if isinstance(op, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)) and equal is truth:
        for side in (left, right):
            if isinstance(side, ast.Attribute):
                value = run.scope.static(side)
                if isinstance(value, External) and value.name in HALF:
                    out.gates.add("half")
    if isinstance(op, ast.In) and truth:
        for element in right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else ():
            value = run.scope.static(element)
            if isinstance(value, External) and value.name in HALF:
                out.gates.add("half")
    if isinstance(op, ast.Eq) and truth and isinstance(right, ast.Constant) and type(right.value) is int:
        value = run.peek(left)
        if run.loops and isinstance(value, Scalar) and isinstance(left, ast.Name):
            out.gates.add("once")
        elif isinstance(left, ast.Attribute) and _counts(run, left):
            out.gates.add("every-n")


def _counts(run: Expressions, attribute: ast.Attribute) -> bool:
    """Whether the function at hand counts an attribute up: `self.calls += 1`."""
    info, path = run.summary.info, run.dotted(attribute)
    counted = nodes_of(info.node, ast.AugAssign) if info is not None else ()
    return path is not None and any(run.dotted(node.target) == path for node in counted)


def _type_is(run: Expressions, node: ast.expr, op: ast.cmpop, right: ast.expr, truth: bool, out: Narrowing) -> None:
    """`type(x) is int`, `type(x) in (int, float)`: a tensor of another type may be a subclass's."""
    if isinstance(op, (ast.In, ast.NotIn)):
        named = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else []
    else:
        named = [right] if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) else []
    kinds = [run.scope.static(name) for name in named]
    is_one = isinstance(op, (ast.Is, ast.Eq, ast.In)) is truth
    plain = all(isinstance(kind, External) and "." not in kind.name for kind in kinds)
    if kinds and (is_one or plain):
        _isinstance(run, node, kinds, is_one, out)


def _is_size(value: Value) -> bool:
    """A shape is the same at each step, as a rule: a multiple of eight or not, it counts nothing."""
    return isinstance(value, Scalar) and value.flow is Flow.SYMBOLIC


def _call(run: Expressions, test: ast.Call, truth: bool, out: Narrowing) -> None:
    func = test.func
    callee = run.peek(func)
    name = callee.name if isinstance(callee, External) else ""
    last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    asks = run.engine.asks_compiling(callee) if isinstance(callee, Function) else False
    if name in COMPILING or asks or (isinstance(callee, (Unknown, External, Function)) and last in COMPILING_NAMES):
        out.gates.add("compiling" if truth else "not-compiling")
    elif name in TRACING:
        if truth:
            out.dead = True
    elif truth and (name == "torch.backends.mps.is_available" or ASKS_ELSEWHERE.fullmatch(last)):
        out.gates.add("elsewhere")
    elif name == "torch.is_tensor" and test.args:
        _isinstance(run, test.args[0], [External("torch.Tensor")], truth, out)
    elif name == "isinstance" and len(test.args) == 2:
        kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        values: list[Value] = []
        for kind in kinds:
            if isinstance(kind, ast.BinOp):
                values += [run.scope.static(kind.left), run.scope.static(kind.right)]
            else:
                values.append(run.scope.static(kind) if run.dotted(kind) else run.peek(kind))
        _isinstance(run, test.args[0], [choice for value in values for choice in options(value)], truth, out)


def _isinstance(run: Expressions, node: ast.expr, kinds: list[Value], truth: bool, out: Narrowing) -> None:
    path = run.dotted(node)
    if path is None:
        return
    value = run.peek(node)
    if isinstance(value, Unknown) or (isinstance(value, Instance) and value.external in (BATCH, OUTPUT)):
        if truth and len(kinds) == 1:
            out.values[path] = _instance_of(run, kinds[0], node)
        return
    judged = [(v, is_a(run, v, kinds)) for v in options(value)]
    if truth and any(isinstance(kind, Unknown) for kind in kinds):
        # a list that passes as a class that nobody knows is no plain list
        judged = [(v if is_one or not isinstance(v, (Seq, Map, Scalar)) else UNKNOWN, is_one) for v, is_one in judged]
    kept = tuple(v for v, is_one in judged if is_one in (truth, None))
    if any(isinstance(v, Unknown) for v in kept):
        out.values[path] = UNKNOWN
    elif not kept:
        out.dead = True
    else:
        out.values[path] = (
            kept[0] if len(kept) == 1 else Union(kept, isinstance(value, Union) and value.declared, origin=value.origin)
        )


def _instance_of(run: Expressions, kind: Value, node: ast.AST) -> Value:
    from compilelint.engine.annotations import SCALARS, TENSOR_TYPES

    if isinstance(kind, External):
        if kind.name in TENSOR_TYPES:
            return Tensor(origin=Origin(run.path, node, "was tested with isinstance"))
        if kind.name in SCALARS:
            return Scalar(SCALARS[kind.name])
        if kind.name == "dict":
            return Map(None)
        if kind.name in ("list", "tuple"):
            return Seq(kind.name, None)
        if kind.name == "numpy.ndarray":
            return run.numpy_array(node)
        if "." in kind.name and kind.name.rpartition(".")[2][:1].isupper():
            return Instance(None, kind.name)
    if isinstance(kind, Class):
        return run.engine.instance(kind.info)
    return Unknown()


def is_a(run: Expressions, value: Value, kinds: list[Value]) -> bool | None:
    """Whether a value is an instance of one of the classes: True, False, or None where that can't be said."""
    if isinstance(value, Unknown) or (isinstance(value, Instance) and value.external in (BATCH, OUTPUT)):
        return None
    doubt = False
    for kind in kinds:
        answer = _is_one(run, value, kind)
        if answer:
            return True
        doubt = doubt or answer is None
    return None if doubt else False


def _is_type(value: Value) -> bool | None:
    """Whether a value is a class; outside names are judged by their spelling, as PEP 8 has it."""
    if isinstance(value, Class):
        return True
    if isinstance(value, External):
        last = value.name.rpartition(".")[2]
        return True if last[:1].isupper() or value.name in _PYTHON else None
    return None if isinstance(value, Unknown) else False


_PYTHON = {"int": (int, bool), "float": (float,), "bool": (bool,), "str": (str,)}


def _is_one(run: Expressions, value: Value, kind: Value) -> bool | None:
    from compilelint.engine.annotations import TENSOR_TYPES

    if isinstance(kind, External) and kind.name == "type":
        return _is_type(value)

    if isinstance(kind, Class):
        if isinstance(value, Instance):
            if value.info is None:
                return None
            if any(b is kind.info for b in run.engine.mro(value.info)):
                return True
            return None  # a subclass of what was annotated may be meant
        return False if isinstance(value, (Tensor, Const, Scalar, Seq, Map)) else None
    if not isinstance(kind, External):
        return None
    name = kind.name
    match value:
        case Tensor():
            if value.kind == "numpy":
                return name == "numpy.ndarray"
            if name == "torch.nn.Parameter":
                return True if value.kind == "parameter" else None
            if name in TENSOR_TYPES:
                return True
            known = name in (
                "int",
                "float",
                "bool",
                "str",
                "list",
                "tuple",
                "dict",
                "numpy.ndarray",
                "type",
                "set",
                "NoneType",
            )
            return (
                False
                if known or name.startswith(("torch.nn.", "collections.", "typing.", "numbers.", "PIL."))
                else None
            )
        case Const():
            if name in _PYTHON:
                return isinstance(value.value, _PYTHON[name])
            return False if name in TENSOR_TYPES or name in ("list", "tuple", "dict", "numpy.ndarray") else None
        case Scalar():
            if name == value.type:
                return True
            if name in _PYTHON:
                return None if value.type in ("number", "int") or name in ("int", "float") else False
            return False if name in TENSOR_TYPES or name in ("list", "tuple", "dict", "numpy.ndarray") else None
        case Seq():
            if name == value.kind:
                return True
            return (
                False
                if name in TENSOR_TYPES or name in ("int", "float", "bool", "str", "dict", "numpy.ndarray")
                else None
            )
        case Map():
            if name in ("dict", "collections.abc.Mapping", "typing.Mapping"):
                return True
            return False if name in TENSOR_TYPES or name in ("int", "float", "bool", "str", "list", "tuple") else None
        case Instance():
            if value.isa(name):
                return True
            return False if name in TENSOR_TYPES or name in ("int", "float", "bool", "str", "list", "tuple") else None
    return None
