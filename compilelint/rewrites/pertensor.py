"""Loops that treat each tensor of a list, as rules and their fixes read them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compilelint.engine.values import Seq, on_device
from compilelint.fix.errors import CannotFix
from compilelint.idioms import names_in, target_names

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context

MODULES = ("parameters", "buffers", "named_parameters", "named_buffers")
HELD = (*MODULES, "values", "items")  # can be iterated twice


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
    if not isinstance(node, (ast.ListComp, ast.GeneratorExp)) or len(node.generators) != 1:
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

    def __init__(self, rw: Rewriter, each: Each, ctx: Context, together: Sequence[Sequence[ast.expr]] = ()) -> None:
        """`together` are the elements that one call takes."""
        self.rw, self.each, self.ctx = rw, each, ctx
        self.parts = zipped(each)
        used = [{place for element in taken if (place := self._part(element)) is not None} for taken in together]
        if not covers(used, len(self.parts)):
            self.parts = []  # `zip` stops at the end of the shortest: it must stay

    def check(self, elements: Iterable[ast.expr]) -> None:
        """Raises CannotFix where two lists would exhaust what the loop iterated once."""
        sources = [self._source(element)[1] for element in elements]
        if any(sources.count(source) > 1 and not self._again(source) for source in sources):
            raise CannotFix("what the loop runs over can't be iterated twice")

    def of(self, element: ast.expr) -> str:
        target, source = self._source(element)
        code = self.rw.code
        if isinstance(element, ast.Name) and alike_name(element, target) and not self.each.tests:
            return code(source) if self._is_list(source) else f"list({code(source)})"
        tests = "".join(f" if {code(test)}" for test in self.each.tests)
        return f"[{code(element)} for {code(target)} in {code(source)}{tests}]"

    def _source(self, element: ast.expr) -> tuple[ast.expr, ast.expr]:
        """The target and the iterable that an element needs: of a `zip`, its own part."""
        place = self._part(element)
        return (self.each.target, self.each.source) if place is None else self.parts[place]

    def _part(self, element: ast.expr) -> int | None:
        names = {n.id for n in ast.walk(element) if isinstance(n, ast.Name)}
        return next((n for n, (target, _) in enumerate(self.parts) if target_names(target) >= names), None)

    def _is_list(self, source: ast.expr) -> bool:
        held = self.ctx.value(source)
        is_view = isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr in HELD
        return isinstance(held, Seq) and held.kind in ("list", "tuple") and not is_view

    def _again(self, source: ast.expr) -> bool:
        match source:
            case ast.Call(func=ast.Attribute(attr=attr), args=[]) if attr in HELD:
                return True
            case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=args):
                return all(map(self._again, args))
        return self._is_list(source)


def zipped(each: Each) -> list[tuple[ast.expr, ast.expr]]:
    """The targets and iterables of `for p, q in zip(a, b)`; none where tests choose among them."""
    match each.target, each.source:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources, keywords=[]) if (
            len(targets) == len(sources) and not each.tests and not any(isinstance(s, ast.Starred) for s in sources)
        ):
            return list(zip(targets, sources, strict=True))
    return []


def covers(used: Sequence[set[int]], count: int) -> bool:
    """Whether calls that each take some of `count` lists must fail unless all lists are of one length."""
    reached = set(used[0]) if used else set()
    for _ in used:
        reached = reached.union(*(each for each in used if each & reached))
    return len(reached) == count


def are_distinct(each: Each) -> bool:
    """Whether each tensor certainly comes in one round only: modules and optimizers see to it."""
    parts = zipped(each)
    return all(_is_distinct(source) for source in ([source for _, source in parts] or [each.source]))


def _is_distinct(source: ast.expr) -> bool:
    match source:
        case ast.Call(func=ast.Attribute(attr=attr), args=[], keywords=[]):
            return attr in MODULES
        case ast.Call(func=ast.Name(id="list" | "tuple" | "enumerate"), args=[inner], keywords=[]):
            return _is_distinct(inner)
        case ast.Call(func=ast.Name(id="zip"), args=sources):
            return all(map(_is_distinct, sources))
        case ast.Subscript(slice=ast.Constant(value="params")):  # of an optimizer
            return True
    return False


def overlap(each: Each) -> bool:
    """`zip(params[1:], params[:-1])`: one round may read what another writes."""
    whole = [ast.unparse(source.value if isinstance(source, ast.Subscript) else source) for _, source in zipped(each)]
    return len(set(whole)) < len(whole)


def alike_name(element: ast.Name, target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == element.id
