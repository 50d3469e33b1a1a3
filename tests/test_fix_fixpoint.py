"""The rounds of a fix, with toy rules that look for names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from compilelint.finding import Applicability, Edit, Finding, FixPlan, Region, Severity, Span
from compilelint.fix.cst import CstFile
from compilelint.fix.errors import CannotFix
from compilelint.fix.fixpoint import fix_text, fix_texts
from compilelint.fix.rewriter import Rewriter
from compilelint.fix.run import fix_files

Build = Callable[[Rewriter, ast.Call], None]


def finding(path: str, node: ast.AST, edits: tuple[Edit, ...], code: str = "CL999", **plan: Any) -> Finding:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    fix = FixPlan("toy", **{"applicability": Applicability.SAFE, "edits": edits, **plan})
    region = Region("compiled", "", "")
    return Finding(code, "toy", ("sync",), Severity.ERROR, Span(path, line, column, line, column), "", region, fix=fix)


def calls(name: str, build: Build, **plan: Any) -> Callable[[str], Iterator[Finding]]:
    """A rule that finds calls of a function."""

    def find(text: str) -> Iterator[Finding]:
        tree = ast.parse(text)
        file = CstFile("f.py", text, tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                rewriter = Rewriter(file, at=node)
                try:
                    build(rewriter, node)
                    edits = rewriter.edits()
                except CannotFix:
                    edits = ()
                yield finding("f.py", node, edits, **plan)

    return find


def rename(rw: Rewriter, node: ast.Call) -> None:
    rw.replace(node, f"{rw.name_for('torch.where')}({', '.join(map(rw.code, node.args))})")


def test_overlapping_fixes_take_rounds() -> None:
    result = fix_text("f.py", "def f(a):\n    return old(old(a), 1) + old(a)\n", calls("old", rename))
    assert result.after == ("import torch\n\n\ndef f(a):\n    return torch.where(torch.where(a), 1) + torch.where(a)\n")
    assert len(result.applied) == 3 and not result.problems and result.rounds == 2
    assert {fix.line for fix in result.applied} == {2}, "the lines of the original"
    again = fix_text("f.py", result.after, calls("old", rename))
    assert not again.changed and not again.applied and again.rounds == 0


def test_fresh_names_of_one_round_differ() -> None:
    def hoist(rw: Rewriter, node: ast.Call) -> None:
        statement = rw.statement(node)
        name = rw.fresh_name("total", within=rw.file.tree)
        rw.insert_before(statement, f"{name} = new({rw.code(node.args[0])})")
        rw.replace(node, name)

    result = fix_text("f.py", "x = old(1)\ny = old(2)\n", calls("old", hoist))
    assert result.after == "total = new(1)\nx = total\ntotal_2 = new(2)\ny = total_2\n"


def test_applicability() -> None:
    def find(text: str) -> Iterator[Finding]:
        yield from calls("a", rename)(text)
        yield from calls("b", rename, applicability=Applicability.UNSAFE, why="it may differ")(text)
        yield from calls("c", rename, applicability=Applicability.MANUAL)(text)

    text = "import torch\na(1)\nb(2)\nc(3)\n"
    safe = fix_text("f.py", text, find)
    assert safe.after == "import torch\ntorch.where(1)\nb(2)\nc(3)\n"
    assert [(skip.line, skip.reason) for skip in safe.skipped] == [
        (3, "unsafe: it may differ"),
        (4, "to be done by hand"),
    ]
    moved = fix_text("f.py", text.removeprefix("import torch\n"), find)
    assert [(skip.line, skip.original) for skip in moved.skipped] == [(4, 2), (5, 3)]
    unsafe = fix_text("f.py", text, find, unsafe=True)
    assert unsafe.after == "import torch\ntorch.where(1)\ntorch.where(2)\nc(3)\n"


def test_a_round_that_breaks_the_file_is_dropped_and_the_rest_goes_on() -> None:
    def find(text: str) -> Iterator[Finding]:
        yield from calls("old", rename)(text)
        if "bad" in text:
            yield finding("f.py", ast.parse("x"), (Edit(text.index("bad"), text.index("bad") + 3, "(("),), "CL998")

    result = fix_text("f.py", "import torch\nold(1)\nbad\n", find)
    assert result.after == "import torch\ntorch.where(1)\nbad\n"
    assert len(result.problems) == 1 and "CL998" in result.problems[0] and "round 1 was dropped" in result.problems[0]


def test_fixes_that_only_together_break_the_file() -> None:
    def find(text: str) -> Iterator[Finding]:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) and node.value.id in "ab":
                rewriter = Rewriter("f.py", text, tree)
                rewriter.delete_statement(node)
                yield finding("f.py", node, rewriter.edits())

    result = fix_text("f.py", "if c:\n    a\n    b\n", find)
    assert result.after == "if c:\n    pass\n"
    assert len(result.problems) == 1


def test_fixes_that_never_settle_are_reported() -> None:
    def swap(text: str) -> Iterator[Finding]:
        yield finding("f.py", ast.parse("x"), (Edit(0, 1, "b" if text[0] == "a" else "a"),))

    result = fix_text("f.py", "a = 1\n", swap)
    assert result.problems == ["the fixes undo each other: round 2 led back to an earlier text (CL999)"]

    def grow(text: str) -> Iterator[Finding]:
        yield finding("f.py", ast.parse("x"), (Edit(0, 0, "a"),))

    result = fix_text("f.py", "a = 1\n", grow)
    assert result.rounds == 10 and result.after == "a" * 11 + " = 1\n"
    assert result.problems == ["after 10 rounds 1 fix is still left (CL999)"]


def test_an_edit_that_changes_nothing_ends() -> None:
    result = fix_text("f.py", "a = 1\n", lambda text: [finding("f.py", ast.parse("x"), (Edit(0, 1, "a"),))])
    assert not result.changed and not result.applied and not result.problems


def test_files_are_fixed_together() -> None:
    """A fix in one file may make a finding in another."""
    seen: list[tuple[str, ...]] = []

    def find(texts: Mapping[str, str], changed: Collection[str]) -> Iterator[Finding]:
        seen.append(tuple(sorted(changed)))
        if texts["a.py"] == "x\n":
            yield finding("a.py", ast.parse("x"), (Edit(0, 1, "y"),))
        elif texts["b.py"] == "x\n":
            yield finding("b.py", ast.parse("x"), (Edit(0, 1, "z"),))

    result = fix_texts({"a.py": "x\n", "b.py": "x\n"}, find)
    assert [result[name].after for name in ("a.py", "b.py")] == ["y\n", "z\n"]
    assert seen == [(), ("a.py",), ("a.py", "b.py")]


def test_files_on_disk(tmp_path: Path) -> None:
    good, bad = tmp_path / "f.py", tmp_path / "latin.py"
    good.write_bytes(b"import torch\r\nold(1)  # why\r\n")
    bad.write_bytes(b"\xff")
    name = good.as_posix()

    def find(texts: Mapping[str, str], _: Collection[str]) -> Iterator[Finding]:
        for each in calls("old", rename)(texts[name]):
            yield Finding(**{**{s: getattr(each, s) for s in each.__slots__}, "span": Span(name, 2, 1, 2, 2)})

    shown = fix_files([good, bad], find)
    assert good.read_bytes() == b"import torch\r\nold(1)  # why\r\n"
    assert "+torch.where(1)  # why\r\n" in shown.diff and "CL999 toy (safe)" in shown.diff
    assert shown.exit_code(applied=False) == 2 and "latin.py" in shown.problems[0]
    done = fix_files([good], find, apply=True)
    assert good.read_bytes() == b"import torch\r\ntorch.where(1)  # why\r\n"
    assert done.exit_code(applied=True) == 0 and done.applied == 1 and done.files[0].written
    assert fix_files([good], find).exit_code(applied=False) == 0


expressions = st.recursive(
    st.sampled_from(["x", "y.z", "1"]),
    lambda inner: st.one_of(
        st.builds("old({})".format, inner),
        st.builds("old({}, {})".format, inner, inner),
        st.builds("({} + {})".format, inner, inner),
        st.builds("[{} for a in {}]".format, inner, inner),
    ),
    max_leaves=8,
)


@given(
    st.lists(st.tuples(st.sampled_from(["t = {}", "if {}: pass", "def f(q={}):\n\treturn q"]), expressions), max_size=5)
)
def test_fixing_twice_changes_nothing(lines: list[tuple[str, str]]) -> None:
    text = "\n".join(template.format(code) for template, code in lines)
    result = fix_text("f.py", text, calls("old", rename), max_rounds=30)
    ast.parse(result.after)
    assert "old(" not in result.after and not result.problems
    assert result.after.count("import torch") == ("old(" in text)
    assert not fix_text("f.py", result.after, calls("old", rename)).changed


def test_fixes_that_can_not_be_built_are_told_with_the_reason() -> None:
    text = "a = old(1)\n"

    def find(text: str) -> Iterator[Finding]:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                yield finding("f.py", node, (), applicability=Applicability.UNSAFE, refused="it is shared")

    (skipped,) = fix_text("f.py", text, find).skipped
    assert skipped.refused and not skipped.on_request
    assert skipped.reason == "can't be rewritten here: it is shared"
