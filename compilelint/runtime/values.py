"""Turns what a call returned, or left behind, into flat values that can be written, read back and compared."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

Values = dict[str, Any]  # path → a tensor on the CPU, a number, a string or None

_DEEPEST = 12


def flatten(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The leaves of a result: through tuples, lists, dicts and dataclasses, each under a readable path."""
    numpy = sys.modules.get("numpy")
    if isinstance(value, torch.Tensor) or value is None or isinstance(value, (bool, int, float, complex, str)):
        yield path, value
    elif numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        try:
            yield path, torch.from_numpy(numpy.array(value))
        except TypeError:  # strings, objects
            yield path, f"numpy {value.dtype}: {value.tolist()!r}"
    elif depth >= _DEEPEST:
        yield path, f"<{type(value).__name__}, too deep>"
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from flatten(value[key], f"{path}[{key!r}]", depth + 1)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for name in value._fields:
            yield from flatten(getattr(value, name), f"{path}.{name}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from flatten(item, f"{path}[{index}]", depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for each in dataclasses.fields(value):
            yield from flatten(getattr(value, each.name), f"{path}.{each.name}", depth + 1)
    else:
        yield path, f"<{type(value).__name__}>"


def kept(value: Any) -> Any:
    """A leaf as it is written: tensors are copied to the CPU, dense and detached."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        if value.layout is not torch.strided:
            value = value.to_dense()
        return value.to("cpu", copy=True).contiguous().resolve_conj().resolve_neg()
    return value


def save(values: Values, path: str) -> None:
    torch.save(values, path)


def load(path: str) -> Values:
    """What `save` wrote; {} where a run ended before it wrote."""
    if not Path(path).is_file():
        return {}
    loaded: Values = torch.load(path, map_location="cpu", weights_only=True)
    return loaded
