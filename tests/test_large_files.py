"""What is done for each finding costs no more in a large file than in a small one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from compilelint import allowance, api
from compilelint.config import Settings

READS = "def f{0}(x: torch.Tensor):\n    return x.item()\n\n\n"
CHECKS = """class N{0}(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if torch.isnan(x).any():
            x = torch.nan_to_num(x)
        return x


"""


def fixed(path: Path) -> int:
    run = api.fix([path], replace(Settings(), unsafe_fixes=True))
    assert not run.result.problems
    return run.result.applied


def declined(path: Path) -> int:
    return len(api.fix([path], Settings()).result.files[0].skipped)


def ignored(path: Path) -> int:
    result, number, left = api.add_ignores([path], Settings())
    assert number == len(result.findings) and not left
    assert not api.check([path], Settings()).findings
    return number


@pytest.mark.parametrize("body", ["y = x.sum().item()", "if x.sum() > 0: x = x + 1"])
def test_many_branches_in_one_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    monkeypatch.setattr(allowance, "FUNCTION_SECONDS", 1000.0)
    taken = []
    for number in (250, 2000):
        branches = "".join(f"    elif k == {n}:\n        {body}\n" for n in range(number))
        text = f"def f(x: torch.Tensor, k: int):\n    y = 0\n    if k < 0:\n        y = 1\n{branches}    return x, y\n"
        path = tmp_path / f"m{number}.py"
        path.write_text(f"import torch\n\n\n{text}", encoding="utf-8")
        start = time.process_time()
        result = api.check([path], Settings())
        taken.append(time.process_time() - start)
        assert not result.notices and len({finding.span.line for finding in result.findings}) == number
    assert taken[1] < 20 * taken[0] + 1  # what grows with the square takes sixty times as long


@pytest.mark.parametrize(("what", "unit"), [(fixed, CHECKS), (declined, READS), (ignored, READS)])
def test_many_findings_in_one_file(tmp_path: Path, what: Callable[[Path], int], unit: str) -> None:
    taken = []
    for number in (100, 800):
        path = tmp_path / f"m{number}.py"
        path.write_text("import torch\n\n\n" + "".join(map(unit.format, range(number))), encoding="utf-8")
        start = time.process_time()
        assert what(path) == number
        taken.append(time.process_time() - start)
    assert taken[1] < 20 * taken[0] + 1  # eight times as many; each used to have the whole file read again
