"""The project: files by import name, parsed when first needed; what is installed only where that is asked for."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from compilelint.source.installed import Installed, locate
from compilelint.source.module import ClassInfo, FunctionInfo, Module

__all__ = ["ClassInfo", "FunctionInfo", "Module", "Project", "SourceError", "parse", "read_text"]

MAX_DEPTH = 900  # nesting that ast can still walk in Python
MAX_INSTALLED = 300  # modules of installed packages that are parsed
MAX_NAMESPACE = 3  # namespace packages in one another


class SourceError(Exception):
    """A file that can't be read as Python: the message says why, `line` where (1-based)."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def read_text(path: Path) -> str:
    """The decoded text of a file as it is on disk (PEP 263, BOM dropped), newlines untranslated. Raises SourceError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"can't be read: {error.strerror}") from None
    return decode(data)


def decode(data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, LookupError) as error:
        raise SourceError(f"not readable as text: {error}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"not valid {error.encoding}: byte 0x{data[error.start]:02x} on line {line}", line) from None
    except (UnicodeError, ValueError, TypeError) as error:  # of codecs that are no text encodings
        raise SourceError(f"not readable as text: {error}") from None


def parse(text: str, path: str) -> ast.Module:
    """The syntax tree of a text. Raises SourceError with the line of the syntax error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, filename=path)
    except SyntaxError as error:
        raise SourceError(f"syntax error: {error.msg}", error.lineno or 1, error.offset or 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"can't be parsed: {type(error).__name__}: {error}") from None


class Project:
    """Finds and parses the modules that the checked files import, as far as they belong to the same packages.

    A file's root is the nearest parent without an `__init__.py`; its import name is its path from there. Absolute
    imports are followed when their first component is a package or module that one of the checked files belongs to, or
    a file beside a checked script; with `installed`, also when they name a package there. `texts` stand for what is on
    disk. `left_out` counts the installed modules past the first MAX_INSTALLED: they stay unknown.
    """

    def __init__(
        self, paths: Iterable[Path], texts: Mapping[Path, str] | None = None, installed: Installed | None = None
    ) -> None:
        self._texts = texts or {}
        self._installed = installed
        self._own: dict[str, Path | None] = {}  # import name → file, once looked for
        self._foreign: dict[str, Path | None] = {}  # the same among what is installed
        self._followed = 0
        self.left_out = 0
        self._modules: dict[str, Module | None] = {}
        self._names: dict[Path, str] = {}
        self._roots: dict[str, Path] = {}  # first component of an import name → directory that holds it
        self._folders: set[Path] = set()
        self._given: dict[Path, Path] = {}  # absolute → as the caller names it
        self.errors: dict[Path, SourceError] = {}
        for path in paths:
            name, root = module_name(path)
            self._names[path] = name
            self._given[path.absolute()] = path
            top = name.partition(".")[0]
            self._roots.setdefault(top, root)
            if "." not in name:
                self._folders.add(root)

    def load(self, path: Path) -> Module | None:
        """The module in a file; None when it can't be read or parsed (then `errors` says why)."""
        name = self._names.get(path) or module_name(path)[0]
        found = self._modules.get(name)
        if found is not None and found.path == path:
            return found
        module = self._parse(path, name)
        self._modules.setdefault(name, module)
        return module

    def _parse(self, path: Path, name: str) -> Module | None:
        try:
            text = self._texts[path] if path in self._texts else read_text(path)
            return Module(path, name, text, parse(text, str(path)))
        except SourceError as error:
            self.errors[path] = error
        except RecursionError:
            self.errors[path] = SourceError("nested too deeply to be analysed")
        return None

    def find(self, name: str) -> Module | None:
        """The module of that import name in the project or, where followed, installed; None for what lies outside."""
        name = self.own_name(name)
        if name not in self._modules:
            path = self._locate(name)
            if path is not None:
                self._modules[name] = self._parse(self._given.get(path, path), name)
            else:
                self._modules[name] = None if self.owns(name) else self._follow(name)
        return self._modules[name]

    def has(self, name: str) -> bool:
        """Whether `find` would look into a file for that name."""
        name = self.own_name(name)
        return self._modules.get(name) is not None or (
            self._locate(name) is not None or (not self.owns(name) and self._locate_installed(name) is not None)
        )

    def owns(self, name: str) -> bool:
        """Whether an import name belongs to the project, be it parsable or not."""
        top = self.own_name(name).partition(".")[0]
        return top in self._roots or self._locate(top) is not None

    def own_name(self, name: str) -> str:
        """An import name as our files are named: without the namespace packages, folders that have no `__init__.py`."""
        parts = name.split(".")
        if len(parts) > 1 and parts[0] not in self._roots:
            for depth in range(1, min(len(parts), MAX_NAMESPACE + 1)):
                root = self._roots.get(parts[depth])
                if root is not None and root.absolute().parts[-depth:] == tuple(parts[:depth]):
                    return ".".join(parts[depth:])
        return name

    def _locate(self, name: str) -> Path | None:
        """The file of one of the project's modules."""
        if name not in self._own:
            top = name.partition(".")[0]
            root = self._roots.get(top)
            folders = [root] if root is not None else sorted(self._folders)
            if root is None and top in sys.stdlib_module_names:
                folders = []
            self._own[name] = next((path for folder in folders if (path := locate(folder, name)) is not None), None)
        return self._own[name]

    def _locate_installed(self, name: str) -> Path | None:
        if self._installed is None:
            return None
        if name not in self._foreign:
            self._foreign[name] = self._installed.locate(name)
        return self._foreign[name]

    def _follow(self, name: str) -> Module | None:
        path = self._locate_installed(name)
        if path is None:
            return None
        if self._followed >= MAX_INSTALLED:
            self.left_out += 1
            return None
        self._followed += 1
        module = self._parse(path, name)
        if module is not None:
            module.installed = True
        return module


def module_name(path: Path) -> tuple[str, Path]:
    """(import name, root directory) of a file, from the `__init__.py` files above it."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.absolute().parent  # the packages above count, wherever we were started
    while (folder / "__init__.py").is_file() and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.stem, folder
