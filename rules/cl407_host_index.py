"""A device tensor indexed by a list or a host tensor: the index is copied to the device, and the CPU waits for it.

## What it does
Reports `x[[0, 2]]`, `x[rows]` with `rows` a list of numbers or a tensor on the host, and writes through such an
index, outside compiled code. A mask on the host is counted there, and its copy is not waited for.

## Why it costs
The index becomes a tensor in pageable memory and is copied to the device before the gather can be queued.

## Example
    boxes = boxes[:, [1, 0, 3, 2]]

## Use instead
    boxes = boxes[:, self.order]  # a buffer on the device, or slices and `flip` where the order allows it

## Fix safety
Manual.

## Versions
All releases; measured on torch 2.11. In compiled code a constant list is part of the graph.

## References
https://docs.pytorch.org/docs/stable/tensor_view.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import (
    ITERATED,
    Context,
    Read,
    Report,
    Rule,
    Seq,
    Tensor,
    Value,
    Write,
    index_parts,
    is_number,
    on_device,
    on_host,
    tensor_of,
)

rule = Rule("CL407", "host-index", effects=("sync", "transfer"))

HINT = "keep the index on the device: a buffer, or made there once"


def host_part(base: Value, index: Value) -> Value | None:
    """The component of the index that must be copied."""
    if not on_device(base):
        return None
    for part in index_parts(index):
        if isinstance(part, Seq) and part.kind in ("list", "tuple") and is_number(part.any_item()):
            return part
        tensor = tensor_of(part)
        if tensor is not None and on_host(tensor) and tensor.dtype != "bool" and has_rows(tensor):
            return part
    return None


def has_rows(tensor: Tensor) -> bool:
    """Whether a tensor has a dimension: by its rank, or because a function made it. One number is no copied index."""
    if tensor.rank is not None or tensor.origin is None:
        return bool(tensor.rank)
    return isinstance(tensor.origin.node, ast.Call) and tensor.origin.why != ITERATED


@rule.on(Read)
def reads(event: Read, ctx: Context) -> Iterator[Report]:
    part = host_part(event.base, event.index)
    if ctx.region.kind != "compiled" and part is not None:
        message = f"`{ctx.source(event.node)}` copies its index to the device: the CPU waits for it"
        yield Report(event.node, message, because=part, hint=HINT)


@rule.on(Write)
def writes(event: Write, ctx: Context) -> Iterator[Report]:
    part = host_part(event.base, event.index)
    if ctx.region.kind != "compiled" and part is not None:
        message = f"`{ctx.source(event.node)} = …` copies its index to the device: the CPU waits for it"
        yield Report(event.node, message, because=part, hint=HINT)
