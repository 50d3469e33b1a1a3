"""Code that is never hot, whatever it does with tensors: tests, figures; and what runs but once, or once an epoch."""

from __future__ import annotations

import ast
import re

from compilelint.source.module import FunctionInfo, Module
from compilelint.source.walk import walk

TEST_FILE = re.compile(r"test_\w+|\w+_test|conftest")
TESTS = re.compile(r"^\s*def test|\b(?:import|from) (?:pytest|unittest)\b", re.MULTILINE)
DRAWING = frozenset("matplotlib seaborn plotly bokeh altair".split())
FIGURE = re.compile(r"_*(plot|visuali[sz]e)(_\w+)?")
# hooks of Lightning's modules and callbacks (lightning/pytorch/core/hooks.py) but those of each batch; what saves
SELDOM = re.compile(
    r"on_(train|validation|test|predict|fit|sanity_check)_(epoch_)?(start|end)|on_(save|load)_checkpoint|on_exception"
    r"|_*save(_\w+)?"
)


def is_test(module: Module) -> bool:
    """Whether a module belongs to a test suite: it lies in a folder `tests`, or is named and looks like a test."""
    if "tests" in module.name.split(".")[:-1] or module.path.parent.name == "tests":
        return True
    return TEST_FILE.fullmatch(module.path.stem) is not None and TESTS.search(module.text) is not None


def draws(info: FunctionInfo) -> bool:
    """Whether a function makes a figure: it says so, or uses a plotting library."""
    if FIGURE.fullmatch(info.name):
        return True
    text = info.module.text
    if not any(name in text for name in DRAWING):
        return False
    names = {name for name, bound in info.module.bindings.items() if any(map(_imports_drawing, bound))}
    return any(_imports_drawing(node) or (isinstance(node, ast.Name) and node.id in names) for node in walk(info.node))


def _imports_drawing(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] in DRAWING for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] in DRAWING
    return False


def runs_seldom(info: FunctionInfo) -> bool:
    """Whether a function runs once an epoch or less, or its result is kept for good: a property's for each object,
    that of a function without parameters for all."""
    if SELDOM.fullmatch(info.name):
        return True
    args = info.node.args
    given = args.posonlyargs + args.args + args.kwonlyargs or args.vararg or args.kwarg
    return _wrapped_by(info, "cached_property") or (is_cached(info) and not given)


def is_cached(info: FunctionInfo) -> bool:
    """Whether a function is wrapped by functools.lru_cache or cache."""
    return _wrapped_by(info, "lru_cache", "cache")


def _wrapped_by(info: FunctionInfo, *names: str) -> bool:
    return any(decorator.rpartition(".")[2] in names for decorator in info.decorators)
