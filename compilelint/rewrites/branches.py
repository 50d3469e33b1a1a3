"""Rewrites that several rules share: guard a statement, select instead of branching, assert on the device.

Each returns a Fix, or None when the code at hand is not of the form for which the rewrite is right.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.events import Branch, Call, Convert, Event
from compilelint.engine.values import Const, External, Namespace, Scalar, Value, options, tensor_of, without_none
from compilelint.finding import Applicability
from compilelint.idioms import (
    alike,
    block_of,
    is_elif,
    is_host_number,
    is_tried,
    names_in,
    used_outside,
)
from compilelint.rewrites.conditional import cond_instead
from compilelint.rewrites.filled import fill_always
from compilelint.rewrites.flow import used_after
from compilelint.rewrites.guarded import guarded
from compilelint.rewrites.preserved import is_needed_backward, preserves, writes_in_place
from compilelint.rewrites.scalars import TORCH_MATH, keep_zero_dim, no_grad, select_number, stack_reads
from compilelint.rewrites.stopped import ask_every_few
from compilelint.source.walk import named, nodes_of, stored

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

# Element-wise: the result has the shape of the first operand, given that the others are numbers or broadcast to it.
ELEMENTWISE = frozenset(
    words(
        "abs add clamp clip clone contiguous cos detach div double exp float half masked_fill mul nan_to_num"
        " neg relu sigmoid sin square sub tanh to type_as where zeros_like ones_like full_like clamp_min"
        " clamp_max logical_not bfloat16"
    )
)
# They read what they are given on the host.
READS = frozenset(words("tensor as_tensor item tolist cpu numpy nonzero"))
# Where the branch not taken may have an infinite derivative, `where` turns its gradient into NaN.
FRAGILE = frozenset(words("acos asin atanh log log2 log10 log1p norm pow reciprocal rsqrt sqrt div"))


def skip_while_compiling(event: Event) -> Fix | None:
    """Run the statement only outside compiled code; for a call in an `if` test, don't evaluate it while compiling."""
    from compilelint.sdk import Fix

    statement, node = event.statement, event.node
    why = "the output is lost while the code runs compiled"
    if isinstance(statement, ast.Expr) and statement.value is node:

        def wrap(rw: Rewriter) -> None:
            rw.wrap_statement(statement, f"if not {rw.name_for('torch.compiler.is_compiling')}():")

        return Fix("skip it while compiling", Applicability.UNSAFE, wrap, why)
    if isinstance(statement, ast.If) and statement.test is node:

        def short_circuit(rw: Rewriter) -> None:
            rw.replace(node, f"not {rw.name_for('torch.compiler.is_compiling')}() and {rw.text(node)}")

        return Fix("don't ask while compiling", Applicability.UNSAFE, short_circuit, why)
    return None


def assert_on_device(event: Branch, ctx: Context) -> Fix | None:
    """`if bad: raise Error(message)` and `assert good, message` → `torch._assert_async(good, message)`."""
    from compilelint.sdk import Fix

    owner = event.owner
    if isinstance(owner, ast.Assert):
        static, dynamic = _split(owner.test, ctx)
        message = owner.msg
    elif (
        isinstance(owner, ast.If) and len(owner.body) == 1 and isinstance(owner.body[0], ast.Raise) and not owner.orelse
    ):
        static, dynamic = _split(owner.test, ctx)
        error = owner.body[0].exc
        message = error.args[0] if isinstance(error, ast.Call) and error.args else error
        if is_elif(owner, ctx):
            return None
    else:
        return None
    if not dynamic or event.statement is not owner or is_tried(owner, ctx):
        return None
    if any(_may_be_sizes(node, ctx) for node in dynamic):
        return None

    def build(rw: Rewriter) -> None:
        parts = [_condition(node, rw, ctx) for node in dynamic]
        if isinstance(owner, ast.Assert):
            good = _all_of(parts, rw)
        else:
            good = _negated(dynamic[0], rw, ctx) if len(dynamic) == 1 else f"~{_all_of(parts, rw)}"
        name = rw.name_for("torch._assert_async")
        text = f"{name}({good}, {_message(message, rw)})"
        if static and isinstance(owner, ast.Assert):
            rw.replace_statement(owner, f"assert {' and '.join(map(rw.text, static))}\n{text}")
        elif static:
            rw.replace_statement(owner, f"if {' and '.join(map(rw.text, static))}:\n{rw.indent(text)}")
        else:
            rw.replace_statement(owner, text)

    why = "the failure comes as a RuntimeError once the device gets there, not as this exception here"
    if isinstance(message, ast.JoinedStr) and any(isinstance(part, ast.FormattedValue) for part in message.values):
        why += ", and its message has the names of values in place of the values"
    return Fix("assert on the device", Applicability.UNSAFE, build, why)


def _may_be_sizes(node: ast.expr, ctx: Context) -> bool:
    """`x.shape[1] == shape[1]`: what is annotated as a tensor may be a `torch.Size`, the comparison a Python bool."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return False
    sides = [ctx.value(side) for side in (node.left, node.comparators[0])]
    number = next((side for side in sides if is_host_number(side) and not isinstance(side, Const)), None)
    tensor = next((found for side in sides if (found := tensor_of(side)) is not None), None)
    links = tensor.origin.chain() if tensor is not None and tensor.origin is not None else []
    picked = any(isinstance(link.node, ast.Subscript) for link in links)
    return (
        number is not None
        and picked
        and all(isinstance(link.node, (ast.arg, ast.Name, ast.Subscript)) for link in links)
    )


def run_all_rounds(event: Branch, ctx: Context) -> Fix | None:
    """`if c: break` in a loop of known length → a flag on the device, after which the results stay as they are."""
    from compilelint.sdk import Fix

    owner = event.owner
    loop = ctx.parent(owner)
    if not isinstance(owner, ast.If) or not isinstance(loop, ast.For) or owner not in loop.body or loop.orelse:
        return None
    if len(owner.body) != 1 or not isinstance(owner.body[0], ast.Break) or owner.orelse:
        return None
    if isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") not in ("range", "enumerate", "reversed"):
        return None  # it may have no end
    static, dynamic = _split(owner.test, ctx)
    assigned = _assignments([statement for statement in loop.body if statement is not owner])
    if static or not dynamic or assigned is None or ctx.function is None:
        return None
    carried = [name for name in dict.fromkeys(name for name, _ in assigned) if _outlives(name, loop, ctx)]
    values = [value for name, value in assigned if name in carried]
    rounds = [node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)]
    if not carried or len(carried) != len(values) or any(used_after(name, loop, ctx.function) for name in rounds):
        return None
    if not all(_known_before(name, loop, ctx) for name in carried) or not _selectable(values, ctx):
        return None

    def build(rw: Rewriter) -> None:
        done = rw.fresh_name("done", within=ctx.function)
        where = rw.name_for("torch.where")
        zeros, kind = rw.name_for("torch.zeros"), rw.name_for("torch.bool")
        rw.insert_before(loop, f"{done} = {zeros}((), dtype={kind}, device={carried[0]}.device)")
        condition = _all_of([_condition(node, rw, ctx) for node in dynamic], rw)
        rw.replace_statement(owner, f"{done} = {rw.name_for('torch.logical_or')}({done}, {condition})")
        for name, value in assigned:
            if name in carried:
                rw.replace(value, f"{where}({done}, {name}, {rw.text(value)})")

    why = "all rounds run always; after the exit they leave the results as they are"
    return Fix("run all rounds", Applicability.UNSAFE, build, why)


def stop_later(event: Branch, ctx: Context) -> Fix | None:
    """`if done.all(): break` at the end of a loop's body, or `while i < n and alive.any():`."""
    owner = event.owner
    if isinstance(owner, ast.If):
        loop = ctx.parent(owner)
        static, dynamic = _split(owner.test, ctx)
        alone = len(owner.body) == 1 and isinstance(owner.body[0], ast.Break) and not owner.orelse and not static
        if not isinstance(loop, ast.For) or not alone or not dynamic:
            return None
        return ask_every_few(
            loop, owner, [], lambda rw: _all_of([_condition(node, rw, ctx) for node in dynamic], rw), ctx
        )
    if not isinstance(owner, ast.While):
        return None
    static, dynamic = _split(owner.test, ctx)
    if len(dynamic) != 1 or not static:
        return None
    return ask_every_few(owner, None, static, lambda rw: _negated(dynamic[0], rw, ctx), ctx)


def _outlives(name: str, loop: ast.For, ctx: Context) -> bool:
    """Whether a name assigned in a loop is read after it, or in the next round before it is assigned."""
    inside = [n for statement in loop.body for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
    store = min((n.lineno for n in inside if isinstance(n.ctx, ast.Store)), default=0)
    return used_after(name, loop, ctx.function) or any(
        isinstance(n.ctx, ast.Load) and n.lineno <= store for n in inside
    )


def reduce_on_device(event: Call, ctx: Context) -> Fix | None:
    """Builtin `any(t)` in a truth test → `t.any()`, the branch on which is the next finding."""
    from compilelint.sdk import Fix

    call, parent = event.node, ctx.parent(event.node)
    if (
        not isinstance(call, ast.Call)
        or len(call.args) != 1
        or isinstance(call.args[0], (ast.GeneratorExp, ast.Starred))
    ):
        return None
    tested = isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and parent.test is call
    negated = isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))
    if not tested and not negated:
        return None
    argument = call.args[0]
    return Fix(
        "reduce on the device",
        Applicability.UNSAFE,
        lambda rw: rw.replace(call, f"{_atom(argument, rw)}.{event.target}()"),
        "for a tensor of more than one dimension Python's own raises",
    )


def keep_tensor(event: Call | Convert, ctx: Context) -> Fix | None:
    """A read whose number only meets tensors, is kept, or is only checked → the 0-d tensor itself."""
    from compilelint.sdk import Fix

    node = event.node
    if not isinstance(node, ast.Call):
        return None
    if (kept := stack_reads(event, ctx) or keep_zero_dim(event, ctx)) is not None:
        return kept
    math = isinstance(event, Call) and event.target.startswith("math.") and _meets_tensor(node, ctx)
    if not (math or _is_only_checked(node, ctx)) or _tensor_of_read(event, node, None) is None:
        return None
    return Fix(
        "keep the 0-d tensor",
        Applicability.UNSAFE,
        lambda rw: rw.replace(node, _tensor_of_read(event, node, rw) or ""),
        "the dtype of the result may change by promotion",
    )


def index_instead(event: Convert, ctx: Context) -> Fix | None:
    """`x[:, t : t + n]` with a tensor `t` and a static `n` → `x[:, t + torch.arange(n, device=x.device)]`."""
    from compilelint.sdk import Fix

    node: ast.AST | None = event.node
    while node is not None and not isinstance(node, (ast.Subscript, ast.stmt)):
        node = ctx.parent(node)
    if event.kind != "slice" or not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    bounded = [part for part in parts if isinstance(part, ast.Slice) and (part.lower or part.upper or part.step)]
    if len(bounded) != 1 or not all(isinstance(part, ast.Slice) for part in parts) or bounded[0].step is not None:
        return None
    bounds, base = bounded[0], node.value
    length = _length(bounds.lower, bounds.upper, ctx)
    if bounds.lower is None or length is None or not isinstance(base, (ast.Name, ast.Attribute)):
        return None
    lower, size = bounds.lower, length

    def build(rw: Rewriter) -> None:
        arange = f"{rw.name_for('torch.arange')}({rw.text(size)}, device={rw.text(base)}.device)"
        rw.replace(bounds, f"{rw.text(lower)} + {arange}")

    why = "a bound past the end is an error, where a slice stops there; what is read is a copy"
    return Fix("index by a range of fixed length", Applicability.UNSAFE, build, why)


def _length(lower: ast.expr | None, upper: ast.expr | None, ctx: Context) -> ast.expr | None:
    """The `n` of an upper bound `lower + n`, written there or in the one assignment of its name."""
    if isinstance(upper, ast.Name) and ctx.function is not None:
        stores = [
            n
            for n in nodes_of(ctx.function, ast.AST)
            if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == upper.id for t in n.targets)
        ]
        upper = stores[0].value if len(stores) == 1 else None
    if lower is None or not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Add):
        return None
    if not alike(upper.left, lower) or tensor_of(ctx.value(upper.right)) is not None:
        return None
    return upper.right


def _tensor_of_read(event: Call | Convert, node: ast.Call, rw: Rewriter | None) -> str | None:
    """The tensor in `t.item()`, `float(t)`, `bool(t)` of a bool, `int(t)` of an int; `torch.f(t)` for `math.f(t)`."""
    if isinstance(event, Call) and event.target == "Tensor.item" and isinstance(node.func, ast.Attribute):
        return rw.text(node.func.value) if rw else ""
    if len(node.args) != 1 or node.keywords:
        return None
    if (
        isinstance(event, Call)
        and event.target.removeprefix("math.") in TORCH_MATH
        and event.target.startswith("math.")
    ):
        return f"{rw.name_for('torch.' + event.target[5:])}({rw.text(node.args[0])})" if rw else ""
    if isinstance(event, Convert):
        tensor = tensor_of(event.value)
        if event.kind == "float" or (tensor is not None and tensor.dtype == event.kind):
            return _atom(node.args[0], rw) if rw else ""
    return None


def _meets_tensor(node: ast.expr, ctx: Context) -> bool:
    """Whether a number is an operand of arithmetic with a tensor that isn't of integers."""
    parent = ctx.parent(node)
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        return False
    other = tensor_of(ctx.value(parent.right if parent.left is node else parent.left))
    return other is not None and other.dtype not in ("int", "bool")


def _is_only_checked(node: ast.expr, ctx: Context) -> bool:
    """`n = t.item()` where all that is done with `n` is a comparison that raises, and the message of that."""
    assigned = ctx.parent(node)
    if not isinstance(assigned, ast.Assign) or len(assigned.targets) != 1 or ctx.function is None:
        return False
    target = assigned.targets[0]
    if not isinstance(target, ast.Name):
        return False
    uses = [n for n in named(ctx.function, target.id) if n is not target]
    return bool(uses) and all(_raises(use, ctx) for use in uses)


def _raises(use: ast.AST, ctx: Context) -> bool:
    compared = isinstance(ctx.parent(use), ast.Compare)
    node: ast.AST | None = use
    while node is not None and not isinstance(node, ast.stmt):
        node = ctx.parent(node)
    if isinstance(node, ast.Raise):
        return True
    return compared and isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Raise)


def select_instead(event: Branch, ctx: Context) -> Fix | None:
    """`if c: x = a` → `x = torch.where(c, a, x)`, also with an else, for a conditional expression and for returns."""
    owner = event.owner
    if isinstance(owner, ast.IfExp):
        return _select_expression(owner, ctx) or _select_numbers(event, ctx)
    if not isinstance(owner, ast.If) or is_elif(owner, ctx) or event.statement is not owner:
        return None
    return (
        fill_always(owner, ctx)
        or _select_assignments(owner, ctx)
        or _select_returns(owner, ctx)
        or _select_numbers(event, ctx)
        or _select_nested(owner, ctx)
        or _choose(owner, ctx)
    )


def _choose(owner: ast.If, ctx: Context) -> Fix | None:
    static, dynamic = _split(owner.test, ctx)
    if static or not dynamic:
        return None
    arms = [each.value for each in (*owner.body, *owner.orelse) if isinstance(each, (ast.Assign, ast.Return))]
    for arm in arms:  # both are traced
        if arm is not None and _elementwise(arm, ctx) and _may_not_fit(_shaped_by(arm, ctx), owner.lineno, ctx):
            return None
    return cond_instead(owner, lambda rw: _all_of([_condition(node, rw, ctx) for node in dynamic], rw), ctx)


def _select_numbers(event: Branch, ctx: Context) -> Fix | None:
    static, dynamic = _split(event.owner.test, ctx) if isinstance(event.owner, (ast.If, ast.IfExp)) else ([], [])
    if static or not dynamic:
        return None
    return select_number(event, lambda rw: _all_of([_condition(node, rw, ctx) for node in dynamic], rw), ctx)


def _select_nested(owner: ast.If, ctx: Context) -> Fix | None:
    """Branches in branches, and those that update attributes or write into tensors: each target selected at once."""
    found = guarded(owner, lambda test: _split(test, ctx)[1] if not _split(test, ctx)[0] else [], ctx)
    if found is None:
        return None
    for each in found:
        if each.how in ("fill_", "zero_"):
            continue
        numbers = [value for value in each.leaves if is_host_number(ctx.value(value))]
        tensors = [tensor_of(ctx.value(value)) for value in each.leaves if value not in numbers]
        if numbers and not (tensors and all(t is not None and t.rank == 0 for t in tensors)):
            return None
        if not all(t is not None and t.kind != "numpy" and not t.dynamic for t in tensors):
            return None
        if not all(_pure(value, ctx) for value in each.leaves):
            return None
        if each.how != "=":
            continue  # what is written is broadcast to what is there
        old = {each.rank} if each.keeps_old and each.rank is not None else set()
        ranks = {t.rank for t in tensors if t is not None} | old
        if not numbers and not _selectable(each.leaves, ctx) and (len(ranks) > 1 or None in ranks):
            return None
        line = owner.lineno
        if each.is_name and each.keeps_old and not _known_before(each.name, owner, ctx):
            return None
        if each.is_name and (_fails_backward(each.name, line, ctx) or _is_resized(each.name, line, ctx)):
            return None

    def build(rw: Rewriter) -> None:
        tests: dict[int, str] = {}
        lines: list[str] = []
        for each in found:
            for test in each.tests:
                if id(test) in tests:
                    continue
                code = _all_of([_condition(node, rw, ctx) for node in _split(test, ctx)[1]], rw)
                if len(found) > 1 or any(t is not test and alike(t, test) for t in each.tests):
                    name = rw.fresh_name("condition", within=ctx.function or owner)
                    lines.append(f"{name} = {code}")
                    code = name
                tests[id(test)] = code
        lines += [each.code(tests, rw.name_for("torch.where"), rw) for each in found]
        rw.replace_statement(owner, "\n".join(lines))

    return _select_fix(build, preserves=False)


def _select_expression(owner: ast.IfExp, ctx: Context) -> Fix | None:
    static, dynamic = _split(owner.test, ctx)
    if static or not dynamic or not _selectable([owner.body, owner.orelse], ctx):
        return None

    def build(rw: Rewriter) -> None:
        condition = _all_of([_condition(node, rw, ctx) for node in dynamic], rw)
        rw.replace(owner, f"{rw.name_for('torch.where')}({condition}, {rw.text(owner.body)}, {rw.text(owner.orelse)})")

    return _select_fix(build, preserves=preserves(dynamic, [owner.body, owner.orelse], owner, _bound(owner, ctx), ctx))


def _bound(owner: ast.IfExp, ctx: Context) -> str | None:
    """The name that a conditional expression is bound to, None where it is returned; empty elsewhere."""
    match ctx.parent(owner):
        case ast.Return():
            return None
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _select_assignments(owner: ast.If, ctx: Context) -> Fix | None:
    static, dynamic = _split(owner.test, ctx)
    then, other = _assignments(owner.body), _assignments(owner.orelse)
    if not dynamic or then is None or other is None or (other and static):
        return None
    selected = [name for name, _ in then if _known_before(name, owner, ctx) or any(name == n for n, _ in other)]
    local = [name for name, _ in then if name not in selected]
    if not selected or len({n for n, _ in then}) != len(then) or (other and [n for n, _ in other] != selected):
        return None
    if any(used_outside(name, owner, ctx.function) for name in local):
        return None
    values = [value for name, value in (*then, *other) if name in selected]
    if not _selectable(values, ctx) or (other and local):
        return None
    line = owner.lineno
    kept = [(name, value) for name, value in then if name in selected and not other]  # what is there may be kept
    if any(_fails_backward(name, line, ctx) for name, _ in kept):
        return None
    if any(_may_not_fit({name} | _shaped_by(value, ctx), line, ctx) for name, value in kept):
        return None
    if any(isinstance(node, ast.Name) and node.id in selected[:-1] for value in values for node in ast.walk(value)):
        return None  # a later value reads an earlier one: the order would matter

    def build(rw: Rewriter) -> None:
        where = rw.name_for("torch.where")
        condition = _all_of([_condition(node, rw, ctx) for node in dynamic], rw)
        lines = []
        if len(selected) > 1:
            name = rw.fresh_name("condition", within=ctx.function or owner)
            lines.append(f"{name} = {condition}")
            condition = name
        otherwise = {name: rw.text(value) for name, value in other}
        for name, value in then:
            text = rw.text(value)
            lines.append(
                f"{name} = {where}({condition}, {text}, {otherwise.get(name, name)})"
                if name in selected
                else f"{name} = {text}"
            )
        if static:
            lines = [f"if {' and '.join(map(rw.text, static))}:", *(f"    {line}" for line in lines)]
        rw.replace_statement(owner, "\n".join(lines))

    arms = [[value, *(v for n, v in other if n == name), *([] if other else [ast.Name(name)])] for name, value in then]
    same = all(preserves(dynamic, arm, owner, name, ctx) for arm, (name, _) in zip(arms, then, strict=True))
    return _select_fix(build, preserves=same and not local)


def _select_returns(owner: ast.If, ctx: Context) -> Fix | None:
    static, dynamic = _split(owner.test, ctx)
    if static or not dynamic or len(owner.body) != 1 or not isinstance(owner.body[0], ast.Return):
        return None
    following = owner.orelse[0] if len(owner.orelse) == 1 else None if owner.orelse else _next_statement(owner, ctx)
    first = owner.body[0].value
    if not isinstance(following, ast.Return) or first is None or following.value is None:
        return None
    second = following.value
    if not _selectable([first, second], ctx):
        return None

    def build(rw: Rewriter) -> None:
        condition = _all_of([_condition(node, rw, ctx) for node in dynamic], rw)
        text = f"return {rw.name_for('torch.where')}({condition}, {rw.text(first)}, {rw.text(second)})"
        rw.replace_statement(owner, text)
        if not owner.orelse:
            rw.delete_statement(following)

    return _select_fix(build, preserves=preserves(dynamic, [first, second], owner, None, ctx))


def _select_fix(build: Callable[[Rewriter], None], *, preserves: bool) -> Fix:
    from compilelint.sdk import Fix

    title = "select with torch.where"
    if preserves:
        why = "both sides are computed of one tensor, have its shape and dtype, and can't fail"
        return Fix(title, Applicability.SAFE, build, why)
    why = "both sides are computed always, must have one shape and dtype, and the result is a new tensor"
    return Fix(title, Applicability.UNSAFE, build, why)


def _split(test: ast.expr, ctx: Context) -> tuple[list[ast.expr], list[ast.expr]]:
    """The static operands that come first in an `and`, then the tensor operands; two empty lists for other mixtures."""
    operands = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    dynamic = [_is_condition(node, ctx) for node in operands]
    if True not in dynamic or not all(dynamic[dynamic.index(True) :]):
        return [], []
    first = dynamic.index(True)
    return list(operands[:first]), list(operands[first:])


def _is_condition(node: ast.expr, ctx: Context) -> bool:
    """Whether a truth test reads tensors only."""
    if isinstance(node, ast.BoolOp):
        return all(_is_condition(value, ctx) for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _is_condition(node.operand, ctx)
    if (isinstance(node, ast.Compare) and len(node.ops) > 1) or _may_be_number(node, ctx):
        return False
    if (inner := _builtin_reduction(node)) is not None:
        return tensor_of(ctx.value(inner)) is not None
    tensor = tensor_of(ctx.value(node))
    return tensor is not None and tensor.kind != "numpy"


def _may_be_number(node: ast.expr, ctx: Context) -> bool:
    """Whether another path of the function makes it a number, or a parameter in it is annotated `int | Tensor` or the
    like: other callers pass what isn't a tensor."""
    if any(isinstance(value, (Const, Scalar)) for value in options(without_none(ctx.value(node)))):
        return True
    if ctx.function is None:
        return False
    given, read = ctx.function.args, {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        if argument.arg in read and argument.annotation is not None:
            named = {n.id for n in ast.walk(argument.annotation) if isinstance(n, ast.Name)}
            if named & {"int", "float", "bool"} and any(name.endswith("Tensor") for name in _last_names(argument)):
                return True
    return False


def _last_names(argument: ast.arg) -> set[str]:
    """The last parts of the names in an annotation: `Tensor` of `torch.Tensor`."""
    assert argument.annotation is not None
    nodes = list(ast.walk(argument.annotation))
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


def _builtin_reduction(node: ast.expr) -> ast.expr | None:
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("any", "all", "bool")
        and len(node.args) == 1
    ):
        return node.args[0]
    return None


def _is_call_of(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _condition(node: ast.expr, rw: Rewriter, ctx: Context) -> str:
    """The tensor that is true where the truth test is."""
    if isinstance(node, ast.BoolOp):
        function = rw.name_for("torch.logical_and" if isinstance(node.op, ast.And) else "torch.logical_or")
        text = _condition(node.values[0], rw, ctx)
        for value in node.values[1:]:
            text = f"{function}({text}, {_condition(value, rw, ctx)})"
        return text
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _negated(node.operand, rw, ctx)
    if (inner := _builtin_reduction(node)) is not None:
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return _condition(inner, rw, ctx) if node.func.id == "bool" else f"{_atom(inner, rw)}.{node.func.id}()"
    tensor = tensor_of(ctx.value(node))
    if tensor is not None and tensor.dtype == "bool":
        return rw.text(node)
    return f"{rw.operand(node)} != 0"


def _negated(node: ast.expr, rw: Rewriter, ctx: Context) -> str:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _condition(node.operand, rw, ctx)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        operator = "!=" if isinstance(node.ops[0], ast.Eq) else "=="
        return f"{rw.text(node.left)} {operator} {rw.text(node.comparators[0])}"
    if (inner := _builtin_reduction(node)) is not None and _is_call_of(node, "bool"):
        return _negated(inner, rw, ctx)
    if isinstance(node, ast.BoolOp) or inner is not None:
        return f"~{_condition(node, rw, ctx)}"
    tensor = tensor_of(ctx.value(node))
    if tensor is not None and tensor.dtype == "bool":
        return f"~{rw.operand(node)}"
    return f"{rw.operand(node)} == 0"


def _all_of(parts: Sequence[str], rw: Rewriter) -> str:
    text = parts[0]
    for part in parts[1:]:
        text = f"{rw.name_for('torch.logical_and')}({text}, {part})"
    return text


def _atom(node: ast.expr, rw: Rewriter) -> str:
    text = rw.text(node)
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"


def _message(message: ast.expr | None, rw: Rewriter) -> str:
    """A constant message; what an f-string would fill in stays as text in braces."""
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        return rw.text(message)
    if isinstance(message, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else _braced(part) for part in message.values]
        text = "".join(map(str, parts))
    else:
        text = "assertion failed" if message is None else _unparsed(message)
    return '"' + text.replace("\\", "\\\\").replace('"', "'").replace("\n", "\\n") + '"'


def _braced(part: ast.expr) -> str:
    return "{" + _unparsed(part.value) + "}" if isinstance(part, ast.FormattedValue) else _unparsed(part)


def _unparsed(node: ast.expr) -> str:
    from compilelint.fix.errors import CannotFix

    try:
        return ast.unparse(node)
    except ValueError as error:  # an int of more digits than Python writes
        raise CannotFix(str(error)) from None


def _assignments(body: Sequence[ast.stmt]) -> list[tuple[str, ast.expr]] | None:
    """Name and value of each statement; None where one is no assignment of a plain name."""
    found: list[tuple[str, ast.expr]] = []
    for statement in body:
        if (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            found.append((statement.targets[0].id, statement.value))
        else:
            return None
    return found


def _selectable(values: Sequence[ast.expr], ctx: Context) -> bool:
    """Whether all are tensors of one shape by construction, cheap, without side effects and with finite derivatives."""
    tensors = [tensor_of(ctx.value(value)) for value in values]
    if not all(tensor is not None and tensor.kind != "numpy" and not tensor.dynamic for tensor in tensors):
        return False
    if not all(_pure(value, ctx) for value in values):
        return False
    if all(tensor is not None and tensor.rank == 0 for tensor in tensors):
        return True
    read = [_shaped_by(value, ctx) for value in values]
    names = read[0].union(*read[1:])
    if names == read[0].intersection(*read[1:]):  # whatever their shapes are
        names = set()
    return all(_elementwise(value, ctx) for value in values) and not _may_not_fit(names, values[0].lineno, ctx)


def _pure(value: ast.expr, ctx: Context) -> bool:
    differentiable = not no_grad(value, ctx)
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Attribute) or node.func.attr.endswith("_"):
                return False
            if (differentiable and node.func.attr in FRAGILE) or node.func.attr in READS:
                return False
            owner = ctx.value(node.func.value)
            torch_function = isinstance(owner, (Namespace, External)) and owner.name.split(".")[0] == "torch"
            if not torch_function and tensor_of(owner) is None:
                return False
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Pow, ast.FloorDiv, ast.Mod)):
            if differentiable and tensor_of(ctx.value(node.right)) is not None:
                return False
        elif isinstance(node, (ast.Subscript, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)):
            return False
    return True


def _elementwise(value: ast.expr, ctx: Context) -> bool:
    if isinstance(value, (ast.Name, ast.Constant)):
        return True
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return True
    if isinstance(value, ast.UnaryOp):
        return _elementwise(value.operand, ctx)
    if isinstance(value, ast.BinOp):
        return (
            not isinstance(value.op, ast.MatMult) and _elementwise(value.left, ctx) and _elementwise(value.right, ctx)
        )
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ELEMENTWISE:
        receiver: Value = ctx.value(value.func.value)
        base = value.func.value if tensor_of(receiver) is not None else value.args[0] if value.args else None
        return base is not None and _elementwise(base, ctx)
    return tensor_of(ctx.value(value)) is None  # a number


def _known_before(name: str, owner: ast.stmt, ctx: Context) -> bool:
    """Whether the name is bound before the branch: as a parameter or by an earlier statement of the function."""
    function = ctx.function
    if function is None:
        return False
    arguments = function.args
    if any(a.arg == name for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)):
        return True
    return any(n.lineno < owner.lineno for n in stored(function, name))


def _may_not_fit(names: set[str], line: int, ctx: Context) -> bool:
    """Whether one of several tensors got another shape before a line."""
    return len(names) > 1 and any(_is_resized(name, line, ctx) for name in names)


def _shaped_by(value: ast.expr, ctx: Context) -> set[str]:
    """The tensors of which a value may have its shape."""
    tensor = tensor_of(ctx.value(value))
    if tensor is not None and tensor.rank == 0:
        return set()
    if isinstance(value, ast.Name):
        return {value.id} if tensor is not None else set()
    return set().union(*(_shaped_by(n, ctx) for n in ast.iter_child_nodes(value) if isinstance(n, ast.expr)))


def _is_resized(name: str, line: int, ctx: Context) -> bool:
    """Whether what is assigned to a name before a line is something else than tensors computed element by element."""
    asked: dict[str, int] = {}  # what stands before a line stands before a later one, too
    left = [(name, line)]
    while left:
        name, line = left.pop()
        if asked.get(name, 0) >= line:
            continue
        asked[name] = line
        for value in _assigned(name, line, ctx):
            tensor = tensor_of(ctx.value(value))
            if tensor is not None and tensor.rank == 0:
                continue
            if not _elementwise(value, ctx):
                return True
            left += [(each, value.lineno) for each in names_in(value)]
    return False


def _fails_backward(name: str, line: int, ctx: Context) -> bool:
    """Whether backward may need what a name held before a line, and not find it as it was."""
    if ctx.function is None or not writes_in_place(ctx.function, ctx):
        return False
    made = [tensor_of(ctx.value(value)) for value in _assigned(name, line, ctx)]
    return any(tensor is not None and is_needed_backward(tensor) for tensor in made)


def _assigned(name: str, line: int, ctx: Context) -> list[ast.expr]:
    found = []
    for node in stored(ctx.function, name) if ctx.function is not None else ():
        statement = ctx.parent(node)
        while isinstance(statement, (ast.Tuple, ast.List, ast.Starred)):
            statement = ctx.parent(statement)
        if isinstance(statement, ast.Assign) and statement.lineno < line:
            found.append(statement.value)
    return found


def _next_statement(owner: ast.stmt, ctx: Context) -> ast.stmt | None:
    block = block_of(owner, ctx)
    return next((after for before, after in pairwise(block) if before is owner), None)
