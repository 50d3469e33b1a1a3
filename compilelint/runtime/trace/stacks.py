"""The Python stack at a moment, from the profiler's event tree (`with_stack=True`).

Each call's node names its caller's file and line, so that a frame's line at a moment is the line of the call that runs
in it then, or of the last one before. Nodes: torch/csrc/autograd/profiler_python.cpp, `_ProfilerEvent` in
torch/_C/_profiler.pyi.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

Place = tuple[str, int, str]  # file, line, function


@dataclass(slots=True)
class Moment:
    """`frames` outermost first. `op` is the outermost operator that runs in the innermost frame, and when it began;
    "" where none does. `exact`: the innermost line is that of a call that still runs."""

    frames: list[Place] = field(default_factory=list)
    op: str = ""
    began: int = 0
    exact: bool = False


def moments(roots: Sequence[Any], times: Sequence[int]) -> dict[int, Moment]:
    """The stack at each of `times` (ns, as the tree's). Roots of several threads: those with the times in them."""
    wanted = sorted(set(times))
    found: dict[int, Moment] = {}
    for root in roots:
        if _is_call(root):
            _visit(root, wanted, Moment(), found)
    return found


def whole_names(prefixes: Sequence[str]) -> Callable[[str], str]:
    """The profiler cuts what stands on `sys.path` off its file names: this puts it back, where such a file exists."""

    @cache
    def whole(name: str) -> str:
        if Path(name).is_absolute():
            return name
        return next((prefix + name for prefix in prefixes if Path(prefix + name).is_file()), f"<{name}>")

    return whole


def _visit(node: Any, times: Sequence[int], above: Moment, found: dict[int, Moment]) -> None:
    start = node.start_time_ns
    low, high = bisect_left(times, start), bisect_right(times, start + node.duration_time_ns)
    if low == high:
        return
    mine = times[low:high]
    call = _is_call(node)
    if call and (site := getattr(node.extra_fields, "callsite", None)) is not None:
        here = Moment([*above.frames, (site.file_name, site.line_number, site.function_name)], began=start)
    elif call:  # of a function in C: no frame of its own
        here = Moment(above.frames, began=start, exact=True)
    else:
        here = Moment(above.frames, above.op or node.name, above.began if above.op else start, above.exact)
    line = None
    taken = 0
    for child in node.children:
        begins = child.start_time_ns
        upto = bisect_left(mine, begins)
        for moment in mine[taken:upto]:
            found[moment] = _at(here, line)
        taken = max(taken, upto)
        if _is_call(child):
            caller = child.extra_fields.caller
            line = caller.line_number if caller.line_number > 0 else line
        within = bisect_right(mine, begins + child.duration_time_ns)
        if within > taken:
            below = _at(here, line)
            below.op, below.began = here.op, here.began
            _visit(child, mine[taken:within], below, found)
            taken = within
    for moment in mine[taken:]:
        found[moment] = _at(here, line)


def _at(here: Moment, line: int | None) -> Moment:
    """With the innermost frame at this line."""
    if line is None or not here.frames:
        return Moment(list(here.frames), here.op, here.began, here.exact)
    filename, _, function = here.frames[-1]
    return Moment([*here.frames[:-1], (filename, line, function)], here.op, here.began, here.exact)


def _is_call(node: Any) -> bool:
    return hasattr(node.extra_fields, "caller")
