"""`torch.compile` called in a loop or in `forward` compiles, or looks up, again each time.

## What it does
Reports `torch.compile(f)` of a lambda, an inner function or a module inside a loop, or inside the `forward` of a
module.

## Why it costs
Each call makes a new wrapper, and a function made anew has a new code cache: it is compiled from scratch, for
seconds, every time.

## Example
    for batch in loader:
        step = torch.compile(lambda x: model(x).sum())
        step(batch)

## Use instead
    step = torch.compile(lambda x: model(x).sum())
    for batch in loader:
        step(batch)

## Fix safety
Manual: what the function closes over may change from step to step.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.compile.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import Call, Context, Report, Rule

rule = Rule("CL503", "compile-in-loop", effects=("recompile",), in_setup=True)


@rule.on(Call, "torch.compile")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if not event.args or event.discarded:
        return
    loops = [loop for loop in event.site.loops if loop.kind != "comprehension"]
    steps = any(loop.is_step for loop in loops)
    forward = getattr(ctx.function, "name", "") == "forward"
    if forward or (loops and (steps or is_new_function(event.node))):
        where = "at each call of `forward`" if forward else "in each round of the loop"
        yield Report(event.node, f"`{ctx.source(event.node)}` compiles anew {where}", hint="compile once, outside")


def is_new_function(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and bool(node.args) and isinstance(node.args[0], ast.Lambda)
