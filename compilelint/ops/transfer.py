"""Many scalars of a device in one copy to the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor

Key = TypeVar("Key")
Number = bool | int | float | complex


# Dtypes that torch.stack takes on every device, and that promote; others go as integers of their size.
COMMON = frozenset(
    {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex128, torch.complex64}
    | {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool}
)
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def to_host(values: Mapping[Key, Tensor | Number]) -> dict[Key, Number]:
    """Python numbers for the tensors of one element in a mapping: one copy, and one wait, for each device.

    Any dtypes, none converted. Numbers stay as they are. Raises ValueError for a tensor of another size, TypeError for
    what is neither tensor nor number.
    """
    result: dict[Key, Number] = {}
    found: dict[torch.device, dict[torch.dtype, list[Key]]] = {}
    for key, value in values.items():
        if isinstance(value, Tensor):
            if value.numel() != 1:
                raise ValueError(f"{key!r} has {value.numel()} elements, not one")
            found.setdefault(value.device, {}).setdefault(value.dtype, []).append(key)
            result[key] = 0  # keeps the mapping's order
        elif isinstance(value, (bool, int, float, complex)):
            result[key] = value
        else:
            raise TypeError(f"{key!r} is {type(value).__name__}: neither a tensor nor a number")
    with torch.no_grad():
        for groups in found.values():
            # the widest first: then each begins where its dtype may
            order = sorted(groups, key=lambda dtype: dtype.itemsize, reverse=True)
            pieces = [_packed([values[key] for key in groups[dtype]], dtype).view(torch.uint8) for dtype in order]
            host = (torch.cat(pieces) if len(pieces) > 1 else pieces[0]).cpu()
            for dtype, piece in zip(order, host.split([len(piece) for piece in pieces]), strict=True):
                result.update(zip(groups[dtype], piece.view(dtype).tolist(), strict=True))
    return result


def _packed(scalars: list[Any], dtype: torch.dtype) -> Tensor:
    """[scalars], of the dtype or of integers of its size."""
    scalars = [scalar if scalar.dim() == 0 else scalar.reshape(()) for scalar in scalars]
    if dtype not in COMMON:
        scalars = [scalar.view(_BITS[dtype.itemsize]) for scalar in scalars]
    return torch.stack(scalars)
