"""Reads of many tensors as one: those of a loop behind it, those of a dict or a list with one stacked copy.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import Map, Tensor, tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import alike, is_tried
from compilelint.rewrites.flow import changed_in, used_after
from compilelint.source.walk import named

if TYPE_CHECKING:
    from compilelint.engine.events import Event
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

COPIED = ("detach", "cpu")
MOST = 64  # reads of one display; each is asked for all of them
TITLE = "Read them with one stacked copy"
WHY = "the tensors must have one shape and device, and are read in their common type"


def read_of(node: ast.AST) -> ast.expr | None:
    """The tensor in `t.item()`, `t.detach().cpu().item()` and `float(t)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            pass
        case ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]):
            pass
        case _:
            return None
    while True:
        match inner:
            case ast.Call(func=ast.Attribute(value=deeper, attr=name), args=[], keywords=[]) if name in COPIED:
                inner = deeper
            case _:
                return inner


def _makes_float(node: ast.AST, tensor: Tensor | None) -> bool:
    """`float(n)` of an integer tensor, which would be read as an integer."""
    is_float = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return is_float and tensor is not None and tensor.dtype in ("int", "bool")


def collect_in_loop(event: Event, ctx: Context) -> Fix | None:
    """`losses.append(loss.item())` in a loop → `losses.append(loss.detach())`, and one read of all behind the loop."""
    from compilelint.sdk import Fix

    node, statement, function = event.node, event.statement, ctx.function
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=listed, attr="append"), args=[appended], keywords=[])):
            pass
        case _:
            return None
    read = read_of(node)
    tensor = tensor_of(ctx.value(read)) if read is not None else None
    if read is None or tensor is None or tensor.rank != 0 or function is None or isinstance(function, ast.Lambda):
        return None
    if not isinstance(node, ast.expr) or not _is_own(appended, node) or _makes_float(node, tensor):
        return None
    loop = _filled_in(listed, statement, function, ctx)
    if loop is None or changed_in(read, loop):
        return None

    def build(rw: Rewriter) -> None:
        rw.replace(appended, f"{rw.operand(read)}.detach()")
        target, stack = rw.code(listed), rw.name_for("torch.stack")
        values = f"{stack}({target}).tolist()"
        if appended is not node:
            value = rw.fresh_name("value", within=function)
            values = f"[{rw.text(appended).replace(rw.text(node), value, 1)} for {value} in {values}]"
        rw.insert_after(loop, f"if {target}:\n    {target} = {values}")

    why = "the list holds tensors until the loop ends; they must be on one device"
    return Fix("Read them at once after the loop", Applicability.UNSAFE, build, why)


def _is_own(whole: ast.expr, node: ast.expr) -> bool:
    """Whether all in an expression but the read are constants and calls of builtins."""
    inside = {id(n) for n in ast.walk(node)}
    rest = [n for n in ast.walk(whole) if id(n) not in inside]
    names = [n for n in rest if isinstance(n, ast.Name)]
    called = [n.func for n in rest if isinstance(n, ast.Call)]
    plain = all(isinstance(f, ast.Name) and f.id in ("round", "float", "abs") for f in called)
    return plain and all(name in called for name in names)


def _filled_in(
    listed: ast.expr, statement: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context
) -> ast.For | ast.While | None:
    """The loop behind which a list is whole: the outermost around the statement that doesn't make it anew.

    None unless the list was made empty in the function, and nothing before the loop's end has to do with it but the
    statement: another name for it would keep the tensors.
    """
    key: str | None = None
    match listed:
        case ast.Name(id=name):
            pass
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(text))):
            key = text
        case _:
            return None
    uses = list(named(function, name))
    stores = [n for n in uses if not isinstance(n.ctx, ast.Load)]
    made = ctx.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(made, ast.Assign) or made.targets != stores or not _is_empty(made.value, key):
        return None
    loop: ast.For | ast.While | None = None
    above: ast.AST | None = statement
    while above is not None and above is not function:
        above = ctx.parent(above)
        if isinstance(above, (ast.For, ast.While)):
            if any(n is made for n in ast.walk(above)):
                break
            loop = above
        elif isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Try)):
            break
    if loop is None or loop.orelse or any(isinstance(n, (ast.Return, ast.Yield)) for n in ast.walk(loop)):
        return None
    if any(n not in stores and n.lineno < loop.lineno for n in uses) or is_tried(statement, ctx):
        return None
    inside = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name]
    mine = [n for n in ast.walk(listed) if isinstance(n, ast.Name) and n.id == name]
    if key is None:
        return loop if inside == mine else None
    others = [ctx.parent(n) for n in inside if n not in mine]
    kept = all(
        isinstance(o, ast.Subscript) and isinstance(o.slice, ast.Constant) and o.slice.value != key for o in others
    )
    return loop if kept else None


def _is_empty(made: ast.expr, key: str | None) -> bool:
    """`[]`, or `{"loss": []}` for a list in a dict."""
    if key is None:
        return isinstance(made, ast.List) and not made.elts
    if not isinstance(made, ast.Dict):
        return False
    pairs = zip(made.keys, made.values, strict=True)
    return any(isinstance(k, ast.Constant) and k.value == key and _is_empty(v, None) for k, v in pairs)


def stack_literal(event: Event, ctx: Context) -> Fix | None:
    """`{"a": x.item(), "b": y.item()}` → `dict(zip(("a", "b"), torch.stack([x, y]).tolist()))`; tuples, lists alike."""
    from compilelint.sdk import Fix

    whole = ctx.parent(event.node)
    match whole:
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            pass
        case ast.Tuple(elts=values, ctx=ast.Load()) | ast.List(elts=values, ctx=ast.Load()):
            keys = []
        case _:
            return None
    if not 2 <= len(values) <= MOST:
        return None
    reads = [read_of(value) for value in values]
    tensors = [tensor_of(ctx.value(read)) if read is not None else None for read in reads]
    if not all(t is not None and t.rank == 0 for t in tensors):
        return None
    kinds = {t.dtype for t in tensors if t is not None}
    if len(kinds - {None}) > 1 or (len(kinds) > 1 and "float" not in kinds):
        return None  # an integer would be read as a float
    if any(map(_makes_float, values, tensors)):
        return None
    if isinstance(ctx.parent(whole), (ast.Subscript, ast.Starred)):
        return None

    def build(rw: Rewriter) -> None:
        parts = ", ".join(rw.code(read) for read in reads if read is not None)
        stacked = f"{rw.name_for('torch.stack')}([{parts}]).tolist()"
        if isinstance(whole, ast.Dict):
            names = ", ".join(rw.code(key) for key in keys if key is not None)
            rw.replace(whole, f"dict(zip(({names}), {stacked}))")
        else:
            rw.replace(whole, f"tuple({stacked})" if isinstance(whole, ast.Tuple) else stacked)

    return Fix(TITLE, Applicability.UNSAFE, build, WHY)


def stack_items(event: Event, ctx: Context) -> Fix | None:
    """`{f"x/{k}": v.item() for k, v in d.items()}`, `for k, v in d.items(): out[k] = v.item()`: all read at once."""
    from compilelint.sdk import Fix

    inner: ast.AST | None = event.node
    while inner is not None and not isinstance(inner, (ast.DictComp, ast.ListComp, ast.For, ast.FunctionDef)):
        inner = ctx.parent(inner)
    match inner:
        case ast.DictComp(generators=[ast.comprehension(target=target, iter=over, ifs=[])]):
            pass
        case ast.ListComp(generators=[ast.comprehension(target=target, iter=over, ifs=[])]):
            pass
        case ast.For(target=target, iter=over, orelse=[]):
            pass
        case _:
            return None
    match target, over:
        case (
            ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=value)]),
            ast.Call(func=ast.Attribute(value=ast.Name(id=source) as holder, attr="items"), args=[], keywords=[]),
        ):
            pass
        case _:
            return None
    if ctx.function is None or tensor_of(ctx.value(holder)) is not None:
        return None
    uses = [n for n in ast.walk(inner) if isinstance(n, ast.Name) and n.id == value and isinstance(n.ctx, ast.Load)]
    reads = {use: _read_around(use, ctx) for use in uses}
    changed = any(isinstance(n, ast.Name) and n.id == source and n is not holder for n in ast.walk(inner))
    if not reads or None in reads.values() or changed or _bound_again(inner, {key, value}):
        return None
    if isinstance(inner, ast.For) and used_after(value, inner, ctx.function):
        return None
    full = isinstance(held := ctx.value(holder), Map) and bool(held.items)

    def build(rw: Rewriter) -> None:
        stacked = f"{rw.name_for('torch.stack')}(list({source}.values())).tolist()"
        rw.replace(over, f"zip({source}, {stacked if full else f'{stacked} if {source} else []'})")
        for read in reads.values():
            assert read is not None
            rw.replace(read, value)

    return Fix(TITLE, Applicability.UNSAFE, build, WHY)


def _read_around(use: ast.Name, ctx: Context) -> ast.expr | None:
    """The whole of `v.detach().cpu().item()` around `v`."""
    node: ast.AST | None = use
    for _ in range(8):
        node = ctx.parent(node) if node is not None else None
        if isinstance(node, ast.expr) and (read := read_of(node)) is not None:
            return node if alike(read, use) else None
    return None


def _bound_again(inner: ast.AST, names: set[str]) -> bool:
    stores = [n.id for n in ast.walk(inner) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return any(stores.count(name) > 1 for name in names)


def read_schedule(event: Event, ctx: Context) -> Fix | None:
    """`for t in timesteps:` with `t.item()` in its body → the numbers read once, before the loop."""
    from compilelint.sdk import Fix

    function = ctx.function
    loop: ast.AST | None = event.statement
    while loop is not None and loop is not function and not isinstance(loop, ast.For):
        loop = ctx.parent(loop)
    if not isinstance(loop, ast.For) or function is None or ctx.compiled:
        return None
    match loop.target, loop.iter:
        case ast.Name(id=name) as target, ast.Name() | ast.Attribute() as schedule:
            pass
        case (
            ast.Tuple(elts=[ast.Name(), ast.Name(id=name) as target]),
            ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name() | ast.Attribute() as schedule], keywords=[]),
        ):
            pass
        case _:
            return None
    tensor = tensor_of(ctx.value(schedule))
    if tensor is None or tensor.rank != 1 or tensor.kind == "numpy":
        return None
    uses = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name and n is not target]
    reads = {use: whole for use in uses if (whole := _whole_read(use, ctx)) is not None}
    if not reads or any(not isinstance(use.ctx, ast.Load) for use in uses):
        return None
    alone = len(reads) == len(uses) and not used_after(name, loop, function)

    def build(rw: Rewriter) -> None:
        listed = f"{rw.code(schedule)}.tolist()"
        number = name if alone else rw.fresh_name(f"{name}_value", within=function)
        if alone:
            rw.replace(schedule, listed)
        else:
            rw.replace(schedule, f"zip({rw.code(schedule)}, {listed})")
            rw.replace(target, f"({name}, {number})")
        for whole in reads.values():
            rw.replace(whole, number)

    why = "the schedule must not change while the loop runs"
    return Fix("Read the schedule once, before the loop", Applicability.UNSAFE, build, why)


def _whole_read(use: ast.Name, ctx: Context) -> ast.expr | None:
    """`t.item()`, `int(t)` and `float(t)` of a name."""
    parent = ctx.parent(use)
    match parent:
        case ast.Attribute(attr="item"):
            call = ctx.parent(parent)
            return call if isinstance(call, ast.Call) and not call.args else None
        case ast.Call(func=ast.Name(id="int" | "float"), args=[_], keywords=[]):
            return parent
    return None
