"""Indexing by a 0-d tensor on the device reads the number from it.

## What it does
Reports `x[t]` and `x[t] = …` where `t` is a 0-d integer tensor on the device, also when `x` is there too, and a
host table indexed by a device tensor. Not in compiled code, where the index stays a tensor.

## Why it costs
Python's indexing by a 0-d tensor is a `select`, and `select` takes a Python number: the CPU waits for the device to
give it.

## Example
    a = self.alphas[t].to(x.device)

## Use instead
    a = self.alphas.index_select(0, t.reshape(1)).squeeze(0)  # with `alphas` on the device

## Fix safety
Unsafe: `x[t]` becomes `index_select`, which takes no negative index and makes a copy where `x[t]` was a view. A
host table that is an attribute is moved to the device on first use, and stays there. A parameter is left alone:
copying a weight may cost more.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.index_select.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Context,
    Fix,
    Read,
    Report,
    Rule,
    Tensor,
    Value,
    Write,
    index_parts,
    on_device,
    on_host,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL209", "scalar-index", effects=("sync",), fixable=Applicability.UNSAFE)


def scalar_index(base: Value, index: Value) -> Tensor | None:
    """The component that is read as a number; a host tensor can't be indexed by more than a number from the device."""
    if tensor_of(base) is None:
        return None
    for part in index_parts(index):
        tensor = tensor_of(part)
        if tensor is None or tensor.dtype == "bool" or not on_device(part):
            continue
        if tensor.rank == 0 or (tensor.rank is None and on_host(base)):
            return tensor
    return None


@rule.on(Read)
def reads(event: Read, ctx: Context) -> Iterator[Report]:
    index = scalar_index(event.base, event.index)
    if ctx.region.kind == "compiled" or index is None:
        return
    message = f"`{ctx.source(event.node)}` reads its index from the device: the CPU waits for it"
    hint = "`index_select(0, t.reshape(1))` keeps the index on the device"
    yield Report(event.node, message, because=index, hint=hint, fix=select(event, ctx))


@rule.on(Write)
def writes(event: Write, ctx: Context) -> Iterator[Report]:
    index = scalar_index(event.base, event.index)
    if ctx.region.kind != "compiled" and index is not None:
        message = f"`{ctx.source(event.node)} = …` reads its index from the device: the CPU waits for it"
        yield Report(
            event.node, message, because=index, hint="`index_copy_` and `index_fill_` keep the index on the device"
        )


def select(event: Read, ctx: Context) -> Fix | None:
    """`x[t]` on one device, or `self.table[t].to(y.device)` with a host table."""
    node = event.node
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, (ast.Tuple, ast.Slice)):
        return None
    method = ctx.parent(node)
    call = ctx.parent(method) if isinstance(method, ast.Attribute) and method.attr == "to" else None
    moved = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords
    attribute = (
        isinstance(node.value, ast.Attribute)
        and isinstance(node.value.value, ast.Name)
        and node.value.value.id == "self"
    )
    base = tensor_of(event.base)
    if base is None or base.kind == "parameter" or (on_host(base) and not (moved and attribute)):
        return None

    def build(rw: Rewriter) -> None:
        table, index = rw.code(node.value), rw.code(node.slice)
        code = f"{table}.index_select(0, {index}.reshape(1)).squeeze(0)"
        if not on_host(base):
            rw.replace(node, code)
        elif isinstance(call, ast.Call):
            device = rw.code(call.args[0])
            rw.insert_before(event.statement, f"if {table}.device != {device}:\n    {table} = {table}.to({device})")
            rw.replace(call, code)

    why = "no negative index; the result is a copy, no view; a host table moves to the device on first use"
    return Fix("Select by the tensor", Applicability.UNSAFE, build, why)
