"""scripts/groundtruth: what is recorded of a case, how cases are merged, and how findings are scored."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fixturefiles import ROOT

FOLDER = ROOT / "scripts" / "groundtruth"
TRUTHS = sorted((ROOT / "benchmarks" / "groundtruth").glob("truth_*.json"))

PACKAGE = """\
import torch


def inlined(x):
    return x.sum().item()


def branch(x):
    if x.sum() > 0:
        return x + inlined(x)
    return x


def skipped(x):
    for _ in range(2):
        if x.sum() > 0:
            x = x - 1
    return x


def both(x):
    y = branch(x)
    return skipped(y)


def fails(x):
    raise ValueError("its own")
"""


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(FOLDER))
    return {name: importlib.import_module(name) for name in ("collect", "score")}


def line(text: str) -> int:
    return next(number for number, source in enumerate(PACKAGE.splitlines(), 1) if text in source)


@pytest.mark.slow
def test_breaks_and_traced_lines_are_recorded(tmp_path: Path) -> None:
    """A branch on data, a break in an inlined callee, and a frame that Dynamo gives up because it breaks in a loop."""
    pytest.importorskip("torch")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "tiny.py").write_text(PACKAGE)
    driver = f"""
import sys
from pathlib import Path
sys.path[:0] = [{str(FOLDER)!r}, {str(ROOT)!r}]
from case import Cases
import collect
cases = Cases({{"tiny": "1"}})

def build(name):
    def made():
        import tiny, torch
        return getattr(tiny, name), (torch.ones(3),)
    made.__name__ = name
    cases.of("tiny")(made)

build("both"), build("fails")
work = Path({str(tmp_path)!r})
collect.run(cases.cases, "breaks", work / "site", work, 2, 120)
import json
both, fails = (json.loads((work / f"{{name}}.json").read_text()) for name in ("both", "fails"))
print(json.dumps([collect.merge([both], {{"tiny.py": "tiny"}}), fails]))
"""
    done = subprocess.run([sys.executable, "-c", driver], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files, failed = json.loads(done.stdout)
    sites = {(site["line"], site["gb_type"], site["skipped"]) for site in files["tiny.py"]["breaks"]}
    assert (line("    if x.sum() > 0:"), "Data-dependent branching", False) in sites
    assert line("return x.sum().item()") in {number for number, kind, _ in sites if "item()" in kind}
    assert (line("        if x.sum() > 0:"), "Data-dependent branching", True) in sites
    traced = {number for first, last in files["tiny.py"]["traced"] for number in range(first, last + 1)}
    assert {line("y = branch(x)"), line("return skipped(y)"), line("for _ in range(2)")} <= traced
    assert line("raise ValueError") not in traced
    assert "its own" in failed["failed"]


def test_lines_and_sites_of_cases_are_united(modules: dict[str, ModuleType]) -> None:
    one = {"files": {"p/a.py": [[1, 2, 3], [[2, "Data-dependent branching", False]]], "dep.py": [[1], []]}}
    two = {"files": {"p/a.py": [[3, 4, 9], [[2, "Data-dependent branching", True], [9, "Missing tp_iternext", True]]]}}
    merged = modules["collect"].merge([one, two], {"p/a.py": "p"})
    branch = {"line": 2, "gb_type": "Data-dependent branching", "skipped": True, "secondary": False, "cases": 2}
    follows = {"line": 9, "gb_type": "Missing tp_iternext", "skipped": True, "secondary": True, "cases": 1}
    assert merged == {"p/a.py": {"package": "p", "traced": [[1, 4], [9, 9]], "breaks": [branch, follows]}}


def finding(first: int, last: int, severity: str = "error", effects: tuple[str, ...] = ("graph-break",)) -> Any:
    return {"line": first, "end_line": last, "severity": severity, "effects": effects, "code": "CL101", "message": "m"}


def test_recall_and_precision(modules: dict[str, ModuleType]) -> None:
    score = modules["score"]

    def site(number: int, kind: str = "Data-dependent branching", secondary: bool = False) -> dict[str, Any]:
        return {"line": number, "gb_type": kind, "secondary": secondary}

    sites = [site(2), site(7), site(9, "Observed exception"), site(11, secondary=True)]
    files = {
        "p/a.py": {"package": "p", "traced": [[1, 12]], "breaks": sites},
        "q/b.py": {"package": "q", "traced": [[1, 3]], "breaks": []},
    }
    findings = {
        "p/a.py": [finding(1, 2), finding(9, 9), finding(4, 4), finding(20, 20), finding(5, 6)],
        "q/b.py": [finding(3, 8)],
    }
    source = {"p/a.py": [""] * 5 + ["if x.dtype == torch.bfloat16:"] + [""] * 20, "q/b.py": [""] * 8}
    total = score.score(files, findings, source.__getitem__)
    # core sites are 2 and 7; of 7 nothing is said. Line 20 was not traced, 5 to 6 name a half-precision type.
    assert total.line() == "recall 0.500 (1/2)   precision 0.500 (2/4)"
    assert total.line("p") == "recall 0.500 (1/2)   precision 0.667 (2/3)"
    assert total.line("q") == "recall - (0/0)   precision 0.000 (0/1)"
    assert total.missed == ["p/a.py:7 Data-dependent branching"]
    assert total.false == ["p/a.py:4 CL101 m", "q/b.py:3 CL101 m"]


def test_notes_and_other_effects_are_not_scored(modules: dict[str, ModuleType]) -> None:
    kept = finding(1, 1, "warning", ("sync", "graph-break"))
    said = [kept, finding(1, 1, "note"), finding(1, 1, effects=("sync",))]
    assert modules["score"].relevant(said, "graph-break") == [kept]


@pytest.mark.parametrize("path", TRUTHS, ids=lambda path: path.stem)
def test_truths_are_whole(path: Path, modules: dict[str, ModuleType]) -> None:
    truth, secondary = json.loads(path.read_text(encoding="utf-8")), modules["collect"].SECONDARY
    assert path.stat().st_size < 1_000_000
    assert set(truth["cases"].values()) == set(truth["versions"])
    for file in truth["files"].values():
        assert file["package"] in truth["versions"]
        lines = [number for span in file["traced"] for number in span]
        assert lines == sorted(lines)  # none where Dynamo gave up the only frame before its first line
        assert not {site["gb_type"] for site in file["breaks"] if not site["secondary"]} & secondary


def test_sets_share_no_package() -> None:
    versions = [set(json.loads(path.read_text(encoding="utf-8"))["versions"]) for path in TRUTHS]
    assert not versions or len(set.union(*versions)) == sum(map(len, versions))
