"""`compilelint check` as users run it: exit codes, formats, settings, suppressions, and files that can't be read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from compilelint.cli import compilelint
from compilelint.finding import EFFECTS

BAD = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2
    return x
"""
GOOD = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.sum() > 0, x * 2, x)
"""


def run(
    cwd: Path, *args: str, env: dict[str, str] | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compilelint", *args]
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")} | (env or {})
    return subprocess.run(
        command, cwd=cwd, env=clean, input=stdin, capture_output=True, text=True, timeout=120, check=False
    )


def check(cwd: Path, *args: str) -> tuple[int, dict[str, Any], str]:
    done = run(cwd, "check", "--output-format", "json", *args)
    return done.returncode, json.loads(done.stdout), done.stderr


def codes(report: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in report["findings"]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.compilelint]\n", encoding="utf-8")
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    return tmp_path


def test_exit_codes(project: Path) -> None:
    assert run(project, "check", "good.py").returncode == 0
    assert run(project, "check", "bad.py").returncode == 1
    assert run(project, "check").returncode == 1
    assert run(project, "check", "bad.py", "--exit-zero").returncode == 0
    assert run(project, "check", "gone.py", "--exit-zero").returncode == 2
    assert run(project, "check", "--no-such-flag").returncode == 2
    assert run(project, "chek").returncode == 2
    assert run(project, "--version").returncode == 0


def test_json_keeps_the_contract(project: Path) -> None:
    code, report, stderr = check(project)
    assert (code, stderr) == (1, "")
    assert set(report) == {"version", "compilelint", "torch", "files", "findings"}
    assert (report["version"], report["files"]) == (1, 2)
    assert report["torch"].count(".") == 1
    finding = report["findings"][0]
    assert finding["path"] == "bad.py"
    assert (finding["line"], finding["end_line"]) == (6, 6)
    assert BAD.splitlines()[5][finding["column"] - 1 : finding["end_column"] - 1] == "x.sum() > 0"
    assert finding["severity"] == "error"
    assert "graph-break" in finding["effects"]
    assert set(finding["effects"]) <= set(EFFECTS)
    assert finding["region"]["kind"] == "compiled"
    assert finding["region"]["root"].endswith(":f")
    assert finding["region"]["why"]
    assert finding["gb_types"]
    assert finding["trace"]
    assert all(set(step) == {"path", "line", "text"} for step in finding["trace"])
    assert finding["fix"] is None or finding["fix"]["applicability"] in ("safe", "unsafe", "manual")


def test_text_shows_the_place_and_the_reason(project: Path) -> None:
    done = run(project, "check", "bad.py")
    assert "--> bad.py:6:8" in done.stdout
    assert "6 |     if x.sum() > 0:\n  |        ^^^^^^^^^^^\n" in done.stdout
    assert "in 1 file." in done.stdout
    assert "\x1b" not in done.stdout


def test_color_is_asked_for_and_refused_by_the_environment(project: Path) -> None:
    assert "\x1b[" in run(project, "check", "bad.py", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in run(project, "check", "bad.py", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b[" not in run(project, "check", "--output-format", "json", env={"FORCE_COLOR": "1"}).stdout


def test_sarif_and_github(project: Path) -> None:
    sarif = json.loads(run(project, "check", "--output-format", "sarif").stdout)
    (result,) = sarif["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "bad.py"
    assert run(project, "check", "--output-format", "github").stdout.startswith("::error title=compilelint (CL1")


def test_select_ignore_and_configuration(project: Path) -> None:
    found = codes(check(project)[1])
    code = found[0]
    assert codes(check(project, "--ignore", code)[1]) == found[1:]
    assert codes(check(project, "--select", "CL4")[1]) == []
    (project / "pyproject.toml").write_text(f'[tool.compilelint]\nignore = ["{code}"]\n', encoding="utf-8")
    assert codes(check(project)[1]) == found[1:]
    assert code in codes(check(project, "--isolated")[1])
    assert codes(check(project, "--select", code)[1]) == [code]
    (project / "pyproject.toml").write_text(
        f'[tool.compilelint.per-file-ignores]\n"bad*" = ["{code}"]\n', encoding="utf-8"
    )
    assert codes(check(project)[1]) == found[1:]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--select", "CL999"], 'error: --select: unknown rule "CL999"'),
        (["--torch", "0.4"], "error: --torch: nothing is known of torch 0.4; choose one of "),
        (["--python", "2.7"], "error: --python: Python 2.7 is not supported"),
        (["--jobs", "-1"], "error: --jobs: expected a whole number"),
        ([""], "the path is empty"),
        (["--exclude", "[z-a]"], "error: --exclude: not a pattern as in .gitignore: '[z-a]'"),
        (["--config", "gone.toml"], "gone.toml: can't be read: No such file"),
        (["--statistics", "--output-format", "json"], "--statistics goes with --output-format text only"),
    ],
)
def test_usage_errors(project: Path, args: list[str], said: str) -> None:
    done = run(project, "check", *args)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_configuration_errors(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.compilelint]\nselct = []\n", encoding="utf-8")
    done = run(project, "check")
    assert done.returncode == 2
    assert 'pyproject.toml: [tool.compilelint] unknown key "selct" (did you mean "select"?)' in done.stderr


def test_a_root_that_names_no_function_is_told(project: Path) -> None:
    roots = '["good:f", "bad:g", "elsewhere:f"]'
    (project / "pyproject.toml").write_text(f"[tool.compilelint]\nroots = {roots}\n", encoding="utf-8")
    assert check(project)[2] == 'warning: roots: "bad:g": no function g in bad.py\n'


def test_suppressions(project: Path) -> None:
    (code, *_) = codes(check(project)[1])
    bad = project / "bad.py"
    for comment in (f"# compilelint: ignore[{code}] wanted", "# compilelint: ignore", f"# noqa: {code}"):
        bad.write_text(BAD.replace("> 0:", f"> 0:  {comment}"), encoding="utf-8")
        assert codes(check(project)[1]) == []
    bad.write_text(GOOD.replace("x * 2, x)", f"x * 2, x)  # compilelint: ignore[{code}]"), encoding="utf-8")
    status, report, _ = check(project)
    assert (status, codes(report)) == (0, ["CL001"])
    assert report["findings"][0]["severity"] == "note"


def test_severity_threshold(project: Path) -> None:
    (project / "good.py").write_text("x = 1  # compilelint: ignore[CL101]\n", encoding="utf-8")
    assert "CL001" in codes(check(project)[1])
    assert "CL001" not in codes(check(project, "--severity", "warning")[1])
    assert check(project, "good.py", "--severity", "error")[0] == 0


def test_files_that_can_not_be_read_do_not_stop_the_others(project: Path) -> None:
    (project / "syntax.py").write_text("import torch\n\ndef f(:\n", encoding="utf-8")
    (project / "plain_syntax.py").write_text("def f(:\n", encoding="utf-8")
    (project / "latin.py").write_bytes(b"import torch\n# caf\xe9\n")
    (project / "declared.py").write_bytes(b"# -*- coding: latin-1 -*-\nimport torch\n# caf\xe9\n")
    (project / "unknown.py").write_bytes(b"# -*- coding: klingon -*-\nimport torch\n")
    (project / "null.py").write_bytes(b"import torch\n\0\n")
    (project / "bom.py").write_bytes(b"\xef\xbb\xbfimport torch\r\n")
    (project / "deep.py").write_text("import torch\nx = " + "(" * 5000 + ")" * 5000 + "\n", encoding="utf-8")
    (project / "empty.py").write_bytes(b"")
    (project / "folder.py").mkdir()
    (project / "folder.py" / "inner.py").write_text(BAD, encoding="utf-8")
    status, report, stderr = check(project, ".", "gone.py", "folder.py")
    assert status == 2
    assert stderr.splitlines() == ["error: gone.py: no such file or directory"]
    unreadable = {f["path"]: f["message"] for f in report["findings"] if f["code"] == "CL002"}
    assert set(unreadable) == {"syntax.py", "plain_syntax.py", "latin.py", "unknown.py", "null.py", "deep.py"}
    assert "0xe9 on line 2" in unreadable["latin.py"]
    assert {f["path"] for f in report["findings"] if f["code"] != "CL002"} == {"bad.py", "folder.py/inner.py"}
    assert next(f["line"] for f in report["findings"] if f["path"] == "syntax.py") == 3
    assert check(project, "syntax.py", "--select", "CL101")[0] == 1


def test_stdin_is_checked_as_the_file_that_is_named(project: Path) -> None:
    done = run(project, "check", "--output-format", "concise", "-", stdin=BAD)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("-:6:8: CL101 ") and done.stdout.count("\n") == 1
    done = run(project, "check", "--stdin-filename", "good.py", stdin=BAD)
    assert "--> good.py:6:8" in done.stdout and "6 |     if x.sum() > 0:" in done.stdout
    assert run(project, "check", "-", stdin=GOOD).returncode == 0
    assert run(project, "check", "-", "bad.py", stdin=GOOD).returncode == 2
    assert (
        "new/x.py:1:7: CL002 "
        in run(project, "check", "--stdin-filename", "new/x.py", "--output-format", "concise", stdin="def f(:\n").stdout
    )
    excluded = ("--exclude", "new/", "--stdin-filename", "new/x.py", "-")
    assert run(project, "check", *excluded, stdin=BAD).returncode == 1
    assert run(project, "check", "--force-exclude", *excluded, stdin=BAD).returncode == 0
    (project / "helper.py").write_text("def positive(t):\n    return bool(t > 0)\n", encoding="utf-8")
    uses = "import torch\nfrom helper import positive\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    "
    shown = run(project, "check", "--stdin-filename", "bad.py", stdin=uses + "return positive(x.sum().item())\n").stdout
    assert "bad.py:7:21" in shown


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes stdin")
def test_a_stdin_that_can_not_be_read(project: Path) -> None:
    for how, why in (("<&-", "stdin is closed"), ("0>/dev/null", "stdin can't be read")):
        line = f'"{sys.executable}" -m compilelint check - {how}'
        done = subprocess.run(["sh", "-c", line], cwd=project, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 2 and why in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["", ".", "folder"])
def test_stdin_is_no_folder(project: Path, name: str) -> None:
    (project / "folder").mkdir()
    done = run(project, "check", "--stdin-filename", name, stdin=BAD)
    assert (done.returncode, done.stdout) == (2, "") and "--stdin-filename" in done.stderr


def test_a_path_without_permission_does_not_end_the_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(os, "access", lambda *_args, **_more: False)
    done = CliRunner().invoke(compilelint, ["check", "good.py", "bad.py", "--no-cache", "--output-format", "concise"])
    assert "bad.py:6:8: CL101" in done.stdout


def test_quiet(project: Path) -> None:
    done = run(project, "check", "-q", "good.py", "pyproject.toml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "Found" not in run(project, "check", "--quiet", "bad.py").stdout
    assert "Found" not in run(project, "check", "-q", "--statistics", "bad.py").stdout
    assert run(project, "check", "-q", "gone.py").stderr == "error: gone.py: no such file or directory\n"
    assert run(project, "fix", "-q", "good.py").stderr == ""
    assert run(project, "fix", "-q", "-v", "good.py").returncode == 2


def test_nothing_to_check(tmp_path: Path) -> None:
    done = run(tmp_path, "check")
    assert (done.returncode, done.stdout) == (0, "All checks passed! (0 files)\n")
    assert done.stderr == "warning: no Python files found under the given paths\n"


def test_statistics(project: Path) -> None:
    done = run(project, "check", "--statistics")
    assert done.returncode == 1
    first, *_, last = done.stdout.splitlines()
    assert first.split()[:2] == ["1", codes(check(project)[1])[0]]
    assert "-->" not in done.stdout
    assert last


TWO_FIXES = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    print(x.shape)
    return x + torch._shape_as_tensor(x).sum()
"""


def test_statistics_tell_safe_from_unsafe(project: Path) -> None:
    (project / "bad.py").write_text(TWO_FIXES, encoding="utf-8")
    shown = run(project, "check", "--statistics", "bad.py").stdout
    assert shown.splitlines()[:2] == ["1  CL110  [!] print-in-graph", "1  CL127  [*] shape-as-tensor"]


def test_fix_tells_of_unsafe_fixes(project: Path) -> None:
    (project / "bad.py").write_text(TWO_FIXES, encoding="utf-8")
    assert run(project, "fix", "bad.py").stderr == (
        "Would apply 1 fix in 1 file: write with --apply. (1 more with --unsafe-fixes)\n"
    )
    assert run(project, "fix", "--select", "CL110", "bad.py").stderr == (
        "Nothing to fix. (1 more with --unsafe-fixes)\n"
    )
    assert run(project, "fix", "--unsafe-fixes", "--apply", "bad.py").stderr == "Applied 2 fixes in 1 file.\n"


def test_fix_tells_of_what_it_has_no_fix_for(project: Path) -> None:
    text = "import torch\n\n\ndef f(owner: torch.Tensor, counts: torch.Tensor):\n"
    text += "    return torch.repeat_interleave(owner, counts)\n"
    (project / "bad.py").write_text(text, encoding="utf-8")
    assert run(project, "fix", "bad.py").stderr == "Nothing to fix. (1 without a fix: see --verbose)\n"
    assert run(project, "fix", "--verbose", "bad.py").stderr.splitlines()[1:] == [
        "bad.py:5: CL203 not fixed: none is known; pass `output_size=` where the host knows the total"
    ]


def test_fix_tells_of_what_it_could_not_read(project: Path) -> None:
    (project / "bad.py").write_text(TWO_FIXES, encoding="utf-8")
    (project / "worse.py").write_text("def f(:\n", encoding="utf-8")
    told = "error: worse.py:1:7: Syntax error in Python"
    assert run(project, "fix", "worse.py").stderr.splitlines()[0].startswith(told)
    assert len(run(project, "fix", "worse.py").stderr.splitlines()) == 1
    error, last = run(project, "fix", "--unsafe-fixes", "bad.py", "worse.py").stderr.splitlines()
    assert error.startswith(told)
    assert last == "Would apply 2 fixes in 1 file: write with --apply. (1 file not read: see above)"


def test_one_file_is_one(project: Path) -> None:
    assert "\n1 file in " in run(project, "check", "--verbose", "bad.py").stderr


def test_verbose_tells_on_stderr(project: Path) -> None:
    done = run(project, "check", "--verbose", "--output-format", "json")
    json.loads(done.stdout)
    assert "pyproject.toml" in done.stderr
    assert "2 files in" in done.stderr


def test_paths_are_shown_relative_to_the_working_directory(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    assert check(project, str(project / "bad.py"))[1]["findings"][0]["path"] == "bad.py"
    outside = check(inner, str(project / "bad.py"))[1]["findings"][0]["path"]
    assert Path(outside).resolve() == (project / "bad.py").resolve()


def test_a_closed_pipe_is_no_crash(project: Path) -> None:
    script = f"{sys.executable} -m compilelint check --output-format json | head -c 1"
    done = subprocess.run(["sh", "-c", script], cwd=project, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_torch_is_never_imported(project: Path) -> None:
    code = (
        "import sys\n"
        "from compilelint import api\n"
        "assert api.check(['bad.py']).findings\n"
        "assert not {'torch', 'libcst', 'click', 'rich'} & set(sys.modules), sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom compilelint.cli import main\nsys.argv = ['compilelint', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert not {'torch', 'libcst', 'rich', 'compilelint.api'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Commands:" in done.stdout


def test_output_survives_a_terminal_without_unicode(project: Path) -> None:
    (project / "bad.py").write_text(BAD.replace("x.sum() > 0:", "x.sum() > 0:  # größer 大"), encoding="utf-8")
    done = run(project, "check", "bad.py", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert "gr\\xf6\\xdfer" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
@pytest.mark.parametrize("command", [["check", "."], ["check", "--output-format", "json", "."], ["rules"]])
def test_no_room_for_the_output(project: Path, command: list[str]) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "compilelint", *command],
            cwd=project,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "error: the output can't be written: No space left on device\n")


def test_a_trace_has_a_folder_to_go_to(project: Path) -> None:
    """Or the program does not even start."""
    (project / "main.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    done = run(project, "trace", "-o", "nowhere/x.html", "main.py")
    assert done.returncode == 2 and "nowhere/x.html: no such folder" in done.stderr
    assert "Traceback" not in done.stderr and not (project / "ran").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_no_room_for_a_trace(project: Path) -> None:
    (project / "main.py").write_text("x = 1\n", encoding="utf-8")
    done = run(project, "trace", "-o", "/dev/full", "main.py")
    assert done.returncode == 2 and "/dev/full: can't be written" in done.stderr and "Traceback" not in done.stderr
