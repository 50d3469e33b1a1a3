"""Suppression comments: where they count, which forms there are, and the notes about idle ones."""

from __future__ import annotations

import time

import pytest

from compilelint.finding import Applicability, Finding, Region, Severity, Span
from compilelint.fix.edits import apply_edits
from compilelint.suppress import apply, read_comments

KNOWN = {"CL001", "CL002", "CL101", "CL201"}


def finding(line: int, code: str = "CL101", statement: int = 0, severity: Severity = Severity.ERROR) -> Finding:
    region = Region("compiled", "m:f", "decorated")
    span = Span("m.py", line, 1, line, 5)
    return Finding(code, "name", ("sync",), severity, span, "message", region, statement_line=statement)


def left(text: str, *findings: Finding, ran: set[str] = KNOWN) -> list[str]:
    return [
        f"{f.span.line}:{f.code}" + (f" {f.message}" if f.code == "CL001" else "")
        for f in apply(findings, text, "m.py", ran=ran, known=KNOWN)
    ]


@pytest.mark.parametrize(
    "comment",
    [
        "# compilelint: ignore[CL101]",
        "# compilelint: ignore[CL101] the host needs it",
        "# compilelint: ignore[CL201, CL101]",
        "#compilelint:ignore[cl101]",
        "# compilelint: ignore",
        "# compilelint: ignore because",
        "# type: ignore  # compilelint: ignore[CL101]",
        "# noqa: CL101",
        "# noqa:E501,CL101",
        "# NOQA: E501 CL101",
        "# type: ignore # noqa: CL101",
    ],
)
def test_forms_that_suppress(comment: str) -> None:
    assert "1:CL101" not in left(f"f(x)  {comment}\n", finding(1))


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# noqa: E501",
        "# compilelint: ignore[CL201]",
        "# compilelint: ignore[]",
        "# compilelint: ignore[nonsense]",
        "# compilelint: ignored",
        "# see compilelint ignore[CL101]",
        "'# compilelint: ignore'",
    ],
)
def test_forms_that_do_not(comment: str) -> None:
    assert "1:CL101" in left(f"f(x);  {comment}\n", finding(1))


def test_the_first_line_of_the_statement_counts() -> None:
    text = "f(  # compilelint: ignore[CL101]\n    x,\n)\n"
    assert left(text, finding(2, statement=1)) == []
    assert left(text, finding(2)) == ["2:CL101", "1:CL001 Suppression without effect: unused `CL101`"]


@pytest.mark.parametrize("prefix", ["", "f"])
def test_a_comment_behind_a_long_string_counts_for_its_lines(prefix: str) -> None:
    text = f'f({prefix}"""a\n{{x}}\nb""")  # compilelint: ignore[CL101]\n'
    assert left(text, finding(1), finding(2)) == []


def test_other_lines_do_not_count() -> None:
    text = "f(x)\n# compilelint: ignore[CL101]\nf(x)\n"
    assert left(text, finding(1), finding(3))[:2] == ["1:CL101", "3:CL101"]


def test_unreadable_files_can_not_be_suppressed() -> None:
    assert left("x = (  # compilelint: ignore\n", finding(1, "CL002"))[0] == "1:CL002"


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# compilelint: ignore[CL101]", "Suppression without effect: unused `CL101`"),
        ("# compilelint: ignore[CL999]", "Suppression without effect: unknown `CL999`"),
        ("# compilelint: ignore[CL999, CL101]", "Suppression without effect: unknown `CL999`, unused `CL101`"),
        ("# compilelint: ignore", "Unused suppression: nothing is found here"),
        ("# compilelint: ignore[]", "Suppression can't be read: the brackets are empty"),
        ("# compilelint: ignore CL101", "Suppression can't be read: codes stand in brackets: `ignore[CL101]`"),
        ("# compilelint: ignore[no]", "Suppression can't be read: `no` is not a rule's code or name"),
        ("# compilelint: ignroe[CL101]", "Suppression can't be read: expected `ignore` or `ignore[CODES]`"),
    ],
)
def test_idle_comments_are_noted(comment: str, said: str) -> None:
    (note,) = apply([], f"x = 1  {comment} reason\n", "m.py", ran=KNOWN, known=KNOWN)
    assert (note.code, note.severity, note.message, note.span.column) == ("CL001", Severity.NOTE, said, 8)


def test_only_rules_that_ran_are_judged() -> None:
    text = "x = 1  # compilelint: ignore[CL101]\ny = 2  # compilelint: ignore\nz = 3  # noqa: CL101\n"
    assert left(text, ran={"CL001", "CL002", "CL201"}) == []


def test_a_note_about_a_comment_can_be_suppressed() -> None:
    assert left("x = 1  # compilelint: ignore[CL101, CL001]\n") == []


def test_many_suppressions_in_one_comment_are_read_in_one_go() -> None:
    started = time.process_time()
    notes = left("x = 1  " + "# compilelint: ignore " * 5000 + "\n")
    assert len(notes) == 5000
    assert time.process_time() - started < 5  # each looked at all others: a minute


def test_a_rule_is_suppressed_by_its_name() -> None:
    assert left("f(x)  # compilelint: ignore[Branch-on-tensor]\n", finding(1)) == []


def test_half_used_comment_names_the_idle_code() -> None:
    assert left("f(x)  # compilelint: ignore[CL101, CL201]\n", finding(1)) == [
        "1:CL001 Suppression without effect: unused `CL201`"
    ]


def test_text_that_does_not_tokenize_keeps_what_was_read() -> None:
    assert 1 in read_comments("f(x)  # noqa: CL101\n'''never closed\n").by_line


def test_line_numbers_survive_all_newlines() -> None:
    assert list(read_comments("x = 1\r\ny = 2  # noqa: CL101\r\n").by_line) == [2]
    assert list(read_comments("x = 1\x0c\ny = 2  # noqa: CL101\n").by_line) == [2]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # compilelint: ignore[CL101]\n", "x = 1\n"),
        ("x = 1  # compilelint: ignore[CL101] no reason any more\r\ny\r\n", "x = 1\r\ny\r\n"),
        ("x = 'ä'  # compilelint: ignore", "x = 'ä'"),
        ("if x:\n    # compilelint: ignore[CL101]\n    y\n", "if x:\n    y\n"),
        ("x = 1  # type: ignore  # compilelint: ignore[CL101]\n", "x = 1  # type: ignore\n"),
        ("x = 1  # compilelint: ignore[CL101]  # other\n", "x = 1  # other\n"),
        ("x = 1  # compilelint: ignore[CL201, CL101] both\n", "x = 1  # compilelint: ignore[CL201] both\n"),
        ("x = 1  # compilelint: ignore[CL201, CL999]\n", "x = 1  # compilelint: ignore[CL201]\n"),
    ],
)
def test_what_has_no_effect_is_taken_out(before: str, after: str) -> None:
    (note,) = apply([finding(1, "CL201")] if "CL201" in before else [], before, "m.py", ran=KNOWN, known=KNOWN)
    assert note.fix is not None and note.fix.applicability is Applicability.UNSAFE
    assert apply_edits(before, note.fix.edits) == after


def test_what_can_not_be_read_is_left() -> None:
    (note,) = apply([], "x = 1  # compilelint: ignore[]\n", "m.py", ran=KNOWN, known=KNOWN)
    assert note.fix is None


@pytest.mark.parametrize("found", [[], [finding(1)]])
def test_comments_for_other_linters_alone_are_not_read(found: list[Finding], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compilelint.suppress.read_comments", None)
    text = "import x  # noqa: F401, E402\nimport y  # noqa\n"
    assert apply(found, text, "m.py", ran=KNOWN, known=KNOWN) == found
