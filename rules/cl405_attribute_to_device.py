"""An attribute kept on the host is copied to the device on each call.

## What it does
Reports `self.mean.to(x.device)` in hot code, where `self.mean` is a tensor that the class made on the host.

## Why it costs
Each call copies the same values again, from pageable memory, and the CPU waits for the copy.

## Example
    def scale(self, z):
        mean = self.mean.to(z.device)
        return z - mean

## Use instead
A buffer of the module (`self.register_buffer("mean", mean, persistent=False)`), which `.to(device)` moves along, or
a move on first use:

    if self.mean.device != z.device:
        self.mean = self.mean.to(z.device)

## Fix safety
Unsafe: the attribute moves to the device on first use, and other code that reads it finds it there.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
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
    flag,
    moves_to_device,
    on_host,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL405", "attribute-to-device", effects=("sync", "transfer"), fixable=Applicability.UNSAFE)


@rule.on(Call, "Tensor.to", "Tensor.cuda", "Tensor.type_as")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    source, value = copied_from(event), event.receiver
    if ctx.region.kind == "compiled" or not isinstance(source, ast.Attribute) or value is None or not on_host(value):
        return
    if not moves_to_device(event, ctx) or flag(event.argument(2, "non_blocking")) is True or stored_back(event, source):
        return
    message = f"`{ctx.source(event.node)}` copies the same tensor to the device on each call: the CPU waits for it"
    hint = "make it a buffer, or move it once"
    yield Report(event.node, message, because=value, hint=hint, fix=moved_once(event, source))


def stored_back(event: Call, source: ast.Attribute) -> bool:
    """`self.mean = self.mean.to(d)` moves it for good."""
    statement = event.statement
    return isinstance(statement, ast.Assign) and ast.dump(source) in {
        ast.dump(t).replace("Store()", "Load()") for t in statement.targets
    }


def moved_once(event: Call, source: ast.Attribute) -> Fix | None:
    call = event.node
    if not isinstance(call, ast.Call) or event.target != "Tensor.to" or len(call.args) != 1 or call.keywords:
        return None
    where = call.args[0]
    if not isinstance(where, ast.Attribute) or where.attr != "device" or not isinstance(source.value, ast.Name):
        return None  # a name or a string may stand for a device without an index, which is never equal

    def build(rw: Rewriter) -> None:
        attribute, device = rw.code(source), rw.code(where)
        rw.insert_before(
            event.statement, f"if {attribute}.device != {device}:\n    {attribute} = {attribute}.to({device})"
        )
        rw.replace(call, attribute)

    why = "the attribute moves to the device on first use, and stays there"
    return Fix("Move it once", Applicability.UNSAFE, build, why)
