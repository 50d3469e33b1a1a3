"""`fix --verify`: fixes are kept for what a run of the program proves, the rest is told and left."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from compilelint import api
from compilelint.cli import compilelint
from compilelint.config import Settings
from compilelint.errors import UsageProblem
from compilelint.fixing import FixRun

CODE = """
    import os, sys, time, torch

    def train(model, batches):
        total = 0.0
        for x in batches:
            loss = model(x).mean()
            loss.backward()
            total += loss.item()
        return total

    def evaluate(model, batches):
        worst = 0.0
        for x in batches:
            loss = model(x).square().mean()
            loss.backward()
            worst += loss.item()
        CHECK
        return worst

    def unused(model, batches):
        total = 0.0
        for x in batches:
            loss = model(x).mean()
            loss.backward()
            total += loss.item()
        return total

    def make():
        torch.manual_seed(0)
        model, batches = torch.nn.Linear(4, 1), [torch.randn(2, 4) for _ in range(3)]
        return (lambda: CALLS), ()

    def audit():
        # what no analysis sees: it needs the caller's variable to be a float
        worst = sys._getframe(1).f_locals["worst"]
        if not isinstance(worst, float):
            END
"""
BOTH = "(train(model, batches), evaluate(model, batches))"


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "project")


def write(text: str) -> str:
    Path("m.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return Path("m.py").read_text(encoding="utf-8")


def code(check: str = "pass", calls: str = BOTH, end: str = "raise TypeError(worst)") -> str:
    return CODE.replace("CHECK", check).replace("CALLS", calls).replace("END", end)


def proved(*, apply: bool = False, **more: Any) -> FixRun:
    settings = Settings(unsafe_fixes=True, select=("CL204",), jobs=1)
    return api.fix(["m.py"], settings, apply=apply, verify="m.py:make", backend="eager", timeout=300, **more)


def test_all_hold_but_what_does_not_run(tmp_path: Path) -> None:
    """And what the program writes, it writes into the copy."""
    before = write(code("open('log.txt', 'w').write('x')"))
    run = proved()
    assert run.prover is not None and run.prover.runs == 1
    (file,) = run.result.changed
    assert file.diff.count("+        total += loss.detach()") == 1
    assert file.diff.count("+        worst += loss.detach()") == 1
    ((place, skipped),) = run.result.disproved
    assert (place, skipped.line) == ("m.py:26", 26)
    assert "m.py:make does not run it" in skipped.reason
    assert Path("m.py").read_text(encoding="utf-8") == before
    assert os.listdir(tmp_path / "tmp") == []
    assert os.listdir() == ["m.py"]


def test_what_fails_is_left_and_told() -> None:
    write(code("audit()"))
    options = ["--unsafe-fixes", "--isolated", "--select", "CL204", "--verify", "m.py:make", "--backend", "eager"]
    arguments = ["fix", "m.py", "--apply", *options]
    done = CliRunner().invoke(compilelint, arguments, standalone_mode=False)
    assert done.return_value == 0, done.output
    assert "m.py:17: CL204 Accumulate on the device: not kept: eager: exceptions differ: before: none" in done.output
    assert "TypeError" in done.output
    assert "Verified: equal results, nothing worse" in done.output
    assert "Applied 1 fix in 1 file. (2 not kept: see above)" in done.output
    text = Path("m.py").read_text(encoding="utf-8")
    assert "total += loss.detach()" in text and "worst += loss.item()" in text


def test_nothing_holds() -> None:
    """A fix that ends the process is a failed proof like any other."""
    before = write(code("audit()", "evaluate(model, batches)", "os._exit(4)"))
    run = proved(apply=True)
    assert not run.result.changed
    assert run.prover is not None and run.prover.result is None
    assert any("exited with code 4" in skipped.reason for _, skipped in run.result.disproved)
    assert Path("m.py").read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (code("worst += os.urandom(1)[0] * 1000 + os.urandom(1)[0]"), "differs from itself at a second run"),
        (code("raise ValueError('no')"), "raises ValueError: no (at m.py:18): nothing can be proved"),
        (code("os._exit(3)"), "exited with code 3 without a result while eager: call 1 of 2"),
    ],
    ids=["random", "raises", "exits"],
)
def test_a_target_that_proves_nothing(tmp_path: Path, text: str, told: str) -> None:
    before = write(text)
    with pytest.raises(UsageProblem) as caught:
        proved(apply=True)
    assert told in str(caught.value)
    assert Path("m.py").read_text(encoding="utf-8") == before
    assert os.listdir(tmp_path / "tmp") == []


def test_files_that_changed_meanwhile_are_not_written() -> None:
    write(code())
    seen: list[str] = []

    def progress(text: str) -> None:
        if not seen:
            with Path("m.py").open("a", encoding="utf-8") as file:
                file.write("# mine\n")
        seen.append(text)

    run = proved(apply=True, progress=progress)
    assert run.exit_code == 2
    assert "changed since it was read" in run.result.failures[0]
    text = Path("m.py").read_text(encoding="utf-8")
    assert text.endswith("# mine\n") and "loss.detach()" not in text
