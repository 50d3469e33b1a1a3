"""What a traced run did: plain data that the child writes as JSON lines. Nothing here imports torch.

An event is counted by its site: two events of one kind with one `key` are one event with a higher `count`. Paths are
relative to the working directory where they lie in it, else as `outside` of compilelint.runtime.places names them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

BreakEffect = Literal["split", "skip", "raise"]  # the graph ends; the whole frame runs eagerly; fullgraph=True


@dataclass(slots=True)
class Frame:
    """One frame of a stack, of the program's own sources."""

    path: str
    line: int
    function: str


@dataclass(slots=True)
class Event:
    """Something that happened at a line, `count` times. `step`: during which step it was first seen, from 0."""

    kind: ClassVar[str]
    path: str
    line: int
    function: str = ""
    count: int = 1
    step: int = 0
    stack: list[Frame] = field(default_factory=list)  # outermost first; the last is the line itself

    @property
    def key(self) -> tuple[object, ...]:
        return (self.kind, self.path, self.line)

    def merge(self, other: Any) -> None:
        """Count another event of the same key."""
        self.count += other.count


@dataclass(slots=True)
class Break(Event):
    """A graph break. `frame` is the function that Dynamo gave up where `effect` is "skip"; `inside` where in a library
    it happened, if it did."""

    kind: ClassVar[str] = "break"
    gb_type: str = ""
    reason: str = ""
    hints: list[str] = field(default_factory=list)
    context: str = ""
    effect: BreakEffect = "split"
    frame: str = ""
    inside: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return (self.kind, self.path, self.line, self.gb_type, self.inside)

    def merge(self, other: Any) -> None:
        self.count += other.count
        if other.effect == "skip":
            self.effect, self.frame = "skip", other.frame


@dataclass(slots=True)
class Recompile(Event):
    """A function compiled again: `line` is its first, the end of `stack` the call that did it."""

    kind: ClassVar[str] = "recompile"
    guard: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return (self.kind, self.path, self.line, self.guard)


@dataclass(slots=True)
class Graph(Event):
    """A graph that Dynamo made of (a part of) a function; `line` is the first of the operators in it. `kernels` are
    those that Inductor generated for it, its backward's included where that is compiled at once."""

    kind: ClassVar[str] = "graph"
    ops: int = 0
    compile_s: float = 0.0
    kernels: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        return (self.kind, self.path, self.line, self.function, self.ops)

    def merge(self, other: Any) -> None:
        self.count += other.count
        self.compile_s += other.compile_s
        self.kernels += other.kernels


@dataclass(slots=True)
class Sync(Event):
    """A wait of the host for the device. `what` is the operator or call; `blocked_us` of all of them, None where it is
    a prediction; `calls` the CUDA runtime calls with their counts."""

    kind: ClassVar[str] = "sync"
    what: str = ""
    blocked_us: float | None = None
    calls: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        return (self.kind, self.path, self.line, self.what)

    def merge(self, other: Any) -> None:
        self.count += other.count
        if other.blocked_us is not None:
            self.blocked_us = (self.blocked_us or 0.0) + other.blocked_us
        for name, count in other.calls.items():
            self.calls[name] = self.calls.get(name, 0) + count


@dataclass(slots=True)
class Work(Event):
    """Kernels and copies that a line launched on the device, and their time there."""

    kind: ClassVar[str] = "work"
    kernels: int = 0
    copies: int = 0
    gpu_us: float = 0.0

    def merge(self, other: Any) -> None:
        self.count += other.count
        self.kernels += other.kernels
        self.copies += other.copies
        self.gpu_us += other.gpu_us


EVENTS: dict[str, type[Event]] = {each.kind: each for each in (Break, Recompile, Graph, Sync, Work)}


@dataclass(slots=True)
class Idle:
    """A gap in which the device had nothing to do, in µs from the start of the timeline, and what the host did."""

    start: float
    end: float
    cause: str
    path: str = ""
    line: int = 0


@dataclass(slots=True)
class Timeline:
    """The measured window, times in µs from its start: `launches` and `waits` of the host, `busy` spans of the device.

    Spans that lie closer together than the page can show are one.
    """

    length: float
    launches: list[tuple[float, float]] = field(default_factory=list)
    waits: list[tuple[float, float, str]] = field(default_factory=list)
    busy: list[tuple[float, float]] = field(default_factory=list)
    idle: list[Idle] = field(default_factory=list)
    busy_us: float = 0.0
    kernels: int = 0
    copies: int = 0


@dataclass(slots=True)
class Steps:
    """How the program's steps were counted: by what, at which loop, how many, how long the median one took."""

    by: str = ""
    path: str = ""
    line: int = 0
    done: int = 0
    median_ms: float | None = None
    measured: int = 0  # those in the window for which syncs are counted
    stopped: bool = False  # whether --steps ended the program


@dataclass(slots=True)
class Record:
    """All of one run. `syncs_are` says what the syncs are worth; "" where torch was never imported."""

    argv: list[str] = field(default_factory=list)
    torch: str = ""
    python: str = ""
    device: str = ""
    device_name: str = ""
    syncs_are: Literal["measured", "predicted", ""] = ""
    events: list[Event] = field(default_factory=list)
    steps: Steps = field(default_factory=Steps)
    timeline: Timeline | None = None
    files: dict[str, str] = field(default_factory=dict)  # the program's own sources: absolute path → shown path
    executed: dict[str, list[int]] = field(default_factory=dict)
    measured: dict[str, list[int]] = field(default_factory=dict)  # of those, where a sync would have been seen
    unclear: dict[str, list[int]] = field(default_factory=dict)  # with calls of which a CPU can't tell if they sync
    traced: dict[str, list[int]] = field(default_factory=dict)  # lines that Dynamo traced
    explained: dict[str, Any] = field(default_factory=dict)  # what torch._dynamo.explain or its counters say
    notes: list[str] = field(default_factory=list)
    refused: str = ""  # why TARGET can't be used
    complete: bool = False  # whether the child wrote its end: else counts are at least these
    exit_code: int | None = None
    signal: str = ""
    timed_out: float | None = None  # seconds
    hung_at: str = ""
    seconds: float = 0.0

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def event_to_json(event: Event) -> dict[str, Any]:
    return {"kind": event.kind, **asdict(event)}


def event_from_json(data: dict[str, Any]) -> Event:
    """The inverse of `event_to_json`."""
    data = dict(data)
    kind = EVENTS[data.pop("kind")]
    data["stack"] = [Frame(**frame) for frame in data["stack"]]
    return kind(**data)


def timeline_from_json(data: dict[str, Any]) -> Timeline:
    """The inverse of `asdict`."""
    data = dict(data)
    data["idle"] = [Idle(**idle) for idle in data["idle"]]
    for name in ("launches", "waits", "busy"):
        data[name] = [tuple(span) for span in data[name]]
    return Timeline(**data)
