"""A module, parameter, hook or optimizer made in compiled code breaks the graph.

## What it does
Reports, in compiled code, the construction of modules that have parameters (`nn.Linear(…)`, `nn.LayerNorm(…)`),
`nn.Parameter(…)` of a computed tensor, `register_forward_hook` and its relatives, `load_state_dict`, a `DataLoader`,
and an optimizer or its schedule.

## Why it costs
Parameters must exist before the graph that uses them. The graph ends at each construction; a hook handle makes Dynamo
skip the frame.

## Example
    def forward(self, x):
        scale = nn.Parameter(torch.ones(x.shape[-1]))
        return nn.LayerNorm(x.shape[-1])(x) * scale

## Use instead
Build them in `__init__`; for a size known only in `forward`, use the function: `F.layer_norm(x, x.shape[-1:])`.
Register hooks before compiling.

## Fix safety
Manual: parameters made in `forward` are never trained, and where they belong is a decision.

## Versions
All releases. Modules without parameters (`nn.ReLU()`, `nn.Softmax(-1)`, `nn.Dropout(p)`, `nn.CrossEntropyLoss()`) are
traced, and so is `nn.Parameter` of an input.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import Call, Context, Report, Rule, cost, is_input, words

rule = Rule(
    "CL118",
    "module-built-in-graph",
    effects=("graph-break",),
    gb_types=("Attempted to use `torch.nn.Parameter()` constructor with Dynamo", "setattr() on unsupported type"),
)

WITH_PARAMETERS = words(
    "Linear Bilinear LazyLinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"
    " BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm RMSNorm Embedding EmbeddingBag"
    " MultiheadAttention Transformer TransformerEncoderLayer TransformerDecoderLayer LSTM GRU RNN LSTMCell"
    " GRUCell RNNCell PReLU ParameterList ParameterDict"
)
HOOKS = words(
    "register_forward_hook register_forward_pre_hook register_full_backward_hook"
    " register_full_backward_pre_hook register_backward_hook register_state_dict_pre_hook load_state_dict"
)


@rule.on(Call, *(f"torch.nn.{kind}" for kind in WITH_PARAMETERS), "torch.nn.utils.skip_init")
def built(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled:
        message = f"`{ctx.source(event.node)}` makes parameters: {cost(event, ctx)}"
        yield Report(event.node, message, hint="build it in `__init__`, or use the function of `torch.nn.functional`")


@rule.on(Call, "torch.nn.Parameter")
def parameter(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.argument(0, "data")
    if ctx.compiled and (value is None or not is_input(value)):
        message = f"`{ctx.source(event.node)}` makes a parameter: {cost(event, ctx)}"
        yield Report(event.node, message, because=value, hint="make it in `__init__`, or use the tensor itself")


@rule.on(Call, "torch.optim.*")
def optimizer(event: Call, ctx: Context) -> Iterator[Report]:
    """Optimizers and schedulers patch methods while they are made."""
    if ctx.compiled and event.target.rpartition(".")[2][:1].isupper():
        message = f"`{ctx.source(event.node)}` makes an optimizer or its schedule: {cost(event, ctx)}"
        gb_types = ("setattr() on unsupported type", "Attempted to inline function marked as skipped")
        yield Report(event.node, message, gb_types=gb_types, hint="make it before the compiled call")


@rule.on(Call, *(f"Module.{name}" for name in HOOKS))
def hook(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled:
        message = f"`{ctx.source(event.node)}` changes a module: {cost(event, ctx)}"
        yield Report(event.node, message, gb_types=("setattr() on unsupported type",), hint="do it before compiling")
