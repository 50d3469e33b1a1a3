"""An explanation: what is believed of the expressions at one place, in each context, and what rules said there."""

from __future__ import annotations

from dataclasses import dataclass, field

from compilelint.finding import Region, Span, TraceStep


@dataclass(frozen=True, slots=True)
class Belief:
    """One expression, its value in words, and the history of that value. `text` is its source, on one line.

    `targets` are those of the Call events that rules are told of it.
    """

    span: Span
    text: str
    value: str
    trace: tuple[TraceStep, ...] = ()
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's report: `effects` are those that count; none, and `why` not, when it was dropped."""

    code: str
    name: str
    span: Span
    message: str
    effects: tuple[str, ...]
    why: str = ""


@dataclass(slots=True)
class Context:
    """One way in which the code around the place is reached.

    `callers` are the places that call it so; none when it was interpreted on its own. `beliefs`: the innermost
    expression first, then those that it is part of; empty when the place was not reached.
    """

    function: str
    region: Region
    callers: list[tuple[str, int]] = field(default_factory=list)
    arguments: dict[str, str] = field(default_factory=dict)
    beliefs: list[Belief] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


@dataclass(slots=True)
class Explanation:
    """`path` as it is shown, `line` and `column` as asked for (1-based); `notes` say what limits the answer."""

    path: str
    line: int
    column: int
    contexts: list[Context] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
