"""Nothing of what is checked is imported or run, though it lies where Python looks for modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
