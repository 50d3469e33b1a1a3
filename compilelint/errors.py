"""What ends a run early: problems with how the tool was called or set up, told to the user without a traceback."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UsageProblem(Exception):
    """Something the user can put right: exit code 2 and one line on stderr."""


class ConfigError(UsageProblem):
    """A setting that is unknown or of the wrong type; the message names file and key."""


class RegistryError(UsageProblem):
    """A rule that can't be loaded or breaks the conventions; the message names it."""


class InstallationError(UsageProblem):
    """A part of the tool that can't be imported: no file can be checked, whichever it is."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean "…"?)`, or nothing when no known word is near."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f' (did you mean "{near[0]}"?)' if near else ""


class NotebookError(Exception):
    """What is no notebook, or a change that can't be written into one; `page` where in it, from 1, if known."""

    def __init__(self, message: str, page: int = 0) -> None:
        super().__init__(message)
        self.page = page
