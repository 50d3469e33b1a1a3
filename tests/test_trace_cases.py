"""The benchmark of traced cases: what counts as found, its table, and cases on a CPU, one of which fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fixturefiles import ROOT, load

SCRIPT = ROOT / "benchmarks" / "trace_cases.py"


def report(*events: dict[str, Any], **program: Any) -> dict[str, Any]:
    ended = {"exit_code": 0, "signal": "", "timed_out": None, **program}
    return {"program": ended, "events": [{"path": "before.py", **each} for each in events], "findings": [], "notes": []}


BREAK = {"kind": "break", "line": 7, "count": 1, "gb_type": "Data-dependent branching"}
SYNC = {"kind": "sync", "line": 7, "count": 3, "what": "Tensor.item"}


@pytest.mark.parametrize(
    ("kind", "line", "event", "found"),
    [
        ("graph-break", 7, BREAK, True),
        ("graph-break", 7, SYNC, False),
        ("graph-break", 8, BREAK, False),
        ("sync", 7, SYNC, True),
        ("sync", 7, {**SYNC, "path": "other.py"}, False),
        ("clean", 0, SYNC, True),
        ("clean", 0, BREAK, False),
    ],
)
def test_found(kind: str, line: int, event: dict[str, Any], found: bool) -> None:
    judged = load(SCRIPT).judged(report(event), {"kind": kind, "line": line})
    assert judged["found"] is found and "error" not in judged


def test_a_program_that_failed_is_an_error() -> None:
    script, facts = load(SCRIPT), {"kind": "sync", "line": 7}
    failed = script.judged({**report(SYNC, exit_code=1), "stderr": "Oh"}, facts)
    assert failed["error"] == "ended with 1" and failed["stderr"] == "Oh"
    assert script.judged(report(SYNC, exit_code=None, timed_out=3.0), facts)["error"] == "ended with a timeout"


def test_table() -> None:
    script = load(SCRIPT)
    one = {"case": "001", "kind": "sync", "line": 7, "known": {"7": 2}, "found": True, "breaks": {}, "syncs": {"7": 3}}
    two = {"case": "002", "kind": "graph-break", "line": 3, "known": None, "found": False, "error": "a\nb"}
    assert script.table([one, two]).splitlines()[2:] == [
        "| 001 | sync | 7 | yes |  | 7 \u00d73 | 7 \u00d72 |",
        "| 002 | graph-break | 3 | **no** (b) |  |  |  |",
    ]
    assert script.summary([one, two], 3).splitlines() == [
        "- graph-break: 0 of 1 at their line; missed: 002",
        "- sync: 1 of 1 at their line",
        "- clean: 0 of 0 without a break",
        "- 1 are not done",
    ]


PROGRAM = """
import torch

def double(x):
    if x.sum() > 0:
        x = x + 1
    return x * 2

def run(device="cpu", backend="eager"):
    return torch.compile(double, backend=backend)(torch.ones(3, device=device))
"""
FAILING = """
def run(device="cpu", backend=None):
    raise ValueError("of its own")
"""


@pytest.mark.slow
def test_on_a_cpu(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for name, kind, text, line in (("001", "graph-break", PROGRAM, 5), ("101", "sync", FAILING, 3)):
        folder = tmp_path / "cases" / name
        folder.mkdir(parents=True)
        (folder / "before.py").write_text(text, encoding="utf-8")
        (folder / "case.toml").write_text(f'kind = "{kind}"\nline = {line}\n', encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(tmp_path / "cases"), "--device", "cpu", "--jobs", "1"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)],
        env={"PATH": "", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    one, two = json.loads((tmp_path / "trace_cases_cpu.json").read_text(encoding="utf-8"))
    assert one["found"] and one["breaks"] == {"5": 1}
    assert not two["found"] and two["error"] == "ended with 1" and "of its own" in two["stderr"]
    assert "| 101 | sync | 3 | **no** (ended with 1) |" in done.stdout
