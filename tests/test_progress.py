"""The progress of a long check: told part by part, and shown on stderr where that is a terminal."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from compilelint import api, parts
from compilelint.cli.console import Bar
from compilelint.config import Settings


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_every_file_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WHOLE_BYTES", "LEAST_BYTES", "MOST_BYTES"):
        monkeypatch.setattr(parts, name, 1)
    for number in range(5):
        (tmp_path / f"m{number}.py").write_text("import torch\n", encoding="utf-8")
    told: list[tuple[int, int]] = []
    settings = Settings(cache=tmp_path / "cache", jobs=1)
    api.check([tmp_path], settings, progress=lambda done, of: told.append((done, of)))
    assert told == [(number, 5) for number in range(1, 6)]
    told.clear()
    (tmp_path / "m3.py").write_text("import torch  # edited\n", encoding="utf-8")
    api.check([tmp_path], settings, progress=lambda done, of: told.append((done, of)))
    assert told == [(5, 5)]


@pytest.mark.parametrize(
    ("stream", "moment", "shown"), [(Terminal, 0.0, True), (Terminal, 9.0, False), (io.StringIO, 0.0, False)]
)
def test_a_bar_is_for_terminals_and_long_runs(
    stream: type[io.StringIO], moment: float, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr(Bar, "MOMENT", moment)
    monkeypatch.setenv("TERM", "xterm")
    with Bar() as bar:
        bar(1, 4)
        bar(3, 4)
    assert ("3/4" in written.getvalue()) == shown
    if not shown:
        assert not written.getvalue()


def test_a_short_run_loads_nothing_for_it(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("import torch\n", encoding="utf-8")
    run = "from compilelint.cli import compilelint as c; c(sys.argv[1:], standalone_mode=False)"
    script = f"import sys; {run}; print('rich' in sys.modules)"
    command = [sys.executable, "-c", script, "check", "--isolated", "--no-cache", "--quiet", "m.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n" and not done.stderr
