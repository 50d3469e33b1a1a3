"""Numbers read from a tensor, or chosen by one, that may stay 0-d tensors: all that is done with them takes a tensor.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.events import Branch, Call, Convert, Event
from compilelint.engine.values import Const, External, tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import is_detached, is_host_number, is_number, names_in
from compilelint.rewrites.asked import selected
from compilelint.source.walk import loaded, named

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
TORCH_MATH = frozenset(words("sqrt exp log log2 log10 log1p sin cos tan tanh floor ceil fabs erf"))
# Which arguments of a tensor's method (of torch's function: one place later) may be 0-d tensors as well as numbers.
OPERANDS = frozenset(words("add sub mul div pow lt le gt ge eq ne add_ sub_ mul_ div_ pow_"))
FILLED = {"masked_fill": 1, "masked_fill_": 1, "fill_": 0, "full_like": 0, "new_full": 1}
BOUNDS = ("clamp", "clip", "clamp_", "clip_")
STATE = ("no_grad", "inference_mode")
Edit = Callable[["Rewriter"], None]


@dataclass
class Uses:
    """What following a number to its uses found: what else must change, and whether it is kept or handed on."""

    ctx: Context
    edits: list[Edit] = field(default_factory=list)
    stored: bool = False
    names: set[str] = field(default_factory=set)

    def take_tensor(self, node: ast.expr) -> bool:
        """Whether an expression may be a 0-d tensor where it is a number now."""
        parent = self.ctx.parent(node)
        match parent:
            case ast.BinOp(op=op) if isinstance(op, ARITHMETIC):
                other = parent.right if parent.left is node else parent.left
                return self._meets_tensor(other) or (self._is_number(other) and self.take_tensor(parent))
            case ast.AugAssign(op=op, target=target) if isinstance(op, ARITHMETIC):
                return self._meets_tensor(target)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return self.take_tensor(parent)
            case ast.Compare(ops=[op]) if isinstance(op, COMPARISONS):
                other = parent.comparators[0] if parent.left is node else parent.left
                return self._meets_tensor(other) or (is_host_number(self.ctx.value(other)) and self._is_tested(parent))
            case ast.Call() | ast.keyword():
                return self._is_argument(node, parent)
            case ast.Subscript(value=base, slice=index, ctx=ast.Load()) if index is node:
                return isinstance(node, ast.Name) and self._is_row(parent, base, node)
            case ast.Assign(targets=[ast.Name(id=name)]):
                return self._name_takes(name)
            case ast.Assign(targets=targets) if all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in targets):
                self.stored = True
                return not any(isinstance(t, ast.Subscript) and self._meets_tensor(t.value) for t in targets)
            case ast.Return():
                self.stored = True
                return True
            case ast.Tuple() | ast.List() if isinstance(self.ctx.parent(parent), ast.Return):
                self.stored = True
                return True
            case ast.Dict(values=values) if any(value is node for value in values):
                self.stored = True
                return True
        return False

    def _is_row(self, row: ast.Subscript, base: ast.expr, index: ast.Name) -> bool:
        """`x[i]`, which would read a tensor `i`, as a selection."""
        tensor = tensor_of(self.ctx.value(base))
        if tensor is None or tensor.kind == "numpy":
            return False
        self.edits.append(lambda rw: rw.replace(row, selected(rw.operand(base), index.id)))
        return True

    def _meets_tensor(self, node: ast.expr) -> bool:
        tensor = tensor_of(self.ctx.value(node))
        return tensor is not None and tensor.kind != "numpy" and tensor.dtype not in ("int", "bool")

    def _is_number(self, node: ast.expr) -> bool:
        """A Python number, of the host or another that was read."""
        return is_number(self.ctx.value(node))

    def _is_tested(self, node: ast.expr) -> bool:
        """The test of an `if` in compiled code, which is the next finding."""
        parent = self.ctx.parent(node)
        return isinstance(parent, (ast.If, ast.IfExp)) and parent.test is node and self.ctx.compiled

    def _name_takes(self, name: str) -> bool:
        function = self.ctx.function
        if function is None or isinstance(function, ast.Lambda):
            return False
        reads = loaded(function, name)
        given = function.args
        bound = any(a.arg == name for a in (*given.posonlyargs, *given.args, *given.kwonlyargs))
        if bound or not reads or len(named(function, name)) - len(reads) != 1 or name in self.names:
            return False
        self.names.add(name)
        return all(self.take_tensor(use) for use in reads)

    def _is_argument(self, node: ast.expr, parent: ast.Call | ast.keyword) -> bool:
        keyword = parent.arg if isinstance(parent, ast.keyword) else None
        call = self.ctx.parent(parent) if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
            return False
        place = next((n for n, a in enumerate(call.args) if a is node), None)
        function = self.ctx.value(call.func)
        if isinstance(call.func, ast.Name) and call.func.id in ("max", "min", "abs") and keyword is None:
            others = [a for a in call.args if a is not node]
            return self.ctx.compiled and all(map(self._is_number, others)) and self.take_tensor(call)
        if isinstance(function, External) and function.name.startswith("math."):
            name = function.name.removeprefix("math.")
            if name not in TORCH_MATH or len(call.args) != 1:
                return False
            self.edits.append(lambda rw: rw.replace(call.func, rw.name_for(f"torch.{name.replace('fabs', 'abs')}")))
            return self.take_tensor(call)
        if not isinstance(call.func, ast.Attribute):
            return False
        of_torch = isinstance(function, External) and function.name.startswith("torch.")
        if not of_torch and tensor_of(self.ctx.value(call.func.value)) is None:
            return False
        first = 1 if of_torch else 0
        return self._of_tensor(call, call.func.attr, keyword, None if place is None else place - first, of_torch)

    def _of_tensor(self, call: ast.Call, method: str, keyword: str | None, place: int | None, of_torch: bool) -> bool:
        if method in OPERANDS:
            return place == 0 and len(call.keywords) == 0 and (not of_torch or self._meets_tensor(call.args[0]))
        if method in BOUNDS:
            return keyword in ("min", "max", None) and self._bounds(call, of_torch)
        if method == "where" and of_torch and len(call.args) == 3:
            return place in (0, 1)
        if not self.ctx.compiled:  # an eager fill reads what it fills with
            return False
        if method == "full" and of_torch:
            return place == 0 or keyword == "fill_value"
        if method in ("linspace", "logspace") and of_torch:
            return place in (-1, 0) or keyword in ("start", "end")
        if method == "new_full":
            return False  # CL106
        return method in FILLED and (place == FILLED[method] or keyword in ("value", "fill_value"))

    def _bounds(self, call: ast.Call, of_torch: bool) -> bool:
        """Both bounds of `clamp` must be tensors or numbers: one that stays a number is applied on its own."""
        given = dict(zip(("min", "max"), call.args[1 if of_torch else 0 :], strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg in ("min", "max")}
        fixed = {name for name, node in given.items() if self._stays(node)}
        if len(given) < 2 or not fixed:
            return True
        whole = call.args[0] if of_torch else call.func.value if isinstance(call.func, ast.Attribute) else None
        if whole is None or len(fixed) == 2 or (isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_")):
            return False

        def split(rw: Rewriter) -> None:
            low, high = rw.code(given["min"]), rw.code(given["max"])
            rw.replace(call, f"{rw.operand(whole)}.clamp(min={low}).clamp(max={high})")

        if self._changes_within(call):
            return False
        self.edits.append(split)
        return True

    def _stays(self, node: ast.expr) -> bool:
        value = self.ctx.value(node)
        chosen = names_in(node) & self.names
        return is_host_number(value) and not chosen and not (isinstance(value, Const) and value.value is None)

    def _changes_within(self, call: ast.Call) -> bool:
        """Whether the read itself stands in the call: it can't be changed twice."""
        return not any(names_in(a) & self.names for a in (*call.args, *(k.value for k in call.keywords)))


def keep_zero_dim(event: Call | Convert, ctx: Context) -> Fix | None:
    """`s = t.item()`, `float(t)`, used where a tensor does as well → the 0-d tensor, detached."""
    from compilelint.sdk import Fix

    node = event.node
    read = _read(event, ctx)
    if read is None or not isinstance(node, ast.Call):
        return None
    uses = Uses(ctx)
    if not uses.take_tensor(node) or (uses.stored and not ctx.compiled):
        return None
    tensor = tensor_of(ctx.value(read))
    leaf = (tensor is not None and tensor.dtype in ("int", "bool")) or is_detached(read) or no_grad(node, ctx)

    def build(rw: Rewriter) -> None:
        rw.replace(node, rw.code(read) if leaf else f"{rw.operand(read)}.detach()")
        for edit in uses.edits:
            edit(rw)

    why = "who gets it must take a 0-d tensor" if uses.stored else "the dtype of a result may change by promotion"
    return Fix("keep the 0-d tensor", Applicability.UNSAFE, build, why)


def _read(event: Call | Convert, ctx: Context) -> ast.expr | None:
    """The tensor in `t.item()`, `float(t)`, `int(t)` of an int, `bool(t)` of a bool."""
    match event.node:
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]) if isinstance(event, Call):
            tensor = tensor_of(ctx.value(inner))
            single = tensor is not None and (tensor.rank == 0 or (tensor.rank is None and not _is_row(inner)))
            return inner if single and tensor is not None and tensor.kind != "numpy" else None
        case ast.Call(func=ast.Name(id="float" | "int" | "bool" as kind), args=[inner], keywords=[]):
            tensor = tensor_of(ctx.value(inner))
            if tensor is None or tensor.kind == "numpy" or tensor.rank not in (0, None):
                return None
            return inner if tensor.dtype == kind or (kind == "float" and tensor.dtype in ("float", None)) else None
    return None


def _is_row(node: ast.expr) -> bool:
    """`t[0]`, of which nothing is known: it may have a dimension of one."""
    return isinstance(node, ast.Subscript)


def no_grad(node: ast.AST, ctx: Context) -> bool:
    """Whether code stands under `torch.no_grad()`, as far as its function says."""
    above: ast.AST | None = node
    while above is not None:
        managers: list[ast.expr] = []
        if isinstance(above, ast.With):
            managers = [item.context_expr for item in above.items]
        elif isinstance(above, ast.FunctionDef):
            managers = above.decorator_list
        for each in managers:
            name = each.func if isinstance(each, ast.Call) else each
            if isinstance(name, ast.Attribute) and name.attr in STATE:
                return True
        above = ctx.parent(above)
    return False


def stack_reads(event: Event, ctx: Context) -> Fix | None:
    """`torch.tensor([a.item(), b.item()])` → `torch.stack([a, b])`."""
    from compilelint.sdk import Fix

    node = event.node
    listed = ctx.parent(node)
    call = ctx.parent(listed) if isinstance(listed, (ast.List, ast.Tuple)) else None
    if not isinstance(listed, (ast.List, ast.Tuple)) or not isinstance(call, ast.Call) or call.args != [listed]:
        return None
    function = ctx.value(call.func)
    if not isinstance(function, External) or function.name != "torch.tensor":
        return None
    if any(keyword.arg != "device" for keyword in call.keywords):
        return None
    reads: list[ast.expr] = []
    for each in listed.elts:
        match each:
            case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
                reads.append(inner)
    tensors = [tensor_of(ctx.value(read)) for read in reads]
    if len(reads) != len(listed.elts) or not all(t is not None and t.rank == 0 for t in tensors):
        return None
    if {t.dtype for t in tensors if t is not None} != {"float"} or any(k.arg is None for k in call.keywords):
        return None

    def build(rw: Rewriter) -> None:
        rw.replace(call, f"{rw.name_for('torch.stack')}([{', '.join(map(rw.code, reads))}]).detach()")

    why = "the tensors must be of one dtype and on one device, the one named"
    return Fix("stack the tensors", Applicability.UNSAFE, build, why)


def select_number(event: Branch, condition: Callable[[Rewriter], str], ctx: Context) -> Fix | None:
    """`s = 2.0 if t > 0 else 0.5`, also as a statement, `s` used where a tensor does → `torch.where(t > 0, 2.0, 0.5)`.

    `condition` writes the truth test as a tensor.
    """
    from compilelint.sdk import Fix

    owner, uses = event.owner, Uses(ctx)
    match owner:
        case ast.IfExp(body=first, orelse=second):
            followed = uses.take_tensor(owner)
        case ast.If(
            body=[ast.Assign(targets=[ast.Name(id=name)], value=first)],
            orelse=[ast.Assign(targets=[ast.Name(id=same)], value=second)],
        ) if name == same and event.statement is owner:
            followed = _both_take(uses, name, owner)
        case _:
            return None
    if not followed or uses.stored or not all(_is_float(node, ctx) for node in (first, second)):
        return None

    def build(rw: Rewriter) -> None:
        chosen = f"{rw.name_for('torch.where')}({condition(rw)}, {rw.code(first)}, {rw.code(second)})"
        if isinstance(owner, ast.IfExp):
            rw.replace(owner, chosen)
        else:
            rw.replace_statement(owner, f"{name} = {chosen}")
        for edit in uses.edits:
            edit(rw)

    why = "the number becomes a 0-d tensor: the dtype of a result may change by promotion"
    return Fix("select the number with torch.where", Applicability.UNSAFE, build, why)


def _both_take(uses: Uses, name: str, owner: ast.If) -> bool:
    """Whether all reads of a name that nothing but the two arms binds take a tensor."""
    function = uses.ctx.function
    if function is None:
        return False
    reads = loaded(function, name)
    inside = {id(n) for n in ast.walk(owner)}
    if not reads or len(named(function, name)) - len(reads) != 2 or any(id(n) in inside for n in reads):
        return False
    uses.names.add(name)
    return all(uses.take_tensor(use) for use in reads)


def _is_float(node: ast.expr, ctx: Context) -> bool:
    """A Python float of the host, computed without calls but torch's limits."""
    if any(isinstance(n, (ast.NamedExpr, ast.Await)) for n in ast.walk(node)):
        return False
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        function = ctx.value(call.func)
        if not isinstance(function, External) or function.name not in ("torch.finfo", "torch.iinfo"):
            return False
    value = ctx.value(node)
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    return is_host_number(value)
