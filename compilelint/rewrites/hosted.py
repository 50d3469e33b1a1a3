"""Tensors that were in host memory, were copied to the device, and are copied back: the host's own is taken.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.finding import Applicability
from compilelint.idioms import on_host
from compilelint.rewrites.twins import argument, written_calls
from compilelint.source.walk import named, nodes_of

if TYPE_CHECKING:
    from compilelint.engine.events import Call
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix, Frame

TITLE = "take the tensor of the host"


def take_from_host(event: Call, ctx: Context) -> Fix | None:
    """`lengths.cpu()`, where `lengths` was made by `sizes.to(device)` of a host tensor, here or by all who call."""
    function = ctx.function
    match event.node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="cpu"), args=[], keywords=[]) as back:
            pass
        case _:
            return None
    if function is None or isinstance(function, ast.Lambda):
        return None
    given = function.args
    if any(a.arg == name for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)) and not _stores(name, function):
        return _from_callers(name, function, ctx)
    return _from_here(name, back, function, ctx)


def _from_here(name: str, back: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context) -> Fix | None:
    """The one assignment of the name copies a tensor of the host, which stays as it is."""
    from compilelint.sdk import Fix

    stores = _stores(name, function)
    made = ctx.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(made, ast.Assign) or made not in function.body or len(made.targets) != 1:
        return None
    source = _copied(made.value, ctx)
    if not isinstance(source, ast.Name) or back.lineno < made.lineno:
        return None
    again = source.id != name and any(n.lineno > made.lineno for n in _stores(source.id, function))
    if again or _is_written(source.id, function) or _is_written(name, function):
        return None

    def build(rw: Rewriter) -> None:
        host = source.id
        if host == name:
            host = rw.fresh_name(f"{name}_host", within=function)
            rw.insert_before(made, f"{host} = {name}")
        rw.replace(back, host)

    return Fix(TITLE, Applicability.UNSAFE, build, "the tensor must not be written into on the device meanwhile")


def _from_callers(name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context) -> Fix | None:
    """All that the function does with a parameter is to copy it back, and all calls copy a host tensor for it."""
    from compilelint.sdk import Fix

    uses = list(named(function, name))
    backs = [call for use in uses if (call := _copies_back(use, ctx)) is not None]
    if len(backs) != len(uses):
        return None
    copies: dict[ast.expr, ast.expr] = {}
    for frame, call in written_calls(ctx):
        passed = argument(call, name, function, ctx)
        copy = _made_for(passed, frame) if passed is not None else None
        source = _copied(copy, frame) if copy is not None else None
        if copy is None or source is None or not ctx.is_here(frame):
            return None
        copies[copy] = source
    if not copies:
        return None

    def build(rw: Rewriter) -> None:
        for back in backs:
            rw.replace(back, name)
        for copy, source in copies.items():
            rw.replace(copy, rw.code(source))

    return Fix(TITLE, Applicability.UNSAFE, build, "calls that are not in sight must pass a tensor of the host, too")


def _copied(node: ast.expr, frame: Frame) -> ast.expr | None:
    """The host tensor in `t.to(device)` and `t.cuda()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=source, attr="to" | "cuda"), args=[] | [_]):
            if isinstance(source, (ast.Name, ast.Attribute)) and on_host(frame.value(source)):
                return source
    return None


def _made_for(passed: ast.expr, frame: Frame) -> ast.expr | None:
    """The copy that a call passes: written there, under a name, or in a dict that is read there alone."""
    if isinstance(passed, ast.Call):
        return passed
    function = frame.function
    if function is None or isinstance(function, ast.Lambda):
        return None
    match passed:
        case ast.Name(id=name):
            key = None
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(text))):
            key = text
        case _:
            return None
    stores = _stores(name, function)
    made = frame.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(made, ast.Assign) or len(made.targets) != 1:
        return None
    reads = [n for n in named(function, name) if n is not stores[0]]
    if key is None:
        return made.value if len(reads) == 1 else None
    keys = [_key_of(frame.parent(read)) for read in reads]
    if None in keys or keys.count(key) != 1 or not isinstance(made.value, ast.Dict):
        return None
    pairs = zip(made.value.keys, made.value.values, strict=True)
    return next((value for k, value in pairs if isinstance(k, ast.Constant) and k.value == key), None)


def _key_of(node: ast.AST | None) -> str | None:
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            return key
    return None


def _copies_back(use: ast.Name, ctx: Context) -> ast.Call | None:
    method = ctx.parent(use)
    call = ctx.parent(method) if isinstance(method, ast.Attribute) and method.attr == "cpu" else None
    return call if isinstance(call, ast.Call) and not call.args and not call.keywords else None


def _stores(name: str, function: ast.AST) -> list[ast.Name]:
    return [n for n in named(function, name) if not isinstance(n.ctx, ast.Load)]


def _is_written(name: str, function: ast.AST) -> bool:
    """Whether a tensor is written into under its name."""
    for node in nodes_of(function, ast.AST):
        match node:
            case ast.Subscript(value=ast.Name(id=found), ctx=ast.Store()) if found == name:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr=method)) if found == name:
                if method.endswith("_"):
                    return True
    return False
