"""Host syncs: on a GPU where CUDA says so, on a CPU a prediction of the calls that would make the host wait.

The prediction runs the program eagerly under two torch modes. Every tensor counts as living on the device, but for
those the program makes on the host (`torch.tensor(row)`, `torch.zeros(3)`) until it moves them. The arguments may be
either: reading them counts, and so does moving them.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from compilelint.runtime import waits
from compilelint.runtime.places import Places
from compilelint.runtime.results import Site
from compilelint.runtime.waits import HOST, Where

_TORCH = str(Path(torch.__file__).parent)
_HARNESS = str(Path(__file__).parent) + os.sep
_CPU = re.compile(r"""\.to\((device=)?(torch\.device\()?['"]cpu['"]""")
FACTORIES = {
    *("tensor", "as_tensor", "zeros", "ones", "full", "empty", "arange", "linspace", "logspace", "eye", "from_numpy"),
    *("rand", "randn", "randint", "randperm", "normal", "scalar_tensor", "tril_indices", "triu_indices", "hann_window"),
}


class Sites:
    """Events counted by site."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._sites: dict[tuple[str, int, str], Site] = {}

    def add(self, what: str, count: int = 1, detail: str = "") -> None:
        path, line = self._places.here() or ("(outside the tree)", 0)
        key = (path, line, what)
        if key in self._sites:
            self._sites[key].count += count
        else:
            self._sites[key] = Site(path, line, what, count, detail)

    def unclear(self) -> None:
        """What is not known is not counted."""

    def clear(self) -> None:
        self._sites.clear()

    def list(self) -> list[Site]:
        return sorted(self._sites.values(), key=lambda site: (site.path, site.line, site.what))


class Taker(Protocol):
    """Told of calls that the innermost line of the running thread makes."""

    def add(self, what: str) -> None:
        """One that would sync."""

    def unclear(self) -> None:
        """One that would, or not: a CPU can't tell."""


class Prediction:
    """A context that names to `sites` the calls that would sync on a GPU."""

    def __init__(self, sites: Taker) -> None:
        self.sites = sites
        self._where: MutableMapping[torch.Tensor, Where] = WeakTensorKeyDictionary()
        self._names: list[str] = []  # of the torch calls under way, outermost first
        self._told = False  # the outermost call was already reported
        self.pins = False  # a loader of the program pins its batches, or would where there is a device
        self._waiting = waits.Calls(self.where, _for_host, _says_cpu, lambda: self.pins)
        self._modes = contextlib.ExitStack()

    def __enter__(self) -> Prediction:
        self._modes.enter_context(_loaders_told(self))
        self._modes.enter_context(Calls(self))
        self._modes.enter_context(Operators(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._modes.close()

    def where(self, tensor: torch.Tensor) -> Where:
        return self._where.get(tensor, "device")

    def place(self, where: Where, tensors: Iterable[torch.Tensor]) -> None:
        """Say where tensors live that the program didn't make under our eyes."""
        for tensor in tensors:
            self._where[tensor] = where

    def tell(self, fallback: str) -> None:
        """Report the torch call under way (once), by the name the user wrote."""
        if not self._names:
            self.sites.add(fallback)
        elif not self._told:
            self._told = True
            self.sites.add(self._names[0])

    def ran(self, operator: str, out: Any) -> None:
        """An operator gave this. Where no torch call is seen around it, in compiled code, a tensor made of Python data
        is on the host: Dynamo's own code makes them of numbers that vary, and reads them."""
        if operator == "aten::lift_fresh" and not self._names and isinstance(out, torch.Tensor):
            self._where[out] = "host"

    def call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._names:
            self._told = False
        self._names.append(_spelled(func))
        try:
            self._before(func, args, kwargs)
            out = func(*args, **kwargs)
        finally:
            self._names.pop()
        self._after(func, args, kwargs, out)
        return out

    def _before(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        name = getattr(func, "__name__", "")
        found = self._waiting.wait(name, args, kwargs)
        if found:
            self.tell(name)
        elif found is None and not _by_torch():
            self.sites.unclear()

    def _after(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        """Where the results live."""
        name = getattr(func, "__name__", "")
        results = [leaf for leaf in pytree.tree_leaves(out) if isinstance(leaf, torch.Tensor)]
        if not results or name == "__get__":
            return
        place: Where = "device"
        inputs = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if name == "cpu":
            place = "host" if self.where(args[0]) in HOST else "copied"
        elif name == "pin_memory":
            place = "pinned"
        elif name in ("to", "cuda"):
            target = waits.destination(name, args, kwargs)
            if target is None or isinstance(target, torch.Tensor):
                place = self.where(args[0] if target is None else target)
            elif name == "to" and _says_cpu():
                place = "host" if self.where(args[0]) in HOST else "copied"
        elif inputs:
            places = {self.where(tensor) for tensor in inputs}
            if places <= {*HOST, "copied"}:
                place = "copied" if "copied" in places else "host"
        elif name in FACTORIES and _for_host(kwargs):
            place = "pinned" if kwargs.get("pin_memory") else "host"
        for tensor in results:
            self._where[tensor] = place


class Calls(TorchFunctionMode):
    def __init__(self, prediction: Prediction) -> None:
        super().__init__()
        self._prediction = prediction

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._prediction.call(func, args, kwargs or {})


class Operators(TorchDispatchMode):  # in its __init_subclass__
    def __init__(self, prediction: Prediction) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._prediction = prediction

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True  # torch.compile compiles all the same

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if waits.operator_waits(func, args, kwargs):
            tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
            places = {self._prediction.where(tensor) for tensor in tensors}
            if places & {"argument", "device"}:
                self._prediction.tell(func._schema.name)
            elif "copied" in places:
                self._prediction.sites.unclear()
        out = func(*args, **kwargs)
        self._prediction.ran(func._schema.name, out)
        return out


def _for_host(kwargs: Mapping[str, Any]) -> bool:
    """Whether a call makes a tensor on the host: without a device, or with `device="cpu"` in torch's own Python (an
    optimizer's step counts). The user's `"cpu"` may stand for the device that this run lacks."""
    return kwargs.get("device") is None or (str(kwargs["device"]) == "cpu" and _by_torch())


def _by_torch() -> bool:
    """Whether torch's own Python makes the call under way."""
    return (frame := _caller()) is not None and frame.f_code.co_filename.startswith(_TORCH)


def _says_cpu() -> bool:
    """Whether the line that makes the call under way moves something to "cpu" by that name. A variable may stand for
    the device that this run lacks."""
    frame = _caller()
    return frame is not None and bool(_CPU.search(linecache.getline(frame.f_code.co_filename, frame.f_lineno)))


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_HARNESS, torch.overrides.__file__)):
        frame = frame.f_back
    return frame


@contextlib.contextmanager
def _loaders_told(prediction: Prediction) -> Iterator[None]:
    """Without a device a loader that is asked to pin its batches does not, and nothing shows on them."""
    loader: Any = torch.utils.data.DataLoader
    original = loader.__iter__

    def begun(self: Any) -> Any:
        prediction.pins = prediction.pins or bool(self.pin_memory)
        return original(self)

    loader.__iter__ = begun
    try:
        yield
    finally:
        loader.__iter__ = original


def _spelled(func: Any) -> str:
    name = str(getattr(func, "__name__", func))
    owner = getattr(func, "__objclass__", None)
    if owner is not None or name.startswith("__") or func is getattr(torch.Tensor, name, None):
        return f"Tensor.{name}"
    return f"torch.{name}"


WAITING_CALLS = ("synchronize", "empty_cache", "ipc_collect")


@contextlib.contextmanager
def cuda_sync_sites(places: Places) -> Iterator[Sites]:
    """The Python sites of the syncs of one call: torch's sync debug mode, and the calls that it says nothing of."""
    sites = Sites(places)

    def warn(message: Any, *_: Any, **__: Any) -> None:
        if "called a synchronizing CUDA operation" in str(message):
            sites.add("synchronizing CUDA operation")

    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always")
        warnings.showwarning = warn
        for owner, name in (*((torch.cuda, name) for name in WAITING_CALLS), *_SYNCHRONIZE):
            stack.enter_context(_told(owner, name, sites))
        before = torch.cuda.get_sync_debug_mode()
        stack.callback(torch.cuda.set_sync_debug_mode, before)
        torch.cuda.set_sync_debug_mode("warn")
        yield sites


_SYNCHRONIZE: tuple[tuple[Any, str], ...] = ((torch.cuda.Event, "synchronize"), (torch.cuda.Stream, "synchronize"))


@contextlib.contextmanager
def _told(owner: Any, name: str, sites: Sites) -> Iterator[None]:
    original: Callable[..., Any] = getattr(owner, name)

    def told(*args: Any, **kwargs: Any) -> Any:
        sites.add(f"{owner.__name__}.{name}")
        return original(*args, **kwargs)

    setattr(owner, name, told)
    try:
        yield
    finally:
        setattr(owner, name, original)
