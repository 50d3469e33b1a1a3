"""Processes that would outlive those that they belong to."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

ROUNDS = 20  # of looking for processes that start others while they are ended


def end_with_parent() -> None:
    """In a child: a parent that is killed can't end it."""
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def end_marked(entry: str) -> None:
    """End the processes with this entry in the environment that they began with, where /proc tells: those that left
    the group of the one that started them."""
    wanted = entry.encode()
    for _ in range(ROUNDS):
        found = [pid for pid in _processes() if wanted in _environment_of(pid)]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _processes() -> list[int]:
    return [int(place.name) for place in Path("/proc").glob("[0-9]*")]


def _environment_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
