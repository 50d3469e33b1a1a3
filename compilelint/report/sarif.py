"""SARIF 2.1.0, as code scanning services read it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from compilelint.escaping import escape
from compilelint.finding import Finding, FixPlan, Severity
from compilelint.report.fingerprints import fingerprints
from compilelint.report.run import RuleDoc, Run

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LINK = re.compile(r"\[([^\[\]]*)\]\(")
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def write(findings: Sequence[Finding], run: Run) -> str:
    rules = list(run.rules())
    invocation: dict[str, Any] = {"executionSuccessful": not run.failures}
    if run.failures:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": _text(failure)} for failure in run.failures
        ]
    driver = {
        "name": "compilelint",
        "version": run.version,
        "semanticVersion": run.version,
        "rules": [_rule(rule) for rule in rules],
    }
    report = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [invocation],
                "results": _results(findings, run),
                "properties": {"torch": run.torch, "files": run.files},
            }
        ],
    }
    return json.dumps(report, indent=2) + "\n"


def _rule(rule: RuleDoc) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.text, "markdown": rule.text},
        "properties": {"tags": list(rule.effects)},
    }


def _results(findings: Sequence[Finding], run: Run) -> list[dict[str, Any]]:
    index = {rule.code: position for position, rule in enumerate(run.rules())}
    return [
        _result(finding, index, run) | {"partialFingerprints": {"compilelint/v1": mark}}
        for finding, mark in zip(findings, fingerprints(findings, run), strict=True)
    ]


def _result(finding: Finding, index: dict[str, int], run: Run) -> dict[str, Any]:
    span = finding.span
    region = {"startLine": run.on_disk(span.path, span.line), "endLine": run.on_disk(span.path, span.end_line)}
    if not run.cell(span.path, span.line)[0]:
        region |= {"startColumn": span.column, "endColumn": span.end_column}
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": _text(_message(finding)),
        "locations": [_location(span.path, region)],
        "properties": {
            "effects": list(finding.effects),
            "region": {"kind": finding.region.kind, "root": finding.region.root, "why": finding.region.why},
            "gbTypes": list(finding.gb_types),
        },
    }
    if finding.code in index:
        result["ruleIndex"] = index[finding.code]
    if finding.trace:
        steps = [
            {
                **_location(step.path, {"startLine": run.on_disk(step.path, step.line)}),
                "message": _text(step.text),
            }
            for step in finding.trace
        ]
        result["relatedLocations"] = [{"id": number, **step} for number, step in enumerate(steps, 1)]
        flow = [*steps, {**result["locations"][0], "message": _text(finding.message)}]
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": step} for step in flow]}]}]
    if finding.fix is not None and finding.fix.edits and not run.cell(span.path, span.line)[0]:
        result["fixes"] = [_fix(finding.fix, span.path)]
    return result


def _fix(fix: FixPlan, path: str) -> dict[str, Any]:
    """Edits count the characters of the text, as `columnKind` says."""
    replacements = [
        {
            "deletedRegion": {"charOffset": edit.start, "charLength": edit.end - edit.start},
            "insertedContent": {"text": edit.text},
        }
        for edit in fix.edits
    ]
    text = f"{fix.title} ({fix.applicability.value}{': ' + fix.why if fix.why else ''})"
    change = {"artifactLocation": {"uri": _uri(path)}, "replacements": replacements}
    return {"description": _text(text), "artifactChanges": [change]}


def _text(text: str) -> dict[str, str]:
    """A message; brackets of code such as `layers[0](x)` make no link (SARIF 2.1.0, 3.11.6)."""
    return {"text": _LINK.sub(r"\\[\1\\](", escape(text))}


def _message(finding: Finding) -> str:
    if not finding.hint:
        return finding.message
    return f"{finding.message.rstrip('.')}. Help: {finding.hint.rstrip('.')}."


def _location(path: str, region: dict[str, int]) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": region}}


def _uri(path: str) -> str:
    pure = PurePath(path)
    if pure.is_absolute():
        return pure.as_uri()
    return quote(pure.as_posix(), errors="surrogateescape")
