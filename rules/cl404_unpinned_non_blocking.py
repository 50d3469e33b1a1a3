"""`non_blocking=True` from pageable memory blocks all the same.

## What it does
Reports `x.to(device, non_blocking=True)` and `x.cuda(non_blocking=True)` where `x` was made on the host by this
code and never pinned.

## Why it costs
From pageable memory the driver copies into a staging buffer while the CPU waits. The call reads as asynchronous and
is not; `set_sync_debug_mode` doesn't tell either.

## Example
    ids = torch.cat([torch.arange(h * w) for h, w in grid])
    ids = ids.to(device, non_blocking=True)

## Use instead
    ids = torch.cat([torch.arange(h * w, device=device) for h, w in grid])

or memory that is pinned once and used again. Pinning a tensor just to copy it once costs more than a plain copy.

## Fix safety
Safe for `torch.zeros(…)`, `ones`, `full`, `eye` and integer `arange` copied at once: made on the device instead,
the values are the same. Unsafe for a name outside a step loop: it is pinned first where the target is a GPU, which
costs a copy on the host, and pays only where the CPU has something else to do. Otherwise manual.

## Versions
All releases.

## References
https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Fix,
    Report,
    Rule,
    copied_from,
    in_step,
    is_non_blocking,
    made_on_device,
    moves_to_device,
    on_host,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL404", "unpinned-non-blocking", effects=("sync", "transfer"), fixable=Applicability.UNSAFE)


@rule.on(Call, "Tensor.to", "Tensor.cuda")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    call, tensor = event.node, tensor_of(event.receiver) if event.receiver is not None else None
    source = copied_from(event)
    if ctx.region.kind == "compiled" or tensor is None or source is None or not isinstance(call, ast.Call):
        return
    if not is_non_blocking(event):
        return
    if not on_host(tensor) or tensor.pinned or not moves_to_device(event, ctx):
        return
    message = f"`{ctx.source(call)}` copies from pageable memory, which blocks in spite of `non_blocking=True`"
    hint = "make it on the device, or in pinned memory that is used again"
    yield Report(call, message, because=tensor, hint=hint, fix=made_on_device(event, source, ctx) or pinned(event, ctx))


def pinned(event: Call, ctx: Context) -> Fix | None:
    """`x.to(device, non_blocking=True)` of a local name, outside the loops that would pin each batch."""
    match event.node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to"), args=[where, *_]):
            pass
        case _:
            return None
    if (
        in_step(event, ctx)
        or tensor_of(ctx.value(where)) is not None
        or not isinstance(where, (ast.Name, ast.Attribute))
    ):
        return None
    statement = event.statement
    if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr, ast.AnnAssign)):
        return None
    is_device = isinstance(where, ast.Attribute) and where.attr == "device"

    def build(rw: Rewriter) -> None:
        device = rw.code(where)
        kind = f"{device}.type" if is_device else f"{rw.name_for('torch.device')}({device}).type"
        rw.insert_before(statement, f'if {kind} == "cuda":\n    {name} = {name}.pin_memory()')

    return Fix("Pin it first", Applicability.UNSAFE, build, "pinning is a copy on the host")
