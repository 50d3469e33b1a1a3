"""What earlier runs found, part by part. It is found again as long as nothing that it depended on has changed.

What a part's findings depend on is recorded while they are made (`Reads`): the content of each file that was read, what
each import name led to, which files are templates. The key of a part holds the rest: the tool itself, its rules and
plug-ins, the settings that matter, the names and contents of the part's own files.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compilelint import __version__, registry
from compilelint.cache import rows
from compilelint.cache.contents import Contents
from compilelint.cache.store import Store
from compilelint.config import Settings
from compilelint.outcome import Outcome
from compilelint.source.files import digest
from compilelint.source.installed import Installed
from compilelint.source.layout import Layout
from compilelint.source.project import Project
from compilelint.source.templates import Templates

__all__ = ["Cache", "clean", "folder"]

OURS = re.compile(r"[0-9a-f]{32}\.sqlite")
# what is raised when a value is not what we wrote
NOT_OURS = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
VARIABLE = "COMPILELINT_CACHE_DIR"


def folder() -> Path:
    """Where caches are kept: $COMPILELINT_CACHE_DIR, else the user's folder for such things.

    Not in the project: what a stranger's change brings along must not be taken for what was found.
    """
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("compilelint", appauthor=False)


def clean(place: Path) -> int:
    """Removes the caches of all projects; how many there were."""
    found = place.glob("*.sqlite") if place.is_dir() else ()
    files = [path for path in found if path.is_file() and OURS.fullmatch(path.name)]
    for path in files:
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # something of others is left in it
        place.rmdir()
    return len(files)


@dataclass(slots=True)
class Cache:
    """The cache of the runs in one working folder."""

    _store: Store
    _contents: Contents
    _layout: Layout
    _project: Project
    _templates: Templates
    _environment: str
    _named: frozenset[str]  # the files of the run
    _places: dict[str, str | None] = field(default_factory=dict)  # import name → its file, of those asked for

    @classmethod
    def open(cls, place: Path, settings: Settings, layout: Layout, installed: Installed | None) -> Cache | None:
        """None where none can be had: without write access, on a full disk."""
        try:
            here = digest(os.fsencode(Path.cwd()))
            store = Store(place / f"{here}.sqlite")
        except (OSError, sqlite3.Error):
            return None
        return cls(
            store,
            Contents(store.files()),
            layout,
            Project(layout, {}, installed),
            Templates(),
            _environment(settings, layout),
            frozenset(map(str, layout.names)),
        )

    def look(self, parts: Iterable[tuple[Path, ...]]) -> Iterator[tuple[tuple[Path, ...], Outcome | None]]:
        """Each part with its outcome, None where that is unknown or holds no more: these come first, to be analysed."""
        keys = {self._key(part): part for part in parts}
        values = self._store.values(keys)
        yield from ((part, None) for key, part in keys.items() if key not in values)
        holding = {}
        for key, value in values.items():
            try:
                data = rows.loads(value)
                holds = self._holds(data)
            except NOT_OURS:
                holds = False
            if holds:
                holding[key] = data
            else:
                yield keys[key], None
        used = []
        for key, data in holding.items():
            try:
                outcome = rows.outcome_of(data)
            except NOT_OURS:
                yield keys[key], None
            else:
                used.append(key)
                yield keys[key], outcome
        self._store.keep({}, used, {})

    def put(self, outcomes: Mapping[tuple[Path, ...], Outcome]) -> None:
        """Remembers outcomes; not those with internal errors, nor those whose files have changed meanwhile."""
        values = {}
        for part, outcome in outcomes.items():
            if not outcome.errors and all(
                self._contents.of(str(path)) == outcome.reads.files.get(path) for path in part
            ):
                values[self._key(part)] = rows.dump(outcome)
        self._store.keep(values, (), self._contents.fresh)

    def close(self) -> None:
        self._store.close()

    def _key(self, part: tuple[Path, ...]) -> str:
        named = self._layout.names
        own = "\n".join(f"{path}\t{named.get(path)}\t{self._contents.of(str(path))}" for path in part)
        return digest(f"{self._environment}\n{own}".encode("utf-8", "surrogatepass"))

    def _holds(self, data: Mapping[str, Any]) -> bool:
        """Whether all that an outcome depended on (`Reads`) is as it was."""
        outside = set(data["outside"])
        return (
            all(self._contents.of(path) == known for path, known in data["files"].items())
            and all((path in self._named) != (path in outside) for path in data["files"])
            and all(self._located(name) == path for name, path in data["own"].items())
            and all(_text(self._project.locate_installed(name)) == path for name, path in data["installed"].items())
            and all(self._templates.named_in(Path(where)) == set(names) for where, names in data["templates"].items())
        )

    def _located(self, name: str) -> str | None:
        if name not in self._places:
            self._places[name] = _text(self._project.locate(name))
        return self._places[name]


def _text(path: Path | None) -> str | None:
    return str(path) if path is not None else None


def _environment(settings: Settings, layout: Layout) -> str:
    """What holds for all parts of a run."""
    wanted = (
        settings.select,
        settings.ignore,
        settings.torch,
        settings.python,
        settings.compiled,
        settings.roots,
        settings.follow_imports,
    )
    sources = [
        _stamp(path) for place in (Path(__file__).parents[1], *_extensions(settings)) for path in _sources(place)
    ]
    places = sorted((name, str(root)) for name, root in layout.roots.items()), sorted(map(str, layout.folders))
    return digest(repr((__version__, sys.version_info, wanted, sources, places)).encode("utf-8", "surrogatepass"))


def _extensions(settings: Settings) -> list[Path]:
    """The packages, modules and files of rules that are not built in. They are imported by now."""
    found = list(settings.local_rules)
    if not settings.plugins:
        return found
    from importlib.metadata import entry_points

    tops = {
        entry.module.partition(".")[0] for entry in entry_points(group=registry.GROUP) if entry.name in settings.plugins
    }
    for top in sorted(tops):
        module = sys.modules[top]
        found += [Path(path) for path in getattr(module, "__path__", [module.__file__])]
    return found


def _sources(place: Path) -> list[Path]:
    """The source files and tables of a package."""
    if place.is_file():
        return [place]
    walked = os.walk(place, followlinks=True)  # rules/ is a link in a checkout
    return sorted(
        Path(folder, name) for folder, _, names in walked for name in names if name.endswith((".py", ".json", ".gz"))
    )


def _stamp(path: Path) -> tuple[str, int, int]:
    stat = path.stat()
    return (str(path), stat.st_mtime_ns, stat.st_size)
