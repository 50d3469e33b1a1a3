"""From syntax nodes to spans and texts of the source."""

from __future__ import annotations

import ast
from typing import Any

from compilelint.finding import Span
from compilelint.source.module import Module


def source_of(module: Module | None, node: ast.AST, limit: int = 60) -> str:
    """A node's text as it is written, on one line, shortened to `limit` characters."""
    if isinstance(node, ast.arg):
        return node.arg
    text = _segment(module, node) if module is not None else ""
    if not text:
        try:
            text = ast.unparse(node)
        except (ValueError, AttributeError, RecursionError):
            return "…"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _segment(module: Module, node: ast.AST) -> str:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    if not first or not last or last > len(module.lines) or last - first > 20:
        return ""
    start = _column(module, first, getattr(node, "col_offset", 0)) - 1
    stop = _column(module, last, getattr(node, "end_col_offset", 0)) - 1
    lines = module.lines[first - 1 : last]
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][start:]
    return " ".join(lines) if not any("#" in line for line in lines) else ""


def span_of(module: Module, node: ast.AST) -> Span:
    """The 1-based span of a node, columns in characters."""
    line = getattr(node, "lineno", 1)
    end = getattr(node, "end_lineno", None) or line
    column = _column(module, line, getattr(node, "col_offset", 0))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.With)):
        end, stop = _header_end(module, node)
    else:
        stop = _column(module, end, getattr(node, "end_col_offset", None) or 0)
    return Span(str(module.path), line, column, end, stop)


def _header_end(module: Module, node: Any) -> tuple[int, int]:
    """A compound statement is marked by its header, not by its body."""
    last = node.lineno
    text = module.lines[last - 1] if last <= len(module.lines) else ""
    return last, len(text.rstrip()) + 1


def _column(module: Module, line: int, offset: int) -> int:
    text = module.lines[line - 1] if 0 < line <= len(module.lines) else ""
    return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1
