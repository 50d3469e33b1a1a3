"""What stands behind a recurrent module or a sparse tensor in its function: Dynamo gives up the frame there.

With `torch._dynamo.config.allow_rnn` off, its default: where a frame first touches an RNN, GRU or LSTM, "Attempted to
wrap RNN, GRU, or LSTM" skips the frame, or what is left of it, and so does "Attempted to wrap sparse Tensor" where it
first uses one that was there before (torch/_dynamo/variables/builder.py, seen on 2.13).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from compilelint.finding import Finding
from compilelint.source.module import Module

GIVES_UP = {"Attempted to wrap RNN, GRU, or LSTM", "Attempted to wrap sparse Tensor"}


def without_given_up(findings: Iterable[Finding], modules: Mapping[str, Module]) -> Iterator[Finding]:
    """The findings, but for breaks, and nothing else, at which Dynamo does not arrive."""
    found = list(findings)
    untraced: dict[str, list[range]] = {}
    for finding in found:
        if GIVES_UP.intersection(finding.gb_types) and finding.span.path in modules:
            lines = _behind(modules[finding.span.path], finding.statement_line)
            untraced.setdefault(finding.span.path, []).append(lines)
    for finding in found:
        ranges = untraced.get(finding.span.path, ())
        if finding.effects != ("graph-break",) or not any(finding.statement_line in lines for lines in ranges):
            yield finding


def _behind(module: Module, line: int) -> range:
    """The lines of the statements that follow the one at `line` in its block."""
    around: list[ast.AST] = [module.tree]
    for node in around:
        for _, block in ast.iter_fields(node):
            for part in block if isinstance(block, list) else ():
                if isinstance(part, ast.stmt) and part.lineno == line and not isinstance(part, ast.FunctionDef):
                    end = block[-1].end_lineno or block[-1].lineno
                    return range((part.end_lineno or line) + 1, end + 1)
                if isinstance(part, ast.match_case) or (
                    isinstance(part, (ast.stmt, ast.excepthandler)) and part.lineno <= line <= (part.end_lineno or line)
                ):
                    around.append(part)
    return range(0)
