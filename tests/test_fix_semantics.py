"""Random programs of what fixes rewrite: the fixed ones compute the same, and raise in the same cases."""

from __future__ import annotations

import copy
import math
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compilelint import api
from compilelint.config import Settings

torch = pytest.importorskip("torch")

EXAMPLES = 50 if os.environ.get("CI") else 150  # there they are the same ones each time
NUMBERS = ("0", "1", "0.5", "-2.0", "3")
VALUES = (
    "h.clamp(max={n})",
    "h.clamp(min={n}, max=4)",
    "torch.nan_to_num(h)",
    "torch.nan_to_num(h, nan={n})",
    "-h",
    "h * {n}",
    "h + {n}",
    "{n} - h",
    "h / 2",
    "h.abs() * {n}",
    "torch.relu(h) - 1",
    "h * h",
    "h + x",
    "h.sqrt()",
    "x",
    "t",
    "h.masked_fill(h > {n}, 0.0)",
    "torch.zeros_like(h)",
    "h.double()",
    "h / h.sum()",
    "h[h > {n}]",
    "h.view(-1)",
)
TESTS = (
    "h.max() > {n}",
    "h.sum() <= {n}",
    "torch.isnan(h).any()",
    "torch.isinf(h).any() or torch.isnan(h).any()",
    "(h > {n}).any()",
    "not (h < {n}).any()",
    "h.sum()",
    "h.mean() > {n} and (t > 0).any()",
    "h.dtype == torch.float32 and h.min() < {n}",
    "h > {n}",
    "t.max()",
    "not h.sum()",
    "torch.isfinite(h).all()",
)
PARTS = {"test": TESTS, "more": TESTS, "value": VALUES, "other": VALUES, "n": ("0", "0.5", "2"), "i": ("0", "1")}
STATEMENTS = (
    "if {test}:\n    h = {value}",
    "if {test}:\n    h = {value}\nelse:\n    h = {other}",
    "if {test}:\n    h = {value}\nelif {more}:\n    h = {other}",
    "if {test}:\n    h = {value}\n    x = {other}",
    "h = {value} if {test} else {other}",
    "if {test}:\n    raise ValueError('no')",
    "assert {test}, 'no'",
    "assert {test}, f'no {{h.shape}}'",
    "if {test}:\n    return {value}",
    "if (h > {n}).any():\n    h = h.masked_fill(h > {n}, 0.0)",
    "if torch.isnan(h).any():\n    h = h.masked_fill(torch.isnan(h), {n})",
    "if (h < {n}).any():\n    h[h < {n}] = 0.0",
    "m = h > {n}\nif m.any():\n    h = h + h[m].mean()",
    "h[h > {n}] = {n}",
    "h = h + h[h > {n}].sum()",
    "c = (h > {n}).sum()\nif c > 0:\n    h = h + c",
    "if h.abs().max() > 1:\n    h = h / h.abs().max()",
    "s = h.max().item()\nh = h * s",
    "s = float(h.sum())\nh = h + s if s > {n} else h - s",
    "h = h.new_full((2,), h.sum()) + h.sum()",
    "log = {{'a': h.mean().item(), 'b': h.max().item()}}\nh = h + log['a'] * log['b']",
    "total = 0.0\nfor v in [h, x]:\n    total += v.sum().item()\nh = h + total",
    "s = 0.0\nfor part in h.split(1):\n    s = s + part.sum()\nh = h + s",
    "for i in range(2):\n    if {test}:\n        h = {value}",
    "for i in range(3):\n    if {test}:\n        break\n    h = {value}",
    "sizes = [1, 2]\nk = torch.tensor(sizes)\nh = h[: k.max().item()]",
    "sizes = [{i}, 2]\nk = torch.tensor(sizes, device=h.device)\nh = h + k.sum().item()",
    "sizes = [2] * len(h)\nh = torch.repeat_interleave(h, torch.tensor(sizes))",
    "h = torch.repeat_interleave(h, torch.tensor([2] * len(h)))",
    "h = torch.repeat_interleave(h, t)",
    "h = h * torch.unique(t).shape[0]",
    "h = h + torch.bincount(t).sum()",
    "h = h * (t > {i}).nonzero().shape[0]",
    "h = h + (t == {i}).nonzero()[0].item()",
    "h = h + torch.nn.functional.one_hot(t).sum(0)[0]",
    "h = h + torch.nn.functional.one_hot(t.clamp(max=2), 3).sum()",
    "h = h + torch._shape_as_tensor(h).sum()",
    "h = h * torch.tensor({n}, device=h.device)",
    "h = h + torch.tensor({n}).to(h.device)",
    "h = h + torch.zeros(len(h)).to(h.device)",
    "h = h + torch.arange(len(h)).to(h.device)",
    "h = h.clone()\nh[0] = {n}",
    "h = h.clone()\nh[{i}] = torch.tensor({n})",
    "parts = [h, x]\nboth = copy.copy(parts)\nboth.append(t)\nh = h * len(parts)",
    "k = copy.deepcopy(h)\nh = h + k.mul_({n})",
    "print(h.shape)",
    "warnings.warn('odd')\nh = {value}",
    "h.add_({n})",
    "keep = h\nif {test}:\n    keep = {value}\nh = h + keep",
)
SPECIAL = (0.0, -1.5, 0.25, 1.0, 2.0, 7.0, math.nan, math.inf, -math.inf)
INPUTS = st.lists(st.sampled_from(SPECIAL), min_size=0, max_size=3)


WRITTEN = """@torch.compile
def f(x: torch.Tensor, t: torch.Tensor):
    h = torch.relu(x)
    y = h * h
    if (h < 0).any():
        h[h < 0] = 0.0
    return h + y
"""
GIVEN = WRITTEN.replace("torch.relu(x)", "x")
RESIZED = """@torch.compile
def f(x: torch.Tensor, t: torch.Tensor):
    h = torch.repeat_interleave(x, torch.tensor([2] * len(x)))
    if h.max() > 0:
        h = h + x
    else:
        h = -h
    return h
"""


@st.composite
def programs(draw: st.DrawFn) -> str:
    def pick(options: tuple[str, ...]) -> str:
        return draw(st.sampled_from(options)).replace("{n}", draw(st.sampled_from(NUMBERS)))

    lines = [pick(("h = x * 1.0", "h = torch.relu(x)", "h = x", "h = x.float()"))]
    for _ in range(draw(st.integers(1, 3))):
        parts = {name: pick(options) for name, options in PARTS.items()}
        lines += draw(st.sampled_from(STATEMENTS)).format(**parts).split("\n")
    compiled = draw(st.sampled_from(("@torch.compile\n", "@torch.compile\n", "")))
    body = "\n    ".join(lines)
    return f"{compiled}def f(x: torch.Tensor, t: torch.Tensor):\n    {body}\n    return h\n"


def run(text: str, x: list[float]) -> tuple[Any, Any]:
    """The result and the gradient, or the exception's type."""
    space: dict[str, Any] = {"torch": torch, "print": lambda *_: None, "copy": copy, "warnings": warnings}
    exec(compile(text.replace("@torch.compile\n", ""), "program", "exec"), space)
    leaf = torch.tensor(x, dtype=torch.float32, requires_grad=True)
    function: Callable[..., Any] = space["f"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = function(leaf * 1.0, torch.tensor([0, 1, 2])[: len(x)])
        gradient = torch.autograd.grad(out.sum(), leaf, allow_unused=True)[0] if out.requires_grad else None
    except (RuntimeError, ValueError, TypeError, IndexError, AssertionError) as error:
        return type(error), None
    return out.detach(), gradient


def same(one: Any, other: Any) -> bool:
    """Whether results, gradients or exceptions are the same, NaN for NaN."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and bool(torch.allclose(one, other, equal_nan=True))
    return one is other


def fixed(text: str, folder: Path, *, unsafe: bool) -> str:
    path = folder / "program.py"
    path.write_text(f"import copy\nimport warnings\n\nimport torch\n\n\n{text}", encoding="utf-8")
    result = api.fix([path], Settings(unsafe_fixes=unsafe), apply=True)
    assert not result.errors and not result.result.problems
    after = path.read_text(encoding="utf-8")
    api.fix([path], Settings(unsafe_fixes=unsafe), apply=True)
    assert path.read_text(encoding="utf-8") == after
    return after


@given(programs(), st.lists(INPUTS, min_size=3, max_size=3))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_safe_fixes_change_nothing(tmp_path: Path, program: str, inputs: list[list[float]]) -> None:
    after = fixed(program, tmp_path, unsafe=False)
    for x in inputs:
        (old, old_gradient), (new, new_gradient) = run(program, x), run(after, x)
        assert same(old, new), after
        assert same(old_gradient, new_gradient), after


@given(programs(), st.lists(st.lists(st.floats(-4, 4, width=16), min_size=1, max_size=3), min_size=3, max_size=3))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(WRITTEN, [[0.0]] * 3)
@example(GIVEN, [[1.0]] * 3)
@example(RESIZED, [[0.0, 0.0]] * 3)
def test_unsafe_fixes_compute_the_same_of_numbers(tmp_path: Path, program: str, inputs: list[list[float]]) -> None:
    """Of what raises nothing and has no infinity; the dtype may change."""
    after = fixed(program, tmp_path, unsafe=True)
    for x in inputs:
        old, new = run(program, x)[0], run(after, x)[0]
        if isinstance(old, torch.Tensor) and torch.isfinite(old).all():
            assert isinstance(new, torch.Tensor) and old.shape == new.shape, after
            assert torch.allclose(old.double(), new.double(), rtol=1e-4, atol=1e-5), after


def test_the_programs_are_rewritten(tmp_path: Path) -> None:
    """What the random programs are made of has fixes: else they would tell nothing."""
    parts = {"test": "h.max() > 1", "more": "h.min() < 0", "value": "h * 2", "other": "-h", "n": "1", "i": "0"}
    text = "import copy\nimport warnings\n\nimport torch\n"
    for number, statement in enumerate(STATEMENTS):
        body = statement.format(**parts).replace("{n}", "1").replace("\n", "\n    ")
        for head in ("@torch.compile\ndef f", "def g"):
            lines = (f"{head}{number}(x: torch.Tensor, t: torch.Tensor):", "h = torch.relu(x)", body, "return h")
            text += "\n\n" + "\n    ".join(lines) + "\n"
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    applied = {fix for file in api.fix([path], Settings(unsafe_fixes=True)).result.files for fix in file.applied}
    assert {fix.code for fix in applied if fix.applicability.value == "safe"} >= {
        *("CL103", "CL117", "CL127", "CL201", "CL401", "CL406"),
    }
    assert {fix.code for fix in applied} >= {"CL101", "CL102", "CL105", "CL106", "CL110", "CL112", "CL210", "CL301"}
