"""`clip_grad_norm_(…, error_if_nonfinite=True)` reads the norm on the host to raise on it.

## What it does
Reports the argument, given as a constant True.

## Why it costs
The CPU waits for the whole backward pass before it may queue the optimizer's step.

## Example
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)

## Use instead
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    torch._assert_async(torch.isfinite(norm), "the gradient norm is not finite")

or a flag that is kept on the device and looked at every N steps.

## Fix safety
Unsafe: on a GPU the assertion fails later, and as a device-side assertion, when the gradients have been scaled.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, flag

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL211", "nonfinite-clip", effects=("sync",), fixable=Applicability.UNSAFE)


@rule.on(Call, "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.get_total_norm")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    position = 2 if event.target.endswith("get_total_norm") else 3
    if flag(event.argument(position, "error_if_nonfinite")) is True:
        message = f"`{ctx.source(event.node)}` reads the norm to raise on it: the CPU waits for the device"
        yield Report(event.node, message, hint="check a flag on the device every N steps", fix=asserted(event))


def asserted(event: Call) -> Fix | None:
    call, statement, name = event.node, event.statement, ""
    if not isinstance(call, ast.Call) or not any(k.arg == "error_if_nonfinite" for k in call.keywords):
        return None
    match statement:
        case ast.Expr(value=value) if value is call:
            pass
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is call:
            pass
        case _:
            return None

    def build(rw: Rewriter) -> None:
        norm = name or rw.fresh_name("norm")
        rest = [rw.code(a) for a in (*call.args, *call.keywords) if getattr(a, "arg", "") != "error_if_nonfinite"]
        finite = f"{rw.name_for('torch.isfinite')}({norm})"
        check = f'{rw.name_for("torch._assert_async")}({finite}, "the gradient norm is not finite")'
        rw.replace_statement(statement, f"{norm} = {rw.code(call.func)}({', '.join(rest)})\n{check}")

    why = "the error comes later, as an assertion on the device, when the gradients have been scaled"
    return Fix("Assert on the device", Applicability.UNSAFE, build, why)
