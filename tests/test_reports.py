"""The reports, field by field, and what they make of hostile source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from compilelint.escaping import escape
from compilelint.finding import Applicability, Edit, Finding, FixPlan, Region, Severity, Span, TraceStep
from compilelint.report import RuleDoc, Run, text, writer

SOURCE = {
    "src/model.py": ["import torch", "", "def forward(self, x, mask):", "    if mask.any():", "        x = x * 2"],
    "src/odd.py": ["\tif 漢字(x):", "s = '\x1b[31m\u202e'", "y" * 300 + " + f(x)"],
}


def finding(**changes: Any) -> Finding:
    values: dict[str, Any] = {
        "code": "CL101",
        "name": "branch-on-tensor",
        "effects": ("graph-break", "sync"),
        "severity": Severity.ERROR,
        "span": Span("src/model.py", 4, 8, 4, 18),
        "message": "`mask.any()` decides a Python branch.",
        "region": Region("compiled", "model:Net.forward", "is decorated with torch.compile"),
        "gb_types": ("Data-dependent branching",),
        "hint": "use torch.where",
        "trace": (
            TraceStep("src/model.py", 3, "`mask` is a tensor: a parameter"),
            TraceStep("src/b.py", 9, "called here"),
        ),
        "fix": FixPlan("Use torch.where", Applicability.SAFE),
    }
    return Finding(**(values | changes))


def write(form: str, findings: Sequence[Finding], **changes: Any) -> str:
    values: dict[str, Any] = {
        "version": "0.1.0",
        "torch": "2.13",
        "files": 12,
        "read_lines": lambda p: SOURCE.get(p, []),
    }
    return writer(form)(findings, Run(**(values | changes)))


def test_json_is_the_contract() -> None:
    report = json.loads(write("json", [finding(), finding(fix=None, trace=())]))
    assert {key: report[key] for key in ("version", "compilelint", "torch", "files")} == {
        "version": 1,
        "compilelint": "0.1.0",
        "torch": "2.13",
        "files": 12,
    }
    first, second = report["findings"]
    assert first == {
        "code": "CL101",
        "name": "branch-on-tensor",
        "effects": ["graph-break", "sync"],
        "severity": "error",
        "path": "src/model.py",
        "line": 4,
        "column": 8,
        "end_line": 4,
        "end_column": 18,
        "message": "`mask.any()` decides a Python branch.",
        "region": {"kind": "compiled", "root": "model:Net.forward", "why": "is decorated with torch.compile"},
        "gb_types": ["Data-dependent branching"],
        "hint": "use torch.where",
        "trace": [
            {"path": "src/model.py", "line": 3, "text": "`mask` is a tensor: a parameter"},
            {"path": "src/b.py", "line": 9, "text": "called here"},
        ],
        "fix": {"applicability": "safe", "title": "Use torch.where", "why": ""},
    }
    assert second["fix"] is None


def test_text_shows_frame_reason_and_fix() -> None:
    assert write("text", [finding()]) == (
        "CL101 error: [*] `mask.any()` decides a Python branch.\n"
        " --> src/model.py:4:8\n"
        "  |\n"
        "3 | def forward(self, x, mask):\n"
        "4 |     if mask.any():\n"
        "  |        ^^^^^^^^^^\n"
        "5 |         x = x * 2\n"
        "  |\n"
        "  = graph break, sync in compiled code: the function is decorated with torch.compile "
        "(root `model:Net.forward`)\n"
        "  = line 3: `mask` is a tensor: a parameter\n"
        "  = src/b.py:9: called here\n"
        "  = help: use torch.where\n"
        "  = fix: Use torch.where\n"
        "\n"
        "Found 1 finding (1 error) in 12 files.\n"
        "1 fixable with `compilelint fix`.\n"
    )


def test_text_underlines_by_columns_of_the_terminal() -> None:
    shown = write("text", [finding(span=Span("src/odd.py", 1, 5, 1, 7))]).splitlines()
    assert shown[3] == "1 |     if 漢字(x):"
    assert shown[4] == "  |        ^^^^"


def test_text_escapes_what_a_terminal_would_obey() -> None:
    shown = write("text", [finding(span=Span("src/odd.py", 2, 1, 2, 2), message="`\x1b]0;x\x07`")])
    assert "\x1b" not in shown
    assert "\\x1b[31m\\u202e" in shown
    assert "`\\x1b]0;x\\x07`" in shown
    assert escape("naïve \u00a0 ok\r\n\u2028") == "naïve \u00a0 ok\\r\\n\\u2028"


def test_text_cuts_long_lines_around_the_place() -> None:
    lines = write("text", [finding(span=Span("src/odd.py", 3, 304, 3, 308))]).splitlines()
    code, mark = next((a, b) for a, b in pairwise(lines) if "^" in b)
    assert len(code) < 200
    assert code[mark.index("^") : mark.rindex("^") + 1] == "f(x)"


def test_text_leaves_out_the_middle_of_a_long_span() -> None:
    lines = [f"line{n}" for n in range(1, 40)]
    shown = write("text", [finding(span=Span("src/long.py", 5, 1, 30, 4))], read_lines=lambda path: lines)
    assert "...\n30 | line30" in shown
    assert "line20" not in shown


def test_text_survives_a_file_that_changed() -> None:
    assert "--> gone.py:400:8" in write("text", [finding(span=Span("gone.py", 400, 8, 400, 18))])
    assert "src/model.py:400:8" in write("text", [finding(span=Span("src/model.py", 400, 8, 401, 18))])


def test_text_color_only_when_asked() -> None:
    assert "\x1b[" not in write("text", [finding()])
    assert "\x1b[31;1merror\x1b[0m" in write("text", [finding()], color=True)


def test_text_summary() -> None:
    unsafe = finding(fix=FixPlan("t", Applicability.UNSAFE, "changes the dtype"))
    assert write("text", [], files=1) == "All checks passed! (1 file)\n"
    assert write("text", [], failures=["x"]) == "No findings in 12 files, but the run is incomplete.\n"
    many = write("text", [finding(), unsafe, finding(severity=Severity.NOTE, fix=None)])
    assert many.endswith(
        "Found 3 findings (2 errors, 1 note) in 12 files.\n"
        "1 fixable with `compilelint fix` (1 more with `--unsafe-fixes`).\n"
    )
    assert "fix: t (unsafe: changes the dtype)" in many
    assert write("text", [unsafe]).endswith("1 fixable with `compilelint fix --unsafe-fixes`.\n")


def test_sarif_has_what_code_scanning_needs() -> None:
    docs = [
        RuleDoc("CL001", "unused", "One", "text", ()),
        RuleDoc("CL101", "branch-on-tensor", "Two", "text", ("sync",)),
    ]
    findings = [finding(span=Span("src/a b#.py", 4, 8, 4, 18)), finding(severity=Severity.NOTE, trace=())]
    report = json.loads(write("sarif", findings, rules=lambda: docs, failures=["gone.py: no such file"]))
    assert report["version"] == "2.1.0"
    (run,) = report["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["CL001", "CL101"]
    first, second = run["results"]
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "CL101"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/a%20b%23.py"
    assert place["region"] == {"startLine": 4, "startColumn": 8, "endLine": 4, "endColumn": 18}
    assert [related["message"]["text"] for related in first["relatedLocations"]][1] == "called here"
    assert (first["level"], second["level"]) == ("error", "note")
    assert "relatedLocations" not in second
    assert first["message"]["text"] == "`mask.any()` decides a Python branch. Help: use torch.where."
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_tells_the_flow_and_the_edits() -> None:
    plan = FixPlan("Use torch.where", Applicability.UNSAFE, "both sides run", (Edit(5, 8, "new"), Edit(9, 9, "x")))
    report = json.loads(write("sarif", [finding(fix=plan), finding(trace=())]))
    first, second = report["runs"][0]["results"]
    (thread,) = first["codeFlows"][0]["threadFlows"]
    steps = [step["location"]["message"]["text"] for step in thread["locations"]]
    assert steps == ["`mask` is a tensor: a parameter", "called here", "`mask.any()` decides a Python branch."]
    (fix,) = first["fixes"]
    assert fix["description"]["text"] == "Use torch.where (unsafe: both sides run)"
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "src/model.py"
    assert change["replacements"][0] == {
        "deletedRegion": {"charOffset": 5, "charLength": 3},
        "insertedContent": {"text": "new"},
    }
    assert "fixes" not in second and "codeFlows" not in second


def test_gitlab_entries() -> None:
    entries = json.loads(write("gitlab", [finding(), finding(), finding(severity=Severity.NOTE)]))
    assert entries[0]["location"] == {"path": "src/model.py", "lines": {"begin": 4, "end": 4}}
    assert [entry["severity"] for entry in entries] == ["critical", "critical", "info"]
    assert len({entry["fingerprint"] for entry in entries}) == 3
    assert entries[0]["description"] == "CL101: `mask.any()` decides a Python branch."


def test_junit_counts_and_survives_control_characters() -> None:
    findings = [finding(), finding(severity=Severity.NOTE), finding(span=Span("src/odd.py", 2, 1, 2, 3))]
    findings[2] = replace(findings[2], message="\x1b[31m <&> \ud800 \ufffe")
    root = ElementTree.fromstring(write("junit", findings, failures=["gone.py: no such file"]))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "2", "1")
    suites = {suite.get("name"): suite for suite in root}
    assert (suites["src/model.py"].get("tests"), suites["src/model.py"].get("failures")) == ("2", "1")
    failure = suites["src/odd.py"].find("testcase/failure")
    assert failure is not None and failure.get("message") == "\\x1b[31m <&> \\ud800 \\ufffe"
    empty = ElementTree.fromstring(write("junit", []))
    assert (empty.get("tests"), empty.get("failures")) == ("1", "0")


def test_github_annotations_are_one_line_each() -> None:
    hostile = finding(span=Span("a,b:c%.py", 4, 8, 4, 18), message="50%\nmore", severity=Severity.WARNING, trace=())
    shown = write("github", [hostile, finding(span=Span("x.py", 4, 8, 6, 2))], failures=["gone.py: missing"])
    first, second, third = shown.splitlines()
    assert first.startswith(
        "::warning title=compilelint (CL101),file=a%2Cb%3Ac%25.py,line=4,endLine=4,col=8,endColumn=18::"
    )
    assert "50%25%0Amore" in first
    assert second.startswith("::error title=compilelint (CL101),file=x.py,line=4,endLine=6::")
    assert third == "::error title=compilelint::gone.py: missing"


def test_sarif_fingerprints_outlive_lines_that_come_and_go() -> None:
    def marks(*lines: str) -> list[str]:
        places = [number for number, line in enumerate(lines, 1) if line.strip() == "f(x)"]
        found = [finding(span=Span("m.py", number, 1, number, 5)) for number in places]
        results = json.loads(write("sarif", found, read_lines=lambda _: lines))["runs"][0]["results"]
        return [result["partialFingerprints"]["compilelint/v1"] for result in results]

    before = marks("f(x)", "y = 1", "f(x)")
    assert before == marks("import torch", "", "  f(x)", "f(x)")
    assert len(set(before)) == 2


def test_concise_is_a_line_a_finding() -> None:
    shown = write("concise", [finding(), finding(span=Span("a\n\x1b.py", 1, 2, 1, 3), message="m\nn")])
    assert shown == "src/model.py:4:8: CL101 `mask.any()` decides a Python branch.\na\\n\\x1b.py:1:2: CL101 m\\nn\n"


def test_quiet_text_has_no_summary() -> None:
    assert "Found" not in write("text", [finding()], quiet=True)
    assert write("text", [], quiet=True) == ""


def test_github_escapes_what_a_terminal_would_obey() -> None:
    shown = write("github", [finding(span=Span("a\x1b[31m\nb.py", 4, 8, 4, 18), message="\x1b]0;x\x07")])
    assert shown.count("\n") == 1 and "\x1b" not in shown and "\x07" not in shown
    assert "file=a\\x1b[31m%0Ab.py," in shown


def test_a_very_long_line_costs_no_more_than_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    cell = text._cell

    def counted(char: str) -> tuple[str, int]:
        nonlocal calls
        calls += 1
        return cell(char)

    monkeypatch.setattr(text, "_cell", counted)
    shown = write("text", [finding(span=Span("x.py", 1, 43_000, 1, 43_005))], read_lines=lambda _: ["y" * 44_000])
    assert calls <= text.MAX_WIDTH
    assert shown.splitlines()[3:5] == ["1 | … " + "y" * 160 + " …", "  | " + " " * 22 + "^^^^^"]


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_reports_survive_undecodable_paths(form: str) -> None:
    path = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    write(form, [finding(span=Span(path, 1, 1, 1, 2), trace=())]).encode("utf-8", "backslashreplace")
