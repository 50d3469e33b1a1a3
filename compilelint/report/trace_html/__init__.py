"""A trace as one page that needs nothing else: no request leaves it, and it can be read without its script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compilelint.escaping import as_html
from compilelint.report.page import figures, page
from compilelint.report.tables import Column, number, table
from compilelint.report.trace_html.source import Anchors, files_shown
from compilelint.report.trace_html.timeline import timeline
from compilelint.report.trace_text import outcome, steps

Trace = dict[str, Any]


def write(trace: Trace, texts: Mapping[str, Sequence[str]]) -> str:
    """`texts`: the lines of each file, by the path that it is shown by."""
    anchors = Anchors(texts)
    sections = [
        ("findings", "Findings", _findings(trace, anchors)),
        ("unpredicted", "Not predicted", _events(_unpredicted(trace), anchors, trace, kinds=True)),
        ("timeline", "Timeline", timeline(trace["timeline"], anchors) if trace["timeline"] else ""),
        ("breaks", "Graph breaks", _events(_of(trace, "break"), anchors, trace)),
        ("recompiles", "Recompiles", _events(_of(trace, "recompile"), anchors, trace)),
        ("syncs", f"Host syncs ({trace['syncs_are']})", _events(_of(trace, "sync"), anchors, trace)),
        ("graphs", "Graphs", _graphs(_of(trace, "graph"), anchors)),
        ("work", "Device work by line", _work(trace["work"], anchors)),
        ("sources", "Sources", files_shown(trace, texts, anchors)),
    ]
    command = trace["program"]["command"]
    header = f"<h1>trace <code>{as_html(command)}</code></h1>{_facts(trace)}"
    return page(f"trace {command}", header, _figures(trace) + _notes(trace), sections)


def _facts(trace: Trace) -> str:
    where = trace["device_name"] or trace["device"] or "torch was never imported"
    told = [outcome(trace), f"{trace['program']['seconds']:.1f} s", steps(trace)]
    told += [f"torch {trace['torch']}, Python {trace['python']}, {where}, compilelint {trace['compilelint']}"]
    return "".join(f"<p>{as_html(each)}</p>" for each in told)


def _figures(trace: Trace) -> str:
    found = trace["summary"]
    names = {
        "confirmed": "findings confirmed",
        "refuted": "refuted",
        "not reached": "not reached",
        "not measured": "not measured",
        "unpredicted": "events not predicted",
        "breaks": "graph breaks",
        "skipped_frames": "frames skipped",
        "recompiles": "recompiles",
        "graphs": "graphs",
        "syncs": f"host syncs {trace['syncs_are']}",
        "blocked_ms": "ms blocked",
    }
    return figures([(found[key], name) for key, name in names.items()])


def _notes(trace: Trace) -> str:
    notes = list(trace["notes"])
    if trace["syncs_are"] == "predicted":
        notes.insert(0, "No GPU: host syncs are a prediction, those that the operators would cause on one.")
    if not trace["complete"]:
        notes.insert(0, "The program ended without a chance to write its counts: they are at least these.")
    said = trace["explained"]
    if "graphs" in said:
        reasons = "; ".join(said["reasons"]) or "no reason"
        notes.append(
            f"torch._dynamo.explain, for comparison: {said['graphs']} graphs, {said['breaks']} breaks: {reasons}"
        )
    elif said:
        notes.append(f"torch._dynamo.explain, for comparison: {said['error']}")
    return f"<ul>{''.join(f'<li>{as_html(note)}</li>' for note in notes)}</ul>" if notes else ""


def _of(trace: Trace, kind: str) -> list[Trace]:
    return [event for event in trace["events"] if event["kind"] == kind]


def _unpredicted(trace: Trace) -> list[Trace]:
    return [event for event in trace["events"] if event.get("predicted") is False]


def _findings(trace: Trace, anchors: Anchors) -> str:
    def told(finding: Trace) -> str:
        run = finding["run"]
        shared = "syncs together with other findings of the line" if run["shared"] else ""
        return as_html("; ".join(filter(None, [", ".join(run["gb_types"]) or run["detail"], shared])))

    columns: list[Column] = [
        ("Status", lambda f: f'<span class="mark {f["run"]["status"].split()[0]}">{f["run"]["status"]}</span>'),
        ("Place", lambda f: anchors.link(f["path"], f["line"])),
        ("Rule", lambda f: f"{as_html(f['code'])} {as_html(f['name'])}"),
        ("Severity", lambda f: as_html(f["severity"])),
        ("Breaks", lambda f: number(f["run"]["breaks"])),
        ("Syncs", lambda f: number(f["run"]["syncs"])),
        ("ms blocked", lambda f: number(f["run"]["blocked_ms"])),
        ("What happened", told),
        ("Message", lambda f: as_html(f["message"])),
    ]
    return table(trace["findings"], columns)


def _events(events: Sequence[Trace], anchors: Anchors, trace: Trace, *, kinds: bool = False) -> str:
    def what(event: Trace) -> str:
        hints = "".join(f"<li>{as_html(hint)}</li>" for hint in event.get("hints", ()))
        more = [event.get("reason", ""), f"inside {event['inside']}" if event.get("inside") else ""]
        if event.get("effect") == "skip":
            more.append(f"the whole frame of {event['frame']} runs eagerly")
        if event.get("effect") == "raise":
            more.append("raised: fullgraph=True")
        text = "".join(f'<div class="dim">{as_html(each)}</div>' for each in more if each)
        name = event.get("gb_type") or event.get("guard") or event.get("what") or ""
        return f"{as_html(str(name))}{text}{f'<ul>{hints}</ul>' if hints else ''}"

    def caller(event: Trace) -> str:
        above = event["stack"] if event["kind"] == "recompile" else event["stack"][:-1]
        return anchors.link(above[-1]["path"], above[-1]["line"]) if above else ""

    def blocked(event: Trace) -> str:
        us = event.get("blocked_us")
        return number(None if us is None else round(us / 1e3, 3))

    columns: list[Column] = []
    if kinds:
        columns.append(("Kind", lambda e: f'<span class="mark {e["kind"]}">{e["kind"]}</span>'))
    columns += [
        ("Place", lambda e: anchors.link(e["path"], e["line"])),
        ("Function", lambda e: f"<code>{as_html(e['function'])}</code>"),
        ("What", what),
        ("Count", lambda e: number(e["count"])),
        ("First step", lambda e: number(e["step"])),
    ]
    if any(event.get("blocked_us") is not None for event in events):
        columns.append(("ms blocked", blocked))
    columns += [("Called from", caller), ("Rules", lambda e: as_html(", ".join(e["codes"])))]
    return table(events, columns)


def _graphs(events: Sequence[Trace], anchors: Anchors) -> str:
    columns: list[Column] = [
        ("Begins at", lambda e: anchors.link(e["path"], e["line"])),
        ("Function", lambda e: f"<code>{as_html(e['function'])}</code>"),
        ("Operators", lambda e: number(e["ops"])),
        ("Compiled", lambda e: number(e["count"])),
        ("Seconds", lambda e: number(round(e["compile_s"], 3))),
    ]
    return table(events, columns)


def _work(events: Sequence[Trace], anchors: Anchors) -> str:
    columns: list[Column] = [
        ("Place", lambda e: anchors.link(e["path"], e["line"])),
        ("Kernels", lambda e: number(e["kernels"])),
        ("Copies", lambda e: number(e["copies"])),
        ("ms on the device", lambda e: number(round(e["gpu_us"] / 1e3, 3))),
    ]
    return table(events, columns)
