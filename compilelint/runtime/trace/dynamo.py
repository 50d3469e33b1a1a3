"""What Dynamo does while the program runs: graph breaks, frames given up, recompiles, graphs and the lines it traced.

`torch._dynamo.explain` and `counters["graph_break"]` see neither branches on data nor skipped frames. On torch 2.11 to
2.14 these functions of Dynamo see all of it:

- `InstructionTranslatorBase.log_graph_break` and `convert_frame.format_error_msg`: each break (runtime/breaks.py);
- `convert_frame.exception_handler`: a break under `fullgraph=True`, which is raised;
- `convert_frame.get_and_maybe_log_recompilation_reasons`: the guard that failed;
- `OutputGraph.call_user_compiler`: a graph on its way to the backend;
- `TracingContext.set_current_loc`: each line that is traced.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from typing import Any

from torch._dynamo import convert_frame, output_graph
from torch._dynamo.exc import Unsupported, UserError, get_stack_above_dynamo
from torch._dynamo.utils import counters
from torch._guards import TracingContext

from compilelint.runtime import breaks
from compilelint.runtime.places import outside
from compilelint.runtime.trace.journal import Journal
from compilelint.runtime.trace.record import Break, Graph, Recompile
from compilelint.runtime.trace.sources import Sources, running

_CONVERT: Any = convert_frame
_GRAPH: Any = output_graph.OutputGraph
_CONTEXT: Any = TracingContext
_NODE_PLACE = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


class Listener:
    """Writes to the journal what Dynamo does from now on, to the end of the process."""

    def __init__(self, sources: Sources, journal: Journal) -> None:
        self._sources, self._journal = sources, journal
        self._lines: set[tuple[str, int]] = set()
        self.paused = False
        breaks.hook(lambda exc, where, skipped: self._told(self._break, exc, where, "skip" if skipped else "split"))
        self._hook_raised()
        self._hook_recompiles()
        self._hook_graphs()
        self._hook_lines()

    def unseen(self) -> list[str]:
        """Reasons in Dynamo's own counters that no hook told of."""
        known = self._journal.gb_types()
        reasons = [str(reason).strip().partition("\n")[0] for reason in counters["graph_break"]]
        return [reason for reason in reasons if not any(reason.startswith(gb_type) for gb_type in known)]

    def _told(self, listener: Callable[..., None], *arguments: Any) -> None:
        """An error of ours must not become one of the program's."""
        if self.paused:
            return
        try:
            listener(*arguments)
        except Exception as error:  # noqa: BLE001
            self._journal.note(f"{listener.__name__} failed: {type(error).__name__}: {error}")

    def _break(self, exc: Any, where: tuple[str, int, str], effect: Any) -> None:
        real = [(each.filename, each.lineno or 0, each.name) for each in getattr(exc, "real_stack", None) or ()]
        frames = self._sources.frames([*_above(), *real])
        innermost = real[-1] if real else where
        place = self._sources.place(frames, *innermost)
        library = "" if self._sources.shown(innermost[0]) else f"{outside(innermost[0])}:{innermost[1]}"
        reason, hints, context = explanation(str(getattr(exc, "msg", None) or exc))
        self._journal.add(
            Break(
                place.path,
                place.line,
                place.function,
                stack=frames,
                gb_type=breaks.gb_type(exc),
                reason=reason,
                hints=hints,
                context=context,
                effect=effect,
                frame=where[2] if effect == "skip" else "",
                inside=library,
            )
        )

    def _hook_raised(self) -> None:
        original = _CONVERT.exception_handler

        def exception_handler(exc: Any, code: Any, *a: Any, **k: Any) -> Any:
            whole = sys._getframe(1).f_locals.get("one_graph", False)
            if whole and isinstance(exc, (Unsupported, UserError)) and not getattr(exc, "logged", False):
                where = (code.co_filename, code.co_firstlineno, code.co_name)
                self._told(self._break, exc, where, "raise")
            return original(exc, code, *a, **k)

        _CONVERT.exception_handler = exception_handler

    def _hook_recompiles(self) -> None:
        original = _CONVERT.get_and_maybe_log_recompilation_reasons

        def get_and_maybe_log_recompilation_reasons(entries: Any, frame: Any, *a: Any, **k: Any) -> Any:
            reasons = original(entries, frame, *a, **k)
            self._told(self._recompile, frame.f_code, reasons)
            return reasons

        _CONVERT.get_and_maybe_log_recompilation_reasons = get_and_maybe_log_recompilation_reasons

    def _recompile(self, code: Any, reasons: list[str]) -> None:
        frames = self._sources.frames(_above())
        place = self._sources.frames([(code.co_filename, code.co_firstlineno, code.co_name)])
        at = self._sources.place(place, code.co_filename, code.co_firstlineno, code.co_name)
        guard = breaks.guard(str(reasons[0])) if reasons else "unknown"
        self._journal.add(Recompile(at.path, at.line, at.function, stack=frames, guard=guard))

    def _hook_graphs(self) -> None:
        original = _GRAPH.call_user_compiler

        def call_user_compiler(graph: Any, module: Any, *a: Any, **k: Any) -> Any:
            start, kernels = time.perf_counter(), _generated()
            compiled = original(graph, module, *a, **k)
            self._told(self._graph, graph, module, time.perf_counter() - start, _generated() - kernels)
            return compiled

        _GRAPH.call_user_compiler = call_user_compiler

    def _graph(self, graph: Any, module: Any, seconds: float, kernels: int) -> None:
        nodes = [node for node in module.graph.nodes if node.op.startswith("call_")]
        code = graph.root_tx.f_code
        stack = [(code.co_filename, code.co_firstlineno, code.co_name)]
        if nodes:
            found = _NODE_PLACE.findall(nodes[0].meta.get("stack_trace") or nodes[0].stack_trace or "")
            stack += [(name, int(line), function) for name, line, function in found]
        frames = self._sources.frames(stack)
        at = self._sources.place(frames, *stack[0])
        (first,) = self._sources.frames(stack[:1]) or [at]
        ops = len(nodes)
        self._journal.add(Graph(at.path, at.line, first.function, ops=ops, compile_s=seconds, kernels=kernels))

    def _hook_lines(self) -> None:
        original = _CONTEXT.set_current_loc

        def set_current_loc(filename: str, line: int, *a: Any, **k: Any) -> Any:
            if (filename, line) not in self._lines:
                self._lines.add((filename, line))
                if line and (shown := self._sources.shown(filename)) is not None:
                    self._journal.line("traced", shown, line)
            return original(filename, line, *a, **k)

        _CONTEXT.set_current_loc = staticmethod(set_current_loc)


def _generated() -> int:
    """How many kernels Inductor has generated; it isn't imported for that."""
    metrics = sys.modules.get("torch._inductor.metrics")
    return 0 if metrics is None else int(metrics.generated_kernel_count)


def _above() -> list[tuple[str, int, str]]:
    """The stack that called into what is being compiled."""
    try:
        return [(each.filename, each.lineno or 0, each.name) for each in get_stack_above_dynamo()]
    except AttributeError:  # outside of a compilation
        return running(sys._getframe(1))


def explanation(message: str) -> tuple[str, list[str], str]:
    """Explanation, hints and debug context of the first break that Dynamo's message tells of."""
    parts: dict[str, list[str]] = {"Explanation": [], "Hint": [], "Developer debug context": []}
    lines = message.partition(breaks.NESTED)[0].strip().split("\n")
    current: list[str] | None = None
    for line in lines[1:]:
        label, colon, rest = line.strip().partition(":")
        if colon and label in parts:
            current = parts[label]
            current.append(rest.strip())
        elif not line.strip() or line.strip().startswith(("For more details", "from user code", "Set TORCH")):
            current = None
        elif current:
            current[-1] += " " + line.strip()
    first = [" ".join(found).strip() for found in (parts["Explanation"], parts["Developer debug context"])]
    return first[0] or (lines[0] if len(lines) == 1 else ""), parts["Hint"], first[1]
