"""Backward, autograd calls and changes of `requires_grad` in compiled code break the graph.

## What it does
Reports, in compiled code, `backward`, `torch.autograd.grad`, an optimizer's or scheduler's `step` and `zero_grad`,
`requires_grad_` on an input or parameter, assignments to `requires_grad`, `requires_grad=True` in a factory call,
`grad_fn` of a computed tensor, `retain_grad` and `is_inference`.

## Why it costs
Dynamo traces the forward pass; autograd's own graph is made after it. The graph ends at the call, and a change of
`requires_grad` on parameters makes it skip the frame.

## Example
    energy = self.energy(pos)
    force = -torch.autograd.grad(energy, pos)[0]

## Use instead
Compile the forward alone and differentiate outside, or use `torch.func.grad`, which is traced. Set `requires_grad`
before the call.

## Fix safety
Unsafe: `requires_grad_` on a parameter, at the start of a function, moves before its calls in the same file, and
`is_inference()` in a test is not asked while compiling. From torch 2.13 on Dynamo is told to trace
`torch.autograd.grad`, by a switch for the whole process. The rest is manual: it changes what the compiled function
takes and returns.

## Versions
All releases. Torch 2.13 has `torch._dynamo.config.trace_autograd_ops` for `torch.autograd.grad`.

## References
https://docs.pytorch.org/docs/stable/generated/torch.func.grad.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Event,
    Fix,
    Load,
    Report,
    Rule,
    Store,
    Value,
    argument,
    constant,
    cost,
    is_given,
    tensor_of,
    trace_autograd,
    traces_autograd,
    words,
    written_calls,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule(
    "CL116",
    "autograd-in-graph",
    effects=("graph-break",),
    gb_types=(
        "Unsupported Tensor.backward() call",
        "Unsupported Tensor.requires_grad_() call",
        "setattr() on Tensor.requires_grad",
    ),
    fixable=Applicability.UNSAFE,
)

CALLS = words(
    "Tensor.backward Tensor.retain_grad Tensor.is_inference torch.is_inference torch.autograd.backward"
    " torch.autograd.grad torch.optim.Optimizer.step torch.optim.Optimizer.zero_grad"
    " torch.optim.lr_scheduler.LRScheduler.step torch.amp.GradScaler.scale torch.amp.GradScaler.step"
    " torch.amp.GradScaler.update torch.amp.GradScaler.unscale_ torch.amp.GradScaler.get_scale"
    " torch.cuda.amp.GradScaler.scale torch.cuda.amp.GradScaler.step torch.cuda.amp.GradScaler.update"
)
FACTORIES = tuple(f"torch.{name}" for name in words("tensor zeros ones empty full rand randn arange linspace eye"))
OUTSIDE = "do it outside the compiled region"
BEFORE = "set it before the compiled call"


def report(
    event: Event, what: str, ctx: Context, hint: str, because: Value | None = None, fix: Fix | None = None
) -> Iterator[Report]:
    if ctx.compiled:
        message = f"`{ctx.source(event.node)}` {what}: {cost(event, ctx)}"
        yield Report(event.node, message, because=because, hint=hint, fix=fix)


@rule.on(Call, *CALLS)
def call(event: Call, ctx: Context) -> Iterator[Report]:
    if event.target == "torch.autograd.grad" and traces_autograd(ctx, event.node):
        return
    fix = ask_outside(event, ctx) if event.target.endswith("is_inference") else trace_autograd(event, ctx)
    yield from report(event, "reaches into autograd", ctx, OUTSIDE, event.receiver, fix)


def ask_outside(event: Call, ctx: Context) -> Fix | None:
    """`if stale or t.is_inference():` → `if stale or (not torch.compiler.is_compiling() and t.is_inference()):`."""
    node, test = event.node, ctx.parent(event.node)
    if not isinstance(node, ast.Call) or not isinstance(test, (ast.BoolOp, ast.If, ast.IfExp)):
        return None
    if not isinstance(test, ast.BoolOp) and test.test is not node:
        return None

    def build(rw: Rewriter) -> None:
        rw.replace(node, f"not {rw.name_for('torch.compiler.is_compiling')}() and {rw.code(node)}")

    why = "compiled code takes it for no inference tensor"
    return Fix("don't ask while compiling", Applicability.UNSAFE, build, why)


@rule.on(Call, "Tensor.requires_grad_", "Module.requires_grad_")
def requires_grad(event: Call, ctx: Context) -> Iterator[Report]:
    """On a tensor made in the region, False changes nothing, and True breaks the graph where the tensor leaves it."""
    tensor = tensor_of(event.receiver) if event.receiver is not None else None
    off = constant(event.argument(0, "requires_grad")) is False
    if event.target.startswith("Module.") or (tensor is not None and (is_given(tensor) or not off)):
        fix = before_call(event, ctx)
        yield from report(event, "changes what needs a gradient", ctx, BEFORE, event.receiver, fix)


def before_call(event: Call, ctx: Context) -> Fix | None:
    """`x.requires_grad_()` of a parameter, at the start of a function → before each call of it."""
    function, statement, node = ctx.function, event.statement, event.node
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)), keywords=[]) as whole):
            pass
        case _:
            return None
    if whole is not node or function is None or isinstance(function, ast.Lambda):
        return None
    outer = ctx.parent(statement)
    if isinstance(outer, ast.If) and ast.unparse(outer.test) == f"not {name}.requires_grad" and not outer.orelse:
        statement, outer = outer, ctx.parent(outer)
    if outer is not function or (isinstance(statement, ast.If) and len(statement.body) != 1):
        return None
    earlier = function.body[: function.body.index(statement)]
    uses = {n.id for each in earlier for n in ast.walk(each) if isinstance(n, ast.Name)}
    places = [(frame, call, argument(call, name, function, ctx)) for frame, call in written_calls(ctx)]
    if name in uses or not places:
        return None
    if not all(isinstance(given, ast.Name) and ctx.is_here(frame) for frame, _, given in places):
        return None

    def build(rw: Rewriter) -> None:
        asked = rw.code(whole).removeprefix(name)
        for before, text in {(rw.statement(call), f"{rw.code(given)}{asked}") for _, call, given in places if given}:
            rw.insert_before(before, text)
        rw.delete_statement(statement)

    why = "calls that are not in sight must do it, too"
    return Fix("require the gradient before the call", Applicability.UNSAFE, build, why)


@rule.on(Store, "Tensor.requires_grad")
def assigned(event: Store, ctx: Context) -> Iterator[Report]:
    if tensor_of(event.object) is not None:
        yield from report(event, "changes what needs a gradient", ctx, BEFORE, event.object)


@rule.on(Call, *FACTORIES)
def factory(event: Call, ctx: Context) -> Iterator[Report]:
    if "requires_grad" in event.kwargs and constant(event.kwargs["requires_grad"]) is True:
        yield from report(
            event, "makes a leaf of autograd's graph", ctx, "make it outside, or call `.requires_grad_()` on the result"
        )


@rule.on(Load, "Tensor.grad_fn")
def loaded(event: Load, ctx: Context) -> Iterator[Report]:
    tensor = tensor_of(event.value)
    if tensor is not None and not is_given(tensor):
        yield from report(event, "reads autograd's graph", ctx, "ask `requires_grad` instead", event.value)
