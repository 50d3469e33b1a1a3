"""What a scan of a function's own body tells before it is interpreted."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(slots=True)
class Facts:
    """`generator`: it yields. `nodes`: the size of its syntax tree, nested functions included."""

    generator: bool = False
    nodes: int = 0


def facts_of(node: ast.AST) -> Facts:
    facts = Facts()
    stack: list[tuple[ast.AST, bool]] = [(child, True) for child in _body(node)]
    while stack:
        current, own = stack.pop()
        facts.nodes += 1
        if own and isinstance(current, ast.Yield | ast.YieldFrom):
            facts.generator = True
        inner = own and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        stack.extend((child, inner) for child in ast.iter_child_nodes(current))
    return facts


def _body(node: ast.AST) -> list[ast.AST]:
    body = getattr(node, "body", [])
    return list(body) if isinstance(body, list) else [body]
