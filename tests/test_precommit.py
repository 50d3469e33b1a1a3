"""The hooks under the real pre-commit, tried on a sample repository as its users would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from published import git, published

pytestmark = pytest.mark.slow

BAD = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2
    return x
"""
FIXABLE = """\
import torch


def grid(n: int, device: torch.device) -> torch.Tensor:
    return torch.arange(n).to(device)  # made on the host
"""


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("hooks"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests: the hooks' environment is installed once."""
    return tmp_path_factory.mktemp("pre-commit-home")


@pytest.fixture
def sample(tmp_path: Path, hooks: Path) -> Path:
    """A repository with one commit that uses both hooks."""
    git(tmp_path, "init", "--quiet")
    head = git(hooks, "rev-parse", "HEAD").strip()
    config = f"repos:\n- repo: {hooks}\n  rev: {head}\n  hooks: [{{id: compilelint-check}}, {{id: compilelint-fix}}]\n"
    stage(tmp_path, ".pre-commit-config.yaml", config)
    git(tmp_path, "commit", "--quiet", "--message", "start")
    return tmp_path


def pre_commit(sample: Path, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", *args, "--verbose"]
    env = {**os.environ, "PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never"}
    env.pop("PYTHONPATH", None)
    return subprocess.run(command, cwd=sample, env=env, capture_output=True, text=True, timeout=600, check=False)


def stage(sample: Path, name: str, text: str) -> None:
    (sample / name).write_text(text, encoding="utf-8")
    git(sample, "add", name)


def test_try_repo(sample: Path, hooks: Path, home: Path) -> None:
    stage(sample, "bad.py", BAD)
    stage(sample, "broken.py", "import torch\ndef f(:\n")
    done = pre_commit(sample, home, "try-repo", str(hooks), "compilelint-check")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "- exit code: 1" in done.stdout
    assert "bad.py:6:8" in done.stdout
    assert "broken.py:2:7" in done.stdout
    assert "Traceback" not in done.stdout


def test_findings_fail_the_hook_and_clean_files_pass(sample: Path, home: Path) -> None:
    stage(sample, "bad.py", BAD)
    done = pre_commit(sample, home, "run", "compilelint-check")
    assert done.returncode == 1, done.stdout
    assert "bad.py:6:8" in done.stdout
    stage(sample, "bad.py", "import torch\n")
    assert pre_commit(sample, home, "run", "compilelint-check").returncode == 0


def test_no_torch_is_installed(sample: Path, home: Path) -> None:
    stage(sample, "ok.py", "x = 1\n")
    done = pre_commit(sample, home, "run")
    assert done.returncode == 0, done.stdout
    installed = {path.name.partition("-")[0] for path in home.glob("repo*/py_env-*/lib/python*/site-packages/*")}
    assert "compilelint" in installed
    assert not {"torch", "numpy", "triton"} & installed


def test_no_staged_python_file(sample: Path, home: Path) -> None:
    stage(sample, "notes.md", "text\n")
    done = pre_commit(sample, home, "run")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("no files to check") == 2


def test_a_deleted_file(sample: Path, home: Path) -> None:
    stage(sample, "old.py", BAD)
    git(sample, "commit", "--quiet", "--message", "old")
    git(sample, "rm", "--quiet", "old.py")
    stage(sample, "new.py", "import torch\n")
    done = pre_commit(sample, home, "run")
    assert done.returncode == 0, done.stdout
    assert "old.py" not in done.stdout


def test_a_file_deleted_in_the_working_tree_alone(sample: Path, home: Path) -> None:
    stage(sample, "gone.py", "import torch\n")
    (sample / "gone.py").unlink()
    done = pre_commit(sample, home, "run")
    assert done.returncode == 0, done.stdout
    assert not (sample / "gone.py").exists()


def test_fix_tells_of_a_syntax_error_and_fixes_the_others(sample: Path, home: Path) -> None:
    stage(sample, "broken.py", "import torch\ndef f(:\n")
    stage(sample, "grid.py", FIXABLE)
    done = pre_commit(sample, home, "run", "compilelint-fix")
    assert done.returncode == 1, done.stdout
    assert "broken.py" in done.stdout
    assert "Traceback" not in done.stdout
    assert (sample / "grid.py").read_text(encoding="utf-8") != FIXABLE


def test_excluded_files_stay_excluded_when_they_are_named(sample: Path, home: Path) -> None:
    stage(sample, "bad.py", BAD)
    stage(sample, "pyproject.toml", '[tool.compilelint]\nexclude = ["bad.py"]\n')
    done = pre_commit(sample, home, "run")
    assert done.returncode == 0, done.stdout


def test_fixes_are_written_and_fail_the_hook_once(sample: Path, home: Path) -> None:
    stage(sample, "grid.py", FIXABLE)
    done = pre_commit(sample, home, "run", "compilelint-fix")
    assert done.returncode == 1, done.stdout
    assert "files were modified by this hook" in done.stdout
    assert "torch.arange(n, device=device)  # made on the host" in (sample / "grid.py").read_text(encoding="utf-8")
    git(sample, "add", "grid.py")
    assert pre_commit(sample, home, "run", "compilelint-fix").returncode == 0
