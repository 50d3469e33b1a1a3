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
Safe for `tolist()` of what was made of a list in the same function, unsafe where callers have that list. Unsafe: a
tensor that was copied from the host, here or by all calls in sight, is taken from there; the values of a dict are read
with one stacked copy. Else manual: where the value is needed decides where it should live.

## Versions
All releases.

## References
https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Fix,
    Report,
    Rule,
    Severity,
    flag,
    is_fallback,
    is_non_blocking,
    is_reported,
    on_device,
    on_host,
    read_the_list,
    stack_items,
    take_from_host,
)

rule = Rule("CL202", "host-copy", effects=("sync", "transfer"), fixable=Applicability.UNSAFE)

HINT = "keep on the host what the host needs, or copy once after the loop"


def copied(event: Call, ctx: Context, fix: Fix | None = None) -> Iterator[Report]:
    value = event.receiver
    if value is None or not on_device(value):
        return
    severity = Severity.NOTE if is_reported(event, ctx) else None
    message = f"`{ctx.source(event.node)}` copies a device tensor to the host: the CPU waits for it"
    yield Report(event.node, message, because=value, hint=HINT, severity=severity, fix=fix)


@rule.on(Call, "Tensor.tolist")
def lists(event: Call, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled:
        yield from copied(event, ctx, read_the_list(event, ctx))


@rule.on(Call, "Tensor.cpu")
def cpu(event: Call, ctx: Context) -> Iterator[Report]:
    yield from copied(event, ctx, stack_items(event, ctx) or take_from_host(event, ctx))


@rule.on(Call, "Tensor.numpy")
def numpy(event: Call, ctx: Context) -> Iterator[Report]:
    if flag(event.argument(0, "force")) is True:
        yield from copied(event, ctx)


@rule.on(Call, "Tensor.to", "Tensor.type_as")
def to(event: Call, ctx: Context) -> Iterator[Report]:
    """`.to("cpu")`, `.to(host)`: the result is known to be in host memory.

    A device that is that of another tensor, or the default of a parameter, says where the tensor is already.
    """
    if on_host(event.result) and not is_non_blocking(event) and not is_fallback(event.argument(0, "device")):
        yield from copied(event, ctx)
