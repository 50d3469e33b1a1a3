"""Each method of the Rewriter on odd layouts."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from compilelint import api
from compilelint.config import Settings
from compilelint.fix.cst import CstFile
from compilelint.fix.edits import apply_edits
from compilelint.fix.rewriter import CannotFix, Rewriter


def rewrite(source: str, change: Callable[[Rewriter], object]) -> str:
    rewriter = Rewriter("f.py", source, ast.parse(source))
    change(rewriter)
    after = apply_edits(source, rewriter.edits())
    ast.parse(after)
    return after


def statement(rw: Rewriter, name: str) -> ast.stmt:
    """The innermost statement that starts with a name, or holds it: `b` finds `b = 2`."""
    found = [node for node in ast.walk(rw.file.tree) if isinstance(node, ast.Name) and node.id == name]
    return rw.statement(found[0])


def node(rw: Rewriter, code: str, number: int = 0) -> ast.expr:
    """An expression by its code."""
    wanted = ast.dump(ast.parse(code, mode="eval").body)
    found = [each for each in ast.walk(rw.file.tree) if isinstance(each, ast.expr) and ast.dump(each) == wanted]
    return sorted(found, key=lambda each: (each.lineno, each.col_offset))[number]


def call(rw: Rewriter) -> ast.Call:
    return next(each for each in ast.walk(rw.file.tree) if isinstance(each, ast.Call))


# Reading


def test_text_is_exact() -> None:
    source = '# é\r\nx = "日本"; y = foo(a,\r\n  b)  # c\r\n'
    rw = Rewriter("f.py", source, ast.parse(source))
    assert rw.text(call(rw)) == "foo(a,\r\n  b)"
    assert rw.text(statement(rw, "y")) == "y = foo(a,\r\n  b)"


def test_text_of_a_definition_starts_at_its_decorators() -> None:
    source = "@a\n@b(1)\ndef f(): pass\n"
    rw = Rewriter("f.py", source, ast.parse(source))
    assert rw.text(rw.file.tree.body[0]) == source.rstrip()


def test_code_is_moved_to_the_margin() -> None:
    source = 'if c:\n    if d:\n        x = """\n  s\n"""\n        y = 1\n    z = (a +\n         b)\n'
    rw = Rewriter("f.py", source, ast.parse(source))
    inner = rw.parent(statement(rw, "x"))
    assert inner is not None
    assert rw.code(inner) == 'if d:\n    x = """\n  s\n"""\n    y = 1'
    assert rw.code(node(rw, "a + b")) == "(a +\n     b)"
    assert rw.operand(node(rw, "a + b")) == "(a +\n     b)"


@pytest.mark.parametrize(
    ("code", "operand"),
    [
        ("a", "a"), ("a.b[0]", "a.b[0]"), ("a + b", "(a + b)"), ("-1", "(-1)"), ("1", "(1)"), ("'s'", "'s'"),
        ("(a, b)", "(a, b)"), ("[a]", "[a]"), ("a if b else c", "(a if b else c)"), ("f(x)", "f(x)"), ("1.5", "1.5"),
    ],
)  # fmt: skip
def test_operands(code: str, operand: str) -> None:
    source = f"x = {code}\n"
    rw = Rewriter("f.py", source, ast.parse(source))
    value = rw.file.tree.body[0]
    assert isinstance(value, ast.Assign)
    assert rw.operand(value.value) == operand


def test_fill_keeps_each_part_whole() -> None:
    source = "x = a or b\n"
    rw = Rewriter("f.py", source, ast.parse(source))
    test = node(rw, "a or b")
    assert rw.fill("not flag() and {test}", test=test) == "not flag() and (a or b)"
    assert rw.fill("f({test}, {more})", test=test, more="c, d") == "f(a or b, (c, d))"
    assert rw.fill("if {test}:\n    y = {test}.z", test=test) == "if (a or b):\n    y = (a or b).z"


# Expressions


@pytest.mark.parametrize(
    ("source", "old", "new", "result"),
    [
        ("y = x.z", "x", "a + b", "y = (a + b).z"),
        ("y = x + 1", "x", "a * b", "y = a * b + 1"),
        ("y = x * 1", "x", "a + b", "y = (a + b) * 1"),
        ("y = 2 ** x", "x", "-a", "y = 2 ** -a"),
        ("y = x ** 2", "x", "-a", "y = (-a) ** 2"),
        ("y = not x", "x", "a and b", "y = not (a and b)"),
        ("y = (a + b) * c", "a + b", "f(a)", "y = f(a) * c"),
        ("if(a + b): pass", "a + b", "f(a)", "if(f(a)): pass"),
        ("f(x for x in y)", "(x for x in y)", "z", "f(z)"),
        ("f(x)", "x", "a for a in b", "f(a for a in b)"),
        ("f(x, 1)", "x", "a := 1", "f(a := 1, 1)"),
        ("f(k=x)", "x", "a := 1", "f(k=(a := 1))"),
        ("y = x", "x", "yield a", "y = yield a"),
        ("y = x + 1", "x", "await a", "y = await a + 1"),
        ("y = x + 1", "x", "yield a", "y = (yield a) + 1"),
        ("y = x + 1", "x", "lambda: 0", "y = (lambda: 0) + 1"),
        ("y = x, 1", "x", "a, b", "y = (a, b), 1"),
        ("y[x]", "x", "a, b", "y[a, b]"),
        ("y[x:1]", "x", "a if b else c", "y[a if b else c:1]"),
        ("for i in x: pass", "x", "a, b", "for i in a, b: pass"),
        ("y = 1 .real + x", "x", "a", "y = 1 .real + a"),
        ("y = x if a else b", "x", "p if q else r", "y = (p if q else r) if a else b"),
        ("@x\ndef f(): pass", "x", "a[0](1)", "@a[0](1)\ndef f(): pass"),
        ("y = '日本', x", "x", "a", "y = '日本', a"),
        ("y = f'{a}' + x", "x", "b", "y = f'{a}' + b"),
        ("y = f'{x}'", "f'{x}'", "str(x)", "y = str(x)"),
        ("while (x): pass", "x", "a", "while a: pass"),
        ("assert x, m", "x", "a, b", "assert (a, b), m"),
        ("y = x", "x", "a +\n    b", "y = (a +\n    b)"),
        ("y = [a, (  x  )]", "x", "b", "y = [a, b]"),
        ("def f():\n    return x", "x", "g(\n    a,\n)", "def f():\n    return g(\n        a,\n    )"),
        ("if a: pass\nelif x: pass", "x", "b or c", "if a: pass\nelif b or c: pass"),
        ("y = x; z = 1", "x", "a", "y = a; z = 1"),
        ("y = a \\\n  + x", "x", "b", "y = a \\\n  + b"),
    ],
)
def test_replace(source: str, old: str, new: str, result: str) -> None:
    assert rewrite(source, lambda rw: rw.replace(node(rw, old), new)) == result


def test_replace_refuses_what_does_not_fit() -> None:
    source = "match x:\n    case a.B(): pass\n"
    for bad in ("1 +", "x = 1", "f(", "*a"):
        with pytest.raises(CannotFix):
            rewrite("y = x\n", lambda rw, bad=bad: rw.replace(node(rw, "x"), bad))  # type: ignore[misc]  # mypy: lambda default
    with pytest.raises(CannotFix):
        rewrite(source, lambda rw: rw.replace(node(rw, "a.B"), "p if q else r"))
    with pytest.raises(CannotFix):
        rewrite("x = y\n", lambda rw: rw.replace(ast.parse("y", mode="eval").body, "z"))


def test_comments_inside_a_replaced_expression_move_above() -> None:
    source = "def f():\n    # head\n    return g(\n        a,  # why\n        b,  # noqa: X\n    )\n"
    result = "def f():\n    # why\n    # head\n    return h(a)\n"
    assert rewrite(source, lambda rw: rw.replace(call(rw), "h(a)")) == result
    source = "if c:\n    x\nelif d:\n    y\nelif g(\n    a,  # why\n):\n    z\n"  # not above an `elif`
    result = "# why\nif c:\n    x\nelif d:\n    y\nelif h(a):\n    z\n"
    assert rewrite(source, lambda rw: rw.replace(call(rw), "h(a)")) == result


def test_a_node_changed_twice_is_refused() -> None:
    for change in (
        lambda rw: (rw.replace(node(rw, "a + b"), "c"), rw.replace(node(rw, "a"), "d")),
        lambda rw: (rw.replace_statement(statement(rw, "y"), "z"), rw.replace(node(rw, "a"), "d")),
        lambda rw: (rw.delete_statement(statement(rw, "y")), rw.replace_statement(statement(rw, "y"), "z")),
    ):
        with pytest.raises(CannotFix):
            rewrite("y = a + b\n", change)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="positions are reliable")
def test_fstrings_without_positions() -> None:
    with pytest.raises(CannotFix, match="f-string"):
        rewrite("y = f'{x.item()}'\n", lambda rw: rw.replace(node(rw, "x.item()"), "x"))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="positions are not reliable")
def test_fstrings() -> None:
    source = "y = f'é {x.item()} {x!r:>{w}}'\n"
    assert rewrite(source, lambda rw: rw.replace(node(rw, "x.item()"), "x")) == "y = f'é {x} {x!r:>{w}}'\n"
    for code in ("a['b']", "{1: 2}", "a != b"):
        with pytest.raises(CannotFix):
            rewrite(source, lambda rw, code=code: rw.replace(node(rw, "x.item()"), code))  # type: ignore[misc]
    with pytest.raises(CannotFix, match="text"):
        rewrite("y = f'{x.item() = }'\n", lambda rw: rw.replace(node(rw, "x.item()"), "x"))


def test_cst() -> None:
    import libcst

    def change(rw: Rewriter) -> None:
        tree = rw.cst(call(rw))
        assert isinstance(tree, libcst.Call)
        rw.replace(call(rw), tree.with_changes(func=libcst.Name("g")))

    assert rewrite("y = f( a, # c\n  b )\n", change) == "y = g( a, # c\n  b )\n"

    def wrap(rw: Rewriter) -> None:
        loop = rw.file.tree.body[0]
        assert isinstance(loop, ast.If)
        tree = rw.cst(loop.body[0])
        rw.replace(loop.body[0], tree)

    source = 'if c:\n    for x in y:  # 1\n        s = """\n   a"""\n'
    assert rewrite(source, wrap) == source


# Arguments


@pytest.mark.parametrize(
    ("source", "added", "result"),
    [
        ("f()", ["k=1"], "f(k=1)"),
        ("f( )", ["a"], "f(a)"),
        ("f(a)", ["k=1", "b"], "f(a, b, k=1)"),
        ("f(a,)", ["k=1"], "f(a, k=1,)"),
        ("f((a))", ["k=1"], "f((a), k=1)"),
        ("f(a, k=0)", ["b"], "f(a, b, k=0)"),
        ("f(*a, **b)", ["k=1"], "f(*a, **b, k=1)"),
        ("f(x for x in y)", ["k=1"], "f((x for x in y), k=1)"),
        ("f(\n    a,\n    b,\n)", ["k=1"], "f(\n    a,\n    b,\n    k=1,\n)"),
        ("f(\n    a,\n    b,  # c\n)", ["k=1"], "f(\n    a,\n    b,  # c\n    k=1,\n)"),
        ("f(\n    a,\n    b  # c\n)", ["k=1"], "f(\n    a,\n    b,  # c\n    k=1\n)"),
        ("f(a,\n  b)", ["k=1"], "f(a,\n  b, k=1)"),
        ("f(\n    a, b\n)", ["k=1"], "f(\n    a, b, k=1\n)"),
        ("f(\r\n\ta,\r\n)", ["k=1"], "f(\r\n\ta,\r\n\tk=1,\r\n)"),
        ("(f)(  # c\n)", ["k=1"], "(f)(k=1)"),
        ("f(a)(b)", ["k=1"], "f(a)(b, k=1)"),
        ("f('é', a)", ["k=1"], "f('é', a, k=1)"),
    ],
)
def test_add_argument(source: str, added: list[str], result: str) -> None:
    def change(rw: Rewriter) -> None:
        for each in added:
            rw.add_argument(call(rw), each)

    assert rewrite(source, change) == result


@pytest.mark.parametrize(
    ("source", "which", "result"),
    [
        ("f(a)", 0, "f()"),
        ("f(a, b)", 0, "f(b)"),
        ("f(a, b)", 1, "f(a)"),
        ("f(a, b)", -1, "f(a)"),
        ("f(a, (b), c)", 1, "f(a, c)"),
        ("f(a, k=1, l=2)", "k", "f(a, l=2)"),
        ("f(a, k=1,)", "k", "f(a,)"),
        ("f(\n    a,\n    k=1,  # c\n    b=2,\n)", "k", "f(\n    a,\n    b=2,\n)"),
        ("f(\n    a,  # c\n    k=1\n)", "k", "f(\n    a,  # c\n)"),
        ("f(k=1, *a)", "k", "f(*a)"),
        ("f(x for x in y)", 0, "f()"),
    ],
)
def test_remove_argument(source: str, which: int | str, result: str) -> None:
    assert rewrite(source, lambda rw: rw.remove_argument(call(rw), which)) == result


def test_exchanged_arguments() -> None:
    def change(rw: Rewriter) -> None:
        rw.remove_argument(call(rw), "k")
        rw.add_argument(call(rw), "k=2")

    assert rewrite("f(a, k=1, l=3)", change) == "f(a, k=2, l=3)"
    assert rewrite("f(k=1)", change) == "f(k=2)"
    assert rewrite("f(a, k=(1),)", change) == "f(a, k=2,)"
    with pytest.raises(CannotFix, match="already"):
        rewrite("f(k=1)", lambda rw: rw.add_argument(call(rw), "k=2"))
    with pytest.raises(CannotFix, match="no argument"):
        rewrite("f(k=1)", lambda rw: rw.remove_argument(call(rw), 0))


# Statements


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("a = 1\nb = 2\n", "a = 1\nnew(1)\nnew(2)\nb = 2\n"),
        ("a = 1; b = 2; c = 3  # d\n", "a = 1\nnew(1)\nnew(2)\nb = 2; c = 3  # d\n"),
        ("if x: a = 1; b = 2\nelse: pass\n", "if x:\n    a = 1\n    new(1)\n    new(2)\n    b = 2\nelse: pass\n"),
        ("if x: b = 2  # d\n", "if x:\n    new(1)\n    new(2)\n    b = 2  # d\n"),
        ("if x:b=2", "if x:\n    new(1)\n    new(2)\n    b=2"),
        ("if x:\n\t# about b\n\tb = 2\n", "if x:\n\tnew(1)\n\tnew(2)\n\t# about b\n\tb = 2\n"),
        ("#!/bin/python\nb = 2\n", "#!/bin/python\nnew(1)\nnew(2)\nb = 2\n"),
        ("a = '''\n# no comment'''\nb = 2\n", "a = '''\n# no comment'''\nnew(1)\nnew(2)\nb = 2\n"),
        ("a = 1\r\nb = 2\r\n", "a = 1\r\nnew(1)\r\nnew(2)\r\nb = 2\r\n"),
        ("a = 1\n\x0cb = 2\n", "a = 1\nnew(1)\nnew(2)\n\x0cb = 2\n"),
        ("if a: pass\nelif b: c\n", "if a: pass\nelse:\n    new(1)\n    new(2)\n    if b: c\n"),
        ("a = 1; \\\n  b = 2\n", "a = 1\nnew(1)\nnew(2)\nb = 2\n"),
        ("@d\ndef f(x=b): pass\n", "new(1)\nnew(2)\n@d\ndef f(x=b): pass\n"),
    ],
)
def test_insert_before(source: str, result: str) -> None:
    assert rewrite(source, lambda rw: rw.insert_before(statement(rw, "b"), "\n    new(1)\n    new(2)\n")) == result


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("b = 2  # d\nc = 3\n", "b = 2  # d\nnew(1)\nnew(2)\nc = 3\n"),
        ("b = 2", "b = 2\nnew(1)\nnew(2)"),
        ("a = 1; b = 2; c = 3\n", "a = 1; b = 2\nnew(1)\nnew(2)\nc = 3\n"),
        ("if x: b = 2\nc\n", "if x:\n    b = 2\n    new(1)\n    new(2)\nc\n"),
        ("for i in b:\n    x\n    # end\n# out\n", "for i in b:\n    x\n    # end\nnew(1)\nnew(2)\n# out\n"),
        ("b = 2;\r\nc\r\n", "b = 2;\r\nnew(1)\r\nnew(2)\r\nc\r\n"),
    ],
)
def test_insert_after(source: str, result: str) -> None:
    assert rewrite(source, lambda rw: rw.insert_after(statement(rw, "b"), "new(1)\nnew(2)")) == result


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("a\nb = 2  # d\nc\n", "a\nc\n"),
        ("a; b = 2; c\n", "a; c\n"),
        ("b = 2; c\n", "c\n"),
        ("a; b = 2  # d\n", "a  # d\n"),
        ("a; b = 2;\n", "a;\n"),
        ("if x:\n    # why\n    b = 2  # d\nc\n", "if x:\n    # why\n    pass  # d\nc\n"),
        ("if x: b = 2\n", "if x: pass\n"),
        ("if x:\n    b = '''\n'''\n    c\n", "if x:\n    c\n"),
        ("a\nb = 2", "a\n"),
        ("b = 2\n", ""),
        ("class C:\n    '''Doc.'''\n    b = 2\n", "class C:\n    '''Doc.'''\n"),
        ("if a:\n    x\nelif b:\n    y\nelse:\n    z\nc\n", "if a:\n    x\nc\n"),
        ("a\r\nb = (1,\r\n2)\r\nc\r\n", "a\r\nc\r\n"),
        ("@d\ndef f(x=b): pass\nc\n", "c\n"),
    ],
)
def test_delete_statement(source: str, result: str) -> None:
    assert rewrite(source, lambda rw: rw.delete_statement(statement(rw, "b"))) == result


def test_deleting_all_of_a_block_leaves_pass() -> None:
    def delete(rw: Rewriter) -> None:
        rw.delete_statement(statement(rw, "a"))
        rw.delete_statement(statement(rw, "b"))

    for source, result in (
        ("if x:\n    a\n    b\nc\n", "if x:\n    pass\nc\n"),
        ("if x: a; b\nc\n", "if x: pass\nc\n"),
        ("if x:\n    a; b  # d\nc\n", "if x:\n    pass  # d\nc\n"),
    ):
        assert rewrite(source, delete) == result

    def exchange(rw: Rewriter) -> None:
        rw.delete_statement(statement(rw, "a"))
        rw.insert_after(statement(rw, "a"), "b")

    assert rewrite("if x:\n    a\n", exchange) == "if x:\n    b\n"


@pytest.mark.parametrize(
    ("source", "code", "result"),
    [
        ("b = 2  # d\n", "x = 1", "x = 1  # d\n"),
        ("b = 2  # d\n", "x = 1\ny = 2", "x = 1\ny = 2  # d\n"),
        ("a; b = 2; c\n", "x = 1", "a; x = 1; c\n"),
        ("a; b = 2; c\n", "if x:\n    y", "a\nif x:\n    y\nc\n"),
        ("a; b = 2; c\n", "x  # d", "a\nx  # d\nc\n"),
        ("if x: b = 2\n", "y\nz", "if x:\n    y\n    z\n"),
        ("if x:\n\tif b:\n\t\t# why\n\t\ty = 1  # noqa\n", "y = 2", "if x:\n\t# why\n\ty = 2  # noqa\n"),
        ("if a: x\nelif b: y\nelse: z\n", "w", "if a: x\nelse:\n    w\n"),
        ("if x:\n    b = 2\n", "y = '''\n  s\n'''\nz", "if x:\n    y = '''\n  s\n'''\n    z\n"),
        ("if x:\r\n  b = 2\r\n", "if y:\n    z", "if x:\r\n  if y:\r\n    z\r\n"),
        ("if b:\n    x = 1  # one\n", "x = where(b, 1, x)  # one", "x = where(b, 1, x)  # one\n"),
    ],
)  # fmt: skip
def test_replace_statement(source: str, code: str, result: str) -> None:
    assert rewrite(source, lambda rw: rw.replace_statement(statement(rw, "b"), code)) == result


def test_a_bracket_alone_is_not_copied_because_the_file_has_one_too() -> None:
    source = "def f():\n    g(\n        1\n    )\n    bad\n"
    new = "if c:\n    h(\n        a, b\n    )"
    after = rewrite(source, lambda rw: rw.replace_statement(statement(rw, "bad"), new))
    assert after.endswith("    if c:\n        h(\n            a, b\n        )\n")


def test_an_argument_is_not_copied_because_the_file_has_such_a_line() -> None:
    source = "def f():\n    g(\n        1,\n        a,\n    )\n    bad\n"
    new = "if c:\n    h(\n        b(2),\n        a,\n    )"
    after = rewrite(source, lambda rw: rw.replace_statement(statement(rw, "bad"), new))
    assert after.endswith("    if c:\n        h(\n            b(2),\n            a,\n        )\n")


def test_copied_lines_keep_their_indentation() -> None:
    source = "def f():\n    if c:\n        b = g(\n            x,\n        )\n"
    result = "def f():\n    if c:\n        b = h(g(\n            x,\n        ))\n"
    assert rewrite(source, lambda rw: rw.replace_statement(statement(rw, "b"), f"b = h({rw.text(call(rw))})")) == result


HEADER = "if not compiling():"


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("b = 2  # d\n", "if not compiling():\n    b = 2  # d\n"),
        ("a; b = 2; c\n", "a\nif not compiling():\n    b = 2\nc\n"),
        ("if x: b = 2\n", "if x:\n    if not compiling():\n        b = 2\n"),
        ("if x:\n\t# about\n\tb = 2\n", "if x:\n\t# about\n\tif not compiling():\n\t\tb = 2\n"),
        ("b = '''\n  s\n''' + f(\n  1)\n", "if not compiling():\n    b = '''\n  s\n''' + f(\n      1)\n"),
        ("b = 'a\\\n  c'\n", "if not compiling():\n    b = 'a\\\n  c'\n"),
        ("for i in b:\n\n    x\n    # y\n", "if not compiling():\n    for i in b:\n\n        x\n        # y\n"),
        ("if a: x\nelif b:\n    y\n", "if a: x\nelse:\n    if not compiling():\n        if b:\n            y\n"),
        ("b = 1\r\nc\r\n", "if not compiling():\r\n    b = 1\r\nc\r\n"),
        ("@d\ndef f(x=b):\n    pass\n", "if not compiling():\n    @d\n    def f(x=b):\n        pass\n"),
        ("b = f'''{\n1}\n x'''\n", "if not compiling():\n    b = f'''{\n1}\n x'''\n"),
    ],
)  # fmt: skip
def test_wrap_statement(source: str, result: str) -> None:
    assert rewrite(source, lambda rw: rw.wrap_statement(statement(rw, "b"), HEADER)) == result


def test_wrap_several() -> None:
    source = "if x:\n    b = 2\n\n    # about c\n    c = 3  # d\n    e\n"
    result = "if x:\n    with y:\n        b = 2\n\n        # about c\n        c = 3  # d\n    e\n"
    assert (
        rewrite(source, lambda rw: rw.wrap_statement(statement(rw, "b"), "with y:", last=statement(rw, "c"))) == result
    )
    with pytest.raises(CannotFix):
        rewrite(source, lambda rw: rw.wrap_statement(statement(rw, "c"), "with y:", last=statement(rw, "b")))


def test_an_expression_inside_a_wrapped_statement() -> None:
    def change(rw: Rewriter) -> None:
        rw.wrap_statement(statement(rw, "b"), "if y:")
        rw.replace(node(rw, "a"), "c")

    source = "if x:\n    b = f(\n        a,\n    )\n"
    assert rewrite(source, change) == "if x:\n    if y:\n        b = f(\n            c,\n        )\n"


def test_many_changes_of_one_statement() -> None:
    def change(rw: Rewriter) -> None:
        target = statement(rw, "b")
        rw.insert_before(target, "one")
        rw.insert_before(target, "two")
        rw.insert_after(target, "four")
        rw.insert_after(target, "five")
        rw.replace_statement(target, "three")

    for source in ("b\n", "a; b; c\n", "b; c\n", "if x: b\n"):
        names = [each.strip() for each in rewrite(source, change).replace("if x:", "").split("\n") if each.strip()]
        assert [name for name in names if name not in "ac"] == ["one", "two", "three", "four", "five"]


def test_block_unit() -> None:
    for source, unit in (
        ("x = {\n'a':\n  1}\nif x:\n   y\n", "   "),
        ("class A:\n\n  # c\n\tdef f(): pass\n".replace("\tdef", "  def"), "  "),
        ("if x:\r\n\ty\r\n", "\t"),
        ("x\n", "    "),
    ):
        assert CstFile("f.py", source, ast.parse(source)).unit == unit


def test_a_node_of_another_tree_is_refused() -> None:
    source = dedent("a = 1\n")
    rw = Rewriter("f.py", source, ast.parse(source))
    other = ast.parse(source).body[0]
    with pytest.raises(CannotFix):
        rw.delete_statement(other)


@pytest.mark.parametrize(
    ("body", "done"),
    [
        ("    if x.sum() > HUGE:\n        x = x + 1\n", "x.sum() > HUGE,"),
        ("    assert x.sum() > 0, HUGE\n", ""),
        ("    if (x > HUGE).any():\n        x = x.masked_fill(x > HUGE, 0)\n", "torch.where"),
    ],
)
def test_an_int_that_python_can_not_write_is_no_internal_error(tmp_path: Path, body: str, done: str) -> None:
    huge = "0x" + "f" * 5000
    path = tmp_path / "m.py"
    text = f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n{body}    return x\n"
    path.write_text(text.replace("HUGE", huge), encoding="utf-8")
    run = api.fix([path], Settings(unsafe_fixes=True))
    assert not run.errors
    assert done.replace("HUGE", huge) in run.result.diff
