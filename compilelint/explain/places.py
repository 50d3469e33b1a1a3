"""From a place in a file to the expressions and functions around it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

from compilelint.errors import UsageProblem
from compilelint.finding import Span
from compilelint.source.module import Module
from compilelint.source.spans import source_of, span_of


class Place(NamedTuple):
    path: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


def place(text: str) -> Place:
    """`FILE:LINE:COLUMN`, both from 1. Raises UsageProblem."""
    match = re.fullmatch(r"(.+?):(\d+):(\d+):?", text)
    if match is None or not int(match[2]) or not int(match[3]):
        raise UsageProblem(f'--explain-value: expected FILE:LINE:COLUMN, counted from 1, got "{text}"')
    found = Place(Path(match[1]), int(match[2]), int(match[3]))
    if found.path.suffix == ".ipynb":
        raise UsageProblem(f"--explain-value: {found.path}: a place in a notebook can't be named")
    if not found.path.is_file():
        raise UsageProblem(f"--explain-value: {found.path}: {'not a file' if found.path.exists() else 'no such file'}")
    return found


def expressions_at(module: Module, at: Place) -> list[ast.expr | ast.arg]:
    """The expressions that cover a place, innermost first, up to their statement. Raises UsageProblem if none does."""
    nodes = _expressions(module)
    found = [(span, node) for span, node in nodes if covers(span, at.line, at.column)]
    if not found:
        raise UsageProblem(f"{at}: no expression there{_instead(module, at, nodes)}")
    # an inner one starts later, or ends sooner
    _, innermost = max(
        enumerate(found),
        key=lambda pair: (pair[1][0].line, pair[1][0].column, -pair[1][0].end_line, -pair[1][0].end_column, pair[0]),
    )[1]
    chain = [innermost]
    parent = module.parents.get(innermost)
    while parent is not None and not isinstance(parent, (ast.stmt, ast.Lambda)):
        if isinstance(parent, (ast.expr, ast.arg)) and not isinstance(parent, (ast.Starred, ast.Slice)):
            chain.append(parent)
        parent = module.parents.get(parent)
    return chain


def covers(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) < (span.end_line, span.end_column)


def functions_around(module: Module, node: ast.AST) -> list[ast.AST]:
    """The functions and lambdas in whose bodies a node stands, innermost first."""
    found: list[ast.AST] = []
    child, parent = node, module.parents.get(node)
    while parent is not None:
        inside = isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and child in parent.body
        if inside or isinstance(parent, ast.Lambda) or (isinstance(parent, ast.arguments) and child in _args(parent)):
            found.append(parent if not isinstance(parent, ast.arguments) else module.parents[parent])
        child, parent = parent, module.parents.get(parent)
    return list(dict.fromkeys(found))


def _args(arguments: ast.arguments) -> list[ast.arg | None]:
    plain = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    return [*plain, arguments.vararg, arguments.kwarg]


def _expressions(module: Module) -> list[tuple[Span, ast.expr | ast.arg]]:
    return [
        (span_of(module, node), node)
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.expr, ast.arg)) and not isinstance(node, (ast.Starred, ast.Slice))
    ]


def _instead(module: Module, at: Place, nodes: list[tuple[Span, ast.expr | ast.arg]]) -> str:
    """Where the nearest expression is, in words."""
    if at.line > len(module.lines):
        return f": the file has {len(module.lines)} lines"
    if not nodes:
        return ": the file has none"

    def distance(pair: tuple[Span, ast.AST]) -> tuple[int, int, int]:
        span = pair[0]
        lines = max(span.line - at.line, at.line - span.end_line, 0)
        column = span.column if span.line >= at.line else span.end_column
        return lines, abs(column - at.column), span.end_column - span.column

    span, node = min(nodes, key=distance)
    return f": the nearest is `{source_of(module, node)}` at {at.path}:{span.line}:{span.column}"
