"""Loops that ask the device in each round whether to stop: they ask every few rounds, and undo the surplus ones.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import External, Instance, Namespace, tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import is_number, target_names
from compilelint.rewrites.flow import used_after
from compilelint.rewrites.unconditional import vanishes
from compilelint.source.walk import named, nodes_of

if TYPE_CHECKING:
    from compilelint.engine.events import Event
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

EVERY = 8
DRAWS = frozenset(words("multinomial rand randn randint randperm bernoulli normal rand_like randn_like dropout sample"))
Condition = Callable[["Rewriter"], str]


def ask_every_few(
    loop: ast.For | ast.While, owner: ast.If | None, static: Sequence[ast.expr], stop: Condition, ctx: Context
) -> Fix | None:
    """`while i < n and alive.any():`, and `if done.all(): break` at the end of a `for`, in eager code.

    What each round appends to lists is cut off where the loop should have ended; counters are set back. `owner` is the
    `if`, `static` what else the `while` asks, `stop` writes the tensor that says to stop.
    """
    from compilelint.sdk import Fix

    function = ctx.function
    if ctx.compiled or function is None or isinstance(function, ast.Lambda) or loop.orelse:
        return None
    body = [statement for statement in loop.body if statement is not owner]
    if owner is not None and loop.body[-1] is not owner:
        return None
    lists, counters = set(), set()
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[_])):
                lists.add(name)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=int())):
                counters.add((name, ast.unparse(statement.value)))
            case ast.Assign(targets=[ast.Name() | ast.Tuple()]):
                pass
            case _:
                return None
    bound = {name for statement in body for name in target_names(statement)}
    if isinstance(loop, ast.For):
        bound |= target_names(loop.target)
    after = bound - {name for name, _ in counters}
    if not lists or any(used_after(name, loop, function) for name in after) or not all(map(_is_quiet(ctx), body)):
        return None
    if any(_times_used(name, loop) != 1 for name in lists):
        return None

    def build(rw: Rewriter) -> None:
        flags = rw.fresh_name("stopped", within=function)
        stack = rw.name_for("torch.stack")
        check = f"len({flags}) % {EVERY} == 0 and bool({stack}({flags}).any()):\n    break"
        rw.insert_before(loop, f"{flags} = []")
        note = f"{flags}.append({stop(rw)})"
        if owner is not None:
            rw.replace_statement(owner, f"{note}\nif {check}")
        else:
            assert isinstance(loop, ast.While)
            rw.replace(loop.test, " and ".join(map(rw.code, static)))
            rw.insert_before(body[0], f"if {flags} and {check}\n{note}")
        surplus = rw.fresh_name("surplus", within=function)
        first = f"{flags}.index(True)" + (" - 1" if owner is not None else "")
        undo = [f"del {name}[len({name}) - {surplus} :]" for name in sorted(lists)]
        undo += [
            f"{name} -= {surplus}" + (f" * {by}" if by != "1" else "")
            for name, by in sorted(counters)
            if used_after(name, loop, function)
        ]
        lines = "\n    ".join(undo)
        rw.insert_after(
            loop,
            f"if {flags}:\n    {flags} = {stack}({flags}).tolist()\n"
            f"    {surplus} = len({flags}) - {first} if True in {flags} else 0\n    {lines}",
        )

    why = f"up to {EVERY - 1} rounds more are computed than needed, and must not fail"
    return Fix(f"ask every {EVERY} rounds", Applicability.UNSAFE, build, why)


def _is_quiet(ctx: Context) -> Callable[[ast.stmt], bool]:
    """Whether a statement, done once more than needed, changes nothing but the names it binds."""

    def quiet(statement: ast.stmt) -> bool:
        for node in ast.walk(statement):
            match node:
                case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                    return False
                case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                    return False
                case ast.Call(func=ast.Attribute(attr=name) as func):
                    if name == "append":
                        continue
                    owner, called = ctx.value(func.value), ctx.value(func)
                    of_torch = isinstance(owner, (Namespace, External)) and owner.name.split(".")[0] == "torch"
                    module = isinstance(called, Instance) and bool(called.external)
                    if name in DRAWS or name.endswith("_") or not (of_torch or module or tensor_of(owner) is not None):
                        return False
                case ast.Call(func=ast.Name(id=name) as func):
                    called = ctx.value(func)
                    if name not in ("min", "max", "len", "int", "range") and not (
                        isinstance(called, External) and called.name.startswith("torch.")
                    ):
                        return False
        return True

    return quiet


def _times_used(name: str, loop: ast.AST) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(loop))


def over_the_mask(event: Event, ctx: Context) -> Fix | None:
    """The loop over as many rounds as a mask holds, where an event reads their number."""
    for loop in nodes_of(ctx.function, ast.For) if ctx.function is not None and not ctx.compiled else ():
        read = any(n is event.node for n in ast.walk(loop.iter))
        names = {n.id for n in ast.walk(loop.iter) if isinstance(n, ast.Name)}
        if read or (isinstance(event.statement, ast.Assign) and target_names(event.statement) & names):
            return bound_by_shape(loop, ctx)
    return None


def bound_by_shape(loop: ast.For, ctx: Context) -> Fix | None:
    """`for s in range(0, n, size)`, `n` the sum of a mask, over sums of what the mask multiplies → all of the mask."""
    from compilelint.sdk import Fix

    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[bound] | [ast.Constant(value=0), bound, *_]):
            pass
        case _:
            return None
    if ctx.function is None or loop.orelse or not isinstance(loop.target, ast.Name):
        return None
    mask, made = _counted(bound, ctx)
    if mask is None:
        return None
    number = loop.target.id
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name()], value=value) if is_number(ctx.value(value)):
                continue
            case ast.Assign(
                targets=[ast.Name(id=total)], value=ast.BinOp(left=ast.Name(id=same), op=ast.Add(), right=added)
            ) if total == same:
                if not _masked(added, mask, number, ctx):
                    return None
            case ast.AugAssign(target=ast.Name(), op=ast.Add(), value=added):
                if not _masked(added, mask, number, ctx):
                    return None
            case _:
                return None

    def build(rw: Rewriter) -> None:
        rw.replace(bound, f"{mask}.shape[0]")
        if made is not None:
            rw.delete_statement(made)

    why = "what the mask holds behind its count is added, too"
    return Fix("go over all of the mask", Applicability.UNSAFE, build, why)


def _counted(bound: ast.expr, ctx: Context) -> tuple[str | None, ast.stmt | None]:
    """The mask that a bound is the sum of, and the assignment that nothing else needs then."""
    made: ast.stmt | None = None
    if isinstance(bound, ast.Name) and ctx.function is not None:
        uses = list(named(ctx.function, bound.id))
        stores = [n for n in uses if isinstance(n.ctx, ast.Store)]
        parent = ctx.parent(stores[0]) if len(stores) == 1 else None
        if not isinstance(parent, ast.Assign) or parent.targets != stores or len(uses) != 2:
            return None, None
        made, bound = parent, parent.value
    while True:
        match bound:
            case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]):
                bound = inner
            case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
                bound = inner
            case ast.Call(func=ast.Attribute(value=ast.Name(id=mask), attr="sum"), args=[], keywords=[]):
                return mask, made
            case _:
                return None, None


def _masked(added: ast.expr, mask: str, number: str, ctx: Context) -> bool:
    """Whether an expression is zero where the part of a mask that a round reads is."""
    parts = [
        n
        for n in ast.walk(added)
        if isinstance(n, ast.Subscript)
        and isinstance(n.value, ast.Name)
        and n.value.id == mask
        and any(isinstance(each, ast.Name) and each.id == number for each in ast.walk(n.slice))
    ]
    return any(vanishes(added, part, ctx) for part in parts)
