"""Whole-workspace mode: all files are checked, as by `compilelint check`, in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from compilelint import api
from compilelint.api import Finding
from compilelint.errors import UsageProblem

Found = tuple[dict[Path, list[Finding]], list[str]]  # by file; and what went wrong
DELAY = 1.0  # seconds after the last save


class Workspace:
    """The newest request wins: a scan that is under way is ended."""

    def __init__(self, folders: Sequence[Path], show: Callable[[Found], None], *, local_rules: bool) -> None:
        self.folders = folders
        self._show = show
        self._local_rules = local_rules
        self._process: BaseProcess | None = None
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, delay: float = DELAY) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay, self._start)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None:
            self._process.kill()

    def _start(self) -> None:
        self.stop()
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        self._process = process = context.Process(
            target=scan, args=(theirs, self.folders, self._local_rules), daemon=True
        )
        process.start()
        theirs.close()
        loop = asyncio.get_running_loop()

        def wait() -> None:
            with contextlib.suppress(EOFError, OSError, RuntimeError):  # it was ended, or the server is
                found = ours.recv()
                loop.call_soon_threadsafe(self._done, process, found)
            process.join()

        threading.Thread(target=wait, daemon=True).start()

    def _done(self, process: BaseProcess, found: Found) -> None:
        if process is self._process:
            self._show(found)


def scan(answer: Connection, folders: Sequence[Path], local_rules: bool) -> None:
    """Checks the folders and sends what was found."""
    if hasattr(os, "nice"):
        os.nice(10)  # what is typed goes first
    by_file: dict[Path, list[Finding]] = {}
    problems: list[str] = []
    for folder in folders:
        try:
            os.chdir(folder)  # where `compilelint check` is run, and finds what it knows
            settings = api.load_settings(folder, local_rules=local_rules)
            result = api.check([folder], replace(settings, cache=api.cache_folder(), jobs=1))
        except (UsageProblem, OSError) as problem:
            problems.append(str(problem))
            continue
        problems += [*result.problems, *map(api.describe_error, result.errors)]
        for finding in result.findings:
            by_file.setdefault(Path(finding.span.path).absolute(), []).append(finding)
    answer.send((by_file, problems))
