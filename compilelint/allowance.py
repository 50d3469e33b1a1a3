"""How long a function and a file may take: what goes past that is cut short and noted, so that nothing hangs an editor.

Counted in CPU seconds of this thread: a busy machine changes nothing. Code that people write takes a thousandth of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from compilelint.source.module import Module

FUNCTION_SECONDS = 10.0
FILE_SECONDS = 30.0
SECONDS_A_LINE = 0.001  # more, for each line of the file


class Allowance:
    """What each file has left."""

    def __init__(self) -> None:
        self._left: dict[Module, float] = {}

    @contextmanager
    def for_function(self, module: Module) -> Iterator[float]:
        """Until when, by `time.thread_time()`, one function of the file may take."""
        start = time.thread_time()
        left = self._left.get(module)
        if left is None:
            left = FILE_SECONDS + SECONDS_A_LINE * module.text.count("\n")
        try:
            yield start + min(FUNCTION_SECONDS, left)
        finally:
            self._left[module] = left - (time.thread_time() - start)
