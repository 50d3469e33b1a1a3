"""What a scan of a function's own body tells before it is interpreted."""

from __future__ import annotations

import ast


def is_generator(node: ast.AST) -> bool:
    """Whether a function yields; functions nested in it don't count."""
    body = getattr(node, "body", [])
    stack: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(current))
    return False
