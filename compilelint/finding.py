"""What every part of the tool exchanges: findings, their spans, traces and fixes. Plain data, picklable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal

Effect = Literal["graph-break", "sync", "launch", "transfer", "recompile"]
EFFECTS: tuple[Effect, ...] = ("graph-break", "sync", "launch", "transfer", "recompile")

RegionKind = Literal["compiled", "forward", "step", "library", "cold"]
REGION_NAMES: dict[RegionKind, str] = {
    "compiled": "compiled code",
    "forward": "a forward pass",
    "step": "a step loop",
    "library": "library code",
    "cold": "cold code",
}


class Severity(str, Enum):
    """How much a finding matters; by default it follows from the effects and the region."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """0 for a note, 1 for a warning, 2 for an error."""
        return ("note", "warning", "error").index(self.value)


class Applicability(str, Enum):
    """How far a fix may be applied: by default, on request, or by hand only."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class Span:
    """A range of source: lines and columns are 1-based, columns count characters, the end column is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def end(self) -> tuple[int, int]:
        return (self.end_line, self.end_column)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of the reason why a value is what the finding says it is."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """Where a finding stands: `kind`, the `root` that reaches it (`module:Qual.name`) and `why`, in words."""

    kind: RegionKind
    root: str
    why: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters [start, end) of the decoded source text, newlines untranslated, by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class FixPlan:
    """A fix of one finding. `edits` is empty until the fix was built (`check` never builds it), or where it could not
    be: `refused` says why."""

    title: str
    applicability: Applicability
    why: str = ""
    edits: tuple[Edit, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    name: str
    effects: tuple[Effect, ...]
    severity: Severity
    span: Span
    message: str
    region: Region
    gb_types: tuple[str, ...] = ()
    hint: str = ""
    trace: tuple[TraceStep, ...] = ()
    fix: FixPlan | None = None
    statement_line: int = 0  # first line of the statement: suppression comments there count

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        return (self.span.path, self.span.line, self.span.column, self.code)


_HOTTEST: tuple[RegionKind, ...] = ("compiled", "forward", "step", "library", "cold")


def one_per_site(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each span, sorted: the gravest that any context gave, with the effects of all of them.

    Where that context knows too little for a fix, one of another serves, and is unsafe.
    """
    best: dict[Span, Finding] = {}
    for finding in sorted(findings, key=_gravest_first):
        known = best.get(finding.span)
        if known is None:
            best[finding.span] = finding
            continue
        if not set(finding.effects) <= set(known.effects):
            effects = tuple(e for e in EFFECTS if e in known.effects or e in finding.effects)
            best[finding.span] = known = replace(known, effects=effects)
        if known.fix is None and (other := finding.fix) is not None:
            if other.applicability is Applicability.SAFE:
                other = replace(other, applicability=Applicability.UNSAFE, why="as far as calls in sight tell")
            best[finding.span] = replace(known, fix=other)
    # `x.storage().nbytes()` and the `x.storage()` in it are one site of one rule: the whole is shown
    outer: dict[tuple[str, int, int, str], Finding] = {}
    for finding in best.values():
        inner = outer.get(finding.sort_key)
        if inner is None or (inner.span.end_line, inner.span.end_column) < (
            finding.span.end_line,
            finding.span.end_column,
        ):
            outer[finding.sort_key] = finding
    return sorted(outer.values(), key=lambda finding: finding.sort_key)


def _gravest_first(finding: Finding) -> tuple[object, ...]:
    return (
        -finding.severity.rank,
        _HOTTEST.index(finding.region.kind),
        -len(finding.effects),
        finding.code,
        len(finding.trace),
        finding.region.root,
        finding.message,
        [(step.path, step.line, step.text) for step in finding.trace],  # whichever process was done first
    )


# these begin the name of a bound: then comes the function that is not followed to its end
TOO_LONG = "statements of "
TOO_DEEP = "nesting in "
TOO_SLOW = "time for "
CUT = (TOO_LONG, TOO_DEEP, TOO_SLOW)


@dataclass(slots=True)
class Stats:
    """What a run did: files read, parts that the cache knew, bounds hit (bound → times), for `--verbose`."""

    files: int = 0
    parts: int = 0
    cached: int = 0
    bounds: dict[str, int] = field(default_factory=dict)

    def merge(self, other: Stats) -> None:
        self.files += other.files
        self.parts += other.parts
        self.cached += other.cached
        for name, count in other.bounds.items():
            self.bounds[name] = self.bounds.get(name, 0) + count
