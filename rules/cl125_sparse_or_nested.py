"""Sparse and strided nested tensors can't be part of a graph.

## What it does
Reports, in compiled code, the making of sparse tensors (`to_sparse`, `sparse_coo_tensor`, …), `torch.sparse`
operators, the first use of a sparse tensor that is an attribute or was made before a break, and nested tensors of the
strided layout.

## Why it costs
Dynamo can't represent them: it skips the frame, which runs eagerly.

## Example
    y = torch.sparse.mm(adjacency.to_sparse(), x)

## Use instead
    y = torch.zeros_like(x).index_add(0, row, weight[:, None] * x[col])

or make and multiply sparse tensors outside the compiled region, or in an operator made by `torch.library.custom_op`.
For nested tensors, `layout=torch.jagged`.

## Fix safety
Manual: the dense form has another cost.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/sparse.html
https://docs.pytorch.org/docs/stable/nested.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import (
    Call,
    Context,
    Report,
    Rule,
    Touch,
    cost,
    holds_sparse,
    is_passed_otherwise,
    on_device,
    target_names,
    words,
)

rule = Rule(
    "CL125",
    "sparse-or-nested-in-graph",
    effects=("graph-break", "sync"),
    gb_types=("Attempted to wrap sparse Tensor with VariableTracker",),
)

LAYOUTS = words("coo csr csc bsr bsc compressed")
METHODS = ("to_sparse", *(f"to_sparse_{layout}" for layout in LAYOUTS), "sparse_mask", "sparse_resize_")


@rule.on(
    Call,
    *(f"torch.sparse_{layout}_tensor" for layout in LAYOUTS),
    *(f"Tensor.{name}" for name in METHODS),
    "torch.sparse.*",
)
def sparse(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled and event.target != "torch.sparse.check_sparse_tensor_invariants":
        message = f"`{ctx.source(event.node)}` is sparse: {cost(event, ctx)}"
        waits = ctx.torch_says(event.target).get("syncs")
        given = event.args if event.receiver is None else (event.receiver,)
        yield Report(
            event.node,
            message,
            because=event.receiver,
            effects=("graph-break", "sync") if waits and any(map(on_device, given)) else ("graph-break",),
            hint="work on indices and values, or outside the compiled region",
        )


@rule.on(Touch)
def touched(event: Touch, ctx: Context) -> Iterator[Report]:
    """The first use of a sparse tensor that came through a break, or is an attribute."""
    node = event.node
    if not ctx.compiled or is_passed_on(event, ctx) or is_made_in_loop(event):
        return
    if is_passed_otherwise(node, ctx, holds_sparse):
        return
    while isinstance(around := ctx.parent(node), (ast.Call, ast.keyword)) and node is not getattr(around, "func", None):
        node = around
    name = ctx.function.name if isinstance(ctx.function, ast.FunctionDef) else "the function"
    message = f"`{ctx.source(event.node)}` is sparse: Dynamo gives up the frame of `{name}`, the rest runs eagerly"
    yield Report(
        node,
        message,
        because=event.value,
        effects=("graph-break",),
        gb_types=("Attempted to wrap sparse Tensor",),
        hint="work on indices and values, or outside the compiled region",
    )


def is_passed_on(event: Touch, ctx: Context) -> bool:
    """Whether it is but given another name, or returned as it came."""
    around = ctx.parent(event.node)
    if isinstance(around, (ast.Assign, ast.AnnAssign)):
        return not isinstance(event.node, ast.Call)
    return isinstance(around, ast.Return) and not event.made_here


def is_made_in_loop(event: Touch) -> bool:
    """Whether the loop around makes it in each round: the break there makes Dynamo skip the frame already."""
    name = event.node.id if isinstance(event.node, ast.Name) else ""
    made = (n for loop in event.site.loops if isinstance(loop.node, (ast.For, ast.While)) for n in loop.node.body)
    return any(name in target_names(statement) for statement in made)


@rule.on(Call, "torch.nested.nested_tensor", "torch.nested.as_nested_tensor")
def nested(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled and "layout" not in event.kwargs and not event.starred:
        message = f"`{ctx.source(event.node)}` has the strided layout: {cost(event, ctx)}"
        yield Report(
            event.node,
            message,
            effects=("graph-break",),
            gb_types=("Operator does not support running with fake tensors",),
            hint="`layout=torch.jagged`",
        )
