"""What watches the program, and when each part of it starts: lines at once, torch and Dynamo when they are imported."""

from __future__ import annotations

import importlib.util
import inspect
import os
import platform
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from types import CodeType, FrameType
from typing import Any

from compilelint.runtime.trace.hooks import AfterImport
from compilelint.runtime.trace.journal import Journal
from compilelint.runtime.trace.lines import Lines
from compilelint.runtime.trace.sources import Sources
from compilelint.runtime.trace.steps import Counter

WINDOW_STEPS = 5  # profiled on a GPU where --steps names no number: each call of Python is in the profile


class Watch:
    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request
        self.prediction: Any = None
        self.dynamo: Any = None
        self.measures = False
        self._profiled: Any = None
        self._ended = False
        self.journal = Journal(request["journal"])
        self.sources = Sources(request["roots"], request["cwd"], packages=_packages(request), on_new=self.journal.file)
        self.lines = Lines(self.sources, self.journal)
        target = request["kind"] == "target"
        self.steps = Counter(
            self.lines,
            after=None if target else request["after"],
            steps=None if target else request["steps"],
            on_open=lambda: self._safely(self._open),
            on_close=lambda: self._safely(self._close),
        )
        self.journal.step = lambda: self.steps.done

    def start(self) -> None:
        self.journal.facts(python=platform.python_version())
        actions = {"torch": self._torch, "torch._dynamo": self._torch_dynamo}
        AfterImport({name: partial(self._safely, action) for name, action in actions.items()}).install()
        self.lines.start()

    def forked(self) -> None:
        """A process that the program forked goes on by itself."""
        self._ended = True
        if sys.version_info < (3, 12):
            sys.settrace(None)

    def end(self) -> None:
        """The program is over: write what is only known now."""
        if self._ended:
            return
        self._ended = True
        self.steps.close()
        if self.dynamo is not None:
            for reason in self.dynamo.unseen():
                self.journal.note(f"Dynamo's counters name a graph break that was not seen at any line: {reason}")
        steps = self.steps.result()
        steps.path = self.sources.shown(steps.path) or steps.path
        self.journal.facts(steps=asdict(steps))
        self.journal.end()

    def _safely(self, part: Callable[[], None]) -> None:
        """An error of ours must not become one of the program's."""
        try:
            part()
        except Exception as error:  # noqa: BLE001
            self.journal.note(f"{part.__name__.strip('_')} failed: {type(error).__name__}: {error}")

    # what the program imports

    def _torch(self) -> None:
        import torch

        self.measures = _measures(self._request["syncs"])
        self.journal.facts(
            torch=torch.__version__,
            device="cuda" if self.measures else "cpu",
            syncs_are="measured" if self.measures else "predicted",
        )
        self._watch_calls()
        if self.measures:
            cuda: Any = torch.cuda
            cuda._lazy_call(partial(self._safely, self._cuda_starts))
        else:
            from compilelint.runtime.trace.syncs_cpu import Found, ProgramPrediction

            found = Found(self.sources, self.journal, lambda: self.steps.open)
            self.prediction = ProgramPrediction(found)
            self.prediction.start()
            self.lines.in_sight = self.prediction.sees
            for function in (torch.cuda.synchronize, torch.cuda.empty_cache, torch.accelerator.synchronize):
                code = inspect.unwrap(function).__code__
                self.lines.watch_call(code, partial(found.called, f"{function.__module__}.{function.__name__}"))

    def _watch_calls(self) -> None:
        import torch
        from torch.optim.optimizer import Optimizer
        from torch.utils.data.dataloader import DataLoader, _BaseDataLoaderIter

        module: Any = torch.nn.Module
        stepping = _inner_code(Optimizer.profile_hook_step.__code__, "wrapper")
        self.lines.watch_call(stepping, lambda frame: self.steps.optimizer(_first_argument(frame)))
        self.lines.watch_call(DataLoader.__iter__.__code__, self._loader)
        self.lines.watch_call(
            _BaseDataLoaderIter.__next__.__code__, lambda frame: self.steps.batch(frame.f_locals["self"])
        )
        self._watch_module(module._wrapped_call_impl.__code__)

    def _loader(self, frame: FrameType) -> None:
        if self.prediction is not None and frame.f_locals["self"].pin_memory:
            self.prediction.pins = True  # it would where there is a device

    def _watch_module(self, code: CodeType) -> None:
        self.steps.module_code.add(code)
        self.lines.watch_call(code, lambda frame: self.steps.call())

    def _torch_dynamo(self) -> None:
        from torch._dynamo import eval_frame

        from compilelint.runtime.trace.dynamo import Listener

        self.dynamo = Listener(self.sources, self.journal)
        context: Any = eval_frame._TorchDynamoContext
        self._watch_module(_inner_code(context.__call__.__code__, "compile_wrapper"))
        if self.prediction is not None:
            self.prediction.keep_out_of_compiled_code()

    # the window

    def _cuda_starts(self) -> None:
        """The program has set CUDA up, on whichever thread needed it first."""
        import torch

        if threading.current_thread() is not threading.main_thread():
            self.journal.note("no syncs: CUDA was first used in another thread than the main one")
            return
        from compilelint.runtime.trace.syncs_cuda import Profiled

        self._profiled = Profiled(self.sources, self.journal, self._request.get("keep"))
        self.journal.facts(device_name=torch.cuda.get_device_name())
        profiler: Any = torch.autograd.profiler.profile
        self.lines.watch_call(profiler._prepare_trace.__code__, self._programs_own_profiler)
        self.steps.limit(WINDOW_STEPS)
        if self.steps.open:
            self._profiled.open()

    def _programs_own_profiler(self, frame: FrameType) -> None:
        """There can be one profiler at a time, and the program's comes first."""
        if self.steps.open and not self._profiled.starting:
            self.steps.close()
            self.journal.note("the program profiles itself: syncs are those before it began to")

    def _open(self) -> None:
        self.lines.measure(True)
        if self._profiled is not None:
            self._profiled.open()

    def _close(self) -> None:
        self.lines.measure(False)
        if self._profiled is not None:
            self._profiled.close()


def _measures(wish: str | None) -> bool:
    """Whether syncs are measured on a GPU. CUDA is not set up to learn it: the program does that in its own way."""
    import torch

    if wish is not None:
        return wish == "measure"
    if torch.version.cuda is None:
        return False
    count: Callable[[], int] = torch.cuda._device_count_nvml
    return (found := count()) > 0 or (found < 0 and torch.cuda.is_available())


def _inner_code(code: CodeType, name: str) -> CodeType:
    """The code of a function defined in another: all functions that the outer one makes share it."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name == name:
                return constant
            try:
                return _inner_code(constant, name)
            except LookupError:
                continue
    raise LookupError(name)


def _first_argument(frame: FrameType) -> object:
    arguments = frame.f_locals.get("args", ())
    return arguments[0] if arguments else None


def _packages(request: dict[str, Any]) -> list[str]:
    """The package that `-m` names is the program's own, wherever it is installed."""
    name = request["name"].partition(".")[0]
    if request["kind"] != "module" or name == "torch":
        return []
    sys.path.insert(0, request["cwd"])
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return []
    finally:
        del sys.path[0]
    return [] if spec is None else [os.path.realpath(place) for place in spec.submodule_search_locations or ()]
