"""The page of a trace, in a real browser: what it shows, that its buttons work, that it asks nobody for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import Opened
from tracesample import EVIL, FINDINGS, OTHER, PATH, SOURCE, record

from compilelint.report import trace_html
from compilelint.runtime.trace.report import report


def html() -> str:
    return trace_html.write(report(record(), FINDINGS), {PATH: SOURCE, "other.py": OTHER})


def test_nothing_is_fetched_and_all_is_escaped() -> None:
    page = html()
    assert EVIL not in page and "&lt;script&gt;alert(" in page
    assert page.count("<script>") == 1
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)", page)
    assert "url(" not in page and "@import" not in page and "http" not in page.replace("http-equiv", "")


def test_an_empty_trace_is_a_page() -> None:
    from compilelint.runtime.trace.record import Record

    page = trace_html.write(report(Record(argv=["nothing.py"], exit_code=0), []), {})
    assert "nothing.py" in page and "torch was never imported" in page


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    path = tmp_path / "trace.html"
    path.write_text(html(), encoding="utf-8")
    context = browser.new_context(color_scheme="light")
    opened = Opened(context.new_page())
    opened.page.goto(path.as_uri())
    yield opened
    context.close()
    assert not opened.wrong


def column(page: Any, section: str, number: int) -> list[str]:
    found: list[str] = page.locator(f"#{section} tbody tr td:nth-child({number})").all_inner_texts()
    return found


def test_what_it_shows(opened: Opened) -> None:
    page = opened.page
    assert page.title() == f"trace train.py '{EVIL}'"
    assert column(page, "findings", 1) == ["confirmed", "confirmed", "refuted", "not reached"]
    assert column(page, "unpredicted", 1) == ["break", "recompile", "sync", "sync"]
    assert EVIL in page.locator("#unpredicted").inner_text()
    assert "the whole frame of step runs eagerly" in page.locator("#breaks").inner_text()
    assert "(42 %)" in page.locator("#timeline").inner_text()
    assert page.locator("#timeline rect.idle").count() == 2
    row = page.locator("#f0-7")
    assert row.inner_text().endswith(f"return x.cpu()  # {EVIL}")
    assert "ran" in row.get_attribute("class") and "traced" in page.locator("#f0-4").get_attribute("class")


def test_tables_are_sorted_by_click_and_by_key(opened: Opened) -> None:
    page = opened.page
    heads = page.locator("#syncs th")
    counts = heads.get_by_role("button", name="Count")
    counts.click()
    assert column(page, "syncs", 4) == ["2", "4", "40"]  # as numbers
    counts.press("Enter")
    assert column(page, "syncs", 4) == ["40", "4", "2"]
    head = page.locator("#syncs th:nth-child(4)")
    assert head.get_attribute("aria-sort") == "descending"
    heads.get_by_role("button", name="What").press("Space")
    assert column(page, "syncs", 3)[0] == "aten::is_nonzero"
    assert head.get_attribute("aria-sort") is None


def test_keys_and_links_lead_to_lines(opened: Opened) -> None:
    page = opened.page
    page.locator("#sources details").first.evaluate("file => { file.open = false }")
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#f0-3"
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#f0-10"
    page.locator("#sources details").first.evaluate("file => { file.open = false }")
    page.locator("#findings a", has_text="train.py:6").click()
    assert page.locator("#f0-6").is_visible()


def test_the_timeline_zooms(opened: Opened) -> None:
    page = opened.page
    drawing = page.locator("svg")
    page.get_by_role("button", name="Zoom in").click()
    assert drawing.get_attribute("viewBox") == "750 0 1500 80"
    page.get_by_role("button", name="Later").press("Enter")
    assert drawing.get_attribute("viewBox") == "1125 0 1500 80"
    page.get_by_role("button", name="All", exact=True).click()
    assert drawing.get_attribute("viewBox") == "0 0 3000 80"
    page.get_by_role("button", name="show at 0.800 ms").click()
    assert drawing.get_attribute("viewBox") == "600 0 600 80"
    assert page.locator("#span").inner_text() == "0.600 to 1.200 ms"


def test_light_and_dark(opened: Opened) -> None:
    page = opened.page

    def background() -> str:
        found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return found

    light = background()
    page.get_by_role("button", name="Light or dark").click()
    dark = background()
    assert light == "rgb(255, 255, 255)" and dark != light
    page.get_by_role("button", name="Light or dark").click()
    assert background() == light
    page.evaluate("delete document.documentElement.dataset.theme")
    page.emulate_media(color_scheme="dark")
    assert background() == dark


def test_it_fits_a_narrow_window(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 420, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 420


def test_it_can_be_read_without_its_script(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "trace.html"
    path.write_text(html(), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("#findings tbody tr").count() == 4 and page.locator("#f0-4").is_visible()
    context.close()
