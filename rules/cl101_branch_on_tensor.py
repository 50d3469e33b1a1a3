"""A Python branch on a tensor's value breaks the graph and makes the CPU wait for the device.

## What it does
Reports `if`, `while`, `assert`, `not`, `and`, `or`, a conditional expression, a comprehension's `if` and a `match`
over a tensor, and builtin `any` and `all` over one. A number that NumPy gave is a tensor to Dynamo: `if
np.isfinite(scale)`. A test of a Python number that was read from a tensor (`if
x.item() > 0`) is CL103: there the read is what breaks.

## Why it costs
Which way the branch goes is known only when the device has run everything before it. Dynamo ends the graph at the test,
and inside a Python loop, `with` or `try` it gives up the whole frame, which then runs eagerly.

## Example
    if scores.max() > limit:
        scores = scores.clamp(max=limit)

## Use instead
    scores = torch.where(scores.max() > limit, scores.clamp(max=limit), scores)

or `torch.cond` for heavy branches, `torch._assert_async` for a check that raises, and no branch at all where the work
is a no-op otherwise.

## Fix safety
Unsafe: `torch.where` computes both sides and gives a new tensor; `torch._assert_async` raises RuntimeError, later.
Safe where both sides are computed element by element, with literal numbers that half precision holds (below 1e4), of
one float tensor that nothing writes into, and the test is of one boolean; and where the branch guards a fill by a mask
of the tensor itself, which changes nothing if no element is set. A side that is the tensor itself must have been made
just before, in the same block, and be held nowhere else: who holds it would see it apart from the result. A write by a
mask becomes such a fill, unsafe, or where others may hold the tensor and autograd can't have kept it, is done always.
No branch is left, unsafe for infinities and NaN alone, where a factor is at most one (`if coef
< 1: g.mul_(coef)` becomes a clamp), where what is added is zero if no element of the tested mask is set, and where a
count of zero divides a sum that is zero then. A mask left out of attention where it hides nothing is passed always
(unsafe: another kernel may be chosen). Where all calls in sight also pass the list that the tensor was made of, the
list is tested (unsafe: other callers might not). Branches in branches, attributes and writes into tensors are selected
alike, and so is a number that only meets tensors; of two calls of modules `torch.cond` runs one (unsafe, all of these).
Rows that a mask picks are worked on whole, see CL105. Outside compiled code, `all` and `any` over checks for infinities
and NaN of each tensor ask `all_finite` of `compilelint.ops` first (unsafe: it takes floating-point tensors on one
device).

## Versions
All releases. `assert tensor` with no message or a constant one is traced since torch 2.0 and only waits outside
compiled code.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
https://docs.pytorch.org/docs/stable/cond.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Branch,
    Call,
    Context,
    Fix,
    Report,
    Rule,
    Seq,
    any_of_list,
    ask_all,
    ask_the_list,
    assert_on_device,
    branch_effects,
    branch_node,
    break_effects,
    cost,
    dense_rows,
    is_asked_of_all,
    made_by,
    pass_mask_always,
    reduce_on_device,
    run_all_rounds,
    run_always,
    select_instead,
    stop_later,
    tensor_of,
)

rule = Rule(
    "CL101",
    "branch-on-tensor",
    effects=("graph-break", "sync"),
    gb_types=("Data-dependent branching",),
    fixable=Applicability.UNSAFE,
)

NUMPY_HINT = "ask with Python's own operators and `math`: Dynamo takes what NumPy gives for a tensor"
HINT = "select with `torch.where`, or check with `torch._assert_async`"


@rule.on(Branch)
def branch(event: Branch, ctx: Context) -> Iterator[Report]:
    tensor = tensor_of(event.test)
    if tensor is None or (tensor.kind != "numpy" and made_by(tensor, "isnan", "isinf", "isfinite")):
        return  # CL102
    if asks_presence(event.node):
        return
    effects = branch_effects(event, tensor, ctx)
    if effects:
        array = tensor.kind == "numpy"
        hint = NUMPY_HINT if array else HINT
        fix = None if array else rewritten(event, ctx)
        costs = cost(event, ctx) if "graph-break" in effects else "the CPU waits for the device"
        message = f"a branch on the value of `{ctx.source(event.node)}`: {costs}"
        yield Report(branch_node(event), message, because=tensor, effects=effects, hint=hint, fix=fix)


def asks_presence(node: ast.AST) -> bool:
    """`if outputs.get("aux")`: of a dict of tensors this asks for what may be absent, or for a list among them."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"


def rewritten(event: Branch, ctx: Context) -> Fix | None:
    if (asked := ask_the_list(event, ctx)) is not None or asks_membership(event):
        return asked
    return (
        pass_mask_always(event, ctx)
        or assert_on_device(event, ctx)
        or run_always(event, ctx)
        or select_instead(event, ctx)
        or run_all_rounds(event, ctx)
        or stop_later(event, ctx)
        or dense_rows(event, ctx)
    )


def asks_membership(event: Branch) -> bool:
    """`t in [1, 2]` is a tensor to Dynamo alone: eager code gets a Python bool, which no torch function takes."""
    test = getattr(event.owner, "test", event.node)
    return any(isinstance(node, (ast.In, ast.NotIn)) for node in ast.walk(test))


@rule.on(Call, "any", "all")
def builtin_reduction(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.args[0] if event.args else None
    if isinstance(value, Seq):
        value = value.any_item()
    tensor = tensor_of(value) if value is not None else None
    if tensor is None or is_asked_of_all(event.node, ctx):
        return
    message = f"builtin `{event.target}` branches on each element of a tensor: {cost(event, ctx)}"
    alone = tensor_of(event.args[0]) is not None
    fix = reduce_on_device(event, ctx) if alone else ask_all(event, ctx) or any_of_list(event, ctx)
    hint = f"use the tensor's `.{event.target}()`"
    yield Report(event.node, message, because=tensor, effects=break_effects(tensor), hint=hint, fix=fix)
