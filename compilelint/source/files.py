"""Which files a run reads: walks folders, applies the exclusions, and tells what can't be taken and why."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyw", ".ipynb")
DEFAULT_EXCLUDE = frozenset(
    {
        ".bzr",
        ".direnv",
        ".eggs",
        ".git",
        ".git-rewrite",
        ".hg",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pants.d",
        ".pyenv",
        ".pytest_cache",
        ".pytype",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        ".vscode",
        "__pycache__",
        "__pypackages__",
        "_build",
        "buck-out",
        "build",
        "dist",
        "node_modules",
        "venv",
    }
)
_BAD_PATTERN = (ValueError, re.error, OverflowError, RecursionError)  # what pathspec lets through


@dataclass(slots=True)
class Selection:
    """The files to read, in order and each once, and a line for each path that can't be taken.

    `problems` make a run fail; `notices` don't.
    """

    files: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Exclusions:
    """What is left out: the default folders, `patterns` (as in .gitignore, relative to `base`), and what git ignores.

    Only what lies below a path given by the user is judged, so that `check .venv/lib/…/package` does what it says; with
    `force`, files named by the user are judged by `patterns` too.
    """

    patterns: tuple[str, ...] = ()
    base: Path = Path()
    force: bool = False
    gitignore: bool = True

    @cached_property
    def _spec(self) -> GitIgnoreSpec | None:
        return _spec(self.patterns)

    def excludes(self, path: Path, *, folder: bool) -> bool:
        """Whether the `exclude` patterns match."""
        return self._spec is not None and _ignored(((self.base, self._spec),), path, folder=folder) is True


def _spec(lines: Sequence[str]) -> GitIgnoreSpec | None:
    """Lines of a .gitignore; as for git, one that is no pattern matches nothing."""
    from pathspec import GitIgnoreSpec

    if not any(line.strip() for line in lines):
        return None
    try:
        return GitIgnoreSpec.from_lines(lines)
    except _BAD_PATTERN:
        return GitIgnoreSpec.from_lines([line for line in lines if is_pattern(line)])


def is_pattern(line: str) -> bool:
    """Whether a line can be read as a pattern of a .gitignore: `[z-a]` and `!` can't."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except _BAD_PATTERN:
        return False
    return True


Layer = tuple[Path, "GitIgnoreSpec"]


def _ignored(layers: Sequence[Layer], path: Path, *, folder: bool) -> bool | None:
    """What the innermost .gitignore with an opinion says; None when none has one."""
    absolute = os.path.abspath(path)
    for base, spec in reversed(layers):
        relative = os.path.relpath(absolute, base.absolute())
        if relative.startswith("..") or relative == ".":
            continue
        verdict = spec.check_file(relative + "/" * folder).include
        if verdict is not None:
            return verdict
    return None


def select(paths: Sequence[Path], exclusions: Exclusions | None = None) -> Selection:
    """Walks the paths. Folders are searched for Python files; files are taken as they are."""
    exclusions = exclusions or Exclusions()
    selection = Selection()
    taken: dict[str, Path] = {}
    for path in paths:
        for file in _expand(path, exclusions, selection):
            real = os.path.realpath(file)
            if real in taken and taken[real].is_symlink() and not file.is_symlink():
                del taken[real]  # the file's own name is the better one, at its own place
            taken.setdefault(real, file)
    selection.files = list(taken.values())
    return selection


def _expand(path: Path, exclusions: Exclusions, selection: Selection) -> Iterator[Path]:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        selection.problems.append(f"{path}: {_reason(error)}")
        return
    if stat.S_ISDIR(mode):
        yield from _walk(path, exclusions, selection)
    elif not stat.S_ISREG(mode):
        selection.problems.append(f"{path}: not a regular file")
    elif path.suffix not in (*SUFFIXES, ".pyi", ""):
        selection.notices.append(f"{path}: not a Python file; skipped")
    elif not (exclusions.force and excluded_anywhere(path, exclusions)):
        yield path


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return "no such file or directory"
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)


def excluded_anywhere(path: Path, exclusions: Exclusions) -> bool:
    """Whether a named file or a folder above it, up to the configuration's, is excluded."""
    absolute, base = Path(os.path.abspath(path)), exclusions.base.absolute()
    if exclusions.excludes(absolute, folder=False):
        return True
    if not absolute.is_relative_to(base):
        return False
    inside = absolute.relative_to(base).parts[:-1]
    return any(
        name in DEFAULT_EXCLUDE or exclusions.excludes(base.joinpath(*inside[: depth + 1]), folder=True)
        for depth, name in enumerate(inside)
    )


def _walk(root: Path, exclusions: Exclusions, selection: Selection) -> Iterator[Path]:
    """The Python files below a folder, sorted; symbolic links are followed to files inside the folder alone."""
    real_root = os.path.realpath(root)
    above = _gitignores_above(root) if exclusions.gitignore else None
    if above is not None and _ignored(above, root, folder=True):
        above = []  # asked for by name, though git ignores it
    layers: dict[str, list[Layer]] = {}

    def report(error: OSError) -> None:
        selection.problems.append(f"{error.filename}: {_reason(error)}")

    for folder, names, files in os.walk(root, onerror=report):
        here = Path(folder)
        mine = layers.pop(folder, above or [])
        if above is not None and ".gitignore" in files and (spec := _read_gitignore(here)) is not None:
            mine = [*mine, (here, spec)]

        def skipped(path: Path, *, is_folder: bool, rules: list[Layer] = mine) -> bool:
            return exclusions.excludes(path, folder=is_folder) or _ignored(rules, path, folder=is_folder) is True

        names[:] = sorted(
            name
            for name in names
            if name not in DEFAULT_EXCLUDE
            and not (here / name).is_symlink()
            and not skipped(here / name, is_folder=True)
        )
        for name in names:
            layers[os.path.join(folder, name)] = mine  # noqa: PTH118  # as os.walk spells it
        for name in sorted(files):
            file = here / name
            if name.endswith(SUFFIXES) and _regular(file, real_root) and not skipped(file, is_folder=False):
                yield file


def _regular(file: Path, real_root: str) -> bool:
    try:
        info = file.lstat()
        if stat.S_ISLNK(info.st_mode):
            real = os.path.realpath(file)
            return os.path.commonpath([real, real_root]) == real_root and stat.S_ISREG(file.stat().st_mode)
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(info.st_mode)


def _gitignores_above(root: Path) -> list[Layer] | None:
    """The .gitignore files from the top of the git work tree down to, without, `root`; None outside a work tree."""
    root = root.absolute()
    layers: list[Layer] = []
    for folder in (root, *root.parents):
        if folder != root and (spec := _read_gitignore(folder)) is not None:
            layers.insert(0, (folder, spec))
        if (folder / ".git").exists():
            return layers
    return None


def _read_gitignore(folder: Path) -> GitIgnoreSpec | None:
    path = folder / ".gitignore"
    try:
        if not path.is_file():  # to open a named pipe would wait for ever
            return None
        return _spec(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return None


def read_regular(path: Path) -> bytes:
    """The bytes of a file. Raises OSError, also for what is no regular file: a named pipe would keep us waiting.

    That is asked of what was opened: it may have become another since the walk.
    """
    flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOCTTY"))
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read()


class Glance(NamedTuple):
    """Whether a file mentions torch, without which it can at most be a helper, and what comments for linters hold."""

    torch: bool
    remarks: bool


def glance(path: Path) -> Glance:
    try:
        data = read_regular(path).lower()
    except OSError:
        return Glance(True, True)
    return Glance(b"torch" in data, b"compilelint" in data or b"noqa" in data)


def mentions_torch(path: Path) -> bool:
    return glance(path).torch


def digest(data: bytes) -> str:
    """What stands for the content of a file."""
    return blake2b(data, digest_size=16).hexdigest()
