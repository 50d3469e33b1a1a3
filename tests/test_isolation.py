"""Nothing of what is checked is imported or run, though it lies where Python looks for modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compilelint.changed import changed_since

TELL = "open(__import__('os').environ['RAN'], 'a').write(__name__ + '\\n')\n"
CODE = "import torch, click, helper\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x\n"
FILES = 3
SCRIPT = "import sys; del sys.path[0]; from compilelint.cli import main; main()"  # as the `compilelint` script does
# `python -m compilelint` is out of our hands where the folder has a module of that name
NAMES = sorted(
    (set(sys.stdlib_module_names) | {"click", "rich", "pathspec", "libcst", "helper", "sitecustomize"}) - {"__main__"}
)


@pytest.mark.parametrize("start", [("-m", "compilelint"), ("-c", SCRIPT)], ids=["module", "script"])
@pytest.mark.parametrize("command", [("check",), ("fix", "--unsafe-fixes")], ids=["check", "fix"])
def test_modules_in_the_working_folder(tmp_path: Path, start: tuple[str, str], command: tuple[str, ...]) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in NAMES:
        (tree / f"{name}.py").write_text(TELL, encoding="utf-8")
    filler = "# a long file\n" * 40_000
    for number in range(FILES):  # in several parts, which several processes check
        (tree / f"code_{number}.py").write_text(TELL + CODE + filler, encoding="utf-8")
    source = os.environ.get("PYTHONPATH") or str(Path(__file__).parent.parent)
    env = {**os.environ, "RAN": str(tmp_path / "ran"), "COMPILELINT_CACHE_DIR": str(tmp_path), "PYTHONPATH": source}
    run = [sys.executable, *start, *command, "--isolated", "--jobs", "2"]
    done = subprocess.run(run, cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert f"{FILES} findings" in done.stdout or f"{FILES} fixes" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
def test_git_runs_no_program_that_the_repository_names(tmp_path: Path) -> None:
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 >> {ran}\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    tree = tmp_path / "tree"
    tree.mkdir()
    file = tree / "a.py"
    file.write_text("x = 1\n", encoding="utf-8")

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tree), "-c", "user.name=n", "-c", "user.email=e", *arguments], check=True)

    git("init", "--quiet")
    (tree / ".gitattributes").write_text("*.py diff=own\n", encoding="utf-8")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    file.write_text("x = 2\n", encoding="utf-8")
    for name in ("core.fsmonitor", "diff.external", "diff.own.command", "diff.own.textconv", "core.pager"):
        git("config", name, str(program))
    assert changed_since("HEAD", tree).lines
    assert not ran.exists()
