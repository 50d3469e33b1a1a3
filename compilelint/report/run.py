"""What a report may say of the run, beside its findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuleDoc:
    """A rule as reports describe it."""

    code: str
    name: str
    summary: str
    text: str
    effects: tuple[str, ...]


def _no_rules() -> Sequence[RuleDoc]:
    return ()


def _no_lines(path: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Run:
    """`rules` and `read_lines` are asked only by reports that need them. `failures`: what went wrong, a line each."""

    version: str
    torch: str
    files: int
    rules: Callable[[], Sequence[RuleDoc]] = _no_rules
    failures: Sequence[str] = ()
    read_lines: Callable[[str], Sequence[str]] = _no_lines
    color: bool = False
    quiet: bool = False  # no summary
