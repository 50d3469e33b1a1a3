"""README.md and CONTRIBUTING.md say what is true: rules, commands, options, examples and their output."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import click
import pytest
from fixturefiles import ROOT, expected, load

from compilelint import api, registry
from compilelint.analysis import Analyser, analyse
from compilelint.cli import COMMANDS, Commands
from compilelint.config import _READERS, Settings, load_settings
from compilelint.engine.events import Site
from compilelint.engine.regions import Standing
from compilelint.finding import EFFECTS, Applicability, Region, RegionKind
from compilelint.fix.edits import apply_edits
from compilelint.report.json import entry
from compilelint.sdk import Rule

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The README's model.py, in the current folder."""
    (tmp_path / "model.py").write_text(blocks(README, "python")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return Path("model.py")


def test_generated_parts() -> None:
    made = load(ROOT / "scripts" / "readme.py").refreshed(README)
    assert made == README, "run `python scripts/readme.py`"


@pytest.mark.parametrize("rule", registry.all_rules(), ids=lambda rule: rule.code)
def test_every_rule(rule: Rule) -> None:
    assert f"| {rule.code} | {rule.name} |" in README, "run `python scripts/readme.py`"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option(name: str) -> None:
    assert f"    compilelint {name} " in README
    command = Commands("compilelint").get_command(click.Context(click.Group()), name)
    assert command is not None
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert re.search(rf"`{re.escape(option)}(?![\w-])", README), option


def test_configuration(tmp_path: Path) -> None:
    (example,) = blocks(README, "toml")
    path = tmp_path / "pyproject.toml"
    path.write_text(example.replace("# baseline = ", "baseline = "), encoding="utf-8")
    assert load_settings(tmp_path).baseline == tmp_path / "compilelint-baseline.json"
    path.write_text(example, encoding="utf-8")
    settings = load_settings(tmp_path)
    assert settings.baseline is None  # there is none yet: the example must work as it stands
    assert settings.source == path
    assert registry.selected_codes(settings)
    for key in _READERS:
        assert re.search(rf"^(\[tool\.compilelint\.|# )?{key.replace('_', '-')}\b", example, re.MULTILINE), key


def test_example_check(example: Path) -> None:
    shown = blocks(README, "console")[0].removeprefix("$ compilelint check model.py\n")
    result = api.check([example], Settings())
    assert api.render(result, "text") == shown
    (quoted,) = blocks(README, "json")
    assert json.loads(quoted) in [entry(finding) for finding in result.findings]


def test_example_fix(example: Path) -> None:
    (shown,) = blocks(README, "diff")
    assert api.fix([example], Settings(unsafe_fixes=True)).result.diff == shown


def test_worked_rule(tmp_path: Path) -> None:
    """It finds what its fixture marks, among all the other rules, and the fixed fixture computes the same."""
    source, fixture = blocks(CONTRIBUTING, "python")
    module, case, fixed = (tmp_path / name for name in ("worked_rule.py", "worked_case.py", "worked_fixed.py"))
    module.write_text(source, encoding="utf-8")
    case.write_text(fixture, encoding="utf-8")
    module_of_rule = load(module)
    rule = module_of_rule.rule
    rule.documentation = inspect.cleandoc(module_of_rule.__doc__ or "")
    assert not registry.defects(rule)
    analysis = analyse([case], Settings(), rules=[*registry.load_rules(), rule], build_fixes=True)
    assert not analysis.errors
    found = Counter((finding.span.line, finding.code) for finding in analysis.findings)
    assert found and found == expected(case)
    plans = [finding.fix for finding in analysis.findings if finding.fix is not None]
    assert len(plans) == len(analysis.findings)
    assert all(plan.applicability is Applicability.UNSAFE for plan in plans)
    fixed.write_text(apply_edits(fixture, [edit for plan in plans for edit in plan.edits]), encoding="utf-8")
    torch = pytest.importorskip("torch")
    for (old, old_args), (new, new_args) in zip(load(case).make_cases(), load(fixed).make_cases(), strict=True):
        torch.testing.assert_close(new(*new_args), old(*old_args))


def test_effects_by_region() -> None:
    """CONTRIBUTING's table of what is kept in which region."""
    (head, rows) = re.findall(r"^\| region (\|.*)\n\| --- .*\n((?:\|.*\n)+)", CONTRIBUTING, re.MULTILINE)[0]
    assert [cell.strip() for cell in head.strip("| ").split("|")] == list(EFFECTS)
    kinds = []
    for row in rows.splitlines():
        kind, *said = (cell.strip() for cell in row.strip("|").split("|"))
        kinds.append(kind)
        region = Region(kind, "", "")
        context: Any = SimpleNamespace(
            region=region, compiled=kind in ("compiled", "forward"), standing=Standing(region)
        )
        rule = Rule("CL999", "any", EFFECTS)
        kept = Analyser._effects(Analyser.__new__(Analyser), EFFECTS, context, Site(), rule)
        assert said == ["kept" if effect in kept else "dropped" for effect in EFFECTS], kind
    assert tuple(kinds) == get_args(RegionKind)


def test_families() -> None:
    """CONTRIBUTING says which effects the rules of a family may have."""
    (said,) = re.findall(r"rules of a family may have: (.*?)\.\n", CONTRIBUTING, re.DOTALL)
    rows = [" ".join(row.split()) for row in said.split(";")]
    families = registry.FAMILIES.items()
    assert rows == [f"{family}xx {', '.join(e for e in EFFECTS if e in own)}" for family, own in families]


def test_free_codes() -> None:
    """CONTRIBUTING names the codes between others that are free."""
    codes = sorted(int(rule.code[2:]) for rule in registry.load_rules())
    free = [n for low, high in pairwise(codes) if low // 100 == high // 100 for n in range(low + 1, high)]
    (said,) = re.findall(r"Free between others are (.*?);", CONTRIBUTING, re.DOTALL)
    assert re.findall(r"CL\d{3}", said) == [f"CL{n}" for n in free], "edit the list of free codes in CONTRIBUTING.md"


def test_links() -> None:
    for text in (README, CONTRIBUTING):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (ROOT / target).is_file(), target
