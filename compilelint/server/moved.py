"""Findings while a text can't be parsed: those of before, where the lines are the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from compilelint.api import Finding


def moved(findings: Iterable[Finding], before: Sequence[str], after: Sequence[str]) -> list[Finding]:
    """The findings in the lines that two texts have in common, above and below all that differs."""
    above = _common(before, after)
    most = min(len(before), len(after)) - above
    below = len(before) - _common(before[::-1][:most], after[::-1][:most])
    shift = len(after) - len(before)
    kept = []
    for finding in findings:
        if finding.span.end_line <= above:
            kept.append(finding)
        elif finding.span.line > below:
            kept.append(_shifted(finding, shift))
    return kept


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many lines both begin with."""
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def _shifted(finding: Finding, lines: int) -> Finding:
    span = finding.span
    span = replace(span, line=span.line + lines, end_line=span.end_line + lines)
    statement = finding.statement_line + lines if finding.statement_line else 0
    return replace(finding, span=span, statement_line=statement)
