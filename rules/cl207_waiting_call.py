"""A library call that reads the device inside.

## What it does
Reports calls of torch that hand a device value to the host within: `torch.equal`, `allclose`, `is_nonzero`, `value in
tensor`, the checks of `linalg` (`inv`, `solve`, `cholesky`, `svd`, `eigh`, `lstsq`, …), `matrix_exp`, `torch.normal`
with a tensor of deviations, `cov`, `histc` without bounds, `ctc_loss`, `istft`, `masked_fill` with a tensor for the
value, `torch._assert` and `torch._check_tensor_all` of a tensor, and calls that make sparse or nested tensors.

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
    Seq,
    is_number,
    on_device,
    words,
)

rule = Rule("CL207", "waiting-call", effects=("sync",))

LINALG = words(
    """inv cholesky solve svd svdvals eigh eigvalsh eig eigvals pinv matrix_rank lu_factor ldl_factor ldl_factor_ex
    ldl_solve tensorinv tensorsolve cond"""
)
CHECKS_KEPT = words("inv solve cholesky lu_factor ldl_factor")  # in a tensor, by the `_ex` variant
NEW = {"inverse": "inv", "lu": "lu_factor"}  # in `torch.linalg`
OLD = ("inverse", "svd", "pinverse", "cholesky", "lu")
BOTH = ("torch", "Tensor")
CHECKED = {  # Dynamo traces these, and compiled code waits as well
    **{f"torch.linalg.{name}": "checks its result on the host" for name in LINALG},
    **{f"{owner}.{name}": "checks its result on the host" for owner in BOTH for name in OLD},
    **{f"{owner}.matrix_exp": "reads a norm" for owner in (*BOTH, "torch.linalg")},
    **{f"{owner}.istft": "checks its window on the host" for owner in BOTH},
    "torch.pca_lowrank": "checks its result on the host",
    "torch.svd_lowrank": "checks its result on the host",
}
LAYOUTS = ("", "_coo", "_csr", "_csc", "_bsr", "_bsc")
SPARSE = (*(f"Tensor.to_sparse{layout}" for layout in LAYOUTS), "Tensor.coalesce", "torch.sparse_coo_tensor")
FILLS = {
    **{
        f"{owner}.{name}": (2 - (owner == "Tensor"), "value")
        for owner in BOTH
        for name in ("masked_fill", "masked_fill_")
    },
    **{
        f"{owner}.{name}": (3 - (owner == "Tensor"), "value")
        for owner in BOTH
        for name in ("index_fill", "index_fill_")
    },
}
ASSERTS = {"torch._assert": 0, "torch._check_tensor_all": 0, "torch._check_tensor_all_with": 1}
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
    name = event.target.rpartition(".")[2]
    name = NEW.get(name, name)
    hint = f"`torch.linalg.{name}_ex` returns the check's result as a tensor" if name in CHECKS_KEPT else ""
    yield from report(event, ctx, CHECKED[event.target], hint)


@rule.on(Call, *BROKEN)
def broken(event: Call, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled:
        yield from report(event, ctx, BROKEN[event.target], "keep the answer on the device")


@rule.on(Call, *SPARSE)
def counted(event: Call, ctx: Context) -> Iterator[Report]:
    """Compiled code breaks at these: CL125."""
    if not ctx.compiled:
        yield from report(event, ctx, "counts on the device", "keep indices and values in dense tensors")


@rule.on(Call, "torch.nested.nested_tensor", "torch.nested.as_nested_tensor")
def nested(event: Call, ctx: Context) -> Iterator[Report]:
    parts = event.args[0].any_item() if event.args and isinstance(event.args[0], Seq) else None
    if parts is not None and on_device(parts) and ctx.region.kind != "compiled":
        message = f"`{ctx.source(event.node)}` copies the lengths to the device: the CPU waits for it"
        hint = "`torch.nested.nested_tensor_from_jagged` takes values and offsets from the device"
        yield Report(event.node, message, because=parts, hint=hint)


@rule.on(Call, *FILLS)
def filled(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.argument(*FILLS[event.target])
    if value is not None and on_device(value) and ctx.region.kind != "compiled":
        message = f"`{ctx.source(event.node)}` reads the tensor that it fills with: the CPU waits for the device"
        yield Report(event.node, message, because=value, hint="`torch.where` takes it from the device")


@rule.on(Call, *ASSERTS)
def asserted(event: Call, ctx: Context) -> Iterator[Report]:
    place = ASSERTS[event.target]
    value = event.args[place] if len(event.args) > place else None
    if value is not None and on_device(value) and ctx.region.kind != "compiled":
        message = f"`{ctx.source(event.node)}` reads its condition: the CPU waits for the device"
        yield Report(event.node, message, because=value, hint="`torch._assert_async` checks it on the device")


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
