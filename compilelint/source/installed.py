"""Installed packages: where the source of an import name lies in an environment. Nothing is imported or run."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

# what tables and models answer for, better than the source would
MODELLED = frozenset(
    """torch torchgen functorch triton numpy einops tqdm rich lightning pytorch_lightning typing_extensions""".split()
)


class Installed:
    """The packages of an environment that imports are followed into: all, or those whose import names are in `only`."""

    def __init__(self, only: Collection[str] | None, folders: Sequence[Path]) -> None:
        """`folders` hold packages, in the order in which Python searches them."""
        self.only = only
        self.folders = folders

    def locate(self, name: str) -> Path | None:
        """The source file of a module; None where it has none, or is not to be followed."""
        top = name.partition(".")[0]
        if top in MODELLED or top in sys.stdlib_module_names or (self.only is not None and top not in self.only):
            return None
        return next((path for folder in self.folders if (path := locate(folder, name)) is not None), None)

    def missing(self) -> list[str]:
        """Those of the names asked for that are not there."""
        return sorted(
            name
            for name in self.only or ()
            if self.locate(name) is None and not any((folder / name).is_dir() for folder in self.folders)
        )


def followed(wanted: bool | Collection[str]) -> Installed | None:
    """The packages that the setting `follow-imports` speaks of; None when nothing is followed."""
    if not wanted:
        return None
    return Installed(None if wanted is True else frozenset(wanted), environment())


def locate(folder: Path, name: str) -> Path | None:
    """The file of a module below the folder that its import name starts from."""
    base = folder.joinpath(*name.split("."))
    package = base / "__init__.py"
    if package.is_file():
        return package
    file = base.with_name(base.name + ".py")
    return file if file.is_file() else None


def environment() -> list[Path]:
    """The package folders of the active virtual environment, else of the running interpreter."""
    active = os.environ.get("VIRTUAL_ENV")
    if active:
        found = [*Path(active).glob("lib*/python3*/site-packages"), Path(active, "Lib", "site-packages")]
        sites = sorted({path.resolve() for path in found if path.is_dir()}, reverse=True)
    else:
        sites = [path for path in map(Path, sys.path) if path.name in ("site-packages", "dist-packages")]
    return list(dict.fromkeys(folder for site in sites for folder in (site, *_linked(site))))


def _linked(site: Path) -> list[Path]:
    """The folders that path files (`*.pth`) add, as editable installs do; their `import` lines are not run."""
    folders = []
    for file in sorted(site.glob("*.pth")):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue  # Python skips it, too
        named = [line.strip() for line in lines if line.strip() and not line.startswith(("#", "import ", "import\t"))]
        folders += [path for line in named if (path := site / line).is_dir()]
    return folders
