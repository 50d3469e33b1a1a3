"""Which lines of the tree run: what is not run, a run proves nothing of."""

from __future__ import annotations

import sys
import threading
from types import FrameType, TracebackType
from typing import Any

from compilelint.runtime.places import Places


class Reached:
    """Collects lines while entered; it may be entered again."""

    def __init__(self, places: Places, *, on: bool) -> None:
        self._places, self._on = places, on
        self._seen: set[tuple[str, int]] = set()

    def __enter__(self) -> None:
        if self._on:
            threading.settrace(self._called)
            sys.settrace(self._called)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._on:
            sys.settrace(None)
            threading.settrace(None)

    def lines(self) -> dict[str, list[int]]:
        """By path, relative to the tree."""
        found: dict[str, list[int]] = {}
        for path, line in sorted(self._seen):
            found.setdefault(path, []).append(line)
        return found

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self._line if self._places.relative(frame.f_code.co_filename) is not None else None

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line" and (path := self._places.relative(frame.f_code.co_filename)) is not None:
            self._seen.add((path, frame.f_lineno))
        return self._line
