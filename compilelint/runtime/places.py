"""Where in the user's sources something happened: a stack reduced to the innermost line of the tree under test."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from types import FrameType

_OWN = str(Path(__file__).resolve().parent) + os.sep  # the harness's own frames are never the user's


class Places:
    """Knows the roots of the tree; gives paths relative to them."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(sorted({os.path.realpath(root) + os.sep for root in roots}, key=len, reverse=True))
        self.relative = lru_cache(maxsize=None)(self._relative)

    def _relative(self, filename: str) -> str | None:
        """The path below the tree's root, None for a file outside it (or an installed package inside it)."""
        real = os.path.realpath(filename)
        if real.startswith(_OWN):
            return None
        for root in self._roots:
            if real.startswith(root):
                below = real[len(root) :]
                return None if "site-packages" in Path(below).parts else below
        return None

    def innermost(self, frames: Iterable[tuple[str, int]]) -> tuple[str, int] | None:
        """Of frames given outermost first, the last that lies in the tree."""
        found = None
        for filename, line in frames:
            if (path := self.relative(filename)) is not None:
                found = (path, line)
        return found

    def here(self) -> tuple[str, int] | None:
        """The innermost line of the tree on the running thread's stack."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if (path := self.relative(frame.f_code.co_filename)) is not None:
                return path, frame.f_lineno
            frame = frame.f_back
        return None


def outside(filename: str) -> str:
    """A readable name for a file outside the tree: from site-packages on."""
    _, found, rest = filename.replace(os.sep, "/").rpartition("/site-packages/")
    return rest if found else filename
