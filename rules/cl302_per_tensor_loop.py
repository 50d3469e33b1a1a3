"""A loop that does in-place operations on each parameter: a kernel launch for each, where one call does them all.

## What it does
Notes `for p in params: p.grad.mul_(c)`, `for p, q in zip(a.parameters(), b.parameters()): q.lerp_(p, w)` and the like,
where torch has a `_foreach_` function for each statement of the body: scaling, adding, averaging, copying, clamping,
zeroing. `if p.grad is not None` around them is understood.

## Why it costs
A model has hundreds of parameters, most of them small: launching takes longer than computing. `torch._foreach_mul_`
handles all of them in a few kernels, as torch's own optimizers do.

## Example
    for p, q in zip(model.parameters(), averaged.parameters()):
        q.mul_(decay).add_(p, alpha=1 - decay)

## Use instead
    tensors = list(averaged.parameters())
    torch._foreach_mul_(tensors, decay)
    torch._foreach_add_(tensors, list(model.parameters()), alpha=1 - decay)

## Fix safety
Unsafe: `_foreach_` functions refuse an empty list and lists of several lengths, each tensor must be there once, last
digits may change where a product becomes `alpha` or a sum of two `lerp`, and the names are not public, though every
optimizer of torch uses them. Offered where the scalars are certainly numbers and nothing reads the loop's variables
behind it; for several operations only over `.parameters()`, `.buffers()` or an optimizer's `["params"]`, where no
tensor comes twice.

## Versions
torch 2.0 and later; clamping and `copy_` with 2.1.

## References
https://docs.pytorch.org/docs/stable/optim.html#algorithms
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from compilelint.sdk import (
    Applicability,
    Context,
    Each,
    Fix,
    Lists,
    LoopEnd,
    Report,
    Rule,
    Severity,
    alike,
    are_distinct,
    is_number,
    is_tensor_place,
    loop_of,
    overlap,
    tensor_of,
    used_after,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL302", "per-tensor-loop", effects=("launch",), fixable=Applicability.UNSAFE)

UNARY = frozenset(
    "abs_ acos_ asin_ atan_ ceil_ cos_ cosh_ erf_ erfc_ exp_ expm1_ floor_ frac_ lgamma_ log10_ log1p_ log2_ log_ neg_"
    " reciprocal_ round_ rsqrt_ sigmoid_ sign_ sin_ sinh_ sqrt_ tan_ tanh_ trunc_ zero_".split()
)
NUMBER = ("mul_", "div_", "add_", "sub_", "clamp_min_", "clamp_max_", "pow_")  # one for all tensors
SCALAR_TENSOR = ("mul_", "div_")  # or a 0-d tensor
OTHER = ("mul_", "div_", "add_", "sub_", "copy_")  # a tensor for each
AUGMENTED = {ast.Mult: "mul_", ast.Div: "div_", ast.Add: "add_", ast.Sub: "sub_"}


class Step(NamedTuple):
    """`torch._foreach_name(tensors, *others, *numbers)`; numbers may have a name."""

    name: str
    tensor: ast.expr
    others: Sequence[ast.expr] = ()
    number: ast.expr | None = None
    keyword: str = ""


@rule.on(LoopEnd)
def check(event: LoopEnd, ctx: Context) -> Iterator[Report]:
    found = None if ctx.compiled else loop_of(event.node)
    if found is None:
        return
    each, body = found
    steps: list[Step] = []
    for statement in body:
        more = steps_of(statement, each, ctx)
        if not more:
            return
        steps += more
    again = len(steps) > 1 and not are_distinct(each) and not only_clamps(steps)
    held = any(used_after(name, event.statement, ctx.function) for name in each.names)

    def build(rw: Rewriter) -> None:
        uses = Counter(ast.unparse(e) for step in steps for e in (step.tensor, *step.others))
        elements = {ast.unparse(e): e for step in steps for e in (step.tensor, *step.others)}
        lists = Lists(rw, each, ctx, [(step.tensor, *step.others) for step in steps])
        lists.check(elements.values())
        lines, names = [], {}
        for key, element in elements.items():
            names[key] = lists.of(element)
            if uses[key] > 1 and not names[key].isidentifier():
                name = rw.fresh_name("tensors", within=ctx.function)
                lines.append(f"{name} = {names[key]}")
                names[key] = name
        for step in steps:
            arguments = [names[ast.unparse(e)] for e in (step.tensor, *step.others)]
            if step.number is not None:
                arguments.append((f"{step.keyword}=" if step.keyword else "") + rw.code(step.number))
            lines.append(f"{rw.name_for(f'torch._foreach_{step.name}')}({', '.join(arguments)})")
        rw.replace_statement(loop, "\n".join(lines))

    loop, first = event.statement, body[0]
    node = first.value if isinstance(first, ast.Expr) else first
    named = " and ".join(dict.fromkeys(f"`torch._foreach_{step.name}`" for step in steps))
    fix = Fix("Call `torch._foreach_` functions", Applicability.UNSAFE, build, "an empty list is refused")
    takes = "takes" if named.count("`") == 2 else "take"
    message = f"`{ctx.source(node)}` launches a kernel for each tensor: {named} {takes} them all"
    yield Report(
        node,
        message,
        because=ctx.value(steps[0].tensor),
        severity=Severity.NOTE,
        fix=None if again or held or overlap(each) else fix,
    )


def only_clamps(steps: Sequence[Step]) -> bool:
    """Twice on one tensor, they do what once does."""
    return all(step.name in ("clamp_min_", "clamp_max_") for step in steps)


def steps_of(statement: ast.stmt, each: Each, ctx: Context) -> list[Step]:
    """What a statement of the body does to the tensors of a round; none where it does anything else."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            return chain(call, each, ctx)
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=op, value=value):
            name = AUGMENTED.get(type(op))
            if name is not None and is_tensor_place(target, each, ctx):
                return steps_for(name, target, [value], {}, each, ctx)
    return []


def chain(call: ast.Call, each: Each, ctx: Context) -> list[Step]:
    """`q.mul_(a).add_(p)`: each returns its tensor."""
    match call:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args, keywords=keywords):
            pass
        case _:
            return []
    given = {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
    if len(given) < len(keywords) or any(isinstance(a, ast.Starred) for a in args):
        return []
    before: list[Step] = []
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr.endswith("_"):
        before = chain(value, each, ctx)
        if not before:
            return []
        value = before[0].tensor
    elif not is_tensor_place(value, each, ctx):
        return []
    steps = steps_for(name, value, args, given, each, ctx)
    return [*before, *steps] if steps else []


def steps_for(
    name: str, tensor: ast.expr, args: Sequence[ast.expr], given: dict[str, ast.expr], each: Each, ctx: Context
) -> list[Step]:
    def is_other(node: ast.expr) -> bool:
        return is_tensor_place(node, each, ctx)

    def is_number(node: ast.expr) -> bool:
        return is_shared_number(node, each, ctx)

    def is_scale(node: ast.expr) -> bool:  # torch takes nothing but a number for it
        return each.is_shared(node) and tensor_of(ctx.value(node)) is None

    def is_scalar(node: ast.expr) -> bool:
        held = tensor_of(ctx.value(node))
        return is_number(node) or (held is not None and held.rank == 0 and each.is_shared(node))

    match name, args, given:
        case _, [], {} if name in UNARY and not given:
            return [Step(name, tensor)]
        case "clamp_", [low, high], _ if not given and is_number(low) and is_number(high):
            return [Step("clamp_min_", tensor, number=low), Step("clamp_max_", tensor, number=high)]
        case "clamp_", [], {"min": low, "max": high} if len(given) == 2 and is_number(low) and is_number(high):
            return [Step("clamp_min_", tensor, number=low), Step("clamp_max_", tensor, number=high)]
        case "lerp_", [other, weight], _ if not given and is_other(other) and is_number(weight):
            return [Step(name, tensor, [other], weight)]
        case "add_" | "sub_", [other], {"alpha": alpha} if len(given) == 1 and is_other(other) and is_scale(alpha):
            return [Step(name, tensor, [other], alpha, "alpha")]
        case "addcmul_" | "addcdiv_", [one, two], _ if set(given) <= {"value"} and is_other(one) and is_other(two):
            value = given.get("value")
            return [Step(name, tensor, [one, two], value, "value")] if value is None or is_scale(value) else []
        case "copy_", [ast.BinOp(op=ast.Add(), left=left, right=right)], _ if not given:
            return mixed(tensor, left, right, each, ctx) or mixed(tensor, right, left, each, ctx)
        case "add_" | "sub_", [ast.BinOp(op=ast.Mult(), left=left, right=right)], _ if not given:
            for other, number in ((left, right), (right, left)):
                if is_other(other) and is_number(number):
                    return [Step(name, tensor, [other], number, "alpha")]
        case _, [only], _ if not given and name in OTHER and is_other(only):
            return [Step(name, tensor, [only])]
        case _, [only], _ if not given and name in NUMBER and is_number(only):
            return [Step(name, tensor, number=only)]
        case _, [only], _ if not given and name in SCALAR_TENSOR and is_scalar(only):
            return [Step(name, tensor, number=only)]
    return []


def is_shared_number(node: ast.expr, each: Each, ctx: Context) -> bool:
    """A Python number, the same in each round: what may be a tensor would be taken for one 0-d tensor, or refused."""
    return each.is_shared(node) and is_number(ctx.value(node))


def mixed(tensor: ast.expr, new: ast.expr, old: ast.expr, each: Each, ctx: Context) -> list[Step]:
    """`t.copy_(w * p + (1 - w) * t)`, and the other way round: a `lerp_` towards p."""
    for weight, other in factors(new, each, ctx):
        for rest, same in factors(old, each, ctx):
            if alike(same, tensor) and not alike(other, tensor) and (complete(weight, rest) or complete(rest, weight)):
                return [Step("lerp_", tensor, [other], weight)]
    return []


def factors(node: ast.expr, each: Each, ctx: Context) -> Iterator[tuple[ast.expr, ast.expr]]:
    """A number of all rounds and a tensor of one, in a product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for number, other in ((node.left, node.right), (node.right, node.left)):
            if is_shared_number(number, each, ctx) and is_tensor_place(other, each, ctx):
                yield number, other


def complete(weight: ast.expr, rest: ast.expr) -> bool:
    """Whether `rest` is `1 - weight`."""
    match rest:
        case ast.BinOp(op=ast.Sub(), left=ast.Constant(value=1), right=right):
            return alike(right, weight)
    return False
