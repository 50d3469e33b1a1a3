"""What parts of a run hand on to one another: modules of the same content, some, never one that was taken apart."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compilelint.source import parsed
from compilelint.source.layout import Layout
from compilelint.source.module import Module
from compilelint.source.parsed import Parsed
from compilelint.source.project import Project


def module(name: str, text: str = "x = 1\n") -> Module:
    return Module(Path(f"{name}.py"), name, text, ast.parse(text))


def test_only_the_same_content_is_the_same() -> None:
    kept, one = Parsed(), module("one")
    kept.keep({one: "a"})
    assert kept.take(Path("one.py"), "one", "a") is one
    assert kept.take(Path("one.py"), "one", "b") is None
    assert kept.take(Path("one.py"), "other", "a") is None


def test_those_used_last_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "MOST", 20)
    kept, modules = Parsed(), [module(name) for name in "abc"]
    kept.keep(dict.fromkeys(modules, ""))
    kept.take(Path("a.py"), "a", "")
    kept.keep({module("d"): ""})
    assert kept.take(Path("a.py"), "a", "") is modules[0]
    assert kept.take(Path("b.py"), "b", "") is None
    assert modules[1].tree.body == []
    assert modules[1].bindings == {}
    assert kept.take(Path("c.py"), "c", "") is modules[2]


def test_a_file_that_is_imported_first_and_checked_then(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("import two\n", encoding="utf-8")
    two.write_text("y = 2\n", encoding="utf-8")
    layout, kept = Layout.of([one, two]), Parsed()
    for own, other in ((one, "two"), (two, "one"), (one, "two")):
        project = Project(layout, parsed=kept)
        loaded, found = project.load(own), project.find(other)
        assert loaded is not None
        assert found is not None
        assert found.tree.body
        project.release({own})
    two.write_text("y = 3\n", encoding="utf-8")
    project = Project(layout, parsed=kept)
    found = project.find("two")
    assert found is not None
    assert ast.unparse(found.tree) == "y = 3"
