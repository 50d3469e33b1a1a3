"""A trace as one JSON object, version 1; the text and the page are made of it. Keys are only ever added."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from compilelint import __version__
from compilelint.finding import Finding
from compilelint.report.json import entry
from compilelint.runtime.trace.join import Joined, count, join, rules_for
from compilelint.runtime.trace.record import Break, Event, Recompile, Record, Sync, event_to_json


def report(record: Record, findings: Sequence[Finding], problems: Sequence[str] = ()) -> dict[str, Any]:
    """`problems`: what went wrong in the check, a line each."""
    joined, unpredicted = join(record, findings)
    apart = {id(event) for event in unpredicted}
    shown = [event for event in record.events if event.kind != "work"]
    return {
        "version": 1,
        "compilelint": __version__,
        "torch": record.torch,
        "python": record.python,
        "device": record.device,
        "device_name": record.device_name,
        "program": {
            "command": shlex.join(record.argv),
            "exit_code": record.exit_code,
            "signal": record.signal,
            "timed_out": record.timed_out,
            "hung_at": record.hung_at,
            "seconds": round(record.seconds, 3),
        },
        "complete": record.complete,
        "syncs_are": record.syncs_are,
        "steps": asdict(record.steps),
        "summary": {**count(joined), "unpredicted": len(unpredicted), **_totals(record)},
        "findings": [_finding(each) for each in joined],
        "events": [_event(event, unpredicted=id(event) in apart) for event in shown],
        "work": [event_to_json(event) for event in record.events if event.kind == "work"],
        "lines": {
            "executed": record.executed,
            "measured": record.measured,
            "unclear": record.unclear,
            "traced": record.traced,
        },
        "timeline": None if record.timeline is None else asdict(record.timeline),
        "explained": record.explained,
        "notes": [*record.notes, *problems],
    }


def _totals(record: Record) -> dict[str, Any]:
    syncs: list[Sync] = record.of(Sync)
    breaks: list[Break] = record.of(Break)
    times = [sync.blocked_us for sync in syncs if sync.blocked_us is not None]
    return {
        "breaks": len(breaks),
        "skipped_frames": sum(event.effect == "skip" for event in breaks),
        "recompiles": sum(event.count for event in record.of(Recompile)),
        "graphs": sum(event.count for event in record.events if event.kind == "graph"),
        "syncs": sum(event.count for event in syncs),
        "blocked_ms": round(sum(times) / 1e3, 3) if times else None,
    }


def _finding(joined: Joined) -> dict[str, Any]:
    blocked = joined.blocked_us
    return {
        **entry(joined.finding),
        "run": {
            "status": joined.status,
            "detail": joined.detail,
            "breaks": len(joined.breaks),  # as in the summary: sites, however often they were compiled
            "gb_types": list(dict.fromkeys(event.gb_type for event in joined.breaks)),
            "skips_frame": any(event.effect == "skip" for event in joined.breaks),
            "syncs": sum(event.count for event in joined.syncs),
            "shared": joined.shared,
            "blocked_ms": None if blocked is None else round(blocked / 1e3, 3),
            "recompiles": sum(event.count for event in joined.recompiles),
            "kernels": sum(work.kernels for work in joined.work),
        },
    }


def _event(event: Event, *, unpredicted: bool) -> dict[str, Any]:
    data = event_to_json(event)
    if event.kind != "graph":
        data |= {"predicted": not unpredicted, "codes": rules_for(event)}
    return data
