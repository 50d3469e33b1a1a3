"""Numbers that Dynamo knows by the time they are used: one finding for each tensor that a graph is broken to read.

A 0-d tensor that is made before a break and used behind it is an input of the resumed function. On the CPU Dynamo reads
the number in such an input and guards on it (`item_memo` in torch/_subclasses/fake_tensor.py): using it doesn't break
again. On a GPU it does, and what mends the first use, a number that the host knows, mends all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compilelint.engine.values import Origin
from compilelint.finding import Finding, Severity
from compilelint.source.module import Module


def without_resumed(
    findings: Iterable[Finding], read: Mapping[int, Origin], modules: Mapping[str, Module]
) -> Iterator[Finding]:
    """The findings, but for those about a number whose tensor came through a break.

    `read` holds, by the id of a finding that is about such a number, where the number's tensor was made.
    """
    found = list(findings)
    breaks: dict[str, set[int]] = {}
    for finding in found:
        if id(finding) not in read and "graph-break" in finding.effects and finding.severity is not Severity.NOTE:
            breaks.setdefault(finding.span.path, set()).add(finding.span.line)
    for finding in sorted(found, key=lambda f: f.sort_key):
        origin = read.get(id(finding))
        if origin is None:
            yield finding
        elif not _came_through(finding, origin, breaks.get(origin.path, set()), modules):
            breaks.setdefault(finding.span.path, set()).add(finding.span.line)
            yield finding


def _came_through(finding: Finding, origin: Origin, breaks: set[int], modules: Mapping[str, Module]) -> bool:
    """Whether a break stands behind the making of the number, in its function, and before the use of it."""
    made = getattr(origin.node, "end_lineno", 0)
    start, end = _function(modules.get(origin.path), made)
    if origin.path == finding.span.path and start <= finding.span.line <= end:
        end = finding.span.line - 1
    return any(made < line <= end for line in breaks)


def _function(module: Module | None, line: int) -> tuple[int, int]:
    """The first and the last line of the innermost function around a line."""
    nodes = [info.node for info in module.functions] if module is not None else []
    around = [(n.lineno, n.end_lineno or n.lineno) for n in nodes if n.lineno <= line <= (n.end_lineno or n.lineno)]
    return max(around, default=(line, line))
