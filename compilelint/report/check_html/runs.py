"""What runs measured, from the JSON of `verify` and `trace`: figures before and after, and how findings fared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compilelint.escaping import as_html
from compilelint.report.page import figures
from compilelint.report.tables import Column, number, table

Json = Mapping[str, Any]
FIGURES = {
    "graphs": "graphs",
    "breaks": "graph breaks",
    "recompiles": "recompiles",
    "kernels": "kernels",
    "memops": "memory operations",
    "syncs": "host syncs",
    "gpu_us": "GPU time, µs",
    "wall_us": "wall time, µs",
}


def runs_shown(runs: Sequence[Json]) -> str:
    return "".join(_verification(run) if "before" in run else _trace(run) for run in runs)


def _verification(run: Json) -> str:
    rows = []
    for mode in ("eager", "compiled"):
        before, after = (run[side].get(mode) for side in ("before", "after"))
        if before and after:
            rows += [
                {"mode": mode, "figure": name, "before": _figure(before, key), "after": _figure(after, key)}
                for key, name in FIGURES.items()
                if _figure(before, key) is not None or _figure(after, key) is not None
            ]
    columns: list[Column] = [
        ("Mode", lambda row: as_html(row["mode"])),
        ("Figure", lambda row: as_html(row["figure"])),
        ("Before", lambda row: number(_short(row["before"]))),
        ("After", lambda row: number(_short(row["after"]))),
    ]
    held = "equal, and nothing worse" if run.get("ok") else "not equal, or worse"
    where = run["after"].get("device_name") or run.get("device", "")
    head = f"<h3>verify <code>{as_html(str(run['target']))}</code></h3><p>{held}, on {as_html(where)}</p>"
    return head + table(rows, columns)


def _figure(mode: Json, key: str) -> float | None:
    value = mode.get(key)
    if isinstance(value, list):
        return float(sum(site.get("count", 1) for site in value))
    return round(float(value), 1) if isinstance(value, (int, float)) else None


def _trace(run: Json) -> str:
    found = run["summary"]
    columns: list[Column] = [
        (
            "Status",
            lambda f: f'<span class="mark {f["run"]["status"].split()[0]}">{as_html(f["run"]["status"])}</span>',
        ),
        ("Rule", lambda f: as_html(f["code"])),
        ("Place", lambda f: f"<code>{as_html(f['path'])}:{f['line']}</code>"),
        ("Breaks", lambda f: number(f["run"]["breaks"])),
        ("Syncs", lambda f: number(f["run"]["syncs"])),
        ("ms blocked", lambda f: number(f["run"]["blocked_ms"])),
    ]
    boxes = figures([(value, name.replace("_", " ")) for name, value in found.items()])
    return f"<h3>trace <code>{as_html(run['program']['command'])}</code></h3>{boxes}{table(run['findings'], columns)}"


def _short(value: float | None) -> float | None:
    return int(value) if value is not None and value.is_integer() else value
