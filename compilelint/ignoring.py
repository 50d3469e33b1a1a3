"""The comment that suppresses a finding: where it can stand, and how it joins one that is there."""

from __future__ import annotations

import io
import re
import tokenize

from compilelint.finding import Edit, Finding
from compilelint.fix.edits import LineIndex
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
            return Edit(codes.end(), codes.end(), f", {finding.code}")
    return None


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
