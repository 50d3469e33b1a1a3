"""Notebooks: their code as one text, and a changed text back as a file of which nothing else changes.

In the text each cell is a page: pages are parted by a line that holds a form feed alone. Cells that are not Python are
empty pages, so the n-th page is the n-th cell. Lines for IPython alone (`%magic`, `!command`, `name?`) stand masked, as
long as they were: `_#gic`, the value of which nobody knows.
"""

from __future__ import annotations

import io
import json
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from compilelint.errors import NotebookError

SUFFIX = ".ipynb"
PAGE = "\f\n"
_SCRIPT = re.compile(r"^#[ \t]*%%", re.MULTILINE)  # what parts the cells of a script that editors run by cells
_PAGES = re.compile(r"^\f\n", re.MULTILINE)
_SPACE = re.compile(r"[ \t\r\n]*")
_MAGIC = re.compile(r"[ \t]*(?:(?:[\w., \t]|\[[^\]]*\])+=[ \t]*)?(?P<magic>[%!].*)")
_HELP = re.compile(r"[ \t]*(?P<magic>\?{1,2}(?:[%\w].*)?|%{0,2}[*A-Za-z_][\w.*]*\?{1,2}[ \t]*)")
_PYTHON_CELLS = frozenset({"capture", "debug", "prun", "time", "timeit"})  # `%%time`: the rest of the cell is Python


def is_notebook(path: Path | str) -> bool:
    return str(path).endswith(SUFFIX)


def pages(text: str) -> list[str]:
    """The pages of a text, each without the newline at its end."""
    return [page.removesuffix("\n") for page in _PAGES.split(text)]


def place(lines: Sequence[str], line: int) -> tuple[int, int]:
    """(cell, line in it) of a line of a text, all from 1."""
    before = [number for number, each in enumerate(lines[: line - 1], 1) if each == "\f"]
    return len(before) + 1, line - (before[-1] if before else 0)


@dataclass(frozen=True)
class Cell:
    """A cell: where the value of its `source` stands in the file, of what pieces it is made, and the page for it."""

    start: int
    end: int
    pieces: tuple[tuple[int, int, str], ...]  # each string literal: where it stands and what it says
    page: str
    masked: tuple[tuple[str, str], ...] = ()  # lines of the page, and what they stand for
    python: bool = True

    def unmasked(self, page: str) -> str:
        """The source of a changed page. Raises NotebookError."""
        if not self.python:
            raise NotebookError("it would be written into a cell that holds no Python")
        done, rest = [], page.split("\n")
        for masked, line in self.masked:
            if masked not in rest:
                raise NotebookError("a line for IPython stands in what it changes")
            position = rest.index(masked)
            done += [*rest[:position], line]
            rest = rest[position + 1 :]
        return "\n".join([*done, *rest])


@dataclass(frozen=True)
class Cells:
    """The cells of a notebook, as one text."""

    cells: tuple[Cell, ...] = field(repr=False)

    @cached_property
    def text(self) -> str:
        return PAGE.join(f"{cell.page}\n" if cell.page else "" for cell in self.cells) or "\n"

    @cached_property
    def starts(self) -> list[int]:
        """For each cell, how many lines of the text stand before it."""
        found = [0]
        for cell in self.cells:
            found.append(found[-1] + (cell.page.count("\n") + 1 if cell.page else 0) + 1)
        return found[: len(self.cells)]

    def changed(self, text: str) -> dict[int, str]:
        """The new sources of the cells that a text changes, by number from 0. Raises NotebookError."""
        after = pages(text)
        if len(after) != max(1, len(self.cells)):
            raise NotebookError("it would join cells, or part one")
        found = {}
        for number, (cell, page) in enumerate(zip(self.cells, after, strict=False)):
            if page != cell.page:
                try:
                    found[number] = cell.unmasked(page)
                except NotebookError as error:
                    raise NotebookError(str(error), number + 1) from None
        return found


@dataclass(frozen=True)
class Notebook(Cells):
    """A notebook as it was read; `data` is its JSON."""

    data: str = ""

    def on_disk(self, line: int) -> int:
        """The line of the file that holds a line of the text."""
        number, left = place(self.text.split("\n"), line)
        cell = self.cells[number - 1]
        for start, _, said in cell.pieces:
            if left <= said.count("\n") + (not said.endswith("\n")):
                return self.data.count("\n", 0, start) + 1
            left -= said.count("\n")
        return self.data.count("\n", 0, cell.start) + 1

    def with_text(self, text: str) -> str:
        """The JSON with the cells that a text changes, all else as it is. Raises NotebookError."""
        out, position = [], 0
        for number, source in self.changed(text).items():
            cell = self.cells[number]
            out += [self.data[position : cell.start], self._source(cell, source)]
            position = cell.end
        return "".join([*out, self.data[position:]])

    def _source(self, cell: Cell, source: str) -> str:
        """The JSON of a cell's source, in the form that it has: one string, or one for each line."""
        data, ascii_only = self.data, self.data.isascii()
        if data[cell.start] == '"':
            return json.dumps(source, ensure_ascii=ascii_only)
        known = {said: data[start:end] for start, end, said in cell.pieces}
        lines = source.splitlines(keepends=True)
        literals = [known.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in lines]
        first, last = cell.pieces[0], cell.pieces[-1]
        opening, closing = data[cell.start : first[0]], data[last[1] : cell.end]
        between = data[first[1] : cell.pieces[1][0]] if len(cell.pieces) > 1 else f",{opening[1:] or ' '}"
        return opening + between.join(literals) + closing if literals else "[]"


def read(data: bytes) -> Notebook:
    """The notebook in the bytes of a file. Raises NotebookError."""
    try:
        text = data.decode("utf-8")
        whole = json.loads(text.removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise NotebookError(f"not valid utf-8: byte 0x{data[error.start]:02x}") from None
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"not a notebook: {error}") from None
    if not isinstance(whole, dict) or not isinstance(whole.get("cells"), list):
        raise NotebookError("not a notebook of format 4: it has no cells")
    python = _language(whole.get("metadata")) in ("", "python", "ipython")
    start = len(text) - len(text.removeprefix("\ufeff"))
    where = {key: at for key, at, _ in _members(text, start)}["cells"]
    cells = []
    for number, at in enumerate(_elements(text, where)):
        cell = whole["cells"][number]
        if not isinstance(cell, dict) or "source" not in cell:
            raise NotebookError(f"not a notebook: cell {number + 1} has no source")
        begin, end = {key: (at, end) for key, at, end in _members(text, at)}["source"]
        pieces = tuple(_strings(text, begin))
        source = "".join(said for _, _, said in pieces)
        cells.append(_cell(source, python and cell.get("cell_type") == "code", begin, end, pieces))
    return Notebook(tuple(cells), text)


def opened(cells: Iterable[tuple[str, bool]]) -> Cells:
    """The cells that an editor has: the source of each, and whether it is Python."""
    return Cells(tuple(_cell(source, python) for source, python in cells))


def _cell(
    source: str, python: bool, start: int = 0, end: int = 0, pieces: tuple[tuple[int, int, str], ...] = ()
) -> Cell:
    if python and (found := _page(source)) is not None:
        return Cell(start, end, pieces, *found)
    return Cell(start, end, pieces, "", python=False)


def _language(metadata: Any) -> str:
    """What the kernel speaks, "" where that is not said."""
    found: Any = metadata if isinstance(metadata, dict) else {}
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        if isinstance(part := found.get(key), dict) and isinstance(said := part.get(name), str):
            return said.lower()
    return ""


def _page(source: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """The page of a code cell, and its masked lines; None where the cell is not Python."""
    if "\f" in source:
        return None
    lines = source.split("\n")
    masked = []
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    goes_on = False  # a magic, on the next line: for IPython, a backslash in it is its own
    for number, line in enumerate(lines):
        if goes_on:
            goes_on = line.endswith("\\")
            lines[number] = f"#{line[1:]}" if line else line
            masked.append((lines[number], line))
            continue
        if number == first and line.startswith("%%"):
            if line[2:].split(maxsplit=1)[:1] not in [[name] for name in _PYTHON_CELLS]:
                return None
        elif not (("%" in line or "!" in line or "?" in line) and _magic(line) and _begins("\n".join(lines[:number]))):
            continue
        lines[number] = _mask(line)
        masked.append((lines[number], line))
        goes_on = line.endswith("\\")
    if any(lines.count(new) != [each for each, _ in masked].count(new) for new, _ in masked):
        return None  # it looks like what another line was masked to
    return "\n".join(lines), tuple(masked)


def script(text: str) -> str | None:
    """A script in cells (`# %%`), its lines for IPython masked; None for what has no such lines, or no cells."""
    found = _page(text) if _SCRIPT.search(text) else None
    return found[0] if found is not None and found[1] else None


def _magic(line: str) -> re.Match[str] | None:
    return _MAGIC.fullmatch(line) or _HELP.fullmatch(line)


def _mask(line: str) -> str:
    """A line of the same length that Python can read: the name of a value that is not known, and a comment."""
    found = _magic(line)
    start = found.start("magic") if found is not None else 0
    return line[:start] + "_#"[: len(line) - start] + line[start + 2 :]


def _begins(before: str) -> bool:
    """Whether a statement begins behind some lines: they end neither in a bracket nor in a string."""
    if before.endswith("\\"):
        return False
    try:
        for _ in tokenize.generate_tokens(io.StringIO(before + "\n").readline):
            pass
    except tokenize.TokenError as error:
        return not any(words in str(error.args[0]) for words in ("EOF in multi-line", "triple-quoted"))
    except SyntaxError:
        pass
    return True


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


_DECODER = json.JSONDecoder()


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """(key, start and end of its value) of the members of the object at a place of valid JSON."""
    at = _skip(text, _skip(text, at) + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield key, at, end
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _elements(text: str, at: int) -> Iterator[int]:
    """The starts of the elements of the array at a place of valid JSON."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        yield at
        _, end = _DECODER.raw_decode(text, at)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def _strings(text: str, at: int) -> Iterator[tuple[int, int, str]]:
    """The string at a place of valid JSON, or those of the array there. Raises NotebookError."""
    for start in [at] if text[at] == '"' else _elements(text, at) if text[at] == "[" else []:
        if text[start] != '"':
            raise NotebookError("not a notebook: a source that is no text")
        said, end = _DECODER.raw_decode(text, start)
        yield start, end, said
