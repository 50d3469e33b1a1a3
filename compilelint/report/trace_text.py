"""A trace for people, in a terminal: what became of each finding, and what happened that nobody predicted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compilelint.escaping import escape
from compilelint.report.text import Paint

_STATUS = {"confirmed": "31;1", "refuted": "32", "not reached": "2", "not measured": "2"}
_KINDS = {"break": "graph break", "sync": "host sync", "recompile": "recompile", "graph": "graph"}
_EFFECTS = {
    "split": "",
    "skip": "the whole frame of `{frame}` runs eagerly",
    "raise": "raised: fullgraph=True",
}


GRAPHS = 20  # that are listed


def write(trace: dict[str, Any], *, color: bool = False) -> str:
    paint = Paint(color)
    return "".join(line.rstrip() + "\n" for line in _lines(trace, paint))


def outcome(trace: dict[str, Any]) -> str:
    """How the program ended, in a few words."""
    program = trace["program"]
    if program["timed_out"] is not None:
        at = f" at {program['hung_at']}" if program["hung_at"] else ""
        return f"did not finish within {program['timed_out']:g} s and was killed{at}; see --timeout"
    if program["signal"]:
        return f"was ended by {program['signal']}"
    stopped = f", stopped after {_count(trace['steps']['done'], 'step')}" if trace["steps"]["stopped"] else ""
    return f"exited with {program['exit_code']}{stopped}"


def steps(trace: dict[str, Any]) -> str:
    """What was counted as a step."""
    found = trace["steps"]
    if not found["by"]:
        return "no steps: no loop that calls a module was seen to come round"
    at = f", loop at {found['path']}:{found['line']}" if found["path"] else ""
    each = f", median {found['median_ms']:.3g} ms" if found["median_ms"] is not None else ""
    return f"{found['done']} steps ({found['by']}{at}){each}; {found['measured']} measured"


def _lines(trace: dict[str, Any], paint: Paint) -> Iterator[str]:
    program = trace["program"]
    where = trace["device_name"] or trace["device"] or "torch was never imported"
    facts = ", ".join(filter(None, [trace["torch"] and f"torch {trace['torch']}", f"Python {trace['python']}", where]))
    ended = escape(f"{program['command']}: {outcome(trace)}")
    yield f"{paint('1', 'trace')} {ended} ({program['seconds']:.1f} s; {facts})"
    yield f"  {escape(steps(trace))}"
    if trace["syncs_are"] == "predicted":
        yield "  no GPU: host syncs are a prediction, those that the operators would cause on one"
    if not trace["complete"]:
        yield "  the program ended without a chance to write its counts: they are at least these"
    for note in trace["notes"]:
        yield f"  note: {escape(note)}"
    if trace["findings"]:
        yield ""
        yield paint("1", "findings")
        order = list(_STATUS)
        for finding in sorted(trace["findings"], key=lambda each: order.index(each["run"]["status"])):
            yield _finding(finding, paint)
    apart = [event for event in trace["events"] if event.get("predicted") is False]
    for title, events in (
        ("not predicted", apart),
        ("graph breaks", [each for each in trace["events"] if each["kind"] == "break"]),
        ("recompiles", [each for each in trace["events"] if each["kind"] == "recompile"]),
        (f"host syncs ({trace['syncs_are']})", _hottest(trace["events"])),
    ):
        if events:
            yield ""
            yield paint("1", title)
            for event in events:
                yield from _event(event, paint, whole=title == "not predicted")
    yield from _graphs([each for each in trace["events"] if each["kind"] == "graph"], paint)
    yield from _explained(trace["explained"], paint)
    yield ""
    yield _summary(trace)


def _finding(finding: dict[str, Any], paint: Paint) -> str:
    run = finding["run"]
    what = []
    if run["breaks"]:
        types = ", ".join(run["gb_types"]) + ("; frame skipped" if run["skips_frame"] else "")
        what.append(f"{_count(run['breaks'], 'graph break')} ({types})")
    if run["syncs"]:
        blocked = f", {run['blocked_ms']:.3f} ms blocked" if run["blocked_ms"] is not None else ""
        shared = ", together with other findings of the line" if run["shared"] else ""
        what.append(f"{_count(run['syncs'], 'sync')}{blocked}{shared}")
    if run["recompiles"]:
        what.append(_count(run["recompiles"], "recompile"))
    if run["status"] == "confirmed" and not what:
        what.append(f"{_count(run['kernels'], 'kernel')} launched")
    place = f"{escape(finding['path'])}:{finding['line']}:{finding['column']}"
    told = "; ".join(what) or run["detail"]
    status = paint(_STATUS[run["status"]], f"{run['status']:<12}")
    return f"  {status} {place}  {finding['code']} {finding['name']}  {escape(told)}"


def _event(event: dict[str, Any], paint: Paint, *, whole: bool) -> Iterator[str]:
    times = f" \u00d7{event['count']}" if event["count"] > 1 else ""
    kind = f"{_KINDS[event['kind']]}: " if whole else ""
    what = {"break": event.get("gb_type"), "recompile": event.get("guard"), "sync": event.get("what")}[event["kind"]]
    more = []
    if event["kind"] == "break" and event["effect"] != "split":
        more.append(_EFFECTS[event["effect"]].format(frame=event["frame"]))
    if event["kind"] == "break" and event["inside"]:
        more.append(f"inside {event['inside']}")
    if event["kind"] == "sync" and event["blocked_us"] is not None:
        more.append(f"{event['blocked_us'] / 1e3:.3f} ms blocked")
    if event["kind"] == "recompile" and event["stack"]:
        more.append(f"called at {event['stack'][-1]['path']}:{event['stack'][-1]['line']}")
    if event["codes"] and whole:
        more.append(f"see {', '.join(event['codes'])}")
    tail = f" ({'; '.join(more)})" if more else ""
    place = escape(f"{event['path']}:{event['line']} in {event['function']}")
    yield f"  {place}  {kind}{escape(str(what))}{times}{escape(tail)}"
    if whole and event["kind"] == "break" and event["hints"]:
        yield f"      {paint('36', 'hint:')} {escape(event['hints'][0])}"


def _graphs(graphs: list[dict[str, Any]], paint: Paint) -> Iterator[str]:
    """The largest; all of them are in the JSON and the page."""
    if graphs:
        yield ""
        yield paint("1", "graphs")
    largest = sorted(graphs, key=lambda graph: -graph["ops"])[:GRAPHS]
    for graph in sorted(largest, key=lambda graph: (graph["path"], graph["line"])):
        times = f" \u00d7{graph['count']}" if graph["count"] > 1 else ""
        kernels = f", {_count(graph['kernels'], 'kernel')}" if graph["kernels"] else ""
        told = f"{_count(graph['ops'], 'operator')}{times}, compiled in {graph['compile_s']:.2g} s{kernels}"
        yield f"  {escape(graph['path'])}:{graph['line']} in {escape(graph['function'])}  {told}"
    if len(graphs) > GRAPHS:
        yield f"  and {len(graphs) - GRAPHS} smaller ones"


def _hottest(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    syncs = [event for event in events if event["kind"] == "sync"]
    return sorted(syncs, key=lambda event: (-(event["blocked_us"] or 0.0), -event["count"]))


def _explained(said: dict[str, Any], paint: Paint) -> Iterator[str]:
    if not said:
        return
    yield ""
    yield paint("1", "torch._dynamo.explain, for comparison")
    if "error" in said:
        yield f"  {escape(said['error'])}"
        return
    yield f"  {_count(said['graphs'], 'graph')}, {_count(said['breaks'], 'break')}, {_count(said['ops'], 'operator')}"
    for reason in said["reasons"]:
        yield f"  {escape(reason)}"


def _summary(trace: dict[str, Any]) -> str:
    found = trace["summary"]
    statuses = ", ".join(f"{found[status]} {status}" for status in _STATUS if found[status])
    blocked = f", {found['blocked_ms']:.3f} ms blocked" if found["blocked_ms"] is not None else ""
    parts = [
        _count(found["breaks"], "graph break") + f" ({_count(found['skipped_frames'], 'frame')} skipped)",
        _count(found["recompiles"], "recompile"),
        _count(found["graphs"], "graph"),
        f"{_count(found['syncs'], 'host sync')} {trace['syncs_are']}{blocked}" if trace["syncs_are"] else "no syncs",
    ]
    return (
        f"{_count(len(trace['findings']), 'finding')}{': ' if statuses else ''}{statuses}; "
        + ", ".join(parts)
        + (f"; {found['unpredicted']} not predicted." if found["unpredicted"] else ".")
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
