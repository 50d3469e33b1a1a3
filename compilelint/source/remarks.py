"""Which texts differ in comments alone."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass, field

from compilelint.source.lines import lines_of

_NO_CODE = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
)


@dataclass(slots=True)
class Remarks:
    """A text, to which others are compared. It is read only when one is like it at first sight."""

    text: str
    _ends: dict[int, int] | None = field(default=None, init=False)

    def only_differ(self, other: str) -> bool:
        """Whether another text has the same code on the same lines, and differs from this in what comments say."""
        old, new = lines_of(self.text), lines_of(other)
        if len(old) != len(new):
            return False
        changed = [n for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
        if any(_head(old[n]) != _head(new[n]) for n in changed):
            return False
        if self._ends is None:
            self._ends = _code_ends(self.text)
        for n in changed:
            end = self._ends.get(n + 1, 0)
            if end < 0 or old[n][:end] != new[n][:end] or not all(_is_remark(line[end:]) for line in (old[n], new[n])):
                return False
        return True


def _is_remark(rest: str) -> bool:
    return rest.lstrip()[:1] in ("", "#")


def _head(line: str) -> str:
    return line.partition("#")[0].rstrip()


def _code_ends(text: str) -> dict[int, int]:
    """Line → the column behind its code; -1 where a string goes on, or the next line belongs to it."""
    ends: dict[int, int] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type not in _NO_CODE:
                ends.update(dict.fromkeys(range(token.start[0], token.end[0]), -1))
                if ends.get(token.end[0], 0) >= 0:
                    ends[token.end[0]] = token.end[1]
    except (tokenize.TokenError, SyntaxError):
        return dict.fromkeys(range(1, text.count("\n") + 2), -1)
    return ends
