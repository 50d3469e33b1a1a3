"""What the fix of each rule changes when it runs: its fixture before and after, verified.

    python benchmarks/rule_effects.py                     # on a GPU; --device cpu counts breaks and predicted syncs
    python benchmarks/rule_effects.py --only cl101

Every pair `fixtures/NAME.py`, `NAME.fixed.py` runs all its cases, moved to the device: kernels, memory operations, host
syncs, graph breaks and graphs of one call, before and after. Rules of graph breaks are counted compiled, by Inductor,
others in eager code. Writes benchmarks/results/rule_effects_<device>.json and .md, of which the rules' pages tell. Run
it from the root of the repository, with the project installed or with PYTHONPATH=. set; it needs torch alone.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ("kernels", "memops", "syncs", "breaks", "graphs")
Json = dict[str, Any]

TARGET = """
import torch
from torch.utils import _pytree as pytree

import fixture


def moved(leaf):
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().to("DEVICE").requires_grad_(leaf.requires_grad)
    return leaf.to("DEVICE") if isinstance(leaf, torch.nn.Module) else leaf


def detached(leaf):
    return leaf.detach() if isinstance(leaf, torch.Tensor) else leaf


def make():
    cases = [(moved(function), pytree.tree_map(moved, tuple(args))) for function, args in fixture.make_cases()]

    def run():
        found = []
        for function, args in cases:
            torch.manual_seed(0)
            found.append(pytree.tree_map(detached, function(*args)))
        return [each for each in pytree.tree_leaves(found) if isinstance(each, torch.Tensor | int | float)]

    return run, ()
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="", help="fixtures whose name contains this")
    parser.add_argument("--jobs", type=int, default=6, help="at a time")
    parser.add_argument("--seconds", type=float, default=400, help="none is started later than that")
    parser.add_argument("--timeout", type=float, default=150, help="seconds for each side")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    options = parser.parse_args()
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # small graphs: a pool of compilers takes longer to start
    started = time.monotonic()
    pairs = sorted(path for path in (ROOT / "fixtures").glob("*.fixed.py") if options.only in path.name)
    with ThreadPoolExecutor(options.jobs) as pool:
        found: list[Json] = []
        for each in pool.map(lambda path: effect(path, options, started), pairs):
            found += [each] if each else []
            report = written(found, options)  # what is done is kept, whatever comes next
    print(report)
    return 0


def effect(fixed: Path, options: argparse.Namespace, started: float) -> Json | None:
    """The figures of one pair; None where the time is over."""
    from compilelint import registry
    from compilelint.errors import UsageProblem
    from compilelint.runtime import verify

    if time.monotonic() - started > options.seconds:
        return None
    stem = fixed.name.removesuffix(".fixed.py")
    rule = registry.find_rule(stem.partition("_")[0].upper())
    compiled = "graph-break" in rule.effects
    result: Json = {"rule": rule.code, "fixture": stem, "how": "compiled" if compiled else "eager"}
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch).resolve()
        for side, source in (("before", fixed.with_name(f"{stem}.py")), ("after", fixed)):
            (place / side).mkdir()
            shutil.copyfile(source, place / side / "fixture.py")
            (place / side / "target.py").write_text(TARGET.replace("DEVICE", options.device), encoding="utf-8")
        how = {"device": options.device, "backend": "inductor", "timeout": options.timeout}
        try:
            checked = verify("target.py:make", str(place / "before"), str(place / "after"), **how)
        except UsageProblem as problem:
            return result | {"error": str(problem)}
    for side, measured in (("before", checked.before), ("after", checked.after)):
        mode = measured.compiled if compiled else measured.eager
        if mode is None or mode.exception or measured.error:
            return result | {"error": f"{side}: {measured.error or (mode and mode.exception) or 'not measured'}"}
        result[side] = {
            "kernels": mode.kernels,
            "memops": mode.memops,
            "syncs": mode.sync_count,
            "breaks": len(measured.compiled.breaks) if compiled and measured.compiled else None,
            "graphs": measured.compiled.graphs if compiled and measured.compiled else None,
        }
    return result | {"ok": checked.ok, "problems": checked.problems}


def table(found: Sequence[Json]) -> str:
    lines = ["| rule | fixture | how | " + " | ".join(FIGURES) + " | verify |", "| --- " * (len(FIGURES) + 4) + "|"]
    for each in found:
        if "error" in each:
            said = each["error"].strip().splitlines()[-1][:120].replace("|", "\\|")
            lines.append(f"| {each['rule']} | {each['fixture']} | {each['how']} | {said} |" + " |" * len(FIGURES))
            continue
        cells = []
        for name in FIGURES:
            before, after = each["before"][name], each["after"][name]
            cells.append("" if before is None or after is None else f"{before} \u2192 {after}")
        said = "ok" if each["ok"] else "; ".join(each["problems"])[:120].replace("|", "\\|")
        lines.append(f"| {each['rule']} | {each['fixture']} | {each['how']} | {' | '.join(cells)} | {said} |")
    return "\n".join(lines) + "\n"


def written(found: Sequence[Json], options: argparse.Namespace) -> str:
    """The report, which is written beside the figures."""
    import torch

    device = torch.cuda.get_device_name() if options.device.startswith("cuda") else "a CPU"
    when = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    text = (
        f"# What fixes change, on {device}\n\n"
        f"Made by `python benchmarks/rule_effects.py --device {options.device}`: {when}, torch {torch.__version__}, "
        f"Python {platform.python_version()}.\nAll cases of a fixture, before \u2192 after.\n\n{table(found)}"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"rule_effects_{options.device.partition(':')[0]}"
    data = {"device": device, "torch": torch.__version__, "date": when, "effects": found}
    stem.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


if __name__ == "__main__":
    sys.exit(main())
