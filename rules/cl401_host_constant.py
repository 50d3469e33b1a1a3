"""A tensor made from Python data on a device is copied from pageable host memory, and the CPU waits for the copy.

## What it does
Reports `torch.tensor(data, device=d)`, `torch.as_tensor(data, device=d)` and `t.new_tensor(data)` in hot code,
outside compiled code (there such a tensor is a constant of the graph).

## Why it costs
The data goes from Python into host memory and from there to the device, and the CPU waits until it has arrived.
`torch.zeros` and `torch.full` are filled by a kernel on the device: nothing is copied. One serving project went
from 12 waits a batch to none.

## Example
    total = torch.tensor(0.0, device=device)

## Use instead
    total = torch.zeros((), device=device)

For a table of constants: a buffer of the module, made once.

## Fix safety
Safe where the data is one Python number, alone or repeated in a list: `torch.full` infers the same dtype. Unsafe for a
float that isn't a constant, since `torch.full` raises where `torch.tensor` rounds 1e300 to infinity. For other data:
manual.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.full.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Const,
    Context,
    Fix,
    Map,
    Report,
    Rule,
    Scalar,
    Seq,
    Unknown,
    Value,
    on_device,
    options,
    tensor_of,
    walk,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL401", "host-constant", effects=("sync", "transfer"), fixable=Applicability.SAFE)


@rule.on(Call, "Tensor.new")
def new(event: Call, ctx: Context) -> Iterator[Report]:
    """The old spelling of `new_tensor`, where it is given a list; numbers and a shape would be sizes."""
    data = event.args[0] if len(event.args) == 1 else None
    if ctx.region.kind == "compiled" or not isinstance(data, Seq) or data.kind not in ("list", "tuple"):
        return
    if event.receiver is not None and on_device(event.receiver) and host_data(data, sure=True):
        message = f"`{ctx.source(event.node)}` copies from host memory: the CPU waits until the device has it"
        yield Report(event.node, message, because=event.receiver, hint="make it once outside the step")


@rule.on(Call, "torch.tensor", "torch.as_tensor", "torch.asarray", "Tensor.new_tensor")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    call, data = event.node, event.argument(0, "data")
    if ctx.region.kind == "compiled" or not isinstance(call, ast.Call) or data is None or event.starred:
        return
    device = event.kwargs.get("device")
    placed = any(on_device(v) for v in options(device)) if device is not None else False
    if event.target == "Tensor.new_tensor":
        placed = (
            event.receiver is not None and on_device(event.receiver) and (device is None or on_device(event.result))
        )
    elif device is not None and not (isinstance(device, Const) and device.value is None):
        placed = placed or on_device(event.result)
    if not placed or not host_data(data, sure=event.target in ("torch.tensor", "Tensor.new_tensor")):
        return
    message = f"`{ctx.source(call)}` copies from host memory: the CPU waits until the device has it"
    hint = "fill on the device (`torch.zeros`, `torch.full`), or make it once outside the step"
    yield Report(call, message, because=event.result, hint=hint, fix=filled(event, call, data))


def host_data(data: Value, sure: bool) -> bool:
    """Python data, and no tensor; where nothing is known of it, `torch.tensor` takes Python data by its own advice."""
    if isinstance(data, Unknown):
        return sure
    if isinstance(data, (Const, Scalar)):
        return True
    if isinstance(data, (Seq, Map)):
        return data.items != () and not any(on_device(v) for v in walk(data))  # of no data, no copy
    tensor = tensor_of(data)
    return tensor is not None and tensor.kind == "numpy"


def number(value: Value) -> bool:
    """A number of an exact Python type: a NumPy scalar would bring its own dtype."""
    if isinstance(value, Const):
        return type(value.value) in (bool, int, float, complex)
    return isinstance(value, Scalar) and value.type in ("bool", "int", "float")


def filled(event: Call, call: ast.Call, data: Value) -> Fix | None:
    """`torch.zeros` or `torch.full` for one number, alone or repeated in a list of constants."""
    if (
        event.target not in ("torch.tensor", "Tensor.new_tensor")
        or not call.args
        or isinstance(call.args[0], ast.Starred)
    ):
        return None
    first, shape, fill = call.args[0], "()", call.args[0]
    if isinstance(first, (ast.List, ast.Tuple)):
        constants = [constant(e) for e in first.elts]
        if len({(type(c), repr(c)) for c in constants}) != 1 or type(constants[0]) not in (bool, int, float):
            return None
        shape, fill, data = f"({len(constants)},)", first.elts[0], Const(constants[0])
    if not number(data) or any(k.arg is None for k in call.keywords):
        return None

    def build(rw: Rewriter) -> None:
        method = event.target == "Tensor.new_tensor" and isinstance(call.func, ast.Attribute)
        typed = any(k.arg == "dtype" for k in call.keywords)
        same = {"0.0": "zeros", "1.0": "ones", **({"0": "zeros", "1": "ones"} if typed else {})}
        plain = same.get(repr(fill.value), "") if isinstance(fill, ast.Constant) and not method else ""
        owner = f"{rw.operand(call.func.value)}.new_full" if isinstance(call.func, ast.Attribute) else ""
        name = owner if method else rw.name_for(f"torch.{plain or 'full'}")
        arguments = [shape, *([] if plain else [rw.code(fill)]), *(rw.code(k) for k in call.keywords)]
        rw.replace(call, f"{name}({', '.join(arguments)})")

    if fits(data):
        return Fix("Fill on the device", Applicability.SAFE, build, "the same value and dtype, without a copy")
    why = "the same value and dtype; a number beyond the range of the dtype raises instead of becoming infinite"
    return Fix("Fill on the device", Applicability.UNSAFE, build, why)


def constant(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def fits(data: Value) -> bool:
    """Whether no conversion to a float dtype can overflow: `torch.full` raises where `torch.tensor` gives infinity."""
    if isinstance(data, Const) and isinstance(data.value, float):
        return abs(data.value) < 1e30 or abs(data.value) == float("inf")
    return not (isinstance(data, Scalar) and data.type == "float")
