"""`nn.LSTM`, `nn.GRU` and `nn.RNN` in compiled code make Dynamo skip the frame.

## What it does
Reports, in compiled code, a call of a recurrent module of torch, and the reading of one's attributes.

## Why it costs
Dynamo doesn't trace these modules by default: the function that calls one isn't compiled at all. Nothing else of it
is fused. What would break the graph behind the call is not reported: Dynamo does not arrive there.

## Example
    def forward(self, x):
        h, _ = self.lstm(self.norm(x))
        return self.head(h)

## Use instead
Put the layers before and after into functions of their own and compile those, or set `torch._dynamo.config.allow_rnn
= True`, which unrolls the recurrence over time steps into the graph.

## Fix safety
Manual: unrolling long sequences costs minutes of compile time.

## Versions
All releases. The cells (`nn.LSTMCell`, …) are traced.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import Call, Context, Instance, Load, Report, Rule, Value

rule = Rule("CL126", "recurrent-module", effects=("graph-break",), gb_types=("Attempted to wrap RNN, GRU, or LSTM",))

KINDS = ("LSTM", "GRU", "RNN")
CALLS = tuple(f"{kind}.{method}" for kind in KINDS for method in ("__call__", "forward"))


@rule.on(Load, *(f"torch.nn.{kind}.*" for kind in KINDS))
def touched(event: Load, ctx: Context) -> Iterator[Report]:
    """`self.rnn.hidden_size`, `self.rnn.flatten_parameters()`; a module's own methods read `self` as they like."""
    of_self = isinstance(event.node, ast.Attribute) and isinstance(event.node.value, ast.Name)
    if ctx.compiled and not of_self and is_recurrent(event.value):
        message = f"`{ctx.source(event.node)}` reaches for a recurrent module: {given_up(ctx)}"
        yield Report(event.node, message, because=event.value, hint="read it once, before compiling")


@rule.on(Call, *(f"torch.nn.{call}" for call in CALLS), *(f"torch.nn.modules.rnn.{call}" for call in CALLS))
@rule.on(Call, "Module.forward", "Module.__call__")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled and event.receiver is not None and is_recurrent(event.receiver):
        message = f"`{ctx.source(event.node)}` runs a recurrent module: {given_up(ctx)}"
        hint = "compile the parts around it, or set `torch._dynamo.config.allow_rnn`"
        yield Report(event.node, message, because=event.receiver, hint=hint)


def is_recurrent(value: Value) -> bool:
    return isinstance(value, Instance) and value.isa(*(f"torch.nn.{kind}" for kind in KINDS))


def given_up(ctx: Context) -> str:
    name = ctx.function.name if isinstance(ctx.function, ast.FunctionDef) else "the function"
    return f"Dynamo gives up the frame of `{name}`, what is not compiled by then runs eagerly"
