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
Manual: it changes what the compiled function takes and returns.

## Versions
All releases. Torch 2.13 has `torch._dynamo.config.trace_autograd_ops` for `torch.autograd.grad`.

## References
https://docs.pytorch.org/docs/stable/generated/torch.func.grad.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Call,
    Context,
    Event,
    Load,
    Report,
    Rule,
    Store,
    Value,
    constant,
    cost,
    is_given,
    tensor_of,
    words,
)

rule = Rule(
    "CL116",
    "autograd-in-graph",
    effects=("graph-break",),
    gb_types=(
        "Unsupported Tensor.backward() call",
        "Unsupported Tensor.requires_grad_() call",
        "setattr() on Tensor.requires_grad",
    ),
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


def report(event: Event, what: str, ctx: Context, hint: str, because: Value | None = None) -> Iterator[Report]:
    if ctx.compiled:
        yield Report(event.node, f"`{ctx.source(event.node)}` {what}: {cost(event, ctx)}", because=because, hint=hint)


@rule.on(Call, *CALLS)
def call(event: Call, ctx: Context) -> Iterator[Report]:
    yield from report(event, "reaches into autograd", ctx, OUTSIDE, event.receiver)


@rule.on(Call, "Tensor.requires_grad_", "Module.requires_grad_")
def requires_grad(event: Call, ctx: Context) -> Iterator[Report]:
    """On a tensor made in the region, False changes nothing, and True breaks the graph where the tensor leaves it."""
    tensor = tensor_of(event.receiver) if event.receiver is not None else None
    off = constant(event.argument(0, "requires_grad")) is False
    if event.target.startswith("Module.") or (tensor is not None and (is_given(tensor) or not off)):
        yield from report(event, "changes what needs a gradient", ctx, BEFORE, event.receiver)


@rule.on(Store)
def assigned(event: Store, ctx: Context) -> Iterator[Report]:
    if event.name == "requires_grad" and tensor_of(event.object) is not None:
        yield from report(event, "changes what needs a gradient", ctx, BEFORE, event.object)


@rule.on(Call, *FACTORIES)
def factory(event: Call, ctx: Context) -> Iterator[Report]:
    if "requires_grad" in event.kwargs and constant(event.kwargs["requires_grad"]) is True:
        yield from report(
            event, "makes a leaf of autograd's graph", ctx, "make it outside, or call `.requires_grad_()` on the result"
        )


@rule.on(Load)
def loaded(event: Load, ctx: Context) -> Iterator[Report]:
    tensor = tensor_of(event.value)
    if event.name == "grad_fn" and tensor is not None and not is_given(tensor):
        yield from report(event, "reads autograd's graph", ctx, "ask `requires_grad` instead", event.value)
