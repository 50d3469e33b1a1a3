"""`torch.compile(model)` returns the compiled model; dropped, nothing is compiled.

## What it does
Reports a call of `torch.compile` with a model or function whose result isn't used.

## Why it costs
The program runs eagerly: every operator is a launch of its own, and nothing says so.

## Example
    torch.compile(model)
    train(model)

## Use instead
    model.compile()          # in place, for a module
    step = torch.compile(step)

## Fix safety
Unsafe: `model.compile()` for a module, an assignment for a function. From then on the code really is compiled, which
may show graph breaks, recompilations and small numerical differences.

## Versions
All releases; `nn.Module.compile` is in torch 2.2 and later.

## References
https://docs.pytorch.org/docs/stable/generated/torch.compile.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Instance, Report, Rule, Value

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL502", "compile-result-dropped", effects=("launch",), fixable=Applicability.UNSAFE, in_setup=True)


@rule.on(Call, "torch.compile", "torch.jit.script", "torch.jit.trace")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if event.discarded and event.args:
        message = f"the result of `{ctx.source(event.node)}` is dropped: nothing is compiled"
        hint = "keep what it returns, or call `model.compile()`"
        yield Report(event.node, message, because=event.args[0], hint=hint, fix=keep(event, event.args[0]))


def keep(event: Call, value: Value) -> Fix | None:
    call = event.node
    if (
        event.target != "torch.compile"
        or not isinstance(call, ast.Call)
        or not call.args
        or isinstance(call.args[0], ast.Starred)
    ):
        return None
    target = call.args[0]
    module = isinstance(value, Instance) and value.isa("torch.nn.Module")
    if not module and not isinstance(target, ast.Name):
        return None
    if not isinstance(target, (ast.Name, ast.Attribute)):
        return None

    def build(rw: Rewriter) -> None:
        name = rw.text(target)
        if module:
            options = ", ".join(
                f"{k.arg}={rw.text(k.value)}" if k.arg else f"**{rw.text(k.value)}" for k in call.keywords
            )
            rw.replace(call, f"{name}.compile({options})")
        else:
            rw.replace(call, f"{name} = {rw.text(call)}")

    return Fix(
        "compile it",
        Applicability.UNSAFE,
        build,
        "the code is compiled from now on, and may compile anew for each shape",
    )
