"""A loop that does one in-place operation on each parameter: a kernel launch for each, where one call does them all.

## What it does
Notes `for p in params: p.grad.mul_(c)` and the like, where the body is that one statement and torch has a
`_foreach_` function of the same meaning.

## Why it costs
A model has hundreds of parameters, most of them small: launching takes longer than computing. `torch._foreach_mul_`
handles all of them in a few kernels, as torch's own optimizers do.

## Example
    for p in params:
        p.grad.mul_(coef)

## Use instead
    torch._foreach_mul_([p.grad for p in params], coef)

## Fix safety
Unsafe: `_foreach_` functions refuse an empty list, and their names are not public, though every optimizer of torch
uses them.

## Versions
torch 2.0 and later.

## References
https://docs.pytorch.org/docs/stable/optim.html#algorithms
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
    Severity,
    names_in,
    on_device,
    target_names,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL302", "per-tensor-loop", effects=("launch",), fixable=Applicability.UNSAFE)

ONE = ("mul_", "div_")  # with one Python number or 0-d tensor that is the same for all
NONE = ("zero_", "neg_", "sqrt_", "abs_", "exp_", "reciprocal_", "sign_")


@rule.on(Call, *(f"Tensor.{name}" for name in (*ONE, *NONE)))
def check(event: Call, ctx: Context) -> Iterator[Report]:
    loop, call = ctx.parent(event.statement), event.node
    if event.receiver is None or not on_device(event.receiver) or not event.discarded or ctx.compiled:
        return
    if (
        not isinstance(loop, ast.For)
        or loop.body != [event.statement]
        or loop.orelse
        or not isinstance(loop.target, ast.Name)
    ):
        return
    match event.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=tensor, attr=name), args=args, keywords=[]) as whole):
            if (
                whole is not call
                or target_names(loop.target) != names_in(tensor)
                or any(isinstance(a, ast.Starred) for a in args)
            ):
                return
            if len(args) != (1 if name in ONE else 0) or any(target_names(loop.target) & names_in(a) for a in args):
                return
        case _:
            return

    def build(rw: Rewriter) -> None:
        each = f"[{rw.code(tensor)} for {rw.code(loop.target)} in {rw.code(loop.iter)}]"
        tensors = f"list({rw.code(loop.iter)})" if isinstance(tensor, ast.Name) else each
        foreach = rw.name_for(f"torch._foreach_{name}")
        rw.replace_statement(loop, f"{foreach}({', '.join([tensors, *(rw.code(a) for a in args)])})")

    fix = Fix(f"Call `torch._foreach_{name}`", Applicability.UNSAFE, build, "an empty list is refused")
    message = f"`{ctx.source(call)}` launches a kernel for each tensor: `torch._foreach_{name}` takes them all"
    yield Report(call, message, because=event.receiver, severity=Severity.NOTE, fix=fix)
