"""The server's conversation with an editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path

from compilelint import __version__, api
from compilelint.server import notebooks, show
from compilelint.server.actions import EXPLAIN, KINDS, Actions
from compilelint.server.checks import DELAY, Checks, Document
from compilelint.server.notebooks import CellText
from compilelint.server.pages import Pages
from compilelint.server.texts import Text
from compilelint.server.workspace import Found, Workspace

NOTEBOOK = ".ipynb"  # an editor that has one open shows cells, not the file
NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithCells([types.NotebookCellLanguage("python")], "*")], save=True
)


class Protocol(LanguageServerProtocol):
    """Leaves changes to us: pygls takes form feeds and U+2028 for ends of lines, and alters the positions it reads."""

    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> NoReturn:
        raise NotImplementedError  # not marked as a handler

    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> NoReturn:
        raise NotImplementedError


class Editor(LanguageServer):
    """An editor's documents, and what it is shown. `initialize` says what the editor can do and wants."""

    def __init__(self) -> None:
        super().__init__("compilelint", __version__, protocol_cls=Protocol, notebook_document_sync=NOTEBOOKS)
        self.pages = Pages()
        self.checks = Checks(self.show, self.tell)
        self.actions: Actions | None = None
        self.whole: Workspace | None = None
        self._elsewhere: dict[str, list[types.Diagnostic]] = {}  # what the whole workspace's check found, by uri
        self._told: set[str] = set()

    def begin(self, params: types.InitializeParams) -> None:
        options: Any = params.initialization_options
        options = options if isinstance(options, dict) else {}
        delay = options.get("debounce")
        self.checks.delay = delay / 1000 if isinstance(delay, (int, float)) else DELAY
        self.actions = Actions(self.checks, self.pages, params.capabilities)
        self.checks.local_rules = options.get("localRules") is True
        folders = self.folders()
        if not folders and self.workspace.root_path is not None:
            folders = [Path(self.workspace.root_path)]
        if options.get("workspace") is True:
            self.whole = Workspace(folders, self.show_all, local_rules=self.checks.local_rules)

    def folders(self) -> list[Path]:
        """Those of the workspace as it is now."""
        return [path for folder in self.workspace.folders if (path := path_of(folder)) is not None]

    def text(self, content: str) -> Text:
        return Text(content, self.workspace.position_codec)

    def show(self, document: Document) -> None:
        """The diagnostics of a document that was checked; of a notebook, those of each cell."""
        text = document.checked or document.text
        if isinstance(text, CellText):
            by_cell: dict[str, list[types.Diagnostic]] = {cell.uri: [] for cell in text.cells}
            for finding in document.findings:
                cell = text.location(document.uri, text.range(finding)).uri
                by_cell[cell].append(show.diagnostic(finding, text, document.uri, self.pages))
            versions = {cell.uri: cell.version for cell in text.cells}
            for uri, found in by_cell.items():
                self._publish(uri, found, versions[uri] if text is document.text else None)
            return
        found = [show.diagnostic(finding, text, document.uri, self.pages) for finding in document.findings]
        self._publish(document.uri, found, document.version if text is document.text else None)

    def document(self, uri: str) -> Document | None:
        """The document of that uri, or the notebook that has such a cell."""
        return self.checks.documents.get(uri) or next(
            (
                document
                for document in self.checks.documents.values()
                if isinstance(document.text, CellText) and any(cell.uri == uri for cell in document.text.cells)
            ),
            None,
        )

    def show_all(self, found: Found) -> None:
        """Those of the files that are not open, in place of what an earlier check found."""
        by_file, problems = found
        for problem in problems:
            self.tell(problem)
        before, self._elsewhere = self._elsewhere, {}
        for path, findings in by_file.items():
            if path.suffix == NOTEBOOK:
                continue
            uri = path.as_uri()
            text = self.text("\n".join(api.source_lines(str(path))))
            self._elsewhere[uri] = [show.diagnostic(finding, text, uri, self.pages) for finding in findings]
        open_paths = {document.path.as_uri() for document in self.checks.documents.values()}
        for uri in before.keys() | self._elsewhere.keys():
            if uri not in open_paths:
                self._publish(uri, self._elsewhere.get(uri, []))

    def closed(self, document: Document) -> None:
        """A document is a file like others again."""
        self._publish(document.uri, self._elsewhere.get(document.path.as_uri(), []))

    def clear(self, uri: str) -> None:
        """A cell is gone, or no longer open."""
        self._publish(uri, [])

    def tell(self, problem: str) -> None:
        """What went wrong, in the log; the first time before the user's eyes."""
        kind = types.MessageType.Error
        self.window_log_message(types.LogMessageParams(kind, problem))
        if problem not in self._told:
            self._told.add(problem)
            self.window_show_message(types.ShowMessageParams(kind, f"compilelint: {problem}"))

    def end(self) -> None:
        self.checks.stop()
        if self.whole is not None:
            self.whole.stop()
        self.pages.close()

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None = None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))


def file_of(uri: str) -> Path | None:
    """The Python file, or folder, that a uri names; None for what is not on disk, and for notebooks."""
    path = path_of(uri)
    return path if path is not None and path.suffix != NOTEBOOK else None


def path_of(uri: str) -> Path | None:
    """The path that a uri names; None for what is not on disk."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path is not None else None


def editor() -> Editor:
    """A server that answers an editor."""
    server = Editor()
    documents = server.checks.documents

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        if server.whole is not None:
            server.whole.ask(0)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        path = file_of(item.uri)
        if path is not None:
            documents[item.uri] = Document(item.uri, path, item.version, server.text(item.text))
            server.checks.ask(documents[item.uri], 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        document = documents.get(params.text_document.uri)
        if document is not None:
            for change in params.content_changes:
                document.text = document.text.changed(change)
            document.version = params.text_document.version
            server.checks.ask(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.checks.ask_all()  # others may import what was saved, or go by it
        if server.whole is not None:
            server.whole.ask()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        server.checks.ask_all()
        if server.whole is not None:
            server.whole.ask()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def changed_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        if server.whole is not None:
            server.whole.folders = server.folders()
            server.whole.ask(0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        document = documents.get(params.text_document.uri)
        if document is not None:
            server.checks.close(document.uri)
            server.closed(document)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        item = params.notebook_document
        path = path_of(item.uri)
        if path is not None:
            text = CellText.of(notebooks.opened(params, server.text("")), server.text(""))
            documents[item.uri] = Document(item.uri, path, item.version, text)
            server.checks.ask(documents[item.uri], 0)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        document = documents.get(params.notebook_document.uri)
        if document is not None and isinstance(before := document.text, CellText):
            cells = notebooks.changed(before.cells, params.change, server.text(""))
            document.text = CellText.of(cells, server.text(""))
            document.version = params.notebook_document.version
            for gone in {cell.uri for cell in before.cells} - {cell.uri for cell in cells}:
                server.clear(gone)
            server.checks.ask(document)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(params: types.DidSaveNotebookDocumentParams) -> None:
        server.checks.ask_all()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        document = documents.get(params.notebook_document.uri)
        if document is not None and isinstance(text := document.text, CellText):
            server.checks.close(document.uri)
            for cell in text.cells:
                server.clear(cell.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        await server.checks.newest(document)
        here = document.text.inside(params.text_document.uri, types.Range(params.position, params.position))
        return show.hover(show.at(document.findings, here, document.text), document.text, server.pages)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS, resolve_provider=True)
    )
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.document(params.text_document.uri)
        return await server.actions.of(document, params) if document is not None and server.actions is not None else []

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await server.actions.resolve(action) if server.actions is not None else action

    @server.command(EXPLAIN)
    async def explain(code: str) -> None:
        page = server.pages.uri(code)
        if page is not None:
            await server.window_show_document_async(types.ShowDocumentParams(page))

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.end()

    return server


def run() -> int:
    """Serves on stdin and stdout until the editor says `exit`, or is gone."""
    server = editor()
    try:
        server.start_io()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    finally:
        server.end()
    return 0
