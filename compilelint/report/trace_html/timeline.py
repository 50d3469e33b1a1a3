"""The timeline: what the host launched and where it waited, when the device was busy, and why it was idle."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from compilelint.escaping import as_html
from compilelint.report.tables import Column, number, table
from compilelint.report.trace_html.source import Anchors

LANES = ("launches", "waits", "device busy", "device idle")
MOVES = (("in", "Zoom in"), ("out", "Zoom out"), ("left", "Earlier"), ("right", "Later"), ("all", "All"))


def timeline(found: dict[str, Any], anchors: Anchors) -> str:
    length = max(found["length"], 1e-3)
    busy, idle = found["busy_us"], sum(gap["end"] - gap["start"] for gap in found["idle"])
    facts = (
        f"{length / 1e3:.3f} ms: the device is busy for {busy / 1e3:.3f} ms ({100 * busy / length:.0f} %), with "
        f"{found['kernels']} kernels and {found['copies']} copies; gaps shown below: {idle / 1e3:.3f} ms"
    )
    shapes = [_rect("launch", 0, start, end, "launch") for start, end in found["launches"]]
    shapes += [_rect("wait", 1, start, end, f"wait: {what}") for start, end, what in found["waits"]]
    shapes += [_rect("busy", 2, start, end, "busy") for start, end in found["busy"]]
    shapes += [_rect("idle", 3, gap["start"], gap["end"], _said(gap)) for gap in found["idle"]]
    buttons = "".join(f'<button type="button" data-move="{move}">{text}</button>' for move, text in MOVES)
    lanes = "".join(f"<li>{lane}</li>" for lane in LANES)
    return (
        f'<p class="dim">{facts}</p><div class="zoom">{buttons}<span id="span" aria-live="polite"></span></div>'
        f'<div class="lanes"><ul>{lanes}</ul><svg viewBox="0 0 {length} 80" data-length="{length}" '
        f'preserveAspectRatio="none" role="img" aria-label="{as_html(facts)}">{"".join(shapes)}</svg></div>'
        f"<h3>Idle time by cause</h3>{_causes(found, anchors)}<h3>The longest gaps</h3>{_gaps(found, anchors)}"
    )


def _rect(kind: str, lane: int, start: float, end: float, said: str) -> str:
    place = f'x="{start:.2f}" y="{lane * 20 + 3}" width="{max(end - start, 0.01):.2f}" height="14"'
    return f'<rect class="{kind}" {place}><title>{as_html(said)}</title></rect>'


def _said(gap: dict[str, Any]) -> str:
    return f"idle for {gap['end'] - gap['start']:.0f} µs: {gap['cause']} ({gap['path']}:{gap['line']})"


def _causes(found: dict[str, Any], anchors: Anchors) -> str:
    sums: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    for gap in found["idle"]:
        sums[gap["cause"], gap["path"], gap["line"]].append(gap["end"] - gap["start"])
    rows = [
        {"cause": cause, "path": path, "line": line, "us": sum(gaps), "count": len(gaps)}
        for (cause, path, line), gaps in sums.items()
    ]
    columns: list[Column] = [
        ("Cause", lambda row: as_html(row["cause"])),
        ("Place", lambda row: anchors.link(row["path"], row["line"])),
        ("Gaps", lambda row: number(row["count"])),
        ("ms idle", lambda row: number(round(row["us"] / 1e3, 3))),
    ]
    return table(sorted(rows, key=lambda row: -row["us"]), columns)


def _gaps(found: dict[str, Any], anchors: Anchors) -> str:
    def show(gap: dict[str, Any]) -> str:
        text = f"{gap['start'] / 1e3:.3f} ms"
        return f'<button type="button" data-from="{gap["start"]}" data-to="{gap["end"]}">show at {text}</button>'

    columns: list[Column] = [
        ("µs idle", lambda gap: number(round(gap["end"] - gap["start"], 1))),
        ("Cause", lambda gap: as_html(gap["cause"])),
        ("Place", lambda gap: anchors.link(gap["path"], gap["line"])),
        ("In the timeline", show),
    ]
    longest = sorted(found["idle"], key=lambda gap: gap["start"] - gap["end"])[:100]
    return table(longest, columns)
