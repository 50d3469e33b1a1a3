"""For random programs and layouts: a rewrite means what it says, and touches nothing else."""

from __future__ import annotations

import ast
import copy
import io
import tokenize
from collections.abc import Callable

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from compilelint.fix.cst import CstFile, same
from compilelint.fix.edits import apply_edits
from compilelint.fix.rewriter import CannotFix, Rewriter

ATOMS = st.sampled_from(["a", "b.c", "1", "'é'", "d[0]", "('x'\n  'y')", "'''s\n  t\n'''", "[ e ]", "f'{a}'"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("{} + {}".format, inner, inner),
        st.builds("({} * {})".format, inner, inner),
        st.builds("f({})".format, inner),
        st.builds("f({},k={})".format, inner, inner),
        st.builds("g(\n  {},\n  *z,  # c\n)".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{} for q in {}]".format, inner, inner),
        st.builds("(not {})".format, inner),
    ),
    max_leaves=5,
)


@st.composite
def simple(draw: st.DrawFn) -> str:
    template = draw(st.sampled_from(["x = {}", "{}", "assert {}", "del p", "pass", "global z", "x += {}"]))
    return template.format(draw(EXPRESSIONS))


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """The lines of a block; string literals and brackets may hold further newlines."""
    unit = draw(st.sampled_from(["    ", "\t", "  "]))
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 5 if depth < 2 else 3))
        if draw(st.booleans()):
            lines += draw(st.sampled_from([["# about"], [""], ["", "# apart", ""]]))
        if kind < 2:
            lines.append(draw(simple()) + draw(st.sampled_from(["", "  # end", ";"])))
        elif kind == 2:
            lines.append(
                draw(st.sampled_from(["; ", ";", " ; "])).join(draw(st.lists(simple(), min_size=2, max_size=3)))
            )
        elif kind == 3:
            lines.append(
                "if {}: {}".format(draw(EXPRESSIONS), "; ".join(draw(st.lists(simple(), min_size=1, max_size=2))))
            )
        else:
            header = draw(st.sampled_from(["if {}:", "while {}:", "for i in {}:", "with {}:", "def f(p={}):"]))
            lines.append(header.format(draw(EXPRESSIONS)))
            lines += [unit + line if line else line for line in draw(blocks(depth + 1))]
            if header.startswith("if") and draw(st.booleans()):
                lines.append(f"elif {draw(EXPRESSIONS)}:")
                lines += [unit + line if line else line for line in draw(blocks(depth + 1))]
    return lines


@st.composite
def programs(draw: st.DrawFn) -> str:
    text = "\n".join(draw(blocks())) + draw(st.sampled_from(["\n", ""]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))


def parsed(text: str) -> ast.Module:
    """The tree; what was put together may be no program, and is passed over."""
    try:
        return ast.parse(text)
    except SyntaxError:
        reject()


def swapped(tree: ast.Module, target: ast.stmt, new: list[ast.stmt]) -> ast.Module:
    """A copy of the tree with other statements in the place of one."""
    memo: dict[int, object] = {}
    result = copy.deepcopy(tree, memo)
    mine = memo[id(target)]
    for node in ast.walk(result):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and any(each is mine for each in value):
                position = value.index(mine)
                body = value[:position] + new + value[position + 1 :]
                empty = not body and not isinstance(node, ast.Module) and name != "orelse"
                setattr(node, name, [ast.Pass()] if empty else body)
                return result
    raise AssertionError


NEW = "new(1)\nif m:\n    '''p\n  q'''\n"


def logical_line(text: str, line: int) -> int:
    """The line at which the logical line begins: a suite behind a header, or behind a semicolon, is laid out anew."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    ends = [token.end[0] for token in tokens if token.type == tokenize.NEWLINE]
    return max((end + 1 for end in ends if end < line), default=1)


@settings(max_examples=40, deadline=None)
@given(programs(), st.data())
def test_statements(text: str, data: st.DataObject) -> None:
    tree = parsed(text)
    file = CstFile("f.py", text, tree)
    target = data.draw(st.sampled_from([node for node in ast.walk(tree) if isinstance(node, ast.stmt)]))
    new = ast.parse(NEW).body
    wrapper = ast.parse("if not c: pass").body[0]
    assert isinstance(wrapper, ast.If)
    wrapper.body = [target]
    changes: dict[str, tuple[Callable[[Rewriter], object], list[ast.stmt]]] = {
        "before": (lambda rw: rw.insert_before(target, NEW), [*new, target]),
        "after": (lambda rw: rw.insert_after(target, NEW), [target, *new]),
        "replace": (lambda rw: rw.replace_statement(target, NEW), new),
        "itself": (lambda rw: rw.replace_statement(target, rw.code(target)), [target]),
        "wrap": (lambda rw: rw.wrap_statement(target, "if not c:"), [wrapper]),
    }
    if not (file.block(target)[1] == "orelse" and len(file.siblings(target)) == 1 and not file.is_elif(target)):
        changes["delete"] = (lambda rw: rw.delete_statement(target), [])
    for name, (change, expected) in changes.items():
        rewriter = Rewriter(file)
        change(rewriter)
        edits = rewriter.edits()
        after = apply_edits(text, edits)
        assert all(part in after for part in file.changed(edits))
        assert same(ast.parse(after), swapped(tree, target, expected)), name
        first = logical_line(text, file.index.line(file.span(target)[0]))
        last = file.index.line(file.span(target)[1])
        head = text[: file.index.starts[max(0, first - 4)]]
        tail = text[file.index.next_line(file.index.starts[min(len(file.index.starts) - 1, last + 3)]) :]
        assert after.startswith(head) and after.endswith(tail), name


@settings(max_examples=40, deadline=None)
@given(programs(), EXPRESSIONS, st.data())
def test_expressions(text: str, code: str, data: st.DataObject) -> None:
    tree = parsed(text)
    file = CstFile("f.py", text, tree)
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and not isinstance(node, ast.FormattedValue | ast.Starred)
        and not isinstance(getattr(node, "ctx", ast.Load()), ast.Store | ast.Del)
        and file.fstring(node) is None
    ]
    if not nodes:
        return
    target = data.draw(st.sampled_from(nodes))
    new = ast.parse(f"({code})", mode="eval").body
    rewriter = Rewriter(file)
    rewriter.replace(target, code)
    edits = rewriter.edits()
    after = apply_edits(text, edits)
    assert same(ast.parse(after), tree, {target: new})
    assert after.count("# ") >= text.count("# ") + code.count("# ") - rewriter.text(target).count("# ")


@settings(max_examples=40, deadline=None)
@given(programs(), st.data())
def test_any_changes_leave_a_file_that_parses(text: str, data: st.DataObject) -> None:
    tree = parsed(text)
    rewriter = Rewriter("f.py", text, tree)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    try:
        for _ in range(data.draw(st.integers(1, 4))):
            target = data.draw(st.sampled_from(statements))
            match data.draw(st.integers(0, 6)):
                case 0:
                    rewriter.delete_statement(target)
                case 1:
                    rewriter.insert_before(target, NEW)
                case 2:
                    rewriter.insert_after(target, "n")
                case 3:
                    rewriter.replace_statement(target, f"{rewriter.name_for('torch.x')}()")
                case 4:
                    rewriter.wrap_statement(target, "with w:")
                case 5 if calls:
                    rewriter.add_argument(data.draw(st.sampled_from(calls)), "new=1")
                case 6 if calls:
                    rewriter.remove_argument(data.draw(st.sampled_from(calls)), 0)
        edits = rewriter.edits()
    except CannotFix:
        return
    after = apply_edits(text, edits)
    ast.parse(after)
    assert edits == tuple(sorted(edits, key=lambda edit: edit.start))
    assert len(after) == len(text) + sum(len(edit.text) - (edit.end - edit.start) for edit in edits)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_new_lines_are_the_files(newline: str) -> None:
    text = f"if c:{newline}\tx = 1{newline}y{newline}"
    tree = ast.parse(text)
    outer = tree.body[0]
    assert isinstance(outer, ast.If)
    rewriter = Rewriter("f.py", text, tree)
    rewriter.replace_statement(outer.body[0], f"if d:\n    x = {rewriter.name_for('torch.x')}\n    z")
    rewriter.insert_after(tree.body[1], "w\nv")
    after = apply_edits(text, rewriter.edits())
    lines = ["import torch", "", "if c:", "\tif d:", "\t\tx = torch.x", "\t\tz", "y", "w", "v", ""]
    assert after == newline.join(lines)
