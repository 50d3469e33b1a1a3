"""What a module is asked of its text before its tree is walked."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compilelint.source.module import Module

TEXT = """\
def one():
    reopen(open_ended, opener)

def two():
    return (yield open)

def three():
    pass
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_which_functions_mention_a_word(end: str) -> None:
    text = TEXT.replace("\n", end)
    module = Module(Path("m.py"), "m", text, ast.parse(text))
    found = [info.name for info in module.functions if info.mentions(frozenset(("open", "absent")))]
    assert "two" in found
    assert "three" not in found
    if end == "\n":
        assert found == ["two"]  # whole words; elsewhere one too many costs a walk
    assert not any(info.mentions(frozenset(("absent",))) for info in module.functions)


def test_places_of_a_word() -> None:
    text = 'é = "fit"\nfit(1)  # fit\nx.fit = """\nfit\'"""; y_fit = refit = fité\n\'\\\'fit\'; f = fit\n'
    module = Module(Path("m.py"), "m", text, ast.parse(text))
    found = [module.wording.encoded[:place].decode().count("\n") + 1 for place in module.wording.places("fit")]
    assert found == [2, 3, 5]
    assert list(module.wording.places("missing")) == []
    assert b"fit" in module.wording.words
    assert b"y_fit" in module.wording.words
