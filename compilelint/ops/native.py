"""The scan of a list in C++ (scan.cpp): for thousands of tensors, Python's takes longer than all the rest of a call."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor
from torch.utils import cpp_extension


class Native(Protocol):
    def scan(self, tensors: list[Tensor], want_grad: bool, /) -> tuple[bytearray, int] | None:
        """Rows and kinds, as `pointers.scan` finds them."""

    def same(self, tensors: list[Tensor], want_grad: bool, rows: bytearray, device: torch.device, /) -> bool:
        """Whether a scan would find these rows."""


loaded: list[Native] = []  # one, once it is built


def build_native() -> None:
    """Compiles the scan with the C++ compiler that torch finds, and uses it in this process from now on.

    Some 30 s the first time; then it comes from the cache of torch's extensions (TORCH_EXTENSIONS_DIR). Calls that are
    never made under it work the same, slower: about 0.3 microseconds a tensor and call. Raises what
    `torch.utils.cpp_extension.load` raises where there is no compiler.
    """
    if not loaded:
        source = str(Path(__file__).with_name("scan.cpp"))
        loaded.append(cpp_extension.load("compilelint_scan", [source], extra_cflags=["-O3", "-DNDEBUG"]))
