"""A tensor that grows by `cat` in a loop is copied whole each time.

## What it does
Reports `x = torch.cat([x, y])`, `vstack` and `hstack` in a loop, where `x` is what the loop built so far.

## Why it costs
After n rounds, n²/2 elements have been copied, memory of every size from 1 to n was allocated, and compiled code
that is handed `x` sees a new shape each time.

## Example
    out = torch.empty(0, d)
    for x in chunks:
        out = torch.cat([out, f(x)])

## Use instead
    parts = []
    for x in chunks:
        parts.append(f(x))
    out = torch.cat(parts)

or, where each round reads what is there so far, a tensor of the full size, filled in place.

## Fix safety
Unsafe: what is appended is kept, not copied, until the loop is done: it must not be written to in place. Offered where
each round makes it anew, and the loop does nothing else with the growing tensor than to `cat` to its end. For the rest:
manual, since what the loop reads of it decides.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.cat.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, Severity, changed_in, names_in, on_device

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL303", "growing-cat", effects=("launch",), fixable=Applicability.UNSAFE)

NAMES = ("cat", "concat", "concatenate", "vstack", "hstack", "row_stack")


@rule.on(Call, *(f"torch.{name}" for name in NAMES))
def check(event: Call, ctx: Context) -> Iterator[Report]:
    call, loops = event.node, [loop for loop in event.site.loops if loop.kind != "comprehension"]
    if not loops or not isinstance(call, ast.Call) or not call.args or not on_device(event.result):
        return
    match event.statement, call.args[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=value), ast.List(elts=elts) | ast.Tuple(elts=elts) if (
            value is call
        ):
            grown = [e for e in elts if isinstance(e, ast.Name) and e.id == name]
            if len(elts) < 2 or not grown or fresh(name, event.statement, loops[-1].node):
                return
        case _:
            return
    read = sum(name in names_in(n) for n in ast.iter_child_nodes(loops[-1].node)) > 1
    message = f"`{name}` is copied whole in each round of the loop to grow it"
    hint = "collect the parts in a list and `cat` once, or fill a tensor of the full size"
    severity = Severity.NOTE if read else None
    yield Report(call, message, because=event.result, hint=hint, severity=severity, fix=collect(event, name, ctx))


def collect(event: Call, name: str, ctx: Context) -> Fix | None:
    """`out = torch.cat([out, x])`, all that the loop does with `out`: append to a list, `cat` once behind the loop."""
    call, loop, function = event.node, event.site.loops[-1].node, ctx.function
    match call:
        case ast.Call(
            args=[ast.List(elts=[first, *rest]) | ast.Tuple(elts=[first, *rest]) as parts], keywords=keywords
        ):
            pass
        case _:
            return None
    alone = len([n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name]) == 2
    if not isinstance(first, ast.Name) or first.id != name or not alone or event.site.protected or function is None:
        return None
    if not isinstance(loop, (ast.For, ast.While)) or loop.orelse or any(isinstance(e, ast.Starred) for e in rest):
        return None
    if any(changed_in(part, loop) for part in rest):
        return None
    if not all(isinstance(k.value, ast.Constant) for k in keywords) or is_captured(name, function):
        return None

    def build(rw: Rewriter) -> None:
        kept = rw.fresh_name(f"{name}_parts", within=function)
        one = len(rest) == 1
        added = rw.code(rest[0]) if one else f"[{', '.join(rw.code(e) for e in rest)}]"
        rw.replace_statement(event.statement, f"{kept}.append({added})" if one else f"{kept} += {added}")
        rw.insert_before(loop, f"{kept} = [{name}]")
        rw.insert_after(loop, f"{name} = {rw.code(call).replace(rw.code(parts), kept, 1)}")

    return Fix("Collect the parts and cat once", Applicability.UNSAFE, build, "parts must not be written to in place")


def is_captured(name: str, function: ast.AST) -> bool:
    """Whether a function inside reads the name, or it is another scope's, which functions that are called may read."""
    if any(name in n.names for n in ast.walk(function) if isinstance(n, (ast.Global, ast.Nonlocal))):
        return True
    inside = [n for n in ast.walk(function) if n is not function and isinstance(n, (ast.Lambda, ast.FunctionDef))]
    return any(name in names_in(each) for each in inside)


def fresh(name: str, statement: ast.stmt, loop: ast.AST) -> bool:
    """Whether the loop gives the name another start in each round: then it doesn't grow."""
    stores = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
    return any(n not in set(ast.walk(statement)) for n in stores)
