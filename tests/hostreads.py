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
    "aten::unique_consecutive", "aten::bincount", "aten::equal", "aten::allclose", "aten::histc",
    "aten::_linalg_check_errors", "aten::_linalg_svd", "aten::lift_fresh", "aten::normal",
}  # fmt: skip
INDEXED = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}
CALLS = {"tolist", "cpu", "__format__", "__repr__", "to", "cuda"}


class _Ops(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, seen: Callable[[], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen = seen

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = func._schema.name, kwargs or {}
        counted = name == "aten::repeat_interleave" and kwargs.get("output_size") is None
        mask = name in INDEXED and any(i is not None and i.dtype is torch.bool for i in args[1])
        if name in READS or counted or mask:
            self.seen()
        return func(*args, **kwargs)


class _Calls(TorchFunctionMode):
    def __init__(self, seen: Callable[[], None]) -> None:
        super().__init__()
        self.seen = seen

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in CALLS:
            self.seen()
        return func(*args, **(kwargs or {}))


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
