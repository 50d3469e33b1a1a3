"""A blocking copy from the host to the device in every step.

## What it does
Reports `x.to(device)` and `x.cuda()` without `non_blocking=True`, in hot code, where `x` is known to be in host
memory: a batch of a loader, or a tensor that this code made on the host.

## Why it costs
The CPU waits until the copy is done, and the copy until the kernels queued before it: the device sits idle while
the next step is prepared.

## Example
    for x, y in loader:
        x = x.to(device)

## Use instead
    loader = DataLoader(data, pin_memory=True)
    for x, y in loader:
        x = x.to(device, non_blocking=True)

## Fix safety
Unsafe: `non_blocking=True` is added where the tensor is in pinned memory; code that overwrites the host tensor
right after would race with the copy. From pageable memory it would gain nothing, so that is left to you: pin first
(CL403). A copy in a loop that changes neither the tensor nor its destination is made once, before the loop; nothing
may write into it.

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
    BATCH,
    LOADED,
    LOADER,
    MADE_ON_HOST,
    OF_LOADED,
    Applicability,
    Call,
    Const,
    Context,
    Fix,
    Instance,
    Report,
    Rule,
    Severity,
    Value,
    copied_from,
    copy_once,
    flag,
    is_made_here,
    is_non_blocking,
    is_tokenized,
    moves_to_device,
    on_device,
    on_host,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL402", "blocking-copy", effects=("sync", "transfer"), fixable=Applicability.UNSAFE)

OF_LOADER = {LOADER, LOADED, OF_LOADED}


@rule.on(Call, "Tensor.to", "Tensor.cuda", "Tensor.type_as")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    call, value = event.node, event.receiver
    source = copied_from(event)
    if ctx.region.kind == "compiled" or not isinstance(call, ast.Call) or value is None or source is None:
        return
    if not from_host(value) or reported_elsewhere(source, ctx) or not moves_to_device(event, ctx):
        return
    if is_non_blocking(event):
        return

    def build(rw: Rewriter) -> None:
        rw.add_argument(call, "non_blocking=True")

    why = "the host tensor must not be overwritten before the copy is done"
    known = is_pinned(value) and not event.target.endswith("type_as")
    fix = Fix("Copy without blocking", Applicability.UNSAFE, build, why) if known else copy_once(event, ctx)
    message = f"`{ctx.source(call)}` copies from host memory: the CPU waits until the device has it"
    # a text that is made into tensors outside of any loop is one request
    once = Severity.NOTE if is_tokenized(value) and not event.site.loops else None
    yield Report(call, message, because=value, hint=hint(value), fix=fix, severity=once)


def hint(value: Value) -> str:
    """What to do instead, by where the tensor comes from."""
    causes = [link.why for link in value.origin.chain()] if value.origin is not None else []
    if isinstance(value, Instance) or OF_LOADER & set(causes):
        return "pin the memory (`pin_memory=True` in the DataLoader) and pass `non_blocking=True`"
    pin = "pin it (`.pin_memory()`) and pass `non_blocking=True`"
    return f"make it on the device (`device=`), or {pin}" if MADE_ON_HOST in causes[:1] else pin


def is_pinned(value: Value) -> bool:
    """A pinned tensor, or a batch of a loader that is told to pin."""
    if isinstance(value, Instance):
        given = value.attrs.get("pin_memory")
        return given is not None and flag(given) is not False
    tensor = tensor_of(value)
    return tensor is not None and tensor.pinned


def from_host(value: Value) -> bool:
    tensor = tensor_of(value)
    if tensor is not None and any(isinstance(size, Const) and size.value == 0 for size in tensor.dims or ()):
        return False  # nothing is copied
    return on_host(value) or (isinstance(value, Instance) and value.external == BATCH)


def reported_elsewhere(source: ast.expr, ctx: Context) -> bool:
    """`self.mean[:n]` is CL405, `torch.arange(n)` CL406, and `table[t]` with `t` on the device CL209."""
    if isinstance(source, ast.Subscript):
        part_of_attribute = isinstance(source.value, ast.Attribute) and on_host(ctx.value(source))
        return part_of_attribute or on_device(ctx.value(source.slice))
    return is_made_here(source) or isinstance(source, ast.Attribute)
