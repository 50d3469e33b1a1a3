"""The program's steps: how many are done, when the measured window opens and closes, and when `--steps` is reached.

A step is one turn of the loop around the call of an optimizer's `step`; where no optimizer steps, of the loop that
draws from a DataLoader; where none does, of the hottest loop, the first to come round often enough whose every turn
calls a module or compiled code and which no module's forward runs. A turn without such work is none.
"""

from __future__ import annotations

import statistics
import sys
import time
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from compilelint.runtime.trace.lines import Lines, loop_around
from compilelint.runtime.trace.record import Steps

Loop = tuple[str, int]
_BY = ("turns of the hottest loop", "batches of a DataLoader", "steps of an optimizer", "calls of TARGET")
HOTTEST, LOADER, OPTIMIZER, TARGET = range(4)
SOME_TURNS = 2  # of the hottest loop, where neither --after nor --steps asks for a number


class Enough(SystemExit):
    """Ends the program after the steps that were asked for, as if it had called sys.exit()."""


class Counter:
    """Counts steps; `on_open` and `on_close` are told of the window that is measured. `after` None: see `target`."""

    def __init__(
        self,
        lines: Lines,
        *,
        after: int | None,
        steps: int | None,
        on_open: Callable[[], None],
        on_close: Callable[[], None],
    ) -> None:
        self._lines = lines
        lines.on_loop = self.loop
        self._after, self._stop = after or 0, steps
        self._window = steps
        self._on_open, self._on_close = on_open, on_close
        self.done = 0
        self._rank = -1 if after is not None else TARGET  # whose own loops don't count
        self._loop: Loop | None = None
        self._reference: int | None = None  # the optimizer whose steps count
        self._iterator: Callable[[], Any] = lambda: None  # a weak reference to that whose batches count
        self._worked = False  # since the step loop last came round
        self._called: dict[Loop, int] = {}  # module calls when a loop last came round
        self._turns: dict[Loop, int] = {}
        self._in_module: dict[Loop, bool] = {}
        self.calls = 0
        self._opened_at: int | None = None
        self._closed_at: int | None = None
        self._began = time.perf_counter()
        self._times: list[float] = []
        self.module_code: set[CodeType] = set()
        if after == 0:
            self._open()

    @property
    def open(self) -> bool:
        return self._opened_at is not None and self._closed_at is None

    def result(self) -> Steps:
        last = self.done if self._closed_at is None else self._closed_at
        steps = Steps(done=self.done, measured=0 if self._opened_at is None else last - self._opened_at)
        if self._rank >= 0:
            steps.by = _BY[self._rank]
        if self._loop is not None:
            steps.path, steps.line = self._loop
        if self._times:
            steps.median_ms = statistics.median(self._times) * 1e3
        steps.stopped = self._stop is not None and self.done >= self._after + self._stop
        return steps

    # what is told of

    def call(self) -> None:
        """A module or compiled code is called."""
        self.calls += 1
        if self._rank == HOTTEST:
            self._worked = True

    def optimizer(self, optimizer: object) -> None:
        """An optimizer stepped."""
        if self._rank < OPTIMIZER:
            self._reference = id(optimizer)
            self._choose(OPTIMIZER)
        if self._rank == OPTIMIZER and self._reference == id(optimizer):
            self._work()

    def batch(self, iterator: Any) -> None:
        """A DataLoader's iterator is asked for a batch: the turn with the one before is over. Of several that are drawn
        from at a time the first counts."""
        if self._rank < LOADER:
            self._choose(LOADER)
        counted = self._iterator()
        if counted is None:
            self._iterator, counted = weakref.ref(iterator), iterator
        if self._rank == LOADER and counted is iterator and counted._num_yielded > 0:
            self._step()

    def target(self, calls: int) -> None:
        """From now on the calls of TARGET are measured, so many: it was called before."""
        self._window = calls
        self._open()

    def target_called(self) -> None:
        self._step()

    def loop(self, filename: str, line: int) -> None:
        """A loop begins or comes round."""
        here = (filename, line)
        if self._rank <= HOTTEST and here != self._loop:
            self._heat(here)
        if here == self._loop and self._worked:
            self._worked = False
            self._step()

    def limit(self, steps: int) -> None:
        """Close the window after so many steps where nothing else was asked for."""
        if self._window is None:
            self._window = steps

    def close(self) -> None:
        """The program ends."""
        if self.open:
            self._shut()

    # the loop

    def _choose(self, rank: int) -> None:
        self._rank, self._worked, self.done, self._times = rank, False, 0, []
        if self._opened_at is not None:
            self._opened_at = 0
        self._loop = None
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            filename = frame.f_code.co_filename
            header = None if "/torch/" in filename.replace("\\", "/") else loop_around(filename, frame.f_lineno)
            if header is not None:
                self._lines.watch_loop(frame, header)
                self._loop = (filename, header)
                return
            frame = frame.f_back

    def _heat(self, here: Loop) -> None:
        if self._called.get(here, self.calls) != self.calls and not self._inside_module(here):
            self._turns[here] = self._turns.get(here, 0) + 1
            if self._rank < HOTTEST and self._turns[here] >= (self._after or self._stop or SOME_TURNS):
                self._rank, self._loop, self.done = HOTTEST, here, self._turns[here] - 1
                self._worked = True
        self._called[here] = self.calls

    def _inside_module(self, here: Loop) -> bool:
        if here not in self._in_module:
            frame: FrameType | None = sys._getframe(2)
            while frame is not None and frame.f_code not in self.module_code:
                frame = frame.f_back
            self._in_module[here] = frame is not None
        return self._in_module[here]

    def _work(self) -> None:
        if self._loop is None:  # nothing comes round: what was told of is the step itself
            self._step()
        else:
            self._worked = True

    # the window

    def _step(self) -> None:
        self.done += 1
        now = time.perf_counter()
        if self.open and self.done > 1:
            self._times.append(now - self._began)
        self._began = now
        if self._opened_at is None and self.done >= self._after:
            self._open()
            self._began = time.perf_counter()
        elif self.open and self._window is not None and self.done >= (self._opened_at or 0) + self._window:
            self._shut()
            if self._stop is not None:
                raise Enough(0)
        elif self._closed_at is not None and self._stop is not None:
            raise Enough(0)  # the program caught the first

    def _open(self) -> None:
        self._opened_at = self.done
        self._on_open()

    def _shut(self) -> None:
        self._closed_at = self.done
        self._on_close()
