"""A function of elementwise operations, called in every step, launches a kernel for each of them.

## What it does
Notes a function of the module that a step calls and that is not compiled, if all it does is six or more elementwise
operations on device tensors: arithmetic, comparisons, `exp`, `tanh`, `clamp`, `where` and the like.

## Why it costs
Eager code launches a kernel for each operation, and each reads and writes whole tensors. Compiled, the function is one
kernel that reads its inputs once.

## Example
    def gelu(x):
        return 0.5 * x * (1.0 + torch.tanh(0.79788456 * (x + 0.044715 * x**3)))

## Use instead
    @torch.compile
    def gelu(x):
        return 0.5 * x * (1.0 + torch.tanh(0.79788456 * (x + 0.044715 * x**3)))

## Fix safety
Unsafe: the first call compiles, as do calls with other ranks and types; last digits may differ, since what is rounded
between two eager kernels is not in one.

## Versions
All releases that have `torch.compile`, from 2.0 on.

## References
https://docs.pytorch.org/docs/stable/generated/torch.compile.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, Severity, on_device

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL305", "elementwise-chain", effects=("launch",), fixable=Applicability.UNSAFE)

MANY = 6
NAMES = frozenset(
    "abs add addcdiv addcmul atan clamp clip cos cosh div erf exp expm1 floor lerp log log1p log2 maximum minimum mul"
    " neg pow reciprocal relu round rsqrt sigmoid sign silu sin sinh softplus sqrt square sub tan tanh trunc"
    " where".split()
)
SPACES = ("torch.", "torch.nn.functional.", "Tensor.")


@rule.on(Call, *(f"{space}{name}" for space in SPACES for name in sorted(NAMES)))
def check(event: Call, ctx: Context) -> Iterator[Report]:
    function = ctx.function
    if ctx.compiled or ctx.region.kind != "step" or not isinstance(function, ast.FunctionDef):
        return
    if function.decorator_list or not isinstance(ctx.parent(function), ast.Module):
        return
    operations = chain(function)
    if operations is None or next((n for n in operations if isinstance(n, ast.Call)), None) is not event.node:
        return
    count = sum(on_device(ctx.value(node)) for node in operations)
    if count < MANY:
        return

    def build(rw: Rewriter) -> None:
        rw.replace_statement(function, f"@{rw.name_for('torch.compile')}\n{rw.code(function)}")

    message = f"`{function.name}` launches {count} elementwise kernels in each step, which `torch.compile` makes one"
    fix = Fix("Compile the function", Applicability.UNSAFE, build, "the first call compiles; last digits may differ")
    hint = "decorate it with `torch.compile`, or compile what calls it"
    yield Report(event.node, message, because=event.result, hint=hint, severity=Severity.NOTE, fix=fix)


def chain(function: ast.FunctionDef) -> list[ast.expr] | None:
    """The operations of a function that assigns names and returns, in their order; None if it does anything else."""
    found: list[ast.expr] = []
    for place, statement in enumerate(function.body):
        match statement:
            case ast.Expr(value=ast.Constant(value=str())) if place == 0:
                continue
            case ast.Assign(targets=[ast.Name()], value=value) | ast.Return(value=ast.expr() as value):
                if not collect(value, found):
                    return None
            case _:
                return None
    return found


def collect(node: ast.expr, found: list[ast.expr]) -> bool:
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=ast.Name(id="math")):
            return True
        case ast.BinOp(left=left, right=right) if not isinstance(node.op, ast.MatMult):
            parts = [left, right]
        case ast.UnaryOp(operand=operand) if not isinstance(node.op, ast.Not):
            parts = [operand]
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[right]):
            parts = [left, right]
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=keywords) if name in NAMES:
            parts = [*args, *(keyword.value for keyword in keywords)]
            if ast.unparse(owner) not in ("torch", "F", "torch.nn.functional"):
                parts.insert(0, owner)
        case _:
            return False
    if not all(collect(part, found) for part in parts):
        return False
    found.append(node)
    return True
