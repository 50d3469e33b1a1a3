"""An old code base: baselines, and reports on changed lines alone. Real runs of the command line and of git."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from compilelint import api, baseline
from compilelint.finding import Region, Severity, Span

ROOT = Path(__file__).parent.parent
MODEL = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x * 2
    print(x)
    return x
"""
COUNTS = [
    f'{{"version": 1, "findings": {{"a": [{{"code": "CL101", "line": "", "count": {count}}}]}}}}'
    for count in ("Infinity", "-1", "0", '"1"')
]
NEW = "\n\n@torch.compile\ndef g(x: torch.Tensor) -> float:\n    return x.item()\n"


def run(cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "compilelint", *args],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def found(cwd: Path, *args: str) -> list[tuple[str, str, int]]:
    done = run(cwd, "check", "--output-format", "json", *args)
    assert done.returncode in (0, 1), done.stderr
    return [(f["code"], f["path"], f["line"]) for f in json.loads(done.stdout)["findings"]]


def git(cwd: Path, *args: str) -> None:
    who = ("-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *args], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.compilelint]\nbaseline = "known.json"\n', encoding="utf-8")
    return tmp_path


def test_a_baseline_hides_what_it_holds_wherever_it_moves(project: Path) -> None:
    assert run(project, "check").returncode == 2  # configured, and not there
    done = run(project, "check", "--write-baseline")
    assert (done.returncode, done.stdout) == (0, f"Wrote 2 findings to {project / 'known.json'}.\n")
    assert found(project) == []
    assert "2 findings in the baseline not shown" in run(project, "check").stdout
    model = project / "src" / "model.py"
    model.write_text("# moved\n\n" + MODEL + NEW, encoding="utf-8")
    assert [code for code, *_ in found(project)] == ["CL103"]
    assert [code for code, *_ in found(project / "src", "model.py")] == ["CL103"]  # from another folder
    assert {code for code, *_ in found(project, "--isolated")} == {"CL101", "CL110", "CL103"}


def test_a_second_finding_like_a_known_one_is_new(project: Path) -> None:
    run(project, "check", "--write-baseline")
    model = project / "src" / "model.py"
    model.write_text(MODEL.replace("    print(x)\n", "    print(x)\n    print(x)\n"), encoding="utf-8")
    assert [code for code, *_ in found(project)] == ["CL110"]


def test_what_is_gone_is_told_and_dropped(project: Path) -> None:
    run(project, "check", "--write-baseline")
    model = project / "src" / "model.py"
    model.write_text(MODEL.replace("    print(x)\n", ""), encoding="utf-8")
    assert "1 of its findings are gone" in run(project, "check").stderr
    (project / "src" / "other.py").write_text(MODEL, encoding="utf-8")
    run(project, "check", "--write-baseline", "src/other.py")
    assert "gone" not in run(project, "check", "src/model.py").stderr  # a file alone has fewer findings
    assert "1 of its findings are gone" in run(project, "check").stderr
    (project / "src" / "other.py").unlink()
    assert run(project, "check", "--write-baseline").stdout.startswith("Wrote 1 finding ")
    assert "gone" not in run(project, "check").stderr


def test_files_that_were_not_checked_stay_in_a_baseline(project: Path) -> None:
    (project / "src" / "other.py").write_text(MODEL, encoding="utf-8")
    run(project, "check", "--write-baseline")
    run(project, "check", "--write-baseline", "src/model.py")
    assert found(project) == []
    (project / "src" / "other.py").unlink()
    run(project, "check", "--write-baseline", "src/model.py")
    assert "other.py" not in (project / "known.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 9, "findings": {}}', '{"version": 1, "findings": {"a": [3]}}', *COUNTS]
)
def test_what_is_no_baseline_is_refused(project: Path, text: str) -> None:
    (project / "known.json").write_text(text, encoding="utf-8")
    done = run(project, "check")
    assert done.returncode == 2 and "baseline" in done.stderr and "Traceback" not in done.stderr


def test_no_baseline_is_written_where_a_check_fails(project: Path) -> None:
    assert run(project, "check", "--write-baseline", "src", "nowhere").returncode == 2
    assert not (project / "known.json").exists()


def test_only_changed_lines(project: Path) -> None:
    (project / "pyproject.toml").unlink()
    odd = project / "src" / 'ö "b.py'
    odd.write_text(MODEL, encoding="utf-8")
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "old")
    assert found(project, "--diff-base", "HEAD") == []
    for path in (project / "src" / "model.py", odd):
        path.write_text("# moved\n" + path.read_text(encoding="utf-8") + NEW, encoding="utf-8")
    (project / "src" / "added.py").write_text(MODEL, encoding="utf-8")
    assert {(code, path) for code, path, _ in found(project, "--diff-base", "HEAD")} == {
        ("CL103", "src/model.py"),
        ("CL103", 'src/ö "b.py'),
        ("CL101", "src/added.py"),
        ("CL110", "src/added.py"),
    }
    assert {path for _, path, _ in found(project / "src", "--diff-base", "HEAD", "model.py")} == {"model.py"}


def test_changes_count_from_where_the_branch_began(project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    (project / "pyproject.toml").unlink()
    git(project, "add", "-A")
    git(project, "commit", "-qm", "old")
    git(project, "checkout", "-qb", "mine")
    model = project / "src" / "model.py"
    model.write_text(MODEL + NEW, encoding="utf-8")
    git(project, "commit", "-qam", "mine")
    git(project, "checkout", "-q", "main")
    model.write_text(MODEL.replace("    print(x)\n", ""), encoding="utf-8")
    git(project, "commit", "-qam", "theirs")
    git(project, "checkout", "-q", "mine")
    assert [code for code, *_ in found(project, "--diff-base", "main")] == ["CL103"]  # not the print that main lost


def test_a_diff_needs_a_revision_of_git(project: Path) -> None:
    (project / "pyproject.toml").unlink()
    env = run(project, "check", "--diff-base", "HEAD")
    assert env.returncode == 2 and "--diff-base: git says" in env.stderr
    git(project, "init", "-q")
    done = run(project, "check", "--diff-base", "nowhere")
    assert done.returncode == 2 and "--diff-base nowhere: no such revision" in done.stderr


def test_comments_for_all_findings(project: Path) -> None:
    (project / "pyproject.toml").unlink()
    model = project / "src" / "model.py"
    text = MODEL.replace("    print(x)\n", "    print(\n        x,\n        x.item(),  # why\n    )\n") + NEW
    model.write_bytes(text.replace("\n", "\r\n").encode())
    before = found(project)
    done = run(project, "check", "--add-ignores")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Added comments for {len(before)} findings.\n"
    assert found(project) == []
    after = model.read_bytes().decode()
    assert re.sub(r"  # compilelint: ignore\[[^]]*\]", "", after) == text.replace("\n", "\r\n")
    assert run(project, "check", "--add-ignores").stdout == "Added comments for 0 findings.\n"
    assert run(project, "check", "--add-ignores", "--write-baseline").returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes there")
def test_a_file_name_that_is_no_text(project: Path) -> None:
    with open(os.fsencode(project / "src") + b"/bad\xff.py", "w", encoding="utf-8") as file:
        file.write(MODEL)
    assert run(project, "check", "--write-baseline").stdout.startswith("Wrote 4 findings ")
    assert found(project) == []


def test_findings_of_one_line_get_one_comment(project: Path) -> None:
    model = project / "src" / "model.py"
    model.write_text(MODEL.replace("print(x)", "print(x), print(x)"), encoding="utf-8")
    done = run(project, "check", "--isolated", "--add-ignores")
    assert done.stdout == "Added comments for 3 findings.\n"
    assert "print(x), print(x)  # compilelint: ignore[CL110]\n" in model.read_text(encoding="utf-8")
    assert found(project, "--isolated") == []


HELPERS = """\
import torch


def first(x: torch.Tensor) -> float:
    return x.item()


def some(x: torch.Tensor) -> torch.Tensor:
    return x[x > 0]


def where(x: torch.Tensor) -> torch.Tensor:
    return x.nonzero()


def listed(x: torch.Tensor) -> list[float]:
    return x.tolist()
"""
COMPILED = """\
import torch

from helpers import first, listed, some, where


@torch.compile
def f(x: torch.Tensor) -> object:
    return first(x), some(x), where(x), listed(x)
"""


def test_a_file_alone_has_no_new_findings(project: Path) -> None:
    """Whether code is compiled is seen in other files, which a hook does not check."""
    helpers = project / "src" / "helpers.py"
    helpers.write_text(HELPERS, encoding="utf-8")
    (project / "src" / "model.py").write_text(COMPILED, encoding="utf-8")
    run(project, "check", "--write-baseline")
    whole = {code for code, *_ in found(project, "--isolated")}
    alone = {code for code, *_ in found(project, "--isolated", "src/helpers.py")}
    assert len(whole) == 3 and len(alone) == 4 and not whole & alone
    assert found(project, "src/helpers.py") == []
    assert "gone" not in run(project, "check", "src/helpers.py").stderr
    run(project, "check", "--write-baseline", "src/helpers.py")
    assert found(project) == []
    helpers.write_text(HELPERS.replace("return x.item()", "return x.item() + x.item()"), encoding="utf-8")
    assert [code for code, *_ in found(project, "src/helpers.py")] == ["CL201", "CL201"]


def test_a_finding_of_its_own_code_comes_first(tmp_path: Path) -> None:
    entries = [{"code": code, "line": "x", "count": 1} for code in ("CL103", "CL201")]
    (tmp_path / "b.json").write_text(json.dumps({"version": 1, "findings": {"a.py": entries}}), encoding="utf-8")
    findings = [finding(tmp_path / "a.py", code) for code in ("CL204", "CL201", "CL204")]
    judged = baseline.judge(tmp_path / "b.json", findings, [], lambda path: ["x"])
    assert (judged.new, judged.known) == ([findings[2]], 2)


def test_pairs_are_rules() -> None:
    codes = {rule.code for rule in api.rules()}
    assert {code for pair in baseline.PAIRS for code in pair} <= codes


def finding(path: Path, code: str) -> api.Finding:
    span = Span(str(path), 1, 1, 1, 2)
    return api.Finding(code, "", ("sync",), Severity.WARNING, span, "", Region("library", "", ""))
