"""A NaN or infinity check that branches breaks the graph and makes the CPU wait at every call.

## What it does
Reports a Python branch on a tensor that comes from `isnan`, `isinf` or `isfinite`.

## Why it costs
The check is nearly always false, and its price is paid each time: the graph ends there, and the CPU waits for the
device. Inside a Python loop Dynamo gives up the whole frame: a check after each of eight layers left nothing
compiled.

## Example
    if torch.isnan(x).any():
        x = torch.nan_to_num(x)

## Use instead
    x = torch.where(torch.isnan(x).any(), torch.nan_to_num(x), x)

or accumulate a flag on the device and read it every N steps; for a check that raises, `torch._assert_async`. For many
tensors, `all_finite` and `FiniteGuard` of `compilelint.ops`.

## Fix safety
Safe where both sides are computed element by element, with literal numbers that half precision holds (below 1e4), of
one float tensor that was made just before, that nothing else holds and nothing writes into.
Else unsafe: `if bad.any(): v = v[~bad]` before sums, means and counts of `v` becomes a fill with zeros and a count on
the device. In the steps of an eager loop, a check that raises becomes `guard.check(…)` of a `FiniteGuard` made before
the loop and flushed behind it: nobody waits, and the error comes some steps later. Elsewhere outside compiled code, a
loop that does nothing but check each tensor of a list is entered only where `all_finite` of the list is false: one
read, for tensors on one device. Otherwise both sides are computed, and an error
is raised as RuntimeError once the device gets there. A check on the data type before it (`x.dtype == torch.float16 and
…`) stays a Python branch: it costs nothing.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Branch,
    Context,
    Report,
    Rule,
    assert_on_device,
    branch_effects,
    branch_node,
    check_all_first,
    cost,
    guard_steps,
    is_asked_of_all,
    made_by,
    run_all_rounds,
    run_always,
    select_instead,
    tensor_of,
)

rule = Rule(
    "CL102",
    "nan-check-branch",
    effects=("graph-break", "sync"),
    gb_types=("Data-dependent branching",),
    fixable=Applicability.UNSAFE,
)

CHECKS = ("isnan", "isinf", "isfinite")
HINT = "select with `torch.where`, or keep a flag on the device and read it every N steps"


@rule.on(Branch)
def check(event: Branch, ctx: Context) -> Iterator[Report]:
    tensor = tensor_of(event.test)
    if tensor is None or tensor.kind == "numpy" or not made_by(tensor, *CHECKS) or is_asked_of_all(event.node, ctx):
        return
    effects = branch_effects(event, tensor, ctx)
    if effects:
        fix = (
            guard_steps(event, ctx)
            or check_all_first(event, ctx)
            or assert_on_device(event, ctx)
            or run_always(event, ctx)
            or select_instead(event, ctx)
            or run_all_rounds(event, ctx)
        )
        message = f"a branch on the NaN check `{ctx.source(event.node)}`: {cost(event, ctx)}"
        yield Report(branch_node(event), message, because=tensor, effects=effects, hint=HINT, fix=fix)
