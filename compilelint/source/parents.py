"""Which node stands right above another, found definition by definition: most of a file is never asked about."""

from __future__ import annotations

import ast
from bisect import bisect_right

from compilelint.source.walk import parents


class Parents:
    """Child → parent for the nodes of a file."""

    def __init__(self, tree: ast.Module) -> None:
        self._table: dict[ast.AST, ast.AST] = {}
        self._unread: dict[int, ast.stmt] = {}  # by the place among `_starts`
        self._starts: list[int] = []  # the lines that definitions, methods and other statements begin on
        self._spread(tree)

    def get(self, node: ast.AST) -> ast.AST | None:
        """The node above; None for the file itself, and for what does not stand in it."""
        found = self._table.get(node)
        if found is None and self._unread:
            line = getattr(node, "lineno", None)
            if line is not None:
                self._read(bisect_right(self._starts, line) - 1)
                found = self._table.get(node)
            if found is None and not isinstance(node, ast.Module):
                for place in list(self._unread):
                    self._read(place)
                found = self._table.get(node)
        return found

    def __getitem__(self, node: ast.AST) -> ast.AST:
        found = self.get(node)
        if found is None:
            raise KeyError(node)
        return found

    def _spread(self, owner: ast.Module | ast.ClassDef) -> None:
        for statement in owner.body:
            self._table[statement] = owner
            if isinstance(statement, ast.ClassDef):
                beside = *statement.decorator_list, *statement.bases, *statement.keywords
                for child in (*beside, *getattr(statement, "type_params", ())):
                    self._table[child] = statement
                    self._table.update(parents(child))
                self._spread(statement)
            else:
                self._unread[len(self._starts)] = statement
                self._starts.append(_start(statement))

    def _read(self, place: int) -> None:
        statement = self._unread.pop(place, None)
        if statement is not None:
            self._table.update(parents(statement))


def _start(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
