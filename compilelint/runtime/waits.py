"""Which calls and operators make the host wait on a GPU, told from a run on a CPU: by what is called, and by where the
tensors would live there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import torch
from torch.utils import _pytree as pytree

# "argument": of the program's caller, on either side; "copied": a copy on the host, or the tensor on the device that it
# is of, since on a CPU `x.cpu()` is `x`
Where = Literal["host", "pinned", "copied", "argument", "device"]
HOST: tuple[Where, ...] = ("host", "pinned")

READS = {
    "aten::_linalg_check_errors",
    "aten::_local_scalar_dense",
    "aten::_unique2",
    "aten::allclose",
    "aten::bincount",
    "aten::equal",
    "aten::masked_select",
    "aten::nonzero",
    "aten::unique_consecutive",
    "aten::unique_dim",
}
INDEXED = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")
HOST_CALLS = {"tolist", "cpu", "numpy", "__array__", "__repr__", "__format__"}
MADE = {"tensor", "as_tensor", "asarray"}  # of Python data
FILLED = {"masked_fill": 2, "masked_fill_": 2, "index_fill": 3, "index_fill_": 3}  # where the value stands


def operator_waits(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether the CUDA kernel of this operator reads its result's size, or a value, back."""
    name, overload = func._schema.name, func._overloadname
    if name in READS or name.startswith("aten::_to_sparse"):
        return True
    if name == "aten::repeat_interleave":
        return bool(overload == "Tensor" and kwargs.get("output_size") is None)
    if name == "aten::histc":
        return not any(args[2:])  # without bounds they are looked for
    if name == "aten::normal":
        return bool(overload in ("float_Tensor", "Tensor_Tensor"))  # that no deviation is negative
    if name == "aten::linspace":
        return any(isinstance(end, torch.Tensor) for end in args[:2])
    if name in INDEXED:
        masks = any(_is_mask(index) for index in args[1])
        filled = len(args) > 2 and args[2].dim() == 0  # becomes masked_fill
        return masks and not filled
    return False


class Calls:
    """Judges calls of torch as the program spells them. `where` says where a tensor lives, `for_host` whether a call
    with these keywords makes a tensor on the host, `says_cpu` whether the call under way names "cpu", `pins` whether a
    loader of the program pins its batches."""

    def __init__(
        self,
        where: Callable[[torch.Tensor], Where],
        for_host: Callable[[Mapping[str, Any]], bool],
        says_cpu: Callable[[], bool],
        pins: Callable[[], bool],
    ) -> None:
        self._where, self._for_host, self._says_cpu, self._pins = where, for_host, says_cpu, pins

    def wait(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | None:
        """Whether a call makes the host wait; None where a run on a CPU can't tell."""
        first = args[0] if args else None
        if name == "sparse_coo_tensor":
            return any(self._on_device(leaf) for leaf in pytree.tree_leaves((args, kwargs)))
        if not isinstance(first, torch.Tensor):
            return name in MADE and not self._for_host(kwargs)
        if name in ("to", "cuda"):
            return self._moved(name, args, kwargs)
        if name == "copy_":
            source = args[1] if len(args) > 1 else None
            return isinstance(source, torch.Tensor) and {self._where(first), self._where(source)} == {"host", "device"}
        if not self._on_device(first) or not self._reads(name, first, args, kwargs):
            return False
        return None if self._where(first) == "copied" else True

    def _reads(self, name: str, first: torch.Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether a call on a tensor of the device waits."""
        if name == "new_tensor":
            return not isinstance(args[1] if len(args) > 1 else None, torch.Tensor)
        if name in FILLED:
            value = args[FILLED[name]] if len(args) > FILLED[name] else kwargs.get("value")
            return self._on_device(value)
        if name in ("__getitem__", "__setitem__") and len(args) > 1:
            return self._indexed(args[1]) or (len(args) > 2 and self._written(first, args[1], args[2]))
        return name in HOST_CALLS

    def _on_device(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor) and self._where(value) not in HOST

    def _moved(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | None:
        target = destination(name, args, kwargs)
        if target is None:
            return False
        place = self._where(args[0])
        if place == "copied":
            return None
        if isinstance(target, torch.Tensor):
            there = "device" if self._on_device(target) else "host"
            if (place in HOST) == (there == "host"):
                return None if place == "argument" else False
        elif self._says_cpu():
            return place not in HOST and not _non_blocking(name, args, kwargs)
        elif place == "device":
            return False if name == "cuda" else None  # to the device that this run lacks, or from it
        if not _non_blocking(name, args, kwargs):
            return True
        if place == "argument" or (place == "host" and self._pins()):
            return None
        return place != "pinned"  # to pageable memory or from it

    def _indexed(self, index: Any) -> bool:
        """Whether an index is copied to the device: a list, or a tensor of the host that is no mask."""
        parts = index if isinstance(index, tuple) else (index,)
        tensors = [part for part in parts if isinstance(part, torch.Tensor) and part.dim() and not _is_mask(part)]
        return any(self._where(part) in HOST for part in tensors) or any(_is_numbers(part) for part in parts)

    def _written(self, tensor: torch.Tensor, index: Any, value: Any) -> bool:
        parts = index if isinstance(index, tuple) else (index,)
        if isinstance(value, torch.Tensor):
            if value.dim():
                return self._where(value) in HOST
            return self._on_device(value) and any(_is_mask(part) for part in parts)
        if not isinstance(value, (bool, int, float)):
            return _is_numbers(value)
        # a number is filled into a slice, and copied to one element
        return len(parts) == tensor.dim() and all(
            isinstance(part, int) or (isinstance(part, torch.Tensor) and not _is_mask(part)) for part in parts
        )


def destination(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The device, or the tensor for whose device it stands, that `.to(…)` or `.cuda()` names; None where it names none
    (a dtype alone moves nothing)."""
    if name == "cuda":
        return "cuda"
    for target in (kwargs.get("device"), kwargs.get("other"), args[1] if len(args) > 1 else None):
        if isinstance(target, (str, torch.device, torch.Tensor)) or (
            isinstance(target, int) and not isinstance(target, bool)
        ):
            return target
    return None


def _non_blocking(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    flags = [arg for arg in args[1:] if isinstance(arg, bool)]
    return bool(kwargs.get("non_blocking", flags[0] if flags else False))


def _is_mask(index: Any) -> bool:
    return isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8)


def _is_numbers(part: Any) -> bool:
    """A list of numbers, lists of such, a range, an array."""
    if not isinstance(part, (list, tuple, range)) or not part:
        return not isinstance(part, torch.Tensor) and hasattr(part, "__array__") and getattr(part, "ndim", 0) > 0
    return all(isinstance(item, (bool, int, float)) or _is_numbers(item) for item in part)
