"""What stands in the text of a file: a search in it costs a fraction of a walk over its tree."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from compilelint.source.lines import lines_of

# bytes that part words, as spaces; what is beyond ASCII is part of one
_APART = bytes(each if chr(each).isalnum() or each == 95 or each > 127 else 32 for each in range(256))
_QUOTED = re.compile(
    rb'"""[\s\S]*?"""'
    rb"|'''[\s\S]*?'''"
    rb'|"(?:[^"\\\n]|\\.)*"'
    rb"|'(?:[^'\\\n]|\\.)*'"
    rb"|#.*"
)
# a constant that something is set to, and the end of what stands before it on its line
_SET = re.compile(r"=\s*(?:(True|False)\b|[\"']([^\"'\n]*)[\"'])")
_NAMED = re.compile(r"(^\s*|\.\s*)?\b(\w+)\s*(?::[^=\n]+)?$", re.MULTILINE)


class Setting(NamedTuple):
    """`name = True`, `f(name="text")` in a text; `outside`: not of `self`, and not among others in its line."""

    value: bool | str
    outside: bool


class Wording:
    """The text, and what was read of it so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._mentioned: dict[frozenset[str], list[int]] = {}
        self._said: dict[frozenset[str], bool] = {}

    @cached_property
    def lines(self) -> list[str]:
        """The lines as Python counts them: a form feed ends none."""
        return lines_of(self.text)

    @cached_property
    def encoded(self) -> bytes:
        """The text in UTF-8: of a text with a character like an emoji, it is found in at a quarter of the cost."""
        return self.text.encode("utf-8", "surrogatepass")

    def mentions(self, words: frozenset[str], node: ast.stmt | ast.expr) -> bool:
        """Whether one of the words stands where a node does: what else is looked for there can't be."""
        lines = self._mentioned.get(words)
        if lines is None:
            lines = self._mentioned[words] = self._lines_with(words)
        place = bisect_left(lines, node.lineno)
        return place < len(lines) and lines[place] <= (node.end_lineno or node.lineno)

    def says(self, phrases: frozenset[str]) -> bool:
        """Whether one of the phrases stands anywhere in the text, as part of a word too."""
        known = self._said.get(phrases)
        if known is None:
            known = self._said[phrases] = any(phrase.encode() in self.encoded for phrase in phrases)
        return known

    @cached_property
    def words(self) -> frozenset[bytes]:
        """The names and other words of the text, whatever they stand in."""
        return frozenset(self.encoded.translate(_APART).split())

    @cached_property
    def quoted(self) -> tuple[list[int], list[int]]:
        """Where in the encoded text strings and comments start, and where they end."""
        spans = [match.span() for match in _QUOTED.finditer(self.encoded)]
        return [start for start, _ in spans], [end for _, end in spans]

    def places(self, word: str) -> Iterator[int]:
        """Where in the encoded text a word stands, but in strings and comments."""
        encoded = word.encode()
        if encoded not in self.words:
            return
        for place in _places(encoded, self.encoded):
            starts, ends = self.quoted
            before = bisect_right(starts, place) - 1
            if before < 0 or ends[before] <= place:
                yield place

    def _lines_with(self, words: frozenset[str]) -> list[int]:
        present = [encoded for word in words if (encoded := word.encode()) in self.words]
        if not present:
            return []
        if "\r" in self.text:
            here = [word.decode() for word in present]
            return [number for number, line in enumerate(self.lines, 1) if any(word in line for word in here)]
        found, line, last = [], 1, 0
        for place in sorted(place for word in present for place in _places(word, self.encoded)):
            line += self.encoded.count(b"\n", last, place)
            last = place
            found.append(line)
        return found

    @cached_property
    def settings(self) -> dict[str, set[Setting]]:
        """The truths and texts that names are set to, wherever in the text that stands."""
        found: dict[str, set[Setting]] = {}
        for match in _SET.finditer(self.text):
            line = self.text.rfind("\n", 0, match.start()) + 1
            named = _NAMED.search(self.text, line, match.start())
            if named is not None:
                before = named[1]
                of_self = self.text.endswith("self", line, named.start()) if before else False
                value = match[2] if match[1] is None else match[1] == "True"
                found.setdefault(named[2], set()).add(Setting(value, before is not None and not of_self))
        return found

    @cached_property
    def has_nonlocal(self) -> bool:
        return b"nonlocal " in self.encoded

    @cached_property
    def has_walrus(self) -> bool:
        return b":=" in self.encoded


def _places(word: bytes, text: bytes) -> Iterator[int]:
    """Where a word stands, a whole one."""
    place = text.find(word)
    while place >= 0:
        after = place + len(word)
        if not (_is_part(text[place - 1 : place]) or _is_part(text[after : after + 1])):
            yield place
        place = text.find(word, after)


def _is_part(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or not character.isascii()
