"""Reading a tensor's memory address or storage, or giving it new data, breaks the graph.

## What it does
Reports, in compiled code, `data_ptr()`, `storage()`, `untyped_storage()`, `storage_offset()`, `is_pinned()`,
`is_shared()`, `share_memory_()`, `is_set_to()`, `set_()`, `resize_()`, `apply_()`, `map_()`, and `t.data = …` of a
computed tensor.

## Why it costs
While tracing, tensors have no memory. The graph ends at the call; a test of an address makes Dynamo skip the frame.

## Example
    if x.data_ptr() % 16 != 0:
        x = x.clone()

## Use instead
Leave the test out (allocations are aligned), or put it into an operator made by `torch.library.custom_op`.
For `t.data = v`, use `t.copy_(v)` under `torch.no_grad()`, or a new name.

## Fix safety
Unsafe: a test of alignment before a `clone()` is dropped, and the clone made always. Elsewhere manual.

## Versions
All releases. `t.data` read, `x.data.add_(1)`, `stride()`, `is_contiguous()` and `element_size()` are traced.

## References
https://docs.pytorch.org/docs/stable/library.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, Store, cost, is_given, tensor_of, words

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule(
    "CL119",
    "storage-access-in-graph",
    effects=("graph-break",),
    gb_types=(
        "torch.* op returned non-Tensor",
        "Unsupported method call",
        "Failed to mutate tensor data attribute",
        "Observed exception",
    ),
    fixable=Applicability.UNSAFE,
)

METHODS = words(
    "storage storage_offset is_pinned is_shared share_memory_ is_set_to set_ resize_ resize_as_ apply_"
    " map_ __reduce_ex__ __array__ __dlpack__ __dlpack_device__"
)
HINT = "leave it out of the compiled region, or put it into a custom operator"


@rule.on(Call, *(f"Tensor.{name}" for name in METHODS), "torch.UntypedStorage.*", "torch.TypedStorage.*")
def access(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled and ctx.torch_says(event.target).get("breaks") is not False:
        message = f"`{ctx.source(event.node)}` reaches for a tensor's memory: {cost(event, ctx)}"
        yield Report(event.node, message, because=event.receiver, hint=HINT)


@rule.on(Call, "Tensor.data_ptr", "Tensor.untyped_storage")
def address(event: Call, ctx: Context) -> Iterator[Report]:
    """The object alone is traced; what is computed from it isn't."""
    used = isinstance(ctx.parent(event.node), (ast.BinOp, ast.Compare, ast.Attribute, ast.Call))
    if ctx.compiled and used and not event.discarded:
        message = f"`{ctx.source(event.node)}` reads a memory address or storage: {cost(event, ctx)}"
        yield Report(event.node, message, because=event.receiver, hint=HINT, fix=always_clone(event, ctx))


def always_clone(event: Call, ctx: Context) -> Fix | None:
    """`x if x.data_ptr() % n == 0 else x.clone()`, `if x.data_ptr() % n: x = x.clone()` → the clone, always."""
    node: ast.AST | None = event.node
    while node is not None and not isinstance(node, (ast.IfExp, ast.stmt)):
        node = ctx.parent(node)
    match node:
        case ast.IfExp(body=ast.Name(id=name), orelse=clone) | ast.IfExp(body=clone, orelse=ast.Name(id=name)):
            pass
        case ast.If(body=[ast.Assign(targets=[ast.Name(id=name)], value=clone)], orelse=[]):
            pass
        case _:
            return None
    match clone:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr="clone"), args=[], keywords=[]) if base == name:
            pass
        case _:
            return None
    whole, copied = node, clone

    def build(rw: Rewriter) -> None:
        if isinstance(whole, ast.If):
            rw.replace_statement(whole, f"{name} = {rw.text(copied)}")
        else:
            rw.replace(whole, rw.text(copied))

    return Fix(
        "clone always", Applicability.UNSAFE, build, "a copy at each call, and the result is never the same object"
    )


@rule.on(Store, "Tensor.data")
def data(event: Store, ctx: Context) -> Iterator[Report]:
    tensor = tensor_of(event.object)
    if ctx.compiled and tensor is not None and not is_given(tensor):
        message = f"`{ctx.source(event.node)} = …` swaps a tensor's memory: {cost(event, ctx)}"
        yield Report(event.node, message, because=tensor, hint="bind a new name, or `copy_` under `torch.no_grad()`")
