"""Which files are the program's own, how they are shown, and stacks reduced to their frames."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType

from compilelint.runtime.places import outside
from compilelint.runtime.trace.record import Frame

_OWN = str(Path(__file__).resolve().parents[1]) + os.sep
_STDLIB = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
_DEEPEST = 40  # frames kept of a stack, the innermost


class Sources:
    """`roots` are folders of the program's own sources; installed packages in them are not, unless named themselves."""

    def __init__(
        self,
        roots: Sequence[str],
        cwd: str,
        *,
        packages: Sequence[str] = (),
        on_new: Callable[[str, str], None] = lambda path, shown: None,
    ) -> None:
        self._roots = tuple(os.path.realpath(root) + os.sep for root in roots)
        self._packages = tuple(os.path.realpath(package) + os.sep for package in packages)
        self._cwd = os.path.realpath(cwd) + os.sep
        self._on_new = on_new
        self._known: dict[str, str | None] = {}

    def shown(self, filename: str) -> str | None:
        """How a file of the program's is shown; None for any other."""
        try:
            return self._known[filename]
        except KeyError:
            shown = self._known[filename] = self._shown(filename)
            if shown is not None:
                self._on_new(os.path.realpath(filename), shown)
            return shown

    def _shown(self, filename: str) -> str | None:
        if filename.startswith("<") or not filename:
            return None
        real = os.path.realpath(filename)
        if real.startswith((_OWN, *_STDLIB)):
            # the standard library holds site-packages
            if not real.startswith(self._packages):
                return None
        elif real.startswith(self._roots):
            parts = Path(real).parts
            generated = any(part.startswith("torchinductor_") for part in parts)
            if (generated or {"site-packages", "dist-packages"} & set(parts)) and not real.startswith(self._packages):
                return None
        elif not real.startswith(self._packages):
            return None
        return Path(real[len(self._cwd) :] if real.startswith(self._cwd) else real).as_posix()

    def frames(self, stack: Iterable[tuple[str, int, str]]) -> list[Frame]:
        """Of (file, line, function), outermost first, those of the program's own; a resumed frame is its function."""
        frames: list[Frame] = []
        for filename, line, function in stack:
            if (shown := self.shown(filename)) is None:
                continue
            resumed = _RESUMED.match(function)
            name = resumed[1] if resumed else function
            if resumed and frames and (frames[-1].path, frames[-1].function) == (shown, name):
                frames.pop()
            frames.append(Frame(shown, line, name))
        return frames[-_DEEPEST:]

    def here(self, frame: FrameType | None = None) -> list[Frame]:
        """The stack of the running thread."""
        return self.frames(running(frame or sys._getframe(1)))

    def place(self, frames: Sequence[Frame], filename: str, line: int, function: str) -> Frame:
        """The innermost frame of the program's own; where there is none, the given place of a library."""
        return frames[-1] if frames else Frame(outside(filename), line, function)


_RESUMED = re.compile(r"torch_dynamo_resume_in_(.*)_at_\d+$")


def running(frame: FrameType | None) -> list[tuple[str, int, str]]:
    """(file, line, function) of a frame and those above it, outermost first."""
    stack = []
    while frame is not None:
        stack.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return stack[::-1]
