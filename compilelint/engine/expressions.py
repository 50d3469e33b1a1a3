"""Expressions: from a syntax node to the value it yields, telling of what happens on the way."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from compilelint.engine.calls import Calls
from compilelint.engine.events import Branch, Compare, Convert, Iterate, Load, Loop, Read, Touch
from compilelint.engine.frame import Env
from compilelint.engine.narrow import Narrowing, narrow
from compilelint.engine.values import (
    BATCH,
    NEVER,
    NONE,
    OUTPUT,
    UNKNOWN,
    Class,
    Compiled,
    Const,
    External,
    Flow,
    Function,
    Instance,
    Map,
    Method,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    is_drawn,
    join,
    join_all,
    options,
    owner,
    tensor_of,
)
from compilelint.models import operators, sparse
from compilelint.models import tensors as tensor_model
from compilelint.source.walk import walk

MASK = re.compile(r"(?:^|_)masks?$")
MAX_ITEMS = 64  # of a literal; past that one value stands for all
MAX_NESTED = 16  # the same for containers of containers


class Expressions(Calls):
    def evaluate(self, node: ast.expr) -> Value:
        if self.env is None:
            return UNKNOWN
        handler = _HANDLERS.get(type(node))
        value = handler(self, node) if handler is not None else UNKNOWN
        if self.summary.values is not None:
            self.summary.values[node] = value
        return value

    def peek(self, node: ast.expr) -> Value:
        """The value of an expression, with no events and no effect on names."""
        if isinstance(node, ast.Name):
            return self.lookup(node.id)
        if isinstance(node, ast.Constant):
            return Const(node.value)
        env = self.env
        self.silent += 1
        try:
            self.env = dict(env) if env is not None else None
            return self.evaluate(node)
        finally:
            self.silent -= 1
            self.env = env

    # -- leaves ----------------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> Value:
        return Const(node.value)

    def _name(self, node: ast.Name) -> Value:
        value = self.lookup(node.id)
        if sparse.is_sparse(value):
            self._touch(node, value, self.env is not None and node.id not in self.summary.arguments)
        return value

    def _touch(self, node: ast.expr, value: Value, made_here: bool = False) -> None:
        if self.wants(Touch):
            self.emit(Touch(node, self.site, self.statement, value, made_here))

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr in self.tails and (path := self.dotted(node)) is not None and self.env is not None:
            known: Value | None = self.env.get(path)
            if known is not None:
                return known
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "super":
            return self.super_attribute(node.attr)
        base = self.evaluate(node.value)
        if not isinstance(base, (External, Unknown)) and self.wants(Load, target := f"{owner(base)}.{node.attr}"):
            self.emit(Load(node, self.site, self.statement, base, node.attr, target))
        value = self.attribute(base, node.attr, node)
        self.last_owner = node, base
        if isinstance(base, Instance) and sparse.holds_sparse(value):
            self._touch(node, value)
        return value

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        """`base.name` of a value."""
        match base:
            case Tensor():
                return tensor_model.attribute(self, base, name, node)
            case Instance():
                return self.instance_attribute(base, name, node)
            case Seq() | Map() | Const() | Scalar():
                return self.container_attribute(base, name)
            case Union():
                found = [
                    self.attribute(option, name, node)
                    for option in base.options
                    if not (isinstance(option, Const) and option.value is None)
                ]
                found = [value for value in found if value is not NEVER]
                return join_all(found) if found else UNKNOWN
            case Function() | Unknown():
                return UNKNOWN
        if isinstance(base, Compiled):
            return self.attribute(base.inner, name, node)
        if isinstance(base, Class) and name == "apply":
            return self._autograd_apply(base)
        return self.engine.member(base, name)

    def _autograd_apply(self, base: Class) -> Value:
        """`Function.apply`: forward runs with a context, and some time later backward."""
        if "torch.autograd.Function" not in self.engine.bases(base.info):
            return self.engine.member(base, "apply")
        backward = self.engine.method(base.info, "backward")
        if backward is not None and not self.silent:
            given = {a.arg: Tensor(origin=self.origin(a, "is a gradient")) for a in backward.node.args.args[1:]}
            known = {**self.engine.parameters(backward), **given}
            summary = self.engine.call(Function(backward), known)
            self.engine.edge(self.summary, summary, self.site, backward.node, self.statement, "")
        forward = self.engine.method(base.info, "forward")
        if forward is None:
            return UNKNOWN
        context = Instance(None, "torch.autograd.function.FunctionCtx")
        return Partial(Function(forward), (context,) if self.engine.method(base.info, "setup_context") is None else ())

    # -- containers ------------------------------------------------------------------------------------------------

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        kind = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}[type(node)]
        items: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(element.value)
                if isinstance(inner, Seq) and inner.items is not None:
                    items.extend(inner.items)
                else:
                    rest = [self.evaluate(e) for e in node.elts if not isinstance(e, ast.Starred)]
                    return Seq(kind, None, join_all([*rest, self.element_of(inner, element)]))
            else:
                items.append(self.evaluate(element))
        if len(items) > MAX_ITEMS or (len(items) > MAX_NESTED and any(isinstance(v, (Seq, Map)) for v in items)):
            return Seq(kind, None, join_all(items[:8]))
        return Seq(kind, tuple(items))

    def _dict(self, node: ast.Dict) -> Value:
        items: dict[Any, Value] = {}
        certain = True
        rest: list[Value] = []
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self.evaluate(value_node)
            if key_node is None:
                if isinstance(value, Map) and value.items is not None:
                    items.update(value.items)
                else:
                    certain = False
                    rest.append(value.element if isinstance(value, Map) else UNKNOWN)
                continue
            key = self.evaluate(key_node)
            if isinstance(key, Const) and isinstance(key.value, (str, int, bool, float, type(None))):
                items[key.value] = value
            else:
                certain = False
                rest.append(value)
        if certain and len(items) <= 200:
            return Map(items)
        return Map(None, UNKNOWN, join_all([*rest, *items.values()]))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        saved = self.env
        saved_loops = self.loops
        assert saved is not None
        self.env = dict(saved)
        single: Seq | None = None
        for index, generator in enumerate(node.generators):
            iterated = self.evaluate(generator.iter)
            loop = Loop(node, "comprehension", iterated, loads=self.is_loader(iterated))
            items = self.iterate(iterated, generator.iter, "comprehension")
            if index == 0 and len(node.generators) == 1 and isinstance(iterated, Seq) and iterated.items is not None:
                single = iterated if not generator.ifs else None
            self.loops = (*self.loops, loop)
            self.store(generator.target, items, generator.target)
            for test in generator.ifs:
                self.truth(test, "filter", generator)
                self.apply(narrow(self, test, True), gates=False)
                if not self.reachable:
                    self.env = dict(saved)
        result: Value
        if isinstance(node, ast.DictComp):
            key = self.evaluate(node.key)
            result = Map(None, key, self.evaluate(node.value))
        else:
            element = self.evaluate(node.elt)
            kind = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}[type(node)]
            if single is not None and single.items is not None and 0 < len(single.items) <= 8:
                result = Seq(kind, tuple(self._each(node, single.items)))
            else:
                result = Seq(kind, None, element)
        for loop in self.loops[len(saved_loops) :]:
            self.summary.loops.append(loop)
            self.loop_end(loop)
        self.loops = saved_loops
        self.env = saved
        return result

    def _each(self, node: Any, items: tuple[Value, ...]) -> list[Value]:
        """The elements of a comprehension over known items, one by one; their events were told already."""
        self.silent += 1
        found = []
        for item in items:
            self.store(node.generators[0].target, item, node)
            found.append(self.evaluate(node.elt))
        self.silent -= 1
        return found

    # -- operators ---------------------------------------------------------------------------------------------------

    def _binop(self, node: ast.BinOp) -> Value:
        left = self.evaluate(node.left)
        right = self.evaluate(node.right)
        if isinstance(node.op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
            for value in right.items or () if isinstance(right, Seq) else (right,):
                if self.has_tensor(value) and self.wants(Convert):
                    self.emit(Convert(node, self.site, self.statement, value, "%"))
            return Scalar("str", Flow.STATIC)
        return operators.binary(self, node, type(node.op), left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            truth = self.truth(node.operand, "not", node)
            if truth is not None:
                return Const(not truth)
            return self._truth_result(self.peek(node.operand), node)
        operand = self.evaluate(node.operand)
        return operators.unary(self, node, type(node.op), operand)

    def _boolop(self, node: ast.BoolOp) -> Value:
        kind = "and" if isinstance(node.op, ast.And) else "or"
        saved, gates = self.env, self.gates
        values: list[Value] = []
        for index, operand in enumerate(node.values):
            if index < len(node.values) - 1:
                truth = self.truth(operand, kind, node)
                value = self.peek(operand)
                if truth is not None and truth is not (kind == "and"):
                    values.append(value)
                    break
                if truth is None:
                    values.append(self._when(value, kind == "or"))
                self.apply(narrow(self, operand, kind == "and"))
                if self.env is None:
                    break
            else:
                values.append(self.evaluate(operand))
        walrus = self.env
        self.env, self.gates = saved, gates
        self._keep_walrus(node, saved, walrus)
        return join_all(values) if values else UNKNOWN

    @staticmethod
    def _when(value: Value, truth: bool) -> Value:
        """The value of an operand that ended an `and` (falsy) or an `or` (truthy)."""
        if truth and isinstance(value, Union):
            kept = tuple(v for v in value.options if not (isinstance(v, Const) and not v.value))
            return kept[0] if len(kept) == 1 else Union(kept, origin=value.origin) if kept else UNKNOWN
        if (
            not truth
            and isinstance(value, Union)
            and any(isinstance(v, Const) and v.value is None for v in value.options)
        ):
            kept = tuple(v for v in value.options if not isinstance(v, (Instance, Function, Class)))
            return kept[0] if len(kept) == 1 else Union(kept, origin=value.origin)
        return value

    def _compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        result: Value = UNKNOWN
        for index, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.evaluate(comparator)
            tensors = self.has_tensor(left) or self.has_tensor(right) or self._hold_tensors(left, right)
            if tensors and self.wants(Compare):
                self.emit(Compare(node, self.site, self.statement, left, right, _SYMBOLS[type(op)]))
            if len(node.ops) > 1 and self.wants(Branch):
                # a < t < b tests the first comparison's truth
                first = operators.compare(self, node, type(op), left, right)
                if index < len(node.ops) - 1 and self.has_tensor(first):
                    self.emit(Branch(node, self.site, self.statement, first, "and", node))
            result = operators.compare(self, node, type(op), left, right)
            left = right
        return result

    def _hold_tensors(self, left: Value, right: Value) -> bool:
        """Whether two containers are compared of which one certainly holds a tensor."""
        return (
            isinstance(left, Seq)
            and isinstance(right, Seq)
            and any(tensor_of(item) is not None for v in (left, right) for item in v.items or ())
        )

    def _ifexp(self, node: ast.IfExp) -> Value:
        truth = self.truth(node.test, "ifexp", node)
        saved = self.env
        gates = self.gates
        values: list[Value] = []
        for side, branch in ((True, node.body), (False, node.orelse)):
            if truth is not None and truth is not side:
                continue
            self.env = dict(saved) if saved is not None else None
            self.apply(narrow(self, node.test, side))
            if self.env is not None:
                values.append(self.evaluate(branch))
            self.gates = gates
        self.env = saved
        return join_all(values) if values else UNKNOWN

    def _namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind(node.target.id, value)
        return value

    def _lambda(self, node: ast.Lambda) -> Value:
        return self.function_value(node)

    def _joinedstr(self, node: ast.JoinedStr) -> Value:
        flow = Flow.STATIC
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.evaluate(part.value)
                if self.has_tensor(value) and self.wants(Convert):
                    kind = "str" if part.conversion == ord("r") else "format"
                    self.emit(Convert(part.value, self.site, self.statement, value, kind))
                if isinstance(value, Scalar):
                    flow = max(flow, value.flow)
                if isinstance(part.format_spec, ast.JoinedStr):
                    self._joinedstr(part.format_spec)
        if all(isinstance(p, ast.Constant) for p in node.values):
            return Const("".join(str(p.value) for p in node.values if isinstance(p, ast.Constant)))
        return Scalar("str", flow)

    def _starred(self, node: ast.Starred) -> Value:
        return self.evaluate(node.value)

    def _await(self, node: ast.Await) -> Value:
        return self.evaluate(node.value)

    def _yield(self, node: ast.Yield) -> Value:
        value = self.evaluate(node.value) if node.value is not None else NONE
        self.summary.yields = value if self.summary.yields is None else join(self.summary.yields, value)
        return UNKNOWN

    def _yieldfrom(self, node: ast.YieldFrom) -> Value:
        value = self.element_of(self.evaluate(node.value), node)
        self.summary.yields = value if self.summary.yields is None else join(self.summary.yields, value)
        return UNKNOWN

    def _slice(self, node: ast.Slice) -> Value:
        for bound in (node.lower, node.upper, node.step):
            if bound is not None:
                self.evaluate(bound)
        return External("slice")

    # -- subscripts ------------------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> Value:
        path = self.dotted(node) if self.paths else None
        if path is not None and self.env is not None:
            known: Value | None = self.env.get(path)
            if known is not None:
                return known
        base = self.evaluate(node.value)
        index = self.index_value(node.slice, base)
        if tensor_model.indexed(base, index):
            base = self.proved(node.value, node, "is indexed as tensors alone are")
        result = self.subscript(base, index, node)
        if (self.has_tensor(base) or self.has_tensor(index)) and self.wants(Read):
            self.emit(Read(node, self.site, self.statement, base, index, result))
        return result

    def index_value(self, node: ast.expr, base: Value) -> Value:
        """The value of what stands in the brackets; tensor bounds of a slice are told as conversions."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        for part in parts:
            if isinstance(part, ast.Slice):
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        value = self.evaluate(bound)
                        if tensor_of(value) is not None and self.wants(Convert):
                            self.emit(Convert(bound, self.site, self.statement, value, "slice"))
        if isinstance(node, ast.Tuple):
            return Seq("tuple", tuple(External("slice") if isinstance(p, ast.Slice) else self._index(p) for p in parts))
        if isinstance(node, ast.Slice):
            return External("slice")
        value = self._index(node)
        if tensor_of(value) is not None and isinstance(base, Seq) and self.wants(Convert):
            self.emit(Convert(node, self.site, self.statement, value, "index"))
        return value

    def _index(self, node: ast.expr) -> Value:
        """A part of an index: a tensor of unknown type that is called a mask is one, since numbers would be wrong."""
        value = self.evaluate(node)
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if isinstance(value, Tensor) and value.dtype is None and MASK.search(name):
            return replace(value, dtype="bool")
        return value

    def subscript(self, base: Value, index: Value, node: ast.AST) -> Value:
        match base:
            case Tensor():
                return tensor_model.read(self, base, index, node)
            case Seq():
                return self._item(base, index, node)
            case Map():
                if base.items is not None and isinstance(index, Const):
                    try:
                        return base.items.get(index.value, UNKNOWN)
                    except TypeError:
                        return UNKNOWN
                return base.any_item()
            case Instance():
                if base.external in (BATCH, OUTPUT):
                    return base
                return self.instance_item(base, index, node)
            case Union():
                found = [
                    self.subscript(option, index, node)
                    for option in base.options
                    if not (isinstance(option, Const) and option.value is None)
                ]
                return join_all(found) if found else UNKNOWN
            case Scalar(type="str") | Const(value=str()):
                return Scalar("str", Flow.STATIC)
            case Unknown() if (mask := tensor_model.mask_in(index)) is not None:
                # an array, perhaps, where the mask is on the host
                return Tensor(mask.device, dynamic=True, origin=self.origin(node, "is a boolean-mask read", mask))
        return UNKNOWN

    def _item(self, base: Seq, index: Value, node: ast.AST) -> Value:
        sliced = getattr(node, "slice", None)
        if isinstance(sliced, ast.Slice):
            if base.items is not None:
                bounds = [self._bound(b) for b in (sliced.lower, sliced.upper, sliced.step)]
                if all(b is not False for b in bounds):
                    return Seq(base.kind, base.items[slice(*bounds)], origin=base.origin)
            return Seq(base.kind, None, base.any_item(), origin=base.origin)
        position = index.value if isinstance(index, Const) else None
        if base.items is not None and type(position) is int and -len(base.items) <= position < len(base.items):
            return base.items[position]
        return base.any_item()

    def _bound(self, node: ast.expr | None) -> Any:
        """A slice bound as an int or None; False where it is not known."""
        if node is None:
            return None
        value = self.peek(node)
        return value.value if isinstance(value, Const) and type(value.value) is int else False

    # -- truth -----------------------------------------------------------------------------------------------------

    def truth(self, node: ast.expr, kind: str, owner: ast.AST) -> bool | None:
        """Test an expression as Python does: one Branch event for each operand that is put to the test."""
        match node:
            case ast.BoolOp(op=op, values=values):
                saved, gates = self.env, self.gates
                wanted = isinstance(op, ast.And)
                answer: bool | None = wanted
                for operand in values:
                    truth = self.truth(operand, kind, owner)
                    if truth is not None and truth is not wanted:
                        answer = truth  # decides the whole, whatever came before
                        break
                    if truth is None:
                        answer = None
                    self.apply(narrow(self, operand, wanted))
                    if self.env is None:
                        break
                inner, self.env, self.gates = self.env, saved, gates
                self._keep_walrus(node, saved, inner)
                return answer
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.truth(operand, kind, owner)
                return None if truth is None else not truth
        value = self.evaluate(node)
        self.tested(value, node, kind, owner)
        return self.truth_of(value)

    def tested(self, value: Value, node: ast.AST, kind: str, owner: ast.AST) -> None:
        """Python asks for the truth of a value: tell where that reads a tensor."""
        if self._testable(value):
            self.waited = self.waited or not is_drawn(value)
            if self.wants(Branch):
                self.emit(Branch(node, self.site, self.statement, value, kind, owner))

    def _keep_walrus(self, node: ast.AST, saved: Env | None, inner: Env | None) -> None:
        """Names bound by `:=` in an operand outlive what its test told."""
        if saved is None or inner is None or not self.module.wording.has_walrus:
            return
        for child in walk(node):
            if isinstance(child, ast.NamedExpr) and child.target.id in inner:
                self.bind(child.target.id, inner[child.target.id])

    @staticmethod
    def _testable(value: Value) -> bool:
        return any(isinstance(v, Tensor) or (isinstance(v, Scalar) and v.flow is Flow.DATA) for v in options(value))

    def truth_of(self, value: Value) -> bool | None:
        match value:
            case Const():
                return bool(value.value)
            case Function() | Class() | Method():
                return True
            case Instance() if value.isa("torch.nn.Module"):
                return None
            case Seq(items=items) if items is not None and value.kind in ("tuple", "list"):
                return None if value.kind == "list" else bool(items)
        return None

    def _truth_result(self, value: Value, node: ast.AST) -> Value:
        flow = Flow.STATIC
        for option in options(value):
            if isinstance(option, Tensor):
                flow = Flow.DATA
            elif isinstance(option, Scalar):
                flow = max(flow, option.flow)
        return Scalar("bool", flow, origin=self.origin(node, "is the truth of a tensor", value))

    def apply(self, narrowing: Narrowing, gates: bool = True) -> None:
        """Take over what a test told; the point becomes unreachable when it can't have come out so."""
        if narrowing.dead:
            self.env = None
            return
        if self.env is not None and narrowing.values:
            self.env = dict(self.env)  # whoever saved it goes on without what the test told
            for path, value in narrowing.values.items():
                self.put(path, value)
        if gates and narrowing.gates:
            self.gates = self.gates | narrowing.gates

    # -- iteration -------------------------------------------------------------------------------------------------

    def iterate(self, value: Value, node: ast.AST, kind: str) -> Value:
        """Python iterates over a value: tell of tensors, give an element."""
        told = (self.has_tensor(value) and tensor_of(value) is not None) or (
            self.is_loader(value) and not isinstance(value, Seq)  # enumerate tells of its loader
        )
        if told and self.wants(Iterate):
            self.emit(Iterate(node, self.site, self.statement, value, kind))
        return self.element_of(value, node)

    def is_loader(self, value: Value) -> bool:
        if isinstance(value, Seq):
            return value.kind == "loader"  # enumerate(loader)
        return isinstance(value, Instance) and (
            value.external in ("torch.utils.data.DataLoader", "<loader>")
            or "torch.utils.data.DataLoader" in value.bases
        )

    @staticmethod
    def has_tensor(value: Value) -> bool:
        if isinstance(value, Tensor):
            return True
        return isinstance(value, Union) and any(isinstance(v, Tensor) for v in value.options)


_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip

_HANDLERS: dict[type[ast.AST], Callable[[Expressions, Any], Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.List: Expressions._sequence,
    ast.Tuple: Expressions._sequence,
    ast.Set: Expressions._sequence,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.BinOp: Expressions._binop,
    ast.UnaryOp: Expressions._unaryop,
    ast.BoolOp: Expressions._boolop,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._ifexp,
    ast.NamedExpr: Expressions._namedexpr,
    ast.Lambda: Expressions._lambda,
    ast.JoinedStr: Expressions._joinedstr,
    ast.Starred: Expressions._starred,
    ast.Await: Expressions._await,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yieldfrom,
    ast.Slice: Expressions._slice,
    ast.Subscript: Expressions._subscript,
    ast.Call: Expressions.call_expression,
}
