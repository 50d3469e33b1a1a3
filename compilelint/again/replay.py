"""One function interpreted again, where everything that it asks for is known: what comes of it, and what it asked."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from compilelint.again.noting import Execution, Noting
from compilelint.engine.run import Run
from compilelint.engine.scope import Scope
from compilelint.engine.summary import Summary
from compilelint.engine.values import (
    Class,
    External,
    Function,
    Instance,
    Namespace,
    Origin,
    Unknown,
    Value,
    key,
)
from compilelint.source.module import ClassInfo, FunctionInfo

# what a function tells of itself besides its result, in lists and tables of the engine
_TOLD = ("references", "fed_loaders", "compile_roots", "hooks", "backward_hooks", "enclosing")


@dataclass(slots=True)
class Question:
    what: tuple[Any, ...]
    args: tuple[Any, ...]
    free: bool  # whether it would have been answered just so, and with no effect, had it been asked the first time


@dataclass(slots=True)
class Replay:
    """What came of it, what was asked, each question once, and what was told."""

    summary: Summary
    asked: list[Question]
    told: dict[str, Any]

    def agrees(self, other: Replay) -> bool:
        """Whether nobody but the function itself would notice that this came instead of the other."""
        mine = [question for question in self.asked if not question.free]
        theirs = [question for question in other.asked if not question.free]
        return (
            len(mine) == len(theirs)
            and all(a.what == b.what and alike(a.args, b.args) for a, b in zip(mine, theirs, strict=True))
            and self.told == other.told
            and same_result(self.summary, other.summary)
        )


def same_result(one: Summary, two: Summary) -> bool:
    return alike(one.returns, two.returns) and alike(one.yields, two.yields) and alike(one.self_writes, two.self_writes)


def alike(one: Any, two: Any) -> bool:
    """Whether two values are the same to the last detail, and made at the same places of the syntax tree."""
    if one is two:
        return True
    if type(one) is not type(two) or isinstance(one, (ast.AST, FunctionInfo, ClassInfo, Summary)):
        return False
    if isinstance(one, (Value, Origin)) and is_dataclass(one):
        return all(alike(getattr(one, f.name), getattr(two, f.name)) for f in fields(one))
    if isinstance(one, Mapping):
        return list(one) == list(two) and all(alike(value, two[name]) for name, value in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(alike, one, two))
    return bool(one == two)


def replayed(engine: Noting, execution: Execution) -> Replay:
    """Interprets a function once more as it was. Raises Unsettled where that would lead to something new."""
    was = execution.summary
    summary = replace(
        was, arguments=dict(was.arguments), self_writes={}, events=[], edges=[], loops=[], body=type(was.body)(),
        returns=Summary(was.module, None).returns, yields=None, values=None, done=False,
    )  # fmt: skip
    asking = _Asking(engine, execution)
    told = {name: getattr(engine, name) for name in _TOLD}
    for name, kept in told.items():
        setattr(engine, name, type(kept)())
    depth, engine.depth = engine.depth, execution.depth + 1
    engine.replaying = True
    if was.info is not None:
        engine._active[was.info] = engine._active.get(was.info, 0) + 1
    try:
        run = Run(asking, summary)
        run.silent = int(execution.silent)
        run.execute()
        if not execution.silent:
            engine._take_signature(summary)
        return Replay(summary, asking.asked, {name: getattr(engine, name) for name in _TOLD})
    finally:
        if was.info is not None:
            engine._active[was.info] -= 1
        engine.replaying, engine.depth = False, depth
        for name, kept in told.items():
            setattr(engine, name, kept)


class _Asking:
    """The engine, to one function; what it is asked that may have an effect is noted."""

    def __init__(self, engine: Noting, execution: Execution) -> None:
        self._engine = engine
        self._execution = execution
        self._known: set[Any] = set()
        self.asked: list[Question] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def note(self, what: tuple[Any, ...], args: tuple[Any, ...] = (), *, free: bool = False) -> None:
        if what not in self._known:
            self._known.add(what)
            self.asked.append(Question(what, args, free))

    def _earlier(self, summary: Summary) -> bool:
        execution = self._engine.of.get(summary)
        return execution is not None and execution.end < self._execution.start

    # -- what is asked -----------------------------------------------------------------------------------------------

    def scope(self, module: Any) -> Any:
        return _AskingScope(self, self._engine.scope(module))

    def call(self, function: Function, arguments: dict[str, Value], generic: bool = False, caller: Any = None) -> Any:
        found = self._engine.call(function, arguments, generic, caller)
        self.note(("summary", id(found)), (function, arguments), free=self._earlier(found))
        return found

    def generic(self, info: FunctionInfo, bound: Value | None = None, cold: bool = False) -> Any:
        found = self._engine.generic(info, bound, cold)
        self.note(("summary", id(found)), (bound,), free=self._earlier(found))
        return found

    def edge(self, caller: Summary, *args: Any) -> None:
        self._engine.edge(caller, *args)

    def attribute(self, info: ClassInfo, name: str) -> Value | None:
        found = self._engine.attribute(info, name)
        self.note(("attribute", id(info), name), free=self._is_plain(info, name))
        return found

    def _is_plain(self, info: ClassInfo, name: str) -> bool:
        """Whether an attribute is what `__init__` makes it, which was interpreted before."""
        engine = self._engine
        init = engine.method(info, "__init__")
        if init is not None:
            summary = engine.generic(init, engine.instance(info))
            if not self._earlier(summary) or isinstance(summary.self_writes.get(name), Unknown):
                return False
        bases = [base for base in engine.mro(info) if isinstance(base, ClassInfo)]
        others = [f for base in bases for f in (*base.stores.get(name, ()), *base.fills.get(name, ()))]
        return all(f.name == "__init__" for f in others) and not any(name in base.attributes for base in bases)

    def class_attribute(self, info: ClassInfo, name: str, receiver: Value | None) -> Value:
        found = self._engine.class_attribute(info, name, receiver)
        bases = [base for base in self._engine.mro(info) if isinstance(base, ClassInfo)]
        says = next((base for base in bases if name in base.methods or name in base.attributes), None)
        self.note(("class attribute", id(info), name), free=says is None or name in says.methods)
        return found

    def member(self, value: Value, name: str) -> Value:
        if isinstance(value, Class):
            return self.class_attribute(value.info, name, None)
        found = self._engine.member(value, name)
        self.note(("member", key(value), name), free=_is_definite(found) or not isinstance(value, Namespace))
        return found

    def evaluate(self, node: ast.expr, module: Any) -> Value:
        self.note(("value", node))
        return self._engine.evaluate(node, module)

    def init_attributes(self, info: ClassInfo) -> Any:
        self.note(("made", id(info)))
        return self._engine.init_attributes(info)

    def built_attributes(self, info: ClassInfo) -> Any:
        self.note(("built", id(info)))
        return self._engine.built_attributes(info)

    def top_level(self, module: Any) -> Any:
        self.note(("module", module))
        return self._engine.top_level(module)

    def add_compile_root(self, function: Value, fullgraph: bool = False) -> None:
        known = len(self._engine.compile_roots)
        self._engine.add_compile_root(function, fullgraph)
        for root, _ in self._engine.compile_roots[known:]:
            self.note(("summary", id(root)), (function,), free=self._earlier(root))


class _AskingScope:
    """The names of a module, to one function."""

    def __init__(self, engine: _Asking, scope: Scope) -> None:
        self.engine = engine
        self._scope = scope

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scope, name)

    def lookup(self, name: str) -> Value:
        found = self._scope.lookup(name)
        bound = name in self._scope.module.bindings or bool(self._scope.stars)
        self.engine.note(("name", id(self._scope), name), free=not bound or _is_definite(found))
        return found

    def static(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Name):
            return self.lookup(node.id)
        if isinstance(node, ast.Attribute):
            return self.engine.member(self.static(node.value), node.attr)
        return self._scope.static(node)

    def imports(self, statement: ast.Import | ast.ImportFrom) -> list[tuple[str, Value]]:
        self.engine.note(("import", statement))
        return self._scope.imports(statement)


def _is_definite(value: Value) -> bool:
    """Whether a name is found without interpreting anything: what defines or imports it says what it is."""
    return isinstance(value, (External, Class, Namespace, Function)) and not isinstance(value, Instance)
