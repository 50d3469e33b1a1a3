"""Python's search for cycles of objects, left out while syntax trees are at hand."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without looking for cycles: trees are large and live long, to walk them over and over costs a third of the time.

    What is done meanwhile must break its cycles itself."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
