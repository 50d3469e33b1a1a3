"""Nothing of the user's is imported, though Python looks in the working folder first when started with -m or -c."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def leave(folder: Path) -> None:
    """From here on modules are not looked for in a folder, by this process or by those that it starts."""
    sys.path[:] = [place for place in sys.path if place and Path(place).absolute() != folder]
    os.chdir(sys.prefix)


@contextlib.contextmanager
def away() -> Iterator[None]:
    """Where processes of multiprocessing start, which Python does with -c: elsewhere than in the user's folder."""
    here = Path.cwd()
    os.chdir(sys.prefix)
    try:
        yield
    finally:
        os.chdir(here)
