"""The lines of a text as Python counts them: what ends one is CR, LF or both, not a form feed and not U+2028."""

from __future__ import annotations

import re

NEWLINE = re.compile(r"\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    """The lines, without what ends them; one more, empty, after a last end."""
    return NEWLINE.split(text) if "\r" in text else text.split("\n")
