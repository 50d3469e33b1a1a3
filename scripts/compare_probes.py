"""Run the probes on the installed torch and tell where its table says something else.

    python scripts/compare_probes.py [--every 10] [--jobs 2]

One probe in ten by default; `--every 1` runs all. Prints a line for each disagreement, and exits with 1 when there is
one. tests/test_tables.py runs it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import workers
from probes import calls, suite

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from compilelint.models import tables

# why a probe says nothing on this machine: too slow, or a package that it needs is missing
NOT_HERE = ("died or timed out", "ModuleNotFoundError")


def shipped(job: workers.Job, table: tables.Table) -> dict[str, Any] | None:
    """What the table says of a probe; None where it could not be measured."""
    if job[0] == "construct":
        return table.construct(job[1])
    target = calls.entries()[job[1]][0]
    if target in table.data["breaks"]:
        return dict(table.data["breaks"][target])
    return {} if target in table.data["traces"] else None


def measure(jobs: list[workers.Job], processes: int) -> list[dict[str, Any]]:
    """The verdicts, {} for what traces; a probe that didn't run has `invalid` or `error`."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    command = [sys.executable, str(Path(__file__).with_name("probe_worker.py"))]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COMPILELINT_PROBE_DIR"] = folder
        found = workers.run(command, jobs, processes=processes, timeout=120, start_timeout=300)
    return [{key: value for key, value in verdict.items() if key != "returned"} for verdict in found]


def main() -> int:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    major, minor = torch.__version__.split(".")[:2]
    table = tables.load((int(major), int(minor)))
    jobs: list[workers.Job] = [["construct", name] for name in suite.names()]
    # tests that need a GPU or a process of their own are left to make_tables.py
    jobs += [["call", n] for n, (target, _, _) in enumerate(calls.entries()) if not target.startswith("torch.cuda.")]
    jobs = [job for job in jobs[:: args.every] if shipped(job, table) is not None]
    different = 0
    for job, verdict in zip(jobs, measure(jobs, args.jobs), strict=True):
        if verdict.get("invalid", "").startswith(NOT_HERE):
            continue
        if verdict != shipped(job, table):
            different += 1
            name = calls.entries()[job[1]][0] if job[0] == "call" else job[1]
            print(f"{name}: measured {verdict}, the table of torch {major}.{minor} has {shipped(job, table)}")
    print(f"{len(jobs)} probes run, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
