"""Tensors of a list added up, or reduced to a number each, one by one in Python: kernel launches for each.

## What it does
Reports `for t in tensors: total = total + t` and builtin `sum(tensors)` over a list or tuple of tensors of unknown
or large length. Outside compiled code also what takes a number of each tensor: `total += p.pow(2).sum()` in a loop that
does nothing else, `sum(p.abs().sum() for p in params)`, `torch.stack([g.norm() for g in grads])`. A short list of
known length is left alone.

## Why it costs
1,000 tensors of 4,096 floats: 22 ms and 2,001 kernels; compiled, 37 s to compile and still 957 kernels. One `cat`
and one `sum`: 0.28 ms. One kernel over a table of pointers, as `compilelint.ops.sum_tensors` has it: 0.04 ms.

## Example
    total = 0
    for p in model.parameters():
        total += p.pow(2).sum()

## Use instead
    total = squared_norm_each(model.parameters()).sum()    # from compilelint.ops

and `torch.stack(tensors).sum(0)` for the sum of tensors of one shape, `torch._foreach_norm` for norms.

## Fix safety
Unsafe: the order of summation, and so the last digits, change. `stack` wants tensors of one shape and type, where
adding broadcasts. The operators of `compilelint.ops` want floating-point tensors on one device, and give float32 for
half precision. An empty list gives 0, as before; norms refuse it. None where the loop's variable is read behind it.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.stack.html
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from compilelint.sdk import (
    Accumulate,
    Applicability,
    Call,
    Context,
    Each,
    Fix,
    Lists,
    LoopEnd,
    Report,
    Rule,
    Seq,
    Severity,
    Value,
    comprehension_of,
    is_number,
    is_tensor_place,
    loop_of,
    names_in,
    on_device,
    options,
    tensor_of,
    used_after,
    used_outside,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL301", "sum-of-list", effects=("launch",), fixable=Applicability.UNSAFE)

FEW = 8  # of known length: not worth a word
MANY = 32
HINT = "`torch.stack(tensors).sum(0)` is two kernels"
WHY = "last digits may differ; floating-point tensors on one device needed"
OPS = "compilelint.ops."
# What is computed of each tensor → all of them as one tensor, and their sum.
EACH = {"sum": "sum_each", "square": "squared_norm_each", "mean": "mean_each", "largest": "max_abs_each"}
ORDERS = {"norm": "", "abs": ", 1"}


def size(tensors: Value) -> int | None:
    """How many tensors a list holds: 0 where it isn't one of device tensors, None where nobody knows."""
    if not isinstance(tensors, Seq) or tensors.kind not in ("list", "tuple"):
        return 0
    item = tensors.any_item()
    if not on_device(item) or any(map(is_number, options(item))):
        return 0  # numbers on another path: `if losses: losses = torch.stack(losses).tolist()`
    return None if tensors.items is None else len(tensors.items)


def report(node: ast.AST, tensors: Value, count: int | None, fix: Fix | None) -> Iterator[Report]:
    if count is None or count >= FEW:
        severity = Severity.NOTE if count is None or count < MANY else None
        message = "tensors are added one by one in Python: a kernel launch for each"
        yield Report(node, message, because=tensors, hint=HINT, severity=severity, fix=fix)


@rule.on(Call, "sum")
def summed(event: Call, ctx: Context) -> Iterator[Report]:
    call, tensors = event.node, event.args[0] if event.args else None
    if tensors is None or not isinstance(call, ast.Call) or (count := size(tensors)) == 0:
        return
    name = call.args[0]
    fix = None
    if isinstance(name, ast.Name) and len(call.args) == 1 and not call.keywords:

        def build(rw: Rewriter) -> None:
            total = f"{rw.name_for('torch.stack')}({name.id}).sum(0)"
            rw.replace(call, total if count else f"{total} if {name.id} else 0")

        fix = Fix("Stack and sum", Applicability.UNSAFE, build, "one shape and type needed; last digits may differ")
    yield from report(call, tensors, count, fix)


@rule.on(Accumulate)
def looped(event: Accumulate, ctx: Context) -> Iterator[Report]:
    """The loop's own variable is what is added: nothing else is computed for it."""
    loop = event.loop.node
    if event.operator != "+" or not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return
    match event.statement:
        case ast.AugAssign(value=ast.Name(id=name)) | ast.Assign(value=ast.BinOp(right=ast.Name(id=name))):
            if name == loop.target.id and (count := size(event.loop.iterated)) != 0:
                fix = None if used_after(name, loop, ctx.function) else stack(loop, event.statement, name)
                yield from report(event.statement, event.loop.iterated, count, fix)


def stack(loop: ast.For, statement: ast.stmt, name: str) -> Fix | None:
    """`for t in ts: total = total + t`, nothing else in the loop, `ts` a name."""
    if loop.body != [statement] or loop.orelse or not isinstance(loop.iter, ast.Name):
        return None
    tensors = loop.iter.id

    def build(rw: Rewriter) -> None:
        summed = f"{rw.name_for('torch.stack')}({tensors}).sum(0)"
        head, _, _ = rw.code(statement).rpartition(name)
        rw.replace_statement(loop, f"if {tensors}:\n    {head}{summed}")

    return Fix("Stack and sum", Applicability.UNSAFE, build, "one shape and type needed; last digits may differ")


class Reduced(NamedTuple):
    """One number of each tensor: `place` is the tensor, `read` whether it is read to the host."""

    how: str
    place: ast.expr
    read: bool = False

    def all(self, rw: Rewriter, each: Each, ctx: Context) -> str:
        """The numbers of all tensors, as one tensor."""
        tensors = Lists(rw, each, ctx).of(self.place)
        if self.how in EACH:
            return f"{rw.name_for(OPS + EACH[self.how])}({tensors})"
        norms = f"{rw.name_for('torch._foreach_norm')}({tensors}{ORDERS[self.how]})"
        return f"{rw.name_for('torch.stack')}({norms})"

    def total(self, rw: Rewriter, each: Each, ctx: Context) -> str:
        if self.how == "sum":
            whole = f"{rw.name_for(OPS + 'sum_tensors')}({Lists(rw, each, ctx).of(self.place)})"
        else:
            whole = f"{self.all(rw, each, ctx)}.sum()"
        return whole + (".item()" if self.read else "")


@rule.on(Call, "sum", "torch.stack")
def of_each(event: Call, ctx: Context) -> Iterator[Report]:
    """`sum(p.pow(2).sum() for p in params)` and `torch.stack([p.norm() for p in params])`."""
    match event.node:
        case ast.Call(args=[only], keywords=[]) as call if (found := comprehension_of(only)) is not None:
            each, element = found
        case _:
            return
    if (
        ctx.compiled
        or (reduced := reduction(element, each, {}, ctx)) is None
        or (event.target != "sum" and reduced.read)
    ):
        return

    def build(rw: Rewriter) -> None:
        rw.replace(call, (reduced.total if event.target == "sum" else reduced.all)(rw, each, ctx))

    yield from reported(element, reduced, build, ctx)


@rule.on(LoopEnd)
def of_all(event: LoopEnd, ctx: Context) -> Iterator[Report]:
    """`for p in params: total += p.pow(2).sum()`; the number may have a name first."""
    if ctx.compiled or (found := loop_of(event.node)) is None:
        return
    each, body = found
    named: dict[str, ast.expr] = {}
    match body:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value), last] if not used_outside(
            name, event.node, ctx.function
        ):
            named[name] = value
        case [last]:
            pass
        case _:
            return
    match last:
        case ast.AugAssign(target=ast.Name(id=total), op=ast.Add(), value=added):
            pass
        case ast.Assign(
            targets=[ast.Name(id=total)], value=ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=added)
        ):
            if left != total:
                return
        case _:
            return
    held = any(used_after(name, event.statement, ctx.function) for name in each.names)
    factor, number = scaled(added, each, ctx)
    reduced = reduction(number, each, named, ctx)
    if reduced is None or total in each.names | names_in(added) | set(named):
        return

    def build(rw: Rewriter) -> None:
        whole = reduced.total(rw, each, ctx)
        summand = whole if factor is None else rw.fill("{factor} * {whole}", factor=factor, whole=whole)
        update = f"{total} += {summand}" if isinstance(last, ast.AugAssign) else f"{total} = {total} + {summand}"
        rw.replace_statement(event.statement, update)

    yield from reported(number, reduced, None if held else build, ctx)


def reported(
    node: ast.expr, reduced: Reduced, build: Callable[[Rewriter], None] | None, ctx: Context
) -> Iterator[Report]:
    message = f"`{ctx.source(node)}` launches its kernels once for each tensor of a list"
    function = f"`{OPS}{EACH[reduced.how]}`" if reduced.how in EACH else "`torch._foreach_norm`"
    why = WHY if reduced.how in EACH else "last digits may differ; an empty list is refused"
    fix = Fix("Reduce all tensors at once", Applicability.UNSAFE, build, why) if build is not None else None
    hint = f"{function} takes the whole list in one kernel or a few"
    yield Report(node, message, because=ctx.value(reduced.place), hint=hint, severity=Severity.NOTE, fix=fix)


def scaled(node: ast.expr, each: Each, ctx: Context) -> tuple[ast.expr | None, ast.expr]:
    """The number in `c * x`, where it is the same in all rounds, and the rest."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for factor, rest in ((node.left, node.right), (node.right, node.left)):
            if each.is_shared(factor) and tensor_of(ctx.value(factor)) is None:
                return factor, rest
    return None, node


def reduction(node: ast.expr, each: Each, named: dict[str, ast.expr], ctx: Context) -> Reduced | None:
    """What number of the round's tensor an expression is; `named` are the names that stand for an expression."""
    if isinstance(node, ast.Name) and node.id in named:
        return reduction(named[node.id], each, {}, ctx)
    match node:
        case ast.BinOp(left=inner, op=ast.Pow(), right=ast.Constant(value=2)):
            return squared(reduction(inner, each, named, ctx))
        case ast.Call(func=ast.Attribute(value=inner, attr="pow"), args=[ast.Constant(value=2)], keywords=[]):
            return squared(reduction(inner, each, named, ctx))
        case ast.Call(func=ast.Attribute(value=inner, attr="square"), args=[], keywords=[]):
            return squared(reduction(inner, each, named, ctx))
        case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
            found = reduction(inner, each, named, ctx)
            return found and found._replace(read=True)
    applied = function_of(node)
    if applied is None or is_short(ctx.value(each.source)):
        return None
    name, operand, order = applied
    orders = (None,) if name == "linalg.norm" else (None, 2)  # of a matrix its 2-norm is the spectral one
    if name in ("norm", "linalg.norm", "linalg.vector_norm") and order in orders and is_float(operand, each, ctx):
        return Reduced("norm", operand)
    if order is not None:
        return None
    if name in ("sum", "mean") and is_float(operand, each, ctx):
        return Reduced(name, operand)
    inner_most = squared_place(operand) if name == "sum" else None
    if inner_most is not None and is_float(inner_most, each, ctx):
        return Reduced("square", inner_most)
    inside = function_of(operand)
    if inside is None or inside[0] != "abs" or inside[2] is not None or not is_float(inside[1], each, ctx):
        return None
    how = {"sum": "abs", "max": "largest", "amax": "largest"}.get(name)
    return Reduced(how, inside[1]) if how else None


def is_short(tensors: Value) -> bool:
    """A few tensors, or the rows of one: that is CL304's."""
    few = isinstance(tensors, Seq) and tensors.items is not None and len(tensors.items) < FEW
    return few or tensor_of(tensors) is not None


def is_float(node: ast.expr, each: Each, ctx: Context) -> bool:
    held = tensor_of(ctx.value(node))
    return is_tensor_place(node, each, ctx) and held is not None and held.dtype in ("float", None)


def squared(found: Reduced | None) -> Reduced | None:
    return found._replace(how="square") if found is not None and found.how == "norm" else None


def squared_place(node: ast.expr) -> ast.expr | None:
    """The x of `x ** 2`, `x.pow(2)`, `x.square()`, `x * x`."""
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2)):
            return left
        case ast.BinOp(left=left, op=ast.Mult(), right=right) if ast.unparse(left) == ast.unparse(right):
            return left
    applied = function_of(node)
    if applied is not None and ((applied[0], applied[2]) in (("square", None), ("pow", 2))):
        return applied[1]
    return None


def function_of(node: ast.expr) -> tuple[str, ast.expr, object] | None:
    """The name, the operand and the further argument (a constant) of `x.name(n)` and `torch.name(x, n)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args, keywords=keywords):
            pass
        case _:
            return None
    written = ast.unparse(node.func)
    if written.startswith("torch."):
        if not args:
            return None
        operand, *rest = args
        name = written.removeprefix("torch.")
    else:
        operand, rest, name = value, args, attr
    rest = [*rest, *(keyword.value for keyword in keywords if keyword.arg in ("p", "ord"))]
    if len(rest) > 1 or any(keyword.arg not in ("p", "ord") for keyword in keywords):
        return None
    if not rest:
        return name, operand, None
    return (name, operand, rest[0].value) if isinstance(rest[0], ast.Constant) else None
