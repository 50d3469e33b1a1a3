"""An engine that notes how each function came to be interpreted, so that one can be interpreted again on its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compilelint.engine.engine import Engine
from compilelint.engine.scope import Scope
from compilelint.engine.summary import Summary
from compilelint.engine.values import Function, Value
from compilelint.source.module import ClassInfo, FunctionInfo, Module


class Unsettled(Exception):
    """What is asked for again was not known by then, or only half."""


@dataclass(slots=True, eq=False)
class Execution:
    """One time that a function was interpreted: `silent` for what it sets alone; at which depth of calls, and when.

    `vague`: it was told something that was not final, or a bound was hit: another time it might be told otherwise.
    """

    summary: Summary
    silent: bool
    depth: int
    start: int
    end: int = 0
    vague: bool = False


class Noting(Engine):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.executions: dict[FunctionInfo, list[Execution]] = {}
        self.of: dict[Summary, Execution] = {}
        self.complete = False  # whether all has been interpreted
        self.replaying = False
        self.late = False  # whether something was interpreted after that that others go by
        self._passing: list[Summary] = []  # what else was: functions made anew where a rule asks for values
        self._stack: list[Execution] = []
        self._clock = 0
        self._asked: set[FunctionInfo | ClassInfo] = set()  # of which parameters, or what is built, are being found

    def vague(self) -> None:
        """What is being interpreted is told something that is not final."""
        if self.replaying:
            raise Unsettled
        for execution in reversed(self._stack):
            execution.vague = True
            if not execution.silent:
                break  # others get its result when it is done

    # -- what is interpreted -----------------------------------------------------------------------------------------

    def _begin(self, summary: Summary, *, silent: bool) -> Execution:
        if self.replaying:
            raise Unsettled
        if self.complete and summary.closure is not None:
            self._passing.append(summary)
        elif self.complete:
            self.late = True
        self._clock += 1
        execution = Execution(summary, silent, self.depth, self._clock)
        self.of[summary] = execution
        if summary.info is not None:
            self.executions.setdefault(summary.info, []).append(execution)
        self._stack.append(execution)
        return execution

    def _end(self, execution: Execution) -> None:
        self._stack.pop()
        self._clock += 1
        execution.end = self._clock

    def _interpret(self, summary: Summary) -> None:
        execution = self._begin(summary, silent=False)
        try:
            super()._interpret(summary)
        finally:
            self._end(execution)

    def _silently(self, probe: Summary) -> None:
        execution = self._begin(probe, silent=True)
        try:
            super()._silently(probe)
        finally:
            self._end(execution)

    def forget_passing(self) -> None:
        """Leaves all as it was when everything had been interpreted."""
        for summary in self._passing:
            execution = self.of.pop(summary)
            if summary.info is not None:
                self.executions[summary.info].remove(execution)
                contexts = self._contexts.get(summary.info, {})
                for context in [context for context, found in contexts.items() if found is summary]:
                    del contexts[context]
        self._passing.clear()

    # -- what is told before it is final -----------------------------------------------------------------------------

    def hit(self, bound: str) -> None:
        self.vague()
        super().hit(bound)

    def scope(self, module: Module) -> Scope:
        found = self._scopes.get(module.name)
        if found is None or found.module is not module:
            found = self._scopes[module.name] = _Scope(self, module)
        return found

    def generic(self, info: FunctionInfo, bound: Value | None = None, cold: bool = False) -> Summary:
        found = super().generic(info, bound, cold)
        if not found.done:
            self.vague()
        return found

    def call(
        self, function: Function, arguments: dict[str, Value], generic: bool = False, caller: Summary | None = None
    ) -> Summary:
        if self._active.get(function.info):
            self.vague()
        found = super().call(function, arguments, generic, caller)
        if not found.done:
            self.vague()
        return found

    def attribute(self, info: ClassInfo, name: str) -> Value | None:
        found = super().attribute(info, name)
        if (info, name) not in self._lazy_attrs and (info, name) not in self._unset:
            self.vague()
        return found

    def built_attributes(self, info: ClassInfo) -> Mapping[str, Value]:
        if info in self._asked:
            self.vague()
            return super().built_attributes(info)
        self._asked.add(info)
        try:
            found = super().built_attributes(info)
        finally:
            self._asked.discard(info)
        if info not in self._built:
            self.vague()
        return found

    def _writes(self, writer: FunctionInfo) -> tuple[Mapping[str, Value], bool]:
        writes, complete = super()._writes(writer)
        if not complete:
            self.vague()
        return writes, complete

    def parameters(self, info: FunctionInfo) -> dict[str, Value]:
        found = self._defaults.get(info)
        if found is not None:
            if info in self._asked:
                self.vague()
            return found
        self._asked.add(info)
        try:
            return super().parameters(info)
        finally:
            self._asked.discard(info)


class _Scope(Scope):
    engine: Noting

    def lookup(self, name: str) -> Value:
        if name in self.pending:
            self.engine.vague()
        return super().lookup(name)

    def own(self, name: str) -> Value | None:
        if name in self.pending:
            self.engine.vague()
        return super().own(name)
