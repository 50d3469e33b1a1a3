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
FILES = sorted(p for f in ("cl2*.py", "cl4*.py") for p in FIXTURES.glob(f) if not p.name.endswith(".fixed.py"))
EXPECT = re.compile(r"# expect: (CL[24]\d\d(?:, ?CL\d\d\d)*)")
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
