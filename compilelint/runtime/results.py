"""What a verification found: plain data that travels from the workers as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

ModeName = Literal["eager", "compiled"]
MODES: tuple[ModeName, ...] = ("eager", "compiled")
Outcome = Literal["better", "same", "worse", "slower", "differs", "info"]  # worse and differs fail
ModuleMode = Literal["given", "training", "inference"]
MODULE_MODES: tuple[ModuleMode, ...] = ("given", "training", "inference")


@dataclass(slots=True)
class Site:
    """A line where something happened: `what` is Dynamo's gb_type, the guard that failed, or the call that syncs."""

    path: str
    line: int
    what: str
    count: int = 1
    detail: str = ""

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(slots=True)
class Mode:
    """One way of running a side: `eager` (nothing compiled, whatever the code asks for) or `compiled`.

    `breaks` and `recompiles` are of the whole run; kernels, memory operations, syncs and times of one steady call.
    """

    calls: int = 0  # checked calls that ended, with or without an exception
    exception: str = ""  # "ValueError: message" of the call that ended the run early
    exception_at: str = ""
    graphs: int = 0
    breaks: list[Site] = field(default_factory=list)
    recompiles: list[Site] = field(default_factory=list)
    kernels: int | None = None
    generated: int | None = None  # kernels that Inductor generated in all (CPU only)
    kernel_names: dict[str, int] = field(default_factory=dict)
    kernel_us: dict[str, float] = field(default_factory=dict)  # GPU time by name
    launches: int | None = None  # calls of the launch API: fewer than kernels where CUDA graphs replay
    graph_launches: int | None = None  # of those, launches of a CUDA graph
    replayed: int | None = None  # kernels that they replayed
    memops: int | None = None
    memop_names: dict[str, int] = field(default_factory=dict)
    syncs: list[Site] | None = None
    gpu_us: float | None = None
    wall_us: float | None = None  # the median
    wall_range_us: tuple[float, float] | None = None  # the quartiles
    timed_calls: int = 0
    backward: bool = False
    mutated: list[str] = field(default_factory=list)
    random: dict[str, str] = field(default_factory=dict)  # "call 1 (torch)": the state of a generator drawn from
    printed: str = ""

    @property
    def sync_count(self) -> int | None:
        return None if self.syncs is None else sum(site.count for site in self.syncs)

    @property
    def recompile_count(self) -> int:
        return sum(site.count for site in self.recompiles)


@dataclass(slots=True)
class Side:
    """One version of the code."""

    label: str
    eager: Mode | None = None
    compiled: Mode | None = None
    compiled_by: Literal["target", "verify", ""] = ""  # who called torch.compile
    torch: str = ""
    python: str = ""
    device: str = ""
    device_name: str = ""
    notes: list[str] = field(default_factory=list)
    error: str = ""  # why there is no measurement: a crash, a hang, a target that can't be loaded

    def mode(self, name: ModeName) -> Mode | None:
        return self.eager if name == "eager" else self.compiled


@dataclass(slots=True)
class Check:
    """One comparison in one mode: `what` is one of compare.GROUPS, random state, exceptions or printed text."""

    mode: ModeName
    what: str
    equal: bool
    count: int = 0  # values compared
    detail: str = ""
    fatal: bool = True  # whether a difference fails the verification


@dataclass(slots=True)
class Verdict:
    """What became of one figure in one mode."""

    mode: ModeName
    metric: str
    outcome: Outcome
    text: str


@dataclass(slots=True)
class VerifyResult:
    target: str
    device: str
    before: Side
    after: Side
    backend: str = "inductor"
    checks: list[Check] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether something was measured, nothing differs and nothing got worse."""
        return not self.unmeasured and not self._differs

    @property
    def _differs(self) -> bool:
        bad = any(not check.equal and check.fatal for check in self.checks)
        return bad or bool(self.after.error) or any(v.outcome in ("worse", "differs") for v in self.verdicts)

    @property
    def unmeasured(self) -> str:
        """Why there is no figure to compare, though both versions ran alike: both raise, in every mode."""
        pairs = [(self.before.mode(mode), self.after.mode(mode)) for mode in MODES]
        ran = [(one, two) for one, two in pairs if one is not None and two is not None]
        if not ran or self._differs or not all(one.exception and two.exception for one, two in ran):
            return ""
        return "nothing was measured: both versions raise"

    @property
    def exit_code(self) -> int:
        """0 equal and nothing worse, 1 something differs or got worse, 2 no measurement of a side."""
        return 0 if self.ok else 2 if self.unmeasured or self.after.error else 1

    @property
    def problems(self) -> list[str]:
        """Why `ok` is False, a line each."""
        lines = [self.unmeasured] if self.unmeasured else []
        lines += [f"{self.after.label}: {self.after.error}"] if self.after.error else []
        lines += [f"{c.mode}: {c.what} differ: {c.detail}" for c in self.checks if not c.equal and c.fatal]
        lines += [f"{v.mode}: {v.text}" for v in self.verdicts if v.outcome in ("worse", "differs")]
        return lines

    def to_json(self) -> dict[str, Any]:
        return {"version": 1, "ok": self.ok, "problems": self.problems, **asdict(self)}


def result_from_json(data: dict[str, Any]) -> VerifyResult:
    """The inverse of `to_json`; keys that it doesn't write are left out."""
    return VerifyResult(
        data["target"],
        data["device"],
        side_from_json(data["before"]),
        side_from_json(data["after"]),
        data["backend"],
        [Check(**check) for check in data["checks"]],
        [Verdict(**verdict) for verdict in data["verdicts"]],
    )


def side_from_json(data: dict[str, Any]) -> Side:
    """The inverse of `asdict` for what a worker wrote."""
    modes = {name: _mode(data[name]) if data.get(name) else None for name in MODES}
    rest = {key: value for key, value in data.items() if key not in MODES}
    return Side(**rest, eager=modes["eager"], compiled=modes["compiled"])


def _mode(data: dict[str, Any]) -> Mode:
    data = dict(data)
    for name in ("breaks", "recompiles", "syncs"):
        if data[name] is not None:
            data[name] = [Site(**site) for site in data[name]]
    if data["wall_range_us"] is not None:
        data["wall_range_us"] = tuple(data["wall_range_us"])
    return Mode(**data)
