"""What `compiled` makes of code that nobody compiles explicitly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from compilelint import api
from compilelint.config import Settings

CODE = """import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            return x + 1
        return helper(x)


def helper(x: torch.Tensor):
    return x if x.max() > 1 else x * 2


def beside(x: torch.Tensor):
    return x if x.min() > 1 else x * 2
"""


@pytest.mark.parametrize(
    ("mode", "breaks"),
    [
        ("auto", {6: "warning", 12: "warning"}),
        ("modules", {6: "error", 12: "error"}),
        ("all", {6: "warning", 12: "warning", 16: "warning"}),
    ],
)
def test_breaks_by_mode(tmp_path: Path, mode: str, breaks: dict[int, str]) -> None:
    path = tmp_path / "net.py"
    path.write_text(CODE)
    found = api.check([path], replace(Settings(), compiled=mode))  # type: ignore[arg-type]
    assert {f.span.line: f.severity.value for f in found.findings if "graph-break" in f.effects} == breaks
