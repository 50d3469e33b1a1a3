"""Notebooks that are open: their cells, checked as one text, and what is said of each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from lsprotocol import types

from compilelint import api
from compilelint.errors import NotebookError
from compilelint.server.texts import Target, Text


@dataclass(frozen=True)
class Cell:
    """A cell as the editor has it; `code`: whether it is Python."""

    uri: str
    version: int
    text: Text
    code: bool


@dataclass(frozen=True)
class CellText(Text):
    """The text of a notebook. Places in it are places in its cells."""

    cells: Sequence[Cell] = ()
    whole: api.Cells = field(kw_only=True)

    @classmethod
    def of(cls, cells: Sequence[Cell], text: Text) -> CellText:
        whole = api.notebook((cell.text.content, cell.code) for cell in cells)
        return cls(whole.text, text.codec, tuple(cells), whole=whole)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {cell.uri: number for number, cell in enumerate(self.cells)}

    def _cell(self, line: int) -> int:
        """The number of the cell that a line of the whole, counted from 0, is in."""
        return max(0, bisect_right(self.whole.starts, line) - 1)

    def inside(self, uri: str, where: types.Range) -> types.Range:
        """The range of the whole for one in a cell."""
        return _moved(where, self.whole.starts[self._numbers[uri]]) if uri in self._numbers else where

    def location(self, uri: str, where: types.Range) -> types.Location:
        if not self.cells:
            return types.Location(uri, where)
        number = self._cell(where.start.line)
        return types.Location(self.cells[number].uri, _moved(where, -self.whole.starts[number]))

    def targets(self, uri: str, version: int, edits: Sequence[types.TextEdit]) -> list[Target] | None:
        """The edits of the cells; None where they can't be made, as in a line for IPython."""
        try:
            sources = self.whole.changed(self.applied(edits))
        except NotebookError:
            return None
        return [
            Target(cell.uri, cell.version, cell.text.rewritten(source))
            for number, source in sources.items()
            for cell in [self.cells[number]]
        ]


def _moved(where: types.Range, lines: int) -> types.Range:
    start, end = where.start, where.end
    return types.Range(
        types.Position(max(0, start.line + lines), start.character),
        types.Position(max(0, end.line + lines), end.character),
    )


def opened(params: types.DidOpenNotebookDocumentParams, empty: Text) -> list[Cell]:
    texts = {item.uri: item for item in params.cell_text_documents}
    return list(_cells(params.notebook_document.cells, texts, empty))


def changed(cells: Sequence[Cell], change: types.NotebookDocumentChangeEvent, empty: Text) -> list[Cell]:
    """The cells after an editor's change."""
    now = list(cells)
    told = change.cells
    if told is None:
        return now
    if told.structure is not None:
        array = told.structure.array
        texts = {item.uri: item for item in told.structure.did_open or ()}
        known = {cell.uri: cell for cell in now}
        fresh = list(_cells(array.cells or (), texts, empty, known))
        now[array.start : array.start + array.delete_count] = fresh
    kinds = {cell.document: cell.kind for cell in told.data or ()}
    now = [replace(c, code=kinds[c.uri] is types.NotebookCellKind.Code) if c.uri in kinds else c for c in now]
    for content in told.text_content or ():
        document = content.document
        for number, cell in enumerate(now):
            if cell.uri == document.uri:
                text = cell.text
                for each in content.changes:
                    text = text.changed(each)
                now[number] = replace(cell, text=text, version=document.version)
    return now


def _cells(
    cells: Iterable[types.NotebookCell],
    texts: dict[str, types.TextDocumentItem],
    empty: Text,
    known: dict[str, Cell] | None = None,
) -> Iterator[Cell]:
    for cell in cells:
        item = texts.get(cell.document)
        if item is not None:
            code = cell.kind is types.NotebookCellKind.Code and item.language_id == "python"
            yield Cell(cell.document, item.version, Text(item.text, empty.codec), code)
        elif known is not None and cell.document in known:
            yield known[cell.document]  # one that was moved
        else:
            yield Cell(cell.document, 0, empty, code=False)
