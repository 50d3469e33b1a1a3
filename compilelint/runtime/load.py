"""Imports TARGET in the worker and makes the program to run: a callable, its arguments, and the modules behind it."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils import _pytree as pytree

from compilelint.errors import UsageProblem
from compilelint.runtime.results import ModuleMode
from compilelint.runtime.target import DTYPES, Input, LiteralInput, Target

SEED = 20_240_501


def seed(number: int = SEED) -> None:
    """Seed Python's, NumPy's (where it is loaded) and torch's generators."""
    random.seed(number)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(number % 2**32)
    torch.manual_seed(number)


@dataclass
class Program:
    """What is run: `call(*args, **kwargs)`."""

    call: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    modules: list[torch.nn.Module] = field(default_factory=list)
    without_gradients: bool = False

    @property
    def module(self) -> torch.nn.Module | None:
        """The module that is called, if it is one."""
        module = self.call.__self__ if inspect.ismethod(self.call) else self.call
        return module if isinstance(module, torch.nn.Module) else None

    @property
    def inference(self) -> bool:
        """A module in eval mode whose inputs ask for no gradient: run as users do, under no_grad."""
        if self.without_gradients or self.module is None or self.module.training:
            return self.without_gradients
        return not any(leaf.requires_grad for leaf in self.tensors())

    def mismatch(self) -> str:
        """What to do about an error, where modules and inputs are of different precision."""
        floats = {p.dtype for p in self.parameters().values() if p.is_floating_point()}
        given = {leaf.dtype for leaf in self.tensors() if leaf.is_floating_point()}
        if len(floats) != 1 or not given or given & floats:
            return ""
        (dtype,), short = floats, {getattr(torch, name): text for text, name in DTYPES.items()}
        names = ", ".join(sorted(str(each).removeprefix("torch.") for each in given))
        return (
            f"the parameters are {str(dtype).removeprefix('torch.')}, the inputs {names}: give inputs of the same, "
            f'such as --input "{short.get(dtype, "f32")}[8,128]", or return such from a function'
        )

    def tensors(self) -> Iterator[torch.Tensor]:
        for leaf in pytree.tree_leaves((self.args, self.kwargs)):
            if isinstance(leaf, torch.Tensor):
                yield leaf

    def fresh(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Copies of the arguments: a call that writes into its inputs must not change the next call's."""
        args, kwargs = pytree.tree_map(_copied, (self.args, self.kwargs))
        return args, kwargs

    def parameters(self) -> dict[str, torch.Tensor]:
        return {name: p for name, p in self.named_state() if isinstance(p, torch.nn.Parameter)}

    def named_state(self) -> Iterator[tuple[str, torch.Tensor]]:
        """What the modules behind the callable would save, each tensor once, without torch.compile's prefix."""
        seen: set[int] = set()
        for index, module in enumerate(self.modules):
            prefix = f"{index}." if len(self.modules) > 1 else ""
            for name, value in module.state_dict(keep_vars=True).items():
                if isinstance(value, torch.Tensor) and id(value) not in seen:
                    seen.add(id(value))
                    yield prefix + name.replace("_orig_mod.", ""), value


def _copied(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or isinstance(leaf, torch.nn.Parameter):
        return leaf
    copy = leaf.detach().clone()
    return copy.requires_grad_(leaf.requires_grad)


class Loader:
    """Imports the target once; `make()` then builds a program as often as wanted, always from the same seed."""

    def __init__(
        self,
        target: Target,
        file: str | None,
        inputs: list[Input],
        device: torch.device,
        *,
        elsewhere: bool = False,
        mode: ModuleMode = "given",
    ) -> None:
        self.target, self.inputs, self.device, self.mode = target, inputs, device, mode
        seed()
        self.module = _import_file(Path(file), elsewhere=elsewhere) if file else _import_module(target.module or "")
        found: Any = self.module
        for part in target.name.split("."):
            if not hasattr(found, part):
                raise UsageProblem(f"TARGET {target.text}: {found.__name__!r} has no {part!r}")
            found = getattr(found, part)
        self.found = found
        if not callable(found):
            raise UsageProblem(f"TARGET {target.text}: is a {type(found).__name__}, not callable")
        self._refuse_what_needs_more(target, found)

    def _refuse_what_needs_more(self, target: Target, found: Any) -> None:
        """A class, or a function with arguments, of which nobody says what to give."""
        needed = _needed(found)
        if inspect.isclass(found):
            is_module = issubclass(found, torch.nn.Module)
            if self.inputs and is_module and not needed:
                return
            told = f"needs {', '.join(needed)} to be made" if needed else "is a class"
            inputs = 'give its inputs (--input "f32[8,128]"), or ' if is_module and not needed else ""
            made = f"{found.__name__}({', '.join(f'{name}=...' for name in needed)})"
            example = _factory(found.__name__, made, ["torch.randn(8, 128)"])
            raise UsageProblem(f"TARGET {target.text}: {told}: {inputs}{example}")
        if needed and not self.inputs:
            owner, _, name = target.name.rpartition(".")
            if needed[0] == "self":
                example = _factory(name, f"{owner}(...).{name}", needed[1:])
                raise UsageProblem(f"TARGET {target.text}: is a method: {example}")
            raise UsageProblem(
                f"TARGET {target.text}: needs {', '.join(needed)}: give an --input for each, or "
                f"{_factory(name, target.name, needed)}"
            )

    def make(self) -> Program:
        seed()
        call, args, kwargs = self._with_inputs() if self.inputs else self._from_factory()
        modules = list(_modules(call, args, kwargs))
        if self.device.type != "cpu":
            for module in modules:
                module.to(self.device)
        if self.mode != "given":
            for module in modules:
                module.train(self.mode == "training")
        args, kwargs = pytree.tree_map(self._placed, (args, kwargs))
        return Program(call, args, kwargs, modules, self.mode == "inference")

    def _from_factory(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        accepts = _parameters(self.found)
        made = self.found(device=str(self.device)) if "device" in accepts else self.found()
        if not isinstance(made, tuple) or len(made) not in (2, 3) or not callable(made[0]):
            raise UsageProblem(
                f"TARGET {self.target.text}: must return (callable, args) or (callable, args, kwargs), "
                f"not {type(made).__name__}; to run it itself, give its inputs with --input"
            )
        kwargs = made[2] if len(made) == 3 else {}
        if not isinstance(made[1], (tuple, list)) or not isinstance(kwargs, dict):
            raise UsageProblem(f"TARGET {self.target.text}: args must be a tuple and kwargs a dict")
        return made[0], tuple(made[1]), kwargs

    def _with_inputs(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        call: Any = self.found() if inspect.isclass(self.found) else self.found
        return call, tuple(_drawn(each) for each in self.inputs), {}

    def _placed(self, leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.device == self.device or self.device.type == "cpu":
            return leaf
        return leaf.detach().to(self.device).requires_grad_(leaf.requires_grad)


def _drawn(spec: Input) -> Any:
    if isinstance(spec, LiteralInput):
        return spec.value
    dtype = getattr(torch, spec.dtype)
    if dtype is torch.bool:
        return torch.rand(spec.shape) < 0.5
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.randn(spec.shape, dtype=torch.complex64 if dtype.is_complex else torch.float32)
        return wide.to(dtype).requires_grad_(spec.grad)
    return torch.randint(0, max(spec.below, 1), spec.shape).to(dtype)


def _parameters(function: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return set()


def _needed(function: Callable[..., Any]) -> list[str]:
    """The arguments that a call can't do without; a device is given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in kinds and p.name != "device"]


def _factory(name: str, call: str, arguments: list[str]) -> str:
    given = f"({arguments[0]},)" if len(arguments) == 1 else f"({', '.join(arguments)})"
    lines = ["write a function that takes no arguments, and name that one:"]
    return "\n    ".join([*lines, f"def make_{name.lower()}():", f"    return {call}, {given}"])


def _modules(call: Any, args: Any, kwargs: Any) -> Iterator[torch.nn.Module]:
    """The modules that a call runs: the callable, what it is bound to, closes over, or is given."""
    seen: set[int] = set()
    queue = [call, *pytree.tree_leaves((args, kwargs))]
    while queue:
        item = queue.pop(0)
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, torch.nn.Module):
            yield item
        elif isinstance(item, functools.partial):
            queue += [item.func, *item.args, *item.keywords.values()]
        elif inspect.ismethod(item):
            queue += [item.__func__, item.__self__]
        elif inspect.isfunction(item):
            queue += [cell.cell_contents for cell in item.__closure__ or () if _filled(cell)]
            if (inner := getattr(item, "_torchdynamo_orig_callable", None)) is not None:
                queue.append(inner)
        elif not isinstance(item, (torch.Tensor, ModuleType, type)) and hasattr(item, "__dict__"):
            # an object such as a trainer: the modules it holds, not all that can be reached from it
            queue += [value for value in vars(item).values() if isinstance(value, torch.nn.Module)]


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # an empty cell raises
    except ValueError:
        return False
    return True


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise UsageProblem(f"there is no module {name!r} in this tree ({os.getcwd()}) nor installed") from None  # noqa: PTH109
        raise


def _import_file(file: Path, *, elsewhere: bool) -> ModuleType:
    """Import a file by the name that its package gives it, so that relative imports work; else as a script is.

    A file from `elsewhere`, the other version's tree, must not bring that tree's modules along: its folder goes last.
    """
    folder, parts = file.parent, [file.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    if str(folder) not in sys.path:
        sys.path.insert(len(sys.path) if elsewhere else 0, str(folder))
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    if len(parts) > 1 and not elsewhere:
        return importlib.import_module(name)
    if len(parts) > 1:
        importlib.import_module(name.rpartition(".")[0])
    elif name in sys.modules or name in sys.stdlib_module_names:
        name = f"compilelint_target_{name}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageProblem(f"{file}: can't be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
