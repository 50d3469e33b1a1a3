"""Reads a profile of the measured window: waits of the host by line, work by line, and the timeline."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any

from compilelint.runtime.places import outside
from compilelint.runtime.trace.record import Event, Frame, Idle, Sync, Timeline, Work
from compilelint.runtime.trace.sources import Sources
from compilelint.runtime.trace.stacks import Moment, moments, whole_names

MARK = "compilelint: wait "
END = "compilelint: end of the window"  # around the synchronization that ends it
WAITS = ("StreamSynchronize", "DeviceSynchronize", "EventSynchronize", "CtxSynchronize", "cudaFree", "cudaMemcpy")
GAP_US = 5.0  # a shorter pause of the device is what a launch costs
SPANS = 3000  # what a page can show of a lane
GAPS = 400
NEAR_US = 2.0  # two clocks: a wait ends when the device has run dry, or so

Raw = dict[str, Any]


@dataclass
class Window:
    """A profile: the events of its Chrome trace (times in µs from `base_ns`), its event tree (ns), and for each mark in
    it the stack that it stands for. `thread` is the native id of the one that ran the program, `prefixes` are the
    folders that the tree's file names are relative to."""

    events: list[Raw]
    base_ns: int
    tree: Sequence[Any]
    thread: int
    marks: list[list[Frame]] = field(default_factory=list)
    prefixes: Sequence[str] = ()

    def of(self, *categories: str) -> list[Raw]:
        found = [each for each in self.events if each.get("ph") == "X" and each.get("cat") in categories]
        return sorted(found, key=_start)


@dataclass(slots=True)
class Wait:
    """The runtime calls of one operator, or one call outside of any."""

    start: float
    end: float
    blocked: float
    moment: Moment
    stack: list[Frame]
    calls: dict[str, int]
    marked: bool = False


class Reader:
    def __init__(self, window: Window, sources: Sources) -> None:
        self._window, self._sources = window, sources
        operators = (each for each in window.events if each.get("cat") == "cpu_op")
        backward = {each.get("tid") for each in operators if str(each["name"]).startswith("autograd::engine")}
        threads = {window.thread, *backward}  # not those that pin memory or load data
        ends = [_start(each) for each in window.of("user_annotation", "cpu_op") if each["name"] == END]
        calls = window.of("cuda_runtime", "cuda_driver")
        self.host = [each for each in calls if each.get("tid") in threads and _start(each) < min(ends, default=inf)]
        self.device = window.of("kernel", "gpu_memcpy", "gpu_memset")
        self._gaps = gaps(self.device)
        times = [self._ns(_start(each)) for each in self.host]
        times += [self._ns((start + end) / 2) for start, end in self._gaps]
        self._moments = moments(window.tree, times)
        whole = whole_names(window.prefixes)
        for moment in self._moments.values():
            moment.frames = [(whole(name), line, function) for name, line, function in moment.frames]
        self.waits = self._waits()

    def events(self) -> list[Event]:
        """Syncs and work by line."""
        loose = self._match()
        return [*(self._sync(wait) for wait in self.waits), *loose, *self._work()]

    def timeline(self) -> Timeline | None:
        """None where neither the host nor the device did anything."""
        everything = [*self.host, *self.device]
        if not everything:
            return None
        zero, last = min(map(_start, everything)), max(map(_end, everything))
        length = last - zero

        def spans(events: Iterable[Raw]) -> list[tuple[float, float]]:
            return merged([(_start(each) - zero, _end(each) - zero) for each in events], length / SPANS)

        return Timeline(
            length,
            launches=spans(each for each in self.host if "Launch" in each["name"] or "Memcpy" in each["name"]),
            waits=[(each.start - zero, each.end - zero, self._named(each)) for each in self.waits][:SPANS],
            busy=spans(self.device),
            idle=[self._idle(start, end, zero) for start, end in self._gaps],
            busy_us=sum(end - start for start, end in merged([(_start(e), _end(e)) for e in self.device], 0.0)),
            kernels=sum(each["cat"] == "kernel" for each in self.device),
            copies=sum(each["cat"] != "kernel" for each in self.device),
        )

    def _ns(self, us: float) -> int:
        return self._window.base_ns + int(us * 1000)

    def _moment(self, us: float) -> Moment:
        return self._moments.get(self._ns(us), Moment())

    def _waits(self) -> list[Wait]:
        pageable = {_correlation(each) for each in self.device if "Pageable" in each["name"]}
        waits: list[Wait] = []
        for event in self.host:
            name, start, end = str(event["name"]), _start(event), _end(event)
            if not name.endswith(WAITS) and not ("Memcpy" in name and _correlation(event) in pageable):
                continue
            moment = self._moment(start)
            last = waits[-1] if waits else None
            if last is not None and moment.op and (last.moment.op, last.moment.began) == (moment.op, moment.began):
                last.end, last.blocked = end, last.blocked + end - start
                last.calls[name] = last.calls.get(name, 0) + 1
            else:
                frames = self._sources.frames(moment.frames)
                waits.append(Wait(start, end, end - start, moment, frames, {name: 1}))
        return waits

    def _match(self) -> list[Event]:
        """Gives waits the exact stacks of the marks behind them. A mark without a wait is a sync of its own."""
        ends = [wait.end for wait in self.waits]
        loose: list[Event] = []
        for event in self._window.of("user_annotation", "cpu_op"):
            if not str(event["name"]).startswith(MARK):
                continue
            stack = self._window.marks[int(event["name"][len(MARK) :])]
            before = bisect_right(ends, _start(event) + NEAR_US) - 1
            wait = self.waits[before] if before >= 0 else None
            if wait is None or wait.marked:
                at = stack[-1]
                loose.append(Sync(at.path, at.line, at.function, stack=stack, what="synchronizing CUDA operation"))
            else:
                wait.stack, wait.marked = stack, True
        return loose

    def _sync(self, wait: Wait) -> Sync:
        at = self._place(wait.stack, wait.moment)
        return Sync(
            at.path,
            at.line,
            at.function,
            stack=wait.stack,
            what=self._named(wait),
            blocked_us=wait.blocked,
            calls=wait.calls,
        )

    def _named(self, wait: Wait) -> str:
        """The operator, else the library's function that the program called, else the runtime's call."""
        if wait.moment.op:
            return wait.moment.op
        below = wait.moment.frames[::-1]
        for inner, outer in pairwise(below):
            if self._sources.shown(outer[0]) is not None and self._sources.shown(inner[0]) is None:
                return _spelled(inner)
        return next(iter(wait.calls))

    def _place(self, stack: Sequence[Frame], moment: Moment) -> Frame:
        if stack:
            return stack[-1]
        if moment.frames:
            name, line, function = moment.frames[-1]
            return Frame(outside(name), line, function)
        return Frame("(no Python line)", 0, "")

    def _work(self) -> list[Event]:
        asked = {_correlation(each): self._moment(_start(each)) for each in self.host}
        events: list[Event] = []
        for event in self.device:
            moment = asked.get(_correlation(event))
            if moment is None:
                continue
            stack = self._sources.frames(moment.frames)
            at, kernel = self._place(stack, moment), event["cat"] == "kernel"
            work = Work(at.path, at.line, at.function, stack=stack)
            work.kernels, work.copies, work.gpu_us = int(kernel), int(not kernel), float(event["dur"])
            events.append(work)
        return events

    def _idle(self, start: float, end: float, zero: float) -> Idle:
        """What the host did while the device had nothing to do."""
        idle = Idle(start - zero, end - zero, "")
        dry = [wait for wait in self.waits if wait.start <= start and start - NEAR_US <= wait.end <= end]
        if dry:
            at = self._place(dry[-1].stack, dry[-1].moment)
            idle.cause, idle.path, idle.line = f"after the wait for {self._named(dry[-1])}", at.path, at.line
            return idle
        moment = self._moment((start + end) / 2)
        frames = self._sources.frames(moment.frames)
        libraries = {name.replace("\\", "/") for name, _, _ in moment.frames}
        idle.cause = "the host is busy in Python here"
        for part, cause in _CAUSES:
            if any(part in name for name in libraries):
                idle.cause = cause
                break
        at = self._place(frames, moment)
        idle.path, idle.line = at.path, at.line
        return idle


_CAUSES = (
    ("torch/_dynamo/convert_frame.py", "compiling"),
    ("torch/utils/data/", "waiting for the next batch"),
)


def gaps(device: Sequence[Raw]) -> list[tuple[float, float]]:
    """The longest pauses of the device, in the order of time."""
    found: list[tuple[float, float]] = []
    busy: float | None = None
    for event in device:
        if busy is not None and _start(event) - busy >= GAP_US:
            found.append((busy, _start(event)))
        busy = max(busy or 0.0, _end(event))
    return sorted(sorted(found, key=lambda gap: gap[0] - gap[1])[:GAPS])


def merged(spans: list[tuple[float, float]], apart: float) -> list[tuple[float, float]]:
    """Spans that overlap, or lie no further apart than this, as one."""
    out: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if out and start - out[-1][1] <= apart:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def _spelled(place: tuple[str, int, str]) -> str:
    """torch.cuda.synchronize, for a function in torch/cuda/__init__.py."""
    name, _, function = place
    module = outside(name).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{module}.{function}"


def _start(event: Raw) -> float:
    return float(event["ts"])


def _end(event: Raw) -> float:
    return float(event["ts"]) + float(event.get("dur", 0))


def _correlation(event: Raw) -> int:
    return int(event.get("args", {}).get("correlation", -1))
