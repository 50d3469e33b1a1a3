"""The documentation site is built, strictly: a link or an anchor that leads nowhere fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compilelint import registry
from compilelint.models import tables

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_rule_has_a_page_that_says_what_dynamo_says(site: Path) -> None:
    for rule in registry.all_rules():
        text = (site / "rules" / rule.code / "index.html").read_text(encoding="utf-8")
        assert f"{rule.code}: {rule.name}" in text
        known = {entry["type"] for version in tables.available() for entry in _registry(version).values()}
        assert ("What Dynamo says" in text) == bool(known & set(rule.gb_types)), rule.code


def test_every_graph_break_has_a_page_that_leads_to_its_rules(site: Path) -> None:
    for number, entry in _registry(tables.available()[-1]).items():
        text = (site / "graph-breaks" / number / "index.html").read_text(encoding="utf-8")
        for rule in registry.all_rules():
            assert (f"../../rules/{rule.code}/" in text) >= (entry["type"] in rule.gb_types)


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    for page in ("index.html", "rules/CL101/index.html"):
        text = (site / page).read_text(encoding="utf-8")
        assert 'src="http' not in text and 'rel="stylesheet" href="http' not in text


def _registry(version: tables.Version) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = tables.load(version).data["gb_registry"]
    return found
