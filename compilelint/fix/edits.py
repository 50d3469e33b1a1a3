"""Edits of text: positions, overlap, application, and the diff. Text alone: neither trees nor files."""

from __future__ import annotations

import ast
import difflib
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from compilelint.finding import Edit
from compilelint.source.lines import NEWLINE
from compilelint.source.notebook import script


@lru_cache(maxsize=8)
def line_index(text: str) -> LineIndex:
    """The index of a text, remembered: it is asked for at each finding."""
    return LineIndex(text)


class OverlapError(ValueError):
    """Two edits that change the same place."""


class LineIndex:
    """Where lines start in a text. `ast` counts lines from 1 and columns in UTF-8 bytes; offsets count characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in NEWLINE.finditer(text))]

    def offset(self, line: int, byte_column: int) -> int:
        """The offset of an ast position (`lineno`, `col_offset`)."""
        start = self.starts[line - 1]
        if line == 1 and self.text.startswith("\ufeff"):
            start += 1  # a byte order mark belongs to no line
        if byte_column == 0:
            return start
        piece = self.text[start : start + byte_column]
        if piece.isascii():
            return start + byte_column
        return start + len(piece.encode("utf-8", "surrogatepass")[:byte_column].decode("utf-8", "surrogatepass"))

    def line(self, offset: int) -> int:
        """The 1-based line that an offset is on."""
        return bisect_right(self.starts, offset)

    def line_start(self, offset: int) -> int:
        return self.starts[self.line(offset) - 1]

    def line_end(self, offset: int) -> int:
        """The offset of the line's newline, or of the end of the text."""
        match = NEWLINE.search(self.text, offset)
        return match.start() if match else len(self.text)

    def next_line(self, offset: int) -> int:
        """The offset at which the next line starts, or the end of the text."""
        line = self.line(offset)
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def newline_near(self, offset: int) -> str:
        """The newline of the line at `offset`; on the last line that of the line before; else the commonest one."""
        here = NEWLINE.match(self.text, self.line_end(offset))
        if here is not None:
            return here[0]
        start = self.line_start(offset)
        return (_ending(self.text, start) if start else None) or self.newline

    @cached_property
    def newline(self) -> str:
        """The newline that most lines of the text end in."""
        counts: dict[str, int] = {}
        for match in NEWLINE.finditer(self.text):
            counts[match[0]] = counts.get(match[0], 0) + 1
        return max(counts, key=lambda ending: counts[ending]) if counts else "\n"


def _ending(text: str, end: int) -> str | None:
    if text.endswith("\r\n", 0, end):
        return "\r\n"
    return text[end - 1] if text[end - 1] in "\r\n" else None


def parses(text: str) -> str | None:
    """None when the text is Python; else what is wrong with it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        if (masked := script(text)) is not None:
            return parses(masked)
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def order(edit: Edit) -> tuple[int, int, str]:
    return edit.start, edit.end, edit.text


def conflict(first: Edit, second: Edit) -> bool:
    """Whether the outcome of both would depend on their order, or one would undo the other. Symmetric."""
    if order(first) > order(second):
        first, second = second, first
    if first == second:
        return not is_import(first)
    if first.start == second.start:
        return True
    return second.start < first.end


@lru_cache(maxsize=1024)
def is_import(edit: Edit) -> bool:
    """An edit that inserts import statements and nothing else: two fixes may want the same one."""
    if edit.start != edit.end or "import" not in edit.text:
        return False
    try:
        body = ast.parse(edit.text).body
    except (SyntaxError, ValueError):
        return False
    return bool(body) and all(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in body)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. Identical ones count once; raises OverlapError where two touch the same place."""
    pieces: list[str] = []
    position = 0
    last: Edit | None = None
    for edit in sorted(set(edits), key=order):
        if not 0 <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit.start}-{edit.end} lies outside a text of {len(text)} characters")
        if edit.start < position or (last is not None and edit.start == last.start):
            raise OverlapError(f"two edits at {edit.start}")
        pieces += text[position : edit.start], edit.text
        position = edit.end
        last = edit
    pieces.append(text[position:])
    return "".join(pieces)


@dataclass(frozen=True)
class Group:
    """The edits of one fix: applied together or not at all. `key` tells it from the others, and orders equals."""

    key: tuple[object, ...]
    edits: tuple[Edit, ...]

    @cached_property
    def imports(self) -> tuple[Edit, ...]:
        """The imports it adds: they stand apart, and don't count when asking whether two fixes meet."""
        return tuple(sorted({edit for edit in self.edits if is_import(edit)}, key=order))

    @cached_property
    def changes(self) -> tuple[Edit, ...]:
        imports = set(self.imports)
        return tuple(sorted({edit for edit in self.edits if edit not in imports}, key=order))

    @cached_property
    def hull(self) -> tuple[int, int]:
        """From its first change to its last. Between them lies code that the fix may have counted on."""
        edits = self.changes or self.imports
        return edits[0].start, max(edit.end for edit in edits)


def compatible(first: Group, second: Group) -> bool:
    """Whether two fixes can be applied in the same round."""
    if any(conflict(a, b) for a in first.imports for b in second.imports):
        return False
    if any(
        conflict(a, b) for one, other in ((first, second), (second, first)) for a in one.imports for b in other.changes
    ):
        return False
    if not first.changes or not second.changes:
        return True
    (_, a_end), (b_start, _) = sorted((first.hull, second.hull))
    if a_end == b_start:  # side by side: only an insertion there has no place of its own
        return not any(edit.start == edit.end == a_end for edit in (*first.changes, *second.changes))
    return a_end < b_start


def choose(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """(chosen, left): in order of position, each group that meets none chosen before, however `groups` is ordered."""
    chosen: list[Group] = []
    left: list[Group] = []
    last: list[Group] = []  # of those chosen, the last that changes something: it reaches furthest
    importing: dict[Edit, Group] = {}  # and one for each import
    for group in sorted((group for group in groups if group.edits), key=_rank):
        others = [*last, *importing.values()] if importing.keys() >= set(group.imports) else chosen
        if all(compatible(group, other) for other in others):
            chosen.append(group)
            last = [group] if group.changes else last
            importing.update(dict.fromkeys(group.imports, group))
        else:
            left.append(group)
    return chosen, left


def _rank(group: Group) -> tuple[object, ...]:
    return (*group.hull, [order(edit) for edit in group.edits], tuple(str(part) for part in group.key))


def map_back(offset: int, edits: Iterable[Edit]) -> int:
    """The place in the text before `edits` for an offset in the text after them."""
    shift = 0
    for edit in sorted(set(edits), key=order):
        start = edit.start + shift
        if offset < start:
            break
        if offset < start + len(edit.text):
            return edit.start
        shift += len(edit.text) - (edit.end - edit.start)
    return offset - shift


def _diff_lines(text: str) -> list[str]:
    """The lines as `patch` and git see them: ended by a line feed alone."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def unified_diff(
    before: str, after: str, path: str, *, notes: Sequence[tuple[int, int, str]] = (), context: int = 3
) -> str:
    """A diff that `patch` and `git apply` read; "" for equal texts.

    `notes` are (first line, last line, note) of `before`. Each hunk names in its heading those whose lines it changes,
    and changes of different notes are in hunks of their own where two lines or more stand between them.
    """
    if before == after:
        return ""
    name = path.replace("\\", "/")
    old, new = _diff_lines(before), _diff_lines(after)
    out = [f"{mark} {_quoted(side + name.lstrip('/'))}\n" for mark, side in (("---", "a/"), ("+++", "b/"))]
    changes = [op[1:] for op in difflib.SequenceMatcher(None, old, new).get_opcodes() if op[0] != "equal"]
    for hunk, lead, trail in _hunks(changes, notes, len(old), context):
        if lead > trail and hunk[-1][1] + trail < len(old):
            lead = trail  # `patch` takes a hunk with less context behind it for the file's end
        elif trail > lead and hunk[0][0] > lead:
            trail = lead
        titles = dict.fromkeys(note for change in hunk for note in _notes_of(change, notes))
        heading = f" {'; '.join(titles)}" if titles else ""
        (i1, _, j1, _), (_, i2, _, j2) = hunk[0], hunk[-1]
        old_range, new_range = _range(i1 - lead, i2 + trail), _range(j1 - lead, j2 + trail)
        out.append(f"@@ -{old_range} +{new_range} @@{heading}\n")
        at = i1 - lead
        for a, b, c, d in hunk:
            out += _body(" ", old[at:a]) + _body("-", old[a:b]) + _body("+", new[c:d])
            at = b
        out += _body(" ", old[at : i2 + trail])
    return "".join(out)


Change = tuple[int, int, int, int]  # old lines [a, b) become new lines [c, d)
Note = tuple[int, int, str]


def _hunks(
    changes: Sequence[Change], notes: Sequence[Note], length: int, context: int
) -> Iterator[tuple[list[Change], int, int]]:
    """The changes of each hunk, and how many lines of context stand before and behind them.

    `patch` and `git apply` want a line of context on each side at least, and no line twice.
    """
    hunk: list[Change] = []
    lead = 0
    for n, change in enumerate(changes):
        if not hunk:
            lead = min(context, change[0]) if n == 0 else lead
        hunk.append(change)
        if n + 1 == len(changes):
            yield hunk, lead, min(context, length - change[1])
            return
        gap = changes[n + 1][0] - change[1]
        alike = _notes_of(change, notes) == _notes_of(changes[n + 1], notes)
        if gap < 2 or (alike and gap <= 2 * context):
            continue
        trail = min(context, gap // 2)
        yield hunk, lead, trail
        hunk, lead = [], min(context, gap - trail)


def _notes_of(change: Change, notes: Sequence[Note]) -> list[str]:
    """The notes on lines that a change replaces, or between which it inserts."""
    start, stop = change[:2]
    if start < stop:
        return [note for first, last, note in notes if first <= stop and start < last]
    return [note for first, last, note in notes if first <= start + 1 and start <= last]


_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def _quoted(name: str) -> str:
    """A path as git writes it in a diff: what a header or a terminal would misread is quoted as in C."""
    if '"' not in name and name.isprintable():
        return name
    parts = []
    for char in name:
        if char in _ESCAPES:
            parts.append(_ESCAPES[char])
        elif char.isprintable() or char == " ":
            parts.append(char)
        else:
            parts += [f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape")]
    return f'"{"".join(parts)}"'


def _body(mark: str, lines: Sequence[str]) -> list[str]:
    return [mark + line + ("" if line.endswith("\n") else "\n\\ No newline at end of file\n") for line in lines]


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
