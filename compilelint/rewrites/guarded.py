"""What the arms of an `if` do to each of their targets, as one expression of selections."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compilelint.engine.values import tensor_of
from compilelint.idioms import alike, is_host_number, names_in
from compilelint.rewrites.preserved import is_needed_backward
from compilelint.source.walk import nodes_of

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context

Split = Callable[[ast.expr], Sequence[ast.expr]]  # the tensor tests of a truth test, none where it is another


@dataclass(frozen=True)
class Choice:
    """`then` where a test holds, `other` elsewhere; None is what the target held."""

    test: ast.expr
    then: Choice | ast.expr | None
    other: Choice | ast.expr | None


Value = Choice | ast.expr | None
ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
ADDITIVE = {"add_": "0", "sub_": "0", "mul_": "1", "div_": "1"}


@dataclass(frozen=True)
class Target:
    """One target, how it is changed (bound, or by which method written into), and what it becomes."""

    node: ast.expr
    how: str  # "=", or "copy_", "fill_", "add_", …
    value: Value
    rank: int | None = None  # of what it held, where that is known

    @property
    def is_name(self) -> bool:
        return isinstance(self.node, ast.Name)

    @property
    def name(self) -> str:
        return self.node.id if isinstance(self.node, ast.Name) else ""

    @property
    def leaves(self) -> list[ast.expr]:
        return list(_leaves(self.value))

    @property
    def keeps_old(self) -> bool:
        return any(value is None for value in _ends(self.value))

    @property
    def tests(self) -> list[ast.expr]:
        """The inner ones first, as they are written."""
        return _tests(self.value)

    def code(self, tests: dict[int, str], where: str, rw: Rewriter) -> str:
        base = rw.code(self.node)
        if self.how == "=":
            return f"{base} = {self._select(self.value, base, tests, where, rw)}"
        if self.how == "copy_":
            return f"{base}.copy_({self._select(self.value, base, tests, where, rw)})"
        if self.how in ("fill_", "zero_"):
            assert isinstance(self.value, Choice)
            number = rw.code(self.leaves[0]) if self.leaves else "0"
            test = tests[id(self.value.test)]
            return f"{base}.masked_fill_({test}, {number})"
        neutral = ADDITIVE[self.how]
        return f"{base}.{self.how}({self._select(self.value, neutral, tests, where, rw)})"

    def _select(self, value: Value, old: str, tests: dict[int, str], where: str, rw: Rewriter) -> str:
        if value is None:
            return old
        if isinstance(value, ast.expr):
            return rw.code(value)
        then, other = (self._select(each, old, tests, where, rw) for each in (value.then, value.other))
        return f"{where}({tests[id(value.test)]}, {then}, {other})"


def guarded(owner: ast.If, split: Split, ctx: Context) -> list[Target] | None:
    """The targets of an `if`, its `elif`s and the branches inside; None where a statement does something else."""
    effects = _branch(owner, split, ctx)
    if effects is None or not effects:
        return None
    names = {effect.name for effect in effects if effect.is_name}
    written = [ast.dump(effect.node) for effect in effects]
    if len(set(written)) != len(written):
        return None
    for n, effect in enumerate(effects):
        earlier = {e.name for e in effects[:n] if e.is_name} | (names if len(effect.tests) > 1 else set())
        if any(names_in(leaf) & (earlier - {effect.name}) for leaf in effect.leaves):
            return None  # the order would matter
        if any(names_in(test) & names for test in effect.tests[1:]):
            return None
        for before in effects[:n]:  # what was written into is read
            if not before.is_name and any(_reads(leaf, before.node) for leaf in effect.leaves):
                return None
    return effects


def _branch(owner: ast.If, split: Split, ctx: Context) -> list[Target] | None:
    if not split(owner.test):
        return None
    then, other = _block(owner, owner.body, split, ctx), _block(owner, owner.orelse, split, ctx)
    if then is None or other is None:
        return None
    found: list[Target] = []
    rest = {ast.dump(effect.node): effect for effect in other}
    for effect in then:
        match = rest.pop(ast.dump(effect.node), None)
        if match is not None and match.how != effect.how:
            return None
        if effect.how in ("fill_", "zero_") and (match is not None or isinstance(effect.value, Choice)):
            return None
        choice = Choice(owner.test, effect.value, match.value if match else None)
        found.append(replace(effect, value=choice))
    for effect in rest.values():
        if effect.how in ("fill_", "zero_"):
            return None
        found.append(replace(effect, value=Choice(owner.test, None, effect.value)))
    return found


def _block(owner: ast.If, body: Sequence[ast.stmt], split: Split, ctx: Context) -> list[Target] | None:
    found: list[Target] = []
    for statement in body:
        known = len(found)
        match statement:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                found.append(Target(target, "=", value))
            case ast.Assign(targets=[ast.Attribute(value=ast.Name()) as target], value=value):
                tensor, new = tensor_of(ctx.value(_as_read(target, ctx))), tensor_of(ctx.value(value))
                if (tensor is None and not _is_compared(target, owner)) or (tensor and tensor.kind == "parameter"):
                    return None
                rank = tensor.rank if tensor is not None else None
                fits = new is not None and rank is not None and new.rank == rank
                how = "copy_" if tensor is not None and tensor.kind == "buffer" and fits else "="
                found.append(Target(target, how, value, rank))
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name() | ast.Attribute(value=ast.Name()) as target, attr=method),
                    args=args,
                    keywords=[],
                )
            ) if (tensor := tensor_of(ctx.value(target))) is not None:
                if not _writes(method, args, ctx) or is_needed_backward(tensor):
                    return None
                found.append(Target(target, method, args[0] if args else None))
            case ast.If():
                inner = _branch(statement, split, ctx)
                if inner is None:
                    return None
                found += inner
            case ast.Pass():
                continue
            case _:
                return None
        names = {effect.name for effect in found[:known] if effect.is_name}
        written = {ast.dump(effect.node) for effect in found[:known]}
        for effect in found[known:]:
            if ast.dump(effect.node) in written or any(names_in(leaf) & names for leaf in effect.leaves):
                return None
    return found


def _is_compared(target: ast.Attribute, owner: ast.If) -> bool:
    """Whether the test computes with what an attribute holds: a number or a tensor, not None."""
    parts = [n for n in ast.walk(owner.test) if isinstance(n, ast.Compare) and isinstance(n.ops[0], ORDERED)]
    return any(_reads(side, target) for part in parts for side in (part.left, *part.comparators))


def _writes(method: str, args: Sequence[ast.expr], ctx: Context) -> bool:
    """Whether a method writes into its tensor what can be selected: a number that fills, or a tensor."""
    if method == "zero_" or len(args) != 1:
        return method == "zero_" and not args
    if method == "fill_":
        return is_host_number(ctx.value(args[0]))
    return method in ("copy_", *ADDITIVE) and tensor_of(ctx.value(args[0])) is not None


def _as_read(target: ast.Attribute, ctx: Context) -> ast.expr:
    """A read of the same attribute somewhere in the function, of which the engine knows the value."""
    for node in nodes_of(ctx.function, ast.AST) if ctx.function is not None else ():
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()) if name == target.attr and alike(node.value, target.value):
                return node
    return target


def _reads(leaf: ast.expr, target: ast.expr) -> bool:
    wanted = ast.dump(target).replace("Store()", "Load()")
    return any(isinstance(n, type(target)) and ast.dump(n) == wanted for n in ast.walk(leaf))


def _ends(value: Value) -> list[ast.expr | None]:
    return [*_ends(value.then), *_ends(value.other)] if isinstance(value, Choice) else [value]


def _leaves(value: Value) -> list[ast.expr]:
    return [end for end in _ends(value) if end is not None]


def _tests(value: Value) -> list[ast.expr]:
    if not isinstance(value, Choice):
        return []
    return [value.test, *_tests(value.then), *_tests(value.other)]
