"""On a CPU: a prediction of the host syncs that the same program would have on a GPU, from the operators it calls.

Two torch modes are on in the main thread (runtime/syncs.py). The dispatch mode sees the operators that run, also
between the graphs of compiled code. The function mode tells tensors that the program makes on the host from others;
Dynamo would trace it, so it is off while compiled code runs or is compiled.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch._guards import TracingContext
from torch.nn.modules.module import register_module_buffer_registration_hook

from compilelint.runtime.syncs import Calls, Operators, Prediction
from compilelint.runtime.trace.journal import Journal
from compilelint.runtime.trace.record import Sync
from compilelint.runtime.trace.sources import Sources, running
from compilelint.runtime.waits import Where

_HARNESS = (str(Path(__file__).parents[1]) + os.sep, str(Path(torch.__file__).parent) + os.sep)
_TRACING: Any = TracingContext
_MODES: Any = torch.overrides


class Found:
    """Takes what the prediction says, while `counts()`."""

    def __init__(self, sources: Sources, journal: Journal, counts: Callable[[], bool]) -> None:
        self._sources, self._journal, self._counts = sources, journal, counts

    def add(self, what: str) -> None:
        if not self._counts():
            return
        stack = running(sys._getframe(1))
        frames = self._sources.frames(stack)
        outer = next((each for each in reversed(stack) if not each[0].startswith(_HARNESS)), None)
        if outer is not None:
            at = self._sources.place(frames, *outer)
            self._journal.add(Sync(at.path, at.line, at.function, stack=frames, what=what))

    def unclear(self) -> None:
        if self._counts() and (frames := self._sources.here(sys._getframe(1))):
            self._journal.line("unclear", frames[-1].path, frames[-1].line)

    def called(self, what: str, frame: FrameType) -> None:
        """A function that waits for the device is called, whether or not there is one."""
        if self._counts() and (frames := self._sources.here(frame)):
            at = frames[-1]
            self._journal.add(Sync(at.path, at.line, at.function, stack=frames, what=what))


class ProgramPrediction(Prediction):
    """Of a whole program, whose parameters and buffers count as living on the device. Stays on to its end."""

    def __init__(self, found: Found) -> None:
        super().__init__(found)
        self._thread = threading.get_ident()
        self._calls, self._operators = Calls(self), Operators(self)
        self._depth: int | None = None  # in the stack of function modes, while it is off
        self._off_by: FrameType | None = None

    def start(self) -> None:
        register_module_buffer_registration_hook(self._buffer)
        for mode in (self._calls, self._operators):
            enter: Callable[[], Any] = mode.__enter__
            enter()

    def _buffer(self, module: Any, name: str, buffer: Any) -> None:
        if isinstance(buffer, torch.Tensor):
            self.place("device", [buffer])

    def where(self, tensor: torch.Tensor) -> Where:
        return "device" if isinstance(tensor, torch.nn.Parameter) else super().where(tensor)

    def call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _TRACING.try_get() is not None:  # a backward graph is compiled when it is first needed
            return func(*args, **kwargs)
        return super().call(func, args, kwargs)

    def tell(self, fallback: str) -> None:
        if _TRACING.try_get() is None:
            super().tell(fallback)

    def sees(self) -> bool:
        """Whether all calls of the running code are seen: not in compiled code, and not in other threads."""
        return self._depth is None and threading.get_ident() == self._thread

    def keep_out_of_compiled_code(self) -> None:
        """Once torch._dynamo is imported."""
        from torch._dynamo import eval_frame

        module: Any = eval_frame
        original = module._maybe_set_eval_frame

        def _maybe_set_eval_frame(callback: Any) -> Any:
            caller = sys._getframe(1)
            if callback is not None:
                self._off(caller)
                return original(callback)
            prior = original(None)
            # functions that Dynamo leaves alone are called while it compiles, too: only who began may end it
            if caller is self._off_by or caller.f_code.co_name == "__exit__":
                self._on()
            return prior

        module._maybe_set_eval_frame = _maybe_set_eval_frame

    def _off(self, caller: FrameType) -> None:
        stack = _MODES._get_current_function_mode_stack() if threading.get_ident() == self._thread else []
        if self._calls in stack:
            self._depth, self._off_by = stack.index(self._calls), caller
            above = [_MODES._pop_mode() for _ in stack[self._depth :]]
            for mode in reversed(above[:-1]):
                _MODES._push_mode(mode)

    def _on(self) -> None:
        if self._depth is not None and threading.get_ident() == self._thread:
            above = [_MODES._pop_mode() for _ in _MODES._get_current_function_mode_stack()[self._depth :]]
            for mode in (self._calls, *above[::-1]):
                _MODES._push_mode(mode)
            self._depth = self._off_by = None
