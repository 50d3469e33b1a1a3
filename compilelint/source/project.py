"""The project: files by import name, parsed when first needed, and nothing outside the packages that are checked."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from compilelint.source.module import ClassInfo, FunctionInfo, Module

__all__ = ["ClassInfo", "FunctionInfo", "Module", "Project", "SourceError", "parse", "read_text"]

MAX_DEPTH = 900  # nesting that ast can still walk in Python


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
    a file beside a checked script. `texts` stand for what is on disk.
    """

    def __init__(self, paths: Iterable[Path], texts: Mapping[Path, str] | None = None) -> None:
        self._texts = texts or {}
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
        """The project's module of that import name, None for what lies outside."""
        if name in self._modules:
            return self._modules[name]
        top = name.partition(".")[0]
        root = self._roots.get(top)
        candidates = [root] if root is not None else sorted(self._folders)
        module = None
        for folder in candidates:
            path = _locate(folder, name)
            if path is not None and (root is not None or top not in sys.stdlib_module_names):
                module = self._parse(self._given.get(path, path), name)
                break
        self._modules[name] = module
        return module

    def owns(self, name: str) -> bool:
        """Whether an import name belongs to the project, be it parsable or not."""
        top = name.partition(".")[0]
        return top in self._roots or self.find(top) is not None


def _locate(folder: Path, name: str) -> Path | None:
    base = folder.joinpath(*name.split("."))
    package = base / "__init__.py"
    if package.is_file():
        return package
    file = base.with_name(base.name + ".py")
    return file if file.is_file() else None


def module_name(path: Path) -> tuple[str, Path]:
    """(import name, root directory) of a file, from the `__init__.py` files above it."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.absolute().parent  # the packages above count, wherever we were started
    while (folder / "__init__.py").is_file() and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.stem, folder
