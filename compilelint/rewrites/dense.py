"""Rows picked by a mask, worked on and put back, as work on all rows of which the mask keeps some.

`rows = (pick == i).nonzero().squeeze(-1); out[rows] = expert(x[rows])` is `out = torch.where(mask, expert(x), out)`,
given that each row of the result depends on the same row of `x` alone. More is computed; no shape depends on data.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import External, Instance, tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import alike, is_host_number, names_in, target_names
from compilelint.rewrites.flow import used_after
from compilelint.source.walk import named, nodes_of, walk

if TYPE_CHECKING:
    from compilelint.engine.events import Event
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

ROWWISE = frozenset(words("relu gelu silu sigmoid tanh softplus elu leaky_relu mish hardswish abs neg square clamp"))
CASTS = frozenset(words("to float half bfloat16 double type type_as contiguous clone detach"))
MODULES = frozenset(
    words("Linear LayerNorm RMSNorm ReLU GELU SiLU Sigmoid Tanh Identity ELU LeakyReLU Mish Softplus Sequential")
)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
COUNTS = ("numel", "nelement")


class NotDense(Exception):
    """The code is not of a form that can be worked on whole."""


@dataclass
class Pick:
    """The rows where `mask` holds, under the names that stand for them: one for each dimension of the mask."""

    mask: ast.expr
    names: tuple[str, ...]
    row: str = ""  # the one by which rows are put back


@dataclass
class Body:
    """The statements between the mask and the place where its rows are put back, read one by one."""

    ctx: Context
    picks: list[Pick] = field(default_factory=list)
    inlined: dict[str, ast.expr] = field(default_factory=dict)
    masks: dict[str, ast.expr] = field(default_factory=dict)
    kept: list[ast.stmt] = field(default_factory=list)
    put: tuple[str, ast.expr, str, Pick] | None = None  # target, value, "set" or "add", of which rows
    rank: int | None = None  # of the target

    @property
    def put_into(self) -> str:
        return self.put[0] if self.put is not None else ""

    @property
    def bound(self) -> set[str]:
        """The names that are gone when all rows are worked on."""
        return {*self.inlined, *(name for pick in self.picks for name in pick.names)}

    def read(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.put is not None:
                raise NotDense
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If(test=test, body=[ast.Continue()], orelse=[]) if self._asks_none(test):
                return
            case ast.If(test=test, body=body, orelse=[]) if self._asks_some(test):
                self.read(body)
                return
            case ast.Assign(targets=[target], value=value) if (pick := self._picked(target, value)) is not None:
                self.picks.append(pick)
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if self._is_of_rows(value):
                    if name in self.inlined or name in names_in(value):
                        raise NotDense  # a name stands for one expression
                    self.inlined[name] = value
                else:
                    if any(name in names_in(each) for each in self.inlined.values()):
                        raise NotDense  # what it stands for is another tensor from here on
                    if _is_bool(value, self.ctx):
                        self.masks[name] = value
                    self.kept.append(statement)
                return
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=out) as target, slice=index)], value=value):
                self.rank = tensor_rank(target, self.ctx)
                self.put = (out, value, "set", self._pick_of(index))
                return
            case ast.AugAssign(
                target=ast.Subscript(value=ast.Name(id=out) as target, slice=index), op=ast.Add(), value=value
            ):
                self.rank = tensor_rank(target, self.ctx)
                self.put = (out, value, "add", self._pick_of(index))
                return
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=out), attr=method), args=args)):
                match method, args:
                    case "index_add_" | "index_copy_", [ast.Constant(value=0), index, value]:
                        how = "add" if method == "index_add_" else "set"
                        self.put = (out, value, how, self._pick_of(index))
                        return
            case ast.Assign(
                targets=[ast.Name(id=out)],
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=same), attr="index_add" | "index_copy" as method),
                    args=[ast.Constant(value=0), index, value],
                ),
            ) if out == same:
                self.put = (out, value, "add" if method == "index_add" else "set", self._pick_of(index))
                return
        raise NotDense

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _picked(self, target: ast.expr, value: ast.expr) -> Pick | None:
        """`rows = mask.nonzero().squeeze(-1)`, `b, k = torch.where(mask)` and the like."""
        mask, taken = _nonzero(value, self.ctx)
        if mask is None:
            return None
        match target:
            case ast.Name(id=name):  # of several dimensions: as one index of all of them
                return Pick(mask, (name,))
            case ast.Tuple(elts=elts) if taken == "tuple" and all(isinstance(e, ast.Name) for e in elts):
                return Pick(mask, tuple(e.id for e in elts if isinstance(e, ast.Name)))
        return None

    def _pick_of(self, index: ast.expr) -> Pick:
        """The rows that an index stands for: a name of theirs, or the mask itself."""
        for pick in self.picks:
            if isinstance(index, ast.Name) and index.id in pick.names:
                return Pick(pick.mask, pick.names, index.id)
            if len(pick.names) == 1 and _is_of_columns(index, pick.names[0]):
                return Pick(pick.mask, pick.names, pick.names[0])
        if (isinstance(index, ast.Name) and index.id in self.masks) or _is_bool(index, self.ctx):
            return Pick(index, ())
        raise NotDense

    def _is_of_rows(self, node: ast.expr) -> bool:
        names = {name for pick in self.picks for name in pick.names} | set(self.inlined)
        if names_in(node) & names:
            return True
        return any(
            isinstance(n, ast.Subscript)
            and ((isinstance(n.slice, ast.Name) and n.slice.id in self.masks) or _is_bool(n.slice, self.ctx))
            for n in walk(node)
        )

    def _asks_some(self, test: ast.expr) -> bool:
        """`mask.any()`, `rows.numel() > 0`, `len(rows)`, `rows.shape[0] > 0`."""
        match test:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="any"), args=[], keywords=[]):
                return name in self.masks
            case ast.Call(func=ast.Attribute(attr="any"), args=[ast.Name(id=name)], keywords=[]):
                return name in self.masks
            case ast.Compare(left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]):
                return self._is_count(left)
        return self._is_count(test)

    def _asks_none(self, test: ast.expr) -> bool:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._asks_some(inner)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
                return self._is_count(left)
        return False

    def _is_count(self, node: ast.expr) -> bool:
        names = {name for pick in self.picks for name in pick.names}
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[]) if method in COUNTS:
                return name in names
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                return name in names
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=0)):
                return name in names
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[ast.Constant(value=0)]):
                return name in names
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="sum"), args=[]):
                return name in self.masks
        return False


@dataclass
class Whole:
    """Writes an expression over picked rows as one over all rows. `weights` are factors that rows are picked from
    together with another index: `w[b, k, None]`."""

    body: Body
    pick: Pick
    weights: list[ast.expr] = field(default_factory=list)

    def value(self, node: ast.expr) -> ast.expr:
        """The same for all rows; NotDense where a row may depend on others."""
        new = self._rows(node, outermost=True)
        if new is None or isinstance(new, ast.Constant) or self._still_picks(new):
            raise NotDense
        return new

    def _still_picks(self, node: ast.expr) -> bool:
        """Whether an expression over all rows still reads the mask, or picks by one: `p[mask, i]`."""
        return any(
            isinstance(n, ast.expr)
            and (alike(n, self.pick.mask) or (isinstance(n, ast.Name) and n.id in self.pick.names))
            for n in walk(node)
        ) or any(
            _is_bool(index, self.body.ctx)
            for n in walk(node)
            if isinstance(n, ast.Subscript)
            for index in (n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice])
        )

    def _rows(self, node: ast.expr, outermost: bool = False) -> ast.expr | None:
        """None for what has nothing to do with rows; a weight, which must be a factor of the whole, becomes a 1."""
        ctx = self.body.ctx
        match node:
            case ast.Name(id=name) if name in self.body.inlined:
                return self._rows(self.body.inlined[name], outermost)
            case ast.Subscript(value=base, slice=index) if self._selects(index):
                if self._inside(base):
                    raise NotDense
                return base
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Subscript(value=base, slice=ast.Tuple(elts=[ast.Constant(value=None), index])),
                    attr="reshape" | "view",
                ),
                args=[_, _] as shape,
            ) if self._selects(index) and ast.unparse(shape[0]) == "-1" and tensor_rank(base, ctx) == 2:
                return base  # x[None, rows].reshape(-1, dim)
            case ast.Subscript() | ast.Call() if outermost and (weight := self._weight(node)) is not None:
                self.weights.append(weight)
                return ast.Constant(value=1)
            case ast.BinOp(left=left, op=op, right=right):
                factor = outermost and isinstance(op, ast.Mult)
                one, other = self._rows(left, factor), self._rows(right, factor)
                if one is None and other is None:
                    return None
                if isinstance(op, (ast.MatMult, ast.Div)) and other is not None:
                    raise NotDense  # a division may be by zero where the mask doesn't hold
                if not isinstance(op, (*ARITHMETIC, ast.MatMult)):
                    raise NotDense
                if isinstance(one, ast.Constant):
                    return other or right
                if isinstance(other, ast.Constant):
                    return one or left
                return ast.BinOp(one or left, op, other or right)
            case ast.UnaryOp(op=op, operand=operand):
                inner = self._rows(operand)
                return None if inner is None else ast.UnaryOp(op, inner)
            case ast.Call(func=func, args=args, keywords=keywords):
                return self._call(node, func, args, keywords, outermost)
        if self._inside(node) or self._is_packed(node):
            raise NotDense
        return None

    def _is_packed(self, node: ast.expr) -> bool:
        """Whether an expression is, or holds, a tensor that may be as long as the rows that were picked."""
        tensors = (tensor_of(self.body.ctx.value(n)) for n in walk(node) if isinstance(n, ast.Name))
        return any(tensor is not None and tensor.rank != 0 for tensor in tensors)

    def _call(
        self, node: ast.Call, func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword], outermost: bool
    ) -> ast.expr | None:
        if not self._inside(node):
            if self._is_packed(node):
                raise NotDense
            return None
        if any(self._inside(k.value) for k in keywords) or any(self._inside(a) for a in args[1:]):
            raise NotDense
        called = self.body.ctx.value(func)
        if isinstance(func, ast.Attribute) and self._inside(func.value):  # a method of the rows
            inner = self._rows(func.value, outermost and func.attr in CASTS)
            if inner is None or (func.attr not in ROWWISE and func.attr not in CASTS):
                raise NotDense
            return ast.Call(ast.Attribute(inner, func.attr, ast.Load()), args, keywords)
        if not args:
            raise NotDense
        first = self._rows(args[0])
        if first is None:
            raise NotDense
        if isinstance(called, External):
            name = called.name.rpartition(".")[2]
            if not called.name.startswith("torch.") or (name not in ROWWISE and name != "linear"):
                raise NotDense
        elif not is_rowwise_module(called) or len(args) > 1 or keywords:
            raise NotDense
        return ast.Call(func, [first, *args[1:]], keywords)

    def _selects(self, index: ast.expr) -> bool:
        if isinstance(index, ast.Name) and self.pick.names:
            return index.id == self.pick.row
        return not self.pick.names and alike(index, self.pick.mask)

    def _weight(self, node: ast.expr) -> ast.expr | None:
        """`(w * mask).sum(-1, keepdim=True)` of `w[b, k, None]`, the mask turned to the order of the index."""
        match node:
            case ast.Subscript(value=base, slice=ast.Tuple(elts=[*parts, ast.Constant(value=None)])):
                pass
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(value=base, slice=ast.Tuple(elts=parts)), attr="unsqueeze"),
                args=[dim],
            ) if ast.unparse(dim) in ("-1", "1"):
                pass
            case ast.Subscript(
                value=ast.Subscript(value=base, slice=ast.Tuple(elts=parts)), slice=ast.Tuple(elts=[ast.Slice(), none])
            ) if ast.unparse(none) == "None":
                pass
            case _:
                return None
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(parts) != 2 or sorted(names) != sorted(self.pick.names) or names[0] != self.pick.row:
            return None
        if self.body._is_of_rows(base):
            return None
        mask = self.pick.mask if tuple(names) == self.pick.names else _method(self.pick.mask, "t")
        last = ast.UnaryOp(ast.USub(), ast.Constant(value=1))
        keep = [ast.keyword("keepdim", ast.Constant(value=True))]
        return ast.Call(ast.Attribute(ast.BinOp(base, ast.Mult(), mask), "sum", ast.Load()), [last], keep)

    def _inside(self, node: ast.expr) -> bool:
        return self.body._is_of_rows(node) or any(
            isinstance(n, ast.Subscript) and self._selects(n.slice) for n in walk(node)
        )


def _method(base: ast.expr, name: str) -> ast.expr:
    return ast.Call(ast.Attribute(base, name, ast.Load()), [], [])


def tensor_rank(node: ast.expr, ctx: Context) -> int | None:
    tensor = tensor_of(ctx.value(node))
    return tensor.rank if tensor is not None else None


def _is_bool(node: ast.expr, ctx: Context) -> bool:
    tensor = tensor_of(ctx.value(node))
    return tensor is not None and tensor.dtype == "bool" and tensor.rank != 0


def _is_of_columns(index: ast.expr, name: str) -> bool:
    """`rows[:, 0], rows[:, 1]`, the columns of what `nonzero` gives."""
    if not isinstance(index, ast.Tuple):
        return False
    return [ast.unparse(part) for part in index.elts] == [f"{name}[:, {n}]" for n in range(len(index.elts))]


def _nonzero(value: ast.expr, ctx: Context) -> tuple[ast.expr | None, str]:
    """The mask of a call of `nonzero` or `where`, and whether it gives rows or a tuple of them."""
    match value:
        case ast.Call(func=ast.Attribute(attr="where"), args=[mask], keywords=[]) if _is_torch(value.func, ctx):
            return mask, "tuple"
        case ast.Call(func=ast.Attribute(value=mask, attr="nonzero"), args=[], keywords=[ast.keyword("as_tuple")]):
            return mask, "tuple"
        case ast.Call(func=ast.Attribute(attr="nonzero"), args=[mask], keywords=[ast.keyword("as_tuple")]):
            return mask, "tuple"
        case ast.Call(func=ast.Attribute(value=mask, attr="nonzero"), args=[], keywords=[]):
            return mask, "columns"
        case ast.Call(func=ast.Attribute(attr="nonzero"), args=[mask], keywords=[]) if _is_torch(value.func, ctx):
            return mask, "columns"
        case ast.Subscript(value=inner, slice=ast.Constant(value=0)):
            picked, how = _nonzero(inner, ctx)
            flat = picked is not None and how == "tuple" and tensor_rank(picked, ctx) == 1
            return (picked, "rows") if flat else (None, "")
        case ast.Call(func=ast.Attribute(value=inner, attr="squeeze" | "flatten" | "view" | "reshape"), args=args):
            if [ast.unparse(a) for a in args] not in ([], ["-1"], ["1"]):
                return None, ""
        case ast.Subscript(value=inner, slice=ast.Tuple(elts=[ast.Slice(), ast.Constant(value=0)])):
            pass
        case _:
            return None, ""
    match inner:
        case ast.Call(func=ast.Attribute(value=mask, attr="nonzero"), args=[], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(attr="nonzero"), args=[mask], keywords=[]):
            pass
        case _:
            return None, ""
    tensor = tensor_of(ctx.value(mask))
    return (mask, "rows") if tensor is not None and tensor.rank == 1 else (None, "")


def _is_torch(function: ast.expr, ctx: Context) -> bool:
    value = ctx.value(function)
    return isinstance(value, External) and value.name.startswith("torch.")


def is_rowwise_module(value: object) -> bool:
    """Whether a module works on each row by itself: a layer of torch that does, or a class that only chains such."""
    if not isinstance(value, Instance):
        return False
    if value.external:
        return value.external.startswith("torch.nn.") and value.external.rpartition(".")[2] in MODULES
    forward = value.info.methods.get("forward") if value.info is not None else None
    init = value.info.methods.get("__init__") if value.info is not None else None
    if forward is None or init is None:
        return False
    made = {
        target.attr: assign.value
        for assign in walk(init.node)
        if isinstance(assign, ast.Assign)
        for target in assign.targets
        if isinstance(target, ast.Attribute)
    }
    for node in walk(forward.node):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                match made.get(name):
                    case ast.Call(func=ast.Attribute(attr=kind) | ast.Name(id=kind)) if kind in MODULES:
                        continue
                return False
            case ast.Call(func=ast.Attribute(attr=name)) if name in ROWWISE or name in CASTS:
                continue
            case ast.Call() | ast.Subscript() | ast.For() | ast.While() | ast.If() | ast.IfExp() | ast.MatMult():
                return False
    return True


def dense_rows(event: Event, ctx: Context) -> Fix | None:
    """The rewrite of the loop, or of the statements, in which an event picks rows."""
    from compilelint.sdk import Fix

    found = _in_loop(event, ctx) or _straight(event, ctx)
    if found is None:
        return None
    title = "work on all rows, and keep those of the mask"
    why = "all rows are computed: more work, and rows that were left out must not fail or become infinite"
    return Fix(title, Applicability.UNSAFE, found, why)


def _in_loop(event: Event, ctx: Context) -> Callable[[Rewriter], None] | None:
    function = ctx.function
    if function is None or isinstance(function, ast.Lambda):
        return None
    loop = _loop_of(event, ctx)
    if loop is None or loop.orelse:
        return None
    over = _rounds(loop, ctx)
    if over is None:
        return None
    read = _read(loop.body, ctx)
    if read is None or not _is_local(read[0].put_into, function):
        return None
    body, whole, new = read
    if any(used_after(name, loop, function) for name in {*body.bound, *target_names(loop.target)}):
        return None

    def write(rw: Rewriter) -> None:
        header = f"for {over.variable} in range({over.code}):" if over.variable else _header(rw, loop)
        lines = _lines(rw, over.variable, body, new, whole, ctx)
        rw.replace_statement(loop, header + "\n" + rw.indent("\n".join(lines)))
        if over.unused is not None:
            rw.delete_statement(over.unused)

    return write


def _straight(event: Event, ctx: Context) -> Callable[[Rewriter], None] | None:
    """The statements from an event's to the one that puts its rows back, beside each other in one block."""
    parent, first = ctx.parent(event.statement), event.statement
    block = next(
        (b for f in ("body", "orelse") if isinstance(b := getattr(parent, f, None), list) and first in b), None
    )
    if block is None or ctx.function is None or isinstance(ctx.function, ast.Lambda):
        return None
    begin = block.index(first)
    for end in range(begin + 1, min(begin + 8, len(block)) + 1):
        statements = block[begin:end]
        read = _read(statements, ctx)
        if read is None:
            continue
        body, whole, new = read
        if any(used_after(name, statements[-1], ctx.function) for name in body.bound):
            return None

        return _replacing(statements, body, whole, new, ctx)
    return None


def _replacing(
    statements: Sequence[ast.stmt], body: Body, whole: Whole, new: ast.expr, ctx: Context
) -> Callable[[Rewriter], None]:
    def write(rw: Rewriter) -> None:
        rw.replace_statement(statements[0], "\n".join(_lines(rw, "", body, new, whole, ctx)))
        for statement in statements[1:]:
            rw.delete_statement(statement)

    return write


def _read(statements: Sequence[ast.stmt], ctx: Context) -> tuple[Body, Whole, ast.expr] | None:
    """What the statements do, as far as they can be done to all rows."""
    body = Body(ctx)
    try:
        body.read(statements)
        if body.put is None:
            return None
        _, value, how, pick = body.put
        whole = Whole(body, pick)
        new = value if _is_number(value, body) else whole.value(value)
    except NotDense:
        return None
    if len(pick.names) > 2 or len(whole.weights) > 1 or (len(pick.names) == 2) != bool(whole.weights):
        return None
    return None if how == "set" and whole.weights else (body, whole, new)


def _is_number(node: ast.expr, body: Body) -> bool:
    """One value for all rows."""
    tensor = tensor_of(body.ctx.value(node))
    single = tensor is not None and tensor.rank == 0 and not body._is_of_rows(node)
    return single or is_host_number(body.ctx.value(node))


@dataclass
class Rounds:
    """What a loop goes over: as it is, or `range(code)` with the variable's reads as the number of the round."""

    code: str = ""
    variable: str = ""
    unused: ast.stmt | None = None  # what made the list of rounds


def _loop_of(event: Event, ctx: Context) -> ast.For | None:
    """The loop in which the event picks rows, or over what it picked."""
    node: ast.AST | None = event.statement
    match event.statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            for each in nodes_of(ctx.function, ast.For) if ctx.function is not None else ():
                if isinstance(each.iter, ast.Name) and each.iter.id == name:
                    return each
    while node is not None and node is not ctx.function:
        if isinstance(node, ast.For):
            return node
        node = ctx.parent(node)
    return None


def _rounds(loop: ast.For, ctx: Context) -> Rounds | None:
    """How to go over all of a static number of rounds."""
    iterated = loop.iter
    made: ast.stmt | None = None
    if isinstance(iterated, ast.Name) and ctx.function is not None:
        uses = list(named(ctx.function, iterated.id))
        stores = [n for n in uses if isinstance(n.ctx, ast.Store)]
        parent = ctx.parent(stores[0]) if len(stores) == 1 else None
        if len(uses) == 2 and isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            made, iterated = parent, parent.value
    if tensor_of(ctx.value(iterated)) is None:
        return Rounds() if made is None else None
    match iterated:
        case ast.Call(func=ast.Attribute(attr="nonzero" | "unique")) | ast.Subscript():
            pass
        case _:
            return None
    if not isinstance(loop.target, ast.Name):
        return None
    name = loop.target.id
    for node in walk(loop):
        match node:
            case ast.Subscript(value=ast.Attribute() as held, slice=index) if _is_round(index, name):
                value = ctx.value(held)
                if isinstance(value, Instance) and value.external.endswith("ModuleList"):
                    return Rounds(f"len({ast.unparse(held)})", name, made)
    for node in walk(loop):
        match node:
            case ast.Subscript(value=ast.Name(id=rows) as indexed, slice=index) if _is_round(index, name):
                if tensor_of(ctx.value(indexed)) is not None:
                    return Rounds(f"{rows}.shape[0]", name, made)
    return None


def _is_round(node: ast.expr, name: str) -> bool:
    match node:
        case ast.Name(id=found):
            return found == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="item"), args=[]):
            return found == name
        case ast.Subscript(value=ast.Name(id=found), slice=ast.Constant(value=0)):
            return found == name
    return False


class _AsNumber(ast.NodeTransformer):
    """Reads of a loop variable that was a tensor as the number it is now: `e.item()`, `e[0]`, `t[e].squeeze(0)`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(slice=ast.Name(id=found)) as row, attr="squeeze"),
                args=[ast.Constant(value=0)],
            ) if found == self.name:
                return self.generic_visit(row)
        if _is_round(node, self.name):
            return ast.Name(self.name, ast.Load())
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return ast.Name(self.name, ast.Load()) if _is_round(node, self.name) else self.generic_visit(node)


def _lines(rw: Rewriter, variable: str, body: Body, new: ast.expr, whole: Whole, ctx: Context) -> list[str]:
    """The statements that do the same to all rows."""
    assert body.put is not None and ctx.function is not None
    out, _, how, pick = body.put

    def code(node: ast.AST) -> str:
        copied = copy.deepcopy(node)
        if variable:
            copied = _AsNumber(variable).visit(copied)
        return ast.unparse(ast.fix_missing_locations(copied))

    lines = [code(statement) for statement in body.kept]
    if whole.weights:
        return [*lines, f"{out} = {out} + {code(ast.BinOp(new, ast.Mult(), whole.weights[0]))}"]
    mask = code(pick.mask)
    if not isinstance(pick.mask, ast.Name):
        name = rw.fresh_name("mask", within=ctx.function)
        lines.append(f"{name} = {mask}")
        mask = name
    rank, mine = body.rank, tensor_rank(pick.mask, ctx)
    if _is_of_each(pick.mask, out):
        rank, mine = 0, 0
    wide = (
        f"{mask}{'.unsqueeze(-1)' * (rank - mine)}"
        if rank is not None and mine is not None and 0 <= rank - mine <= 1
        else f"{mask}.reshape({mask}.shape + (1,) * ({out}.dim() - {mask}.dim()))"
    )
    where, bound = rw.name_for("torch.where"), not isinstance(ctx.function, ast.Lambda) and _is_local(out, ctx.function)
    if how == "set":
        chosen = f"{where}({wide}, {code(new)}, {out})"
        return [*lines, f"{out} = {chosen}" if bound else f"{out}.copy_({chosen})"]
    added = f"{where}({wide}, {code(new)}, 0)"
    return [*lines, f"{out} = {out} + {added}" if bound else f"{out}.add_({added})"]


def _is_of_each(mask: ast.expr, name: str) -> bool:
    """`x > 0` and `torch.isnan(x)`: a mask of each element of `x`."""
    match mask:
        case ast.Compare(left=ast.Name(id=found), comparators=[ast.Constant()]):
            return found == name
        case ast.Call(func=ast.Attribute(attr="isnan" | "isinf"), args=[ast.Name(id=found)]):
            return found == name
    return False


def _header(rw: Rewriter, loop: ast.For) -> str:
    return f"for {rw.code(loop.target)} in {rw.code(loop.iter)}:"


def _is_local(name: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a tensor that is bound anew instead of written into was made in the function, and only there."""
    given = function.args
    if any(a.arg == name for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)):
        return False
    made = [
        n.value
        for n in nodes_of(function, ast.AST)
        if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
    ]
    return bool(made) and all(
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and _makes(value.func.attr)
        for value in made[:1]
    )


def _makes(name: str) -> bool:
    return name in (
        "zeros",
        "zeros_like",
        "new_zeros",
        "empty",
        "empty_like",
        "new_empty",
        "clone",
        "ones_like",
        "full",
    )
