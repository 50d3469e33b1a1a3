"""Text that came from source, file names or a program's run, made harmless for whoever shows it.

What is not printable, as Python has it, is written as an escape: controls, among them those that begin the escape
sequences of a terminal, marks that reorder or hide text (U+202A to U+202E, U+2066 to U+2069), lone surrogates, and
what XML can't hold.
"""

from __future__ import annotations

import html
import unicodedata

_JOINER = "\u200d"  # holds emoji together


def escape(text: str, keep: str = "") -> str:
    """For a terminal: one line; of controls those in `keep` stay."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    if char == _JOINER or unicodedata.category(char) == "Zs":
        return char
    return char.encode("unicode_escape").decode("ascii")


def as_html(text: str) -> str:
    """For a page, as text or between quotes. Lines and tabs stay."""
    return html.escape(escape(text, keep="\n\t"))
