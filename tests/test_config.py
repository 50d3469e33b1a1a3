"""Settings: defaults, pyproject.toml, overrides, and errors that say what to put right."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compilelint import config
from compilelint.config import load_settings
from compilelint.errors import ConfigError
from compilelint.finding import Severity


def project(folder: Path, body: str) -> Path:
    (folder / "pyproject.toml").write_text("[tool.compilelint]\n" + body, encoding="utf-8")
    return folder


def test_defaults_without_a_file(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, isolated=True)
    assert (settings.select, settings.ignore, settings.compiled, settings.severity) == ((), (), "auto", Severity.NOTE)
    assert settings.source is None
    assert settings.base == tmp_path.resolve()


def test_every_key_is_read(tmp_path: Path) -> None:
    torch = config.show_version(config.default_torch())
    project(
        tmp_path,
        f"""
select = ["CL1", "cl201,CL202"]
ignore = ["data-dependent-shape-in-graph"]
torch = "{torch}"
python = "3.12"
compiled = "all"
exclude = ["vendored/"]
severity = "warning"
jobs = 2
roots = ["pkg.model:Net.forward"]
unsafe-fixes = true
force-exclude = true
respect-gitignore = false
per-file-ignores = {{ "tests/**" = ["CL2"] }}
""",
    )
    settings = load_settings(tmp_path)
    assert settings.select == ("CL1", "CL201", "CL202")
    assert settings.ignore == ("CL105",)
    assert settings.python == (3, 12)
    assert settings.compiled == "all"
    assert settings.exclude == ("vendored/",)
    assert settings.severity is Severity.WARNING
    assert settings.jobs == 2
    assert settings.roots == ("pkg.model:Net.forward",)
    assert settings.unsafe_fixes
    assert settings.force_exclude
    assert not settings.respect_gitignore
    assert settings.per_file_ignores == (("tests/**", ("CL2",)),)
    assert settings.source == tmp_path.resolve() / "pyproject.toml"


def test_nearest_file_with_the_section_counts(tmp_path: Path) -> None:
    project(tmp_path, "jobs = 3\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert load_settings(inner).jobs == 3
    assert load_settings(inner).base == tmp_path.resolve()
    assert load_settings(inner, isolated=True).jobs == 1


def test_select_on_the_command_line_replaces_and_ignore_adds(tmp_path: Path) -> None:
    project(tmp_path, 'select = ["CL1"]\nignore = ["CL101"]\n')
    assert load_settings(tmp_path, {"ignore": ("CL102",)}).ignore == ("CL101", "CL102")
    replaced = load_settings(tmp_path, {"select": ("CL101",)})
    assert (replaced.select, replaced.ignore) == (("CL101",), ())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('selct = ["CL1"]', r'unknown key "selct" \(did you mean "select"\?\)'),
        ("unsafe_fixes = true", r'unknown key "unsafe_fixes" \(did you mean "unsafe-fixes"\?\)'),
        ('select = "CL1"', r"select: expected a list of strings, got a string \('CL1'\)"),
        ("jobs = true", r"jobs: expected a whole number"),
        ("jobs = -1", r"jobs: expected a whole number"),
        ("torch = 2.13", r'torch: expected a version in quotes such as "2\.13", got a number'),
        ('python = "2.7"', r"python: Python 2\.7 is not supported; choose one of 3\.10, "),
        ('compiled = "some"', r"compiled: expected one of auto, modules, all"),
        ('severity = "bad"', r"severity: expected one of note, warning, error"),
        ('roots = ["model.Net"]', r'roots: expected "package\.module:Qualified\.name"'),
        ("unsafe-fixes = 1", r"unsafe-fixes: expected true or false"),
        ("per-file-ignores = []", r"per-file-ignores: expected a table"),
        ('select = ["CL999"]', r'toml: \[tool\.compilelint\] select: unknown rule "CL999" \(did you mean "CL'),
        ('ignore = ["branch-on-tensr"]', r'ignore: unknown rule .* \(did you mean "branch-on-tensor"\?\)'),
        ('per-file-ignores = { "a" = ["CL999"] }', r'per-file-ignores\."a": unknown rule "CL999"'),
        ("jobs = ", r"not valid TOML"),
        ("x = " + "[" * 5000, r"not valid TOML: nested too deeply"),
        ("jobs = " + "1" * 50_000, r"not valid TOML: Exceeds the limit"),
        ('exclude = ["a", "[z-a]"]', r"exclude: not a pattern as in \.gitignore: '\[z-a\]'"),
        ('per-file-ignores = { "!" = ["CL1"] }', r"per-file-ignores: not a pattern as in \.gitignore: '!'"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, body: str, said: str) -> None:
    project(tmp_path, body)
    with pytest.raises(ConfigError, match=said) as caught:
        load_settings(tmp_path)
    assert "pyproject.toml" in str(caught.value)


def test_an_unknown_torch_release_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(config, "known_torch_versions", lambda: ((2, 11), (2, 13)))
    assert load_settings(tmp_path, {"torch": "2.11.0+cu128"}, isolated=True).torch == (2, 11)
    with pytest.raises(ConfigError, match=r"--torch: nothing is known of torch 1\.9; choose one of 2\.11, 2\.13"):
        load_settings(tmp_path, {"torch": "1.9"}, isolated=True)


@pytest.mark.parametrize(("installed", "expected"), [("2.11.1+cpu", (2, 11)), ("1.0.0", (2, 13)), (None, (2, 13))])
def test_default_torch(monkeypatch: pytest.MonkeyPatch, installed: str | None, expected: tuple[int, int]) -> None:
    import importlib.metadata

    def version(name: str) -> str:
        if installed is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(config, "known_torch_versions", lambda: ((2, 11), (2, 13)))
    monkeypatch.setattr(importlib.metadata, "version", version)
    assert config.default_torch() == expected


def test_a_named_file_may_hold_the_keys_at_its_top(tmp_path: Path) -> None:
    named = tmp_path / "compilelint.toml"
    named.write_text("jobs = 5\n", encoding="utf-8")
    assert load_settings(tmp_path, config=named).jobs == 5
    with pytest.raises(ConfigError, match="can't be read: No such file"):
        load_settings(tmp_path, config=tmp_path / "missing.toml")
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"has no \[tool\.compilelint\] section"):
        load_settings(tmp_path, config=tmp_path / "pyproject.toml")


def test_exclude_on_the_command_line_adds(tmp_path: Path) -> None:
    project(tmp_path, 'exclude = ["a"]\n')
    assert load_settings(tmp_path, {"exclude": ("b",)}).exclude == ("a", "b")
    with pytest.raises(ConfigError, match=r"^--exclude: not a pattern as in \.gitignore: '!'$"):
        load_settings(tmp_path, {"exclude": ("!",)})


def test_a_byte_order_mark_is_dropped_and_a_named_pipe_not_opened(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("\ufeff[tool.compilelint]\njobs = 4\n", encoding="utf-8")
    assert load_settings(tmp_path).jobs == 4
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ConfigError, match=r"pipe\.toml: can't be read: not a regular file"):
        load_settings(tmp_path, config=tmp_path / "pipe.toml")


def test_describe_uses_the_names_of_the_file(tmp_path: Path) -> None:
    shown = config.describe(load_settings(tmp_path, isolated=True))
    assert shown["per-file-ignores"] == {}
    assert shown["severity"] == "note"
    assert shown["unsafe-fixes"] is False
