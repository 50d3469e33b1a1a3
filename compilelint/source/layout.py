"""Where the files of a run lie: their import names, and the folders that imports are looked for in."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from compilelint.source.notebook import is_notebook


@dataclass(frozen=True, slots=True)
class Layout:
    """A file's root is the nearest folder above it without an `__init__.py`; its import name is its path from there.

    `given`: absolute path → as the caller names it; `roots`: first component of an import name → the folder that holds
    it; `folders`: those of the scripts, files that belong to no package.
    """

    names: dict[Path, str]
    given: dict[str, Path]
    roots: dict[str, Path]
    folders: frozenset[Path]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Layout:
        layout = cls({}, {}, {}, frozenset())
        folders = set()
        known: dict[str, tuple[str, Path]] = {}
        here = os.getcwd()  # noqa: PTH109
        for path in paths:
            absolute = os.path.join(here, path)  # noqa: PTH118  # with its `..`, as Path.absolute leaves them
            name, root = _named(absolute, known)
            layout.names[path] = name
            layout.given[absolute] = path
            layout.roots.setdefault(name.partition(".")[0], root)
            if "." not in name:
                folders.add(root)
        return cls(layout.names, layout.given, layout.roots, frozenset(folders))


def module_name(path: Path) -> tuple[str, Path]:
    """(import name, root folder) of a file, from the `__init__.py` files above it."""
    return _named(str(path.absolute()), {})


def _named(absolute: str, known: dict[str, tuple[str, Path]]) -> tuple[str, Path]:
    """The same. `known` remembers what package a folder is, "" for none, and where its root lies."""
    folder, name = os.path.split(absolute)  # the packages above count, wherever we were started
    stem = os.path.splitext(name)[0]  # noqa: PTH122  # for each file of a run; pathlib takes ten times as long
    if is_notebook(absolute):  # nothing imports it, nor is it part of the package that it lies in
        return f"{stem}_ipynb", Path(folder)
    package, root = _package(folder, known)
    if name == "__init__.py":
        return package or stem, root
    return f"{package}.{stem}" if package else stem, root


def _package(folder: str, known: dict[str, tuple[str, Path]]) -> tuple[str, Path]:
    found = known.get(folder)
    if found is None:
        above, name = os.path.split(folder)
        if name and os.path.isfile(os.path.join(folder, "__init__.py")):  # noqa: PTH113, PTH118
            package, root = _package(above, known)
            found = (f"{package}.{name}" if package else name, root)
        else:
            found = ("", Path(folder))
        known[folder] = found
    return found
