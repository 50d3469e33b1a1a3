"""Notebooks in the language server, driven by a client over stdio."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from editing import Editor, capabilities, with_editor
from lsprotocol import types

CODE, PROSE = types.NotebookCellKind.Code, types.NotebookCellKind.Markup
CELLS = [
    (PROSE, "markdown", "# A title"),
    (CODE, "python", "%matplotlib inline\nimport torch"),
    (CODE, "python", "@torch.compile\ndef f(x: torch.Tensor):\n    if x.sum() > 0:\n        x = -x\n    return x"),
    (CODE, "python", "%%bash\nls"),
    (
        CODE,
        "python",
        "@torch.compile\ndef g(x: torch.Tensor, mask: torch.Tensor):\n    x = x.float().relu()\n"
        "    if torch.isnan(x).any():\n        x = torch.nan_to_num(x)\n    return f(x).item()\n!ls",
    ),
]
CAN = capabilities(
    notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities())
)


class Notebook:
    """A notebook as an editor has it open."""

    def __init__(self, editor: Editor, path: Path, cells: Sequence[tuple[types.NotebookCellKind, str, str]]) -> None:
        self.editor = editor
        self.uri = path.as_uri()
        self.cells: list[types.NotebookCell] = []
        items = [self._item(path, n, *cell) for n, cell in enumerate(cells)]
        self.version = 1
        editor.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(self.uri, "jupyter-notebook", 1, self.cells), items
            )
        )

    def _item(
        self, path: Path, n: int, kind: types.NotebookCellKind, language: str, text: str
    ) -> types.TextDocumentItem:
        uri = path.as_uri().replace("file:", "vscode-notebook-cell:") + f"#{n}"
        self.cells.append(types.NotebookCell(kind, uri))
        self.editor.texts[uri], self.editor.versions[uri] = text, 1
        return types.TextDocumentItem(uri, language, 1, text)

    def cell(self, number: int) -> str:
        return self.cells[number].document

    def change(self, cells: types.NotebookDocumentCellChanges) -> None:
        self.version += 1
        self.editor.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self.version, self.uri),
                types.NotebookDocumentChangeEvent(cells=cells),
            )
        )

    def type(self, number: int, line: int, start: int, end: int, text: str) -> None:
        uri = self.cell(number)
        self.editor.versions[uri] += 1
        where = types.Range(types.Position(line, start), types.Position(line, end))
        content = types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(self.editor.versions[uri], uri),
            [types.TextDocumentContentChangePartial(where, text)],
        )
        self.change(types.NotebookDocumentCellChanges(text_content=[content]))


async def _codes(editor: Editor, uri: str) -> list[tuple[object, int]]:
    return [(found.code, found.range.start.line) for found in await editor.diagnostics(uri)]


def test_each_cell_has_its_findings(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        book = Notebook(editor, tmp_path / "a.ipynb", CELLS)
        assert await _codes(editor, book.cell(2)) == [("CL101", 2)]
        assert await _codes(editor, book.cell(4)) == [("CL102", 3), ("CL103", 5)]
        assert await _codes(editor, book.cell(1)) == await _codes(editor, book.cell(3)) == []
        (found,) = await editor.diagnostics(book.cell(2))
        assert found.related_information is not None
        assert {each.location.uri for each in found.related_information} == {book.cell(2)}

        book.type(2, 2, 4, 19, "if x.shape[0] > 0:")  # was: if x.sum() > 0:
        assert await _codes(editor, book.cell(2)) == []
        assert editor.versions[book.cell(4)] == 1  # it was not touched, and is shown all the same
        assert await _codes(editor, book.cell(4)) == [("CL102", 3), ("CL103", 5)]

        array = types.NotebookCellArrayChange(0, 1)  # the title goes: lines in cells stay
        gone, last = book.cell(0), book.cell(4)
        book.change(types.NotebookDocumentCellChanges(types.NotebookDocumentCellChangeStructure(array)))
        del book.cells[0]
        await editor.until(lambda: True if (gone, []) == _last(editor, gone) else None)
        assert await _codes(editor, last) == [("CL102", 3), ("CL103", 5)]

        array = types.NotebookCellArrayChange(0, 1)  # and with it the import
        book.change(types.NotebookDocumentCellChanges(types.NotebookDocumentCellChangeStructure(array)))
        await editor.until(lambda: True if _last(editor, last)[1] == [] else None)

        editor.notebook_document_did_save(
            types.DidSaveNotebookDocumentParams(types.NotebookDocumentIdentifier(book.uri))
        )
        editor.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(book.uri), [])
        )
        await editor.until(lambda: True if (last, []) == _last(editor, last) else None)
        assert not editor.messages

    assert with_editor(tmp_path, session, can=CAN) == 0


def _last(editor: Editor, uri: str) -> tuple[str, list[types.Diagnostic]]:
    return next((p.uri, list(p.diagnostics)) for p in reversed(editor.published) if p.uri == uri)


def test_hover_and_actions_in_a_cell(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        book = Notebook(editor, tmp_path / "a.ipynb", CELLS)
        uri = book.cell(4)
        first, _ = await editor.diagnostics(uri)
        hover = await editor.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), first.range.start)
        )
        assert hover is not None
        assert hover.range == first.range
        actions = await editor.actions(uri, first.range)
        titles = [action.title for action in actions]
        assert titles[:2] == ["select with torch.where", "Ignore CL102 here"]
        assert list(actions[0].diagnostics or ()) == [first]
        (ignore,) = [action for action in actions if action.title == "Ignore CL102 here"]
        assert ignore.edit is not None and ignore.edit.document_changes is not None
        (change,) = ignore.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert (change.text_document.uri, change.text_document.version) == (uri, 1)
        (edit,) = change.edits
        assert isinstance(edit, types.TextEdit)
        assert edit.new_text.startswith("    if torch.isnan(x).any():  # compilelint: ignore[CL102]")

        (all_,) = await editor.actions(uri, first.range, ["source.fixAll"])
        made = await editor.code_action_resolve_async(all_)
        assert made.edit is not None and made.edit.document_changes is not None
        (change,) = made.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.uri == uri
        assert "torch.where" in "".join(edit.new_text for edit in change.edits if isinstance(edit, types.TextEdit))
        assert "!ls" not in "".join(edit.new_text for edit in change.edits if isinstance(edit, types.TextEdit))

    assert with_editor(tmp_path, session, can=CAN) == 0
