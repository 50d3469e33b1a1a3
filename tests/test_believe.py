"""scripts/believe.py: values, regions, and what became of each report."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fixturefiles import ROOT, load

MODEL = """\
import torch


def setup(x: torch.Tensor) -> float:
    return x.sum().item()


def train(xs: list[torch.Tensor]) -> None:
    for x in xs:
        loss = x.sum()
        loss.backward()
        print(loss.item())
"""


def test_values_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["believe.py", str(path)])
    load(ROOT / "scripts" / "believe.py").main()
    shown = capsys.readouterr().out
    assert "setup: cold (" in shown
    assert "x.sum().item()" in shown and "a tensor, may be on a device" in shown
    assert "  CL201 line 5, dropped: it stands in cold code" in shown
    assert "  CL204 line 12, kept: sync\n" in shown
