"""verify, on real code: two versions of a small file, each run by a worker process on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from compilelint import api
from compilelint.cli import compilelint
from compilelint.errors import UsageProblem
from compilelint.runtime import VerifyResult

NAN_GUARD = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(2))
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            for layer in self.layers:
                x = torch.relu(layer(x))
                GUARD
            return {"out": x, "mean": x.mean()}

    def make():
        return Net(), (torch.randn(4, 8),)
"""
BRANCHES = "if torch.isnan(x).any(): x = torch.zeros_like(x)"
SELECTS = "x = torch.where(torch.isnan(x).any(), torch.zeros_like(x), x)"


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def write(folder: Path, text: str, name: str = "m.py") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")


def verify(cwd: Path, before: str, after: str, target: str = "m.py:make", **options: object) -> VerifyResult:
    write(cwd / "before", before)
    write(cwd / "after", after)
    settings: dict[str, object] = {"backend": "eager", "timeout": 300, **options}
    return api.verify(target, "before", "after", cwd=cwd, **settings)


def command(*arguments: str) -> Result:
    return CliRunner().invoke(compilelint, ["verify", *arguments], standalone_mode=False)


def checks(result: VerifyResult) -> dict[tuple[str, str], bool]:
    return {(check.mode, check.what): check.equal for check in result.checks}


@pytest.mark.slow
def test_a_break_removed_by_inductor(tmp_path: Path) -> None:
    before, after = NAN_GUARD.replace("GUARD", BRANCHES), NAN_GUARD.replace("GUARD", SELECTS)
    result = verify(tmp_path, before, after, backend="inductor")
    assert result.ok, result.problems
    one, two = result.before.compiled, result.after.compiled
    assert one is not None and two is not None
    assert [(site.path, site.line, site.what) for site in one.breaks] == [("m.py", 14, "Data-dependent branching")]
    assert "whole frame" in one.breaks[0].detail  # a break in a loop
    assert (one.graphs, two.graphs, two.breaks) == (0, 1, [])
    assert one.generated == 0
    assert two.generated
    assert any(name.startswith("cpp_fused") for name in two.kernel_names)
    assert one.kernels is not None and two.kernels is not None and two.kernels < one.kernels
    eager = result.before.eager
    assert eager is not None and eager.syncs is not None
    assert [(site.place, site.what, site.count) for site in eager.syncs] == [("m.py:14", "Tensor.__bool__", 2)]
    assert result.after.eager is not None and result.after.eager.syncs == []
    counts = {(check.mode, check.what): check.count for check in result.checks}
    assert counts["eager", "outputs"] == 4  # two values, two calls
    assert counts["compiled", "gradients"] == 8
    assert counts["compiled", "state"] == 5
    table = api.verification_table(result)
    assert "equal results, nothing worse" in table and "m.py:14" in table
    assert not list((tmp_path / "before").glob("__pycache__"))


def test_the_reverse_is_worse_and_exits_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "before", NAN_GUARD.replace("GUARD", SELECTS))
    write(tmp_path / "after", NAN_GUARD.replace("GUARD", BRANCHES))
    monkeypatch.chdir(tmp_path)
    done = command("m.py:make", "--before", "before", "--after", "after", "--backend", "eager", "--json")
    assert done.return_value == 1, done.output
    told = json.loads(done.output)
    assert told["ok"] is False
    assert "compiled: breaks: 0 → 1" in told["problems"]
    assert "eager: syncs: 0 → 2" in told["problems"]


PLAIN = """
    import torch

    def run(x, weight):
        BODY

    def make():
        return run, (torch.linspace(-1, 1, 6), torch.ones(6, requires_grad=True))
"""


def plain(body: str) -> str:
    return PLAIN.replace("BODY", body)


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_git_revision_against_the_working_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package in a folder below the repository's root; the target's file is new, and taken from the working tree."""
    package = tmp_path / "repo" / "project" / "pack"
    package.mkdir(parents=True)
    write(package, "", "__init__.py")
    write(package, "from .scale import SCALE\n\ndef run(x):\n    return x * SCALE\n", "core.py")
    write(package, "SCALE = 2.0\n", "scale.py")
    git(tmp_path / "repo", "init", "-q")
    git(tmp_path / "repo", "add", ".")
    git(tmp_path / "repo", "commit", "-qm", "one")
    write(package, "SCALE = 3.0\n", "scale.py")
    write(
        package.parent,
        "import torch\nfrom pack.core import run\n\ndef make():\n    return run, (torch.ones(3),)\n",
        "check.py",
    )
    monkeypatch.chdir(package.parent)
    result = api.verify("check.py:make", "HEAD", backend="eager", timeout=120)
    assert result.before.label.startswith("HEAD (")
    assert result.before.notes == [f"check.py is not in {result.before.label}: taken from the other side"]
    assert checks(result)["eager", "outputs"] is False
    assert "by up to 1" in result.problems[0]
    status = subprocess.run(["git", "status", "--porcelain", "--ignored"], capture_output=True, text=True, check=True)
    assert status.stdout.split() == ["M", "project/pack/scale.py", "??", "project/check.py"]
    with pytest.raises(UsageProblem, match="neither a directory nor a git revision"):
        api.verify("check.py:make", "nowhere")


def test_code_of_the_other_version_is_refused(tmp_path: Path) -> None:
    reaching = f"import sys\nsys.path.insert(0, {str(tmp_path / 'after')!r})\nfrom helper import run\n"
    make = "import torch\ndef make():\n    return run, (torch.ones(3),)\n"
    write(tmp_path / "after", "def run(x):\n    return x\n", "helper.py")
    with pytest.raises(UsageProblem, match=r"before: imported .*/after/helper.py of the other version"):
        verify(tmp_path, reaching + make, reaching + make)


def test_a_before_that_cannot_be_run(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"before \(before\): could not be run: ZeroDivisionError.*\(at m.py:2\)"):
        verify(tmp_path, "\n1 / 0\n", plain("return x"))


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("absent.module:make", "there is no module 'absent.module'"),
        ("platform:machine", "both versions would run the same code"),
    ],
)
def test_targets_that_cannot_be_used(tmp_path: Path, target: str, told: str) -> None:
    with pytest.raises(UsageProblem, match=told):
        verify(tmp_path, "", "", target)


def test_nothing_measured_exits_with_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for side in ("before", "after"):
        write(tmp_path / side, plain("raise ValueError('no')"))
    done = command("m.py:make", "--before", "before", "--after", "after", "--backend", "eager")
    assert done.return_value == 2, done.output
    assert done.output.splitlines()[-1].startswith("nothing was measured: both versions raise (torch ")


def test_usage_errors_exit_with_2(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "m.py").write_text("", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    for arguments, told in [
        (["m.py:make"], "--before"),
        (["m.py", "--before", "old"], "expected path/to/file.py:name"),
        (["absent.py:make", "--before", "old"], "there is no absent.py"),
        (["m.py:make", "--before", "old", "--input", "f33[2]"], "unknown dtype 'f33'"),
        (["m.py:make", "--before", "nowhere"], "nowhere: no such directory"),
        (["m.py:make", "--before", "m.py"], "is a file"),
        (["m.py:make", "--before", "old", "--device", "tpu"], "expected cpu, cuda or cuda:N"),
    ]:
        done = subprocess.run(
            [sys.executable, "-m", "compilelint", "verify", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done
        assert told in done.stderr


def test_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageProblem, match="needs torch"):
        verify(tmp_path, "", "", "json:dumps")
