"""Positions, overlap, application and diffs of edits."""

from __future__ import annotations

import ast
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilelint.finding import Edit
from compilelint.fix.edits import (
    Group,
    LineIndex,
    OverlapError,
    apply_edits,
    choose,
    compatible,
    map_back,
    unified_diff,
)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\ny = 2\n",
        "x = 1\r\ny = 2\r\n",
        "x = 1\ry = 2\r\nz = 3\n",
        "\x0cx = 1\n\x0cdef f():\n    return y\n",
        's = "é\u2028"; t = "日本"; u = 1\nv = s\n',
        'é = "\U0001f600"; z = é\n',
    ],
)
def test_spans_are_those_of_ast(text: str) -> None:
    index = LineIndex(text)
    names = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    assert names
    for node in names:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start, end = index.offset(node.lineno, node.col_offset), index.offset(node.end_lineno, node.end_col_offset)
        assert text[start:end] == node.id


def test_a_byte_order_mark_is_on_no_line() -> None:
    assert LineIndex("\ufeffx = 1\n").offset(1, 0) == 1


def test_newlines_are_those_nearby() -> None:
    index = LineIndex("a\r\nb\nc\nd")
    assert [index.newline_near(offset) for offset in (0, 3, 5, 7)] == ["\r\n", "\n", "\n", "\n"]
    assert LineIndex("a").newline_near(0) == "\n"


def test_apply() -> None:
    assert apply_edits("abcdef", [Edit(4, 6, "XY"), Edit(0, 1, ""), Edit(2, 2, "-")]) == "b-cdXY"
    with pytest.raises(OverlapError):
        apply_edits("abcdef", [Edit(0, 3, "x"), Edit(2, 4, "y")])
    with pytest.raises(OverlapError):
        apply_edits("abcdef", [Edit(1, 1, "x"), Edit(1, 1, "y")])
    with pytest.raises(ValueError, match="outside"):
        apply_edits("abc", [Edit(2, 9, "")])


def group(name: str, *edits: Edit) -> Group:
    return Group((name,), edits)


def test_fixes_that_interleave_wait() -> None:
    outer = group("outer", Edit(0, 1, "x"), Edit(9, 10, "y"))
    inner = group("inner", Edit(4, 5, "z"))
    later = group("later", Edit(12, 13, "w"))
    chosen, left = choose([later, inner, outer])
    assert chosen == [outer, later] and left == [inner]


def test_the_same_import_is_wanted_by_many() -> None:
    add = Edit(0, 0, "import torch\n")
    one, two = group("one", add, Edit(5, 6, "x")), group("two", add, Edit(8, 9, "y"))
    chosen, left = choose([one, two])
    assert not left
    assert apply_edits("0123456789", [e for g in chosen for e in g.edits]) == "import torch\n01234x67y9"


def test_other_insertions_at_one_place_are_not_merged() -> None:
    same = [group(name, Edit(3, 3, "count += 1\n")) for name in ("one", "two")]
    assert len(choose(same)[0]) == 1
    different = [group("one", Edit(0, 0, "import a\n")), group("two", Edit(0, 0, "import b\n"))]
    assert len(choose(different)[0]) == 1


texts = st.text(alphabet="ab\n\r é日", max_size=30)


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return text, [Edit(start, end, draw(st.text(alphabet="XY\n", max_size=4))) for start, end in pairs]


@given(texts_and_edits(), st.randoms())
def test_untouched_characters_stay(case: tuple[str, list[Edit]], random: object) -> None:
    text, edits = case
    shuffled = list(edits)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a Random
    after = apply_edits(text, shuffled)
    assert after == apply_edits(text, edits)
    position = shift = 0
    for edit in edits:
        assert after[position + shift : edit.start + shift] == text[position : edit.start]
        assert after[edit.start + shift : edit.start + shift + len(edit.text)] == edit.text
        shift += len(edit.text) - (edit.end - edit.start)
        position = edit.end
    assert after[position + shift :] == text[position:]


@given(texts_and_edits())
def test_places_are_found_back(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    after = apply_edits(text, edits)
    changed = {n for edit in edits for n in range(edit.start, edit.end)}
    back = [map_back(n, edits) for n in range(len(after))]
    assert back == sorted(back)
    kept = [n for n in range(len(text)) if n not in changed]
    for n in kept:
        assert n in back and after[len(back) - 1 - back[::-1].index(n)] == text[n]


@st.composite
def groups(draw: st.DrawFn) -> list[Group]:
    spans = st.tuples(st.integers(0, 20), st.integers(0, 4), st.sampled_from(["", "x", "import a\n"]))
    found = []
    for number in range(draw(st.integers(0, 6))):
        edits = tuple(Edit(start, start + length, text) for start, length, text in draw(st.lists(spans, max_size=2)))
        try:
            apply_edits("." * 30, edits)
        except OverlapError:
            continue
        found.append(Group((number,), edits))
    return found


@given(groups(), st.randoms())
def test_the_choice_does_not_depend_on_the_order(found: list[Group], random: object) -> None:
    chosen, left = choose(found)
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a Random
    assert choose(shuffled)[0] == chosen
    assert len(chosen) + len(left) == len([g for g in found if g.edits])
    assert chosen or not left
    apply_edits("." * 30, [edit for each in chosen for edit in each.edits])  # they don't meet
    assert all(compatible(one, other) for one, other in combinations(chosen, 2))
    assert not any(all(compatible(each, one) for one in chosen) for each in left)


def test_each_of_many_fixes_is_compared_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(one: Group, other: Group) -> bool:
        asked.append(one)
        return compatible(one, other)

    monkeypatch.setattr("compilelint.fix.edits.compatible", counted)
    added = Edit(0, 0, "import a\n")
    many = [Group((n,), (added, Edit(10 * n, 10 * n + 12 - n % 2 * 2, "x"))) for n in range(1, 1000)]
    chosen, left = choose(many)
    assert len(chosen) > 400 and len(left) > 400
    assert len(asked) < 3 * len(many)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nX\nc\n"),
        ("a\r\nb\r\n", "a\r\nb\r\nc\r\n"),
        ("a\nb", "a\nb\nc"),
        ("a\nb\n", "a\nb"),
        ("".join(f"{n}\n" for n in range(40)), "".join(f"{n if n not in (3, 30) else 'x'}\n" for n in range(40))),
        ("a\x0cb\rc\u2028d\ne\n", "a\x0cb\rc\u2028X\ne\n"),
    ],
)
def test_git_applies_the_diff(before: str, after: str, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_bytes(before.encode())
    diff = unified_diff(before, after, "f.py", notes=[(1, 2, "CL101 title")])
    subprocess.run(["git", "apply", "--unsafe-paths", "-"], input=diff.encode(), check=True, cwd=tmp_path)
    assert (tmp_path / "f.py").read_bytes() == after.encode()


def test_a_hunk_names_its_fixes() -> None:
    before = "".join(f"{n}\n" for n in range(40))
    after = before.replace("\n3\n", "\nx\n").replace("\n30\n", "\ny\n")
    heads = [
        line
        for line in unified_diff(before, after, "f.py", notes=[(4, 4, "CL1 one"), (31, 31, "CL2 two")]).splitlines()
        if line.startswith("@@")
    ]
    assert heads == ["@@ -1,7 +1,7 @@ CL1 one", "@@ -28,7 +28,7 @@ CL2 two"]
    assert unified_diff(before, before, "f.py") == ""


def test_each_fix_has_a_hunk_of_its_own(tmp_path: Path) -> None:
    before = "".join(f"line {n}\n" for n in range(1, 13))
    after = before.replace("line 3\n", "three\n").replace("line 6\n", "six\n").replace("line 8\n", "eight\n")
    diff = unified_diff(before, after, "f.py", notes=[(3, 3, "CL1 one"), (6, 6, "CL2 two"), (8, 8, "CL3 three")])
    headings = [line for line in diff.splitlines() if line.startswith("@@")]
    assert headings == ["@@ -2,3 +2,3 @@ CL1 one", "@@ -5,5 +5,5 @@ CL2 two; CL3 three"]
    (tmp_path / "f.py").write_text(before)
    subprocess.run(["git", "apply", "--unsafe-paths", "-"], input=diff.encode(), check=True, cwd=tmp_path)
    assert (tmp_path / "f.py").read_text() == after


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a b/é.py", "a/a b/é.py"),
        ("x\n+++ b/y\x1b[31m.py", '"a/x\\n+++ b/y\\033[31m.py"'),
        ('q"\udce9.py', '"a/q\\"\\351.py"'),
    ],
)
def test_names_in_a_diff_are_quoted_as_git_does(path: str, shown: str) -> None:
    assert unified_diff("1\n", "2\n", path).splitlines()[:2] == [f"--- {shown}", f"+++ {shown.replace('a/', 'b/', 1)}"]
