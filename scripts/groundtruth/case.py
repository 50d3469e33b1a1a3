"""What a case is: one real model, loss or transform of a package, built small, with random weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
Build = Callable[[], Call]


@dataclass(frozen=True)
class Case:
    """`build()` returns what to compile, and its arguments. It imports its package itself."""

    package: str
    name: str
    build: Build


@dataclass
class Cases:
    """The cases of one set. `packages` maps distributions to their pinned releases."""

    packages: dict[str, str]
    cases: list[Case] = field(default_factory=list)

    def of(self, package: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        """Adds a case: the function decorated returns `(callable, args)` or `(callable, args, kwargs)`."""
        assert package in self.packages

        def add(function: Callable[[], Any]) -> Callable[[], Any]:
            def build() -> Call:
                target, args, *rest = function()
                return target, args, rest[0] if rest else {}

            self.cases.append(Case(package, function.__name__, build))
            return function

        return add

    def named(self, name: str) -> Case:
        return next(case for case in self.cases if case.name == name)


def load(name: str) -> Cases:
    """The set of that name: `cases_NAME.py` beside this file."""
    import importlib

    module: ModuleType = importlib.import_module(f"cases_{name}")
    cases: Cases = module.CASES
    return cases
