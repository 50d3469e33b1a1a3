"""The JSON report: one object, version 1. Keys are only ever added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from compilelint.finding import Finding
from compilelint.report.run import Run


def write(findings: Sequence[Finding], run: Run) -> str:
    report = {
        "version": 1,
        "compilelint": run.version,
        "torch": run.torch,
        "files": run.files,
        "findings": [entry(finding) for finding in findings],
    }
    return json.dumps(report, indent=2) + "\n"


def entry(finding: Finding) -> dict[str, Any]:
    """One finding as it stands in the report."""
    span, fix = finding.span, finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "effects": list(finding.effects),
        "severity": finding.severity.value,
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "message": finding.message,
        "region": {"kind": finding.region.kind, "root": finding.region.root, "why": finding.region.why},
        "gb_types": list(finding.gb_types),
        "hint": finding.hint,
        "trace": [{"path": step.path, "line": step.line, "text": step.text} for step in finding.trace],
        "fix": None if fix is None else {"applicability": fix.applicability.value, "title": fix.title, "why": fix.why},
    }
