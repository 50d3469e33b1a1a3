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
from compilelint.suppress import Suppression, read_comments

_CODES = re.compile(r"ignore\s*\[[^\]]*(?=\])", re.IGNORECASE)


def ignore(text: str, finding: Finding) -> Edit | None:
    """The edit with which a comment suppresses the finding; None where no comment fits, or one can't be read."""
    places = _Places(text)
    line = places.line(finding)
    return places.edit(line, [finding.code]) if line else None


class _Places:
    """Where comments that suppress can stand in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = _line_ends(text)
        self._comments = read_comments(text)
        self._starts = LineIndex(text).starts

    def line(self, finding: Finding) -> int:
        """The line for a comment about a finding; 0 where none fits."""
        wanted = (finding.span.line, finding.statement_line or finding.span.line)
        for line in dict.fromkeys(self._comments.string_ends.get(line, line) for line in wanted):
            # others are inside a string, or before a backslash
            if line in self._ends and (self._own(line) is None or self._codes(line) is not None):
                return line
        return 0

    def edit(self, line: int, codes: Sequence[str]) -> Edit:
        """A new comment with these codes, or those of them that the comment of such a line lacks."""
        listed = self._codes(line)
        if listed is None:
            end = self._starts[line - 1] + self._ends[line]
            return Edit(end, end, f"  # compilelint: ignore[{', '.join(codes)}]")
        known = re.findall(r"\w+", listed.group())
        return Edit(listed.end(), listed.end(), "".join(f", {code}" for code in codes if code not in known))

    def _own(self, line: int) -> Suppression | None:
        return next((found for found in self._comments.by_line.get(line, ()) if found.ours), None)

    def _codes(self, line: int) -> re.Match[str] | None:
        """The codes of the comment of ours that is there; None where it has none, or can't be read."""
        own = self._own(line)
        if own is None or own.malformed:
            return None
        start = self._starts[line - 1] + own.column - 1
        return _CODES.search(self._text, start, start + len(own.text))


def ignore_all(findings: Sequence[Finding]) -> tuple[int, list[Finding]]:
    """Writes a comment for each finding: how many were suppressed, and those for which no comment fits.

    Files are written whole. Raises WriteError.
    """
    number, left = 0, []
    for path, group in groupby(findings, key=lambda finding: finding.span.path):
        source = read_source(Path(path))
        places = _Places(source.text)
        wanted: dict[int, dict[str, None]] = {}
        for finding in group:
            if line := places.line(finding):
                wanted.setdefault(line, {})[finding.code] = None
                number += 1
            else:
                left.append(finding)
        edits = [places.edit(line, list(codes)) for line, codes in wanted.items()]
        text = apply_edits(source.text, edits)
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
