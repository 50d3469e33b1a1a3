"""Checks that raise on NaN or infinities in a step loop: a `FiniteGuard` made before the loop, that nobody waits for.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import is_elif, is_tried
from compilelint.rewrites.finite import bad_in_round, bad_tensor, loop_around
from compilelint.rewrites.pertensor import Each, Lists

if TYPE_CHECKING:
    from compilelint.engine.events import Branch
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

GUARD = "compilelint.ops.FiniteGuard"
WHY = "the failure comes as a NonFiniteError, some steps later or at the end of the loop, for infinities too"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)


def guard_steps(event: Branch, ctx: Context) -> Fix | None:
    """`if torch.isnan(loss): raise …` in a loop of steps → `guard.check({"loss": loss})`, flushed behind the loop.

    The same for a loop inside it that does this for each tensor of a list. Not where the loop is left by `return`, or
    the error could be caught on its way.
    """
    from compilelint.sdk import Fix

    owner, function = event.owner, ctx.function
    loop = next((each.node for each in reversed(event.site.loops) if each.is_step), None)
    if ctx.compiled or function is None or not isinstance(loop, (ast.For, ast.While)) or event.statement is not owner:
        return None
    if not isinstance(owner, ast.Assert) and not (isinstance(owner, ast.If) and _only_raises(owner, ctx)):
        return None
    if is_tried(owner, ctx) or owner not in (inside := _own(loop)) or any(isinstance(n, _LEAVES) for n in inside):
        return None
    if (checked := _checked(owner, ctx)) is None:
        return None
    statement, each, tensor = checked
    if not _may_be_float(tensor, ctx):
        return None

    def build(rw: Rewriter) -> None:
        what = f"[{rw.code(tensor)}]" if each is None else _all_of(each, tensor, rw, ctx)
        if each is None and isinstance(tensor, ast.Name):
            what = f'{{"{tensor.id}": {tensor.id}}}'
        name = _made_before(loop, rw)
        if name is None:
            name = rw.fresh_name("guard", within=function)
            rw.insert_before(loop, f"{name} = {rw.name_for(GUARD)}()")
            rw.insert_after(loop, f"{name}.flush()")
        rw.replace_statement(statement, f"{name}.check({what})", keep_comments=True)

    return Fix("Check without waiting", Applicability.UNSAFE, build, WHY)


def _checked(owner: ast.If | ast.Assert, ctx: Context) -> tuple[ast.stmt, Each | None, ast.expr] | None:
    """The statement that makes the check, what it runs over if it is a loop, and the tensor (of a round)."""
    bad = ast.UnaryOp(ast.Not(), owner.test) if isinstance(owner, ast.Assert) else owner.test
    around = loop_around(owner, ctx)
    if around is None:
        tensor = bad_tensor(bad, ctx)
        return None if tensor is None else (owner, None, tensor)
    loop, each = around
    found = bad_in_round(bad, each, ctx)
    return None if found is None else (loop, *found)


def _all_of(each: Each, tensor: ast.expr, rw: Rewriter, ctx: Context) -> str:
    """With the names of `named_parameters()`, so that the error can say which."""
    match each.target, each.source:
        case (
            ast.Tuple(elts=[ast.Name(id=name), ast.Name()]),
            ast.Call(func=ast.Attribute(attr="named_parameters" | "named_buffers" | "items")),
        ):
            tests = "".join(f" if {rw.code(test)}" for test in each.tests)
            return f"{{{name}: {rw.code(tensor)} for {rw.code(each.target)} in {rw.code(each.source)}{tests}}}"
    return Lists(rw, each, ctx).of(tensor)


def _made_before(loop: ast.stmt, rw: Rewriter) -> str | None:
    """The guard that an earlier fix made for the loop."""
    mates = rw.siblings(loop)
    for statement in mates[: mates.index(loop)]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=made, args=[], keywords=[])) if (
                ast.unparse(made).rpartition(".")[2] == "FiniteGuard"
            ):
                return name
    return None


def _only_raises(owner: ast.If, ctx: Context) -> bool:
    match owner:
        case ast.If(body=[ast.Raise(exc=ast.expr())], orelse=[]):
            return not is_elif(owner, ctx)
    return False


def _may_be_float(tensor: ast.expr, ctx: Context) -> bool:
    value = tensor_of(ctx.value(tensor))
    return value is None or value.dtype not in ("int", "bool", "complex")


def _own(node: ast.AST) -> list[ast.AST]:
    """The nodes of a statement that run where it does."""
    found: list[ast.AST] = []
    left = [node]
    while left:
        each = left.pop()
        found.append(each)
        if not isinstance(each, _SCOPES):
            left.extend(ast.iter_child_nodes(each))
    return found
