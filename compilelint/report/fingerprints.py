"""Names of findings that stay when lines above them come or go, for services that compare runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

from compilelint.finding import Finding
from compilelint.report.run import Run


def fingerprints(findings: Sequence[Finding], run: Run) -> list[str]:
    """For each finding 32 hexadecimal digits, of its rule, file and line of text, and which of those alike it is."""
    seen: Counter[str] = Counter()
    marks = []
    for finding in findings:
        lines = run.read_lines(finding.span.path)
        line = lines[finding.span.line - 1].strip() if finding.span.line <= len(lines) else ""
        text = "\0".join((finding.code, finding.span.path, line))
        marks.append(sha256(f"{text}\0{seen[text]}".encode("utf-8", "surrogateescape")).hexdigest()[:32])
        seen[text] += 1
    return marks
