"""The walk: what is taken, what is left out, and what is said of paths that can't be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compilelint.source.files import Exclusions, mentions_torch, select
from compilelint.source.layout import Layout
from compilelint.source.project import Project


def make(root: Path, *names: str, text: str = "import torch\n") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def taken(root: Path, exclusions: Exclusions | None = None, *paths: Path) -> list[str]:
    selection = select(paths or [root], exclusions)
    return [file.relative_to(root).as_posix() for file in selection.files]


def test_python_files_sorted_and_default_folders_left_out(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/c.py", "a/script.pyw", "a/stub.pyi", "a/notes.txt")
    make(tmp_path, ".venv/x.py", "build/x.py", "node_modules/m/x.py", "__pycache__/x.py", ".git/hooks/x.py")
    assert taken(tmp_path) == ["b.py", "a/c.py", "a/script.pyw"]


def test_a_folder_named_by_the_user_is_walked_even_in_an_excluded_one(tmp_path: Path) -> None:
    make(tmp_path, ".venv/lib/pkg/x.py")
    assert taken(tmp_path, None, tmp_path / ".venv" / "lib") == [".venv/lib/pkg/x.py"]


def test_exclude_globs(tmp_path: Path) -> None:
    make(tmp_path, "keep.py", "gen/a.py", "deep/gen/b.py", "deep/old_c.py")
    assert taken(tmp_path, Exclusions(("gen/", "old_*.py"), tmp_path)) == ["keep.py"]
    assert taken(tmp_path, Exclusions(("/gen",), tmp_path)) == ["keep.py", "deep/old_c.py", "deep/gen/b.py"]


def test_named_files_are_excluded_only_with_force(tmp_path: Path) -> None:
    make(tmp_path, "gen/a.py", "build/b.py", "c.py")
    files = [tmp_path / "gen/a.py", tmp_path / "build/b.py", tmp_path / "c.py"]
    assert taken(tmp_path, Exclusions(("gen",), tmp_path), *files) == ["gen/a.py", "build/b.py", "c.py"]
    assert taken(tmp_path, Exclusions(("gen",), tmp_path, force=True), *files) == ["c.py"]


def test_gitignore_counts_inside_a_work_tree_only(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "sub/b.py", "sub/keep.py", "sub/deep/b.py")
    make(tmp_path, ".gitignore", text="b.py\n")
    assert "sub/b.py" in taken(tmp_path)
    (tmp_path / ".git").mkdir()
    assert taken(tmp_path) == ["a.py", "sub/keep.py"]
    make(tmp_path, "sub/deep/.gitignore", text="!b.py\n")
    assert taken(tmp_path) == ["a.py", "sub/keep.py", "sub/deep/b.py"]
    assert taken(tmp_path, None, tmp_path / "sub") == ["sub/keep.py", "sub/deep/b.py"]
    assert "sub/b.py" in taken(tmp_path, Exclusions(gitignore=False))


def test_an_ignored_folder_named_by_the_user_is_walked(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    make(tmp_path, ".gitignore", text="out/\n")
    make(tmp_path, "out/pkg/a.py")
    assert taken(tmp_path) == []
    assert taken(tmp_path, None, tmp_path / "out") == ["out/pkg/a.py"]


def test_symbolic_links_stay_inside(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    make(outside, "secret.py")
    make(inside, "real.py")
    (inside / "alias.py").symlink_to(inside / "real.py")
    (inside / "leak.py").symlink_to(outside / "secret.py")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "dangling.py").symlink_to(inside / "gone.py")
    assert len(taken(inside)) == 1


def test_the_name_of_a_file_goes_before_that_of_a_link(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "real.py", "z.py")
    (tmp_path / "alias.py").symlink_to("real.py")
    assert taken(tmp_path) == ["b.py", "real.py", "z.py"]
    assert taken(tmp_path, None, tmp_path / "real.py", tmp_path / "alias.py") == ["real.py"]
    assert taken(tmp_path, None, tmp_path / "alias.py") == ["alias.py"]


def test_each_file_once(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    assert taken(tmp_path, None, tmp_path, tmp_path / "a.py", tmp_path / "." / "a.py") == ["a.py"]


def test_what_can_not_be_taken_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "ok.py", "pkg.py/inner.py", "notes.md")
    os.mkfifo(tmp_path / "pipe.py")
    selection = select([tmp_path / n for n in ("gone.py", "pipe.py", "notes.md", "ok.py", "pkg.py", "ok.py/x.py")])
    assert [file.name for file in selection.files] == ["ok.py", "inner.py"]
    assert [line.rpartition(": ")[2] for line in selection.problems] == [
        "no such file or directory",
        "not a regular file",
        "no such file or directory",
    ]
    assert selection.notices == [f"{tmp_path / 'notes.md'}: not a Python file; skipped"]
    assert taken(tmp_path) == ["ok.py", "pkg.py/inner.py"]  # the pipe is not opened


@pytest.mark.parametrize("bad", ["[z-a]", "!", "[z-a]\n!\n"])
def test_a_bad_line_of_a_gitignore_is_ignored_alone(tmp_path: Path, bad: str) -> None:
    (tmp_path / ".git").mkdir()
    make(tmp_path, ".gitignore", text=f"out/\n{bad}\nold.py\n")
    make(tmp_path, "a.py", "old.py", "out/b.py", "z.py")
    assert taken(tmp_path) == ["a.py", "z.py"]


def test_a_gitignore_that_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".gitignore")
    make(tmp_path, "sub/a.py")
    assert taken(tmp_path) == ["sub/a.py"]
    assert taken(tmp_path, None, tmp_path / "sub") == ["sub/a.py"]


@pytest.mark.parametrize(("data", "expected"), [(b"import Torch", True), (b"x = 1\n", False), (b"", False)])
def test_prefilter(tmp_path: Path, data: bytes, expected: bool) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(data)
    assert mentions_torch(file) is expected


def test_imports_follow_no_link_out_of_the_tree(tmp_path: Path) -> None:
    make(tmp_path, "outside/secret.py", "tree/inside/shared.py", "tree/main.py")
    tree = tmp_path / "tree"
    (tree / "alias.py").symlink_to(tree / "inside" / "shared.py")
    (tree / "leak.py").symlink_to(tmp_path / "outside" / "secret.py")
    (tree / "package").symlink_to(tmp_path / "outside")
    project = Project(Layout.of([tree / "main.py"]))
    assert project.locate("alias") is not None
    assert project.locate("leak") is None and project.locate("package.secret") is None
    named = Project(Layout.of([tree / "main.py", tree / "leak.py"]))
    assert named.locate("leak") == tree / "leak.py"  # the user named it
