"""Which of the program's lines ran, and each time a loop comes round: by `sys.monitoring` from Python 3.12 on, else by
`sys.settrace`. Neither keeps Dynamo from compiling a frame."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from compilelint.runtime.trace.journal import Journal
from compilelint.runtime.trace.sources import Sources

OnLoop = Callable[[str, int], None]  # file, line of the loop's header
OnCall = Callable[[FrameType], None]  # the frame of the call


@cache
def loops(filename: str) -> dict[int, int]:
    """The `for` and `while` statements of a file: line of the header → last line. None where it can't be parsed."""
    try:
        tree = ast.parse(Path(filename).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    kinds = (ast.For, ast.AsyncFor, ast.While)
    return {node.lineno: node.end_lineno or node.lineno for node in ast.walk(tree) if isinstance(node, kinds)}


def loop_around(filename: str, line: int) -> int | None:
    """The header of the innermost loop around a line."""
    around = [header for header, last in loops(filename).items() if header <= line <= last]
    return max(around, default=None)


class Lines:
    """Tells the journal of lines, `on_loop` of headers."""

    def __init__(self, sources: Sources, journal: Journal) -> None:
        self._sources, self._journal = sources, journal
        self.on_loop: OnLoop = lambda filename, line: None
        self._watched: dict[CodeType, OnCall] = {}
        self._libraries: set[tuple[str, int]] = set()
        self._measuring = False
        self.in_sight: Callable[[], bool] = lambda: True  # whether what runs now would be seen to sync
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._tool: int | None = None

    def start(self) -> None:
        if self._monitoring is not None:
            self._monitor()
        elif sys.gettrace() is not None:
            self._journal.note("which lines ran is not known: something else has sys.settrace")
        else:
            sys.settrace(self._called)

    def measure(self, on: bool) -> None:
        """Tell of the lines that run meanwhile as `measured` too."""
        self._measuring = on
        if on and self._tool is not None:
            self._monitoring.restart_events()

    def watch_call(self, code: CodeType, on_call: OnCall) -> None:
        """Have `on_call` told of each call of this code. The function is left as it is: Dynamo must not see ours."""
        self._watched[code] = on_call
        if self._tool is not None:
            self._monitoring.restart_events()  # it may have run before

    def watch_loop(self, frame: FrameType, header: int) -> None:
        """Have `on_loop` called for a loop of a library's too, in a frame that is running."""
        code = frame.f_code
        if self._sources.shown(code.co_filename) is not None:
            return
        self._libraries.add((code.co_filename, header))
        if self._tool is not None:
            self._monitoring.set_local_events(self._tool, code, self._monitoring.events.LINE)
        else:
            frame.f_trace = self._local

    # sys.monitoring

    def _monitor(self) -> None:
        monitoring, events = self._monitoring, self._monitoring.events
        free = [tool for tool in (4, 3, monitoring.OPTIMIZER_ID) if monitoring.get_tool(tool) is None]
        if not free:
            self._journal.note("which lines ran is not known: all tools of sys.monitoring are taken")
            return
        self._tool = free[0]
        monitoring.use_tool_id(self._tool, "compilelint")
        monitoring.register_callback(self._tool, events.PY_START, self._started)
        monitoring.register_callback(self._tool, events.LINE, self._ran)
        monitoring.set_events(self._tool, events.PY_START)

    def _started(self, code: CodeType, offset: int) -> Any:
        if (on_call := self._watched.get(code)) is not None:
            on_call(sys._getframe(1))
            return None
        if self._sources.shown(code.co_filename) is not None:
            self._monitoring.set_local_events(self._tool, code, self._monitoring.events.LINE)
        return self._monitoring.DISABLE

    def _ran(self, code: CodeType, line: int) -> Any:
        return None if self._line(code.co_filename, line) else self._monitoring.DISABLE

    # sys.settrace

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if (on_call := self._watched.get(code)) is not None:
            on_call(frame)
        elif self._sources.shown(code.co_filename) is not None:
            return self._local
        return None

    def _local(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self._line(frame.f_code.co_filename, frame.f_lineno)
        return self._local

    def _line(self, filename: str, line: int) -> bool:
        """A line runs; whether to be told of it again: each turn of a loop counts, and what is out of sight now may be
        in sight later."""
        shown, again = self._sources.shown(filename), False
        if shown is not None:
            self._journal.line("executed", shown, line)
            if self._measuring and self.in_sight():
                self._journal.line("measured", shown, line)
            else:
                again = self._measuring
        elif (filename, line) not in self._libraries:
            return False
        if line not in loops(filename):
            return again
        self.on_loop(filename, line)
        return True
