"""Walking syntax trees: what `ast.walk` does, at about half of its cost."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)

# fields that hold no node, or only what stands for an operator or a context
LEAVES = frozenset(
    "ctx op ops id attr asname level module lineno conversion kind is_async simple rest kwd_attrs tag type_comment"
    " type_ignores".split()
)
FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in LEAVES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}

FIELDS[ast.Constant] = ()
# kinds with lists that hold more than nodes
MIXED = frozenset((ast.Dict, ast.arguments, ast.Global, ast.Nonlocal))
# the fields of statements that hold others
_BODIES = {
    kind: held
    for kind, names in FIELDS.items()
    if (held := tuple(n for n in names if n in ("body", "orelse", "finalbody", "handlers", "cases")))
    and not issubclass(kind, ast.expr)
}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, in the order of the source; without operators and contexts."""
    found: list[ast.AST] = []
    kind = node.__class__
    for name in FIELDS[kind]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += value if kind not in MIXED else [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(*roots: ast.AST) -> Iterator[ast.AST]:
    """The nodes and all below them, level by level; without operators and contexts."""
    level = list(roots)
    while level:
        yield from level
        level = [child for node in level for child in children(node)]


def targets(function: ast.AST) -> Iterator[ast.expr]:
    """What the statements of a function, and of all that is defined in it, bind, one name or place at a time."""
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        yield from bound(node)
        for name in _BODIES.get(node.__class__, ()):
            waiting += getattr(node, name)


def bound(statement: ast.AST) -> Iterator[ast.expr]:
    """What one statement binds by its targets, one name or place at a time."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from single(target)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        yield from single(statement.target)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            if item.optional_vars is not None:
                yield from single(item.optional_vars)


def single(target: ast.expr) -> Iterator[ast.expr]:
    """The targets in one that is unpacked into."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from single(element)
    elif isinstance(target, ast.Starred):
        yield from single(target.value)
    else:
        yield target


def parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Child → parent for every node below one."""
    table: dict[ast.AST, ast.AST] = {}
    todo = [tree]
    while todo:
        node = todo.pop()
        below = children(node)
        todo += below
        for child in below:
            table[child] = node
    return table


def nodes_of(function: ast.AST, kind: type[Node]) -> Sequence[Node]:
    """The nodes of one kind among a function and all below it, as `walk` gives them.

    Remembered, as are names: they are asked for at each finding in a function."""
    return _of_kind(function, kind)  # type: ignore[return-value, arg-type]


def named(function: ast.AST, name: str) -> Sequence[ast.Name]:
    """Where a function speaks of a name."""
    return _names(function, ast.expr_context).get(name, ())


def loaded(function: ast.AST, name: str) -> Sequence[ast.Name]:
    """Where a function reads a name."""
    return _names(function, ast.Load).get(name, ())


def stored(function: ast.AST, name: str) -> Sequence[ast.Name]:
    """Where a function binds a name."""
    return _names(function, ast.Store).get(name, ())


@lru_cache(maxsize=64)
def _of_kind(function: ast.AST, kind: type[ast.AST]) -> Sequence[ast.AST]:
    nodes = walk(function) if kind is ast.AST else _of_kind(function, ast.AST)
    return tuple(node for node in nodes if isinstance(node, kind))


@lru_cache(maxsize=64)
def _names(function: ast.AST, context: type[ast.expr_context]) -> dict[str, list[ast.Name]]:
    found: dict[str, list[ast.Name]] = {}
    for node in nodes_of(function, ast.Name):
        if isinstance(node.ctx, context):
            found.setdefault(node.id, []).append(node)
    return found
