"""`copy.copy` and `copy.deepcopy` of tensors, modules or containers of them break the graph.

## What it does
Reports, in compiled code, `copy.deepcopy` of anything that holds a tensor or is a module, `copy.copy` of tensors,
modules, lists and dicts, and `dataclasses.asdict` and `astuple` of a dataclass that holds tensors (they deep-copy).

## Why it costs
Dynamo doesn't trace the copy protocol of tensors: the graph ends at the call.

## Example
    old = copy.deepcopy(state)

## Use instead
    old = {name: tensor.clone() for name, tensor in state.items()}

`t.clone()` for a tensor, `dict(d)` and `list(l)` for a shallow copy.

## Fix safety
Safe: `list(l)` for `copy.copy(l)`, `dict(d)` for a plain dict. Unsafe: `t.clone()` for a tensor, which stays in
autograd's graph where `deepcopy` of a leaf makes a new leaf, and has storage of its own where `copy.copy` shares it.

## Versions
By release: `copy.deepcopy` of what holds no tensor is traced since 2.13, and breaks before.

## References
https://docs.pytorch.org/docs/stable/generated/torch.Tensor.clone.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Fix,
    Instance,
    Map,
    Report,
    Rule,
    Seq,
    Tensor,
    Value,
    cost,
    tensor_in,
    tensor_of,
    walk,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule(
    "CL117",
    "copy-in-graph",
    effects=("graph-break",),
    gb_types=("Attempted to copy.deepcopy a tensor", "torch.* op returned non-Tensor"),
    fixable=Applicability.UNSAFE,
)


@rule.on(Call, "copy.copy", "copy.deepcopy", "Tensor.__deepcopy__", "Tensor.__copy__")
def copied(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.receiver if event.target.startswith("Tensor.") else event.argument(0, "x")
    if not ctx.compiled or value is None:
        return
    module = isinstance(value, Instance) and value.isa("torch.nn.Module")
    shallow = event.target == "copy.copy" and isinstance(value, (Seq, Map))
    fields = value.attrs.values() if isinstance(value, Instance) and event.target == "copy.deepcopy" else ()
    holds = any(tensor_in(each) is not None for each in (value, *fields))
    anything = event.target == "copy.deepcopy" and ctx.torch_says(event.target).get("breaks") is True
    if module or shallow or anything or holds:
        message = f"`{ctx.source(event.node)}` copies what Dynamo can't copy: {cost(event, ctx)}"
        hint = "clone the tensors by name" if not module else "copy the module outside the compiled region"
        yield Report(event.node, message, because=value, hint=hint, fix=clone(event, value))


@rule.on(Call, "dataclasses.asdict", "dataclasses.astuple")
def as_container(event: Call, ctx: Context) -> Iterator[Report]:
    value = event.argument(0, "obj")
    attributes = value.attrs.values() if isinstance(value, Instance) else ()
    if ctx.compiled and any(isinstance(inner, Tensor) for v in attributes for inner in walk(v)):
        message = f"`{ctx.source(event.node)}` deep-copies the tensors it holds: {cost(event, ctx)}"
        yield Report(event.node, message, because=value, hint="build the dict from the fields")


def clone(event: Call, value: Value) -> Fix | None:
    call = event.node
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    argument = call.args[0]
    if not isinstance(argument, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return None
    template, why = copy_of(event.target, value)
    if template is None:
        return None
    kind = Applicability.UNSAFE if why else Applicability.SAFE

    def build(rw: Rewriter) -> None:
        rw.replace(call, template.format(rw.text(argument)))

    return Fix("copy what Dynamo traces", kind, build, why)


def copy_of(target: str, value: Value) -> tuple[str | None, str]:
    leaf = "a clone stays in autograd's graph and has storage of its own"
    if tensor_of(value) is not None:
        return "{}.clone()", leaf
    if target == "copy.copy":
        if isinstance(value, Seq) and value.kind == "list":
            return "list({})", ""
        return ("dict({})", "a subclass of dict becomes a plain one") if isinstance(value, Map) else (None, "")
    items = list(value.items.values()) if isinstance(value, Map) and value.items is not None else []
    if isinstance(value, Map) and (all(tensor_of(v) for v in items) if items else tensor_of(value.element)):
        return "{{name: tensor.clone() for name, tensor in {}.items()}}", leaf
    if isinstance(value, Seq) and value.kind == "list" and tensor_of(value.any_item()) is not None:
        return "[tensor.clone() for tensor in {}]", leaf
    return None, ""
