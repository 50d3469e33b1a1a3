"""Several processes: the same findings, and no finding lost when a file or a process fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing import get_all_start_methods
from pathlib import Path

import pytest

from compilelint import parts, runner
from compilelint.config import Settings
from compilelint.errors import InstallationError
from compilelint.finding import Finding, Region, RegionKind, Severity, Span, TraceStep, one_per_site
from compilelint.outcome import Outcome
from compilelint.registry import HEADINGS
from compilelint.runner import Job, Part, run

CODE = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x * x.sum().item()\n"


def finding(severity: Severity, kind: RegionKind, *effects: str, root: str = "") -> Finding:
    region = Region(kind, root, "")
    return Finding("CL101", "n", effects, severity, Span("a.py", 1, 1, 1, 2), "m", region)  # type: ignore[arg-type]


def test_the_gravest_of_a_site_stays() -> None:
    weak = finding(Severity.WARNING, "library", "sync")
    strong = finding(Severity.ERROR, "compiled", "graph-break", root="m:f")
    (left,) = one_per_site([weak, strong, weak])
    assert left == replace(strong, effects=("graph-break", "sync"))


def test_order_does_not_matter() -> None:
    found = [finding(Severity.ERROR, "compiled", "sync", root=root) for root in ("m:b", "m:a")]
    assert one_per_site(found) == one_per_site(found[::-1])
    assert one_per_site(found)[0].region.root == "m:a"


def test_nor_does_it_for_reasons() -> None:
    base = finding(Severity.WARNING, "library", "sync")
    found = [replace(base, trace=(TraceStep(path, 1, "t"),)) for path in ("b.py", "a.py")]
    assert one_per_site(found) == one_per_site(found[::-1]) == [found[1]]


def test_one_file_that_raises_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(part: Part, job: Job) -> Outcome:
        if Path("bad.py") in part:
            raise ValueError("boom")
        return Outcome([unreadable for path in part if (unreadable := runner.unreadable(path))])

    monkeypatch.setattr(runner, "work", work)
    outcome = run([Path("a.py"), Path("bad.py"), Path("c.py"), Path("d.py")], Settings())
    assert [found.span.path for found in outcome.findings] == ["a.py", "c.py", "d.py"]  # none of them exists
    (error,) = outcome.errors
    assert (str(error.path), error.message) == ("bad.py", "ValueError: boom")
    assert "ValueError: boom" in error.traceback


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_part_of_ours_that_is_missing_is_told_once(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    tried = []

    def work(part: Part, job: Job) -> Outcome:
        tried.append(part)
        raise ImportError("cannot import name 'x' from 'compilelint.sdk'", name="compilelint.sdk")

    monkeypatch.setattr(runner, "work", work)
    with pytest.raises(InstallationError, match=r"^compilelint can't be loaded: cannot import name 'x' from 'compil"):
        run([Path(f"{n}.py") for n in range(8)], Settings(jobs=jobs))
    assert len(tried) == 1


PLUG = """
import os

from compilelint.sdk import Call, Rule

rule = Rule("XX901", "fails", effects=("sync",))


@rule.on(Call, "torch.nonzero", "torch.unique")
def check(event, ctx):
    if event.target == "torch.nonzero":
        os._exit(9)
    raise ValueError("boom")
    yield
"""


@pytest.fixture
def plugged(tmp_path: Path) -> dict[str, str]:
    """An environment in which a rule is installed that dies or raises on a marked call."""
    site = tmp_path / "site"
    info = site / "plug-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[compilelint.rules]\nplug = plug_rule\n", encoding="utf-8")
    headings = "".join(f"## {heading}\nx\n" for heading in HEADINGS)
    (site / "plug_rule.py").write_text(f'"""A rule that fails.\n\n{headings}"""\n{PLUG}', encoding="utf-8")
    (tmp_path / "config.toml").write_text('plugins = ["plug"]\n', encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))}


def check(folder: Path, env: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    config = folder.parent / "config.toml"
    settings = ["--config", str(config)] if config.exists() else ["--isolated"]
    command = [sys.executable, "-m", "compilelint", "check", *settings, *args, "."]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


def tree(folder: Path, bad: str = "") -> Path:
    folder.mkdir()
    for number in range(24):
        text = CODE + f"# {'x' * (parts.WHOLE_BYTES // 20)}\n"  # more than one part in all
        (folder / f"m{number:02}.py").write_text(text, encoding="utf-8")
    if bad:
        text = f"import torch\n\n\n@torch.compile\ndef g(x: torch.Tensor):\n    return {bad}\n"
        (folder / "m11_bad.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_jobs_do_not_change_the_report(tmp_path: Path) -> None:
    folder = tree(tmp_path / "src")
    env = dict(os.environ)
    one = check(folder, env, "--jobs", "1", "--output-format", "json")
    two = check(folder, env, "--jobs", "2", "--output-format", "json")
    assert one.returncode == two.returncode == 1
    assert one.stdout == two.stdout
    assert one.stdout.count('"line": 6') >= 24


@pytest.mark.slow
def test_a_process_that_dies_costs_only_its_file(tmp_path: Path, plugged: dict[str, str]) -> None:
    folder = tree(tmp_path / "src", "torch.nonzero(x)")
    done = check(folder, plugged, "--jobs", "2", "--output-format", "github")
    assert done.returncode == 2
    assert "m11_bad.py: internal error: the analysing process died" in done.stderr
    assert all(f"m{number:02}.py" in done.stdout for number in range(24))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_rule_that_raises_is_named(tmp_path: Path, plugged: dict[str, str], jobs: str) -> None:
    folder = tree(tmp_path / "src", "torch.unique(x)")
    done = check(folder, plugged, "--jobs", jobs, "--output-format", "github")
    assert done.returncode == 2
    assert "m11_bad.py" in done.stderr
    assert "XX901" in done.stderr
    assert "ValueError: boom" in done.stderr
    assert all(f"m{number:02}.py" in done.stdout for number in range(24))


@pytest.mark.slow
def test_a_compile_root_reaches_functions_in_the_part_of_another_process(tmp_path: Path) -> None:
    padding = f"# {'x' * 400_000}\n"
    (tmp_path / "a_train.py").write_text(
        "import torch\nfrom z_helper import helper\n\n\n"
        f"@torch.compile\ndef f(x: torch.Tensor):\n    return helper(x)\n{padding}"
    )
    (tmp_path / "m_other.py").write_text(f"import torch\n{padding}")
    (tmp_path / "z_helper.py").write_text(
        f"import torch\n\n\ndef helper(x):\n    if x.sum() > 0:\n        x = -x\n    return x\n{padding}"
    )
    one, two = (check(tmp_path, dict(os.environ), "--jobs", jobs, "--output-format", "json") for jobs in ("1", "2"))
    assert '"line": 5' in one.stdout
    assert one.stdout == two.stdout


PARENT = """
import os, sys, time
from compilelint.runner import _pool

if __name__ == "__main__":
    with _pool(1, None) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600)
        time.sleep(600)
"""


IMPORTED = """
from compilelint import runner

if __name__ == "__main__":
    with runner._pool(1, None) as pool:
        print(pool.submit(eval, "'compilelint.analysis' in __import__('sys').modules").result())
"""


@pytest.mark.slow
@pytest.mark.skipif("forkserver" not in get_all_start_methods(), reason="nothing to fork from")
def test_workers_need_not_import_what_they_work_with(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(IMPORTED, encoding="utf-8")
    done = subprocess.run([sys.executable, "parent.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.slow
def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT, encoding="utf-8")
    with subprocess.Popen([sys.executable, "parent.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while _alive(worker):
        assert time.monotonic() < deadline, "the worker outlives its parent"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
