"""Parts: every file once and in order, none too large, and cuts that stay where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilelint import parts

SIZE = 60_000


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)  # where the cuts fall depends on the names
    made = []
    for folder in range(10):
        Path(f"p{folder}").mkdir()
        for number in range(20):
            made.append(Path(f"p{folder}") / f"m{number:02}.py")
            made[-1].write_text("x" * SIZE, encoding="utf-8")
    return made


def test_every_file_once_in_order(files: list[Path]) -> None:
    cut = parts.cut(files)
    assert [path for part in cut for path in part] == files
    assert len(cut) > 5
    assert all(len(part) * SIZE < parts.MOST_BYTES + SIZE for part in cut)
    assert all(len(part) * SIZE >= parts.LEAST_BYTES for part in cut[:-1])


def test_a_large_tree_has_larger_parts(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LARGE", 1_000_000)
    assert all(len(part) * SIZE >= 2 * parts.LEAST_BYTES for part in parts.cut(files)[:-1])


def test_a_small_project_is_one_part(files: list[Path]) -> None:
    assert parts.cut(files[:5]) == [tuple(files[:5])]
    assert parts.cut([]) == [()]


def test_an_edit_or_a_new_file_moves_few_cuts(files: list[Path]) -> None:
    before = set(parts.cut(files))
    files[90].write_text("x" * 3 * SIZE, encoding="utf-8")
    assert len(set(parts.cut(files)) - before) <= 3
    new = files[50].with_name("m99_new.py")
    new.write_text("x" * SIZE, encoding="utf-8")
    assert len(set(parts.cut([*files[:60], new, *files[60:]])) - before) <= 5


def test_a_file_that_is_gone(files: list[Path]) -> None:
    files[3].unlink()
    assert [path for part in parts.cut(files) for path in part] == files
