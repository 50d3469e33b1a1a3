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
Manual: what the loop reads of the growing tensor decides.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.cat.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilelint.sdk import Call, Context, Report, Rule, Severity, names_in, on_device

rule = Rule("CL303", "growing-cat", effects=("launch",))

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
    yield Report(call, message, because=event.result, hint=hint, severity=Severity.NOTE if read else None)


def fresh(name: str, statement: ast.stmt, loop: ast.AST) -> bool:
    """Whether the loop gives the name another start in each round: then it doesn't grow."""
    stores = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
    return any(n not in set(ast.walk(statement)) for n in stores)
