"""An editor for the tests of the language server: a real client, that starts it and speaks to it over stdio."""

from __future__ import annotations

import ast
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 20.0
T = TypeVar("T")


class Editor(LanguageClient):
    """Documents by uri as the editor has them, and what the server said of them last."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.shown: list[str] = []
        self.news = asyncio.Condition()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def published(params: types.PublishDiagnosticsParams) -> None:
            await self._heard(self.published, params)

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        async def message(params: types.ShowMessageParams) -> None:
            await self._heard(self.messages, params.message)

        @self.feature(types.WINDOW_SHOW_DOCUMENT)
        async def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            await self._heard(self.shown, params.uri)
            return types.ShowDocumentResult(success=True)

        @self.feature(types.WINDOW_LOG_MESSAGE)
        def log(params: types.LogMessageParams) -> None: ...

    async def _heard(self, kept: list[T], item: T) -> None:
        async with self.news:
            kept.append(item)
            self.news.notify_all()

    async def until(self, what: Callable[[], T | None]) -> T:
        """What the server's messages make true, waited for."""
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(lambda: what() is not None), PATIENCE)
        found = what()
        assert found is not None
        return found

    async def diagnostics(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """Those of a version of a document, by default the newest."""
        wanted = self.versions.get(uri) if version is None else version

        def those() -> Sequence[types.Diagnostic] | None:
            return next((p.diagnostics for p in reversed(self.published) if (p.uri, p.version) == (uri, wanted)), None)

        return list(await self.until(those))

    def open(self, path: Path, text: str | None = None) -> str:
        uri = path.as_uri()
        self.texts[uri] = path.read_text(encoding="utf-8") if text is None else text
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "python", 1, self.texts[uri])
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, old: str, new: str) -> None:
        """Replaces the first `old` of a document, as a keystroke does."""
        text = self.texts[uri]
        start = text.index(old)
        edit = types.TextEdit(types.Range(_position(text, start), _position(text, start + len(old))), new)
        self.apply(uri, [edit])

    def apply(self, uri: str, edits: Sequence[Any]) -> None:
        """Makes the edits, of which none overlap, and tells the server."""
        self.versions[uri] += 1
        changes: list[types.TextDocumentContentChangeEvent] = []
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            text = self.texts[uri]
            start, end = _offset(text, edit.range.start), _offset(text, edit.range.end)
            self.texts[uri] = text[:start] + edit.new_text + text[end:]
            changes.append(types.TextDocumentContentChangePartial(edit.range, edit.new_text))
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def save(self, uri: str, path: Path) -> None:
        path.write_text(self.texts[uri], encoding="utf-8")
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def actions(self, uri: str, where: types.Range, only: Sequence[str] | None = None) -> list[types.CodeAction]:
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), where, types.CodeActionContext([], only=only)
        )
        found = await self.text_document_code_action_async(params)
        return [action if isinstance(action, types.CodeAction) else _action(action) for action in found or ()]

    async def make(self, uri: str, action: types.CodeAction) -> None:
        """Does what an action says, asking for its edit where it has none yet."""
        if action.edit is None:
            action = await self.code_action_resolve_async(action)
        assert action.edit is not None and action.edit.document_changes is not None
        (change,) = action.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert (change.text_document.uri, change.text_document.version) == (uri, self.versions[uri])
        self.apply(uri, change.edits)


def capabilities(**more: Any) -> types.ClientCapabilities:
    """What editors of today can do."""
    return types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            code_action=types.CodeActionClientCapabilities(
                disabled_support=True,
                resolve_support=types.ClientCodeActionResolveOptions(["edit"]),
            )
        ),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
        ),
        **more,
    )


def with_editor(
    folder: Path,
    session: Callable[[Editor], Awaitable[None]],
    *,
    options: object = None,
    command: Sequence[str] = ("-m", "compilelint", "server"),
    can: types.ClientCapabilities | None = None,
) -> int:
    """Runs a session against a server that was started in `folder`; the server's exit code."""

    async def run() -> int:
        editor = Editor()
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
        await editor.start_io(sys.executable, *command, cwd=folder, env=environment)
        server = editor._server
        assert server is not None
        try:
            await editor.initialize_async(
                types.InitializeParams(
                    can or capabilities(),
                    root_uri=folder.as_uri(),
                    workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name)],
                    initialization_options=options,
                )
            )
            editor.initialized(types.InitializedParams())
            await asyncio.wait_for(session(editor), PATIENCE * 3)
            await editor.shutdown_async(None)
            editor.exit(None)
            return await asyncio.wait_for(server.wait(), PATIENCE)
        finally:
            if server.returncode is None:
                server.kill()
            await editor.stop()  # type: ignore[no-untyped-call]

    return asyncio.run(run())


def _action(command: types.Command) -> types.CodeAction:
    """pygls' client takes an action that has a command and no edit for that command, which it then holds as text."""
    held = ast.literal_eval(command.command)
    return types.CodeAction(
        command.title, command=types.Command(held["title"], held["command"], None, held["arguments"])
    )


def _position(text: str, offset: int) -> types.Position:
    above = text[:offset].split("\n")
    return types.Position(len(above) - 1, len(above[-1].encode("utf-16-le")) // 2)


def _offset(text: str, position: types.Position) -> int:
    lines = text.split("\n")
    if position.line >= len(lines):
        return len(text)
    before = sum(len(line) + 1 for line in lines[: position.line])
    units = lines[position.line].encode("utf-16-le")[: 2 * position.character]
    return min(before + len(units.decode("utf-16-le")), len(text))
