"""What fuzzing found stays mended (tests/corpus, each named for what it was), and a little of it runs each time."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "corpus"
sys.path.insert(0, str(ROOT / "scripts"))
targets: Any = pytest.importorskip("fuzzing.targets")
seeds: Any = pytest.importorskip("fuzzing.seeds")
mutate: Any = pytest.importorskip("fuzzing.mutate")
structured: Any = pytest.importorskip("fuzzing.structured")


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_what_was_found(path: Path) -> None:
    targets.TARGETS["notebook" if path.suffix == ".ipynb" else "source"](path.read_bytes())


def test_mutated_programs_notebooks_and_configurations() -> None:
    rng = random.Random(5)
    programs = seeds.sources()
    mutator = mutate.Mutator(programs[::10])
    parsed = 0
    for _ in range(40):
        data = mutator(rng.choice(programs), rng).encode("utf-8", "surrogatepass")
        targets.source(data)
        parsed += targets.readable(data, Path("m.py")) is not None
    assert parsed > 30
    for data in rng.sample(seeds.notebooks(), 10):
        targets.notebook(structured.change_notebook(data, mutator, rng))
    for _ in range(100):
        targets.config(structured.change_config(rng.choice(seeds.configs()), rng))


def test_a_promise_that_is_broken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def ignore(paths: Any, settings: Any) -> Any:
        Path("fuzzed.py").write_text("x = 2\n", encoding="utf-8")
        return targets.api.check(paths, settings), 0, []

    monkeypatch.setattr(targets.api, "add_ignores", ignore)
    with pytest.raises(targets.Failed, match="the comments change the program"):
        targets.source(b"import torch\n")
