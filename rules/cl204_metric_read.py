"""A metric read from the device in every step, where one read after the steps would do.

## What it does
Reports `total += loss.item()`, `losses.append(loss.item())`, `meter.update(float(loss))`,
`writer.add_scalar("loss", loss.item(), step)` and the like in a loop that trains, evaluates or decodes.

## Why it costs
Nothing in the step needs the number, yet the CPU waits for the step to finish before it queues the next. Projects
that removed it report 40 to 50 ms a step.

## Example
    for x, y in batches:
        loss = train_step(x, y)
        total += loss.item()
    print(total)

## Use instead
    for x, y in batches:
        loss = train_step(x, y)
        total += loss.detach()
    print(float(total))

Or read every N steps: a read under `if step % n == 0` is a note only.

## Fix safety
Unsafe: the sum is kept on the device and rounded in the tensor's own type (Python adds in double precision), and
all that is added must be on one device. Offered where the name is a local number that starts from a constant, what is
added is the read, alone or in arithmetic with numbers of the host (`norm.item() ** 2`), and no round reads the sum.
Each other use becomes `float(total)`, which does for a loop of no rounds too. A running average and the least or
greatest so far are kept likewise. What is appended to a list that the loop only fills, and that has no other name, is
read at once behind the loop where each round makes its tensor anew and writes none in place. For the rest: manual.

## Versions
All releases.

## References
https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Const,
    Context,
    Convert,
    Event,
    Fix,
    Report,
    Rule,
    Value,
    collect_in_loop,
    is_detached,
    is_host_number,
    names_in,
    on_device,
    read_after_loop,
    read_kind,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL204", "metric-read", effects=("sync",), fixable=Applicability.UNSAFE)

HINT = "accumulate `.detach()`ed tensors, and read them once after the loop or every N steps"


def report(event: Event, value: Value, ctx: Context) -> Iterator[Report]:
    if ctx.compiled or not on_device(value) or read_kind(event, ctx) != "metric":
        return
    often = "every few steps" if "every-n" in event.site.gates else "in every step"
    message = f"`{ctx.source(event.node)}` is read {often}: the CPU waits for the device each time"
    yield Report(
        event.node, message, because=value, hint=HINT, fix=accumulate(event, value, ctx) or collect_in_loop(event, ctx)
    )


@rule.on(Call, "Tensor.item")
def items(event: Call, ctx: Context) -> Iterator[Report]:
    if event.receiver is not None:
        yield from report(event, event.receiver, ctx)


@rule.on(Convert)
def converts(event: Convert, ctx: Context) -> Iterator[Report]:
    if event.kind != "order":
        yield from report(event, event.value, ctx)


@rule.on(Call, "print", "logging.*")
def shows(event: Call, ctx: Context) -> Iterator[Report]:
    for value in event.args:
        if on_device(value):
            yield from report(event, value, ctx)
            return


def accumulate(event: Event, value: Value, ctx: Context) -> Fix | None:
    """`total += loss.item()`, `total` a local number of this function that nothing else writes but constants.

    What is added may be arithmetic of the read and numbers of the host: `total += loss.item() * rows`.
    """
    node, statement, function = event.node, event.statement, ctx.function
    if function is None or isinstance(function, ast.Lambda) or not isinstance(node, ast.Call):
        return None
    read, added = read_in(node), added_to(statement)
    if read is None or added is None or not computes(node, added[1], ctx):
        return None
    name = added[0]
    scopes = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.Global, ast.Nonlocal)
    if name in parameters(function) or any(isinstance(n, scopes) for n in ast.walk(function) if n is not function):
        return None
    uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
    own = {id(n) for n in ast.walk(own_sum(statement) or statement)}
    reads = [n for n in uses if isinstance(n.ctx, ast.Load) and id(n) not in own]
    if not all(plain_store(n, statement, ctx) for n in uses if not isinstance(n.ctx, ast.Load)):
        return None
    if any(each_round(n, event, ctx) for n in reads):
        return None
    tensor = tensor_of(value)
    if (extreme := extreme_of(statement, node)) is not None and (tensor is None or tensor.rank != 0):
        return None
    if extreme is None and (fix := read_after_loop(event, tensor, read, name, added[1], ctx)) is not None:
        return fix
    counts = tensor is not None and tensor.dtype in ("int", "bool")  # what has no gradient
    whole = counts and added[1] is node and isinstance(node.func, ast.Attribute)
    starts = [start_of(n, ctx) for n in uses if isinstance(n.ctx, ast.Store) and ctx.parent(n) is not statement]
    number = "int" if whole and all(map(is_whole, starts)) else "float"

    loop = event.site.loops[-1].node if event.site.loops else None
    in_text = ctx.python < (3, 12) and any(has_above(use, ast.JoinedStr, ctx) for use in reads)
    if in_text and (loop is None or any(has_above(use, loop, ctx) for use in reads)):
        return None  # before Python 3.12 nothing in an f-string can be replaced

    def build(rw: Rewriter) -> None:
        if extreme is not None:
            rw.replace(added[1], f"{rw.operand(read)}.detach().clamp({extreme}={name})")
        else:
            rw.replace(node, rw.code(read) if counts or is_detached(read) else f"{rw.operand(read)}.detach()")
        if in_text and isinstance(loop, ast.stmt):
            rw.insert_after(loop, f"{name} = {number}({name})")
            return
        for use in reads:
            if not is_converted(use, number, ctx):
                rw.replace(use, f"{number}({name})")

    why = "the sum is kept on the device, in the tensor's own precision; the tensors must be on one device"
    return Fix("Accumulate on the device", Applicability.UNSAFE, build, why)


def read_in(node: ast.Call) -> ast.expr | None:
    """The tensor of `t.item()` and `float(t)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=read, attr="item"), args=[], keywords=[]):
            return read
        case ast.Call(func=ast.Name(id="float"), args=[read], keywords=[]):
            return read
    return None


def extreme_of(statement: ast.stmt, node: ast.AST) -> str | None:
    """The bound of `clamp` that takes the place of `best = min(best, loss.item())`."""
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Name(id="min" | "max" as which), args=args)) if node in args:
            return "max" if which == "min" else "min"
    return None


def own_sum(statement: ast.stmt) -> ast.AST | None:
    """The `total + x` of `total = total + x`."""
    return statement.value if isinstance(statement, ast.Assign) else None


def added_to(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The name and the summand of `total += x` and `total = total + x`."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            return name, value
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add(), left=left, right=right)):
            if isinstance(left, ast.Name) and left.id == name:
                return name, right
            if isinstance(right, ast.Name) and right.id == name:
                return name, left
            if name in names_in(left) | names_in(right):
                return name, statement.value  # a running average
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="min" | "max"), args=[_, _] as args) as value
        ):
            if name in {each.id for each in args if isinstance(each, ast.Name)}:
                return name, value
    return None


def computes(node: ast.expr, summand: ast.expr, ctx: Context) -> bool:
    """Whether all that is done with the read is arithmetic with numbers of the host, before it is added."""
    while node is not summand:
        parent = ctx.parent(node)
        match parent:
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
                pass
            case ast.BinOp(left=left, op=ast.Div()) if left is node:
                other = ctx.value(parent.right)
                if not isinstance(other, Const) and not is_size(parent.right):
                    return False  # Python raises on a division by zero, a tensor becomes infinite
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant()) if left is node:
                pass
            case ast.UnaryOp(op=ast.USub()):
                pass
            case ast.Call(func=ast.Name(id="min" | "max")) if parent is summand:
                return True
            case _:
                return False
        if isinstance(parent, ast.BinOp):
            other_side = parent.right if parent.left is node else parent.left
            if is_average(other_side, summand, ctx):
                node = parent
                continue
            if not is_host_number(ctx.value(other_side)) and not is_size(other_side):
                return False
        node = parent
    return True


def is_average(node: ast.expr, summand: ast.expr, ctx: Context) -> bool:
    """The `0.9 * avg` of `avg = 0.9 * avg + 0.1 * loss.item()`."""
    assign = ctx.parent(summand)
    if not isinstance(assign, ast.Assign) or not isinstance(assign.targets[0], ast.Name):
        return False
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            sides = [side for side in (left, right) if ast.unparse(side) != assign.targets[0].id]
            return len(sides) == 1 and is_host_number(ctx.value(sides[0]))
    return False


def is_size(node: ast.expr) -> bool:
    """`len(loader)`, `x.shape[0]` and `x.size(0)`: a number of the host whatever they are taken of."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[_]):
            return True
        case ast.Call(func=ast.Attribute(attr="size"), args=[ast.Constant()], keywords=[]):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
            return True
    return False


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    given = function.args
    rest = [a for a in (given.vararg, given.kwarg) if a is not None]
    return {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs, *rest)}


def each_round(use: ast.Name, event: Event, ctx: Context) -> bool:
    """Whether a use stands in the loop that accumulates, under no condition but its own: then there is nothing to
    gain."""
    loop = event.site.loops[-1].node if event.site.loops else None
    node: ast.AST | None = use
    gated = False
    while node is not None and node is not loop:
        below, node = node, ctx.parent(node)
        gated = gated or (isinstance(node, ast.If) and below is not node.test)
    return loop is not None and node is loop and not gated


def has_above(node: ast.AST | None, wanted: ast.AST | type[ast.AST], ctx: Context) -> bool:
    """Whether a node, or a node of a type, stands above another."""
    while node is not None:
        if node is wanted or (isinstance(wanted, type) and isinstance(node, wanted)):
            return True
        node = ctx.parent(node)
    return False


def is_converted(use: ast.Name, number: str, ctx: Context) -> bool:
    """`float(total)` already."""
    call = ctx.parent(use)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == number


def plain_store(use: ast.Name, statement: ast.stmt, ctx: Context) -> bool:
    """The accumulation itself, or a start from a constant number."""
    return ctx.parent(use) is statement or ((start := start_of(use, ctx)) is not None and is_start(start))


def start_of(use: ast.Name, ctx: Context) -> ast.expr | None:
    """What a name is bound to where it is stored."""
    parent = ctx.parent(use)
    if isinstance(parent, ast.Tuple) and isinstance(parent.ctx, ast.Store):
        assign = ctx.parent(parent)
        values = assign.value if isinstance(assign, ast.Assign) else None
        if not isinstance(values, ast.Tuple) or len(values.elts) != len(parent.elts):
            return None
        return values.elts[parent.elts.index(use)]
    return parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None


def is_whole(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def is_start(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return True
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="inf" | "-inf")]):
            return True
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)
