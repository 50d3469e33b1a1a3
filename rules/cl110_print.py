"""`print` in compiled code breaks the graph.

## What it does
Reports calls of `print`, `pprint.pprint`, `sys.stdout.write` and the like in code that Dynamo traces.

## Why it costs
Output can't be part of a graph: it ends at the call, and a second one starts after it. A tensor among the arguments
is copied to the host as well.

## Example
    print("hidden", h.shape)

## Use instead
    if not torch.compiler.is_compiling():
        print("hidden", h.shape)

or print what the compiled function returns.

## Fix safety
Unsafe: guarded so, the output is lost while the code runs compiled.

## Versions
All releases. `torch._dynamo.config.reorderable_logging_functions.add(print)` moves the output after the graph instead.

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
    output_report,
)

rule = Rule(
    "CL110",
    "print-in-graph",
    effects=("graph-break", "sync"),
    gb_types=("Failed to trace builtin operator", "Unsupported method call"),
    fixable=Applicability.UNSAFE,
)

STREAMS = tuple(
    f"sys.{stream}.{method}" for stream in ("stdout", "stderr") for method in ("write", "flush", "writelines")
)


@rule.on(Call, "print", "pprint.pprint", "pprint.pp", "traceback.print_exc", "traceback.print_stack", *STREAMS)
def check(event: Call, ctx: Context) -> Iterator[Report]:
    yield from output_report(
        event, ctx, "writes output", hint="print what the compiled function returns, or only while it isn't compiled"
    )
