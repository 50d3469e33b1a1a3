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
the values are the same. Otherwise manual.

## Versions
All releases.

## References
https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Report,
    Rule,
    copied_from,
    flag,
    made_on_device,
    moves_to_device,
    on_host,
    tensor_of,
)

rule = Rule("CL404", "unpinned-non-blocking", effects=("sync", "transfer"), fixable=Applicability.SAFE)


@rule.on(Call, "Tensor.to", "Tensor.cuda")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    call, tensor = event.node, tensor_of(event.receiver) if event.receiver is not None else None
    if ctx.region.kind == "compiled" or tensor is None or not isinstance(call, ast.Call):
        return
    if flag(event.argument(1 if event.target.endswith("cuda") else 2, "non_blocking")) is not True:
        return
    if not on_host(tensor) or tensor.pinned or not moves_to_device(event, ctx):
        return
    source = copied_from(event)
    fix = made_on_device(event, source, ctx) if source is not None else None
    message = f"`{ctx.source(call)}` copies from pageable memory, which blocks in spite of `non_blocking=True`"
    yield Report(
        call, message, because=tensor, hint="make it on the device, or in pinned memory that is used again", fix=fix
    )
