"""The page of a check, in a real browser: what it shows, its search and keys, that it asks nobody for anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import Opened

from compilelint import api

EVIL = "<script>alert(1)</script>"
MODEL = f"""\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x * 2
    print(x, "{EVIL}")
    return x


def g(xs: list[torch.Tensor]) -> list[float]:
    return [x.item() for x in xs]
"""
VERIFIED = {
    "target": "m:make",
    "ok": True,
    "device": "cuda",
    "before": {"compiled": {"graphs": 2, "syncs": [{"count": 3}, {"count": 1}], "gpu_us": 4.25}},
    "after": {"compiled": {"graphs": 1, "syncs": [], "gpu_us": 2.0}, "device_name": EVIL},
}


def written(folder: Path, runs: list[dict[str, Any]]) -> str:
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    paths = []
    for number, run in enumerate(runs):
        paths.append(folder / f"run{number}.json")
        paths[-1].write_text(json.dumps(run), encoding="utf-8")
    return api.render(api.check([folder], api.load_settings(isolated=True)), "html", runs=paths)


@pytest.fixture(params=["light", "dark"])
def opened(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> Iterator[Opened]:
    path = tmp_path / "report.html"
    path.write_text(written(tmp_path, [VERIFIED]), encoding="utf-8")
    context = browser.new_context(color_scheme=request.param)
    opened = Opened(context.new_page())
    opened.page.goto(path.as_uri())
    yield opened
    context.close()
    assert not opened.wrong


def rows(page: Any, section: str) -> list[list[str]]:
    found = page.locator(f"#{section} tbody tr")
    return [found.nth(n).locator("td").all_inner_texts() for n in range(found.count()) if found.nth(n).is_visible()]


def test_what_it_shows(opened: Opened) -> None:
    page = opened.page
    assert [row[1].split()[0] for row in rows(page, "findings")] == ["CL101", "CL110", "CL205"]
    assert {row[0].split()[0] for row in rows(page, "rules")} == {"CL101", "CL110", "CL205"}
    assert [row[1:] for row in rows(page, "files")] == [["3", "2", "1", "0"]]
    assert rows(page, "runs") == [
        ["compiled", "graphs", "2", "1"],
        ["compiled", "host syncs", "4", "0"],
        ["compiled", "GPU time, µs", "4.2", "2"],
    ]
    assert EVIL in page.locator("#sources").inner_text() and EVIL in page.locator("#runs").inner_text()
    assert "select with" in page.locator("#sources .note").first.inner_text()


def test_the_search_hides_what_it_does_not_find(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("Search").fill("print MODEL.py")
    assert [row[1].split()[0] for row in rows(page, "findings")] == ["CL110"]
    assert page.locator("#found").inner_text() == "1 of 3"
    page.get_by_label("Search").fill("")
    page.get_by_label("At least").select_option("error")
    assert [row[0] for row in rows(page, "findings")] == ["error", "error"]


def test_links_and_keys_lead_to_lines(opened: Opened) -> None:
    page = opened.page
    page.locator("#findings tbody a").nth(1).click()
    assert page.locator(".row:target").inner_text().endswith(f'print(x, "{EVIL}")')
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.textContent") == "6"
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.textContent") == "13"


def test_colours_follow_the_system_and_the_button(opened: Opened) -> None:
    def back() -> str:
        return str(opened.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    first = back()
    opened.page.get_by_role("button", name="Light or dark").click()
    assert {first, back()} == {"rgb(255, 255, 255)", "rgb(20, 24, 28)"}


def test_no_findings_is_a_page(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("x = 1\n", encoding="utf-8")
    page = api.render(api.check([tmp_path], api.load_settings(isolated=True)), "html")
    assert "<b>0</b>errors" in page and 'id="findings"' not in page


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(api.UsageProblem, match=r"run0\.json: not what"):
        written(tmp_path, [{"some": "thing"}])
