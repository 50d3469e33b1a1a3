"""The findings of a check as one page: by rule, by file, by root, in the source; with runs, what these measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from compilelint.escaping import as_html
from compilelint.finding import REGION_NAMES, Applicability, Finding, Severity
from compilelint.report.check_html.runs import runs_shown
from compilelint.report.check_html.source import anchor, files_shown
from compilelint.report.page import figures, page
from compilelint.report.run import Run
from compilelint.report.tables import Column, number, table

_SEARCH = (
    '<p class="search"><label>Search <input id="search" type="search" placeholder="code, path, words"></label> '
    '<label>At least <select id="least"><option value="0">note</option><option value="1">warning</option>'
    '<option value="2">error</option></select></label> <output id="found" aria-live="polite"></output></p>'
)


def write(findings: Sequence[Finding], run: Run) -> str:
    sections = [
        ("runs", "Before and after", runs_shown(run.runs)),
        ("rules", "By rule", _by_rule(findings, run)),
        ("files", "By file", _by(findings, "File", lambda f: f.span.path, _file_link)),
        ("regions", "By root", _by(findings, "Root", _root, lambda f: as_html(_root(f)))),
        ("findings", "Findings", _SEARCH + _findings(findings, run) if findings else ""),
        ("sources", "Sources", files_shown(findings, run)),
    ]
    versions = f"torch {run.torch}, compilelint {run.version}"
    header = f"<h1>compilelint check</h1><p>{run.files} files, {as_html(versions)}</p>"
    wrong = "".join(f"<li>{as_html(failure)}</li>" for failure in run.failures)
    return page("compilelint check", header, _figures(findings) + (f"<ul>{wrong}</ul>" if wrong else ""), sections)


def _figures(findings: Sequence[Finding]) -> str:
    by = Counter(finding.severity for finding in findings)
    fixes = Counter(finding.fix.applicability for finding in findings if finding.fix is not None)
    return figures(
        [
            (by[Severity.ERROR], "errors"),
            (by[Severity.WARNING], "warnings"),
            (by[Severity.NOTE], "notes"),
            (fixes[Applicability.SAFE], "with a safe fix"),
            (fixes[Applicability.UNSAFE], "with an unsafe fix"),
        ]
    )


def _by_rule(findings: Sequence[Finding], run: Run) -> str:
    docs = {rule.code: rule for rule in run.rules()}

    def told(finding: Finding) -> str:
        doc = docs.get(finding.code)
        text = (
            f"<details><summary>{as_html(doc.summary)}</summary><pre>{as_html(doc.text)}</pre></details>" if doc else ""
        )
        return f"{as_html(finding.code)} {as_html(finding.name)}{text}"

    return _by(findings, "Rule", lambda finding: finding.code, told)


def _by(findings: Sequence[Finding], name: str, key: Callable[[Finding], str], shown: Callable[[Finding], str]) -> str:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(key(finding), []).append(finding)
    rows = [(group[0], Counter(finding.severity for finding in group), len(group)) for group in groups.values()]
    columns: list[Column] = [
        (name, lambda row: shown(row[0])),
        ("All", lambda row: number(row[2])),
        *((f"{s.value}s".capitalize(), _counted(s)) for s in (Severity.ERROR, Severity.WARNING, Severity.NOTE)),
    ]
    return table(sorted(rows, key=lambda row: -row[2]), columns)


def _counted(severity: Severity) -> Callable[[Any], str]:
    return lambda row: number(row[1][severity])


def _root(finding: Finding) -> str:
    return f"{REGION_NAMES[finding.region.kind]}: {finding.region.root or 'no root'}"


def _file_link(finding: Finding) -> str:
    return f'<a href="#{anchor(finding.span.path, finding.span.line)}"><code>{as_html(finding.span.path)}</code></a>'


def _findings(findings: Sequence[Finding], run: Run) -> str:
    def place(finding: Finding) -> str:
        span = finding.span
        where = f"{run.place(span.path, span.line)}:{span.column}"
        return f'<a href="#{anchor(span.path, span.line)}"><code>{as_html(where)}</code></a>'

    def fix(finding: Finding) -> str:
        return as_html(f"{finding.fix.title} ({finding.fix.applicability.value})") if finding.fix else ""

    columns: list[Column] = [
        ("Severity", lambda f: f'<span class="mark at-{f.severity.value}">{f.severity.value}</span>'),
        ("Rule", lambda f: f"{as_html(f.code)} {as_html(f.name)}"),
        ("Place", place),
        ("Message", lambda f: as_html(f.message)),
        ("Effects", lambda f: as_html(", ".join(f.effects))),
        ("Fix", fix),
    ]
    return table(findings, columns)
