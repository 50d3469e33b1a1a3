"""Whether `compilelint trace` reports small cases at their line, with their kind.

    python benchmarks/trace_cases.py DIR                 # DIR/NNN/before.py and case.toml; on a GPU where there is one
    python benchmarks/trace_cases.py DIR --device cpu    # syncs are predictions

A case's `run(device, backend)` is what is traced. One of kind `graph-break` is found where a break, one of kind `sync`
where a sync stands on its line of before.py. Of kind `clean` are twins that must stay without breaks; their syncs are
shown, not judged. Where case.toml says how often a GPU waited at which line, that is shown beside.

A case that fails or hangs is told and the rest goes on. Writes benchmarks/results/trace_cases_<device>.json and .md
after each case, and prints the table. Run it from the root of the repository, with the project installed or with
PYTHONPATH=. set; of other packages it needs torch alone.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KINDS = {"graph-break": "break", "sync": "sync", "clean": "break"}
SHOWN = ("kind", "line", "count", "gb_type", "what", "blocked_us", "calls", "guard", "inside", "predicted")
Json = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", choices=["cpu", "cuda"], help="[default: cuda where there is one, else cpu]")
    parser.add_argument("--backend", default="eager", help="of the cases that compile")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=max((os.cpu_count() or 2) // 2, 1), help="cases at a time")
    parser.add_argument("--timeout", type=float, default=240, help="seconds for each case")
    parser.add_argument("--seconds", type=float, default=3600, help="no case is started later than that")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    options = parser.parse_args()
    import torch

    options.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch sees no GPU")
    started = time.monotonic()
    folders = [p.parent.resolve() for p in sorted(options.folder.glob("*/case.toml")) if options.only in p.parent.name]
    if not folders:
        parser.error(f"{options.folder}: holds no NNN/case.toml")
    found: dict[str, Json] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for done in as_completed([pool.submit(case, folder, options, started) for folder in folders]):
            result = done.result()
            found[result["case"]] = result
            report = written([found[name] for name in sorted(found)], len(folders), options)
    print(report)
    print(f"{time.monotonic() - started:.0f} s")
    return 0 if all(each["found"] for each in found.values()) else 1


def case(folder: Path, options: argparse.Namespace, started: float) -> Json:
    """One case: what was found, and at which lines."""
    from compilelint.config import tomllib

    facts: Json = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    known = facts.get("gpu", {}).get("sync_lines_before")
    result: Json = {
        "case": folder.name,
        "kind": facts["kind"],
        "line": facts["line"],
        "construct": facts.get("construct", ""),
        "known": None if known is None else counted(known),
        "found": False,
    }
    if time.monotonic() - started > options.seconds:
        return {**result, "error": "not started: the time was over"}
    begun = time.monotonic()
    backend = options.backend if facts.get("compiled", facts["kind"] == "graph-break") else None
    try:
        report = traced(folder, backend, options)
    except Exception as error:  # noqa: BLE001  # the other cases go on
        return {**result, "error": f"{type(error).__name__}: {error}"}
    return {**result, **judged(report, facts), "seconds": round(time.monotonic() - begun, 1)}


def traced(folder: Path, backend: str | None, options: argparse.Namespace) -> Json:
    """The report of a trace; {"error": …} where there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        out, driver = Path(scratch) / "report.json", Path(scratch) / "driver.py"
        driver.write_text(
            f"import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, {str(folder)!r})\nimport before\n"
            f"before.run({options.device!r}, {backend!r})\n",
            encoding="utf-8",
        )
        flags = ["--output-format", "json", "--output", str(out), "--isolated", "--timeout", str(options.timeout)]
        flags += ["--steps", "1000", "--syncs", "predict" if options.device == "cpu" else "measure"]
        done = subprocess.run(
            [sys.executable, "-m", "compilelint", "trace", *flags, str(driver)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
            capture_output=True,
            text=True,
            check=False,
            timeout=options.timeout + 120,
        )
        if not out.is_file():
            return {"error": done.stderr[-3000:]}
        report: Json = json.loads(out.read_text(encoding="utf-8"))
        return {**report, "stderr": done.stderr[-3000:]}


def judged(report: Json, facts: Json) -> Json:
    """What a report says of a case."""
    if "error" in report:
        return {"found": False, "error": report["error"]}
    program = report["program"]
    here = [each for each in report["events"] if each["path"] == "before.py"]
    lines = {kind: counts([each for each in here if each["kind"] == kind]) for kind in ("break", "sync")}
    own = lines[KINDS[facts["kind"]]]
    result: Json = {
        "found": not own if facts["kind"] == "clean" else str(facts["line"]) in own,
        "breaks": lines["break"],
        "syncs": lines["sync"],
        "events": [{key: each[key] for key in SHOWN if key in each} for each in here if each["kind"] != "graph"],
        "findings": [[each["code"], each["line"], each["run"]["status"]] for each in report["findings"]],
        "notes": report["notes"],
    }
    if program["exit_code"]:
        result["stderr"] = report["stderr"]
    if program["timed_out"] is not None or program["signal"] or program["exit_code"]:
        ended = program["signal"] or ("a timeout" if program["timed_out"] is not None else program["exit_code"])
        result["error"] = f"ended with {ended}"
    return result


def counts(events: Sequence[Json]) -> Json:
    found: Counter[int] = Counter()
    for each in events:
        found[each["line"]] += each["count"]
    return {str(line): count for line, count in sorted(found.items())}


def counted(lines: Sequence[int]) -> Json:
    return {str(line): count for line, count in sorted(Counter(lines).items())}


def table(found: Sequence[Json]) -> str:
    head = "| case | kind | line | found | breaks | syncs | known syncs |"
    rows = [head, "| --- | --- | ---: | --- | --- | --- | --- |"]
    for each in found:
        cells = [each["case"], each["kind"], str(each["line"] or ""), "yes" if each["found"] else "**no**"]
        if "error" in each:
            cells[3] += f" ({(each['error'].strip().splitlines() or ['no message'])[-1]})"
        cells += [_told(each.get(name)) for name in ("breaks", "syncs", "known")]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def _told(lines: Json | None) -> str:
    return ", ".join(f"{line} \u00d7{count}" if count > 1 else line for line, count in (lines or {}).items())


def summary(found: Sequence[Json], offered: int) -> str:
    rows = []
    for kind in KINDS:
        group = [each for each in found if each["kind"] == kind]
        missed = [each["case"] for each in group if not each["found"]]
        text = f"- {kind}: {len(group) - len(missed)} of {len(group)}"
        text += " without a break" if kind == "clean" else " at their line"
        rows.append(f"{text}; missed: {', '.join(missed)}" if missed else text)
    if len(found) < offered:
        rows.append(f"- {offered - len(found)} are not done")
    return "\n".join(rows) + "\n"


def written(found: Sequence[Json], offered: int, options: argparse.Namespace) -> str:
    """The report, which is written beside the figures."""
    import torch

    device = torch.cuda.get_device_name() if options.device == "cuda" else "a CPU"
    when = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    versions = f"torch {torch.__version__}, Python {platform.python_version()}"
    syncs = "predicted" if options.device == "cpu" else "measured"
    text = (
        f"# trace: small cases on {device}\n\n"
        f"Made by `python benchmarks/trace_cases.py DIR --device {options.device}`: {when}, {versions}.\n"
        f"Lines of before.py at which breaks were seen and syncs {syncs}; what case.toml knows of syncs on a GPU.\n\n"
        f"{summary(found, offered)}\n{table(found)}"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"trace_cases_{options.device}"
    stem.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


if __name__ == "__main__":
    sys.exit(main())
