"""A copy of a device tensor to the host makes the CPU wait for the GPU.

## What it does
Reports `.tolist()`, `.cpu()`, `.to("cpu")` and `.numpy(force=True)` of a device tensor in hot code. `.tolist()` in
compiled code is CL104, since it breaks the graph too; `.cpu()` doesn't break it, and waits all the same. A plain
`.numpy()` is left alone: it works on host tensors only.

## Why it costs
The copy can start only when all queued work is done, and the CPU waits for both.

## Example
    packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True)

## Use instead
Keep on the host what the host needs (lengths, indices, labels), or gather the copies of a step into one after the
loop.

## Fix safety
Manual: where the value is needed decides where it should live.

## Versions
All releases.

## References
https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Call,
    Const,
    Context,
    External,
    Instance,
    Report,
    Rule,
    Severity,
    Value,
    flag,
    is_reported,
    on_device,
)

rule = Rule("CL202", "host-copy", effects=("sync", "transfer"))

HINT = "keep on the host what the host needs, or copy once after the loop"


def copied(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.receiver
    if value is None or not on_device(value):
        return
    severity = Severity.NOTE if is_reported(event, ctx) else None
    message = f"`{ctx.source(event.node)}` copies a device tensor to the host: the CPU waits for it"
    yield Report(event.node, message, because=value, hint=HINT, severity=severity)


@rule.on(Call, "Tensor.tolist")
def lists(event: Call, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled:
        yield from copied(event, ctx)


@rule.on(Call, "Tensor.cpu")
def cpu(event: Call, ctx: Context) -> Iterator[Report]:
    yield from copied(event, ctx)


@rule.on(Call, "Tensor.numpy")
def numpy(event: Call, ctx: Context) -> Iterator[Report]:
    if flag(event.argument(0, "force")) is True:
        yield from copied(event, ctx)


@rule.on(Call, "Tensor.to")
def to(event: Call, ctx: Context) -> Iterator[Report]:
    if is_cpu(event.argument(0, "device")) and flag(event.argument(2, "non_blocking")) is not True:
        yield from copied(event, ctx)


def is_cpu(where: Value | None) -> bool:
    """The constant "cpu" or "cpu:0", or torch.device("cpu") where the engine keeps it as a name."""
    if isinstance(where, Const):
        return isinstance(where.value, str) and where.value.startswith("cpu")
    return isinstance(where, External | Instance) and "cpu" in (
        getattr(where, "name", ""),
        getattr(where, "external", ""),
    )
