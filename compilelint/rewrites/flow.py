"""Whether the value that a statement gives a name can still be read once it is done, or is changed in a loop.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from enum import Enum

from compilelint.idioms import COMPREHENSIONS, target_names

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_VIEWS = ("detach", "view", "view_as", "squeeze", "unsqueeze", "reshape", "flatten", "select", "diagonal", "t", "to")


class _Seen(Enum):
    READ = 1
    BOUND = 2  # anew, whatever happens
    NEITHER = 3


def used_after(name: str, statement: ast.stmt, function: ast.AST | None) -> bool:
    """Whether a name may be read with the value that a statement left: behind it, in the next round of a loop around
    it, in a nested function. Taken for granted where that is not known."""
    path = _path(function, statement) if function is not None else None
    if path is None or _is_shared(name, function, statement):
        return True
    for owner, block, index in reversed(path):
        seen = _first(name, block[index + 1 :])
        if seen is _Seen.READ:
            return True
        if seen is _Seen.BOUND:
            return False
        if isinstance(owner, (ast.For, ast.AsyncFor, ast.While)) and block is owner.body:
            if _next_round(name, owner, block, index):
                return True
            if _first(name, owner.orelse) is _Seen.READ:
                return True
        elif isinstance(owner, ast.Try) and any(_reads(name, part) for part in _others(owner, block)):
            return True
    return False


def changed_in(tensor: ast.expr, loop: ast.For | ast.While, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a round may change the tensor that an expression of an earlier one gave, as far as the loop's text says:
    what isn't made anew in each round, and what is written in place."""
    made = _shown(tensor)
    if not isinstance(made, ast.Name):
        return False  # an operation made it
    if made.id in seen:
        return True
    seen |= {made.id}
    stores: list[ast.expr | None] = []
    for node in ast.walk(loop):
        match node:
            case ast.Assign(targets=targets, value=value) if any(made.id in target_names(target) for target in targets):
                stores.append(value)
            case ast.For(target=target) if made.id in target_names(target):
                stores.append(None)
            case ast.AugAssign(target=target) if _is_of(target, made.id):
                return True
            case ast.Assign(targets=targets) if any(
                isinstance(target, ast.Subscript) and _is_of(target, made.id) for target in targets
            ):
                return True
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr.endswith("_") and _is_of(value, made.id):
                if attr != "requires_grad_":
                    return True
    return not stores or any(value is not None and changed_in(value, loop, seen) for value in stores)


def _shown(tensor: ast.expr) -> ast.expr:
    """The tensor, or what holds it, that an expression shows without an operation: the x of `x.data[0].view(())`."""
    match tensor:
        case ast.Attribute(value=value) | ast.Subscript(value=value):
            return _shown(value)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _VIEWS:
            return _shown(value)
    return tensor


def _is_of(tensor: ast.expr, name: str) -> bool:
    shown = _shown(tensor)
    return isinstance(shown, ast.Name) and shown.id == name


def _next_round(name: str, loop: ast.For | ast.AsyncFor | ast.While, block: Sequence[ast.stmt], index: int) -> bool:
    """Whether a round reads what the one before it left, before it is bound anew."""
    if isinstance(loop, ast.While):
        if _reads(name, [loop.test]):
            return True
    elif name in target_names(loop.target):
        return False
    return _first(name, block[: index + 1]) is _Seen.READ


def _first(name: str, statements: Iterable[ast.stmt]) -> _Seen:
    """What some statements, one after the other, do with a name first."""
    for statement in statements:
        seen = _of(name, statement)
        if seen is not _Seen.NEITHER:
            return seen
    return _Seen.NEITHER


def _of(name: str, statement: ast.stmt) -> _Seen:
    match statement:
        case ast.Assign(targets=targets, value=value):
            if _reads(name, [value, *targets]):
                return _Seen.READ
            return _Seen.BOUND if any(name in target_names(target) for target in targets) else _Seen.NEITHER
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            if _reads(name, [value, target]):
                return _Seen.READ
            return _Seen.BOUND if name in target_names(target) else _Seen.NEITHER
        case ast.AugAssign(target=ast.Name(id=changed)) if changed == name:
            return _Seen.READ
        case (
            ast.For(target=target, iter=source, body=body, orelse=orelse)
            | ast.AsyncFor(target=target, iter=source, body=body, orelse=orelse)
        ):
            if _reads(name, [source, target]):
                return _Seen.READ
            inside = _Seen.BOUND if name in target_names(target) else _first(name, body)
            return _Seen.READ if _Seen.READ in (inside, _first(name, orelse)) else _Seen.NEITHER  # maybe no round
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            if _reads(name, [item.context_expr for item in items]):
                return _Seen.READ
            targets = [item.optional_vars for item in items if item.optional_vars is not None]
            return _Seen.BOUND if any(name in target_names(target) for target in targets) else _first(name, body)
        case ast.If(test=test, body=body, orelse=orelse):
            if _reads(name, [test]):
                return _Seen.READ
            ways = (_first(name, body), _first(name, orelse))
            if _Seen.READ in ways:
                return _Seen.READ
            return _Seen.BOUND if ways == (_Seen.BOUND, _Seen.BOUND) else _Seen.NEITHER
    return _Seen.READ if _reads(name, [statement]) else _Seen.NEITHER


def _reads(name: str, nodes: Iterable[ast.AST]) -> bool:
    """Whether a name is read, or deleted, anywhere in some nodes; a comprehension's own name is another one."""
    for node in nodes:
        if isinstance(node, ast.Name):
            if node.id == name and not isinstance(node.ctx, ast.Store):
                return True
        elif isinstance(node, COMPREHENSIONS) and any(name in target_names(each.target) for each in node.generators):
            if _reads(name, [node.generators[0].iter]):
                return True
        elif _reads(name, ast.iter_child_nodes(node)):
            return True
    return False


def _is_shared(name: str, function: ast.AST | None, statement: ast.stmt) -> bool:
    """Whether a name is another scope's, or a function inside this one reads it."""
    assert function is not None
    inside = set(map(id, ast.walk(statement)))
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return True
        if isinstance(node, _SCOPES) and node is not function and id(node) not in inside and _reads(name, [node]):
            return True
    return False


def _others(owner: ast.Try, block: Sequence[ast.stmt]) -> list[list[ast.AST]]:
    parts: list[Sequence[ast.AST]] = [owner.body, owner.handlers, owner.orelse, owner.finalbody]
    return [list(part) for part in parts if part is not block and part is not owner.body]


def _path(function: ast.AST, statement: ast.stmt) -> list[tuple[ast.AST, Sequence[ast.stmt], int]] | None:
    """From a function down to a statement: each owner, its block and the place in that."""
    for _, value in ast.iter_fields(function):
        block = value if isinstance(value, list) else []
        for index, node in enumerate(block):
            if node is statement:
                return [(function, block, index)]
            if isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)) and not isinstance(node, _SCOPES):
                below = _path(node, statement)
                if below is not None:
                    return [(function, block, index), *below]
    return None
