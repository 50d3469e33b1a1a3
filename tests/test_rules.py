"""What all rules have in common: documentation, codes, imports, fixtures."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from compilelint import registry
from compilelint.sdk import Rule

ROOT = Path(__file__).parent.parent
RULES = registry.load_rules()
FILES = sorted((ROOT / "rules").glob("cl*.py"))
FAMILIES = {
    "1": {"graph-break", "sync"},
    "2": {"sync", "transfer"},
    "3": {"launch", "sync"},
    "4": {"transfer", "sync"},
    "5": {"graph-break", "launch", "recompile"},
    "6": {"recompile"},
}


def test_one_file_each() -> None:
    assert len(RULES) == len(FILES)
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_declaration(rule: Rule) -> None:
    assert not registry.defects(rule)
    assert set(rule.effects) <= FAMILIES[rule.code[2]]
    assert ("graph-break" in rule.effects) == bool(rule.gb_types)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_documentation(rule: Rule) -> None:
    lines = rule.documentation.splitlines()
    assert lines[0].endswith(".") and lines[1] == ""
    assert [line[3:] for line in lines if line.startswith("## ")] == list(registry.HEADINGS)
    sections = re.split(r"^## .*\n", rule.documentation, flags=re.MULTILINE)[1:]
    assert all(section.strip() for section in sections)
    assert "https://" in sections[-1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file(path: Path) -> None:
    code = path.stem.split("_")[0].upper()
    assert any(rule.code == code for rule in RULES)
    assert (ROOT / "fixtures" / path.name).exists()
    allowed = {"__future__", "ast", "collections", "importlib", "typing", "compilelint.sdk", "compilelint.fix.rewriter"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None
            assert {node.module, node.module.split(".")[0]} & allowed
        elif isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= allowed
