"""What is remembered of a function interpreted in one context: its result, its events, and whom it calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from compilelint.engine.aside import SETUP
from compilelint.engine.events import Event, Loop, Rounds, Site
from compilelint.engine.values import UNKNOWN, Value
from compilelint.source.module import FunctionInfo, Module

Entry = Literal["", "split", "fullgraph"]


@dataclass(slots=True, eq=False)
class Edge:
    """A call from one context to another at `node`.

    `compiled`: through torch.compile, with fullgraph=True or not ("split"); `disabled`: by a decorator.
    """

    callee: Summary
    site: Site
    node: ast.AST
    statement: ast.stmt
    compiled: Entry = ""
    disabled: bool = False


@dataclass(slots=True, eq=False)
class Summary:
    """`info` is None for a module's top level. `arguments` are the parameters' values in this context."""

    module: Module
    info: FunctionInfo | None
    arguments: dict[str, Value] = field(default_factory=dict)
    generic: bool = False  # interpreted on its own, from annotations and use, not from a call
    builds: bool = False  # of an inherited method that set-up code calls
    cold: bool = False  # of a function of another part, interpreted for code that is never hot: for its values alone
    returns: Value = UNKNOWN
    yields: Value | None = None
    self_writes: dict[str, Value] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    # methods of objects that nobody knows: the name, and what is passed where tensors are among it
    unresolved: list[tuple[str, list[Value], dict[str, Value]]] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    body: Rounds = field(default_factory=Rounds)  # what happens outside the loops
    values: dict[ast.AST, Value] | None = None  # every expression's value; of other parts' functions not kept
    done: bool = False
    closure: object | None = None
    bound: Value | None = None

    @property
    def name(self) -> str:
        return self.info.id if self.info is not None else f"{self.module.name}:<module>"

    @property
    def sets_up(self) -> bool:
        return self.info is not None and self.info.name in SETUP

    @property
    def trains(self) -> bool:
        return any(loop.trains for loop in self.loops)
