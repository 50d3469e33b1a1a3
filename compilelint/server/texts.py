"""A document's text and its positions, in the units that the client counts in."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from lsprotocol import types
from pygls.workspace import PositionCodec

from compilelint.api import Edit, Finding

NEWLINE = re.compile(r"\r\n|\r|\n")  # as the protocol says, and Python; str.splitlines knows more


@dataclass(frozen=True)
class Target:
    """What is to be edited in one document."""

    uri: str
    version: int
    edits: Sequence[types.TextEdit]


@dataclass(frozen=True)
class Text:
    content: str
    codec: PositionCodec

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in NEWLINE.finditer(self.content))]

    @cached_property
    def lines(self) -> list[str]:
        """Without what ends them."""
        return NEWLINE.split(self.content)

    def at(self, line: int, column: int) -> types.Position:
        """The position of a line and column as findings have them, counted from 1, in characters."""
        line = min(line, len(self.lines))
        return types.Position(line - 1, self.codec.client_num_units(self.lines[line - 1][: column - 1]))

    def position(self, offset: int) -> types.Position:
        line = bisect_right(self._starts, offset)
        return self.at(line, offset - self._starts[line - 1] + 1)

    def offset(self, position: types.Position) -> int:
        """What lies behind the end of a line, or of the text, stands for that end."""
        if position.line >= len(self.lines):
            return len(self.content)
        units = 0
        for column, char in enumerate(line := self.lines[position.line]):
            if units >= position.character:
                return self._starts[position.line] + column
            units += self.codec.client_num_units(char)
        return self._starts[position.line] + len(line)

    def range(self, finding: Finding) -> types.Range:
        span = finding.span
        return types.Range(self.at(span.line, span.column), self.at(span.end_line, span.end_column))

    def line(self, number: int) -> types.Range:
        """What is written on a line, counted from 1."""
        number = min(number, len(self.lines))
        text = self.lines[number - 1]
        indent = len(text) - len(text.lstrip())
        return types.Range(self.at(number, indent + 1), self.at(number, len(text) + 1))

    def edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        ordered = sorted(set(edits), key=lambda edit: (edit.start, edit.end))
        return [
            types.TextEdit(types.Range(self.position(edit.start), self.position(edit.end)), edit.text)
            for edit in ordered
        ]

    def rewritten(self, content: str) -> list[types.TextEdit]:
        """The edits, by whole lines, that make this text another: cursors and marks elsewhere stay."""
        old, new = self.content.splitlines(keepends=True), content.splitlines(keepends=True)
        starts = [0]
        for line in old:
            starts.append(starts[-1] + len(line))
        changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return self.edits(
            Edit(starts[i1], starts[i2], "".join(new[j1:j2])) for kind, i1, i2, j1, j2 in changes if kind != "equal"
        )

    def changed(self, change: types.TextDocumentContentChangeEvent) -> Text:
        """The text after the client's change."""
        if not isinstance(change, types.TextDocumentContentChangePartial):
            return Text(change.text, self.codec)
        start, end = self.offset(change.range.start), self.offset(change.range.end)
        return Text(self.content[:start] + change.text + self.content[end:], self.codec)

    def applied(self, edits: Iterable[types.TextEdit]) -> str:
        """The content after edits of which none overlap."""
        after = self.content
        for edit in sorted(edits, key=lambda edit: self.offset(edit.range.start), reverse=True):
            after = after[: self.offset(edit.range.start)] + edit.new_text + after[self.offset(edit.range.end) :]
        return after

    # -- where the editor has it: a notebook's text is that of its cells ----------------------------------------------

    def inside(self, uri: str, where: types.Range) -> types.Range:
        """The range of this text for one in the document of that uri."""
        return where

    def location(self, uri: str, where: types.Range) -> types.Location:
        """Where a range of this text, the document of that uri, is shown."""
        return types.Location(uri, where)

    def targets(self, uri: str, version: int, edits: Sequence[types.TextEdit]) -> list[Target] | None:
        """What edits of this text are to the editor; None where they can't be made."""
        return [Target(uri, version, edits)]
