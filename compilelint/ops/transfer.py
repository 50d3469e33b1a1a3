"""Many scalars of a device in one copy to the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import Tensor

Key = TypeVar("Key")
Number = bool | int | float | complex


def to_host(values: Mapping[Key, Tensor | Number]) -> dict[Key, Number]:
    """Python numbers for the tensors of one element in a mapping: one copy, and one wait, for each device.

    Any dtypes, none converted. Numbers stay as they are. Raises ValueError for a tensor of another size, TypeError for
    what is neither tensor nor number.
    """
    result: dict[Key, Number] = {}
    found: dict[torch.device, list[tuple[Key, Tensor]]] = {}
    for key, value in values.items():
        if not isinstance(value, Tensor | bool | int | float | complex):
            raise TypeError(f"{key!r} is {type(value).__name__}: neither a tensor nor a number")
        result[key] = 0 if isinstance(value, Tensor) else value  # keeps the mapping's order
        if isinstance(value, Tensor):
            if value.numel() != 1:
                raise ValueError(f"{key!r} has {value.numel()} elements, not one")
            found.setdefault(value.device, []).append((key, value.detach()))
    for pairs in found.values():
        pieces = [value.resolve_conj().resolve_neg().reshape(1).view(torch.uint8) for _, value in pairs]
        host = torch.cat(pieces).cpu().split([len(piece) for piece in pieces])
        for (key, value), piece in zip(pairs, host, strict=True):
            result[key] = piece.clone().view(value.dtype).item()  # a clone is aligned
    return result
