"""A rewrite of reads in a loop: the tensors are kept in a list, and read in one transfer behind the loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import Tensor, tensor_of
from compilelint.finding import Applicability
from compilelint.rewrites.flow import changed_in

if TYPE_CHECKING:
    from compilelint.engine.events import Event
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix


def sum_after_loop(event: Event, ctx: Context) -> Fix | None:
    """The same for a statement `total += p.norm().item() ** 2`, whatever it is that is read."""
    match event.statement, event.node:
        case (
            ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=summand),
            ast.Call(func=ast.Attribute(value=read, attr="item"), args=[], keywords=[]),
        ):
            return read_after_loop(event, tensor_of(ctx.value(read)), read, name, summand, ctx)
    return None


def read_after_loop(
    event: Event, tensor: Tensor | None, read: ast.expr, name: str, summand: ast.expr, ctx: Context
) -> Fix | None:
    """`for p in ps: total += p.norm().item() ** 2` → the norms in a list, one `torch.stack(…).tolist()`, then the sum.

    `read` is the tensor, `summand` what is added to `name`. The host adds the same numbers in the same order. Only for
    a loop that isn't a step loop and not in another one, so that the list stays small, that reads 0-d tensors, and in
    which nothing else has to do with the sum.
    """
    from compilelint.sdk import Fix

    node, statement = event.node, event.statement
    loop = event.site.loops[0].node if len(event.site.loops) == 1 else None
    if not isinstance(loop, ast.For) or event.site.loops[0].is_step or tensor is None or tensor.rank != 0:
        return None
    around = {n.id for part in _parts_beside(summand, node) for n in ast.walk(part) if isinstance(n, ast.Name)}
    uses = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name and ctx.parent(n) is not statement]
    if (
        changed_in(read, loop)
        or around
        or uses
        or loop.orelse
        or ctx.function is None
        or not isinstance(statement, ast.AugAssign)
    ):
        return None

    def build(rw: Rewriter) -> None:
        assert ctx.function is not None
        kept = rw.fresh_name(f"{name}_parts", within=ctx.function)
        value = rw.fresh_name("value", within=ctx.function)
        stack = rw.name_for("torch.stack")
        formula = rw.text(summand).replace(rw.text(node), value, 1)
        rw.insert_before(loop, f"{kept} = []")
        rw.replace_statement(statement, f"{kept}.append({rw.operand(read)}.detach())", keep_comments=True)
        rw.insert_after(loop, f"if {kept}:\n    for {value} in {stack}({kept}).tolist():\n        {name} += {formula}")

    why = "the numbers and the order of the sum stay; the tensors must be on one device"
    return Fix("Read them at once after the loop", Applicability.UNSAFE, build, why)


def _parts_beside(whole: ast.expr, node: ast.AST) -> list[ast.AST]:
    """The parts of an expression that do not hold `node`."""
    if whole is node:
        return []
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(whole):
        if child is node or any(n is node for n in ast.walk(child)):
            found += _parts_beside(child, node) if isinstance(child, ast.expr) else []
        else:
            found.append(child)
    return found
