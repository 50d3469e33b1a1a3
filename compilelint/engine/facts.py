"""What a scan of a function's own body tells before it is interpreted."""

from __future__ import annotations

import ast
from functools import lru_cache

from compilelint.source.walk import children, walk

YIELD = frozenset(("yield",))


def is_generator(node: ast.AST) -> bool:
    """Whether a function yields; functions nested in it don't count."""
    body = getattr(node, "body", [])
    stack: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while stack:
        current = stack.pop()
        if isinstance(current, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack += children(current)
    return False


@lru_cache(maxsize=4096)
def imports_by_name(node: ast.AST) -> bool:
    """Whether a function imports a module whose name it computes: each name that it is given makes another result."""
    called = [n.func for n in walk(node) if isinstance(n, ast.Call)]
    return any(getattr(f, "attr", getattr(f, "id", "")) in ("import_module", "__import__") for f in called)
