"""Graph breaks, graphs and recompiles, seen from inside Dynamo (torch 2.11 to 2.14).

`torch._dynamo.explain` and `counters["graph_break"]` miss data-dependent branches and skipped frames. Two functions of
Dynamo see every break: `log_graph_break`, called where it splits a frame or gives the frame up, and `format_error_msg`,
called where a frame falls back to eager without having been logged. Recompiles come from Dynamo's compilation metrics.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any

from torch._dynamo import convert_frame, symbolic_convert
from torch._dynamo.exc import Unsupported, UserError, get_stack_above_dynamo
from torch._dynamo.utils import clear_compilation_metrics, counters, get_compilation_metrics

from compilelint.runtime.places import Places, outside
from compilelint.runtime.results import Site

_BASE: Any = symbolic_convert.InstructionTranslatorBase
_CONVERT: Any = convert_frame
NESTED = "*** While handling this graph break, another graph break occurred: ***"
_GIVEN_UP = "Skipping the function and falling back to eager"
SKIPPED = "the whole frame runs eagerly"


OnBreak = Callable[[Any, tuple[str, int, str], bool], None]


def hook(on_break: OnBreak) -> Callable[[], None]:
    """Call `on_break(exception, (file, first line and name of the frame), whether the frame is given up)` at each graph
    break from now on. Returns what ends that."""
    log, formatted = _BASE.log_graph_break, _CONVERT.format_error_msg

    def log_graph_break(
        translator: Any, code_options: Any, reason: str = "", exc: Any = None, *a: Any, **k: Any
    ) -> Any:
        if exc is not None and not getattr(exc, "logged", False):
            get = code_options.get
            where = (get("co_filename", ""), get("co_firstlineno", 0), get("co_name", ""))
            on_break(exc, where, _GIVEN_UP in str(reason))
        return log(translator, code_options, reason, exc, *a, **k)

    def format_error_msg(exc: Any, code: CodeType, *a: Any, **k: Any) -> Any:
        if isinstance(exc, (Unsupported, UserError)) and not getattr(exc, "logged", False):
            on_break(exc, (code.co_filename, code.co_firstlineno, code.co_name), True)
        return formatted(exc, code, *a, **k)

    def undo() -> None:
        _BASE.log_graph_break, _CONVERT.format_error_msg = log, formatted

    _BASE.log_graph_break, _CONVERT.format_error_msg = log_graph_break, format_error_msg
    return undo


class Dynamo:
    """Listens while entered: `breaks`, `graphs()`, `recompiles()`, and how many `frames()` Dynamo tried to compile."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.breaks: dict[tuple[str, int, str], Site] = {}

    def __enter__(self) -> Dynamo:
        counters.clear()
        clear_compilation_metrics()
        self._undo = hook(self._add)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo()

    def frames(self) -> int:
        return len(get_compilation_metrics())

    def graphs(self) -> int:
        return int(counters["stats"].get("unique_graphs", 0))

    def recompiles(self) -> list[Site]:
        found: dict[tuple[str, int, str], Site] = {}
        for each in get_compilation_metrics():
            reason = getattr(each, "recompile_reason", None)
            if not reason or each.is_forward is False:
                continue
            name, line = each.co_filename or "", each.co_firstlineno or 0
            path = self._places.relative(name) or outside(name)
            what = guard(str(reason))
            _count(found, Site(path, line, what, detail=f"in {_function(each.co_name or '')}"))
        return list(found.values())

    def _add(self, exc: Any, place: tuple[str, int, str], skipped: bool) -> None:
        real = [(frame.filename, frame.lineno or 0) for frame in getattr(exc, "real_stack", None) or ()]
        try:
            above = [(frame.filename, frame.lineno or 0) for frame in get_stack_above_dynamo()]
        except AttributeError:  # outside of a compilation
            above = []
        innermost = real[-1] if real else place[:2]
        own = self._places.innermost([*above, *real])
        path, line = own or (outside(innermost[0]), innermost[1])
        library = own is not None and self._places.relative(innermost[0]) is None
        inside = f"inside {outside(innermost[0])}:{innermost[1]}" if library else ""
        detail = "; ".join(filter(None, [SKIPPED if skipped else "", inside]))
        _count(self.breaks, Site(path, line, gb_type(exc), detail=detail))


def gb_type(exc: Any) -> str:
    """Dynamo's name of the break; of a break met while another was being handled, the first one."""
    cause = exc.__cause__ if isinstance(exc.__cause__, UserError) else exc
    if isinstance(cause, UserError):
        return f"UserError: {getattr(getattr(cause, 'error_type', None), 'name', '')}"
    name = getattr(exc, "gb_type", None)
    text = str(getattr(exc, "msg", None) or exc)
    if NESTED in text or not isinstance(name, str) or not name:
        name = text.partition(NESTED)[0].strip().partition("\n")[0].strip()
    return name


def guard(reason: str) -> str:
    """The guard that failed, on one line, without the frame's number, the code it is for and Dynamo's advice."""
    line = re.sub(r"^\d+/\d+: ", "", reason.strip()).partition("\n")[0]
    return re.split(r"\s\s+#|\s*\(HINT:", line, maxsplit=1)[0].strip() or line.strip()


def _count(sites: dict[tuple[str, int, str], Site], site: Site) -> None:
    key = (site.path, site.line, site.what)
    if key in sites:
        sites[key].count += 1
        sites[key].detail = sites[key].detail or site.detail
    else:
        sites[key] = site


def _function(name: str) -> str:
    """A resumed frame's name is the function it resumes."""
    match = re.match(r"torch_dynamo_resume_in_(.*)_at_\d+$", name)
    return match[1] if match else name
