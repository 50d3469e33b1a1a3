"""A few of the kills of `benchmarks/kills.py`, on a small tree."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "kills.py"


@pytest.fixture
def kills(monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("kills", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "kills", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_a_killed_fix_leaves_each_file_old_or_new(kills: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kills, "BYTES", 50_000)
    result = kills.runs(tmp_path, kills=4, files=20, seed=1)
    assert result.wrong == []
    assert sum(result.landed.values()) == 4 and result.again == 1


def test_what_is_wrong_is_seen(kills: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kills, "BYTES", 1_000)
    tree, result = kills.Tree(tmp_path, 4), kills.Result()
    tree.reset()
    assert kills.looked_at(tree, result) == [] and result.landed == {"before": 1}
    (tmp_path / "m000.py").write_bytes(tree.new["m000.py"][:20])
    (tmp_path / "m001.py").write_bytes(tree.new["m001.py"])
    (tmp_path / "m002.py").chmod(0o600)
    (tmp_path / ".m002.py.tmp").mkdir()
    (tmp_path / ".m002.py.tmp" / "extra.py").write_bytes(b"")
    wrong = kills.looked_at(tree, result)
    assert [line.partition(":")[0] for line in wrong] == [
        "m000.py",
        "m002.py",
        ".m002.py.tmp",
        "git sees other changes than those of the new files",
        "a check takes other files than before",
    ]
