"""Documents that are edited: what is found again without looking must be what a look would find."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilelint import api
from compilelint.analysis import Analyser
from compilelint.source.remarks import Remarks

TEXT = '''import torch  # it all

LONG = """one  # not a remark
two"""


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    # first
    s = "#", x.sum() \\
        .abs()

    if s[1] > 0:  # compilelint: ignore[CL110]
        x = -x
    return x.relu(  # why
        )
'''


@pytest.mark.parametrize(
    ("old", "new", "remark"),
    [
        ("# it all", "# it al", True),
        ("  # it all", "", True),
        ("# it all", "; y = 1  # it all", False),
        ("    # first", "", True),
        ("    # first", "# first", True),
        ("    # first\n", "", False),  # lines move
        ("# first", "x = x + 1", False),
        ("# not a remark", "# a remark", False),
        ('two"""', 'two"""  # two', True),
        ('"#", x', '"# ", x', False),
        ("x.sum() \\", "x.sum()  # \\", False),
        (" \\\n", " \\  # no\n", False),
        (".abs()\n\n", ".abs()\n    # above\n", True),
        ("ignore[CL110]", "ignore[CL101]", True),
        ("# why", "", True),
        ("        )", "        )  # end", True),
        ("    return", "  return", False),
    ],
)
def test_what_differs_in_comments_alone(old: str, new: str, remark: bool) -> None:
    assert TEXT.count(old) == 1
    assert Remarks(TEXT).only_differ(TEXT.replace(old, new)) is remark


def test_a_document_is_analysed_again_only_where_it_must(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[bool] = []
    interpret = Analyser.interpret

    def counted(self: Analyser) -> None:
        runs.append(True)
        interpret(self)

    monkeypatch.setattr(Analyser, "interpret", counted)
    edited, path, settings = api.session(), tmp_path / "a.py", api.Settings()

    def found(text: str, others: dict[Path, str] | None = None) -> tuple[list[api.Finding], int]:
        """What is found, which must be what a new session finds, and how often was looked."""
        texts = {path: text, **(others or {})}
        before = len(runs)
        got, looked = edited.check(path, texts, settings).findings, len(runs)
        assert got == api.session().check(path, texts, settings).findings
        return got, looked - before

    findings, looked = found(TEXT)
    assert ([f.code for f in findings], looked) == (["CL101", "CL001"], 1)
    ignored = TEXT.replace("CL110", "CL101")
    assert found(ignored) == ([], 0)
    assert found(ignored)[1] == 1  # asked for again: other files may have changed
    assert found(TEXT.replace("# it all", "# it"))[1] == 0
    assert found(TEXT.replace("s[1] > 0", "s[1] > 1"))[1] == 0  # in a function, and of no matter to others
    assert found(TEXT.replace("x: torch.Tensor", "x: int"))[1] == 1
    assert found(TEXT)[1] == 1
    assert found(ignored, {tmp_path / "b.py": "x = 1"})[1] == 1
    edited.close(path)
    assert found(TEXT.replace("# it all", "# it"))[1] == 1


def test_what_is_imported_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On disk or in another document; and again after a change."""
    from compilelint.source import project

    parsed: list[str] = []
    parse = project.parse

    def noted(text: str, path: str) -> object:
        parsed.append(Path(path).name)
        return parse(text, path)

    monkeypatch.setattr(project, "parse", noted)
    path, disk, opened = tmp_path / "a.py", tmp_path / "disk.py", tmp_path / "opened.py"
    disk.write_text("def one(x):\n    return x.sum()\n", encoding="utf-8")
    opened.write_text("two = str\n", encoding="utf-8")
    text = "import torch\nfrom disk import one\nfrom opened import two\n\n\n@torch.compile\n"
    text += "def f(x: torch.Tensor):\n    if one(x):\n        x = -x\n    return two(x)\n"
    texts = {path: text, opened: "def two(x):\n    return x.item()\n"}
    editing = api.session()

    def codes() -> list[str]:
        return [finding.code for finding in editing.check(path, texts, api.Settings()).findings]

    assert codes() == ["CL101"]
    assert sorted(parsed) == ["a.py", "disk.py", "opened.py"]
    parsed.clear()
    codes()
    assert parsed == ["a.py"]
    disk.write_text("def one(x):\n    return 1\n", encoding="utf-8")
    assert codes() == []
    assert parsed == ["a.py", "a.py", "disk.py"]
