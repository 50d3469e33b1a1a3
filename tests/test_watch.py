"""`check --watch`: a check at once, one after each change, and a word where nothing can watch."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from compilelint import api
from compilelint.cli import compilelint
from compilelint.errors import UsageProblem

BAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.item()\n"
GOOD = BAD.replace(".item()", ".abs()")


def watches(monkeypatch: pytest.MonkeyPatch, *edits: Callable[[], object]) -> list[bool]:
    """Stands in for watchfiles: makes one edit after the other, then is interrupted; which paths are asked about."""
    asked: list[bool] = []

    def watch(*paths: str, watch_filter: Callable[[int, str], bool], recursive: bool) -> Iterator[set[tuple[int, str]]]:
        asked.extend(watch_filter(1, f"/x/{name}") for name in ("m.py", "pyproject.toml", "m.txt"))
        for edit in edits:
            edit()
            yield {(2, str(paths[0]))}
        raise KeyboardInterrupt

    fake = types.ModuleType("watchfiles")
    vars(fake).update(watch=watch, DefaultFilter=lambda: lambda change, path: True)
    monkeypatch.setitem(sys.modules, "watchfiles", fake)
    return asked


def run(*args: str, cache: Path | None = None) -> tuple[str, int]:
    env = {"COMPILELINT_CACHE_DIR": str(cache)} if cache is not None else {}
    done = CliRunner(env=env).invoke(compilelint, ["check", "--watch", *args], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.output, done.return_value


def test_each_change_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "m.py"
    file.write_text(BAD, encoding="utf-8")
    asked = watches(
        monkeypatch,
        lambda: file.write_text(GOOD, encoding="utf-8"),
        lambda: (tmp_path / "pyproject.toml").write_text("[tool.compilelint]\nselct = 3\n", encoding="utf-8"),
        lambda: (tmp_path / "pyproject.toml").write_text("", encoding="utf-8"),
        lambda: (tmp_path / "n.py").write_text(BAD, encoding="utf-8"),
    )
    output, code = run(".", "--output-format", "concise", cache=tmp_path / "cache")
    lines = [line for line in output.splitlines() if "CL103" in line or "selct" in line]
    assert [line.partition(":")[0] for line in lines] == ["m.py", "error", "n.py"]
    assert code == 1
    assert asked == [True, True, False]


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(Exception, match=r'pip install "compilelint\[watch\]"'):
        run(str(tmp_path))


def test_only_for_files() -> None:
    with pytest.raises(click.UsageError, match="--watch is for checks of files alone"):
        run("-")


def test_what_really_changes(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    (tmp_path / "m.py").write_text(BAD, encoding="utf-8")
    seen = api.watch([tmp_path])
    next(seen)
    import threading

    threading.Timer(1.0, lambda: (tmp_path / "m.py").write_text(GOOD, encoding="utf-8")).start()
    next(seen)


def test_a_named_file_that_another_replaces(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    import threading

    file, new = tmp_path / "m.py", tmp_path / "m.py.new"
    file.write_text(BAD, encoding="utf-8")
    seen = api.watch([file])
    next(seen)
    for change in (lambda: new.replace(file), lambda: new.replace(file), file.unlink, lambda: new.replace(file)):
        new.write_text(GOOD, encoding="utf-8")
        threading.Timer(1.0, change).start()
        next(seen)


def test_a_missing_file_is_told_and_the_watch_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "m.py"
    watches(monkeypatch, lambda: file.write_text(BAD, encoding="utf-8"), file.unlink)
    output, code = run("m.py", "--output-format", "concise", cache=tmp_path / "cache")
    lines = [line for line in output.splitlines() if line.startswith(("m.py", "error"))]
    assert [line.partition(":")[0] for line in lines] == ["error", "m.py", "error"]
    assert lines[0] == "error: m.py: no such file or directory" and code == 2


def test_nothing_to_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watches(monkeypatch)
    with pytest.raises(UsageProblem, match="none of the paths is in a folder that exists"):
        run(str(tmp_path / "gone" / "m.py"), cache=tmp_path / "cache")
