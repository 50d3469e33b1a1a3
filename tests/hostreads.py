"""Where a program would make the host wait for a device, as far as a run on the CPU can tell.

A proxy: the operators and calls that hand a value to the host, or copy between host and device, whatever the device is.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

READS = {
    "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::unique_dim",
    "aten::unique_consecutive", "aten::bincount", "aten::equal", "aten::allclose",
    "aten::_linalg_check_errors", "aten::_linalg_svd",
}  # fmt: skip
INDEXED = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}
CALLS = {"tolist", "cpu", "__format__", "__repr__", "cuda", "new_tensor"}
MADE = {"tensor", "as_tensor", "asarray"}  # from Python data: a copy where a device is named
TORCH = str(Path(torch.__file__).parent)


class _Ops(TorchDispatchMode):
    def __init__(self, seen: Callable[[], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen = seen

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = func._schema.name, kwargs or {}
        counted = name == "aten::repeat_interleave" and kwargs.get("output_size") is None
        filled = name.startswith("aten::index_put") and args[2].dim() == 0  # one value through a mask: not counted
        mask = name in INDEXED and not filled and any(i is not None and i.dtype is torch.bool for i in args[1])
        bounds = name == "aten::histc" and not any(args[2:])  # without bounds they are looked for
        checked = (
            name == "aten::normal" and isinstance(args[-1], torch.Tensor) and len(args) > 1
        )  # that no deviation is negative
        ends = name == "aten::linspace" and any(isinstance(end, torch.Tensor) for end in args[:2])
        value = name.startswith("aten::masked_fill") and isinstance(args[2], torch.Tensor)
        sparse = name.startswith("aten::_to_sparse")
        if name in READS or counted or mask or bounds or checked or ends or value or sparse:
            self.seen()
        return func(*args, **kwargs)


class _Calls(TorchFunctionMode):
    def __init__(self, seen: Callable[[], None]) -> None:
        super().__init__()
        self.seen = seen

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        named = name == "to" and _names_device(args[1:], kwargs) and not _called_by_torch()
        made = name in MADE and kwargs.get("device") is not None and not isinstance(args[0], torch.Tensor)
        written = name == "__setitem__" and isinstance(args[2], bool | int | float) and _one_element(*args[:2])
        tensor = name == "__setitem__" and isinstance(args[2], torch.Tensor) and args[2].dim() == 0
        if name in CALLS or named or made or written or (tensor and _is_mask(args[1])):
            self.seen()
        return func(*args, **kwargs)


def _names_device(args: Any, kwargs: Any) -> bool:
    """Whether `x.to(…)` may copy: it names a device, or a tensor for its device. A dtype alone copies nothing."""
    where = kwargs.get("device", kwargs.get("other", args[0] if args else None))
    return isinstance(where, str | int | torch.device | torch.Tensor) and not isinstance(where, bool)


def _called_by_torch() -> bool:
    """Whether it is code of torch that asks: what it moves is where it should be already."""
    frame = sys._getframe(2)
    return frame.f_code.co_filename.startswith(TORCH)


def _is_mask(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dtype is torch.bool


def _one_element(tensor: torch.Tensor, index: Any) -> bool:
    """A number written to one element, or to those that an index tensor names, is copied; to a slice, filled in."""
    parts = index if isinstance(index, tuple) else (index,)
    if tensor.dim() == 0:
        return _is_mask(index)
    return len(parts) == tensor.dim() and all(
        isinstance(part, int) or (isinstance(part, torch.Tensor) and part.dtype is not torch.bool) for part in parts
    )


@contextlib.contextmanager
def host_reads(path: Path, lines: set[int]) -> Iterator[None]:
    """Add to `lines` those of the file that read a tensor's value, or copy one, while the block runs."""

    def seen() -> None:
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == str(path):
                lines.add(frame.f_lineno)
                return
            frame = frame.f_back  # type: ignore[assignment]

    stubs = {name: getattr(torch.cuda, name) for name in ("synchronize", "empty_cache", "is_available")}
    try:
        torch.cuda.synchronize = lambda *_: seen()
        torch.cuda.empty_cache = seen
        torch.cuda.is_available = lambda: True
        with _Calls(seen), _Ops(seen):
            yield
    finally:
        for name, value in stubs.items():
            setattr(torch.cuda, name, value)
