"""One line a finding, as editors and grep read it: `path:line:column: CODE message`."""

from __future__ import annotations

from collections.abc import Sequence

from compilelint.escaping import escape
from compilelint.finding import Finding
from compilelint.report.run import Run


def write(findings: Sequence[Finding], run: Run) -> str:
    return "".join(_line(finding, run) + "\n" for finding in findings)


def _line(finding: Finding, run: Run) -> str:
    span = finding.span
    return f"{escape(run.place(span.path, span.line))}:{span.column}: {finding.code} {escape(finding.message)}"
