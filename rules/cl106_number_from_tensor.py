"""A tensor computed in the region stands for a number argument: torch reads it, which breaks the graph.

## What it does
Reports, in compiled code, a computed tensor where a torch function takes a Python number: sizes (`zeros(n)`,
`arange(n)`, `x.view(n, -1)`, `x.expand(n, 4)`), counts (`topk(k)`, `split(n)`, `roll(n)`), `alpha=`, `value=`, the
fill value of `new_full` and `full_like`, dropout's `p`.

## Why it costs
Nothing in the source looks like a read, yet the function asks the tensor for its value: the graph ends there, and the
CPU waits for the device.

## Example
    position = torch.arange(lengths.max())

## Use instead
    position = torch.arange(max_length)          # a number that the host knows
    position = torch.arange(x.shape[1])          # or a shape, and a mask for the rest

`torch.full(size, t)`, `clamp(max=t)`, `masked_fill(mask, t)`, `pow(t)` and `lerp(weight=t)` take 0-d tensors as they
are.

## Fix safety
`x.new_full(size, t)` becomes `torch.full` with the same dtype and device, and `alpha=t` a product: unsafe, since the
dtype of the result may change by promotion. Numbers taken from the rows of a tensor, `for h, w in shapes`, become
those of the list that it was made of, which callers pass instead (unsafe: others might not have it). The rest is
manual.

## Versions
All releases. A 0-d input of the compiled function that lives on the CPU is known to Dynamo, and isn't reported. Nor is
another use of a tensor behind a break: there it is an input of the resumed function, and what mends the first mends
both.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Fix,
    Report,
    Rule,
    Seq,
    Value,
    break_effects,
    cost,
    is_input,
    pass_the_list,
    tensor_of,
    words,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule(
    "CL106",
    "number-from-tensor",
    effects=("graph-break", "sync"),
    gb_types=("Data dependent operator",),
    fixable=Applicability.UNSAFE,
)

ALL, FIRST, REST = (0, None), (0, 1), (1, None)  # which positional arguments are numbers: start, stop
MAKERS = "zeros ones empty rand randn randint arange eye randperm hann_window tril_indices triu_indices"
METHODS = {
    ALL: "view reshape expand repeat tile new_zeros new_ones new_empty topk kthvalue split chunk roll tril triu narrow"
    " unfold diagonal unsqueeze flip transpose permute unflatten softmax cumsum",
    FIRST: "sum mean select fill_diagonal_",
    (1, 2): "new_full",
}
FUNCTIONS = {
    ALL: MAKERS,
    FIRST: "full scalar_tensor",
    REST: "topk kthvalue split chunk roll tril triu narrow unsqueeze flip cumsum stack softmax",
    (1, 2): "full_like nn.functional.one_hot nn.functional.pad nn.functional.dropout nn.functional.avg_pool2d"
    " nn.functional.layer_norm nn.functional.leaky_relu nn.functional.threshold",
    (2, 3): "linspace logspace",
}
ARRAYS = {ALL: "zeros ones empty arange eye identity tri", FIRST: "full"}  # an array's element is a tensor to Dynamo
NUMBERS = {
    f"{owner}.{name}": part
    for owner, table in (("torch", FUNCTIONS), ("Tensor", METHODS), ("numpy", ARRAYS))
    for part, names in table.items()
    for name in names.split()
}
KEYWORDS = words(
    "negative_slope eps threshold low high size steps end start k dim alpha value sections length diagonal num_classes"
    " n shifts p"
)
SCALED = words("add sub add_ sub_ addcmul addcdiv")


@rule.on(Call, *NUMBERS, *(f"{owner}.{name}" for owner in ("torch", "Tensor") for name in SCALED))
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled or event.starred:
        return
    start, stop = NUMBERS.get(event.target, (0, 0))
    positional = event.args[start:stop]
    tensor = computed((*positional, *(event.kwargs[name] for name in KEYWORDS if name in event.kwargs)))
    if tensor is not None:
        message = f"`{ctx.source(event.node)}` asks a tensor for a number: {cost(event, ctx)}"
        hint = "pass a number that the host knows"
        fix = pass_the_list(event, ctx) or fill_tensor(event, ctx)
        effects = break_effects(tensor)
        yield Report(event.node, message, because=tensor, effects=effects, hint=hint, fix=fix, number=True)


def computed(values: Sequence[Value]) -> Value | None:
    """The tensor of one element among them that the region computes last, sizes given as a tuple opened."""
    found: list[Value] = []
    for value in values:
        for item in value.items or () if isinstance(value, Seq) else (value,):
            tensor = tensor_of(item)
            # what is computed from Python numbers alone, Dynamo knows the value of
            known = is_input(item) and tensor is not None and tensor.dtype != "float"
            if tensor is None or tensor.constant or tensor.kind not in ("", "numpy") or known:
                continue
            # of one element, or torch would raise
            if tensor.rank in (0, None) or (tensor.rank == 1 and tensor.kind == ""):
                found.append(item)
    return max(found, key=lambda v: getattr(v.origin.node, "lineno", 0) if v.origin is not None else 0, default=None)


def fill_tensor(event: Call, ctx: Context) -> Fix | None:
    """`x.new_full(size, t)` → `torch.full(size, t, dtype=x.dtype, device=x.device)`."""
    call = event.node
    if event.target != "Tensor.new_full" or not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords:
        return None
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return None
    base = call.func.value.id

    def build(rw: Rewriter) -> None:
        size, value = map(rw.text, call.args)
        rw.replace(call, f"{rw.name_for('torch.full')}({size}, {value}, dtype={base}.dtype, device={base}.device)")

    return Fix(
        "fill with the tensor", Applicability.UNSAFE, build, "the fill value is rounded to the dtype on the device"
    )
