"""The benchmark that counts beside verify: its own counting, its table, and a rehearsal on a CPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fixturefiles import ROOT, load

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="reads TOML")
SCRIPT = ROOT / "benchmarks" / "verify_cases.py"


def test_tally() -> None:
    events = [
        ("aten::add", False, False),
        ("cudaLaunchKernel", False, False),
        ("void at::native::vectorized_elementwise_kernel<4>", True, False),
        ("triton_poi_fused_add_0", True, False),
        ("a mark", True, True),
        ("Memcpy DtoH (Device -> Pageable)", True, False),
        ("Memset (Device)", True, False),
        ("cudaMemcpyAsync", False, False),
        ("cudaStreamSynchronize", False, False),
        ("Stream Sync", True, False),
    ]
    assert load(SCRIPT).tally(events) == {"kernels": 2, "memops": 2, "syncs": 1}


def counted(**other: int) -> dict[str, int]:
    return {"kernels": 3, "memops": 1, "syncs": 1, **other}


def test_table_and_agreement() -> None:
    script = load(SCRIPT)
    agreeing: dict[str, Any] = {
        "case": "001_one",
        "kind": "graph-break",
        "ok": True,
        "problems": [],
        "known": {"before": counted(syncs=2), "after": counted(syncs=1)},
        "verify": {"before": {**counted(), "breaks": 1}, "after": {**counted(syncs=0), "breaks": 0}},
        "plain": {"before": counted(), "after": counted(syncs=0)},
    }
    other = {
        **agreeing,
        "case": "002_two",
        "plain": {"before": counted(kernels=4), "after": counted(syncs=0)},
        "known": {"before": counted(syncs=5)},
    }
    broken = {"case": "003_three", "kind": "sync", "error": "before: raises\nmore"}
    found = [agreeing, other, broken]
    assert script.table(found).splitlines()[2:] == [
        "| 001_one | graph-break | 3 → 3 | 1 → 1 | 1 → 0 | 1 → 0 | ok | agrees | agrees |",
        "| 002_two | graph-break | 3 → 3 | 1 → 1 | 1 → 0 | 1 → 0 | ok | before kernels 3, 4 | before syncs 1, 4 |",
        "| 003_three | sync | before: raises | | | | | | |",
    ]
    assert script.summary(found, 4).splitlines() == [
        "- graph-break: 2 of 2 ran, 2 held; 1 of 2 agree with the plain run in all six counts",
        "- sync: 0 of 1 ran, 0 held; 0 of 0 agree with the plain run in all six counts",
        "- 1 were not started: the time was over",
    ]


BREAK = """
import torch

def double(x):
    ADD
    return x * 2

def run(device="cpu", backend="eager"):
    return torch.compile(double, backend=backend)(torch.ones(3, device=device))
"""
SYNC = """
import torch

def run(device="cpu", backend=None):
    x = torch.ones(3, device=device)
    return x.sum()READ
"""


@pytest.mark.slow
def test_rehearsal(tmp_path: Path) -> None:
    for name, kind, text, before, after in (
        ("001", "graph-break", BREAK.replace("ADD", "{}"), "if x.sum() > 0: x = x + 1", "x = x + 1"),
        ("101", "sync", SYNC.replace("READ", "{}"), ".item()", ""),
    ):
        folder = tmp_path / "cases" / name
        folder.mkdir(parents=True)
        (folder / "before.py").write_text(text.format(before), encoding="utf-8")
        (folder / "after.py").write_text(text.format(after), encoding="utf-8")
        (folder / "case.toml").write_text(f'kind = "{kind}"\n', encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(tmp_path / "cases"), "--device", "cpu", "--backend", "eager"]
    done = subprocess.run(
        [*command, "--jobs", "1", "--seconds", "900", "--timeout", "600", "--out", str(tmp_path)],
        env={"PATH": "", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    one, two = json.loads((tmp_path / "verify_cases_cpu.json").read_text(encoding="utf-8"))
    assert [one["verify"][side]["breaks"] for side in ("before", "after")] == [1, 0]
    assert [two["verify"][side]["syncs"] for side in ("before", "after")] == [1, 0]
    assert one["ok"] and two["ok"], (one["problems"], two["problems"])
    assert one["plain"] == two["plain"] == {"before": {}, "after": {}}
    assert "| 001 | graph-break |" in done.stdout
