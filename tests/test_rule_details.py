"""What several rules decide together, where a fixture would have to be repeated for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilelint import api
from compilelint.config import Settings

STEP = """\
import torch
class Scale:
    def __init__(self):
        self.mean = torch.tensor([0.1, 0.2])
    def __call__(self, z):
        return {copy}
def run(zs: list[torch.Tensor]):
    scale = Scale()
    for z in zs:
        loss = scale(z).sum()
        loss.backward()
"""


def codes(path: Path, text: str, settings: Settings | None = None) -> list[str]:
    path.write_text(text, encoding="utf-8")
    result = api.check([path], settings or Settings())
    assert not result.errors
    return [finding.code for finding in result.findings]


@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        ("self.mean.cuda()", "CL405"),
        ("self.mean.cuda(None, False)", "CL405"),
        ("self.mean.cuda(None, True)", "CL404"),
        ("self.mean.cuda(non_blocking=True)", "CL404"),
        ("self.mean.to(z.device, torch.float32, True)", "CL404"),
        ("self.mean.to(z.device, torch.float32)", "CL405"),
        ("self.mean.to(z, True)", "CL404"),
        ("torch.zeros(3).cuda(None, True)", "CL404"),
        ("torch.zeros(3).cuda()", "CL406"),
    ],
)
def test_copies_that_do_not_block(tmp_path: Path, copy: str, expected: str) -> None:
    """One owner for each copy, whatever way it is told not to block."""
    assert codes(tmp_path / "copies.py", STEP.format(copy=copy)) == [expected]
