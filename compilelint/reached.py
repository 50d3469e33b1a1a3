"""Whether what runs at each step may lead to a function: by the calls that were seen, and by who names it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from compilelint.engine.aside import is_property, is_test, logs
from compilelint.engine.engine import Engine
from compilelint.engine.regions import RANK, Regions
from compilelint.engine.values import BATCH, Instance, Tensor, walk
from compilelint.flags import Flags
from compilelint.source.module import ClassInfo, FunctionInfo, Module

# what stands before a name in its line: of an import, of a definition, or `owner.`
IMPORTED = re.compile(rb"[ \t]*(?:import|from)\b")
DEFINED = re.compile(rb"\b(?:def|class)[ ]+$")
OWNER = re.compile(rb"(\.?)(\w*)\.$")
CALLED = re.compile(rb"[ ]*\(")
TENSOR = "torch.Tensor"
OF_CONTAINERS = frozenset(name for kind in (dict, list, set, str) for name in dir(kind))
GRADIENTS = frozenset(("grad",))


@dataclass(frozen=True, slots=True)
class Use:
    """A place that names a function: `by` None for a module's top level.

    `of` is the name before the dot, "" for another expression, None where there is no dot; `calls`: it stands before
    a parenthesis.
    """

    module: Module
    by: FunctionInfo | None
    line: int
    of: str | None
    calls: bool


class Reached:
    """For when all is interpreted, and regions are known."""

    def __init__(self, engine: Engine, regions: Regions, flags: Flags, complete: bool) -> None:
        """`complete`: all files of the run are at hand."""
        self.engine = engine
        self.regions = regions
        self.flags = flags
        self.complete = complete
        self._known: dict[FunctionInfo, bool] = {}
        self._modules: dict[Module, list[int]] = {}  # and the lines of their functions
        self._uses: dict[str, list[Use]] = {}
        self._used_at: dict[FunctionInfo, list[Use]] = {}
        self._passing: dict[str, set[FunctionInfo | None]] = {}
        self._builders: set[FunctionInfo | None] = set()  # what calls them, or they call, sets up
        self._shared: dict[Module, bool] = {}
        self._hot: set[FunctionInfo | None] = set()
        self._steps: dict[FunctionInfo | None, list[tuple[int, int]]] = {}  # the lines of loops

    def _read(self) -> None:
        """What is hot for certain, and where uses are to be looked for."""
        for summary in self.engine.summaries():
            module = summary.module
            if module not in self._modules and not is_test(module):
                self._modules[module] = [info.node.lineno for info in module.functions]  # in the order of the source
            if RANK[self.regions.of(summary).kind] >= RANK["step"]:
                self._hot.add(summary.info)
            if any(self._is_making_of_module(edge.callee.info) for edge in summary.edges):
                self._builders.add(summary.info)
            for name, _, _ in summary.unresolved:
                self._passing.setdefault(name, set()).add(summary.info)
            for loop in self.regions.steps(summary):
                span = getattr(loop.node, "lineno", 1), getattr(loop.node, "end_lineno", 1)
                self._steps.setdefault(summary.info, []).append(span)

    def __contains__(self, info: FunctionInfo) -> bool:
        """Whether the function, or one that leads to it, runs at each step, or is for a user to call with a batch."""
        if not self._modules:
            self._read()
        if info not in self._known:
            self._known[info] = self._leads_here(info)
        return self._known[info]

    def _leads_here(self, info: FunctionInfo) -> bool:
        seen, seldom = {info}, False
        waiting = [info]
        while waiting:
            each = waiting.pop()
            if self._is_hot(each):
                return True
            users = {use.by for use in self._used(each) if use.by is not None and not logs(each)}
            rare = {user for user in users if self._is_seldom(user)}
            seldom |= bool(rare) or not users
            waiting += users - rare - seen
            seen |= users - rare
        return not seldom and self._takes_batch(info)  # or they call one another

    def _is_seldom(self, info: FunctionInfo) -> bool:
        """Whether what a function calls is not hot by that."""
        if info in self._builders and info not in self._hot:
            return True
        return self.regions.seldom(info) or self.flags.before_calls(info) is not None

    def _is_making_of_module(self, info: FunctionInfo | None) -> bool:
        if info is None or info.cls is None or info.name != "__init__":
            return False
        return "torch.nn.Module" in self.engine.bases(info.cls)

    def _is_hot(self, info: FunctionInfo) -> bool:
        if info in self._hot:
            return True
        uses = self._used(info)
        if any(a <= use.line <= b for use in uses for a, b in self._steps.get(use.by, ())):
            return True
        if logs(info) or info in self._builders:
            return False
        if not uses and self.complete and info.cls is None and self._is_shared(info.module):
            return False  # others need what stands beside it, and not this
        return all(_says_nothing(use, info) for use in uses) and self._takes_batch(info)

    def _is_shared(self, module: Module) -> bool:
        """Whether functions of a module are called from others."""
        if module not in self._shared:
            self._shared[module] = any(
                use.calls and use.module is not module for info in module.functions for use in self._used(info)
            )
        return self._shared[module]

    def _takes_batch(self, info: FunctionInfo) -> bool:
        """Whether what a function works on may be new at each step: tensors that a caller nobody saw passes, gradients,
        or what it makes on a given device. The weights of a module stay."""
        if info.me is not None and info.cls is not None and TENSOR in self.engine.bases(info.cls):
            return True
        spec = info.node.args
        args = [a for a in spec.posonlyargs + spec.args + spec.kwonlyargs if a.arg != info.me]
        if any(a.annotation is None and info.default(a.arg) is None for a in args):
            return True
        values = self.engine.parameters(info)
        return info.mentions(GRADIENTS) or any(
            a.arg == "device" or any(map(_is_batch, walk(values[a.arg]))) for a in args if a.arg in values
        )

    def _used(self, info: FunctionInfo) -> list[Use]:
        """Where others than a function itself name it; what Python calls itself is named nowhere."""
        if info not in self._used_at:
            named = () if info.name.startswith("__") else self._named(info.name)
            self._used_at[info] = [use for use in named if use.by is not info and self._may_mean(use, info)]
        return self._used_at[info]

    def _named(self, name: str) -> list[Use]:
        """Where functions of a name are named."""
        uses = self._uses.get(name)
        if uses is None:
            found = (use for module, starts in self._modules.items() for use in _uses(name, module, starts))
            uses = self._uses[name] = list(found)
        return uses

    def _may_mean(self, use: Use, info: FunctionInfo) -> bool:
        """Whether a name may be that of a function, and not of another or of an attribute."""
        if info.cls is None:
            return use.of is None or use.of in use.module.bindings
        if use.of is None or not (use.calls or is_property(info)):
            return False
        mine = use.by.cls if use.by is not None and use.of == "self" else None
        if mine is None:
            return info.name not in OF_CONTAINERS or use.by in self._callers(info)
        meant = self.engine.method(mine, info.name)
        if meant is not None and meant.cls is not None:
            return meant is info or meant.cls in self.engine.mro(info.cls)
        return not any(isinstance(base, ClassInfo) and info.name in base.stores for base in self.engine.mro(mine))

    def _callers(self, info: FunctionInfo) -> set[FunctionInfo | None]:
        """Who is certainly seen to call a method, or to call one of its name with tensors."""
        return {by.info for by, _ in self.flags.in_use(info)} | self._passing.get(info.name, set())


def _says_nothing(use: Use, info: FunctionInfo) -> bool:
    """Whether a use leaves open who calls: it passes the function on, or is of a method that hands on to its like."""
    if use.by is None or not use.calls:
        return True
    return use.by.name == info.name and use.by.cls is not None and info.cls is not None


def _is_batch(value: object) -> bool:
    return (isinstance(value, Tensor) and value.kind != "numpy") or (
        isinstance(value, Instance) and value.isa(BATCH, TENSOR)
    )


def _uses(name: str, module: Module, starts: list[int]) -> Iterator[Use]:
    """Where a module's text names a function, but where it is defined or imported."""
    text, line, last = module.wording.encoded, 1, 0
    for place in module.wording.places(name):
        line += text.count(b"\n", last, place)
        last = place
        before = text[text.rfind(b"\n", 0, place) + 1 : place]
        if IMPORTED.match(before) or DEFINED.search(before):
            continue
        owner, after = OWNER.search(before), place + len(name)
        if owner is None and text[after : after + 1] == b".":
            continue  # what is taken from it
        of = None if owner is None else "" if owner[1] else owner[2].decode()
        yield Use(module, _around(line, module, starts), line, of, CALLED.match(text, after) is not None)


def _around(line: int, module: Module, starts: list[int]) -> FunctionInfo | None:
    """The innermost function that a line belongs to."""
    for info in reversed(module.functions[: bisect_right(starts, line)]):
        if line <= (info.node.end_lineno or 0):
            return info
    return None
