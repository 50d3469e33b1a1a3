"""Files that others are generated from: those run, these do not."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

_GENERATED = re.compile(rb"(?i)automatically generated from\s+(?:[\w./-]*/)?([\w-]+\.py)")


class Templates:
    """By folder, the names of the files that others in it say, in their first lines, they are generated from."""

    def __init__(self) -> None:
        self.of: dict[Path, frozenset[str]] = {}

    def __contains__(self, path: Path) -> bool:
        return path.name in self.named_in(path.parent)

    def named_in(self, folder: Path) -> frozenset[str]:
        found = self.of.get(folder)
        if found is None:
            found = self.of[folder] = _named_in(folder)
        return found


def _named_in(folder: Path) -> frozenset[str]:
    found: set[str] = set()
    for path in sorted(folder.glob("*.py")):
        with contextlib.suppress(OSError):
            if path.is_file():  # to open a named pipe would wait for ever
                with path.open("rb") as file:
                    found.update(match.decode() for match in _GENERATED.findall(file.read(1500)))
    return frozenset(found)
