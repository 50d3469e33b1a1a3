"""How the record leaves the child: a file of JSON lines, each written at once, so that a killed program leaves what
happened before. The last line about a site counts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from compilelint.runtime.trace.record import (
    Break,
    Event,
    Record,
    Steps,
    event_from_json,
    event_to_json,
    timeline_from_json,
)

REWRITE_S = 0.5  # a site's count on disk is at most so old, or half of the true one


class Journal:
    """Written by one process: a forked child's copy is shut."""

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)
        self._file = _opened(self._path)
        self._events: dict[tuple[object, ...], Event] = {}
        self._written: dict[tuple[object, ...], tuple[int, float]] = {}
        self._lines: set[tuple[str, str, int]] = set()
        self._pid = os.getpid()
        self._ended = False
        self._notes: set[str] = set()
        self.step: Callable[[], int] = lambda: 0

    def add(self, event: Event) -> None:
        """Count an event at its site."""
        known = self._events.get(event.key)
        if known is None:
            event.step = self.step()
            self._events[event.key] = event
            self._write_event(event)
            return
        known.merge(event)
        count, when = self._written[event.key]
        if known.count >= 2 * count or time.monotonic() - when > REWRITE_S:
            self._write_event(known)

    def line(self, what: str, path: str, line: int) -> None:
        """A line that was `executed`, also while syncs were `measured`, or `traced`; or one that is `unclear`."""
        if (what, path, line) not in self._lines:
            self._lines.add((what, path, line))
            self._write({"kind": what, "path": path, "line": line})

    def file(self, path: str, shown: str) -> None:
        """One of the program's own sources."""
        self._write({"kind": "file", "path": path, "shown": shown})

    def facts(self, **facts: Any) -> None:
        """Fields of the Record."""
        self._write({"kind": "facts", **facts})

    def note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.add(text)
            self._write({"kind": "note", "text": text})

    def gb_types(self) -> list[str]:
        """Of the breaks so far."""
        return [event.gb_type for event in self._events.values() if isinstance(event, Break)]

    def end(self) -> None:
        """Write the counts as they are now; nothing is taken any more."""
        if not self._ended:
            for event in self._events.values():
                self._write_event(event)
            self._write({"kind": "facts", "complete": True})
            self._ended = True

    def _write_event(self, event: Event) -> None:
        self._written[event.key] = (event.count, time.monotonic())
        self._write(event_to_json(event))

    def _write(self, data: dict[str, Any]) -> None:
        if not self._ended and os.getpid() == self._pid:
            line = (json.dumps(data) + "\n").encode()
            try:
                os.write(self._file, line)
            except OSError:  # the program closes what it did not open, as daemons do
                with suppress(OSError):
                    self._file = _opened(self._path)
                    os.write(self._file, line)


def _opened(path: str) -> int:
    """A descriptor of a high number: programs that close low ones miss it, and what they open never takes its place."""
    low = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        import fcntl
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, max(3, min(most, 1024) // 2))
    except (ImportError, OSError, ValueError):
        return low
    os.close(low)
    return high


def read(path: Path) -> Record:
    """The record of a run, as far as it was written."""
    record = Record()
    events: dict[tuple[object, ...], Event] = {}
    lines: dict[str, dict[str, set[int]]] = {"executed": {}, "measured": {}, "traced": {}, "unclear": {}}
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    unread = 0
    for row in text.split("\n")[:-1]:  # what follows the last newline was cut short
        try:
            _take(json.loads(row), record, lines, events)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            unread += 1  # cut short by a full disk, or the program wrote to it
    if unread:
        record.notes.append(f"{unread} lines of the record can't be read: there may be more than is told")
    record.events = sorted(events.values(), key=lambda event: (event.path, event.line, event.kind))
    for kind, by_path in lines.items():
        setattr(record, kind, {name: sorted(found) for name, found in sorted(by_path.items())})
    return record


def _take(
    data: dict[str, Any],
    record: Record,
    lines: dict[str, dict[str, set[int]]],
    events: dict[tuple[object, ...], Event],
) -> None:
    kind = data["kind"]
    if kind in lines:
        lines[kind].setdefault(data["path"], set()).add(data["line"])
    elif kind == "file":
        record.files[data["path"]] = data["shown"]
    elif kind == "note":
        record.notes.append(data["text"])
    elif kind == "facts":
        for name, value in data.items():
            if name != "kind":
                setattr(record, name, _FIELDS.get(name, _same)(value))
    else:
        event = event_from_json(data)
        events[event.key] = event


def _same(value: Any) -> Any:
    return value


_FIELDS: dict[str, Callable[[Any], Any]] = {"steps": lambda value: Steps(**value), "timeline": timeline_from_json}
