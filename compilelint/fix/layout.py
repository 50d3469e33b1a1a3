"""Layout of Python text: indentation, comments, and the lines that belong to string literals."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from compilelint.fix.errors import CannotFix
from compilelint.source.lines import NEWLINE, lines_of

_OPENING = frozenset(getattr(tokenize, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, name))
_CLOSING = frozenset(getattr(tokenize, name) for name in ("FSTRING_END", "TSTRING_END") if hasattr(tokenize, name))
PRAGMA = re.compile(r"#\s*(noqa|type:|fmt:|isort:|pylint:|pragma:|pyright:|mypy:|ruff:|compilelint:|nosec|yapf:)", re.I)
BLANKS = " \t\x0c"


@dataclass(frozen=True)
class Lines:
    """What stands on the lines of some code, by 0-based line number."""

    literal: frozenset[int]  # lines that start inside a string literal: their indentation is content
    inner: frozenset[int]  # lines that continue a logical line, inside brackets or after a backslash
    comments: tuple[tuple[int, int, str], ...]  # line, column, text

    def moved(self, by: int) -> Lines:
        """The same for code that has that many lines more before it."""
        return Lines(
            frozenset(line + by for line in self.literal),
            frozenset(line + by for line in self.inner),
            tuple((line + by, column, text) for line, column, text in self.comments),
        )


def tokens(code: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of whole statements, whatever their newlines. Raises CannotFix."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(NEWLINE.sub("\n", code)).readline)
    except (tokenize.TokenError, SyntaxError) as error:
        raise CannotFix(f"not Python: {error}") from None


def scan(code: str) -> Lines:
    """Tokenize code that starts at the margin (see `framed` for an indented piece)."""
    literal: set[int] = set()
    inner: set[int] = set()
    comments: list[tuple[int, int, str]] = []
    depth: list[int] = []
    logical = -1  # line on which the logical line at hand starts; -1 between two
    for token in tokens(code):
        first, last = token.start[0] - 1, token.end[0] - 1
        if token.type == tokenize.STRING:
            literal.update(range(first + 1, last + 1))
        elif token.type in _OPENING:
            depth.append(first)
        elif token.type in _CLOSING:
            literal.update(range(depth.pop() + 1, last + 1))
        elif token.type == tokenize.COMMENT:
            comments.append((first, token.start[1], token.string))
            continue
        if token.type == tokenize.NEWLINE:
            inner.update(range(logical + 1, first + 1))
            logical = -1
        elif logical < 0 and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            logical = first
    return Lines(frozenset(literal), frozenset(inner - literal), tuple(comments))


def framed(piece: str, indent: str) -> str:
    """A piece of a block, whose first line lost its indentation, as a block of its own: one line is put before."""
    return f"if 1:\n{indent}{piece}" if indent else f"if 1: pass\n{piece}"


def scan_piece(piece: str, indent: str) -> Lines:
    """Like `scan`, for statements cut from a block (columns on the first line count the indentation)."""
    return scan(framed(piece, indent)).moved(-1)


def leading(line: str) -> str:
    """The whitespace a line starts with."""
    return line[: len(line) - len(line.lstrip(BLANKS))]


def dedent(code: str) -> str:
    """Code moved to the margin; blank lines around it go, and what string literals hold stays. Newlines become LF."""
    lines = lines_of(code)
    while len(lines) > 1 and not lines[0].strip():
        lines.pop(0)
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    margin = leading(lines[0])
    if margin:
        found = scan(f"if 1:\n{_join(lines)}\n")
        literal = {line - 1 for line in found.literal}
        lines = [line if n in literal else line.removeprefix(margin) for n, line in enumerate(lines)]
    return _join(lines)


def indent(code: str, prefix: str, *, first: bool = True) -> str:
    """Code at the margin with `prefix` before each line, except inside string literals. Newlines become LF."""
    lines = lines_of(code)
    if not prefix or (len(lines) == 1 and not first):
        return _join(lines)
    literal = scan(_join(lines) + "\n").literal if len(lines) > 1 else frozenset()
    return _join(
        [
            line if n in literal or not line.strip() or (n == 0 and not first) else prefix + line
            for n, line in enumerate(lines)
        ]
    )


def with_unit(code: str, unit: str) -> str:
    """Code at the margin whose blocks are indented by four spaces, as templates are, with the file's unit instead."""
    lines = lines_of(code)
    if unit == "    " or len(lines) == 1:
        return _join(lines)
    found = scan(_join(lines) + "\n")
    blocks = [n for n, line in enumerate(lines) if line.strip() and n not in found.literal and n not in found.inner]
    leads = {n: leading(lines[n]) for n in blocks}
    if any(lead.strip(" ") or len(lead) % 4 for lead in leads.values()):
        return _join(lines)
    for n, lead in leads.items():
        lines[n] = unit * (len(lead) // 4) + lines[n][len(lead) :]
    return _join(lines)


def _join(lines: list[str]) -> str:
    return "\n".join(lines)


_HEADER = re.compile(
    r"^([ \t]*)(?:async|class|def|elif|else|except|finally|for|if|try|while|with)\b[^\r\n]*:[ \t]*(?:#[^\r\n]*)?"
    r"(?:\r\n?|\n)(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n))*([ \t]+)(?=[^\s#])",
    re.MULTILINE,
)


def block_unit(text: str) -> str:
    """What one level of indentation is in a file: that of its first indented block, four spaces where there is none."""
    for match in _HEADER.finditer(text):
        outer, inside = match[1], match[2]
        if inside.startswith(outer) and len(inside) > len(outer):
            return inside[len(outer) :]
    return "    "
