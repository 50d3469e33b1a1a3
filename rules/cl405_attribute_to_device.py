"""An attribute kept on the host is copied to the device on each call.

## What it does
Reports `self.mean.to(x.device)`, or a part of it (`self.ids[:n].to(x.device)`), in hot or compiled code, where the
attribute is a tensor that the class made on the host.

## Why it costs
Each call copies the same values again, from pageable memory, and the CPU waits for the copy.

## Example
    def scale(self, z):
        mean = self.mean.to(z.device)
        return z - mean

## Use instead
A buffer of the module (`self.register_buffer("mean", mean, persistent=False)`), which `.to(device)` moves along, or
a move on first use:

    if self.mean.device != z.device:
        self.mean = self.mean.to(z.device)

## Fix safety
Unsafe. Integers and booleans that a module's `__init__` makes become a buffer that isn't saved: `.to(device)` of the
module moves it along, and the copy at each call finds nothing to do. Others, outside compiled code, move to the device
on first use, where other code that reads them finds them.

## Versions
All releases.

## References
https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer
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
    Report,
    Rule,
    copied_from,
    is_non_blocking,
    is_number,
    moves_to_device,
    on_host,
    target_names,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL405", "attribute-to-device", effects=("sync", "transfer"), fixable=Applicability.UNSAFE)


@rule.on(Call, "Tensor.to", "Tensor.cuda", "Tensor.type_as")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    copied, value = copied_from(event), event.receiver
    source = attribute_in(copied, ctx)
    if source is None or value is None or not on_host(value):
        return
    if not moves_to_device(event, ctx) or is_non_blocking(event) or stored_back(event, source):
        return
    message = f"`{ctx.source(event.node)}` copies the same tensor to the device on each call: the CPU waits for it"
    hint = "make it a buffer, or move it once"
    fix = as_buffer(event, source, ctx)
    if fix is None and source is copied and not ctx.compiled:
        fix = moved_once(event, source)
    yield Report(event.node, message, because=value, hint=hint, fix=fix)


def attribute_in(copied: ast.expr | None, ctx: Context) -> ast.Attribute | None:
    """The attribute of `self.table.to(d)`, and of `self.table[:n].to(d)`, a part by slices and numbers."""
    if isinstance(copied, ast.Subscript):
        parts = copied.slice.elts if isinstance(copied.slice, ast.Tuple) else [copied.slice]
        if not all(isinstance(part, (ast.Slice, ast.Constant)) or is_number(ctx.value(part)) for part in parts):
            return None
        copied = copied.value
    return copied if isinstance(copied, ast.Attribute) else None


def stored_back(event: Call, source: ast.Attribute) -> bool:
    """`self.mean = self.mean.to(d)` moves it for good."""
    statement = event.statement
    return isinstance(statement, ast.Assign) and ast.dump(source) in {
        ast.dump(t).replace("Store()", "Load()") for t in statement.targets
    }


def as_buffer(event: Call, source: ast.Attribute, ctx: Context) -> Fix | None:
    """`self.ids = torch.arange(n)` of a module's `__init__` as a buffer; `.half()` doesn't change an integer."""
    tensor, owner = tensor_of(ctx.value(source)), ctx.value(source.value)
    if tensor is None or tensor.dtype not in ("int", "bool") or tensor.kind != "":
        return None
    if not isinstance(owner, Instance) or not owner.isa("torch.nn.Module") or not isinstance(source.value, ast.Name):
        return None
    holder: ast.AST | None = ctx.function
    while holder is not None and not isinstance(holder, ast.ClassDef):
        holder = ctx.parent(holder)
    if holder is None or len(holder.bases) != 1 or holder.keywords or source.attr in class_names(holder):
        return None
    stored = [
        node
        for node in ast.walk(holder)
        if isinstance(node, ast.Attribute) and node.attr == source.attr and not isinstance(node.ctx, ast.Load)
    ]
    made = ctx.parent(stored[0]) if len(stored) == 1 else None
    init = ctx.parent(made) if made is not None else None
    if not isinstance(made, ast.Assign) or len(made.targets) != 1 or made.targets[0] is not stored[0]:
        return None
    if not isinstance(init, ast.FunctionDef) or init.name != "__init__" or ctx.parent(init) is not holder:
        return None
    if not any(calls_init(statement) for statement in init.body[: init.body.index(made)]):
        return None
    target, base, value = stored[0], holder.bases[0], made.value

    def build(rw: Rewriter) -> None:
        from compilelint.fix.rewriter import CannotFix

        if rw.code(base) != rw.name_for("torch.nn.Module", at=holder):
            raise CannotFix("another base may have the attribute already")
        module = rw.code(target.value)
        call = f'{module}.register_buffer("{source.attr}", {rw.code(value)}, persistent=False)'
        rw.replace_statement(made, call)

    why = "the module's `.to()` moves it along; what goes through its buffers sees it"
    return Fix("Make it a buffer", Applicability.UNSAFE, build, why)


def class_names(holder: ast.ClassDef) -> set[str]:
    """The names that a class binds itself."""
    names: set[str] = set()
    for statement in holder.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif not isinstance(statement, ast.AnnAssign) or statement.value is not None:
            names |= target_names(statement)
    return names


def calls_init(statement: ast.stmt) -> bool:
    """`super().__init__()`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"))):
            return True
    return False


def moved_once(event: Call, source: ast.Attribute) -> Fix | None:
    call = event.node
    if not isinstance(call, ast.Call) or event.target != "Tensor.to" or len(call.args) != 1 or call.keywords:
        return None
    where = call.args[0]
    if not isinstance(where, ast.Attribute) or where.attr != "device" or not isinstance(source.value, ast.Name):
        return None  # a name or a string may stand for a device without an index, which is never equal

    def build(rw: Rewriter) -> None:
        attribute, device = rw.code(source), rw.code(where)
        rw.insert_before(
            event.statement, f"if {attribute}.device != {device}:\n    {attribute} = {attribute}.to({device})"
        )
        rw.replace(call, attribute)

    why = "the attribute moves to the device on first use, and stays there"
    return Fix("Move it once", Applicability.UNSAFE, build, why)
