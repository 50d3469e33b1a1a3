"""What `compilelint trace` sees on a GPU (or, with --device cpu, predicts), against what is known.

    python benchmarks/trace_gpu.py models                # three models: against explain and TORCH_LOGS, and overhead
    python benchmarks/trace_gpu.py cases DIR             # folders with before.py and case.toml
    python benchmarks/trace_gpu.py profile --only resnet # keeps the profile of two steps, to see what is read of it
    python benchmarks/trace_gpu.py models --device cpu --backend eager

Writes benchmarks/results/trace_<part>_<device>.json and .md. A case is found when an event of its kind stands on its
line of before.py; its `run(device, backend)` is what is traced. Run it from the root of the repository, with the
project installed or with PYTHONPATH=. set.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "benchmarks" / "programs"
TIMEOUT = 240
LOGGED = re.compile(r"Graph break in user code at (\S+?):(\d+)")
Json = dict[str, Any]


def traced(command: Sequence[str], cwd: Path, *options: str) -> tuple[Json, str, float]:
    """The report of a trace, what the program printed on stdout, and the seconds that it all took."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.json"
        flags = ["--output-format", "json", "--output", str(out), "--isolated", "--timeout", str(TIMEOUT), *options]
        start = time.perf_counter()
        run = [sys.executable, "-m", "compilelint", "trace", *flags, *command]
        done = subprocess.run(run, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        if not out.is_file():
            return {"error": done.stderr[-3000:]}, done.stdout, seconds
        report: Json = json.loads(out.read_text(encoding="utf-8"))
        report["stderr"] = done.stderr[-3000:]
        return report, done.stdout, seconds


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", **more}


def case(folder: Path, options: argparse.Namespace) -> Json:
    """One case: what was found, and which lines."""
    from compilelint.config import tomllib

    facts = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    backend = "eager" if facts["kind"] == "graph-break" else None
    with tempfile.TemporaryDirectory() as scratch:
        driver = Path(scratch) / "driver.py"
        driver.write_text(
            f"import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, {str(folder)!r})\nimport before\n"
            f"before.run({options.device!r}, {backend!r})\n",
            encoding="utf-8",
        )
        report, _, seconds = traced([str(driver)], folder, "--steps", "1000", "--syncs", options.syncs)
    if "error" in report:
        return {"case": folder.name, "kind": facts["kind"], "found": False, "error": report["error"]}
    kind = "break" if facts["kind"] == "graph-break" else "sync"
    here = [each for each in report["events"] if each["path"] == "before.py"]
    lines: Counter[int] = Counter()
    for each in here:
        if each["kind"] == kind:
            lines[each["line"]] += each["count"]
    known = facts.get("gpu", {}).get("sync_lines_before")
    return {
        "case": folder.name,
        "kind": facts["kind"],
        "line": facts["line"],
        "construct": facts["construct"],
        "found": facts["line"] in lines,
        "lines": {str(line): count for line, count in sorted(lines.items())},
        "known": None if known is None else {str(line): count for line, count in sorted(Counter(known).items())},
        "events": [{key: each.get(key) for key in SHOWN if key in each} for each in here if each["kind"] != "graph"],
        "findings": [[each["code"], each["line"], each["run"]["status"]] for each in report["findings"]],
        "exit_code": report["program"]["exit_code"],
        "notes": report["notes"],
        "stderr": report["stderr"] if report["program"]["exit_code"] else "",
        "seconds": round(seconds, 1),
    }


SHOWN = ("kind", "line", "count", "gb_type", "what", "blocked_us", "calls", "guard")


def model(name: str, options: argparse.Namespace) -> Json:
    """One program, plainly and traced; and what others say of its breaks."""
    command = [f"{name}.py", "--device", options.device, "--backend", options.backend, "--steps", str(options.steps)]
    plainly = subprocess.run(
        [sys.executable, *command], cwd=PROGRAMS, env=environment(), capture_output=True, text=True, check=False
    )
    if plainly.returncode:
        return {"model": name, "error": plainly.stderr[-3000:]}
    plain = json.loads(plainly.stdout)
    report, printed, seconds = traced(command, PROGRAMS, "--after", str(options.steps // 3), "--syncs", options.syncs)
    if "error" in report:
        return {"model": name, "error": report["error"]}
    log = subprocess.run(
        [sys.executable, *command],
        cwd=PROGRAMS,
        env=environment(TORCH_LOGS="graph_breaks"),
        capture_output=True,
        text=True,
        check=False,
    )
    logged = sorted({f"{file}:{line}" for file, line in LOGGED.findall(log.stderr)})
    explained = subprocess.run(
        [sys.executable, *command, "--explain"],
        cwd=PROGRAMS,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    breaks = [each for each in report["events"] if each["kind"] == "break"]
    places = {each["inside"] or f"{each['path']}:{each['line']}" for each in breaks}
    own = json.loads(printed)
    return {
        "model": name,
        "same_losses": own["losses"] == plain["losses"],
        "furthest": max(abs(a - b) for a, b in zip(own["losses"], plain["losses"], strict=True)),
        "plain_ms": plain["step_ms"],
        "traced_ms": own["step_ms"],
        "seconds": round(seconds, 1),
        "logged": logged,
        "missing": [place for place in logged if not any(place.endswith(seen) for seen in places)],
        "explained": json.loads(explained.stdout) if explained.returncode == 0 else explained.stderr[-2000:],
        "gb_types": sorted({each["gb_type"] for each in breaks}),
        "report": {key: value for key, value in report.items() if key != "work"},
    }


def profile(name: str, options: argparse.Namespace) -> None:
    """The raw profile of two steps and the report made of it, in the output folder."""
    from compilelint import api

    arguments = ["--device", options.device, "--backend", options.backend, "--steps", "6"]
    settings = api.load_settings(isolated=True)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = str(options.out.resolve())
    result = api.trace(f"{name}.py", arguments, settings=settings, cwd=PROGRAMS, after=2, steps=2, keep=kept)
    raw = options.out / "profile.json"
    (options.out / f"profile_{name}.json.gz").write_bytes(gzip.compress(raw.read_bytes()))
    raw.unlink()
    (options.out / f"profile_{name}_report.json").write_text(api.render_trace(result, "json"), encoding="utf-8")
    (options.out / f"profile_{name}.html").write_text(api.render_trace(result, "html"), encoding="utf-8")
    print(api.render_trace(result, "text"))


def cases_table(found: Sequence[Json]) -> str:
    lines = ["| case | kind | line | found | lines | known |", "| --- | --- | ---: | --- | --- | --- |"]
    for each in found:
        cells = (
            each["case"],
            each["kind"],
            each.get("line", ""),
            "yes" if each["found"] else "",
            each.get("lines", ""),
        )
        known = each.get("known")
        lines.append("| " + " | ".join(str(cell) for cell in (*cells, "" if known is None else known)) + " |")
    lines.append("")
    for kind in ("graph-break", "sync"):
        group = [each for each in found if each["kind"] == kind]
        missed = [each["case"] for each in group if not each["found"]]
        text = f"{kind}: {len(group) - len(missed)} of {len(group)}"
        lines.append(f"{text}; missed: {', '.join(missed)}" if missed else text)
    return "\n".join(lines) + "\n"


def models_table(found: Sequence[Json]) -> str:
    head = "| model | breaks | log's breaks missing | syncs | blocked | step | traced | same losses |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
    for each in found:
        if "error" in each:
            lines.append(f"| {each['model']} | {each['error'].strip().splitlines()[-1]} | | | | | | |")
            continue
        total = each["report"]["summary"]
        blocked = "" if total["blocked_ms"] is None else f"{total['blocked_ms']:.2f} ms"
        times = f"{each['plain_ms']:.1f} ms | {each['traced_ms']:.1f} ms"
        same = "yes" if each["same_losses"] else f"within {each['furthest']:.2g}"
        lines.append(
            f"| {each['model']} | {total['breaks']} | {len(each['missing'])} of {len(each['logged'])} "
            f"| {total['syncs']} | {blocked} | {times} | {same} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["models", "cases", "profile"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="inductor", help="of the models")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--only", default="", help="cases or models whose name contains this")
    parser.add_argument("--jobs", type=int, default=4, help="cases at a time")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    options = parser.parse_args()
    options.syncs = "predict" if options.device == "cpu" else "measure"
    if options.part == "profile":
        profile(options.only or "resnet", options)
        return 0
    if options.part == "cases":
        if options.folder is None:
            parser.error("cases: name the folder")
        folders = sorted(
            path.parent.resolve() for path in options.folder.glob("*/case.toml") if options.only in str(path)
        )
        with ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(lambda folder: case(folder, options), folders))
        table = cases_table(found)
    else:
        found = [model(name, options) for name in ("resnet", "gpt2", "vit") if options.only in name]
        table = models_table(found)
    import torch

    device = torch.cuda.get_device_name() if options.device != "cpu" else "a CPU"
    when = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    facts = f"{when}, torch {torch.__version__}, Python {sys.version.split()[0]}"
    made = f"Made by `python benchmarks/trace_gpu.py {options.part}`: {facts}."
    text = f"# trace: {options.part} on {device}\n\n{made}\n\n{table}"
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"trace_{options.part}_{options.device}"
    stem.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
