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

import ast
from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Const,
    Context,
    Report,
    Rule,
    Severity,
    cost,
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


def is_exceptional(event: Call, ctx: Context) -> bool:
    """Whether the warning stands under an `if` that holds in unusual cases alone: not where an argument is left out."""
    node: ast.AST = event.statement
    while (around := ctx.parent(node)) is not None and around is not ctx.function:
        if isinstance(around, ast.If):
            certain = isinstance(ctx.value(around.test), Const)
            return not (certain or (node in around.body and is_default(around.test, ctx)))
        node = around
    return False


def is_default(test: ast.expr, ctx: Context) -> bool:
    """`group is None`, of a parameter that is None where none is given."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            args = getattr(ctx.function, "args", None)
            if not isinstance(args, ast.arguments):
                return False
            plain = (args.posonlyargs + args.args)[::-1]
            pairs = [
                *zip(plain, args.defaults[::-1], strict=False),
                *zip(args.kwonlyargs, args.kw_defaults, strict=True),
            ]
            return any(arg.arg == name and isinstance(given, ast.Constant) for arg, given in pairs)
    return False
