"""Nothing of the user's is imported, though `python -m` looks for modules in the working folder first."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def leave(folder: Path) -> None:
    """From here on modules are not looked for in a folder, by this process or by those that it starts."""
    sys.path[:] = [place for place in sys.path if place and Path(place).absolute() != folder]
    os.chdir(sys.prefix)  # `python -c`, as which processes start, looks in the working folder first
