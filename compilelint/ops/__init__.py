"""Operators that do in one or two kernels, or in one transfer, what a Python loop over tensors does in thousands.

Needs torch; on CUDA, Triton too (without it they work as loops). Nothing is imported before it is used. docs/ops.md
says what each takes and returns.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compilelint.ops.finite import FiniteGuard, NonFiniteError
    from compilelint.ops.metrics import DeviceMetrics
    from compilelint.ops.native import build_native
    from compilelint.ops.pointers import TensorTable
    from compilelint.ops.prefetch import prefetch
    from compilelint.ops.reduce import all_finite, max_abs_each, mean_each, squared_norm_each, sum_each, sum_tensors
    from compilelint.ops.transfer import to_host

__all__ = [
    "DeviceMetrics",
    "FiniteGuard",
    "NonFiniteError",
    "TensorTable",
    "all_finite",
    "build_native",
    "max_abs_each",
    "mean_each",
    "prefetch",
    "squared_norm_each",
    "sum_each",
    "sum_tensors",
    "to_host",
]

_HOMES = {
    "finite": ("FiniteGuard", "NonFiniteError"),
    "metrics": ("DeviceMetrics",),
    "native": ("build_native",),
    "pointers": ("TensorTable",),
    "reduce": ("all_finite", "max_abs_each", "mean_each", "squared_norm_each", "sum_each", "sum_tensors"),
    "prefetch": ("prefetch",),
    "transfer": ("to_host",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value  # found without this function from now on
    return value
