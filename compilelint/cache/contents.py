"""The digests of files, computed anew only for those that the file system says were touched."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from compilelint.source.files import digest, read_regular

# A file written within the same tick of the file system's clock as it was read, in ns: FAT's is two seconds.
TICK = 2_000_000_000


class Contents:
    """`known`: path → (stamp, digest) of earlier runs; `fresh`: what is new in this one."""

    def __init__(self, known: Mapping[str, tuple[str, str]]) -> None:
        self._known = known
        self._found: dict[str, str] = {}
        self.fresh: dict[str, tuple[str, str]] = {}

    def of(self, path: str) -> str:
        """The digest of a file's bytes, or "" when it can't be read."""
        found = self._found.get(path)
        if found is None:
            found = self._found[path] = self._look(path)
        return found

    def _look(self, path: str) -> str:
        try:
            name = os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118  # quick, as it is done for each file
            stat = os.stat(path)  # noqa: PTH116
            stamp = f"{stat.st_mtime_ns}/{stat.st_ctime_ns}/{stat.st_size}/{stat.st_ino}"
            earlier = self._known.get(name)
            if earlier is not None and earlier[0] == stamp:
                return earlier[1]
            now = time.time_ns()
            found = digest(read_regular(Path(path)))
        except OSError:
            return ""
        if max(stat.st_mtime_ns, stat.st_ctime_ns) < now - TICK:
            self.fresh[name] = (stamp, found)
        return found
