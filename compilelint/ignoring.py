"""The comment that suppresses a finding: where it can stand, how it joins one that is there, and all at once."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from compilelint.finding import Edit, Finding
from compilelint.fix.edits import LineIndex, apply_edits
from compilelint.fix.write import read_source, write_source
from compilelint.suppress import read_comments

_CODES = re.compile(r"ignore\s*\[[^\]]*(?=\])", re.IGNORECASE)


def ignore(text: str, finding: Finding) -> Edit | None:
    """The edit with which a comment suppresses the finding; None where no comment fits, or one can't be read."""
    ends = _line_ends(text)
    comments = read_comments(text)
    index = LineIndex(text)
    wanted = (finding.span.line, finding.statement_line or finding.span.line)
    for line in dict.fromkeys(comments.string_ends.get(line, line) for line in wanted):
        if line not in ends:
            continue  # inside a string, or before a backslash
        own = next((found for found in comments.by_line.get(line, ()) if found.ours), None)
        if own is None:
            end = index.starts[line - 1] + ends[line]
            return Edit(end, end, f"  # compilelint: ignore[{finding.code}]")
        start = index.starts[line - 1] + own.column - 1
        codes = _CODES.search(text, start, start + len(own.text))
        if not own.malformed and codes is not None:
            is_listed = finding.code in re.findall(r"\w+", codes.group())
            return Edit(codes.end(), codes.end(), "" if is_listed else f", {finding.code}")
    return None


def ignore_all(findings: Sequence[Finding]) -> tuple[int, list[Finding]]:
    """Writes a comment for each finding: how many were suppressed, and those for which no comment fits.

    Files are written whole. Raises WriteError.
    """
    number, left = 0, []
    for path, group in groupby(findings, key=lambda finding: finding.span.path):
        source = read_source(Path(path))
        text = source.text
        for finding in group:  # comments are added at the ends of lines: positions stay
            edit = ignore(text, finding)
            if edit is None:
                left.append(finding)
                continue
            text = apply_edits(text, (edit,))
            number += 1
        if text != source.text:
            write_source(source, text)
    return number, left


def _line_ends(text: str) -> dict[int, int]:
    """Line → the column at which a comment may be added: behind what stands there."""
    ends: dict[int, int] = {}
    last = (0, 0)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
                line, column = last if last[0] == token.start[0] else token.start
                ends.setdefault(line, column)
            last = token.end
    except (tokenize.TokenError, SyntaxError):
        pass  # no finding stands behind what can't be read
    return ends
