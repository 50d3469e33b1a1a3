"""A full synchronisation, or an emptied cache, in every step.

## What it does
Reports `torch.cuda.synchronize()`, `stream.synchronize()`, `event.synchronize()`, `torch.cuda.empty_cache()` and
`ipc_collect()` in a loop that trains, evaluates or decodes, and their like for other accelerators.

## Why it costs
The CPU waits for all queued work, and the queue runs dry. `empty_cache` also gives memory back that the next step
must ask the driver for again, which waits once more. A report puts the cost of a synchronisation in each step at a
quarter of the training time.

## Example
    for x in batches:
        start = time.perf_counter()
        step(x)
        torch.cuda.synchronize()
        spent += time.perf_counter() - start

## Use instead
    start = time.perf_counter()
    for x in batches:
        step(x)
    torch.cuda.synchronize()
    spent = time.perf_counter() - start

or pairs of `torch.cuda.Event(enable_timing=True)`, read after the loop.

## Fix safety
Unsafe: the call is moved behind the loop. What a timer inside the loop measures changes (the time to queue, not to
run), and memory given back each step stays with the process.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, in_step, names_in, target_names

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL206", "synchronize-in-step", effects=("sync",), fixable=Applicability.UNSAFE)

BACKENDS = ("torch.cuda", "torch.xpu", "torch.mps", "torch.npu", "torch.accelerator")
NAMES = ("synchronize", "empty_cache", "ipc_collect")
TARGETS = tuple(f"{backend}.{name}" for backend in BACKENDS for name in NAMES)
WAITS = (
    "torch.cuda.Stream.synchronize",
    "torch.cuda.Event.synchronize",
    "torch.Stream.synchronize",
    "torch.Event.synchronize",
)


@rule.on(Call, *TARGETS, *WAITS)
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled or not in_step(event, ctx):
        return
    what = "empties the cache" if event.target.endswith("empty_cache") else "waits for the device"
    message = f"`{ctx.source(event.node)}` {what} in every step"
    hint = "time with events, or once around the loop"
    yield Report(event.node, message, hint=hint, fix=moved(event, ctx))


def moved(event: Call, ctx: Context) -> Fix | None:
    """A statement of its own, moved behind its loop, with an `if` around it that tests nothing of the loop."""
    statement, node = event.statement, event.node
    if (
        not event.discarded
        or event.target in WAITS
        or not isinstance(statement, ast.Expr)
        or statement.value is not node
    ):
        return None
    loop: ast.AST | None = ctx.parent(statement)
    moving: ast.stmt = statement
    if isinstance(loop, ast.If) and not loop.orelse and loop.body == [statement]:
        moving, loop = loop, ctx.parent(loop)
    if not isinstance(loop, (ast.For, ast.While)) or loop.orelse:
        return None
    if isinstance(moving, ast.If) and names_in(moving.test) & target_names(loop):
        return None

    def build(rw: Rewriter) -> None:
        rw.insert_after(loop, rw.code(moving))
        rw.delete_statement(moving)

    why = "a timer inside the loop no longer measures the time on the device"
    return Fix("Synchronise once, after the loop", Applicability.UNSAFE, build, why)
