"""What Dynamo makes of a function: where it breaks the graph, how many graphs it makes, and what comes out.

Breaks are read from the `graph_breaks` log: `torch._dynamo.explain` and the counters miss data-dependent branches and
skipped frames.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch._dynamo
from torch._logging._internal import set_logs

LOCATION = re.compile(r"Graph break.*?in user code at (\S+?):(\d+)")
REASON = re.compile(r"Graph Break Reason: (.*)")
FRAME = re.compile(r'File "([^"]+)", line (\d+)')
WRAPPED = ("Encountered graph break", "Failed to handle graph break")
NOT_A_TYPE = ("Skip", "Explanation", "Hint", "Developer", "For more", "User code", "NOTE", "from user", "File")


@dataclass
class Observation:
    """`breaks` are (line, graph-break type) in the file asked about, each once, in order."""

    breaks: list[tuple[int, str]] = field(default_factory=list)
    graphs: int = 0
    output: Any = None
    error: BaseException | None = None

    @property
    def lines(self) -> set[int]:
        return {line for line, _ in self.breaks}


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def _graph_break_log() -> Iterator[list[str]]:
    set_logs(graph_breaks=True)
    records = _Records()
    changed = []
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("torch"):
            logger = logging.getLogger(name)
            changed.append((logger, list(logger.handlers), logger.propagate))
            logger.handlers = [records] if name.endswith("__graph_breaks") else []
            logger.propagate = not name.endswith("__graph_breaks") and name != "torch"
    try:
        yield records.messages
    finally:
        for logger, handlers, propagate in changed:
            logger.handlers, logger.propagate = handlers, propagate
        set_logs()


def _type_of(message: str) -> str:
    """The type of one break; where Dynamo wraps one break in another, that of the inner one."""
    first = REASON.search(message)
    if not first:
        return ""
    text = first.group(1).strip()
    if text.startswith(WRAPPED):
        lines = (line.strip() for line in message[first.end() :].splitlines())
        text = next((line for line in lines if line and not line.startswith(NOT_A_TYPE)), text)
    return text


def _line_of(message: str, path: str) -> int | None:
    """The innermost line of `path` on the stack of a break, None where it has none."""
    where = LOCATION.search(message)
    if where and os.path.abspath(where.group(1)) == path:
        return int(where.group(2))
    inside = [int(line) for file, line in FRAME.findall(message) if os.path.abspath(file) == path]
    return inside[-1] if inside else None


def observe(function: Callable[..., Any], args: tuple[Any, ...], path: str, **options: Any) -> Observation:
    """Compile `function` with a backend that runs the graphs as they are, call it, and say what Dynamo did."""
    torch._dynamo.reset()
    seen = Observation()

    def backend(module: Any, _: Any) -> Any:
        seen.graphs += 1
        return module.forward

    with _graph_break_log() as messages, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            seen.output = torch.compile(function, backend=backend, **options)(*args)
        except Exception as error:  # noqa: BLE001 - the function's own, or Dynamo's
            seen.error = error
    for message in messages:
        line = _line_of(message, os.path.abspath(path))
        if line is not None and (line, kind := _type_of(message)) not in seen.breaks:
            seen.breaks.append((line, kind))
    return seen
