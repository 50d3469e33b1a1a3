"""Lines of new code that are too long are broken at their arguments."""

from __future__ import annotations

import ast

import pytest

from compilelint.fix.folding import fold, fold_statements, width_of


def test_a_line_that_fits_stays() -> None:
    assert fold("x = f(a, b)", 20) == "x = f(a, b)"


@pytest.mark.parametrize(
    ("code", "folded"),
    [
        ("x = torch.where(condition, aaaaaaaa, b)", "x = torch.where(\n    condition, aaaaaaaa, b\n)"),
        (
            "x = torch.where(condition, aaaaaaaaaaaaa, bbbbbbbbb)",
            "x = torch.where(\n    condition,\n    aaaaaaaaaaaaa,\n    bbbbbbbbb,\n)",
        ),
        ("x = f(*arguments, key=(value), **kw)", "x = f(\n    *arguments,\n    key=(value),\n    **kw,\n)"),
        ("x = f((aaaaaaaaaa + bbbbbbbbbbbb), ccccccc)", "x = f(\n    (aaaaaaaaaa + bbbbbbbbbbbb),\n    ccccccc,\n)"),
        ("sum(long_name_of_it for long_name_of_it in x)", "sum(long_name_of_it for long_name_of_it in x)"),
        ("return (f(a) + g(bbbbbbbbbbbbbbbbbbbbbbbbbbbb))", "return (f(a) + g(bbbbbbbbbbbbbbbbbbbbbbbbbbbb))"),
    ],
)
def test_arguments_go_to_lines_of_their_own(code: str, folded: str) -> None:
    assert fold(code, 30) == folded
    assert ast.dump(ast.parse(fold(code, 30))) == ast.dump(ast.parse(code))


def test_what_stands_before_on_the_line_counts() -> None:
    assert "\n" in fold("f(a, b)", 20, before=15)


def test_blocks_keep_their_level() -> None:
    code = "if c:\n    x = torch.where(condition, aaaaaaaa, b)\ny = 1"
    folded = fold_statements(code, ast.parse(code).body, 36)
    assert folded == "if c:\n    x = torch.where(\n        condition, aaaaaaaa, b\n    )\ny = 1"


def test_the_width_is_that_of_the_file() -> None:
    assert width_of("x = 1\n" * 3) == 88
    assert width_of(("x" * 95 + "\n") * 3) == 100
    assert width_of(("x" * 200 + "\n") * 3) == 120
    assert width_of("x = 1\n" * 200 + "#" * 300) == 88
