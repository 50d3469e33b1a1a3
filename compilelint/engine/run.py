"""Statements: one function, or a module's top level, interpreted from its first to its last."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from compilelint.engine.events import PERIODIC, Define, Enter, Import, Loop, Raise, Store, Write
from compilelint.engine.expressions import Expressions
from compilelint.engine.frame import Env
from compilelint.engine.narrow import narrow
from compilelint.engine.values import (
    BATCH,
    NEVER,
    NONE,
    OUTPUT,
    UNKNOWN,
    Class,
    Const,
    External,
    Function,
    Instance,
    Map,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    join,
    join_all,
    owner,
    tensor_of,
)
from compilelint.finding import TOO_LONG
from compilelint.models import nn, operators, tensors
from compilelint.source.walk import nodes_of, walk

MAX_PASSES = 3
MAX_NESTED_PASSES = 3  # loops this deep or deeper are interpreted once
MAX_STATEMENTS = 40_000
LOOK_EVERY = 16  # statements: then at the clock
NAMES = 100  # to copy and join so many costs as much as a statement


class Run(Expressions):
    def execute(self) -> None:
        """Interpret the whole function; the summary receives what comes of it."""
        summary = self.summary
        if not self.silent and self.engine.home(summary.module):
            summary.values = {}
        self.breaks: list[list[Env]] = []
        self.continues: list[list[Env]] = []
        self.budget = MAX_STATEMENTS
        info = summary.info
        if info is None:
            self.block(self.module.tree.body)
            return
        env = dict(summary.arguments)
        node = info.node
        args = node.args.posonlyargs + node.args.args
        if summary.bound is not None and args:
            self.me = args[0].arg
            env[self.me] = summary.bound
        self.env = env
        if isinstance(node, ast.Lambda):
            self.statement = ast.copy_location(ast.Expr(node.body), node.body)
            summary.returns = self.evaluate(node.body)
            return
        self.block(node.body)
        summary.returns = self._outcome()

    def _outcome(self) -> Value:
        """What the function gives, by its return statements and by running off its end."""
        end = NONE if self.env is not None else None
        if self.env is not None:
            self.last_env = self.env
        if self.returned is None:
            return end if end is not None else NEVER
        return self.returned if end is None else join(self.returned, end)

    # -- control flow --------------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> None:
        gates = self.gates
        for statement in body:
            if self.env is None:
                break
            self.statement = statement
            self.budget -= 1
            if self.budget < 0:
                self.engine.hit(f"{TOO_LONG}{self.summary.name}")
                self.last_env, self.env = self.env, None
                break
            if not self.budget % LOOK_EVERY and self.engine.overdue(self.summary):
                self.last_env, self.env = self.env, None
                break
            handler = _STATEMENTS.get(type(statement))
            if handler is not None:
                handler(self, statement)
        self.gates = gates

    def _if(self, node: ast.If) -> None:
        self.waited = False
        truth = self.truth(node.test, "if", node)
        waits = self.waited
        before = self.env
        if before is None:
            return
        self.budget -= len(before) // NAMES  # which each side gets of its own
        gates = self.gates
        ends: list[Env | None] = []
        left: list[frozenset[str]] = []
        self.branches += 1
        for side, body, other in ((True, node.body, node.orelse), (False, node.orelse, node.body)):
            if truth is not None and truth is not side:
                ends.append(None)
                left.append(gates)
                continue
            self.env = dict(before)
            self.gates = gates
            self.apply(narrow(self, node.test, side))
            # what follows `if n % 8: raise` runs always, or never
            left.append(gates | (self.gates - PERIODIC) if other and isinstance(other[-1], ast.Raise) else self.gates)
            if waits:
                self.gates = self.gates | (
                    {"waited", "nonfinite"} if side and _asks_nonfinite(node.test) else {"waited"}
                )
            if side and self._fills_once(node):
                self.gates = self.gates | {"once"}
            if self.reachable and body:
                if isinstance(body[-1], ast.Raise):
                    self.gates = self.gates | {"raises"}
                self.block(body)
            ends.append(self.env)
        self.branches -= 1
        self.env = self.merged(ends[0], ends[1])
        if self.env is not None and len(self.env) > NAMES and self.engine.overdue(self.summary):
            self.env = None  # the last of thousands of `elif` is left here, and the next of them joins more
        # where one side left the block, what its test said holds for the rest of it
        self.gates = left[1] if ends[0] is None and ends[1] is not None else left[0] if ends[1] is None else gates
        if ends[0] is None and self._left_once_done(node):
            self.gates = self.gates | {"once"}
        if self.env is None:
            self.last_env = before

    def _fills_once(self, node: ast.If) -> bool:
        """`if self.table is None: self.table = …`, which no argument decides: what stands in it runs once.

        So does `if key not in table: table[key] = …`, for each key.
        """
        match node.test:
            case ast.Compare(left=ast.Attribute() as target, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
                return self._fills(self.dotted(target), node.body)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
                return self._fills_looked_up(name, node.body) or (
                    bool(self.loops) and _binds_first(self.loops[-1].node, name, node.body)
                )
            case ast.Compare(left=sought, ops=[ast.NotIn()], comparators=[table]):
                return self._fills_place(table, sought, node.body)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute() as flag):
                return self._fills(self.dotted(flag), node.body, with_true=True)
            case ast.UnaryOp(
                op=ast.Not(),
                operand=ast.Call(
                    func=ast.Name(id="hasattr"), args=[ast.Name(id=owner), ast.Constant(value=str(name))], keywords=[]
                ),
            ):
                return self._fills(f"{owner}.{name}", node.body) or (owner == self.me and self._sets(name))
        return False

    def _fills_place(self, table: ast.expr, sought: ast.expr, body: list[ast.stmt]) -> bool:
        """Whether statements set `table[sought]`, of a table that outlives the call."""
        place = ast.dump(table), ast.dump(sought)
        filled = [t for s in body for n in walk(s) if isinstance(n, ast.Assign) for t in n.targets]
        is_set = any(isinstance(t, ast.Subscript) and (ast.dump(t.value), ast.dump(t.slice)) == place for t in filled)
        return is_set and self._outlives(table)

    def _fills_looked_up(self, name: str, body: list[ast.stmt]) -> bool:
        """The same of what `name = table.get(sought)` did not find."""
        match self._assigned(name)[:1]:
            case [ast.Call(func=ast.Attribute(value=table, attr="get"), args=[sought, *_])]:
                return self._fills_place(table, sought, body)
        return False

    def _outlives(self, table: ast.expr) -> bool:
        """Whether a table is an object's, a module's or an outer function's."""
        match table:
            case ast.Attribute():
                return True
            case ast.Subscript(value=outer):
                return self._outlives(outer)
            case ast.Name(id=name):
                values = self._assigned(name)
                if values:
                    return all(isinstance(value, ast.Attribute) for value in values)
                return self.summary.info is not None and self.env is not None and name not in self.env
        return False

    def _assigned(self, name: str) -> list[ast.expr]:
        """What the function at hand sets a name to, in the order of the source."""
        info = self.summary.info
        assigned = nodes_of(info.node, ast.Assign) if info is not None else ()
        return [node.value for node in assigned if _binds(node, name)]

    def _sets(self, name: str) -> bool:
        """Whether a method of the class at hand sets an attribute."""
        cls = self.summary.info.cls if self.summary.info is not None else None
        return cls is not None and name in cls.stores

    def _left_once_done(self, node: ast.If) -> bool:
        """`if self.ready: return`, `if key in table: return`, where what follows sets it: that runs once."""
        info = self.summary.info
        if (
            info is None
            or not isinstance(node.body[-1], ast.Return)
            or node.orelse
            or not isinstance(info.node.body, list)
        ):
            return False
        rest = [s for s in info.node.body if s.lineno > node.lineno]
        match node.test:
            case ast.Attribute():
                return self._fills(self.dotted(node.test), rest, with_true=True)
            case ast.Compare(left=ast.Attribute() as target, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                return self._fills(self.dotted(target), rest)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                return self._fills_looked_up(name, rest)
            case ast.Compare(left=sought, ops=[ast.In()], comparators=[table]):
                return self._fills_place(table, sought, rest)
        return False

    def _fills(self, path: str | None, body: list[ast.stmt], with_true: bool = False) -> bool:
        """Whether statements assign to an attribute what no argument decides; `with_true`: the constant True."""
        filled = [s.value for s in body if isinstance(s, ast.Assign) and self.dotted(s.targets[0]) == path]
        if path is None or not filled:
            return False
        if with_true:
            return any(isinstance(value, ast.Constant) and value.value is True for value in filled)
        names = {n.id for value in filled for n in walk(value) if isinstance(n, ast.Name)}
        return not names & (self.summary.arguments.keys() - {self.me})

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, loop: Loop, enter: Callable[[], None]) -> None:
        """Interpret a loop's body until nothing changes; only the events of the last pass are kept."""
        before = self.env
        assert before is not None
        loops, gates = self.loops, self.gates
        self.loops = (*loops, loop)
        events, edges, known = self.summary.events, self.summary.edges, self.summary.loops
        marks = len(events), len(edges), len(known)
        state: Env | None = before
        exits: list[Env] = []
        passes = 1 if len(loops) >= MAX_NESTED_PASSES else MAX_PASSES
        for attempt in range(passes):
            del events[marks[0] :], edges[marks[1] :], known[marks[2] :]
            self.env = dict(state) if state is not None else None
            self.breaks.append([])
            self.continues.append([])
            self.gates = gates
            self.statement = node
            enter()
            entered = self.env
            if self.env is not None:
                self.block(node.body)
            end = self.env
            for env in self.continues.pop():
                end = self.merged(end, env)
            exits = self.breaks.pop()
            if isinstance(node, ast.While) and entered is None and attempt == 0:
                break
            joined = self.merged(before, end)
            if self.stable(state, joined):
                break
            state = joined
        self.loops, self.gates = loops, gates
        self.summary.loops.append(loop)
        self.env = self.merged(state, before)
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        if endless and (exits or passes > 1):
            self._leave()
        elif self.env is not None and node.orelse:
            self.block(node.orelse)
        for env in exits:
            self.env = self.merged(self.env, env)
        self.loop_end(loop)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        iterated = self.evaluate(node.iter)
        element = self.iterate(iterated, node.iter, "for")
        loop = Loop(node, "for", iterated, loads=self.is_loader(iterated))
        self._loop(node, loop, lambda: self.store(node.target, element, node))

    def _while(self, node: ast.While) -> None:
        loop = Loop(node, "while")

        def enter() -> None:
            truth = self.truth(node.test, "while", node)
            if truth is False:
                self.env = None
            else:
                self.apply(narrow(self, node.test, True))

        self._loop(node, loop, enter)
        if self.env is not None and not (isinstance(node.test, ast.Constant) and node.test.value):
            self.apply(narrow(self, node.test, False), gates=False)

    def _break(self, node: ast.Break) -> None:
        if self.env is not None and self.breaks:
            self.breaks[-1].append(self.env)
        self._leave()

    def _continue(self, node: ast.Continue) -> None:
        if self.env is not None and self.continues:
            self.continues[-1].append(self.env)
        self._leave()

    def _leave(self) -> None:
        if self.env is not None:
            self.last_env = self.env
        self.env = None

    def _return(self, node: ast.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else NONE
        self.returned = value if self.returned is None else join(self.returned, value)
        self._leave()

    def _raise(self, node: ast.Raise) -> None:
        gates = self.gates
        self.gates = gates | {"raises"}
        message: Value | None = None
        where: ast.AST | None = None
        if node.exc is not None:
            self.evaluate(node.exc)
            if isinstance(node.exc, ast.Call) and node.exc.args:
                where = node.exc.args[0]
                message = self.peek(node.exc.args[0])
        if self.wants(Raise):
            self.emit(Raise(node, self.site, self.statement, "raise", message, where))
        self.gates = gates
        self._leave()

    def _try(self, node: ast.Try) -> None:
        before = dict(self.env) if self.env is not None else None
        protected = self.protected
        self.protected = protected or bool(node.handlers)
        self.branches += 1
        self.block(node.body)
        after = self.env
        self.protected = protected
        if after is not None and node.orelse:
            self.block(node.orelse)
            after = self.env
        gates = self.gates
        ends = [after]
        start = self.merged(before, after if after is not None else self.last_env)
        certain = any(isinstance(statement, ast.Raise) for statement in node.body)
        for handler in node.handlers:
            self.env = dict(start) if start is not None else None
            self.gates = gates if certain else gates | {"handler"}
            if handler.name and self.env is not None:
                self.bind(handler.name, UNKNOWN)
            self.block(handler.body)
            ends.append(self.env)
        self.gates = gates
        self.branches -= 1
        result: Env | None = None
        for env in ends:
            result = self.merged(result, env)
        self.env = result
        if node.finalbody:
            reachable = self.env is not None
            if not reachable:
                self.env = dict(start) if start is not None else None
            self.block(node.finalbody)
            if not reachable:
                self._leave()

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        protected = self.protected
        for item in node.items:
            value = self.evaluate(item.context_expr)
            target = self._context_target(item.context_expr)
            if self.wants(Enter, target):
                kept = self._is_kept(item.context_expr, value)
                self.emit(Enter(item.context_expr, self.site, self.statement, value, target, kept))
            if item.optional_vars is not None:
                entered = value
                if isinstance(value, Instance) and value.info is not None:
                    method = self.engine.method(value.info, "__enter__")
                    entered = self.call_back(Function(method, bound=value), [], node) if method is not None else value
                elif isinstance(value, Seq) and value.kind == "generator":
                    entered = value.any_item()
                elif isinstance(value, Instance) and value.external != "torch.profiler.profile":
                    entered = value
                self.store(item.optional_vars, entered, node)
            if not target.startswith(("torch.", "contextlib.")):
                self.protected = True
        self.block(node.body)
        self.protected = protected

    def _is_kept(self, node: ast.expr, value: Value) -> bool:
        """Whether a context manager of the project was made before this function runs, as far as its source tells."""
        if not isinstance(value, Instance) or value.info is None or value.origin is None:
            return False
        if any(base.startswith("torch.") and base != "torch.nn.Module" for base in value.bases):
            return False  # torch's own kinds Dynamo may know
        if self.engine.method(value.info, "__enter__") is None:
            return False
        if isinstance(node, ast.Attribute):
            owner = self.peek(node.value)
            if isinstance(owner, Instance) and owner.info is not None and self.engine.method(owner.info, node.attr):
                return False  # a property may make it
            if isinstance(owner, Instance) and owner.isa("torch.nn.Module"):
                return True
        if isinstance(node, ast.Name) and node.id not in (self.env or {}) and self.parent is None:
            return True
        return isinstance(value.origin.node, ast.arg)

    def _context_target(self, node: ast.expr) -> str:
        """The canonical name of an outside context manager."""
        if isinstance(node, ast.Call):
            callee = self.peek(node.func)
            if isinstance(callee, External):
                return callee.name
            return ""
        value = self.peek(node)
        if isinstance(value, Instance) and value.external:
            return value.external
        return ""

    def _match(self, node: ast.Match) -> None:
        subject = self.evaluate(node.subject)
        before = self.env
        result: Env | None = before
        self.branches += 1
        for case in node.cases:
            self.env = dict(before) if before is not None else None
            if isinstance(case.pattern, ast.MatchValue):
                self.tested(subject, case.pattern.value, "if", node)  # `case 3` asks `subject == 3`
            for pattern in walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str) and self.env is not None:
                    self.bind(name, UNKNOWN)
            if case.guard is not None and self.env is not None:
                self.statement = node
                self.truth(case.guard, "if", node)
            self.block(case.body)
            result = self.merged(result, self.env)
        self.branches -= 1
        self.env = result

    # -- simple statements ---------------------------------------------------------------------------------------------

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        if self.loops and len(node.targets) == 1:
            self._carried(node, node.targets[0], node.value)
        for target in node.targets:
            self.store(target, value, node)

    def _carried(self, node: ast.Assign, target: ast.expr, value: ast.expr) -> None:
        """`total = total + x` in a loop."""
        path = self.dotted(target)
        if path is None or not isinstance(value, ast.BinOp) or self.dotted(value.left) != path:
            return
        right = self.peek(value.right)
        if tensor_of(right) is not None:
            self.accumulate(node, path, operators.SYMBOLS.get(type(value.op), "?"), self.peek(value.left), right)

    def _annassign(self, node: ast.AnnAssign) -> None:
        from compilelint.engine.annotations import annotated

        value: Value = self.evaluate(node.value) if node.value is not None else UNKNOWN
        if isinstance(value, Unknown):
            value = annotated(node.annotation, self.scope, self.path, node.target)
        if node.value is not None:
            self.store(node.target, value, node)

    def _augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        value = self.evaluate(node.value)
        symbol = operators.SYMBOLS.get(type(node.op), "?")
        if isinstance(target, ast.Subscript):
            base = self.evaluate(target.value)
            index = self.index_value(target.slice, base)
            if self.wants(Write) and (self.has_tensor(base) or self.has_tensor(index)):
                self.emit(Write(target, self.site, self.statement, base, index, value, symbol))
            return
        before = self.peek(target)
        path = self.dotted(target)
        if path is not None and tensor_of(value) is not None:
            self.accumulate(node, path, symbol, before, value)
        result = operators.binary(self, node, type(node.op), before, value)
        if isinstance(before, Seq) and isinstance(node.op, ast.Add):
            element = self.element_of(value, node)
            result = Seq(before.kind, None, element if before.items == () else join(before.any_item(), element))
        self.store(target, result, node)

    def store(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        """Assign a value to a target of any form."""
        if self.summary.values is not None:
            self.summary.values[target] = value
        match target:
            case ast.Name(id=name):
                self.bind(name, value)
            case ast.Attribute():
                self._store_attribute(target, value)
            case ast.Subscript():
                self._store_item(target, value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                self._unpack(elements, value, target)
            case ast.Starred(value=inner):
                self.store(inner, value, node)

    def _store_attribute(self, target: ast.Attribute, value: Value) -> None:
        base = self.evaluate(target.value)
        if not isinstance(base, Unknown) and self.wants(Store, name := f"{owner(base)}.{target.attr}"):
            self.emit(Store(target, self.site, self.statement, base, target.attr, value, name))
        path = self.dotted(target)
        if path is None:
            return
        self.bind(path, value)
        if self.me is not None and isinstance(target.value, ast.Name) and target.value.id == self.me:
            self.note_write(target.attr, value)

    def _store_item(self, target: ast.Subscript, value: Value) -> None:
        base = self.evaluate(target.value)
        index = self.index_value(target.slice, base)
        mask = tensors.mask_in(index)
        if tensors.indexed(base, index):
            base = self.proved(target.value, target, "is indexed as tensors alone are")
        elif isinstance(base, Unknown) and mask is not None:
            base = Tensor(mask.device, origin=self.origin(target, "is written by a mask", mask))
            if (name := self.dotted(target.value)) is not None:
                self.bind(name, base)
        if (self.has_tensor(base) or self.has_tensor(index)) and self.wants(Write):
            self.emit(Write(target, self.site, self.statement, base, index, value))
        path = self.dotted(target.value)
        if path is None or self.env is None:
            return
        before = self.env.get(path)
        self._put_item(path, base, index, value)
        changed = self.env.get(path)
        if changed is not None and changed is not before and self.me is not None:
            owner, _, name = path.rpartition(".")
            if owner == self.me:
                self.note_write(name, changed)

    def _put_item(self, path: str, base: Value, index: Value, value: Value) -> None:
        """The container at `path` holds `value` from here on."""
        if isinstance(base, Map):
            if base.items is not None and isinstance(index, Const) and isinstance(index.value, (str, int)):
                certain = not self.loops and not self.branches
                items = dict(base.items)
                items[index.value] = value if certain or index.value not in items else join(items[index.value], value)
                self.put(path, Map(items, origin=base.origin))
            else:
                known = base.any_item() if base.items != {} else value
                self.put(path, Map(None, join(base.key, index), join(known, value), origin=base.origin))
        elif isinstance(base, Seq) and base.kind == "list":
            self.put(path, Seq("list", None, join(base.any_item(), value) if base.items != () else value))
        elif isinstance(base, Instance) and base.external in nn.CONTAINERS:
            self.put(path, nn.grown(base, value))

    def _unpack(self, elements: list[ast.expr], value: Value, target: ast.AST) -> None:
        star = next((i for i, e in enumerate(elements) if isinstance(e, ast.Starred)), None)
        if isinstance(value, Union) and star is None:
            # of a tuple of just as many, or something else, the tuple is meant
            parts = [self.parts(v, target) or v if isinstance(v, Instance) else v for v in value.options]
            fitting = [v for v in parts if isinstance(v, Seq) and len(v.items or ()) == len(elements)]
            value = join_all(fitting) if fitting else value
        if isinstance(value, Instance):
            value = self.parts(value, target) or value
        if isinstance(value, Seq) and value.items is not None:
            items = value.items
            if star is None and len(items) == len(elements):
                for element, item in zip(elements, items, strict=True):
                    self.store(element, item, target)
                return
            if star is not None and len(items) >= len(elements) - 1:
                tail = len(elements) - star - 1
                middle = Seq("list", tuple(items[star : len(items) - tail]))
                parts = [*items[:star], middle, *items[len(items) - tail :]]
                for element, item in zip(elements, parts, strict=True):
                    self.store(element, item, target)
                return
        if isinstance(value, Instance) and value.external in (BATCH, OUTPUT):
            part: Value = value
        elif isinstance(value, Tensor):
            part = self.iterate(value, target, "unpack")
        else:
            part = self.element_of(value, target)
        for element in elements:
            self.store(element, Seq("list", None, part) if isinstance(element, ast.Starred) else part, target)

    def _assert(self, node: ast.Assert) -> None:
        self.truth(node.test, "assert", node)
        if node.msg is not None:
            gates = self.gates
            self.gates = gates | {"raises"}
            message = self.evaluate(node.msg)
            self.gates = gates
            if self.wants(Raise):
                self.emit(Raise(node, self.site, self.statement, "assert", message, node.msg))
        self.apply(narrow(self, node.test, True, asserted=True), gates=False)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            path = self.dotted(target)
            if path is not None and self.env is not None:
                self.env.pop(path, None)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [self.evaluate(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list]
        if self.summary.info is None:
            value = self.scope.lookup(node.name)
            if isinstance(value, Unknown):
                value = self.function_value(node)
            info = self.module.function_of.get(node)
            if info is not None:
                value = self.engine.decorated(Function(info), info, self.scope)
        else:
            function = self.function_value(node)
            assert isinstance(function, Function)
            value = self.engine.decorated(function, function.info, self.scope)
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.evaluate(default)
        if self.module.wording.has_nonlocal and self.env is not None:
            for child in walk(node):  # what an inner function binds anew may be anything from here on
                for name in child.names if isinstance(child, ast.Nonlocal) else ():
                    if name in self.env:
                        self.bind(name, UNKNOWN)
        if self.wants(Define) and (decorators or self.summary.info is not None):
            self.emit(Define(node, self.site, self.statement, "def", node.name, tuple(decorators)))
        self.bind(node.name, value)

    def _class(self, node: ast.ClassDef) -> None:
        info = self.module.class_of.get(node)
        if info is None:
            return
        if self.summary.info is not None and self.wants(Define):
            self.emit(Define(node, self.site, self.statement, "class", node.name))
        self.bind(node.name, Class(info))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if self.summary.info is None and self.scope.is_sole(node):
            return  # each is looked up when it is asked for
        names = []
        for name, value in self.scope.imports(node):
            names.append(name)
            self.bind(name, value)
        if self.summary.info is not None and self.wants(Import):
            self.emit(Import(node, self.site, self.statement, tuple(names)))

    def _global(self, node: ast.Global) -> None:
        self.globals.update(node.names)


_STATEMENTS: dict[type[ast.stmt], Callable[[Run, Any], None]] = {
    ast.If: Run._if,
    ast.For: Run._for,
    ast.AsyncFor: Run._for,
    ast.While: Run._while,
    ast.Break: Run._break,
    ast.Continue: Run._continue,
    ast.Return: Run._return,
    ast.Raise: Run._raise,
    ast.Try: Run._try,
    ast.With: Run._with,
    ast.AsyncWith: Run._with,
    ast.Match: Run._match,
    ast.Expr: Run._expr,
    ast.Assign: Run._assign,
    ast.AnnAssign: Run._annassign,
    ast.AugAssign: Run._augassign,
    ast.Assert: Run._assert,
    ast.Delete: Run._delete,
    ast.FunctionDef: Run._define,
    ast.AsyncFunctionDef: Run._define,
    ast.ClassDef: Run._class,
    ast.Import: Run._import,
    ast.ImportFrom: Run._import,
    ast.Global: Run._global,
}
if hasattr(ast, "TryStar"):  # from Python 3.11 on
    _STATEMENTS[ast.TryStar] = Run._try


def _binds_first(loop: ast.AST, name: str, body: list[ast.stmt]) -> bool:
    """`if total is None: total = …`, where nothing else in the loop makes it None again: the first round alone."""
    stores = [n for n in walk(loop) if isinstance(n, (ast.Assign, ast.AnnAssign, ast.For)) and _binds(n, name)]
    reset = any(isinstance(getattr(n, "value", None), ast.Constant) or isinstance(n, ast.For) for n in stores)
    return not reset and any(_binds(s, name) for s in body)


def _binds(node: ast.AST, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    return any(isinstance(t, ast.Name) and t.id == name for t in targets)


def _asks_nonfinite(test: ast.expr) -> bool:
    """`torch.isnan(x).any()`, `isnan(x).any() or isinf(x).any()`: true only when something went wrong."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return all(map(_asks_nonfinite, values))
        case ast.Call(func=ast.Attribute(value=inner, attr="any" | "item")) if isinstance(inner, ast.Call):
            return _asks_nonfinite(inner)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[inner]) if name in ("any", "bool"):
            return _asks_nonfinite(inner)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in ("isnan", "isinf")
    return False
