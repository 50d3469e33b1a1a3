"""A custom operator without a fake implementation, or a foreign function, breaks the graph.

## What it does
Reports, in compiled code, calls of an operator made by `torch.library.custom_op`, `torch.library.define` or `impl`
for which no `register_fake` is in sight, and calls through `ctypes`, `cffi` or CuPy, of a function that Numba
compiled, or of an extension that `torch.utils.cpp_extension.load` compiled.

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
Unsafe. The call, or the least expression around it that is a tensor again (`torch.from_numpy(f(x.numpy()))`), is
wrapped in a `torch.library.custom_op` of the tensors and numbers that it reads, whose fake implementation takes the
result to be one new tensor like the first. A call whose result nobody takes becomes an operator that may write to any
of its tensors (`mutates_args="unknown"`). Read it: only you know the result's shape and dtype, what is written to, and
what the gradient is (an operator has none until `register_autograd`: backward raises). For the rest: manual.

## Versions
`torch.library.custom_op` is in torch 2.4 and later; `torch.library.register_fake` replaces `impl_abstract`.

## References
https://docs.pytorch.org/docs/stable/library.html#torch.library.register_fake
https://docs.pytorch.org/tutorials/advanced/python_custom_ops.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Call,
    Context,
    Instance,
    Report,
    Rule,
    cost,
    words,
    wrap_around,
    wrap_extension,
)

rule = Rule(
    "CL501",
    "unregistered-operator",
    effects=("graph-break",),
    gb_types=("Operator does not support running with fake tensors", "Unsupported method call"),
    fixable=Applicability.UNSAFE,
)

FOREIGN = words(
    "ctypes.CDLL.* ctypes.PyDLL.* ctypes.LibraryLoader.* cffi.* numba.*"
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
        loaded = event.target.startswith("torch.utils.cpp_extension.load.")
        fix = (wrap_extension(event, ctx) if loaded else None) or wrap_around(event, ctx)
        hint = "wrap it with `torch.library.custom_op` and `register_fake`"
        yield Report(event.node, message, because=event.receiver, hint=hint, fix=fix)
