"""A tensor made on the host only to be copied to the device.

## What it does
Reports `torch.arange(n).to(x.device)`, `torch.randn(shape).to(device)`, `torch.tensor(data).cuda()` and the like in
hot code.

## Why it costs
The host fills the memory, and the CPU then waits for a copy from pageable memory. Made on the device, it is one
kernel.

## Example
    position = torch.arange(n).to(x.device)

## Use instead
    position = torch.arange(n, device=x.device)

## Fix safety
Safe for `zeros`, `ones`, `full`, `eye` and `arange` of integers: the values are the same. Unsafe for random
numbers, which come from another generator, and for `linspace` and fractional steps, which may differ in the last
digit. Manual for `torch.tensor(data)`.

## Versions
All releases.

## References
https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#create-tensors-directly-on-the-target-device
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Report,
    Rule,
    copied_from,
    is_made_here,
    is_non_blocking,
    made_on_device,
    moves_to_device,
    on_host,
)

rule = Rule("CL406", "made-on-host", effects=("sync", "transfer"), fixable=Applicability.UNSAFE)


@rule.on(Call, "Tensor.to", "Tensor.cuda", "Tensor.type_as")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    source, value = copied_from(event), event.receiver
    if ctx.region.kind == "compiled" or value is None or not on_host(value) or not moves_to_device(event, ctx):
        return
    if source is None or not is_made_here(source) or is_non_blocking(event):
        return  # CL404 says what `non_blocking` doesn't do
    message = f"`{ctx.source(event.node)}` is made on the host and copied: the CPU waits until the device has it"
    fix = made_on_device(event, source, ctx)
    yield Report(event.node, message, because=value, hint="pass `device=` to the function that makes it", fix=fix)
