"""Waits for files to change, for `check --watch`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from compilelint.errors import UsageProblem
from compilelint.source.files import SUFFIXES

READ = (*SUFFIXES, ".toml")  # what a check depends on: sources, and settings


def rounds(paths: Sequence[Path]) -> Iterator[None]:
    """Yields at once, then each time that files below the paths, or beside those that are files, have changed, until
    interrupted.

    Raises UsageProblem where the package that watches is not installed, or there is nothing to watch.
    """
    try:
        from watchfiles import DefaultFilter, watch
    except ImportError:
        raise UsageProblem('--watch needs watchfiles: python -m pip install "compilelint[watch]"') from None
    only = DefaultFilter()
    named = {name for path in paths for name in (os.path.abspath(path), os.path.realpath(path))}
    folders = {name for name in named if Path(name).is_dir()}
    # to watch a file itself is to lose it when another takes its place, as editors save; it may be missing for a while
    roots = folders | {parent for name in named - folders if Path(parent := os.path.dirname(name)).is_dir()}  # noqa: PTH120
    yield
    if not roots:
        raise UsageProblem("--watch: none of the paths is in a folder that exists")
    for _ in watch(
        *sorted(roots),
        watch_filter=lambda change, path: path in named or (path.endswith(READ) and only(change, path)),
        recursive=bool(folders),
    ):
        yield
