"""Another copy of the package is not tested by mistake."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT, wrong_checkout


def test_another_copy_is_refused(tmp_path: Path) -> None:
    assert not wrong_checkout(str(ROOT / "compilelint" / "__init__.py"))
    told = wrong_checkout(str(tmp_path / "compilelint" / "__init__.py"))
    assert str(tmp_path) in told and str(ROOT) in told and "python -m pytest" in told
