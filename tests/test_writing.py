"""Files are replaced as a whole or stay as they are, whatever is in the way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from compilelint import api, baseline, budgetfile, writing
from compilelint.errors import UsageProblem
from compilelint.fix.errors import WriteError
from compilelint.fix.write import read_source, write_source
from compilelint.source.files import read_regular, select
from compilelint.writing import PREFIX, replace_file, write_text

SOURCE = 'import torch\n\n\n@torch.compile\ndef step(x):\n    print("step")\n    return x\n'


@pytest.fixture(autouse=True)
def _each_folder_anew() -> None:
    writing._remove_left_behind.cache_clear()


@pytest.mark.parametrize("name", ["mkdir", "fsync", "chmod", "replace", "setxattr"])
def test_no_room_at_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    original = getattr(os, name, None)

    def full(*arguments: Any, **options: Any) -> Any:
        if name == "setxattr" or "sync" in name or PREFIX in str(arguments[0]):
            raise OSError(28, "No space left on device")
        assert original is not None
        return original(*arguments, **options)

    monkeypatch.setattr(os, name, full, raising=False)
    if name == "setxattr":  # attributes that can't be kept prevent nothing
        monkeypatch.setattr(os, "listxattr", lambda *_: ["user.a"], raising=False)
        monkeypatch.setattr(os, "getxattr", lambda *_: b"", raising=False)
        replace_file(file, b"new")
        assert file.read_bytes() == b"new"
    else:
        with pytest.raises(OSError, match="No space left"):
            replace_file(file, b"new")
        assert file.read_bytes() == b"old"
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_a_file_that_may_grow_no_further(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)); "
        "sys.argv[1:] = ['fix', '--apply', '--unsafe-fixes', '--isolated', 'a.py']; "
        "from compilelint.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "a.py: can't be written: File too large" in done.stderr
    assert "Applied 0 fixes in 0 files" in done.stderr
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == SOURCE and os.listdir(tmp_path) == ["a.py"]


def test_what_a_kill_leaves_is_no_source_and_ignored_and_goes(tmp_path: Path) -> None:
    left = tmp_path / f"{PREFIX}abc"
    left.mkdir()
    (left / ".gitignore").write_text("*\n", encoding="utf-8")
    (left / "new").write_text(SOURCE, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    status = ["git", "-C", str(tmp_path), "status", "--porcelain"]
    assert subprocess.run(status, check=True, capture_output=True).stdout == b""
    assert select([tmp_path]).files == []
    write_text(tmp_path / "x.json", "1")
    assert left.exists()  # of a run that may still be at work
    writing._remove_left_behind.cache_clear()
    old = time.time() - 2 * writing.LEFT_BEHIND
    os.utime(left, (old, old))
    others = tmp_path / f"{PREFIX}mine"
    others.mkdir()
    (others / "kept.txt").write_text("", encoding="utf-8")
    os.utime(others, (old, old))
    write_text(tmp_path / "x.json", "2")
    assert not left.exists() and others.exists()


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="no files without a name")
def test_git_sees_no_empty_ignore_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `.gitignore` holds at the moment when it appears: a kill may come right then."""
    seen = []
    original = os.link

    def link(*arguments: Any, **options: Any) -> None:
        original(*arguments, **options)
        seen.append(Path(arguments[1]).read_bytes())

    monkeypatch.setattr(os, "link", link)
    write_text(tmp_path / "x.json", "1")
    assert seen == [b"*\n"]


def test_a_file_with_two_names_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\n")
    os.link(file, tmp_path / "b.py")
    with pytest.raises(WriteError, match="has 2 names"):
        write_source(read_source(file), "x = 2\n")
    assert file.read_bytes() == b"x = 1\n" and sorted(os.listdir(tmp_path)) == ["a.py", "b.py"]


def write_json(path: Path) -> None:
    write_text(path, "x = 2\n")


def rewrite(path: Path) -> None:
    write_source(read_source(path), "x = 2\n")


@pytest.mark.parametrize("write", [write_json, rewrite])
def test_links_are_kept_inside_and_refused_outside(tmp_path: Path, write: Callable[[Path], None]) -> None:
    (tmp_path / "tree").mkdir()
    outside, inside = tmp_path / "outside.py", tmp_path / "tree" / "inside.py"
    for file in (outside, inside):
        file.write_bytes(b"x = 1\n")
        link = tmp_path / "tree" / f"to_{file.name}"
        link.symlink_to(file)
    write(tmp_path / "tree" / "to_inside.py")
    assert inside.read_bytes() == b"x = 2\n" and (tmp_path / "tree" / "to_inside.py").is_symlink()
    with pytest.raises((OSError, WriteError), match=r"is a link to .*outside"):
        write(tmp_path / "tree" / "to_outside.py")
    assert outside.read_bytes() == b"x = 1\n"


def test_a_link_to_nothing_makes_no_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    link = tmp_path / "tree" / "compilelint-baseline.json"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="is a link to"):
        write_text(link, "x")
    assert not (tmp_path / "elsewhere").exists()


def test_a_change_at_the_last_moment_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\n")
    source = read_source(file)
    monkeypatch.setattr(writing, "_take_over", lambda *_: file.write_bytes(b"theirs\n"))
    with pytest.raises(WriteError, match="changed since"):
        write_source(source, "x = 2\n")
    assert file.read_bytes() == b"theirs\n" and os.listdir(tmp_path) == ["a.py"]


def test_a_name_of_many_bytes(tmp_path: Path) -> None:
    file = tmp_path / f"{'語' * 80}.py"
    try:
        file.write_bytes(b"x = 1\n")
    except OSError:
        pytest.skip("the file system takes no such names")
    write_source(read_source(file), "x = 2\n")
    assert file.read_bytes() == b"x = 2\n"


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes")
def test_extended_attributes_stay(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\n")
    try:
        os.setxattr(file, "user.note", b"kept")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    write_source(read_source(file), "x = 2\n")
    assert os.getxattr(file, "user.note") == b"kept"


@pytest.mark.skipif(not hasattr(os, "chown"), reason="no owners")
def test_rights_of_an_owner_are_not_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\n")
    file.chmod(0o4755)
    write_source(read_source(file), "x = 2\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o4755

    def refuse(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    write_source(read_source(file), "x = 3\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    for name in ("pipe.py", "folder.py"):
        with pytest.raises(OSError, match=r"not a regular file|directory"):
            read_regular(tmp_path / name)
        with pytest.raises(WriteError, match="can't be read"):
            read_source(tmp_path / name)
    for read in (budgetfile.read, lambda place: baseline.judge(place, [], [], lambda _: ())):
        with pytest.raises(UsageProblem, match="can't be read: not a regular file"):
            read(tmp_path / "pipe.py")


def test_where_the_copies_of_operators_cannot_be_written_nothing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else sources would import what is not there."""
    monkeypatch.chdir(tmp_path)
    code = """
        import torch

        def train(model: torch.nn.Module, loader):
            for batch in loader:
                loss = sum(parameter.square().sum() for parameter in model.parameters())
                loss.backward()
    """
    (tmp_path / "a.py").write_text(dedent(code), encoding="utf-8")
    settings = api.load_settings(overrides={"unsafe_fixes": True}, isolated=True)
    before = (tmp_path / "a.py").read_bytes()
    monkeypatch.setattr("compilelint.fix.run.write_text", _no_room)
    run = api.fix([Path("a.py")], settings, apply=True, vendor_ops=Path("copies"))
    assert "from copies import" in run.result.diff
    assert [line.partition(": ")[2] for line in run.result.failures] == ["can't be written: No space left on device"]
    assert (tmp_path / "a.py").read_bytes() == before and not any(file.written for file in run.result.files)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    run = api.fix([Path("a.py")], settings, apply=True, vendor_ops=Path("copies"))
    assert not run.result.failures and all(file.written for file in run.result.files)


def _no_room(*_: Any) -> None:
    raise OSError(28, "No space left on device")
