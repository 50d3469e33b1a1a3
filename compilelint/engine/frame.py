"""The state of one function while it is interpreted: names, the site, and what is emitted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from compilelint.engine.events import Accumulate, Event, Loop, LoopEnd, Site
from compilelint.engine.summary import Summary
from compilelint.engine.values import UNKNOWN, Instance, Origin, Unknown, Value, join, same

if TYPE_CHECKING:
    from compilelint.engine.surroundings import Surroundings

Env = dict[str, Value]
NO_GATES: frozenset[str] = frozenset()


class Frame:
    """`env` maps names, and dotted paths such as `self.cache` where more is known than the class says, to values; None
    means that the point can't be reached."""

    def __init__(self, engine: Surroundings, summary: Summary) -> None:
        self.engine = engine
        self.summary = summary
        self.module = summary.module
        self.scope = engine.scope(summary.module)
        self.path = str(summary.module.path)
        self.env: Any = {}  # Env | None: calls change it, which mypyc would not look for after a test
        self.last_env: Env = {}
        self.parent: Frame | None = summary.closure if isinstance(summary.closure, Frame) else None
        self.me: str | None = None  # the name of `self`
        self.silent = 0
        self.loops: tuple[Loop, ...] = ()
        self.gates: frozenset[str] = NO_GATES
        self.protected = False
        self.branches = 0  # depth of conditional code, to tell a certain write from a possible one
        self.returned: Value | None = None  # by the return statements so far
        self.statement: ast.stmt = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
        self.globals: set[str] = set()
        self.paths: set[str] = set()  # the dotted names among those ever bound
        self.tails: set[str] = set()  # what stands in them after the last dot
        self.waited = False  # whether a truth test has read the device since this was last set to False
        self.last_owner: tuple[ast.AST | None, Value] = None, UNKNOWN  # the last attribute read, and whose it is
        self.encloses = False  # whether a function was defined in it
        self._site: Site | None = None

    def release(self) -> None:
        """Gives up what leads back to it: the functions defined in it, wherever they were put."""
        self.env, self.last_env, self.parent = None, {}, None
        self.returned, self.last_owner = None, (None, UNKNOWN)
        self.summary = Summary(self.module, None)

    @property
    def reachable(self) -> bool:
        """Whether control can get to this point."""
        return self.env is not None

    # -- names -----------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        env = self.env if self.env is not None else self.last_env
        value = env.get(name)
        if value is not None:
            return value
        frame = self.parent
        while frame is not None:
            value = (frame.env if frame.env is not None else frame.last_env).get(name)
            if value is not None:
                return value
            frame = frame.parent
        return self.scope.lookup(name)

    def bind(self, name: str, value: Value) -> None:
        """Give a name or a dotted path a value, and forget what was known of paths through it."""
        env = self.env
        if env is None:
            return
        if name in self.globals:
            return
        if self.paths:
            for path in [path for path in self.paths if path.startswith((name + ".", name + "["))]:
                env.pop(path, None)
        self.put(name, value)

    def put(self, path: str, value: Value) -> None:
        """Say more of what a name or path holds; what is known of paths through it stays."""
        if self.env is not None:
            if "." in path or "[" in path:
                self.paths.add(path)
                self.tails.add(path[path.rfind(".") + 1 :])
            self.env[path] = value

    def note_write(self, attribute: str, value: Value) -> None:
        """`self.attribute = value` happened."""
        writes = self.summary.self_writes
        before = writes.get(attribute)
        conditional = self.branches > 0 or bool(self.loops) or self.returned is not None
        writes[attribute] = join(before, value) if before is not None and conditional else value

    def dotted(self, node: ast.AST) -> str | None:
        """`a.b.c` as text for a chain of plain names, else None."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return None if base is None else f"{base}.{node.attr}"
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            base = self.dotted(node.value)
            return None if base is None else f"{base}[{node.slice.value}]"
        return None

    # -- origins and events ------------------------------------------------------------------------------------------

    def origin(self, node: ast.AST, why: str, parent: Value | None = None) -> Origin:
        return Origin(self.path, node, why, parent.origin if parent is not None else None)

    @property
    def site(self) -> Site:
        site = self._site
        if (
            site is None
            or site.loops is not self.loops
            or site.gates is not self.gates
            or site.protected != self.protected
        ):
            site = self._site = Site(self.loops, self.gates, self.protected)
        return site

    def wants(self, event: type[Event], target: str = "") -> bool:
        return not self.silent and self.env is not None and self.engine.interest.wants(event, target)

    def emit(self, event: Event) -> None:
        self.summary.events.append(event)

    def accumulate(self, node: ast.AST, name: str, operator: str, total: Value, value: Value) -> None:
        if self.loops and self.wants(Accumulate):
            self.emit(Accumulate(node, self.site, self.statement, name, operator, total, value, self.loops[-1]))

    def loop_end(self, loop: Loop) -> None:
        if self.wants(LoopEnd):
            statement = loop.node if isinstance(loop.node, ast.stmt) else self.statement
            self.emit(LoopEnd(loop.node, self.site, statement, loop))

    # -- joining paths -------------------------------------------------------------------------------------------------

    def merged(self, a: Env | None, b: Env | None) -> Env | None:
        if a is None:
            return b
        if b is None or a is b or a == b:  # values are equal when they are the same
            return a
        result: Env = {}
        for name, value in a.items():
            other = b.get(name)
            if other is value:
                result[name] = value
            elif other is not None:
                result[name] = join(value, other)
            elif "." not in name and "[" not in name:
                result[name] = value  # unbound on one path: using it there would raise
            elif (fallback := self._beyond(name)) is not None:
                result[name] = join(value, fallback)
        for name, value in b.items():
            if name not in a:
                if "." not in name and "[" not in name:
                    result[name] = value
                elif (fallback := self._beyond(name)) is not None:
                    result[name] = join(fallback, value)
        return result

    def _beyond(self, path: str) -> Value | None:
        """What a `self.x` path means where this function did not set it."""
        if self.me is None or not path.startswith(self.me + "."):
            return None
        rest = path[len(self.me) + 1 :]
        if "." in rest or "[" in rest:
            return None
        bound = self.summary.bound
        if not isinstance(bound, Instance) or bound.info is None:
            return None
        known = bound.attrs.get(rest)
        if known is not None:
            return known
        value = self.engine.attribute(bound.info, rest)
        return value if value is not None and not isinstance(value, Unknown) else None

    def stable(self, before: Env | None, after: Env | None) -> bool:
        if before is None or after is None:
            return before is after
        if before == after:
            return True
        if before.keys() != after.keys():
            return False
        return all(value is after[name] or same(value, after[name]) for name, value in before.items())
