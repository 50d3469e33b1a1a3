"""What was predicted against what happened: each finding is confirmed, refuted or not reached, and what nobody
predicted shows apart. Static: nothing here imports torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from compilelint import registry
from compilelint.finding import Finding
from compilelint.runtime.trace.record import Break, Event, Recompile, Record, Sync, Work

Status = Literal["confirmed", "refuted", "not reached", "not measured"]
STATUSES: tuple[Status, ...] = ("confirmed", "refuted", "not reached", "not measured")

# the rule that a sync would be reported by: by the operator, or the call as the program spells it
SYNC_RULES: tuple[tuple[str, str], ...] = (
    (r"synchronize|empty_cache|cudaFree|DeviceSynchronize", "CL206"),
    (r"allclose|equal$|histc|linalg|(masked|index)_fill|normal$|sparse", "CL207"),
    (r"_local_scalar_dense|is_nonzero|item$|__(bool|int|float|index|complex|contains)__|linspace$", "CL201"),
    (r"tolist|\.cpu$|numpy|__array__|__repr__|__format__", "CL202"),
    (r"nonzero|masked_select|unique|bincount|repeat_interleave|argwhere", "CL203"),
    (r"aten::index|_index_put|__getitem__|__setitem__", "CL210"),
    (r"(torch\.|aten::|Tensor\.new_)(tensor|as_tensor|asarray)$", "CL401"),
    (r"\.to$|\.cuda$|aten::to$|_to_copy|copy_$", "CL402"),
)


@dataclass(slots=True)
class Joined:
    """A finding and what the run says of it. `detail` says in words why it is not confirmed."""

    finding: Finding
    status: Status = "not reached"
    detail: str = ""
    breaks: list[Break] = field(default_factory=list)
    syncs: list[Sync] = field(default_factory=list)
    recompiles: list[Recompile] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)
    shared: bool = False  # whether another finding has some of the same syncs

    @property
    def events(self) -> list[Event]:
        return [*self.breaks, *self.syncs, *self.recompiles]

    @property
    def blocked_us(self) -> float | None:
        """None where no time was measured."""
        times = [sync.blocked_us for sync in self.syncs if sync.blocked_us is not None]
        return sum(times) if times else None


def join(record: Record, findings: Sequence[Finding]) -> tuple[list[Joined], list[Event]]:
    """All findings with what happened there, and the breaks, syncs and recompiles that none of them predicted."""
    joined = [Joined(finding) for finding in findings]
    predicted: set[int] = set()
    for event in record.events:
        here = [each for each in joined if _is_at(event, each.finding)]
        meant = _meant(event, here)
        for each in meant:
            _lists(each, event).append(event)
            predicted.add(id(event))
            each.shared = each.shared or (len(meant) > 1 and isinstance(event, Sync))
    for each in joined:
        _judge(each, record)
    unpredicted: list[Event] = [
        event for event in record.events if isinstance(event, (Break, Sync, Recompile)) and id(event) not in predicted
    ]
    return joined, unpredicted


def rules_for(event: Event) -> list[str]:
    """Codes of the rules that such an event belongs to."""
    if isinstance(event, Break):
        return [rule.code for rule in registry.all_rules() if event.gb_type in rule.gb_types]
    if isinstance(event, Sync):
        return [code for pattern, code in SYNC_RULES if re.search(pattern, event.what)][:1]
    return []


def _lists(joined: Joined, event: Event) -> list[Event]:
    lists: dict[str, list[Event]] = {
        "break": joined.breaks,  # type: ignore[dict-item]
        "sync": joined.syncs,  # type: ignore[dict-item]
        "recompile": joined.recompiles,  # type: ignore[dict-item]
        "work": joined.work,  # type: ignore[dict-item]
    }
    return lists.get(event.kind, [])


def _lines(finding: Finding) -> range:
    """Of the statement, up to the end of what is flagged: Dynamo names the line of an instruction in it."""
    first = finding.statement_line or finding.span.line
    return range(min(first, finding.span.line), finding.span.end_line + 1)


def _is_at(event: Event, finding: Finding) -> bool:
    lines = _lines(finding)
    if isinstance(event, Recompile):
        return any(frame.path == finding.span.path and frame.line in lines for frame in event.stack)
    return event.path == finding.span.path and event.line in lines


def _meant(event: Event, here: Sequence[Joined]) -> Sequence[Joined]:
    """The findings among those at its place that an event confirms."""
    if isinstance(event, Break):
        broken = [each for each in here if "graph-break" in each.finding.effects]
        return [each for each in broken if event.gb_type in each.finding.gb_types] or broken
    if isinstance(event, Sync):
        return [each for each in here if {"sync", "transfer"} & set(each.finding.effects)]
    if isinstance(event, Recompile):
        return [each for each in here if "recompile" in each.finding.effects]
    return here if isinstance(event, Work) else ()


def _judge(joined: Joined, record: Record) -> None:
    finding, measured = joined.finding, record.syncs_are == "measured"
    if joined.events:
        joined.status = "confirmed"
        return
    lines = set(_lines(finding))
    traced = bool(lines & set(record.traced.get(finding.span.path, ())))
    ran = bool(lines & set(record.executed.get(finding.span.path, ())))
    if not ran and not traced:
        return
    effects = set(finding.effects)
    seen = bool(lines & set(record.measured.get(finding.span.path, ())))
    launched = any(work.kernels for work in joined.work)
    copied = any(work.copies for work in joined.work)
    if measured and (("launch" in effects and launched) or ("transfer" in effects and copied)):
        joined.status = "confirmed"
    elif "graph-break" in effects and traced:
        joined.status, joined.detail = "refuted", "Dynamo traced the line and did not break"
    elif "sync" in effects and lines & set(record.unclear.get(finding.span.path, ())):
        joined.status, joined.detail = "not measured", "the line ran; whether it waits shows on a GPU only"
    elif "sync" in effects and seen:
        none = "no sync was measured" if measured else "none of its operators would sync"
        joined.status, joined.detail = "refuted", f"the line ran, and {none}"
    elif "graph-break" in effects and ran:
        joined.detail = "the line ran, but never under torch.compile"
    elif "sync" in effects and traced and not measured:
        joined.status = "not measured"
        joined.detail = "the line is compiled code, in which a CPU does not show all that would sync"
    elif "sync" in effects and ran:
        joined.detail = "the line ran, but not while syncs were counted"
    elif not ran:
        joined.detail = "Dynamo traced the line, and it did not run outside of a graph"
    elif measured and effects <= {"launch", "transfer"}:
        joined.status, joined.detail = "refuted", "the line ran and launched nothing of the kind"
    else:
        joined.status, joined.detail = "not measured", "the line ran; what it costs shows on a GPU only"


def count(joined: Iterable[Joined]) -> dict[str, int]:
    """How many findings have which status."""
    counts: dict[str, int] = dict.fromkeys(STATUSES, 0)
    for each in joined:
        counts[each.status] += 1
    return counts
