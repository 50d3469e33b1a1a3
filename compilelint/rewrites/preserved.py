"""When a selection computes what a branch would: the same values, shape, dtype and gradients, and no new failure."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from compilelint.breaks import is_given, words
from compilelint.engine.values import Const, External, Method, Namespace, Tensor, tensor_of
from compilelint.idioms import is_host_number
from compilelint.rewrites.owned import is_own
from compilelint.source.walk import nodes_of

if TYPE_CHECKING:
    from compilelint.sdk import Context

# Element by element, of numbers for all but the first operand: the dtype of a float tensor stays, nothing is raised,
# and the derivative is finite for infinities too, so that `where` leaves the gradient of what is not selected at zero.
PLAIN = frozenset(words("clamp clip clamp_min clamp_max nan_to_num neg abs relu add sub mul clone"))
LARGEST = 1e4  # what all float dtypes hold, half too
SMALLEST = 1e-4  # what none of them rounds to zero
# Functions whose backward reads their own result (`result` in torch's tools/autograd/derivatives.yaml): torch raises
# when that was written to in place.
KEEPS_RESULT = frozenset(
    words(
        "relu sigmoid tanh tan exp exp2 expm1 sqrt rsqrt reciprocal softmax log_softmax logsumexp norm pow prod cumprod"
    )
)
VIEWS = frozenset(words("view reshape flatten squeeze unsqueeze transpose permute t expand narrow contiguous"))


def preserves(
    conditions: Sequence[ast.expr], arms: Sequence[ast.expr], place: ast.AST, target: str | None, ctx: Context
) -> bool:
    """Whether `torch.where(condition, *arms)` is what `a if condition else b` gives, for every input.

    `target`: the name that the result gets at `place`, None where it is returned."""
    names = {_base(arm, ctx) for arm in arms}
    name = names.pop() if len(names) == 1 else None
    if name is None or ctx.function is None or writes_in_place(ctx.function, ctx):
        return False
    if any(_is_itself(arm) for arm in arms) and (target not in (None, name) or not is_own(name, place, ctx)):
        return False  # who else holds the tensor would no longer share it
    reads = [n for arm in arms for n in ast.walk(arm) if isinstance(n, ast.Name) and n.id == name]
    known = [value for n in reads if (value := tensor_of(ctx.value(n))) is not None]
    if not known or any(value.dtype != "float" or value.kind for value in known):
        return False
    if any(is_given(value) for value in known) and _hands_on(ctx.function, ctx):
        return False
    return all(_is_flag(condition, ctx) for condition in conditions)


def fills_harmlessly(call: ast.Call, mask: ast.expr, place: ast.AST, ctx: Context) -> bool:
    """Whether `x = x.masked_fill(mask, value)`, where no element is set, is the same as nothing."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as filled), args=[_, value], keywords=[]):
            tensor = tensor_of(ctx.value(filled))
        case _:
            return False
    if tensor is None or tensor.dtype != "float" or tensor.kind or not is_modest(value, ctx) or ctx.function is None:
        return False
    if not is_own(name, place, ctx):
        return False
    if writes_in_place(ctx.function, ctx) or (is_given(tensor) and _hands_on(ctx.function, ctx)):
        return False
    return covers(mask, name, ctx)


def covers(mask: ast.expr, name: str, ctx: Context) -> bool:
    """Whether a mask is made element by element of the tensor of that name, and so is as large."""
    match mask:
        case ast.Compare(left=ast.Name(id=compared), comparators=[number]):
            return compared == name and is_real(number, ctx)
        case ast.Call(func=ast.Attribute(value=owner, attr="isnan" | "isinf"), args=args, keywords=[]):
            tested = args[0] if len(args) == 1 else owner if not args else None
            return isinstance(tested, ast.Name) and tested.id == name
    return False


def is_needed_backward(tensor: Tensor) -> bool:
    """Whether a tensor, or what it is a view of, is the result of a function whose backward reads it."""
    for link in reversed(tensor.origin.chain() if tensor.origin is not None else ()):
        match link.node:
            case ast.Subscript():
                continue
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                if name not in VIEWS:
                    return name in KEEPS_RESULT
            case _:
                return False
    return False


def _is_itself(node: ast.expr) -> bool:
    """Whether an expression is the tensor, not a new one."""
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
        node = node.operand
    return isinstance(node, ast.Name)


def _base(node: ast.expr, ctx: Context) -> str | None:
    """The name of the tensor that an expression is, changed element by element by numbers."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _base(operand, ctx)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            if is_modest(right, ctx):
                return _base(left, ctx)
            return _base(right, ctx) if is_modest(left, ctx) else None
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _base(left, ctx) if is_modest(right, ctx, least=SMALLEST) else None
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args) if method in PLAIN:
            of_torch = isinstance(value := ctx.value(owner), (Namespace, External)) and value.name.startswith("torch")
            inner, rest = (args[0], args[1:]) if of_torch and args else (owner, args)
            given = [*rest, *(keyword.value for keyword in node.keywords if keyword.arg != "alpha")]
            if len(given) != len(rest) + len(node.keywords) or not all(is_modest(each, ctx) for each in given):
                return None
            return _base(inner, ctx)
    return None


def is_real(node: ast.expr, ctx: Context) -> bool:
    """Whether an expression is certainly a Python int or float that the host knows, without effects."""
    value = ctx.value(node)
    if not is_host_number(value) or any(isinstance(n, (ast.Call, ast.NamedExpr, ast.Await)) for n in ast.walk(node)):
        return False
    return not (isinstance(value, Const) and isinstance(value.value, complex))


def is_modest(node: ast.expr, ctx: Context, least: float = 0.0) -> bool:
    """Whether an expression is written as a number that every float dtype holds: no infinity, bool or huge integer."""
    if not all(
        isinstance(n, (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)) for n in ast.walk(node)
    ):
        return False
    number = value.value if isinstance(value := ctx.value(node), Const) else None
    return isinstance(number, (int, float)) and not isinstance(number, bool) and least <= abs(number) < LARGEST


def _is_flag(node: ast.expr, ctx: Context) -> bool:
    """Whether a truth test is one of a single boolean, so that Python's own could not fail either."""
    match node:
        case ast.BoolOp(values=values):
            return all(_is_flag(value, ctx) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_flag(operand, ctx)
    tensor = tensor_of(ctx.value(node))
    return tensor is not None and tensor.rank == 0 and tensor.dtype == "bool" and not _may_fail(node, ctx)


def _may_fail(node: ast.expr, ctx: Context) -> bool:
    """Whether a test does more than compare and reduce tensors: behind `or` it was not always evaluated."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Subscript, ast.Await, ast.NamedExpr, ast.Lambda, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(part, ast.Call):
            function = ctx.value(part.func)
            method = isinstance(part.func, ast.Attribute) and tensor_of(ctx.value(part.func.value)) is not None
            of_torch = isinstance(function, External) and function.name.startswith("torch.")
            name = part.func.attr if isinstance(part.func, ast.Attribute) else ""
            if not (method or of_torch) or name.endswith("_") or name in RANDOM:
                return True
    return False


RANDOM = frozenset(words("rand randn randint randperm rand_like randn_like bernoulli multinomial normal dropout"))


def _hands_on(function: ast.AST, ctx: Context) -> bool:
    """Whether a function calls what may write into a tensor: anything but functions of torch and methods."""
    for node in nodes_of(function, ast.AST):
        if isinstance(node, ast.Call):
            called = ctx.value(node.func)
            if not isinstance(called, (External, Method)):
                return True
    return False


def writes_in_place(function: ast.AST, ctx: Context) -> bool:
    """Whether a function writes into tensors: then it matters which of them are one."""
    return _writes_certainly(function) or any(
        not is_host_number(ctx.value(node.target)) for node in nodes_of(function, ast.AugAssign)
    )


@lru_cache(maxsize=32)
def _writes_certainly(function: ast.AST) -> bool:
    for node in nodes_of(function, ast.AST):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name.endswith("_") and not name.endswith("__"):
                return True
            case ast.Call(keywords=keywords) if any(keyword.arg == "out" for keyword in keywords):
                return True
            case ast.Subscript(ctx=ast.Store()):
                return True
    return False
