"""A change in one function's body, or one text, made in the tree of its file: all nodes but those that changed stay."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from compilelint.source.module import BLOCKS, Def, FunctionInfo, Module
from compilelint.source.project import SourceError, parse
from compilelint.source.walk import walk

Statement = TypeVar("Statement", bound=ast.stmt)

_BODIES = ("body", "orelse", "finalbody", "handlers")
_HOLDS = (*BLOCKS, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Change:
    """The lines behind the first `above`, up to line `old`, have become those up to line `new`."""

    above: int
    old: int
    new: int

    @classmethod
    def between(cls, before: Sequence[str], after: Sequence[str]) -> Change:
        above = _common(before, after)
        most = min(len(before), len(after)) - above
        below = _common(before[::-1][:most], after[::-1][:most])
        return cls(above, len(before) - below, len(after) - below)

    @property
    def shift(self) -> int:
        return self.new - self.old

    def follows(self, node: ast.AST) -> bool:
        """Whether a node ends before the change."""
        return bool(node.end_lineno <= self.above)  # type: ignore[attr-defined]


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def function_around(module: Module, change: Change) -> tuple[FunctionInfo, int, int] | None:
    """The function whose body holds a change, and the first and last of the lines that are its own."""
    starts = sorted({_start(node) for node in _statements(module.tree.body)})
    for info in module.functions:
        node = info.node
        if "<locals>" in info.qualname or not isinstance(node, Def) or _header(node, module.lines) > change.above:
            continue
        if module.lines[node.body[0].lineno - 1][: node.body[0].col_offset].strip():
            continue  # it stands on a line with the header
        end = node.end_lineno or node.lineno
        last = next((start - 1 for start in starts if start > end), len(module.lines))
        if change.old <= last:
            return info, _start(node), last
    return None


def _header(node: Def, lines: Sequence[str]) -> int:
    """The last line of what stands before a function's body, its docstring included."""
    first: ast.stmt = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        return first.end_lineno or first.lineno
    last = first.lineno - 1
    while last > node.lineno and lines[last - 1].lstrip()[:1] in ("", "#"):
        last -= 1
    return last


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that are in no function."""
    for statement in body:
        yield statement
        if isinstance(statement, (*BLOCKS, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, name, []))
            for handler in getattr(statement, "handlers", []):
                yield from _statements(handler.body)


def text_around(module: Module, change: Change) -> ast.Expr | None:
    """The statement that is a text alone, such as a docstring, and holds a change."""
    for node in walk(module.tree):
        if isinstance(node, ast.Expr) and _text(node) is not None:
            first, last = node.lineno, node.end_lineno or node.lineno
            if (
                first <= change.above + 1
                and change.old <= last
                and (change.old > change.above or first <= change.above)
            ):
                return node
    return None


def _text(node: ast.Expr) -> str | None:
    return node.value.value if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else None


def parsed(node: Statement, lines: Sequence[str], first: int) -> Statement | None:
    """A statement by its new lines, of which the first is line `first`; None where they hold no such one alone."""
    inside = node.col_offset > 0
    text = "\n".join([*(["class _:"] if inside else []), *lines, ""])
    try:
        tree: ast.Module | ast.ClassDef = parse(text, "")
    except SourceError:
        return None
    if inside and len(tree.body) == 1 and isinstance(tree.body[0], ast.ClassDef):
        tree = tree.body[0]
    elif inside:
        return None
    if len(tree.body) != 1 or not isinstance(new := tree.body[0], type(node)) or new.col_offset != node.col_offset:
        return None
    for child in ast.walk(new):
        _move(child, first - 1 - inside)
    return new


def graft(module: Module, old: Def, new: Def, change: Change) -> None:
    """Puts what is new into a function, whose header and docstring are as they were, and moves what stands below."""
    fresh = set(walk(new))
    ending = _ending(module, old)
    old.body = _grafted(old.body, new.body, change)  # type: ignore[assignment]
    _place(module, ending, new, change, fresh)


def reword(module: Module, old: ast.Expr, new: ast.Expr, change: Change) -> bool:
    """Puts another text in place of one, and moves what stands below; False where the new one is no text."""
    if not isinstance(old.value, ast.Constant) or (text := _text(new)) is None:
        return False
    ending = [old.value, *_ending(module, old)]
    old.value.value, old.value.kind = text, getattr(new.value, "kind", None)
    _place(module, ending, new, change, {old, old.value})
    return True


def _ending(module: Module, statement: ast.stmt) -> list[ast.AST]:
    """What ends where a statement ends, from that on outwards."""
    found: list[ast.AST] = [statement]
    end = statement.end_lineno
    while (above := module.parents.get(found[-1])) is not None and getattr(above, "end_lineno", 0) == end:
        found.append(above)
    return found


def _place(
    module: Module, ending: Sequence[ast.AST], new: ast.stmt, change: Change, fresh: Collection[ast.AST]
) -> None:
    if change.shift:
        _shift(module.tree, change, fresh)
    for node in ending:
        node.end_lineno, node.end_col_offset = new.end_lineno, new.end_col_offset  # type: ignore[attr-defined]


def _grafted(old: Sequence[ast.AST], new: Sequence[ast.AST], change: Change) -> list[ast.AST]:
    """The nodes of a body as it is now: those outside of the change are the old ones, still where they were."""
    first = 0
    while first < min(len(old), len(new)) and change.follows(old[first]) and change.follows(new[first]):
        first += 1
    last = 0
    most = min(len(old), len(new)) - first
    while last < most and old[-1 - last].lineno > change.old and new[-1 - last].lineno > change.new:  # type: ignore[attr-defined]
        last += 1
    changed = list(new[first : len(new) - last])
    replaced = old[first : len(old) - last]
    if len(changed) == len(replaced) == 1 and type(changed[0]) is type(replaced[0]):
        changed[0] = _renewed(replaced[0], changed[0], change)
    return [*old[:first], *changed, *old[len(old) - last :]]


def _renewed(old: ast.AST, new: ast.AST, change: Change) -> ast.AST:
    """A statement that holds others, with those of the old ones that did not change."""
    if not isinstance(old, (*BLOCKS, ast.ExceptHandler)):
        return new
    for name in old._fields:
        before, after = getattr(old, name, None), getattr(new, name, None)
        if name in _BODIES and before and after:
            setattr(new, name, _grafted(before, after, change))
        elif (
            isinstance(before, ast.expr)
            and isinstance(after, ast.expr)
            and (change.follows(before) or before.lineno > change.old)
        ):
            setattr(new, name, before)
    return new


def _shift(tree: ast.AST, change: Change, new: Collection[ast.AST]) -> None:
    """Moves what stands behind a change; `new` nodes are where they belong."""
    for node in walk(tree):
        if node not in new and getattr(node, "lineno", None) is not None:
            if node.lineno > change.old:  # type: ignore[attr-defined]
                node.lineno += change.shift  # type: ignore[attr-defined]
            if node.end_lineno > change.old:  # type: ignore[attr-defined]
                node.end_lineno += change.shift  # type: ignore[attr-defined]


def _move(node: ast.AST, lines: int) -> None:
    if hasattr(node, "lineno"):
        node.lineno += lines
        node.end_lineno += lines  # type: ignore[attr-defined]
