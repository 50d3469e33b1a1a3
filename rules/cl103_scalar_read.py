"""A Python number or text read from a tensor breaks the graph and makes the CPU wait for the device.

## What it does
Reports, in compiled code, `.item()`, `int(t)`, `float(t)`, `bool(t)`, `complex(t)`, `str(t)`, `"%s" % t`,
`math.f(t)`, `range(t)`, slice bounds and list indices that are tensors, `torch.equal`, `torch.allclose`,
`torch.is_nonzero`, `torch._assert`, `value in t`, `x[i]` with a computed 0-d `i`, and the builtin `pow` of a computed
tensor. The same reads outside compiled code are CL201, CL204 and CL205.

## Why it costs
The graph ends where Python needs the number, and what follows is a second graph (or, in a loop, `with` or `try`,
none). On a GPU the CPU waits until all work before the read is done.

## Example
    n = mask.sum().item()
    return total / n

## Use instead
    return total / mask.sum()

A 0-d tensor does where a number would: in arithmetic, comparisons, `torch.full(size, t)`, `torch.where`. Return
tensors from the compiled function and read them where they are logged.

## Fix safety
Safe where the tensor was made of a list of integers that the same function writes out, and both are bound once and
only read: the list is read. Unsafe where the list comes from elsewhere, where callers have that list
and pass it instead, and where all that is done with the number takes a 0-d tensor as well (arithmetic with tensors,
bounds of `clamp`, fills, a return), which may change a result's dtype by promotion; an index becomes a vector
of one, and `torch.equal` in a test `(a == b).all()`. Elsewhere manual.

## Versions
All releases. `torch._dynamo.config.capture_scalar_outputs` keeps the read in the graph, and the wait.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Compare,
    Context,
    Convert,
    Event,
    Fix,
    Read,
    Report,
    Rule,
    Seq,
    Value,
    Write,
    break_effects,
    compare_on_device,
    cost,
    index_instead,
    index_parts,
    is_given,
    keep_tensor,
    pass_the_list,
    read_the_list,
    select_row,
    tensor_of,
    words,
)

ITEM = "Unsupported Tensor.item() call with capture_scalar_outputs=False"
rule = Rule(
    "CL103",
    "scalar-read-in-graph",
    effects=("graph-break", "sync"),
    gb_types=(ITEM, "Data dependent operator", "Failed to trace builtin operator"),
    fixable=Applicability.UNSAFE,
)

METHODS = words("item __int__ __float__ __bool__ __index__ __complex__ __contains__ equal allclose is_nonzero")
FUNCTIONS = words(
    "torch.equal torch.allclose torch.is_nonzero torch._assert torch._check_tensor_all torch.cov torch.corrcoef"
)
HINT = "keep it a 0-d tensor, or read it outside the compiled region"
QUIET = ("format", "len-arg", "math", "order")  # f"{t}" is traced; sizes are CL106, sorting CL121; math: as calls


def report(event: Event, value: Value, what: str, ctx: Context, fix: Fix | None = None) -> Iterator[Report]:
    if ctx.compiled and tensor_of(value) is not None:
        message = f"`{ctx.source(event.node)}` {what}: {cost(event, ctx)}"
        yield Report(event.node, message, because=value, effects=break_effects(value), hint=HINT, fix=fix)


@rule.on(Call, *(f"Tensor.{name}" for name in METHODS), "numpy.ndarray.item", "numpy.ndarray.tolist", *FUNCTIONS)
def call(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.receiver if event.receiver is not None else event.argument(0, "input")
    if value is not None:
        fix = read_the_list(event, ctx) or keep_tensor(event, ctx) or compare_on_device(event, ctx)
        yield from report(event, value, "reads a tensor's value", ctx, fix)


def is_known_number(value: Value) -> bool:
    """Whether NumPy made it of Python numbers: Dynamo may know what it is."""
    tensor = tensor_of(value)
    return tensor is not None and tensor.kind == "numpy" and tensor.constant


@rule.on(Convert)
def convert(event: Convert, ctx: Context) -> Iterator[Report]:
    asks = event.kind not in QUIET or (event.kind == "format" and text_is_used(event, ctx))
    if asks and not is_known_number(event.value):
        fix = (
            pass_the_list(event, ctx)
            or read_the_list(event, ctx)
            or index_instead(event, ctx)
            or keep_tensor(event, ctx)
        )
        yield from report(event, event.value, "needs a Python value of a tensor", ctx, fix)


def text_is_used(event: Convert, ctx: Context) -> bool:
    """Whether the text that a tensor is formatted into is measured, joined, compared or looked up: it must be known."""
    node: ast.AST | None = event.node
    while isinstance(node, ast.expr) and not isinstance(node, (ast.JoinedStr, ast.Call)):
        node = ctx.parent(node)
    user = ctx.parent(node) if isinstance(node, ast.JoinedStr) or node is event.node else None
    while isinstance(user, ast.FormattedValue):
        user = ctx.parent(user)
    match user:
        case ast.Call(func=ast.Name(id="len" | "hash" | "int" | "float")) | ast.BinOp() | ast.Compare():
            return True
        case ast.Subscript(slice=index):
            return index is node
    return False


@rule.on(Call, "math.*")
def math_call(event: Call, ctx: Context) -> Iterator[Report]:
    if event.target == "math.prod":
        return  # iterates
    for value in event.args:
        if tensor_of(value) is not None and not is_known_number(value):
            yield from report(event, value, "needs a Python number", ctx, keep_tensor(event, ctx))
            return


@rule.on(Call, "hex", "oct", "bin", "chr")
def builtin(event: Call, ctx: Context) -> Iterator[Report]:
    if event.args:
        yield from report(event, event.args[0], "needs a Python number", ctx)


@rule.on(Compare)
def membership(event: Compare, ctx: Context) -> Iterator[Report]:
    if event.operator in ("in", "not in"):
        yield from report(event, event.right, "searches a tensor for a Python answer", ctx)
        number = tensor_of(event.left)
        if number is not None and number.kind == "numpy" and isinstance(event.right, Seq):
            yield from report(event, event.left, "compares a NumPy number in Python", ctx)


@rule.on(Read)
@rule.on(Write)
def indexed(event: Read | Write, ctx: Context) -> Iterator[Report]:
    """`x[x.argmax()]`: an index without dimensions is read as a number."""
    for part in index_parts(event.index) if ctx.compiled and tensor_of(event.base) is not None else ():
        tensor = tensor_of(part)
        if (
            tensor is not None
            and tensor.rank == 0
            and tensor.dtype == "int"
            and not (tensor.constant or is_given(part))
        ):
            message = f"`{ctx.source(event.node)}` reads its index from a tensor: {cost(event, ctx)}"
            hint = "`x[t.reshape(1)].squeeze(0)` keeps it on the device"
            yield Report(
                event.node, message, because=part, effects=break_effects(part), gb_types=("Data dependent operator",),
                hint=hint, fix=select_row(event, ctx) if isinstance(event, Read) else None, number=True,
            )  # fmt: skip
            return


@rule.on(Call, "pow")
def power(event: Call, ctx: Context) -> Iterator[Report]:
    value = next((v for v in event.args if tensor_of(v) is not None and not is_given(v)), None)
    if value is not None:
        yield from report(event, value, "is the builtin, which Dynamo traces for numbers and inputs alone", ctx)
