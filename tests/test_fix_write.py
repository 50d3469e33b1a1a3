"""Reading sources and writing them back whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from compilelint.fix.errors import WriteError
from compilelint.fix.write import read_source, write_source
from compilelint.writing import write_text


def test_bytes_survive(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    for data in (
        b"x = 1\r\ny = 2\n",
        b"\xef\xbb\xbfx = 1\n",
        "# -*- coding: latin-1 -*-\ns = 'é'\n".encode("latin-1"),
        b"x = 1",
        b"",
    ):
        path.write_bytes(data)
        source = read_source(path)
        assert not source.text.startswith("\ufeff")
        write_source(source, source.text)
        assert path.read_bytes() == data


def test_permissions_are_kept_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_bytes(b"x = 1\n")
    path.chmod(0o751)
    write_source(read_source(path), "x = 2\n")
    assert path.read_bytes() == b"x = 2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert os.listdir(tmp_path) == ["f.py"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "f.py"
    target.write_bytes(b"x = 1\n")
    link = tmp_path / "link.py"
    link.symlink_to(target)
    write_source(read_source(link), "x = 2\n")
    assert link.is_symlink() and target.read_bytes() == b"x = 2\n"
    assert os.listdir(tmp_path / "real") == ["f.py"]


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.py"
    with pytest.raises(WriteError, match="can't be read"):
        read_source(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(WriteError, match="not readable as text"):
        read_source(path)
    path.write_bytes(b"x = 1\n")
    source = read_source(path)
    path.write_bytes(b"x = 3\n")
    with pytest.raises(WriteError, match="changed since"):
        write_source(source, "x = 2\n")
    assert path.read_bytes() == b"x = 3\n"
    source = read_source(path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to any file
    with pytest.raises(WriteError, match="read-only"):
        write_source(source, "x = 2\n")
    monkeypatch.undo()
    path.unlink()
    with pytest.raises(WriteError, match="can't be written"):
        write_source(source, "x = 2\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("codec", ["undefined", "punycode", "idna", "rot13", "klingon"])
def test_encodings_that_are_none(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "f.py"
    path.write_bytes(f"# coding: {codec}\nx = 1  # é\n".encode())
    with pytest.raises(WriteError, match="not readable as text"):
        read_source(path)


def test_characters_the_encoding_lacks(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_bytes(b"# coding: ascii\nx = 1\n")
    with pytest.raises(WriteError, match="not in its encoding"):
        write_source(read_source(path), "# coding: ascii\nx = 'é'\n")
    assert os.listdir(tmp_path) == ["f.py"]


def test_a_failure_while_writing_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.py"
    path.write_bytes(b"x = 1\n")
    source = read_source(path)

    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError, match="No space left"):
        write_source(source, "x = 2\n")
    assert path.read_bytes() == b"x = 1\n" and os.listdir(tmp_path) == ["f.py"]


def test_a_text_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    write_text(path, "é\n")
    assert path.read_bytes() == "é\n".encode()
    path.chmod(0o600)
    write_text(path, "other\n")
    assert path.read_text(encoding="utf-8") == "other\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_that_cannot_take_its_place_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        write_text(tmp_path / "folder", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
