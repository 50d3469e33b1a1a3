"""`compilelint check --explain-value`: what is believed of one expression and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_cli_check import run

from compilelint import api
from compilelint.config import Settings
from compilelint.errors import UsageProblem
from compilelint.explain import Context, Explanation

MODEL = """\
import torch
from helpers import scale


class Net(torch.nn.Module):
    size = len([1, 2])

    def forward(self, x: torch.Tensor, skip=None):
        y, shape = scale(x, 2.0), x.shape
        if y.sum() > 0:
            return y
        return {"é": y[y > 0]}  # compilelint: ignore


def setup(x: torch.Tensor):
    def inner(z):
        return z
    total = x.sum().item()
    return total
    print(total)


@torch.compile(fullgraph=True)
def whole(x: torch.Tensor):
    return x * x.sum().item()


def train(loader: torch.utils.data.DataLoader, model: torch.nn.Module):
    for x in loader:
        model(x).sum().backward()


if torch.compiler.is_compiling():
    flag = 1
"""
HELPERS = """\
def scale(value, factor):
    return value * factor


def constant():
    return scale(3, 4)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "helpers.py").write_text(HELPERS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def at(text: str, after: str = "", file: str = "model.py") -> str:
    """The place where a text first stands behind another."""
    source = Path(file).read_text(encoding="utf-8")
    index = source.index(text, source.index(after))
    line = source.count("\n", 0, index) + 1
    return f"{file}:{line}:{index - source.rfind(chr(10), 0, index)}"


def explained(place: str, **settings: object) -> Explanation:
    return api.explain_value(place, ["."], Settings(**settings))  # type: ignore[arg-type]


def one(place: str, **settings: object) -> Context:
    (context,) = explained(place, **settings).contexts
    return context


@pytest.mark.usefixtures("folder")
def test_from_the_innermost_expression_outwards() -> None:
    context = one(at("y.sum()"))
    assert [belief.text for belief in context.beliefs] == ["y", "y.sum", "y.sum()", "y.sum() > 0"]
    assert context.beliefs[0].value == "a tensor, may be on a device, dtype unknown"
    assert [(step.path, step.text) for step in context.beliefs[0].trace] == [
        ("model.py", "`x` is annotated as a tensor"),
        ("helpers.py", "`value * factor` is computed from a tensor"),
    ]
    assert (context.function, context.region.kind) == ("model:Net.forward", "forward")
    assert context.arguments["self"] == "an instance of `model:Net`"
    (verdict,) = context.verdicts
    assert (verdict.code, verdict.effects, verdict.why) == ("CL101", ("graph-break", "sync"), "")


@pytest.mark.usefixtures("folder")
def test_each_context_of_a_function_and_who_makes_it() -> None:
    contexts = explained(at("value *", file="helpers.py")).contexts
    believed = {context.beliefs[0].value: context.callers for context in contexts}
    assert believed == {
        "unknown": [],
        "constant 3": [("helpers.py", 6)],
        "a tensor, may be on a device, dtype unknown": [("model.py", 9)],
    }


@pytest.mark.usefixtures("folder")
def test_names_that_are_bound_and_parameters() -> None:
    assert one(at("shape")).beliefs[0].value.startswith("size, of each: int")
    assert one(at("skip=")).beliefs[0].value == "unknown"
    assert [belief.text for belief in one(at("Tensor, skip")).beliefs] == ["x"]
    assert one(at("x in loader")).beliefs[0].value == "a batch of a loader: tensors, or what holds some"
    assert one(at("model(x)", "in loader")).region.kind == "step"


@pytest.mark.usefixtures("folder")
def test_what_a_call_is_told_as() -> None:
    """Whichever rules there are; rules subscribe to the name."""
    place = at("x.sum().item", "setup")
    told = {belief.text: belief.targets for belief in one(place, select=("CL3",)).beliefs}
    assert told == {
        "x": (),
        "x.sum": (),
        "x.sum()": ("Tensor.sum",),
        "x.sum().item": (),
        "x.sum().item()": ("Tensor.item",),
    }
    shown = api.render_explanation(explained(place), Settings())
    assert "  `x.sum()` is a tensor, may be on a device, dtype unknown, rank 0\n" in shown
    assert "    is told to rules as a call of `Tensor.sum`\n" in shown


@pytest.mark.usefixtures("folder")
def test_bounds_that_other_files_hit_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compilelint.engine.run.MAX_STATEMENTS", 2)
    notes = explained(at("value *", file="helpers.py")).notes
    assert notes == ["the file doesn't mention torch: a check leaves it out"]
    notes = explained(at("y.sum")).notes
    assert "model:Net.forward is too long to be followed to its end: findings may be missing there" in notes


@pytest.mark.usefixtures("folder")
def test_what_is_evaluated_on_demand() -> None:
    context = one(at("len("))
    assert (context.function, context.beliefs[0].value) == ("model:<module>", "`len`")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "after", "settings", "why"),
    [
        ("y[y", "", {}, "suppressed by a comment or by per-file-ignores"),
        ("x.sum().item", "setup", {}, "it stands in cold code"),
        ("y.sum", "", {"severity": api.Severity.ERROR}, "a warning is below the least severity shown"),
    ],
)
def test_why_a_report_was_dropped(text: str, after: str, settings: dict[str, object], why: str) -> None:
    dropped = [verdict.why for verdict in one(at(text, after), **settings).verdicts]
    assert any(reason.startswith(why) for reason in dropped)


@pytest.mark.usefixtures("folder")
def test_settings_count() -> None:
    place = at("y.sum")
    assert one(place, compiled="modules").region.kind == "compiled"
    assert one(place, select=("CL2",)).verdicts == []


@pytest.mark.usefixtures("folder")
def test_what_can_not_be_reached() -> None:
    context = one(at("total)"))
    assert context.beliefs == [] and context.verdicts == []
    assert "is not evaluated" in api.render_explanation(explained(at("total)")), Settings())


def test_other_files_are_told_apart(folder: Path) -> None:
    (folder / "plain.py").write_text("value = 1 + 2\n", encoding="utf-8")
    explanation = explained("plain.py:1:9")
    assert explanation.notes == ["the file doesn't mention torch: a check leaves it out"]
    assert explanation.contexts[0].beliefs[-1].value == "constant 3"
    explanation = api.explain_value("plain.py:1:9", ["model.py"], Settings())
    assert "the file is not among those that are checked: nothing is reported on it" in explanation.notes


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("model.py", 'expected FILE:LINE:COLUMN, counted from 1, got "model.py"'),
        ("model.py:0:1", "expected FILE:LINE:COLUMN"),
        ("gone.py:1:1", "gone.py: no such file"),
        ("notes.ipynb:1:1", "notes.ipynb: a place in a notebook can't be named"),
        (".:1:1", r"\.: not a file"),
        ("model.py:99:1", "model.py:99:1: no expression there: the file has 35 lines"),
        ("model.py:10:1", r"no expression there: the nearest is `y` at model.py:10:12"),
        ("empty.py:1:1", "no expression there: the file has none"),
        ("bad.py:1:1", "bad.py:1:7: syntax error"),
    ],
)
def test_places_that_can_not_be_explained(folder: Path, place: str, said: str) -> None:
    (folder / "bad.py").write_text("torch(:\n", encoding="utf-8")
    (folder / "empty.py").write_text("pass\n", encoding="utf-8")
    with pytest.raises(UsageProblem, match=said):
        explained(place)


def test_command(folder: Path) -> None:
    done = run(folder, "check", "--explain-value", at("y.sum"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "in `model:Net.forward`: a forward pass: it is an nn.Module's forward\n" in done.stdout
    assert "  `y.sum() > 0` is a tensor" in done.stdout
    assert "    helpers.py:2: `value * factor`" in done.stdout
    assert "  CL101 (branch-on-tensor) is reported: graph-break, sync: " in done.stdout
    report = json.loads(run(folder, "check", "--output-format", "json", "--explain-value", at("y.sum")).stdout)
    assert set(report) == {"version", "compilelint", "torch", "path", "line", "column", "contexts", "notes"}
    assert report["contexts"][0]["beliefs"][0]["span"]["column"] == 12
    assert run(folder, "check", "--explain-value", "gone.py:1:1").returncode == 2
    assert run(folder, "check", "--explain-value", at("y.sum"), "--statistics").returncode == 2
