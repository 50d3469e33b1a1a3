"""The project: files by import name, parsed when first needed; what is installed only where that is asked for."""

from __future__ import annotations

import ast
import codecs
import io
import os
import sys
import tokenize
import warnings
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

from compilelint.errors import NotebookError
from compilelint.source.files import digest, read_regular
from compilelint.source.installed import Installed, locate
from compilelint.source.layout import Layout, module_name
from compilelint.source.module import ClassInfo, FunctionInfo, Module
from compilelint.source.notebook import is_notebook, pages, read, script
from compilelint.source.parsed import Parsed

__all__ = ["ClassInfo", "FunctionInfo", "Module", "Project", "SourceError", "parse", "read_text"]

MAX_DEPTH = 900  # nesting that ast can still walk in Python
MAX_INSTALLED = 300  # modules of installed packages that are parsed
_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"  # a newer one may read it
MAX_NAMESPACE = 3  # namespace packages in one another


class SourceError(Exception):
    """A file that can't be read as Python: the message says why, `line` where (1-based)."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises SourceError."""
    try:
        return read_regular(path)
    except OSError as error:
        raise SourceError(f"can't be read: {error.strerror}") from None


def noted_bytes(path: Path, read: dict[Path, str]) -> bytes:
    """The bytes of a file, which `read` gets the digest of, or "" where there are none. Raises SourceError."""
    read[path] = ""
    data = read_bytes(path)
    read[path] = digest(data)
    return data


def read_text(path: Path) -> str:
    """The decoded text of a file as it is on disk (PEP 263, BOM dropped), newlines untranslated. Raises SourceError."""
    return decode(read_bytes(path), path)


def decode(data: bytes, path: Path) -> str:
    """The text of a file's bytes; of a notebook its code. It can be encoded again. Raises SourceError."""
    text = _decoded(data, path)
    try:
        text.encode()
    except UnicodeEncodeError as error:  # escapes in JSON and some encodings give half of a character
        line = text.count("\n", 0, error.start) + 1
        half = f"U+{ord(text[error.start]):04X}, half of a character,"
        raise SourceError(f"not readable as text: {half} on line {line}", line) from None
    return text


def _decoded(data: bytes, path: Path) -> str:
    if is_notebook(path):
        try:
            return read(data).text
        except NotebookError as error:
            raise SourceError(str(error)) from None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError("not readable as text: it begins as UTF-16, which Python does not read; save it as UTF-8")
    try:
        return data.decode(_encoding(data))
    except (SyntaxError, LookupError) as error:
        raise SourceError(f"not readable as text: {error}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"not valid {error.encoding}: byte 0x{data[error.start]:02x} on line {line}", line) from None
    except (UnicodeError, ValueError, TypeError) as error:  # of codecs that are no text encodings
        raise SourceError(f"not readable as text: {error}") from None


def _encoding(data: bytes) -> str:
    """What the first lines say; they may be in none. Raises SyntaxError, LookupError."""
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if data.startswith(codecs.BOM_UTF8):
            raise SyntaxError("a byte order mark says utf-8, the coding comment another encoding") from None
        if "missing encoding declaration" in str(error):
            return "utf-8"  # it is not: to decode it tells where
        raise


def parse(text: str, path: str) -> ast.Module:
    """The syntax tree of a text. Raises SourceError with the line of the syntax error."""
    line = 0
    for page in pages(text) if is_notebook(path) else ():  # what a cell leaves open, the next doesn't close
        _parse(page, path, line)
        line += page.count("\n") + 2 if page else 1
    try:
        return _parse(text, path)
    except SourceError:
        if is_notebook(path) or (masked := script(text)) is None:
            raise
        return _parse(masked, path)


def _parse(text: str, path: str, above: int = 0) -> ast.Module:
    if "\0" in text:
        before = text[: text.index("\0")]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise SourceError("syntax error: a NUL character", above + line, column)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, filename=path)
    except SyntaxError as error:
        raise SourceError(
            f"syntax error in Python {_PYTHON}: {error.msg}", above + (error.lineno or 1), error.offset or 1
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"can't be parsed: {type(error).__name__}: {error}") from None


class Project:
    """Finds and parses the modules that the checked files import, as far as they belong to the same packages.

    Absolute imports are followed when their first component is a package or module that one of the checked files
    belongs to, or a file beside a checked script; with `installed`, also when they name a package there. `texts` stand
    for what is on disk. `left_out` counts the installed modules past the first MAX_INSTALLED: they stay unknown.
    """

    def __init__(
        self,
        layout: Layout,
        texts: Mapping[Path, str] | None = None,
        installed: Installed | None = None,
        parsed: Parsed | None = None,
    ) -> None:
        self._layout = layout
        self._parsed = parsed or Parsed()
        self._texts = texts or {}
        self._installed = installed
        self.located: dict[str, Path | None] = {}  # import name → file, once looked for
        self.located_installed: dict[str, Path | None] = {}  # the same among what is installed
        self._followed = 0
        self.left_out = 0
        self._modules: dict[str, Module | None] = {}
        self._own_names: dict[str, str] = {}
        self.errors: dict[Path, SourceError] = {}
        self.read: dict[Path, str] = {}  # path → digest of what was read there, "" for nothing

    def load(self, path: Path) -> Module | None:
        """The module in a file; None when it can't be read or parsed (then `errors` says why)."""
        name = self._layout.names.get(path) or module_name(path)[0]
        found = self._modules.get(name)
        if found is not None and found.path == path:
            return found
        module = self._parse(path, name)
        self._modules.setdefault(name, module)
        return module

    def release(self, own: Collection[Path]) -> None:
        """Gives up all modules: those in the files `own` for good, the others may be wanted by another part."""
        kept = {}
        for module in self._modules.values():
            if module is None:
                continue
            content = self.read.get(module.path, "")
            if self._parsed.holds(module, content) or (content and module.path not in own):
                kept[module] = content
            else:
                module.release()
        self._parsed.keep(kept)

    def share(self, own: Collection[Path]) -> None:
        """Lets others have the modules, but for those in the files `own`, while this goes on using them."""
        found = [module for module in self._modules.values() if module is not None and module.path not in own]
        self._parsed.in_use = set(found)
        self._parsed.keep({module: content for module in found if (content := self.read.get(module.path))})

    def stop_sharing(self) -> None:
        self._parsed.in_use = ()

    def _parse(self, path: Path, name: str) -> Module | None:
        try:
            given = self._texts.get(path)
            if given is not None:
                self.read[path] = "text " + digest(given.encode("utf-8", "surrogatepass"))
            else:
                data = noted_bytes(path, self.read)
            if (known := self._parsed.take(path, name, self.read[path])) is not None:
                return known
            text = decode(data, path) if given is None else given
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
            path = self.locate(name)
            if path is not None:
                self._modules[name] = self._parse(self._layout.given.get(str(path), path), name)
            else:
                self._modules[name] = None if self.owns(name) else self._follow(name)
        return self._modules[name]

    def has(self, name: str) -> bool:
        """Whether `find` would look into a file for that name."""
        name = self.own_name(name)
        return self._modules.get(name) is not None or (
            self.locate(name) is not None or (not self.owns(name) and self.locate_installed(name) is not None)
        )

    def owns(self, name: str) -> bool:
        """Whether an import name belongs to the project, be it parsable or not."""
        top = self.own_name(name).partition(".")[0]
        return top in self._layout.roots or self.locate(top) is not None

    def own_name(self, name: str) -> str:
        """An import name as our files are named: without the namespace packages, folders that have no `__init__.py`."""
        known = self._own_names.get(name)
        if known is None:
            known = self._own_names[name] = self._own_name(name)
        return known

    def _own_name(self, name: str) -> str:
        parts = name.split(".")
        if len(parts) > 1 and parts[0] not in self._layout.roots:
            for depth in range(1, min(len(parts), MAX_NAMESPACE + 1)):
                root = self._layout.roots.get(parts[depth])
                if root is not None and root.absolute().parts[-depth:] == tuple(parts[:depth]):
                    return ".".join(parts[depth:])
        return name

    def locate(self, name: str) -> Path | None:
        """The file of one of the project's modules."""
        if name not in self.located:
            top = name.partition(".")[0]
            root = self._layout.roots.get(top)
            folders = [root] if root is not None else sorted(self._layout.folders)
            if root is None and top in sys.stdlib_module_names:
                folders = []
            found = (path for folder in folders if (path := locate(folder, name)) is not None)
            self.located[name] = next(filter(self._is_inside, found), None)
        return self.located[name]

    def _is_inside(self, path: Path) -> bool:
        """Not for a link that leads away from the folders of the checked files: what it leads to was not named."""
        if str(path) in self._layout.given:
            return True
        real = os.path.realpath(path)
        return real == str(path) or any(Path(real).is_relative_to(place) for place in self._places)

    @cached_property
    def _places(self) -> frozenset[str]:
        return frozenset(map(os.path.realpath, {*self._layout.roots.values(), *self._layout.folders}))

    def locate_installed(self, name: str) -> Path | None:
        """The file of a module of an installed package that is followed."""
        if self._installed is None:
            return None
        if name not in self.located_installed:
            self.located_installed[name] = self._installed.locate(name)
        return self.located_installed[name]

    def _follow(self, name: str) -> Module | None:
        path = self.locate_installed(name)
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
