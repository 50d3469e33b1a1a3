"""Adding and removing arguments of a call: commas, trailing commas, comments and the layout of one argument a line."""

from __future__ import annotations

import ast
import re

from compilelint.finding import Edit
from compilelint.fix.cst import CstFile, expression
from compilelint.fix.errors import CannotFix

_SPACE = re.compile(r"(?:[ \t\x0c\r\n]|\\(?=[\r\n])|#[^\r\n]*)*")


class ArgumentChanges:
    """What one fix does to the arguments of one call."""

    def __init__(self, file: CstFile, call: ast.Call) -> None:
        self.file = file
        self.call = call
        self.added: list[str] = []
        self.removed: set[int] = set()  # by number, in the order of the source
        parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        self.items = sorted(parts, key=lambda item: (item.lineno, item.col_offset))
        self.end = file.span(call)[1] - 1  # the closing parenthesis

    def add(self, code: str) -> None:
        code = code.strip()
        new = expression(f"f({code}\n)")
        if not isinstance(new, ast.Call) or len(new.args) + len(new.keywords) != 1:
            raise CannotFix(f"`{code}` is not one argument")
        kept = (item for number, item in enumerate(self.items) if number not in self.removed)
        names = {item.arg for item in kept if isinstance(item, ast.keyword)} - {None}
        names |= {each.partition("=")[0].strip() for each in self.added}
        if new.keywords and new.keywords[0].arg in names:
            raise CannotFix(f"the call has an argument `{new.keywords[0].arg}` already")
        self.added.append(code)

    def remove(self, which: str | int) -> None:
        for number, item in enumerate(self.items):
            if isinstance(which, str):
                found = isinstance(item, ast.keyword) and item.arg == which
            else:
                found = -len(self.call.args) <= which < len(self.call.args) and item is self.call.args[which]
            if found and number not in self.removed:
                self.removed.add(number)
                return
        raise CannotFix(f"the call has no argument {which!r}")

    def edits(self) -> list[Edit]:
        kept = [number for number in range(len(self.items)) if number not in self.removed]
        positional = [code for code in self.added if self._positional(code)]
        keywords = [code for code in self.added if not self._positional(code)]
        if not kept:
            return self._refill(positional + keywords)
        if self._bare_generator():
            return self._wrap_generator(positional, keywords)
        out = self._exchange(positional, keywords)
        kept = [number for number in range(len(self.items)) if number not in self.removed]
        first_keyword = next((n for n in kept if isinstance(self.items[n], ast.keyword)), None)
        if positional and first_keyword is not None:
            start = self.file.span(self.items[first_keyword])[0]
            lead = self.file.text[self.file.index.line_start(start) : start]
            gap = " " if lead.strip() else self.file.index.newline_near(start) + lead
            out.append(Edit(start, start, "".join(f"{code},{gap}" for code in positional)))
            positional = []
        codes = positional + keywords
        runs = self._runs()
        if codes and runs and runs[-1] > kept[-1]:  # the end of the list goes: the new ones take its place
            out.append(Edit(self._stretch(runs.pop())[0], self._tail(len(self.items) - 1)[1], ", ".join(codes)))
        elif codes:
            out += self._append(kept[-1], codes)
        return out + [self._removal(number) for number in runs]

    def _exchange(self, positional: list[str], keywords: list[str]) -> list[Edit]:
        """Put new arguments in the place of removed ones of their kind."""
        out = []
        for number in sorted(self.removed):
            item = self.items[number]
            codes = keywords if isinstance(item, ast.keyword) else positional
            if codes:
                start, end = self.file.span(item)
                out.append(Edit(start, end, codes.pop(0)))
                self.removed.discard(number)
        return out

    @staticmethod
    def _positional(code: str) -> bool:
        call = expression(f"f({code}\n)")
        return isinstance(call, ast.Call) and bool(call.args)

    def _bare_generator(self) -> bool:
        """`f(x for x in y)`: the call's parentheses are the generator's too."""
        return len(self.items) == 1 and self.file.span(self.items[0])[1] == self.end + 1

    def _wrap_generator(self, positional: list[str], keywords: list[str]) -> list[Edit]:
        if not self.added:
            return []
        start = self.file.span(self.items[0])[0]
        tail = "".join(f", {code}" for code in positional + keywords)
        return [Edit(start, start, "("), Edit(self.end, self.end, f"){tail}")]

    def _refill(self, codes: list[str]) -> list[Edit]:
        """Nothing of the old arguments stays."""
        begin = self._open()
        return [Edit(begin, self.end, ", ".join(codes))]

    def _open(self) -> int:
        """The offset after the call's opening parenthesis."""
        start = self.file.span(self.call.func)[1]
        text = self.file.text
        while (place := self._skip(start)) < self.end and text[place] == ")":  # a parenthesised callee
            start = place + 1
        if text[place : place + 1] != "(":
            raise CannotFix("the call's parentheses were not found")
        return place + 1

    def _skip(self, offset: int) -> int:
        match = _SPACE.match(self.file.text, offset)
        return match.end() if match else offset

    def _stretch(self, number: int) -> tuple[int, int, int | None]:
        """(start, end, end of the comma behind it) of an argument, its own parentheses included."""
        if number:
            _, before, comma = self._tail(number - 1)
            start = before if comma is None else comma
        else:
            start = self._open()
        return (self._skip(start), *self._tail(number)[1:])

    def _tail(self, number: int) -> tuple[int, int, int | None]:
        """(start without parentheses, end, end of the comma) of an argument."""
        text = self.file.text
        start, end = self.file.span(self.items[number])
        while (place := self._skip(end)) < self.end and text[place] == ")":
            end = place + 1
        return start, end, place + 1 if place < self.end and text[place] == "," else None

    def _runs(self) -> list[int]:
        """The first number of each run of removed arguments."""
        return [n for n in sorted(self.removed) if n - 1 not in self.removed]

    def _removal(self, first: int) -> Edit:
        """Take out a run of arguments with their commas, with the whole lines where they fill lines."""
        index = self.file.index
        last = first
        while last + 1 in self.removed:
            last += 1
        start = self._stretch(first)[0]
        _, end, comma = self._stretch(last)
        stop = comma if comma is not None else end
        line_start, line_end = index.line_start(start), index.line_end(stop)
        fills = not self.file.text[line_start:start].strip() and self._skip(stop) >= line_end
        if fills and line_start >= self._open():
            return Edit(line_start, index.next_line(stop), "")
        if last + 1 < len(self.items):
            return Edit(start, self._stretch(last + 1)[0], "")
        return Edit(self._tail(first - 1)[1], end, "")

    def _append(self, last: int, codes: list[str]) -> list[Edit]:
        """Add arguments behind the last one that stays: on lines of their own where that one has its own."""
        file, index = self.file, self.file.index
        start, end, comma = self._stretch(last)
        line_start = index.line_start(start)
        lead = file.text[line_start:start]
        stop = comma if comma is not None else end
        own_lines = not lead.strip() and index.line(self.end) > index.line(stop)
        trailing = comma is not None
        if own_lines:
            newline = index.newline_near(start)
            place = index.line_end(stop)
            text = ("," + newline + lead).join(codes)
            added = Edit(place, place, newline + lead + text + ("," if trailing else ""))
            if comma is not None:
                return [added]
            return [Edit(end, end, ","), added] if place != end else [Edit(end, end, "," + added.text)]
        text = ", ".join(codes)
        if trailing:
            return [Edit(stop, stop, f" {text},")]
        return [Edit(end, end, f", {text}")]
