"""A NumPy function or attribute that Dynamo can't map to torch breaks the graph.

## What it does
Reports, in compiled code, NumPy functions without a counterpart in `torch._numpy`: `interp`, `digitize`, `isin`,
`vectorize`, `lexsort`, `polyfit`, `apply_along_axis`, `nditer`, `array_equal`, and others; and what it can't read of an
array: `dtype`, `flags`, `base`, `nbytes`, `strides`, `data`, `ctypes`, `tobytes()`.

## Why it costs
Dynamo traces most of NumPy as torch operators, so a round trip through `.numpy()` stays in the graph. These functions
end it.

## Example
    keep = np.isin(ids.numpy(), wanted)

## Use instead
    keep = torch.isin(ids, wanted)

## Fix safety
Manual: counterparts in torch differ in dtypes and in how they treat edges.

## Versions
From the table of the chosen release.

## References
https://docs.pytorch.org/docs/stable/torch.compiler_faq.html#does-numpy-work-with-torch-compile
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import Call, Context, Load, Report, Rule, Value, cost, is_passed_otherwise, tensor_of, words

ATTRIBUTE = "Unsupported ndarray attribute access"
TYPE = "Unsupported python_type() call"

rule = Rule(
    "CL122",
    "numpy-unmapped",
    effects=("graph-break",),
    gb_types=("attempted to trace numpy function unsupported by PyTorch", "Data dependent operator", ATTRIBUTE, TYPE),
)

# NumPy's functions that torch/_numpy/__init__.py lacks, as far as the table does not tell
UNMAPPED = words(
    "interp digitize isin in1d vectorize lexsort polyfit polyval apply_along_axis apply_over_axes nditer"
    " ndindex ndenumerate fromiter ravel_multi_index array_equal allclose pad union1d intersect1d"
    " setdiff1d select piecewise unwrap nanmean nanmax nanmin nansum gradient save load savez loadtxt"
    " savetxt frompyfunc errstate seterr put_along_axis insert delete"
    " asanyarray asfortranarray isfortran asmatrix argpartition partition array2string array_repr array_str block"
    " compress cumulative_prod cumulative_sum ediff1d extract fromfile fromfunction fromstring genfromtxt"
    " frexp histogram_bin_edges mask_indices matrix_transpose may_share_memory nanargmax nanargmin nancumprod"
    " nancumsum nanmedian nanpercentile nanprod nanquantile nanstd nanvar packbits unpackbits place"
    " poly polyadd polyder polydiv polyint polymul polysub putmask require roots setxor1d shares_memory sort_complex"
    " spacing trim_zeros unstack vecdot matvec vecmat bitwise_count astype"
)
# torch/_dynamo/variables/tensor.py, NumpyNdarrayVariable.var_getattr
UNREADABLE = dict.fromkeys(words("dtype flags base"), ATTRIBUTE) | dict.fromkeys(
    words("nbytes strides data ctypes"), TYPE
)
TORCH = {
    "isin": "torch.isin",
    "digitize": "torch.bucketize",
    "allclose": "torch.isclose",
    "pad": "torch.nn.functional.pad",
}


@rule.on(Call, "numpy.*")
def check(event: Call, ctx: Context) -> Iterator[Report]:
    module, _, name = event.target.rpartition(".")
    if ctx.compiled and module.startswith("numpy.polynomial"):  # written in Python, in files that Dynamo skips
        message = f"`{ctx.source(event.node)}` is a call that Dynamo can't trace: {cost(event, ctx)}"
        gb_types = ("Attempted to call function marked as skipped",)
        yield Report(event.node, message, gb_types=gb_types, hint="call it outside the compiled region")
    if not ctx.compiled or module != "numpy" or name == "errstate":
        return
    measured = ctx.torch_says(event.target).get("breaks")
    if (measured if isinstance(measured, bool) else name in UNMAPPED) and name not in (
        "nonzero",
        "where",
        "unique",
        "bincount",
    ):
        message = f"Dynamo can't map `{ctx.source(event.node)}` to torch: {cost(event, ctx)}"
        hint = (
            f"use `{TORCH[name]}`"
            if name in TORCH
            else "use torch's own functions, or call it outside the compiled region"
        )
        yield Report(event.node, message, hint=hint)


@rule.on(Load, *(f"Tensor.{name}" for name in UNREADABLE))
def attribute(event: Load, ctx: Context) -> Iterator[Report]:
    array, kind = tensor_of(event.value), UNREADABLE[event.name]
    if not ctx.compiled or is_passed_otherwise(event.node, ctx, is_array):
        return
    if array is not None and array.kind == "numpy":
        message = f"Dynamo can't read `{event.name}` of the NumPy array `{ctx.source(event.node)}`: {cost(event, ctx)}"
        hint = "ask the tensor, or read it before the compiled call"
        yield Report(event.node, message, because=array, gb_types=(kind,), hint=hint)


def is_array(value: Value) -> bool:
    tensor = tensor_of(value)
    return tensor is not None and tensor.kind == "numpy"


@rule.on(Call, "numpy.ndarray.tobytes", "numpy.ndarray.tostring")
def copied_out(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled:
        message = f"Dynamo can't trace `{ctx.source(event.node)}`: {cost(event, ctx)}"
        yield Report(
            event.node,
            message,
            because=event.receiver,
            gb_types=("Unsupported ndarray method call",),
            hint="call it outside the compiled region",
        )
