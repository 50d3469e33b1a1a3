"""The facts of one torch release, as the engine and the rules ask for them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class Facts:
    def __init__(self, table: Any) -> None:
        self.table = table

    def method_returns(self, name: str) -> str | None:
        """What a tensor's method returns: "tensor", "bool", "tuple:tensor", …; None for what isn't a method of tensors."""
        return self.table.method(name).get("returns")  # type: ignore[no-any-return]

    def function_returns(self, name: str) -> str | None:
        return self.table.function(name).get("returns")  # type: ignore[no-any-return]

    def says(self, target: str) -> dict[str, Any]:
        return {}


@lru_cache(maxsize=8)
def facts_for(version: tuple[int, int]) -> Facts | None:
    return None
