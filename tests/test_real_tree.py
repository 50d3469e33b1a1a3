"""The same findings over a real tree, however it is checked: two folders of torch's own sources, several hundred kB."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from compilelint import api, parts
from compilelint.cache import contents
from compilelint.checking import CheckResult
from compilelint.config import Settings

TORCH = find_spec("torch")
pytestmark = pytest.mark.skipif(TORCH is None, reason="needs torch's sources")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    assert TORCH is not None
    assert TORCH.submodule_search_locations is not None
    for name in ("optim", "distributions"):
        shutil.copytree(Path(TORCH.submodule_search_locations[0]) / name, root / "real" / name)
    (root / "real" / "__init__.py").touch()
    return root


@pytest.fixture(autouse=True)
def small_parts(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    monkeypatch.setattr(contents, "TICK", 0)
    monkeypatch.setattr(parts, "WHOLE_BYTES", 0)
    monkeypatch.setattr(parts, "LEAST_BYTES", 60_000)
    monkeypatch.setattr(parts, "MOST_BYTES", 180_000)


def check(settings: Settings, files: Sequence[Path] = (Path("real"),)) -> CheckResult:
    result = api.check(files, settings)
    assert not result.errors
    return result


def test_the_same_however_it_is_checked(tree: Path, tmp_path: Path) -> None:
    alone = Settings(jobs=1, compiled="all")
    cold = check(alone)
    assert len(cold.findings) > 50
    assert cold.stats.parts > 3
    assert check(replace(alone, jobs=2)).findings == cold.findings
    files = sorted(Path("real").rglob("*.py"))
    random.Random(1).shuffle(files)
    assert check(alone, files).findings == cold.findings

    caching = replace(alone, jobs=2, cache=tmp_path / "cache")
    assert check(caching).findings == cold.findings
    warm = check(caching)
    assert warm.findings == cold.findings
    assert warm.stats.cached == warm.stats.parts

    edited = Path("real/optim/sgd.py")
    edited.write_text(
        f"{edited.read_text(encoding='utf-8')}\n\ndef norm(x):\n    return x.norm().item()\n", encoding="utf-8"
    )
    changed = check(caching)
    assert 0 < changed.stats.cached < changed.stats.parts
    assert changed.findings == check(alone).findings != cold.findings
