"""What became of a part of a run, and what that depended on. Plain data: processes hand it on, the cache keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from compilelint.finding import Finding, Stats


@dataclass(slots=True)
class InternalError:
    """An exception of ours: in which file, at which function, in which rule (or "" for the engine)."""

    path: str
    line: int
    function: str
    rule: str
    message: str
    traceback: str


@dataclass(slots=True)
class Reads:
    """As long as nothing of it changes, an analysis would find the same.

    `files`: path → digest of the bytes that were read, or "" where none could be; `outside`: those of them that are not
    files of the run. `own` and `installed`: import name → the file that was found for it, if any, in the project and
    among what is installed. `templates`: folder → the names of its files that others are generated from.
    """

    files: dict[Path, str] = field(default_factory=dict)
    outside: set[Path] = field(default_factory=set)
    own: dict[str, Path | None] = field(default_factory=dict)
    installed: dict[str, Path | None] = field(default_factory=dict)
    templates: dict[Path, frozenset[str]] = field(default_factory=dict)

    def add(self, other: Reads) -> None:
        self.files |= other.files
        self.outside |= other.outside
        self.own |= other.own
        self.installed |= other.installed
        self.templates |= other.templates


@dataclass(slots=True)
class Outcome:
    findings: list[Finding] = field(default_factory=list)
    stats: Stats = field(default_factory=Stats)
    errors: list[InternalError] = field(default_factory=list)
    reads: Reads = field(default_factory=Reads)
    remarked: set[Path] = field(default_factory=set)  # the files in which there may be comments that suppress findings

    def add(self, other: Outcome) -> None:
        self.findings += other.findings
        self.stats.merge(other.stats)
        self.errors += other.errors
        self.reads.add(other.reads)
        self.remarked |= other.remarked
