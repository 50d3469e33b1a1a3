"""What `compilelint trace` sees on a GPU (or, with --device cpu, predicts), against what is known.

    python benchmarks/trace_gpu.py models                # three models: against explain and TORCH_LOGS, and overhead
    python benchmarks/trace_gpu.py profile --only resnet # keeps the profile of two steps, to see what is read of it
    python benchmarks/trace_gpu.py models --device cpu --backend eager

Writes benchmarks/results/trace_models_<device>.json and .md. Run it from the root of the repository, with the project
installed or with PYTHONPATH=. set.
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
from collections.abc import Sequence
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


def models_table(found: Sequence[Json]) -> str:
    head = "| model | breaks | log's missing | explain's breaks | syncs | blocked | step | traced | same losses |"
    lines = [head, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
    for each in found:
        if "error" in each:
            lines.append(f"| {each['model']} | {each['error'].strip().splitlines()[-1]} | | | | | | | |")
            continue
        total = each["report"]["summary"]
        blocked = "" if total["blocked_ms"] is None else f"{total['blocked_ms']:.2f} ms"
        explained = each["explained"]
        breaks = explained["breaks"] if isinstance(explained, dict) else "failed"
        times = f"{each['plain_ms']:.1f} ms | {each['traced_ms']:.1f} ms"
        same = "yes" if each["same_losses"] else f"within {each['furthest']:.2g}"
        lines.append(
            f"| {each['model']} | {total['breaks']} | {len(each['missing'])} of {len(each['logged'])} | {breaks} "
            f"| {total['syncs']} | {blocked} | {times} | {same} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["models", "profile"])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="inductor", help="of the models")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    options = parser.parse_args()
    options.syncs = "predict" if options.device == "cpu" else "measure"
    if options.part == "profile":
        profile(options.only or "resnet", options)
        return 0
    found: list[Json] = []
    for name in ("resnet", "gpt2", "vit"):
        if options.only in name:
            found.append(model(name, options))
            report = written(found, options)  # what is done is kept, whatever the next does
    print(report)
    return 0 if not any("error" in each for each in found) else 1


def written(found: Sequence[Json], options: argparse.Namespace) -> str:
    """The report, which is written beside the figures."""
    import torch

    device = torch.cuda.get_device_name() if options.device != "cpu" else "a CPU"
    when = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    facts = f"{when}, torch {torch.__version__}, Python {sys.version.split()[0]}"
    made = f"Made by `python benchmarks/trace_gpu.py {options.part}`: {facts}."
    text = f"# trace: {options.part} on {device}\n\n{made}\n\n{models_table(found)}"
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"trace_{options.part}_{options.device}"
    stem.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


if __name__ == "__main__":
    sys.exit(main())
