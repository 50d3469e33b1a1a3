"""The JSON report: one object, version 1. Keys are only ever added."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from compilelint.finding import Finding, TraceStep
from compilelint.report.run import Run, no_cells


def write(findings: Sequence[Finding], run: Run) -> str:
    report = {
        "version": 1,
        "compilelint": run.version,
        "torch": run.torch,
        "files": run.files,
        "findings": [entry(finding, run.cell) for finding in findings],
    }
    return json.dumps(report, indent=2) + "\n"


def entry(finding: Finding, cell_of: Callable[[str, int], tuple[int, int]] = no_cells) -> dict[str, Any]:
    """One finding as it stands in the report. In a notebook `cell` is told, and lines count from its start."""
    span, fix = finding.span, finding.fix
    cell, line = cell_of(span.path, span.line)
    return {
        "code": finding.code,
        "name": finding.name,
        "effects": list(finding.effects),
        "severity": finding.severity.value,
        "path": span.path,
        **({"cell": cell} if cell else {}),
        "line": line,
        "column": span.column,
        "end_line": span.end_line - span.line + line,
        "end_column": span.end_column,
        "message": finding.message,
        "region": {"kind": finding.region.kind, "root": finding.region.root, "why": finding.region.why},
        "gb_types": list(finding.gb_types),
        "hint": finding.hint,
        "trace": [_step(step, cell_of) for step in finding.trace],
        "fix": None if fix is None else {"applicability": fix.applicability.value, "title": fix.title, "why": fix.why},
    }


def _step(step: TraceStep, cell_of: Callable[[str, int], tuple[int, int]]) -> dict[str, Any]:
    cell, line = cell_of(step.path, step.line)
    return {"path": step.path, **({"cell": cell} if cell else {}), "line": line, "text": step.text}
