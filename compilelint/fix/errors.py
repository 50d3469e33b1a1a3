"""What goes wrong while fixing."""

from __future__ import annotations


class CannotFix(Exception):
    """The code at hand is not of a form that the fix can rewrite; the message says why."""


class WriteError(Exception):
    """A file that can't be read or written back as asked; the message says why."""
