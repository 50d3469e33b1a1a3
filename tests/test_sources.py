"""Private copies of a tree."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from compilelint.errors import UsageProblem
from compilelint.runtime import sources
from compilelint.runtime.sources import Tree, copy


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_what_a_copy_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "project"
    for name in (
        "pack/m.py",
        "rules/r.py",
        "data/big.bin",
        "outputs/a.pt",
        ".venv/pyvenv.cfg",
        "pack/__pycache__/m.pyc",
    ):
        write(root / name)
    write(root / "env" / "pyvenv.cfg")
    write(root / "weights.bin", "x" * 100)
    write(root / ".gitignore", "data/\noutputs/\n*.so\n")
    write(root / "pack" / "native.so")
    (root / "pack" / "rules").symlink_to("../rules")
    (root / "far").symlink_to(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    monkeypatch.setattr(sources, "LINKED_BYTES", 50)
    write(root / "tmp" / "scratch" / "leftover")  # the copy may lie in the tree itself
    made = copy(Tree(root, root / "pack", "working tree"), root / "tmp" / "scratch" / "tree")
    assert (made.cwd, made.label) == (made.root / "pack", "working tree")
    names = {str(path.relative_to(made.root)) for path in made.root.rglob("*")}
    assert {"pack/m.py", "pack/native.so", "rules/r.py", "tmp"} <= names
    assert not {name for name in names if "venv" in name or "env/" in name or "pycache" in name or ".git/" in name}
    links = {name: os.readlink(made.root / name) for name in names if (made.root / name).is_symlink()}
    assert links == {
        "data": str(root / "data"),
        "outputs": str(root / "outputs"),
        "pack/rules": "../rules",
        "far": str(tmp_path),
        "weights.bin": str(root / "weights.bin"),
    }
    (made.root / "pack" / "m.py").write_text("changed", encoding="utf-8")
    assert (root / "pack" / "m.py").read_text(encoding="utf-8") == "x"


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_FILES", 2)
    for number in range(3):
        write(tmp_path / "project" / str(number))
    with pytest.raises(UsageProblem, match="has more than 2 files: too many for a private copy"):
        copy(Tree(tmp_path / "project", tmp_path / "project", "x"), tmp_path / "copy")
