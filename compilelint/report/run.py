"""What a report may say of the run, beside its findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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


def no_cells(path: str, line: int) -> tuple[int, int]:
    return 0, line


def _as_counted(path: str, line: int) -> int:
    return line


@dataclass(frozen=True, slots=True)
class Run:
    """`rules` and `read_lines` are asked only by reports that need them. `failures`: what went wrong, a line each.

    `cell`: of a line of a notebook's text the cell and the line in it; 0 and the line for other files. `on_disk`: the
    line of the file that holds it, for what reads notebooks as JSON."""

    version: str
    torch: str
    files: int
    rules: Callable[[], Sequence[RuleDoc]] = _no_rules
    failures: Sequence[str] = ()
    read_lines: Callable[[str], Sequence[str]] = _no_lines
    cell: Callable[[str, int], tuple[int, int]] = no_cells
    on_disk: Callable[[str, int], int] = _as_counted
    color: bool = False
    quiet: bool = False  # no summary
    runs: Sequence[Mapping[str, Any]] = ()  # what `verify` and `trace` wrote as JSON

    def place(self, path: str, line: int) -> str:
        """`path:line`, in a notebook `path:cell 3:line`."""
        cell, line = self.cell(path, line)
        return f"{path}:cell {cell}:{line}" if cell else f"{path}:{line}"
