"""Waits for files to change, for `check --watch`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from compilelint.errors import UsageProblem
from compilelint.source.files import SUFFIXES

READ = (*SUFFIXES, ".toml")  # what a check depends on: sources, and settings


def rounds(paths: Sequence[Path]) -> Iterator[None]:
    """Yields at once, then each time that files below the paths have changed, until interrupted.

    Raises UsageProblem where the package that watches is not installed.
    """
    try:
        from watchfiles import DefaultFilter, watch
    except ImportError:
        raise UsageProblem('--watch needs watchfiles: python -m pip install "compilelint[watch]"') from None
    only = DefaultFilter()
    yield
    for _ in watch(*paths, watch_filter=lambda change, path: path.endswith(READ) and only(change, path)):
        yield
