"""`tolist()` of a tensor in compiled code breaks the graph and copies it to the host.

## What it does
Reports `.tolist()` of a tensor, also of an array made from one, in compiled code. `.cpu()` and `.numpy()` don't break
the graph; they wait for the device, which is CL202's business.

## Why it costs
The graph ends where Python gets the list. Splits and loops over that list then run as one small graph after another, or
eagerly.

## Example
    chunks = torch.split(tokens, counts.tolist())

## Use instead
    owner = torch.repeat_interleave(experts, counts, output_size=tokens.shape[0])

Index by tensors, keep the lengths as a Python list from the start, or give the operator offsets on the device.

## Fix safety
Safe where the tensor was made of a list of integers in the same function, unsafe where callers have that list.
Elsewhere manual: what replaces a list depends on what is done with it.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Report,
    Rule,
    break_effects,
    cost,
    read_the_list,
    tensor_of,
)

rule = Rule(
    "CL104",
    "list-read-in-graph",
    effects=("graph-break", "sync"),
    gb_types=("Data dependent operator", "Tensor.tolist() with non-integer tensor"),
    fixable=Applicability.UNSAFE,
)


@rule.on(Call, "Tensor.tolist", "numpy.ndarray.tolist")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled or event.receiver is None or tensor_of(event.receiver) is None:
        return
    message = f"`{ctx.source(event.node)}` reads a tensor into a list: {cost(event, ctx)}"
    fix = read_the_list(event, ctx)
    hint = "index by tensors, or keep the list from where the host knows it"
    yield Report(event.node, message, because=event.receiver, effects=break_effects(event.receiver), hint=hint, fix=fix)
