"""A custom operator without a fake implementation, or a foreign function, breaks the graph.

## What it does
Reports, in compiled code, calls of an operator made by `torch.library.custom_op`, `torch.library.define` or `impl`
for which no `register_fake` is in sight, and calls through `ctypes`, `cffi`, Numba, CuPy, or of an extension that
`torch.utils.cpp_extension.load` compiled.

## Why it costs
Without a fake implementation Dynamo can't learn the result's shape: the graph ends at the operator. A foreign
function is skipped.

## Example
    @torch.library.custom_op("mylib::scan", mutates_args=())
    def scan(x: torch.Tensor) -> torch.Tensor: ...

## Use instead
    @scan.register_fake
    def _(x):
        return torch.empty_like(x)

## Fix safety
Unsafe, and only for functions of a loaded extension that are called with tensors and numbers: the call is wrapped in a
`torch.library.custom_op` whose fake implementation takes the result to be one new tensor like the first argument. Read
it: only you know the result's shape and dtype, whether an argument is written to, and what the gradient is (an operator
has none until `register_autograd`: backward raises). For the rest: manual.

## Versions
`torch.library.custom_op` is in torch 2.4 and later; `torch.library.register_fake` replaces `impl_abstract`.

## References
https://docs.pytorch.org/docs/stable/library.html#torch.library.register_fake
https://docs.pytorch.org/tutorials/advanced/python_custom_ops.html
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
    Instance,
    Report,
    Rule,
    Scalar,
    Value,
    cost,
    target_names,
    tensor_of,
    top_level,
    words,
)

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule(
    "CL501",
    "unregistered-operator",
    effects=("graph-break",),
    gb_types=("Operator does not support running with fake tensors", "Unsupported method call"),
    fixable=Applicability.UNSAFE,
)

FOREIGN = words(
    "ctypes.CDLL.* ctypes.PyDLL.* ctypes.LibraryLoader.* cffi.* numba.cuda.* numba.njit.* numba.jit.*"
    " cupy.* triton.runtime.* torch.utils.cpp_extension.load.*"
)


@rule.on(Call, "torch.library.CustomOpDef.__call__", "torch.ops.*")
def operator(event: Call, ctx: Context) -> Iterator[Report]:
    """The engine says of an operator of the project whether a fake implementation is registered for it."""
    made = event.receiver
    if ctx.compiled and isinstance(made, Instance) and "unregistered" in made.attrs:
        message = f"the operator `{ctx.source(event.node)}` has no fake implementation: {cost(event, ctx)}"
        yield Report(event.node, message, because=made, hint="register one with `torch.library.register_fake`")


@rule.on(Call, *FOREIGN)
def foreign(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled:
        message = f"`{ctx.source(event.node)}` calls foreign code: {cost(event, ctx)}"
        hint = "wrap it with `torch.library.custom_op` and `register_fake`"
        yield Report(event.node, message, because=event.receiver, hint=hint, fix=wrap(event, ctx))


def wrap(event: Call, ctx: Context) -> Fix | None:
    """`ext.scan(x, 3)`, `ext` a name of the module: an operator for it above the function."""
    match event.node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attr), args=args, keywords=[]) as call:
            pass
        case _:
            return None
    if not event.target.startswith("torch.utils.cpp_extension.load.") or event.starred or ctx.function is None:
        return None
    types = [type_of(value) for value in event.args]
    top = top_level(call, ctx)
    local = {argument.arg for argument in ast.walk(ctx.function) if isinstance(argument, ast.arg)}
    if None in types or "Tensor" not in types or top is None or owner in local | target_names(ctx.function):
        return None

    def build(rw: Rewriter) -> None:
        torch = rw.name_for("torch.Tensor", at=top).removesuffix(".Tensor")
        name = rw.fresh_name(f"{owner}_{attr}", within=ctx.function)
        stem = rw.file.path.replace("\\", "/").rpartition("/")[2].partition(".")[0]
        space = "".join(c if c.isalnum() else "_" for c in stem)
        parameters = [f"a{n}: {f'{torch}.Tensor' if kind == 'Tensor' else kind}" for n, kind in enumerate(types)]
        given = ", ".join(f"a{n}" for n in range(len(types)))
        head = f"({', '.join(parameters)}) -> {torch}.Tensor:"
        lines = [
            f'@{torch}.library.custom_op("{space}::{name}", mutates_args=())',
            f"def {name}{head}",
            f"    return {rw.code(call.func)}({given})",
            "",
            "",
            f"@{name}.register_fake",
            f"def _{head}",
            f"    return {torch}.empty_like(a{types.index('Tensor')})",
        ]
        rw.insert_before(top, "\n".join(lines))
        rw.replace(call, f"{name}({', '.join(rw.code(a) for a in args)})")

    why = f"taken to be a new tensor like argument {types.index('Tensor')}, with no argument written to and no gradient"
    return Fix("Wrap it in an operator with a fake implementation", Applicability.UNSAFE, build, why)


def type_of(value: Value) -> str | None:
    """As an operator's schema has it."""
    if tensor_of(value) is not None:
        return "Tensor"
    if isinstance(value, Const):
        kind = type(value.value)
        return kind.__name__ if kind in (int, float, bool, str) else None
    return value.type if isinstance(value, Scalar) and value.type in ("int", "float", "bool", "str") else None
