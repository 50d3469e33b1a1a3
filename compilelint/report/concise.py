"""One line a finding, as editors and grep read it: `path:line:column: CODE message`."""

from __future__ import annotations

from collections.abc import Sequence

from compilelint.finding import Finding
from compilelint.report.run import Run
from compilelint.report.text import escape


def write(findings: Sequence[Finding], run: Run) -> str:
    return "".join(_line(finding) + "\n" for finding in findings)


def _line(finding: Finding) -> str:
    span = finding.span
    return f"{escape(span.path)}:{span.line}:{span.column}: {finding.code} {escape(finding.message)}"
