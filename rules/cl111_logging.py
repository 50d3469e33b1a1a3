"""A log call in compiled code breaks the graph.

## What it does
Reports the methods of `logging.Logger` (also `isEnabledFor` and `warning_once`) and the functions of `logging`, in
code that Dynamo traces. A log call in an `lru_cache` helper counts too: Dynamo looks through the cache.

## Why it costs
The graph ends at the call, whether or not the level is enabled. A warning about
an unusual size or argument, under an `if` that need not hold, is a note.

## Example
    logger.info("odd size, resampling")

## Use instead
    if not torch.compiler.is_compiling():
        logger.info("odd size, resampling")

## Fix safety
Unsafe: guarded so, the record is lost while the code runs compiled.

## Versions
All releases. `torch._dynamo.config.ignore_logger_methods` makes Dynamo drop the calls of named loggers.

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
    words,
)

rule = Rule(
    "CL111",
    "logging-in-graph",
    effects=("graph-break", "sync"),
    gb_types=("logging.Logger method not supported for non-export cases", "Unsupported python_type() call"),
    fixable=Applicability.UNSAFE,
)

LEVELS = words("debug info warning warn error critical exception log")
FUNCTIONS = (
    *(f"logging.{name}" for name in LEVELS),
    "logging.getLogger",
    "logging.basicConfig",
    "torch._logging.warning_once",
)


@rule.on(Call, "logging.Logger.*", "logging.LoggerAdapter.*", *FUNCTIONS)
def check(event: Call, ctx: Context) -> Iterator[Report]:
    yield from output_report(
        event, ctx, "logs", hint="log outside the compiled region, or only while it isn't compiled"
    )
