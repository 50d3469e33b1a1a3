"""One read of the device for each key or element, where a single copy would bring them all.

## What it does
Reports `{k: v.item() for k, v in losses.items()}`, `[float(x) for x in values]` and a loop over `losses.items()` or
`.values()` that reads each value.

## Why it costs
Each read waits for the device and copies four bytes. K reads cost K round trips; one stacked copy costs one.

## Example
    row = {k: v.item() for k, v in losses.items()}

## Use instead
    row = dict(zip(losses, torch.stack(list(losses.values())).tolist()))

## Fix safety
Unsafe: `torch.stack` wants tensors of one shape, and promotes their types to a common one (an int among floats
comes back as a float). Offered for a comprehension or a loop over `.items()` that only reads the values, and a list
comprehension over a list, without a condition. An empty dict is kept as it is. Where else each value of a dict is read,
and nothing but read, the loop runs over `to_host` of `compilelint.ops`, which reads all first, whatever their types.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.stack.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Convert,
    Event,
    Fix,
    Map,
    Report,
    Rule,
    Seq,
    Severity,
    Value,
    enclosing,
    is_reported,
    on_device,
    read_kind,
    stack_items,
    tensor_of,
    used_after,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL205", "read-per-key", effects=("sync",), fixable=Applicability.UNSAFE)

HINT = "stack them and read once: `torch.stack(list(d.values())).tolist()`"


def report(event: Event, value: Value, ctx: Context) -> Iterator[Report]:
    if ctx.compiled or not on_device(value) or read_kind(event, ctx) != "per-key":
        return
    message = f"`{ctx.source(event.node)}` is read once for each key: the CPU waits for the device each time"
    severity = Severity.NOTE if is_reported(event, ctx) else None
    fix = stacked(event, ctx) or stack_items(event, ctx) or read_first(event, ctx)
    yield Report(event.node, message, because=value, hint=HINT, severity=severity, fix=fix)


@rule.on(Call, "Tensor.item", "Tensor.tolist")
def items(event: Call, ctx: Context) -> Iterator[Report]:
    if event.receiver is not None and event.target == "Tensor.item":
        yield from report(event, event.receiver, ctx)


@rule.on(Convert)
def converts(event: Convert, ctx: Context) -> Iterator[Report]:
    if event.kind in ("int", "float", "bool"):
        yield from report(event, event.value, ctx)


def read_name(node: ast.AST) -> str | None:
    """The name read by `v.item()`, `v.detach().item()` or `float(v)`."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    inner: ast.expr | None = None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        inner = node.func.value
    elif isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1:
        inner = node.args[0]
    while (
        isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in ("detach", "cpu")
    ):
        inner = inner.func.value
    return inner.id if isinstance(inner, ast.Name) else None


def read_first(event: Event, ctx: Context) -> Fix | None:
    """`for k, v in d.items(): out[k] = v.item()` and comprehensions like it: over `to_host(d)`."""
    around: ast.AST | None = event.node
    while around is not None and not isinstance(around, (ast.For, ast.DictComp, ast.ListComp, ast.FunctionDef)):
        around = ctx.parent(around)
    match around:
        case ast.For(target=target, iter=ran_over, orelse=[]):
            inside: list[ast.AST] = list(around.body)
        case ast.DictComp(key=key, value=value, generators=[ast.comprehension(target=target, iter=ran_over, ifs=ifs)]):
            inside = [key, value, *ifs]
        case ast.ListComp(elt=elt, generators=[ast.comprehension(target=target, iter=ran_over, ifs=ifs)]):
            inside = [elt, *ifs]
        case _:
            return None
    match ran_over, target:
        case ast.Call(func=ast.Attribute(value=held, attr="items"), args=[]), ast.Tuple(elts=[_, ast.Name(id=name)]):
            pass
        case ast.Call(func=ast.Attribute(value=held, attr="values"), args=[]), ast.Name(id=name):
            pass
        case _:
            return None
    nodes = [node for part in inside for node in ast.walk(part)]
    reads = [node for node in nodes if isinstance(node, ast.Call) and read_name(node) == name]
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    if not isinstance(ctx.value(held), Map) or event.node not in reads or len(uses) != len(reads):
        return None
    if isinstance(around, ast.For) and used_after(name, around, ctx.function):
        return None  # it would be a number there too

    def build(rw: Rewriter) -> None:
        rw.replace(held, f"{rw.name_for('compilelint.ops.to_host')}({rw.code(held)})")
        for read in reads:
            rw.replace(read, name if isinstance(read.func, ast.Attribute) else f"float({name})")

    return Fix("Read them all at once first", Applicability.UNSAFE, build, "all are read before the first is used")


def stacked(event: Event, ctx: Context) -> Fix | None:
    """The whole comprehension as one stacked read, where it does nothing but read."""
    node = enclosing(event, ctx, ast.DictComp, ast.ListComp)
    if not isinstance(node, (ast.DictComp, ast.ListComp)) or len(node.generators) != 1 or node.generators[0].ifs:
        return None
    generator, name = node.generators[0], read_name(event.node)
    match node, generator:
        case (
            ast.DictComp(key=ast.Name(id=key), value=value),
            ast.comprehension(
                target=ast.Tuple(elts=[ast.Name(id=k), ast.Name(id=v)]),
                iter=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=source) as holder, attr="items"), args=[], keywords=[]
                ),
            ),
        ) if value is event.node and key == k and name == v:
            code, empty = "dict(zip({0}, {1}(list({0}.values())).tolist()))", "{{}}"
        case (
            ast.ListComp(elt=elt),
            ast.comprehension(target=ast.Name(id=v), iter=ast.Name(id=source) as holder),
        ) if elt is event.node and name == v:
            code, empty = "{1}({0}).tolist()", "[]"
        case _:
            return None

    held = ctx.value(holder)
    if isinstance(node, ast.ListComp) and not isinstance(held, Seq):
        return _whole(node, holder, ctx)
    if isinstance(held, Seq) and held.kind not in ("list", "tuple"):
        return None  # a set or a generator can't be stacked
    full = isinstance(held, (Map, Seq)) and bool(held.items)

    def build(rw: Rewriter) -> None:
        template = code if full else f"{code} if {{0}} else {empty}"
        rw.replace(node, template.format(source, rw.name_for("torch.stack")))

    why = "the tensors must have one shape, and are read in their common type"
    return Fix("Read them with one stacked copy", Applicability.UNSAFE, build, why)


def _whole(node: ast.expr, holder: ast.Name, ctx: Context) -> Fix | None:
    """A read of each element of a tensor: of the tensor. What may be one, or a list, is left as it is."""
    tensor = tensor_of(ctx.value(holder))
    if tensor is None or tensor.rank not in (1, None):
        return None

    def build(rw: Rewriter) -> None:
        rw.replace(node, f"{holder.id}.tolist()")

    why = "the tensor must have one dimension, and is read in its own type"
    return Fix("Read the tensor with one copy", Applicability.UNSAFE, build, why)
