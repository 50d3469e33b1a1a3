"""SARIF 2.1.0, as code scanning services read it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from compilelint.finding import Finding, Severity
from compilelint.report.run import RuleDoc, Run

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def write(findings: Sequence[Finding], run: Run) -> str:
    rules = list(run.rules())
    invocation: dict[str, Any] = {"executionSuccessful": not run.failures}
    if run.failures:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": failure}} for failure in run.failures
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
    """The findings, each with a fingerprint that stays when lines above it come or go."""
    index = {rule.code: position for position, rule in enumerate(run.rules())}
    seen: Counter[str] = Counter()
    results = []
    for finding in findings:
        lines = run.read_lines(finding.span.path)
        line = lines[finding.span.line - 1].strip() if finding.span.line <= len(lines) else ""
        text = "\0".join((finding.code, finding.span.path, line))
        mark = sha256(f"{text}\0{seen[text]}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
        seen[text] += 1
        results.append(_result(finding, index, run) | {"partialFingerprints": {"compilelint/v1": mark}})
    return results


def _result(finding: Finding, index: dict[str, int], run: Run) -> dict[str, Any]:
    span = finding.span
    region = {"startLine": run.on_disk(span.path, span.line), "endLine": run.on_disk(span.path, span.end_line)}
    if not run.cell(span.path, span.line)[0]:
        region |= {"startColumn": span.column, "endColumn": span.end_column}
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
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
        result["relatedLocations"] = [
            {
                "id": number,
                **_location(step.path, {"startLine": run.on_disk(step.path, step.line)}),
                "message": {"text": step.text},
            }
            for number, step in enumerate(finding.trace, 1)
        ]
    return result


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
