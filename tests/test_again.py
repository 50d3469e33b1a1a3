"""A document that is checked again after a change: what is found must be what a new check finds."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from compilelint import api
from compilelint.again.edited import Edited
from compilelint.again.graft import Change, function_around, graft, parsed, reword, text_around
from compilelint.source.module import Def, Module

LAYERS = """
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.scale = None

    def forward(self, x):
        return x * self.weight
"""

MODEL = '''
import torch
from torch import nn

from layers import Norm


def positive(x: torch.Tensor):
    """Whether all are."""
    return bool((x > 0).all())


class Net(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.norm = Norm(size)
        self.layers = nn.ModuleList(nn.Linear(size, size) for _ in range(4))
        self.seen = 0

    def forward(self, x):
        x = self.norm(x)
        for layer in self.layers:
            x = torch.relu(layer(x))
            if positive(x):
                x = x + 1
        if x.sum() > 0:
            x = -x
        return self.head(x)

    def head(self, x):
        self.seen = self.seen + 1
        try:
            return x.max(-1).values
        except ValueError:
            raise


def train(loader, optimizer):
    model = torch.compile(Net(8))
    total = 0.0
    for x, y in loader:
        loss = (model(x.cuda()) - y).abs().mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def outer(xs: list[torch.Tensor]):
    biggest = sorted(xs, key=lambda x: x.max().item())
    return [float(x.sum()) for x in biggest]
'''

# what is typed in a function, at a depth
TYPED = [
    "_typed = 0",
    "x",
    "x = x + 1",
    "x = -x  # why",
    "self.se",
    "self.norm",
    "self.seen = 0",
    "self.more = x",
    "print(x.item())",
    "if x.sum() > 0:\n{depth}    x = x.cpu()",
    "for _ in range(2):\n{depth}    x.tolist()",
    "return x",
    "positive(x)",
    "Norm(3)",
    "unknown(x)",
    "loss.backward()",
    "torch.compile(positive)",
    "import time\n{depth}time.time()",
    "y = lambda a: a.item()",
    "del x",
    "",
]


def _changed(text: str, chance: random.Random) -> str:
    """Something typed, taken out or written twice, somewhere."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    depth = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    match chance.randrange(6):
        case 0 | 1 | 2:
            lines.insert(at, depth + chance.choice(TYPED).format(depth=depth))
        case 3:
            del lines[at]
        case 4:
            lines.insert(at, lines[at])
        case 5:
            column = chance.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:column] + chance.choice("x1.-[]() #") + lines[at][column:]
    return "\n".join(lines)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def test_after_any_change_the_findings_are_those_of_a_new_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[bool] = []
    update = Edited.update

    def counted(self: Edited, text: str) -> object:
        found = update(self, text)
        followed.append(found is not None)
        return found

    monkeypatch.setattr(Edited, "update", counted)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layers.py").write_text(LAYERS, encoding="utf-8")
    path, chance, settings = tmp_path / "model.py", random.Random(1), api.Settings()
    session, text, before = api.session(), MODEL, MODEL
    for step in range(300):
        if step % 30 == 0:
            text = before = MODEL
        after = before if chance.random() < 0.5 else _changed(text, chance)
        if not _parses(after) and chance.random() < 0.8:
            continue  # most of what is typed at random is no Python
        before, text = text, after
        found = session.check(path, {path: text}, settings)
        expected = api.session().check(path, {path: text}, settings)
        assert (found.findings, found.errors) == (expected.findings, expected.errors), text
    assert sum(followed) >= 40  # or this tests nothing


def test_what_others_would_notice_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of what a function gives, sets or calls is one for those who use it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "layers.py").write_text(LAYERS, encoding="utf-8")
    path, session, settings = tmp_path / "model.py", api.session(), api.Settings()

    def lines(text: str) -> list[int]:
        return [finding.span.line for finding in session.check(path, {path: text}, settings).findings]

    before = lines(MODEL)
    text = MODEL.replace("return bool((x > 0).all())", "return True")
    assert lines(text) == [line for line in before if line not in (10, 25)]
    assert lines(MODEL) == before
    text = MODEL.replace("        self.seen = 0\n", "        self.seen = 0\n\n        self.norm = str\n")
    assert lines(text) == [line + 2 if line > 20 else line for line in before]


def test_what_documents_tensors_is_noticed(tmp_path: Path) -> None:
    path, session = tmp_path / "a.py", api.session()
    text = 'import torch\n\n\n@torch.compile\ndef f(x):\n    """Does it.\n\n    x: {}\n    """\n'
    text += "    if x:\n        x = 1\n    return x\n"

    def found(said: str) -> tuple[list[str], bool]:
        kept = session._edited[2] if session._edited is not None else None
        outcome = session.check(path, {path: text.format(said)}, api.Settings())
        assert outcome.findings == api.session().check(path, {path: text.format(said)}, api.Settings()).findings
        return [finding.code for finding in outcome.findings], session._edited is not None and session._edited[
            2
        ] is kept

    assert found("a number") == ([], False)
    assert found("a numeral") == ([], True)
    assert found("a tensor") == (["CL101"], False)
    assert found("a tensor\n    and more") == (["CL101"], True)
    assert found("the tensor") == (["CL101"], True)
    assert found("a list of them") == ([], False)


def test_files_that_change_meanwhile_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    helper, path, session = tmp_path / "helper.py", tmp_path / "a.py", api.session()
    helper.write_text("def one(x):\n    return x.sum()\n", encoding="utf-8")
    text = "import torch\nfrom helper import one\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
    text += "    y = 0\n    if one(x):\n        x = -x\n    return x\n"

    def codes(text: str) -> list[str]:
        return [finding.code for finding in session.check(path, {path: text}, api.Settings()).findings]

    assert codes(text) == ["CL101"]
    helper.write_text("def one(x):\n    return 1\n", encoding="utf-8")
    assert codes(text.replace("y = 0", "y = 1")) == []


SOURCE = '''class A:
    def f(self, x):
        """Said."""
        y = 1

        if x:
            y = 2
            # remark
            for z in x:
                y = z
        else:
            y = 3
        return y

    @property
    def g(self):
        return 2


def h(a,
      b=1): return a


def k(
    a,
):
    # first
    return (a +
            1)
'''


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("y = z", "y = z + 1", True),
        ("y = z", "y = z\n                y = y", True),
        ("            # remark\n", "", True),
        ("            y = 3", "            y = 3\n        y = 4", True),
        ("        return y\n", "        y = 5\n        return y\n        # end\n", True),
        ("        return y\n", "        return y\n    x = 1\n", False),  # of the class
        ("        return 2\n", "        return 2\n        x = 1\n", True),
        ("for z in x", "for z in y", True),
        ("if x:", "if x and 1:", True),
        ("else:", "elif y:\n            pass\n        else:", True),
        ('"""Said."""', '"""Said"""', True),
        ('"""Said."""', '"""Said.\n\n    Again.\n"""', True),
        ('"""Said."""', '"""Said.', False),
        ('"""Said."""', '"""Said.""" + 1', False),
        ('"""Said."""', ' """Said."""', False),
        ("def f(self, x)", "def f(self, y)", False),
        ("@property", "@staticmethod", False),
        ("return a\n", "return b\n", False),  # on a line with the header
        ("    # first\n", "    # first\n    b = 1\n", True),
        ("            1)", "            2)", True),
        ("            1)", "            2", False),
        ("y = 2", 'y = """2', False),
        ("y = 2", "y = (2", False),
        ("        y = 1\n", "        y = 1 + \\\n", False),
    ],
)
def test_a_change_is_grafted_into_the_tree(old: str, new: str, found: bool) -> None:
    assert SOURCE.count(old) == 1
    module = Module(Path("a.py"), "a", SOURCE, ast.parse(SOURCE))
    after = SOURCE.replace(old, new).split("\n")
    change = Change.between(module.lines, after)
    statement, around = text_around(module, change), function_around(module, change)
    renewed: ast.stmt | None = None
    if statement is not None:
        renewed = parsed(statement, after[statement.lineno - 1 : statement.lineno + change.shift], statement.lineno)
        if isinstance(renewed, ast.Expr) and not reword(module, statement, renewed, change):
            renewed = None
    elif around is not None:
        info, first, last = around
        assert isinstance(info.node, Def)
        renewed = function = parsed(info.node, after[first - 1 : last + change.shift], first)
        if function is not None:
            graft(module, info.node, function, change)
    assert (renewed is not None) is found
    if found:
        expected = ast.parse("\n".join(after))
        assert ast.dump(module.tree, include_attributes=True) == ast.dump(expected, include_attributes=True)


FLAGGED = """
import torch


class Net(torch.nn.Module):
    stats: bool = False

    def loss(self, x: torch.Tensor):
        if self.stats:
            return x.mean().item()
        return x


def run(net, x: torch.Tensor):
    net.stats = False
    return x
"""


def test_what_is_read_of_the_text_follows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another function turns the flag on."""
    monkeypatch.chdir(tmp_path)
    path, settings, session = tmp_path / "m.py", api.Settings(select=("CL201",)), api.session()
    texts = [FLAGGED, FLAGGED.replace("stats = False\n    return", "stats = True\n    return"), FLAGGED]
    for text, severity in zip(texts, ("note", "warning", "note"), strict=True):
        found = session.check(path, {path: text}, settings).findings
        assert [finding.severity.value for finding in found] == [severity]
        assert found == api.check_source(text.encode(), path, settings).findings


PICKED = """
import torch


@torch.compile
def f(x: torch.Tensor, z: torch.Tensor):
    y, mask = x.clone(), x > 0
    y[mask] = z[mask] * 2 + y[mask]
    return y
"""


def test_the_values_of_an_edited_function_are_its_new_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a fix is offered is asked of the values of the statements around."""
    monkeypatch.chdir(tmp_path)
    path, settings, session = tmp_path / "m.py", api.Settings(select=("CL105",)), api.session()
    for text in (PICKED, PICKED.replace("* 2", "* 3"), PICKED.replace("x > 0", "x > 1"), PICKED):
        found = session.check(path, {path: text}, settings).findings
        assert found == api.check_source(text.encode(), path, settings).findings
        assert sum(finding.fix is not None for finding in found) == 2
