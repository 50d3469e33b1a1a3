"""A library call that reads the device inside.

## What it does
Reports calls of torch that hand a device value to the host within: `torch.equal`, `allclose`, `is_nonzero`, `value in
tensor`, the checks of `linalg` (`inv`, `solve`, `cholesky`, `svd`, `eigh`, `lstsq`, …), `matrix_exp`, `torch.normal`
with a tensor of deviations, `cov`, `histc` without bounds, `ctc_loss`.

## Why it costs
Nothing at the call tells that the CPU waits there for all queued work.

## Example
    inverse = torch.linalg.inv(a)

## Use instead
    inverse, info = torch.linalg.inv_ex(a)

## Fix safety
Manual: who looks at the check's result is up to you.

## Versions
Measured on torch 2.11 with `scripts/sync_probe.py`.

## References
https://docs.pytorch.org/docs/stable/generated/torch.linalg.inv_ex.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Call,
    Compare,
    Context,
    Report,
    Rule,
    is_number,
    on_device,
)

rule = Rule("CL207", "waiting-call", effects=("sync",))

LINALG = ("inv", "cholesky", "solve", "svd", "svdvals", "eigh", "eigvalsh", "eig", "pinv", "matrix_rank", "lu_factor")
OLD = ("inverse", "svd", "pinverse")
CHECKED = {  # Dynamo traces these, and compiled code waits as well
    **{f"torch.linalg.{name}": "checks its result on the host" for name in LINALG},
    **{f"{owner}.{name}": "checks its result on the host" for owner in ("torch", "Tensor") for name in OLD},
    **{f"{owner}.matrix_exp": "reads a norm" for owner in ("torch", "Tensor")},
}
BROKEN = {  # in compiled code these break the graph: CL103, CL105
    **{f"{owner}.{name}": "gives Python a bool" for owner in ("torch", "Tensor") for name in ("equal", "allclose")},
    **{f"{owner}.is_nonzero": "gives Python a bool" for owner in ("torch", "Tensor")},
    **{f"{owner}.cov": "checks its weights on the host" for owner in ("torch", "Tensor")},
    "torch.corrcoef": "checks its weights on the host",
    "torch.linalg.lstsq": "checks its result on the host",
    "torch.nn.functional.ctc_loss": "reads its lengths",
}


def report(event: Call, ctx: Context, why: str, hint: str) -> Iterator[Report]:
    value = event.receiver if event.target.startswith("Tensor.") else event.args[0] if event.args else None
    if value is not None and on_device(value):
        message = f"`{ctx.source(event.node)}` {why}: the CPU waits for the device"
        yield Report(event.node, message, because=value, hint=hint)


@rule.on(Call, *CHECKED)
def checked(event: Call, ctx: Context) -> Iterator[Report]:
    hint = "the `_ex` variants return the check's result as a tensor" if ".linalg." in event.target else ""
    yield from report(event, ctx, CHECKED[event.target], hint)


@rule.on(Call, *BROKEN)
def broken(event: Call, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled:
        yield from report(event, ctx, BROKEN[event.target], "keep the answer on the device")


@rule.on(Call, "torch.normal", "torch.histc", "Tensor.histc")
def conditional(event: Call, ctx: Context) -> Iterator[Report]:
    if event.target == "torch.normal":
        deviation = event.argument(1, "std")
        if deviation is not None and on_device(deviation) and not ctx.compiled:
            message = f"`{ctx.source(event.node)}` checks its deviations on the host: the CPU waits for the device"
            yield Report(
                event.node, message, because=deviation, hint="`mean + std * torch.randn_like(mean)` checks nothing"
            )
    elif not ctx.compiled and len(event.args) + len(event.kwargs) < 3:
        yield from report(event, ctx, "looks for its own bounds", "pass `min=` and `max=`")


@rule.on(Compare)
def contains(event: Compare, ctx: Context) -> Iterator[Report]:
    if event.operator in ("in", "not in") and not ctx.compiled and on_device(event.right) and is_number(event.left):
        message = f"`{ctx.source(event.node)}` searches a tensor for a Python answer: the CPU waits for the device"
        yield Report(event.node, message, because=event.right, hint="`(t == value).any()` stays on the device")
