"""Where the files of a run lie: their import names, and the folders that imports are looked for in."""

from __future__ import annotations

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
    given: dict[Path, Path]
    roots: dict[str, Path]
    folders: frozenset[Path]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Layout:
        layout = cls({}, {}, {}, frozenset())
        folders = set()
        known: dict[Path, bool] = {}
        for path in paths:
            name, root = module_name(path, known)
            layout.names[path] = name
            layout.given[path.absolute()] = path
            layout.roots.setdefault(name.partition(".")[0], root)
            if "." not in name:
                folders.add(root)
        return cls(layout.names, layout.given, layout.roots, frozenset(folders))


def module_name(path: Path, known: dict[Path, bool] | None = None) -> tuple[str, Path]:
    """(import name, root folder) of a file, from the `__init__.py` files above it.

    `known` remembers from call to call which folders have one.
    """
    if is_notebook(path):  # nothing imports it, nor is it part of the package that it lies in
        return f"{path.stem}_ipynb", path.absolute().parent
    known = {} if known is None else known
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.absolute().parent  # the packages above count, wherever we were started
    while folder.name and _is_package(folder, known):
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.stem, folder


def _is_package(folder: Path, known: dict[Path, bool]) -> bool:
    found = known.get(folder)
    if found is None:
        found = known[folder] = (folder / "__init__.py").is_file()
    return found
