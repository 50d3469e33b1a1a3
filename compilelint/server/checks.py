"""The documents that are open, and their checks: in a thread, one at a time, each document in its newest text."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from compilelint import api
from compilelint.api import Finding, Settings
from compilelint.errors import UsageProblem
from compilelint.server.moved import moved
from compilelint.server.texts import Text

DELAY = 0.05  # seconds of quiet before a check; less than between two keys
STACK = 64 << 20  # what deep syntax trees take: on some systems a thread has far less than the main one
UNREADABLE = "CL002"
T = TypeVar("T")


def _worker() -> ThreadPoolExecutor:
    """A thread with a large stack."""
    before = threading.stack_size(STACK)
    try:
        worker = ThreadPoolExecutor(1, thread_name_prefix="check")
        worker.submit(int).result()
    finally:
        threading.stack_size(before)
    return worker


@dataclass(eq=False, slots=True)
class Document:
    """`findings` are those of the text `checked`, the newest one that a check was done of."""

    uri: str
    path: Path
    version: int
    text: Text
    checked: Text | None = None
    findings: Sequence[Finding] = ()
    task: asyncio.Task[None] | None = None
    built: tuple[Text, asyncio.Task[list[Finding]]] | None = None  # of the text: its findings, with their fixes


@dataclass(slots=True)
class Checks:
    """`show` is told of documents that were checked, `tell` of what went wrong."""

    show: Callable[[Document], None]
    tell: Callable[[str], None]
    delay: float = DELAY
    local_rules: bool = False  # whether code of the project is run: the files with rules that its settings name
    documents: dict[str, Document] = field(default_factory=dict)
    _session: api.Session = field(default_factory=api.session)
    _thread: ThreadPoolExecutor = field(default_factory=_worker)
    _settings: dict[Path, Settings] = field(default_factory=dict)

    def ask(self, document: Document, delay: float | None = None) -> None:
        """Has a document checked, after `delay` seconds in which it isn't asked for again."""
        if document.task is not None:
            document.task.cancel()
        document.task = asyncio.get_running_loop().create_task(
            self._check(document, self.delay if delay is None else delay)
        )

    def ask_all(self) -> None:
        """Has all documents checked, by settings as they are now."""
        self._settings.clear()
        for document in self.documents.values():
            self.ask(document, 0)

    def close(self, uri: str) -> None:
        document = self.documents.pop(uri, None)
        if document is not None:
            self._thread.submit(self._session.close, document.path)
            if document.task is not None:
                document.task.cancel()

    async def newest(self, document: Document) -> None:
        """Waits until the newest text was checked."""
        while document.task is not None and not document.task.done():
            await asyncio.wait({document.task})

    async def fixes(self, document: Document) -> tuple[Text, list[Finding]]:
        """The findings in the text as it is now, with the edits of their fixes."""
        text = document.text
        if document.built is None or document.built[0] is not text:
            document.built = text, asyncio.get_running_loop().create_task(self._build(document))
        return text, await asyncio.shield(document.built[1])

    async def fixed(self, document: Document, wanted: Callable[[Finding], bool], *, unsafe: bool) -> tuple[Text, str]:
        """A document's text, and what becomes of it with the fixes of `wanted` findings; `unsafe` ones too."""
        text, texts = document.text, self._texts()

        def fixed() -> str:
            settings = self._settings_for(document.path)
            return self._session.fixed(document.path, texts, settings, wanted, unsafe=unsafe or settings.unsafe_fixes)

        return text, await self._run(fixed)

    def stop(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _check(self, document: Document, delay: float) -> None:
        await asyncio.sleep(delay)
        text = document.text
        try:
            try:
                findings = await self._findings(document, build_fixes=False)
            except UsageProblem as problem:
                self.tell(str(problem))
                findings = []
            if [finding.code for finding in findings] == [UNREADABLE] and document.checked is not None:
                before = [finding for finding in document.findings if finding.code != UNREADABLE]
                findings += moved(before, document.checked.lines, text.lines)
            document.checked, document.findings = text, findings
            self.show(document)
        except Exception as error:  # noqa: BLE001  # told; the other documents go on
            self.tell(f"{document.path}: internal error: {type(error).__name__}: {error}")

    async def _build(self, document: Document) -> list[Finding]:
        return await self._findings(document, build_fixes=True)

    async def _findings(self, document: Document, *, build_fixes: bool) -> list[Finding]:
        texts = self._texts()

        def check() -> api.Outcome:
            settings = self._settings_for(document.path)
            return self._session.check(document.path, texts, settings, build_fixes=build_fixes)

        outcome = await self._run(check)
        for problem in [*map(api.describe_error, outcome.errors), *api.cut_short(outcome)]:
            self.tell(problem)
        return outcome.findings

    async def _run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _texts(self) -> dict[Path, str]:
        return {document.path: document.text.content for document in self.documents.values()}

    def _settings_for(self, path: Path) -> Settings:
        folder = path.parent
        if folder not in self._settings:
            self._settings[folder] = api.load_settings(folder, local_rules=self.local_rules)
        return self._settings[folder]
