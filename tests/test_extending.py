"""Rules of users: the worked example of docs/extending.md, local and as a plug-in, and what goes wrong with one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from compilelint import api

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
RULE, USE = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SETTINGS = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
MODEL = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return x.double() + x.to(torch.float64) + x.to(torch.float32)


def g(x: torch.Tensor) -> torch.Tensor:
    return x.double()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tools" / "lint").mkdir(parents=True)
    (tmp_path / "tools" / "lint" / "xx101_double.py").write_text(RULE, encoding="utf-8")
    (tmp_path / "tools" / "lint" / "_helper.py").write_text("raise SystemExit\n", encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(SETTINGS[0], encoding="utf-8")
    return tmp_path


def run(cwd: Path, *args: str, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, [ROOT, site])))}
    env["COMPILELINT_CACHE_DIR"] = str(cwd / ".cache")
    command = [sys.executable, "-m", "compilelint", *args]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def found(cwd: Path, *args: str, site: Path | None = None) -> list[tuple[str, int, int]]:
    done = run(cwd, "check", "--output-format", "json", *args, "src", site=site)
    assert done.returncode in (0, 1), done.stderr
    return [(f["code"], f["line"], f["column"]) for f in json.loads(done.stdout)["findings"]]


def test_a_local_rule_is_a_rule_like_any_other(project: Path) -> None:
    assert found(project) == [("XX101", 6, 12), ("XX101", 6, 25)]
    assert found(project, "--select", "XX1", "--jobs", "2") == found(project)
    assert found(project, "--ignore", "double-in-graph") == []
    assert found(project, "--isolated") == []
    assert "double-in-graph" in run(project, "rules", "XX1").stdout
    assert run(project, "rule", "XX101").stdout.startswith("# XX101 double-in-graph")
    model = project / "src" / "model.py"
    model.write_text(MODEL.replace("float32)\n", "float32)  # compilelint: ignore[XX101]\n"), encoding="utf-8")
    assert found(project) == []


def test_the_cache_notices_a_changed_rule(project: Path) -> None:
    assert "computes in" in run(project, "check", "src").stdout
    rule = project / "tools" / "lint" / "xx101_double.py"
    rule.write_text(RULE.replace("computes in", "wastes on"), encoding="utf-8")
    assert "wastes on" in run(project, "check", "src").stdout


def test_a_rule_by_its_file_and_settings_from_elsewhere(project: Path) -> None:
    config = project / "lint.toml"
    config.write_text('local-rules = ["tools/lint/xx101_double.py"]\nselect = ["XX101"]\n', encoding="utf-8")
    assert len(found(project, "--config", str(config))) == 2


def test_plugins_run_only_where_they_are_named(project: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "acme_lint-1.dist-info"
    info.mkdir(parents=True)
    (site / "acme_lint").mkdir()
    (site / "acme_lint" / "__init__.py").touch()
    (site / "acme_lint" / "xx101_double.py").write_text(RULE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-lint\nVersion: 1\n", encoding="utf-8")
    entries = SETTINGS[1].replace('[project.entry-points."compilelint.rules"]', "[compilelint.rules]").replace('"', "")
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")
    settings = project / "pyproject.toml"
    settings.write_text("[tool.compilelint]\n", encoding="utf-8")
    assert found(project, site=site) == []
    settings.write_text(SETTINGS[2], encoding="utf-8")
    assert len(found(project, site=site)) == 2
    done = run(project, "check", "src")
    assert (done.returncode, done.stderr) == (2, 'error: plugins: "acme-double" is not installed\n')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("def f(:", "SyntaxError"),
        ("rule = 3", "`rule` is int"),
        ("import sys\nsys.exit(0)", "SystemExit: 0"),
        ("raise BaseException('no')", "BaseException: no"),
        ("", "has no `rule`"),
        (RULE.replace('"XX101"', '"CL301"'), "the code is taken"),
        (RULE.replace("## Why it costs", "## Because"), "lacks the heading Why it costs"),
    ],
)
def test_a_rule_that_can_not_be_used_says_why(project: Path, text: str, why: str) -> None:
    (project / "tools" / "lint" / "xx101_double.py").write_text(text, encoding="utf-8")
    done = run(project, "check", "src")
    assert done.returncode == 2 and why in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("yield event.node", "TypeError: XX101 yields Call, not Report"),
        ("yield Report(None, None)", "TypeError: `node` is NoneType"),
        ("yield Report(event.node, None)", "TypeError: `message` is NoneType"),
        ('yield Report(event.node, "", severity="error")', "TypeError: `severity` is str"),
        ('yield Report(event.node, "", fix=Fix("", "safe", print))', "TypeError: `applicability` is str"),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_rule_that_fails_fails_alone(project: Path, wrong: str, why: str, jobs: str) -> None:
    rule = (
        RULE
        + f"\n\nfrom compilelint.sdk import Fix\n\n@rule.on(Call)\ndef wrong(event, ctx):\n    {wrong}\n    yield\n"
    )
    (project / "tools" / "lint" / "xx101_double.py").write_text(rule, encoding="utf-8")
    item = "\n\n@torch.compile\ndef h(x: torch.Tensor) -> float:\n    return x.item()\n"
    (project / "src" / "model.py").write_text(MODEL + item, encoding="utf-8")
    done = run(project, "check", "--output-format", "json", "--jobs", jobs, "src")
    assert done.returncode == 2 and why in done.stderr and "XX101" in done.stderr
    assert [f["code"] for f in json.loads(done.stdout)["findings"]] == ["XX101", "XX101", "CL103"]


def test_no_such_local_rule(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.compilelint]\nlocal-rules = ["nowhere"]\n', encoding="utf-8")
    assert "nowhere: no such file or folder" in run(project, "check", "src").stderr


def test_settings_that_name_none_leave_none(project: Path) -> None:
    api.load_settings(project)
    assert "XX101" in {rule.code for rule in api.rules()}
    api.load_settings(project, isolated=True)
    assert "XX101" not in {rule.code for rule in api.rules()}


def test_the_api_as_documented(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    model = project / "src" / "model.py"
    model.write_text(
        MODEL + "\n\n@torch.compile\ndef h(x: torch.Tensor) -> float:\n    return x.item()\n", encoding="utf-8"
    )
    exec(compile(USE, "docs/extending.md", "exec"), {})
    assert "CL103" in capsys.readouterr().out
    api.load_settings(isolated=True)


def test_the_documented_names_are_public() -> None:
    table = PAGE[PAGE.index("| `load_settings(") :]
    named = set(re.findall(r"`([a-z_]+|[A-Z_]+)(?:\([^`]*\))?`", table)) - {"UsageProblem"}
    assert {name for name in named if hasattr(api, name)} >= {"check", "fix", "render", "rules"}
    assert not [name for name in named if not hasattr(api, name) and name not in ("__all__",)]
