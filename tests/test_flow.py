"""Whether a name is still read once a statement is done: what fixes ask before they take its value away."""

from __future__ import annotations

import ast
import textwrap

import pytest

from compilelint.rewrites.flow import used_after


def is_used(body: str) -> bool:
    """Of `x`, behind the statement that ends in `# here`."""
    text = "def f(xs, flag):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    tree = ast.parse(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if each.endswith("# here"))
    statement = next(n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno == line)
    return used_after("x", statement, tree.body[0])


@pytest.mark.parametrize(
    "body",
    [
        "x = 1  # here\nreturn x",
        "x = 1  # here\nlast = x.sum()\nx = 2",  # read, then bound anew
        "x = 1  # here\nx += 1",
        "x = 1  # here\nif flag:\n    x = 2\nreturn x",
        "x = 1  # here\nfor x in xs:\n    pass\nreturn x",  # maybe no round
        "x = 1  # here\nx = x + 1",
        "x = 1  # here\ndel x",
        "for y in xs:\n    if y:\n        print(x)\n    x = y  # here",  # the next round
        "while x:\n    x = 1  # here",
        "for y in xs:\n    for x in y:  # here\n        pass\nreturn x",
        "def g():\n    return x\nx = 1  # here\nreturn g",
        "global x\nx = 1  # here",
        "try:\n    x = 1  # here\nfinally:\n    print(x)",
        "for y in xs:\n    x = 1  # here\nelse:\n    print(x)",
        "x = 1  # here\nwith flag as z:\n    return x",
        "for y in xs:\n    x = x + y  # here",
        "x = 1  # here\nreturn [x for x in x]",
    ],
)
def test_used(body: str) -> None:
    assert is_used(body)


@pytest.mark.parametrize(
    "body",
    [
        "x = 1  # here\nreturn xs",
        "print(xs)\nx = 1  # here",
        "x = 1  # here\nx = 2\nreturn x",
        "x = 1  # here\nif flag:\n    x = 2\nelse:\n    x, y = xs\nreturn x",
        "for y in xs:\n    x = y  # here\n    print(y)",
        "for y in xs:\n    x = y\n    print(x)\n    x = 3  # here",
        "for x in xs:\n    print(x)\n    x = 3  # here",
        "x = 1  # here\nwith flag as x:\n    return x",
        "x = 1  # here\nfor x in xs:\n    print(x)",
        "x = 1  # here\nreturn [x + 1 for x in xs]",  # the comprehension's own
    ],
)
def test_not_used(body: str) -> None:
    assert not is_used(body)


def test_what_is_not_known_is_taken_for_granted() -> None:
    (statement,) = ast.parse("x = 1").body
    assert used_after("x", statement, None)
    assert used_after("x", statement, ast.parse("def f(): pass").body[0])
