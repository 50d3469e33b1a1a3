"""GitHub workflow commands: an annotation for each finding."""

from __future__ import annotations

from collections.abc import Sequence

from compilelint.escaping import escape
from compilelint.finding import Finding, Severity
from compilelint.report.run import Run
from compilelint.report.text import fix_line, reason_lines

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def write(findings: Sequence[Finding], run: Run) -> str:
    lines = [_annotation(finding, run) for finding in findings]
    lines += [f"::error title=compilelint::{_data(failure)}" for failure in run.failures]
    return "".join(line + "\n" for line in lines)


def _annotation(finding: Finding, run: Run) -> str:
    span = finding.span
    fields = {
        "title": f"compilelint ({finding.code})",
        "file": span.path,
        "line": str(run.on_disk(span.path, span.line)),
        "endLine": str(run.on_disk(span.path, span.end_line)),
    }
    in_cell = run.cell(span.path, span.line)[0] > 0
    if span.line == span.end_line and not in_cell:  # columns count within one line only
        fields |= {"col": str(span.column), "endColumn": str(span.end_column)}
    listed = ",".join(f"{name}={_property(value)}" for name, value in fields.items())
    place = f"{run.place(span.path, span.line)}:{span.column}"
    text = "\n".join([f"{place}: {finding.code} {finding.message}", *reason_lines(finding, run), *fix_line(finding)])
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(text)}"


def _data(text: str) -> str:
    """Line ends as GitHub escapes them, other controls as the text report does."""
    return escape(text, keep="\r\n").replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
