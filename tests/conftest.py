"""Before any test: what is tested is this checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import CHROMIUM

import compilelint

ROOT = Path(__file__).resolve().parent.parent


def wrong_checkout(imported: str | None) -> str:
    """What to tell where another copy of the package than this checkout's would be tested; "" where it is this one."""
    found = Path(imported or "").resolve().parent
    if found == ROOT / "compilelint":
        return ""
    return (
        f"compilelint is imported from {found}, not from {ROOT}: "
        "run `python -m pytest` there, or install it with `python -m pip install -e .`"
    )


def pytest_configure() -> None:
    if problem := wrong_checkout(compilelint.__file__):
        raise pytest.UsageError(problem)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The one that is installed, or that Playwright brought along."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        path = CHROMIUM or running.chromium.executable_path
        if not Path(path).is_file():
            pytest.skip("no Chromium")
        started = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()
