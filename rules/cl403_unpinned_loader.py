"""A DataLoader without pinned memory, whose batches are copied to a device.

## What it does
Reports `DataLoader(…)` without `pin_memory=True` where what a loop over it yields is copied to a device, in the same
file or wherever the loader is passed or returned to.

## Why it costs
A copy from pageable memory goes through a staging buffer and blocks the CPU; `non_blocking=True` doesn't help
there. From pinned memory the copy runs beside the computation.

## Example
    loader = DataLoader(data, batch_size=64)
    for x in loader:
        x = x.cuda()

## Use instead
    loader = DataLoader(data, batch_size=64, pin_memory=True)
    for x in loader:
        x = x.cuda(non_blocking=True)

## Fix safety
Unsafe: a data set that yields tensors already on a device can't be pinned, and pinned memory is taken from all
processes.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/data.html#memory-pinning
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, flag, names_in, target_names

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL403", "unpinned-loader", effects=("transfer",), fixable=Applicability.UNSAFE, in_setup=True)

HINT = "pass `pin_memory=True`; pinning fails where batches hold tensors that are on the GPU already"


@rule.on(Call, "torch.utils.data.DataLoader")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    call, statement = event.node, event.statement
    given = event.argument(7, "pin_memory")
    if not isinstance(call, ast.Call) or event.starred or (given is not None and flag(given) is not False):
        return
    if not ctx.feeds_device(call) and not looped_over(statement, ctx):
        return

    def build(rw: Rewriter) -> None:
        if given is not None:
            rw.remove_argument(call, "pin_memory")
        rw.add_argument(call, "pin_memory=True")

    fix = Fix("Pin the batches", Applicability.UNSAFE, build, "tensors already on a device can't be pinned")
    message = f"`{ctx.source(call.func)}` without `pin_memory=True` feeds a copy to the device"
    yield Report(call, message, because=event.result, hint=HINT, fix=fix)


def looped_over(statement: ast.stmt, ctx: Context) -> bool:
    """Whether a loop over the name, in the same function or module, copies its batches with `.to()` or `.cuda()`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    top: ast.AST = statement
    while (parent := ctx.parent(top)) is not None:
        top = parent
    for loop in ast.walk(ctx.function or top):
        if isinstance(loop, ast.For) and name in names_in(loop.iter) and copies(loop):
            return True
    return False


def copies(loop: ast.For) -> bool:
    batch = target_names(loop.target)
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda"):
            where = [*node.args, *(k.value for k in node.keywords)]
            host = any(isinstance(w, ast.Constant) and w.value == "cpu" for w in where)
            if batch & names_in(node.func.value) and not host:
                return True
    return False
