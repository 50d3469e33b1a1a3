"""A class, a cached function or an optional import inside a compiled function breaks the graph.

## What it does
Reports, in compiled code, a `class` statement, a function decorated by `lru_cache`,
`torch.jit.script` or `torch.compiler.disable`, and an import in a `try` that handles its failure, when the module
isn't there.

## Why it costs
Dynamo doesn't trace the making of classes. An import that fails makes it skip the frame.

## Example
    def forward(self, x):
        class State(NamedTuple):
            h: torch.Tensor
        return State(self.cell(x))

## Use instead
Define it at module level; import at the top of the module and keep a flag.

## Fix safety
Manual: what the definition closes over must move with it.

## Versions
All releases. Inner functions, closures, `namedtuple(…)`, and imports that succeed are traced.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec

from compilelint.sdk import Context, Define, External, Import, Report, Rule, cost, words

rule = Rule(
    "CL123",
    "definition-in-graph",
    effects=("graph-break",),
    gb_types=("Invalid call to __build_class__", "Import failure", "Unsupported method call"),
)

DECORATORS = words(
    "functools.lru_cache functools.cache torch.jit.script torch.jit.ignore torch.compiler.disable torch._dynamo.disable"
)


@rule.on(Define)
def defined(event: Define, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled or ctx.function is None:
        return
    if event.kind == "class":
        yield Report(
            event.node,
            f"class `{event.name}` is made in a compiled function: {cost(event, ctx)}",
            hint="define it at module level",
        )
    elif isinstance(event.node, ast.FunctionDef):
        for decorator, value in zip(event.node.decorator_list, event.decorators, strict=False):
            if isinstance(value, External) and value.name in DECORATORS:
                message = f"the decorated `{event.name}` is made in a compiled function: {cost(event, ctx)}"
                yield Report(decorator, message, hint="define it at module level")


@rule.on(Import)
def imported(event: Import, ctx: Context) -> Iterator[Report]:
    missing = next((name for name in event.names if not available(name)), "")
    if ctx.compiled and event.site.protected and missing:
        message = f"`{missing}` can't be imported here, and Dynamo can't resume from that: {cost(event, ctx)}"
        yield Report(event.node, message, hint="import at the top of the module and keep a flag")


def available(name: str) -> bool:
    """Whether a module is installed beside torch; where torch isn't, this is not the environment the code runs in."""
    try:
        return find_spec("torch") is None or find_spec(name.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False
