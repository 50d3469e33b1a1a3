"""An outcome as JSON and back. Not pickled: to read that is to run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from compilelint.finding import Applicability, Finding, FixPlan, Region, Severity, Span, Stats, TraceStep
from compilelint.outcome import Outcome


def dump(outcome: Outcome) -> str:
    reads = outcome.reads
    return json.dumps(
        {
            "findings": [_row(finding) for finding in outcome.findings],
            "bounds": outcome.stats.bounds,
            "remarked": sorted(map(str, outcome.remarked)),
            "files": {str(path): known for path, known in reads.files.items()},
            "outside": sorted(map(str, reads.outside)),
            "own": _paths(reads.own),
            "installed": _paths(reads.installed),
            "templates": {str(folder): sorted(names) for folder, names in reads.templates.items()},
        },
        separators=(",", ":"),
    )


def loads(text: str) -> dict[str, Any]:
    """What `dump` wrote: what it depended on, as text, and what `outcome_of` makes of the rest. Raises ValueError."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("not an outcome")
    return data


def outcome_of(data: dict[str, Any]) -> Outcome:
    remarked = {Path(path) for path in data["remarked"]}
    return Outcome([_finding(row) for row in data["findings"]], Stats(bounds=data["bounds"]), remarked=remarked)


def _paths(found: dict[str, Path | None]) -> dict[str, str | None]:
    return {name: str(path) if path is not None else None for name, path in found.items()}


def _row(finding: Finding) -> list[Any]:
    span, region, fix = finding.span, finding.region, finding.fix
    return [
        finding.code,
        finding.name,
        finding.effects,
        finding.severity.value,
        [span.path, span.line, span.column, span.end_line, span.end_column],
        finding.message,
        [region.kind, region.root, region.why],
        finding.gb_types,
        finding.hint,
        [[step.path, step.line, step.text] for step in finding.trace],
        [fix.title, fix.applicability.value, fix.why] if fix is not None else None,
        finding.statement_line,
    ]


def _finding(row: list[Any]) -> Finding:
    code, name, effects, severity, span, message, region, gb_types, hint, trace, fix, statement_line = row
    return Finding(
        code,
        name,
        tuple(effects),
        Severity(severity),
        Span(*span),
        message,
        Region(*region),
        tuple(gb_types),
        hint,
        tuple(TraceStep(*step) for step in trace),
        FixPlan(fix[0], Applicability(fix[1]), fix[2]) if fix is not None else None,
        statement_line,
    )
