"""Compile one function alone and say how Dynamo broke: what its counters and `explain` don't see (torch 2.11 to 2.14).

Two hooks see every break: `InstructionTranslatorBase.log_graph_break` (a break that Dynamo handles, also in inlined
callees, resumed frames and frames it gives up on) and `convert_frame.format_error_msg` (a frame given up without it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

SKIPPED_FRAME = ("Encountered graph break that we cannot resume from", "Failed to handle graph break gracefully")


class Dynamo:
    """Installs the hooks once; `measure` then compiles a function in a fresh state."""

    def __init__(self) -> None:
        import logging

        import torch
        from torch._dynamo import convert_frame, symbolic_convert

        self.torch = torch
        self.breaks: list[tuple[str, bool]] = []
        self.lines: set[int] = set()
        self.file = ""
        self.graphs = 0
        base: Any = symbolic_convert.InstructionTranslatorBase
        log, formatted = base.log_graph_break, convert_frame.format_error_msg

        def log_graph_break(
            translator: Any, code_options: Any, reason: str = "", exc: Any = None, *rest: Any, **kw: Any
        ) -> Any:
            if not getattr(exc, "logged", False):
                self.record(exc, reason.lstrip().startswith(SKIPPED_FRAME))
            return log(translator, code_options, reason, exc, *rest, **kw)

        def format_error_msg(exc: Any, *rest: Any, **kw: Any) -> Any:
            from torch._dynamo.exc import Unsupported, UserError

            if isinstance(exc, (Unsupported, UserError)) and not getattr(exc, "logged", False):
                self.record(exc, True)
            return formatted(exc, *rest, **kw)

        base.log_graph_break = log_graph_break
        convert_frame.format_error_msg = format_error_msg
        logging.getLogger("torch").setLevel(logging.CRITICAL)

    def record(self, exc: Any, skipped: bool) -> None:
        from torch._dynamo.exc import get_stack_above_dynamo

        self.breaks.append((gb_type(exc), skipped))
        stack = [*get_stack_above_dynamo(), *(getattr(exc, "real_stack", None) or [])]
        lines = [frame.lineno for frame in stack if frame.filename == self.file]
        self.lines.update(line for line in lines[-1:] if line is not None)

    def backend(self, module: Any, _inputs: Any) -> Any:
        self.graphs += 1
        return module.forward

    def measure(self, function: Callable[..., Any], arguments: Sequence[Any], file: str = "") -> dict[str, Any]:
        """{} when the function compiles to whole graphs, else {"gb_type": …, "effect": "split" | "skip" | "error"}.

        `self.lines` then holds the lines of `file` that broke: of each break, that of the innermost frame there.
        """
        torch = self.torch
        torch._dynamo.reset()
        self.breaks, self.lines, self.graphs, self.file = [], set(), 0, file
        torch.manual_seed(0)
        error = ""
        try:
            torch.compile(function, backend=self.backend)(*arguments)
        except Exception as exc:
            error = f"{type(exc).__name__}: {exc}".split("\n")[0][:120]
        finally:
            torch._dynamo.reset()
            torch.set_grad_enabled(True)
            torch.set_default_dtype(torch.float32)
        if self.breaks:
            return {
                "gb_type": self.breaks[0][0],
                "effect": "skip" if any(skipped for _, skipped in self.breaks) else "split",
            }
        if error:
            return {"gb_type": error, "effect": "error"}
        return {}


def gb_type(exc: Any) -> str:
    """The type of a graph break as the registry names it (a UserError: its kind)."""
    name = getattr(exc, "gb_type", None)
    if isinstance(name, str) and name:
        return name
    kind = getattr(getattr(exc, "error_type", None), "name", "")
    first = str(getattr(exc, "msg", None) or exc).strip().split("\n")[0]
    return kind.lower().replace("_", " ") or first[:120]
