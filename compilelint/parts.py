"""Cuts a run into parts: neighbours in the tree together, each part small, and the cuts where they were last time.

Where a cut falls depends on paths and, roughly, on sizes, never on how many processes there are: the findings are the
same with any number of them, and an edit moves the cuts at most near the edited file, so that what was found in the
other parts still holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

WHOLE_BYTES = 1_500_000  # a project up to this size is one part: all its calls are seen, and nothing is read twice
LEAST_BYTES = 400_000  # what parts have in common is read for each of them: smaller ones cost more
MOST_BYTES = 1_200_000
LARGE = 16_000_000  # bytes of a tree whose parts are twice as large: they have more in common
ONE_IN = 8  # files behind which a part of at least LEAST_BYTES may end


def cut(paths: Sequence[Path]) -> list[tuple[Path, ...]]:
    """The paths, in their order, in parts."""
    sizes = [_size(path) for path in paths]
    if sum(sizes) <= WHOLE_BYTES:
        return [tuple(paths)]
    return list(_cut(paths, sizes, 2 if sum(sizes) > LARGE else 1))


def _cut(paths: Sequence[Path], sizes: Sequence[int], scale: int) -> Iterator[tuple[Path, ...]]:
    least, most = scale * LEAST_BYTES, scale * MOST_BYTES
    start = filled = 0
    for index, (path, size) in enumerate(zip(paths, sizes, strict=True)):
        filled += size
        if filled >= most or (filled >= least and _ends(path)):
            yield tuple(paths[start : index + 1])
            start, filled = index + 1, 0
    if start < len(paths):
        yield tuple(paths[start:])


def _ends(path: Path) -> bool:
    return blake2b(path.as_posix().encode("utf-8", "surrogateescape"), digest_size=4).digest()[0] % ONE_IN == 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
