"""A warning issued in compiled code breaks the graph.

## What it does
Reports `warnings.warn`, `warn_explicit`, `filterwarnings` and `simplefilter` in code that Dynamo traces.

## Why it costs
The graph ends at the call, at every run, though the warning is shown once. A warning for unusual cases, under an `if`
that need not hold and does not by default, is a note.

## Example
    warnings.warn("`group` is ignored")

## Use instead
    if not torch.compiler.is_compiling():
        warnings.warn("`group` is ignored")

or warn in `__init__`, where the argument is known.

## Fix safety
Unsafe: guarded so, the warning is lost while the code runs compiled.

## Versions
All releases. `with warnings.catch_warnings():` alone is traced.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Report,
    Rule,
    Severity,
    cost,
    is_exceptional,
    skip_while_compiling,
    words,
)

rule = Rule(
    "CL112",
    "warning-in-graph",
    effects=("graph-break",),
    gb_types=("Attempted to call function marked as skipped",),
    fixable=Applicability.UNSAFE,
)

FUNCTIONS = words("warn warn_explicit filterwarnings simplefilter resetwarnings showwarning")


@rule.on(Call, *(f"warnings.{name}" for name in FUNCTIONS))
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled:
        return
    message = f"`{ctx.source(event.node)}` is a call that Dynamo skips: {cost(event, ctx)}"
    hint = "warn where the argument is first known, or only while the code isn't compiled"
    severity = Severity.NOTE if is_exceptional(event, ctx) else None
    yield Report(event.node, message, hint=hint, severity=severity, fix=skip_while_compiling(event))
