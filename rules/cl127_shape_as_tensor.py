"""`torch._shape_as_tensor` gives Dynamo a shape, not a tensor.

## What it does
Reports `torch._shape_as_tensor(x)` in compiled code.

## Why it costs
While tracing it returns a `torch.Size`; a tensor function that gets it fails, or the graph breaks there.

## Example
    sizes = torch.stack([torch._shape_as_tensor(m)[2:4] for m in maps])

## Use instead
    sizes = torch.tensor([m.shape[2:4] for m in maps], dtype=torch.int64)

## Fix safety
Safe: `torch.tensor(x.shape, dtype=torch.int64)` is the same tensor, on the CPU; of a 0-d `x`, too, whose empty shape
alone would become floats.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/size.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, cost

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule(
    "CL127",
    "shape-as-tensor",
    effects=("graph-break",),
    gb_types=("TypeError when making fake tensor call",),
    fixable=Applicability.SAFE,
)


@rule.on(Call, "torch._shape_as_tensor")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled:
        message = f"`{ctx.source(event.node)}` is no tensor while tracing: {cost(event, ctx)}"
        yield Report(event.node, message, hint="build it from the shape", fix=from_shape(event))


def from_shape(event: Call) -> Fix | None:
    call = event.node
    if not isinstance(call, ast.Call) or len(call.args) != 1 or not isinstance(call.args[0], (ast.Name, ast.Attribute)):
        return None
    argument = call.args[0]

    def build(rw: Rewriter) -> None:
        made, dtype = rw.name_for("torch.tensor"), rw.name_for("torch.int64")
        rw.replace(call, f"{made}({rw.text(argument)}.shape, dtype={dtype})")

    return Fix("make a tensor of the shape", Applicability.SAFE, build)
