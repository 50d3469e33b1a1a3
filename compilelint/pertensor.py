"""Loops that treat each tensor of a list, as rules and their fixes read them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compilelint.engine.values import Seq, on_device
from compilelint.fix.errors import CannotFix
from compilelint.idioms import names_in, target_names

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context

HELD = ("parameters", "buffers", "named_parameters", "named_buffers", "values", "items")  # can be iterated twice


@dataclass(frozen=True)
class Each:
    """`for target in source if tests`, of a loop or a comprehension."""

    target: ast.expr
    source: ast.expr
    tests: tuple[ast.expr, ...] = ()

    @property
    def names(self) -> set[str]:
        return target_names(self.target)

    def is_shared(self, node: ast.expr) -> bool:
        """Whether an expression is the same in each round: it reads neither the round's names nor calls anything."""
        return not self.names & names_in(node) and not any(isinstance(n, ast.Call) for n in ast.walk(node))


def loop_of(loop: ast.AST) -> tuple[Each, list[ast.stmt]] | None:
    """A `for` and its statements; those under its only `if`, where it has nothing else."""
    if not isinstance(loop, ast.For) or loop.orelse:
        return None
    body = loop.body
    tests: tuple[ast.expr, ...] = ()
    if len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse and is_choice(body[0].test):
        tests, body = (body[0].test,), body[0].body
    return Each(loop.target, loop.iter, tests), body


def comprehension_of(node: ast.AST) -> tuple[Each, ast.expr] | None:
    """A list comprehension or generator with one `for`, and its element."""
    if not isinstance(node, ast.ListComp | ast.GeneratorExp) or len(node.generators) != 1:
        return None
    (only,) = node.generators
    if only.is_async or any(not is_choice(test) for test in only.ifs):
        return None
    return Each(only.target, only.iter, tuple(only.ifs)), node.elt


def is_choice(test: ast.expr) -> bool:
    """`p.grad is not None`, `p.requires_grad`, `"bias" not in name`, and several of them: what reads no tensor."""
    match test:
        case ast.BoolOp(values=values):
            return all(map(is_choice, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return is_choice(operand)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return is_place(left)
        case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()], comparators=[ast.Name()]):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="startswith" | "endswith"), args=[ast.Constant()]):
            return True
        case ast.Attribute(attr="requires_grad", value=value):
            return is_place(value)
    return False


def is_place(node: ast.expr) -> bool:
    """`p`, `p.grad`, `p.grad.data`, `p.detach()`: the tensor of a round as it lies there."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value, attr="grad" | "data" | "weight" | "bias"):
            return is_place(value)
        case ast.Call(func=ast.Attribute(value=value, attr="detach"), args=[], keywords=[]):
            return is_place(value)
    return False


def is_tensor_place(node: ast.expr, each: Each, ctx: Context) -> bool:
    """A tensor of the round that may be on a device."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}  # of a target, too
    return is_place(node) and len(names & each.names) == 1 and on_device(ctx.value(node))


class Lists:
    """The lists of what an expression is in all rounds, in the code of a fix: each iterates as the loop did."""

    def __init__(self, rw: Rewriter, each: Each, ctx: Context) -> None:
        self.rw, self.each, self.ctx = rw, each, ctx

    def check(self, elements: Iterable[ast.expr]) -> None:
        """Raises CannotFix where two lists would exhaust what the loop iterated once."""
        sources = [self._source(element)[1] for element in elements]
        if any(sources.count(source) > 1 and not self._again(source) for source in sources):
            raise CannotFix("what the loop runs over can't be iterated twice")

    def of(self, element: ast.expr) -> str:
        target, source = self._source(element)
        code = self.rw.code
        if isinstance(element, ast.Name) and alike_name(element, target) and not self.each.tests:
            held = self.ctx.value(source)
            return code(source) if isinstance(held, Seq) and held.kind in ("list", "tuple") else f"list({code(source)})"
        tests = "".join(f" if {code(test)}" for test in self.each.tests)
        return f"[{code(element)} for {code(target)} in {code(source)}{tests}]"

    def _source(self, element: ast.expr) -> tuple[ast.expr, ast.expr]:
        """The target and the iterable that an element needs: of a `zip`, its own part."""
        each = self.each
        match each.target, each.source:
            case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources) if (
                len(targets) == len(sources) and not each.tests
            ):
                for target, source in zip(targets, sources, strict=True):
                    if isinstance(source, ast.Starred):
                        break
                    if target_names(target) >= {n.id for n in ast.walk(element) if isinstance(n, ast.Name)}:
                        return target, source
        return each.target, each.source

    def _again(self, source: ast.expr) -> bool:
        match source:
            case ast.Call(func=ast.Attribute(attr=attr), args=[]) if attr in HELD:
                return True
            case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=args):
                return all(map(self._again, args))
        held = self.ctx.value(source)
        return isinstance(held, Seq) and held.kind in ("list", "tuple")


def alike_name(element: ast.Name, target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == element.id
