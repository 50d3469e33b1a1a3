"""The project's probes: check agrees with Dynamo on them, and every rule about graph breaks has some.

What Dynamo makes of them stands in the tables; tests/test_tables.py runs a part of them on the installed torch.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest
from fixturefiles import ROOT

from compilelint import api
from compilelint.models import tables

sys.path.insert(0, str(ROOT / "scripts"))
score: Any = import_module("score_probes")
coverage: Any = import_module("probe_coverage")

# what was reached, in percent: found of those that break, quiet of those that don't
REACHED = {
    ("constructs", (2, 13)): (95.0, 99.0),
    ("constructs", (2, 14)): (95.0, 98.5),
    ("constructs", (2, 11)): (92.0, 99.0),
    ("calls", (2, 13)): (89.0, 99.0),
}


@pytest.fixture(scope="module")
def constructs() -> Any:
    return score.judge("constructs", coverage.VERSION)


@pytest.mark.parametrize(("part", "version"), REACHED, ids=lambda value: value if isinstance(value, str) else value[1])
def test_check_agrees_with_dynamo(part: str, version: tables.Version) -> None:
    results = score.judge(part, version)
    for breaks, least in zip((True, False), REACHED[part, version], strict=True):
        right = [each.right for each in results if each.breaks is breaks]
        assert 100 * sum(right) / len(right) >= least, score.figures(results)


def test_every_rule_has_a_probe_and_a_twin(constructs: Any) -> None:
    covered = coverage.covered(constructs)
    codes = [rule.code for rule in api.rules() if rule.code.startswith("CL1")]
    assert [code for code in codes if not coverage.pairs(covered.get(code, ()), constructs)] == []


def test_the_page_is_current(constructs: Any) -> None:
    page = coverage.DOCS.read_text(encoding="utf-8")
    assert page == coverage.page(constructs), "run scripts/probe_coverage.py"
