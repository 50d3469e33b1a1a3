"""Parameters whose tensors are on the host in all calls that were seen, whatever becomes of them in the function."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compilelint.engine.aside import is_test
from compilelint.engine.engine import Engine
from compilelint.engine.summary import Summary
from compilelint.engine.values import Device, Instance, Origin, Tensor, Unknown, Value, walk
from compilelint.source.module import ClassInfo, FunctionInfo

MAX_LINKS = 50  # of a value's history
MOVES = frozenset("to cuda type_as npu xpu".split())


@dataclass(frozen=True, slots=True)
class Parameter:
    info: FunctionInfo
    name: str


class HostSide:
    """For when all is interpreted."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._known: dict[Parameter, bool | None] = {}
        self._roots: dict[int, Parameter] | None = None
        self._passed: dict[FunctionInfo, list[dict[str, Value]]] = {}
        self._by_name: dict[str, list[tuple[list[Value], dict[str, Value]]]] = {}

    def keeps(self, value: Value | None) -> bool:
        """Whether a tensor comes from a parameter for which all calls that were seen pass what is on the host."""
        parameter = self._stems_from(value) if value is not None else None
        return parameter is not None and self._is_host(parameter) is True

    def _stems_from(self, value: Value) -> Parameter | None:
        """The parameter that a tensor was made of, if it stayed on its device since."""
        if self._roots is None:
            self._read()
        assert self._roots is not None
        link = value.origin
        for _ in range(MAX_LINKS):
            if link is None or _moves(link):
                return None
            if (found := self._roots.get(id(link))) is not None:
                return found
            link = link.parent
        return None

    def _read(self) -> None:
        """Where parameters begin, and what is passed for them; tests don't say where a program's tensors are."""
        self._roots = {}
        for summary in self._in_use():
            if summary.info is not None and summary.generic:
                for name, value in summary.arguments.items():
                    for part in walk(value):
                        if isinstance(part, Tensor) and part.origin is not None:
                            self._roots.setdefault(id(part.origin), Parameter(summary.info, name))
            for edge in summary.edges:
                if edge.callee.info is not None and edge.callee.info is not summary.info:
                    self._passed.setdefault(edge.callee.info, []).append(edge.callee.arguments)
            for name, args, kwargs in summary.unresolved:
                self._by_name.setdefault(name, []).append((args, kwargs))

    def _in_use(self) -> Iterable[Summary]:
        """The contexts that others than tests make."""
        summaries = self.engine.summaries()
        waiting = deque(s for s in summaries if (s.generic or s.info is None) and not is_test(s.module))
        seen = dict.fromkeys(waiting)
        while waiting:
            for edge in waiting.popleft().edges:
                if edge.callee not in seen:
                    seen[edge.callee] = None
                    waiting.append(edge.callee)
        return seen

    def _is_host(self, parameter: Parameter) -> bool | None:
        """None while it is being found out: a recursion says nothing."""
        if parameter in self._known:
            return self._known[parameter]
        self._known[parameter] = None
        found = {self._passes_host(value) for value in self._arguments(parameter)} - {None}
        self._known[parameter] = found == {True}
        return self._known[parameter]

    def _arguments(self, parameter: Parameter) -> Iterator[Value]:
        info, name = parameter.info, parameter.name
        for called in self._called_for(info):
            for arguments in self._passed.get(called, ()):
                if name in arguments:
                    yield arguments[name]
        if info.cls is None or info.name.startswith("__"):
            return
        names = [a.arg for a in info.node.args.posonlyargs + info.node.args.args]
        names = names if "staticmethod" in info.decorators else names[1:]
        for args, kwargs in self._by_name.get(info.name, ()):
            if len(args) <= len(names) and kwargs.keys() <= set(names):
                given = dict(zip(names, args, strict=False)) | kwargs
                if name in given:
                    yield given[name]

    def _called_for(self, info: FunctionInfo) -> Iterator[FunctionInfo]:
        """The function, and the methods that it overrides: what is called by a base's name may be it."""
        yield info
        for base in self.engine.mro(info.cls)[1:] if info.cls is not None else ():
            if isinstance(base, ClassInfo) and info.name in base.methods:
                yield base.methods[info.name]

    def _passes_host(self, value: Value) -> bool | None:
        """Whether an argument is of the host's tensors alone."""
        found: set[bool | None] = set()
        for part in walk(value):
            if isinstance(part, Tensor):
                on_host = part.device is Device.CPU or part.kind == "numpy"
                source = None if on_host else self._stems_from(part)
                found.add(True if on_host else self._is_host(source) if source is not None else False)
            elif isinstance(part, (Unknown, Instance)):
                return False
        return False if False in found or not found else True if True in found else None


def _moves(link: Origin) -> bool:
    """Whether a tensor may have gone to another device here: `x.to(device)`, `model(x)`."""
    if link.why == "is a module's output":
        return True
    match link.node:
        case ast.Call(func=ast.Attribute(attr=name)) if name in MOVES:
            return True
        case ast.Call(keywords=keywords):
            return any(k.arg == "device" for k in keywords)
    return False
