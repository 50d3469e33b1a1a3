"""The demo, and the sample project that it shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from compilelint.cli import compilelint

SAMPLE = Path(__file__).parent.parent / "compilelint" / "sample"


def demo(*arguments: str) -> Result:
    return CliRunner().invoke(compilelint, ["demo", *arguments], standalone_mode=False)


def test_findings_and_fixes(tmp_path: Path) -> None:
    done = demo("--no-verify", "--keep", str(tmp_path))
    assert done.return_value == 0, done.output
    for code in ("CL102", "CL105", "CL111", "CL204", "CL205", "CL401", "CL402"):
        assert f"{code} " in done.output
    assert "-            if torch.isnan(x).any():" in done.output
    assert "+            x = torch.where(torch.isnan(x).any()" in done.output
    assert "Not verified" in done.output
    for path in SAMPLE.glob("*.py"):
        assert (tmp_path / "before" / path.name).read_text() == path.read_text()
    assert "torch.where" in (tmp_path / "after" / "model.py").read_text()
    assert "from data import" in (tmp_path / "after" / "model.py").read_text()


def test_needs_no_torch(tmp_path: Path) -> None:
    """An interpreter in which torch can't be imported: the demo checks and fixes, and says what it leaves out."""
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from importlib import util; found = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'torch' else found(name, *rest)\n"
        "from compilelint.cli import main; sys.argv = ['compilelint', 'demo']; main()\n"
    )
    root = str(SAMPLE.parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{code}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "torch is not installed here" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_fixes_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    done = demo("--verify", "--device", "cpu")
    assert done.return_value == 0, done.output
    assert "compilelint verify train.py:verify_target --before before --after after --backend eager --device cpu" in (
        done.output
    )
    assert "equal results, nothing worse" in done.output
    assert "Data-dependent branching (the whole frame runs eagerly)" in done.output
    assert not list(tmp_path.iterdir())
