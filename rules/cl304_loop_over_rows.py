"""A Python loop over the rows of a device tensor launches its kernels once a row.

## What it does
Notes `for row in tensor` over a device tensor outside compiled code, where the body calls torch on the row.

## Why it costs
Each round launches its kernels for one row; the same work on the whole tensor is one launch. In compiled code the
loop is unrolled: one copy of the body for each row to compile.

## Example
    total = 0.0
    for row in x:
        total = total + row.norm()

## Use instead
    total = x.norm(dim=1).sum()

or `torch.vmap` of the body.

## Fix safety
Manual.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.vmap.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import Context, Iterate, Report, Rule, Severity, on_device

rule = Rule("CL304", "loop-over-rows", effects=("launch",))


@rule.on(Iterate)
def check(event: Iterate, ctx: Context) -> Iterator[Report]:
    if event.kind != "for" or ctx.compiled or not on_device(event.value) or not isinstance(event.statement, ast.For):
        return
    message = f"each row of `{ctx.source(event.statement.iter)}` is handled by kernels of its own"
    hint = "work on the whole tensor, or `torch.vmap` the body"
    yield Report(event.statement.iter, message, because=event.value, hint=hint, severity=Severity.NOTE)
