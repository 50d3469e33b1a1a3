"""GitLab's code quality report (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from compilelint.escaping import escape
from compilelint.finding import Finding, Severity
from compilelint.report.fingerprints import fingerprints
from compilelint.report.run import Run

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def write(findings: Sequence[Finding], run: Run) -> str:
    entries = [
        {
            "description": escape(f"{finding.code}: {finding.message}"),
            "check_name": finding.code,
            "fingerprint": mark,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": finding.span.path,
                "lines": {
                    "begin": run.on_disk(finding.span.path, finding.span.line),
                    "end": run.on_disk(finding.span.path, finding.span.end_line),
                },
            },
        }
        for finding, mark in zip(findings, fingerprints(findings, run), strict=True)
    ]
    return json.dumps(entries, indent=2) + "\n"
