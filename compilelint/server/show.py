"""Findings as the protocol has them: diagnostics, and what is said when the mouse rests on one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from compilelint.api import Finding, Severity
from compilelint.escaping import escape
from compilelint.server.pages import Pages
from compilelint.server.texts import Text

SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


def diagnostic(finding: Finding, text: Text, uri: str, pages: Pages) -> types.Diagnostic:
    """`uri`: of the document that the finding is in."""
    return types.Diagnostic(
        range=text.location(uri, text.range(finding)).range,
        message=escape(finding.message) + (f"\n{escape(finding.hint)}" if finding.hint else ""),
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(page) if (page := pages.uri(finding.code)) is not None else None,
        source="compilelint",
        tags=[types.DiagnosticTag.Unnecessary] if finding.name == "unused-suppression" else None,
        related_information=[
            types.DiagnosticRelatedInformation(_place(finding, step.path, step.line, text, uri), escape(step.text))
            for step in finding.trace
        ],
    )


def _place(finding: Finding, path: str, line: int, text: Text, uri: str) -> types.Location:
    if path == finding.span.path:
        return text.location(uri, text.line(line))
    start = types.Position(line - 1, 0)
    return types.Location(Path(path).absolute().as_uri(), types.Range(start, start))


def at(findings: Iterable[Finding], wanted: types.Range, text: Text) -> list[Finding]:
    """The findings that a range touches."""
    found = []
    for finding in findings:
        here = text.range(finding)
        if _order(here.start) <= _order(wanted.end) and _order(wanted.start) <= _order(here.end):
            found.append(finding)
    return found


def _order(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def hover(findings: list[Finding], text: Text, pages: Pages) -> types.Hover | None:
    """What was found here and why, then the rule's page."""
    if not findings:
        return None
    parts = [_said(finding) for finding in findings]
    parts += [page for code in dict.fromkeys(f.code for f in findings) if (page := pages.text(code))]
    where = text.location("", text.range(findings[0])).range
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)), where)


def _said(finding: Finding) -> str:
    lines = [f"**{finding.code}** {finding.message}"]
    if finding.effects:
        lines += ["", f"{', '.join(finding.effects)}; {finding.region.kind}: {finding.region.why}"]
    if finding.trace:
        lines += ["", *(f"- {Path(step.path).name}:{step.line}: {step.text}" for step in finding.trace)]
    if finding.hint:
        lines += ["", f"*{finding.hint}*"]
    if finding.fix is not None:
        why = f": {finding.fix.why}" if finding.fix.why else ""
        lines += ["", f"Fix ({finding.fix.applicability.value}): {finding.fix.title}{why}"]
    return "\n".join(escape(line) for line in lines)
