"""Batches of any loader, copied to the device one ahead."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

Batch = TypeVar("Batch")


def prefetch(loader: Iterable[Batch], device: torch.device | str) -> Iterator[Batch]:
    """The batches of an iterable on a CUDA device, each copied while the one before it is used.

    In a batch, tensors on the host are moved, alone or in lists, tuples and dicts, from pinned memory and on a stream
    of their own; an object with `.to(device)` is moved by that, blocking; all else stays. Nobody waits for a copy but
    the kernels that use it. An exception of the loader is raised behind the batches before it. For a device other
    than CUDA the batches are passed on as they are.
    """
    target = torch.device(device)
    if target.type != "cuda":
        return iter(loader)
    return _ahead(iter(loader), torch.empty(0, device=target).device)  # with its index


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """One for all loops: torch allocates for each stream apart, and would ask the driver anew for each loop."""
    return torch.cuda.Stream(device)


class Staged(NamedTuple):
    """A batch whose copy is under way."""

    batch: Any
    copies: list[Tensor]
    arrived: torch.cuda.Event
    borrowed: bool  # from pinned memory of the loader's, to which it may write the next batch


def _ahead(batches: Iterator[Any], device: torch.device) -> Iterator[Any]:
    stream = _stream(device)
    staged: Staged | None = None
    failure: Exception | None = None
    while failure is None:
        if staged is not None and staged.borrowed:
            staged.arrived.synchronize()
        following = None
        try:
            following = _stage(next(batches), device, stream)
        except StopIteration:
            break
        except Exception as raised:  # noqa: BLE001 (raised below, behind the batch before)
            failure = raised
        if staged is not None:
            yield _ready(staged, device)
        staged = following
    if failure is not None:
        raise failure
    if staged is not None:
        yield _ready(staged, device)


def _stage(batch: Any, device: torch.device, stream: torch.cuda.Stream) -> Staged:
    copies: list[Tensor] = []
    borrowed = False

    def copied(tensor: Tensor) -> Tensor:
        nonlocal borrowed
        borrowed |= tensor.is_pinned()
        with torch.cuda.stream(stream):
            copies.append(tensor.pin_memory().to(device, non_blocking=True))
        return copies[-1]

    moved = _moved(batch, device, copied)
    arrived = torch.cuda.Event()
    arrived.record(stream)
    return Staged(moved, copies, arrived, borrowed)


def _moved(value: Any, device: torch.device, copied: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor) and value.device.type == "cpu" and value.layout == torch.strided:
        return copied(value)
    if callable(getattr(value, "to", None)):
        return value.to(device)
    if isinstance(value, MutableMapping):
        moved = copy.copy(value)
        moved.update({key: _moved(item, device, copied) for key, item in value.items()})
        return moved
    if isinstance(value, (list, tuple)):
        items = [_moved(item, device, copied) for item in value]
        if type(value) is list:
            return items
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _ready(staged: Staged, device: torch.device) -> Any:
    """On the stream that is current where the batch is asked for."""
    current = torch.cuda.current_stream(device)
    current.wait_event(staged.arrived)
    for tensor in staged.copies:
        tensor.record_stream(current)
    return staged.batch
