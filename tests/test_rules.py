"""What all rules have in common: documentation, codes, imports, fixtures."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from fixturefiles import FILES as FIXTURES
from fixturefiles import code_of, load

from compilelint import registry
from compilelint.errors import did_you_mean
from compilelint.models import tables
from compilelint.sdk import Rule

ROOT = Path(__file__).parent.parent
RULES = registry.load_rules()
FILES = sorted((ROOT / "rules").glob("cl*.py"))
SDK = ("compilelint.sdk", "compilelint.fix.rewriter")


def test_one_file_each() -> None:
    assert len(RULES) == len(FILES)
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_declaration(rule: Rule) -> None:
    assert registry.defects(rule) == []
    known = {entry["type"] for version in tables.available() for entry in registry_of(version).values()}
    for gb_type in rule.gb_types:
        assert gb_type in known, f'no release has the graph break "{gb_type}"{did_you_mean(gb_type, sorted(known))}'


def registry_of(version: tables.Version) -> dict[str, dict[str, str]]:
    """Dynamo's own registry of graph breaks, as docs/tables.md has it."""
    found: dict[str, dict[str, str]] = tables.load(version).data["gb_registry"]
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_documentation(rule: Rule) -> None:
    lines = rule.documentation.splitlines()
    assert lines[0].endswith("."), "the docstring's first line is a sentence: it ends in a full stop"
    assert lines[1] == "", "an empty line follows the docstring's first"
    found = [line[3:] for line in lines if line.startswith("## ")]
    assert found == list(registry.HEADINGS), "these headings, in this order"
    sections = re.split(r"^## .*\n", rule.documentation, flags=re.MULTILINE)[1:]
    for heading, section in zip(found, sections, strict=True):
        assert section.strip(), f"nothing is said under {heading}"
    assert "https://" in sections[-1], "References name an https:// address"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file(path: Path) -> None:
    code = path.stem.split("_")[0].upper()
    rule = load(path).rule
    assert rule.code == code, f"{path.name} declares {rule.code}: it is named by its code, {rule.code.lower()}_….py"
    fixtures = [each for each in FIXTURES if code_of(each) == code]
    assert any(each.name == path.name for each in fixtures), f"write fixtures/{path.name}"
    allowed = {"__future__", "ast", "collections", "importlib", "typing", *SDK}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None, f"line {node.lineno}: a rule has no relative imports"
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            assert {name, name.split(".")[0]} & allowed, f"`{name}`: a rule imports {' and '.join(SDK)} alone"


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_fixture(path: Path) -> None:
    """A rule may have several."""
    assert any(rule.code == code_of(path) for rule in RULES), f"no rule {code_of(path)}: a fixture is named by its rule"
