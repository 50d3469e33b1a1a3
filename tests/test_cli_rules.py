"""`compilelint rule`, `rules` and `config`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compilelint import api, registry
from compilelint.cli.rules import TITLES


def run(*args: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compilelint", *args]
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")} | (env or {})
    return subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=60, check=False)


def test_rule_prints_its_documentation() -> None:
    rule = api.rules()[-1]
    done = run("rule", rule.code.lower())
    assert done.returncode == 0
    assert done.stdout.startswith(f"# {rule.code} {rule.name}\n")
    assert "## Why it costs" in done.stdout
    assert run("rule", rule.name).stdout == done.stdout
    colored = run("rule", rule.code, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" in colored
    assert "Why it costs" in colored


@pytest.mark.parametrize("code", ["CL001", "CL002"])
def test_the_tool_explains_its_own_codes(code: str) -> None:
    assert "## What it does" in run("rule", code).stdout


def test_an_unknown_rule_is_a_usage_error() -> None:
    done = run("rule", "CL00")
    assert done.returncode == 2
    assert done.stderr.startswith('error: no rule "CL00" (did you mean "CL00')


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("chek", " (did you mean CL102 nan-check-branch?)"),
        ("synchronise", ' (did you mean "synchronize-in-step"?)'),
        ("xyzzy", " (`compilelint rules` lists them)"),
    ],
)
def test_an_unknown_rule_has_neighbours(asked: str, told: str) -> None:
    with pytest.raises(api.ConfigError) as caught:
        api.find_rule(asked)
    assert str(caught.value) == f'no rule "{asked}"{told}'


def test_every_family_has_a_title() -> None:
    assert TITLES.keys() == registry.FAMILIES.keys() | {"CL0"}


def test_rules_lists_all() -> None:
    *lines, empty, legend = run("rules").stdout.splitlines()
    assert (empty, legend[:24]) == ("", "[*] offers a safe fix, [")
    assert "Graph breaks (CL1xx)" in lines
    assert [line.split()[0] for line in lines if line.startswith("CL")] == [rule.code for rule in api.rules()]
    entries = json.loads(run("rules", "--output-format", "json").stdout)
    assert [entry["code"] for entry in entries] == [rule.code for rule in api.rules()]
    assert all(entry["summary"] for entry in entries)
    versions = {entry["code"]: entry["versions"] for entry in entries}
    assert versions["CL113"] == "From the table of the chosen release"
    assert versions["CL101"] == "All releases"


def test_config_shows_what_is_in_effect(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.compilelint]\nselect = ["CL1"]\n', encoding="utf-8")
    shown = json.loads(run("config", cwd=tmp_path).stdout)
    assert shown["select"] == ["CL1"]
    assert shown["jobs"] == 0  # as `check` runs: one process for each core
    assert Path(shown["source"]) == (tmp_path / "pyproject.toml").resolve()
    assert shown["origins"]["select"] == shown["source"]
    assert shown["origins"]["python"] == "default: the Python that runs compilelint"
    assert shown["origins"].keys() == shown.keys() - {"base", "source", "origins"}
    assert json.loads(run("config", "--isolated", cwd=tmp_path).stdout)["select"] == []


def test_rules_of_a_family_an_effect_or_with_a_fix() -> None:
    def codes(*args: str) -> set[str]:
        return {entry["code"] for entry in json.loads(run("rules", "--output-format", "json", *args).stdout)}

    everything = {rule.code: rule for rule in api.rules()}
    assert codes("CL2", "branch-on-tensor") == {c for c in everything if c.startswith("CL2")} | {"CL101"}
    assert codes("--fixable") == {code for code, rule in everything.items() if rule.fixable}
    assert codes("CL4", "--effect", "transfer") == {
        code for code, rule in everything.items() if code.startswith("CL4") and "transfer" in rule.effects
    }
    assert run("rules", "CL99").returncode == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str) -> None:
    script = run(env={"_COMPILELINT_COMPLETE": f"{shell}_source"}).stdout
    assert f"_COMPILELINT_COMPLETE={shell}_complete" in script
    place = "che" if shell == "fish" else "1"
    words = {"COMP_WORDS": "compilelint che", "COMP_CWORD": place, "_COMPILELINT_COMPLETE": f"{shell}_complete"}
    assert "check" in run(env=words).stdout
