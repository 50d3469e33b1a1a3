"""The lines that fixtures of CL2xx and CL4xx expect findings on really read or copy, seen by a run on the CPU."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

from hostreads import host_reads  # noqa: E402

FIXTURES = Path(__file__).parent.parent / "fixtures"
OWN = sorted(p for f in ("cl2*.py", "cl3*.py", "cl4*.py") for p in FIXTURES.glob(f) if ".fixed" not in p.name)
FILES = [path for path in OWN if not path.name.startswith("cl3")]
FIXED = [path for path in OWN if path.with_suffix(".fixed.py").exists()]
EXPECT = re.compile(r"# expect: (?:CL1\d\d, )?(CL[24]\d\d)")
UNSEEN = {"CL403", "CL404", "CL407"}  # where memory lies can't be seen on a CPU


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem.replace(".", "_"), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_flagged_lines_read(path: Path) -> None:
    expected = {
        number
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := EXPECT.search(line)) and match.group(1) not in UNSEEN
    }
    module = load(path)
    cases = module.make_cases()
    seen: set[int] = set()
    with host_reads(path, seen):
        for function, args in cases:
            function(*args)
    assert expected <= seen


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FIXED, ids=lambda p: p.stem)
def test_fixed_computes_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    before, after = load(path).make_cases(), load(path.with_suffix(".fixed.py")).make_cases()
    for (old, old_args), (new, new_args) in zip(before, after, strict=True):
        wanted, found = old(*old_args), new(*new_args)
        assert type(found) is type(wanted)
        if isinstance(wanted, str):
            assert found == wanted
        else:
            torch.testing.assert_close(found, wanted, equal_nan=True)
