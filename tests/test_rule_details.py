"""What several rules decide together, where a fixture would have to be repeated for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixturefiles import FILES, FIXED, code_of

from compilelint import api, registry
from compilelint.config import Settings, known_torch_versions
from compilelint.finding import Applicability, Span

VERSIONS = known_torch_versions()
CALL = """\
import copy
import random
import torch
@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    order = [2, 0, 1]
    {call}
    return x + 1
"""
OWNERS = {"combinations": "CL105", "seed": "CL114", "deepcopy": "CL117"}
STEP = """\
import torch
class Scale:
    def __init__(self):
        self.mean = torch.tensor([0.1, 0.2])
    def __call__(self, z):
        return {copy}
def run(zs: list[torch.Tensor]):
    scale = Scale()
    for z in zs:
        loss = scale(z).sum()
        loss.backward()
"""


def codes(path: Path, text: str, settings: Settings | None = None) -> list[str]:
    path.write_text(text, encoding="utf-8")
    result = api.check([path], settings or Settings())
    assert not result.errors
    return [finding.code for finding in result.findings]


@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        ("self.mean.cuda()", "CL405"),
        ("self.mean.cuda(None, False)", "CL405"),
        ("self.mean.cuda(None, True)", "CL404"),
        ("self.mean.cuda(non_blocking=True)", "CL404"),
        ("self.mean.to(z.device, torch.float32, True)", "CL404"),
        ("self.mean.to(z.device, torch.float32)", "CL405"),
        ("self.mean.to(z, True)", "CL404"),
        ("torch.zeros(3).cuda(None, True)", "CL404"),
        ("torch.zeros(3).cuda()", "CL406"),
    ],
)
def test_copies_that_do_not_block(tmp_path: Path, copy: str, expected: str) -> None:
    """One owner for each copy, whatever way it is told not to block."""
    assert codes(tmp_path / "copies.py", STEP.format(copy=copy)) == [expected]


@pytest.mark.parametrize(
    ("call", "breaks"),
    [
        ("random.shuffle(order)", {(2, 11), (2, 13)}),
        ("random.random()", {(2, 11), (2, 13)}),
        ("locals()", {(2, 11)}),
        ("eval('1')", {(2, 11)}),
        ("globals()", {(2, 11), (2, 13), (2, 14)}),
        ("random.randint(0, 3)", set()),
        ("torch.cuda.manual_seed(3)", {(2, 13), (2, 14)}),
        ("torch.combinations(x)", {(2, 11), (2, 13)}),
        ("torch.manual_seed(3)", {(2, 11), (2, 13), (2, 14)}),
        ("copy.deepcopy(order)", {(2, 11)}),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_breaks_goes_by_release(
    tmp_path: Path, version: tuple[int, int], call: str, breaks: set[tuple[int, int]]
) -> None:
    owner = next((code for name, code in OWNERS.items() if name in call), "CL113")
    expected = [owner] if version in breaks else []
    assert codes(tmp_path / "calls.py", CALL.format(call=call), Settings(torch=version)) == expected


def test_versions_are_as_documented() -> None:
    """A rule that finds other lines in another release doesn't say that it is the same in all."""
    found: dict[str, set[tuple[Span, ...]]] = {}
    for version in VERSIONS:
        result = api.check(FILES, Settings(torch=version))
        assert not result.errors
        for rule in registry.all_rules():
            found.setdefault(rule.code, set()).add(tuple(f.span for f in result.findings if f.code == rule.code))
    differ = {code for code, spans in found.items() if len(spans) > 1}
    assert "CL113" in differ
    for rule in registry.all_rules():
        assert rule.versions
        assert not (rule.code in differ and rule.versions.startswith("All")), rule.code


# a function that takes both kinds, the call that passes the rarer one, and the line that breaks then
BOTH = {
    "CL125": (
        "def rows(x: torch.Tensor):\n    return x.layout\n",
        "def rare(y: torch.Tensor):\n    a = torch.sparse_coo_tensor(y, y, (4, 4))\n    return rows(a)\n",
    ),
    "CL122": (
        "def rows(x: torch.Tensor):\n    return x.dtype\n",
        "def rare(y: torch.Tensor):\n    return rows(y.numpy())\n",
    ),
    "CL114": (
        "def rows(x):\n    return 0 if x > 3 else 1\n",
        "def rare(y: torch.Tensor):\n    return rows(random.randint(0, 9))\n",
    ),
}


@pytest.mark.parametrize("code", BOTH)
def test_a_function_for_two_kinds_is_judged_by_neither(code: str, tmp_path: Path) -> None:
    """What breaks with the rarer kind is told where all calls pass that kind."""
    shared, rare = BOTH[code]
    text = f"import random\nimport torch\n{shared}{rare}"
    common = "def common(y: torch.Tensor):\n    return rows({})\n"
    every = Settings(compiled="all")

    def at_rows(text: str) -> list[str]:
        (tmp_path / "both.py").write_text(text)
        return [f.code for f in api.check([tmp_path / "both.py"], every).findings if f.span.line == 4]

    assert at_rows(text) == [code]
    assert at_rows(text + common.format("len(y.shape)" if code == "CL114" else "y")) == []


# what no fixture shows, since it needs a compiler, or a call of the function in its file
FIXED_IN_OTHER_TESTS = (
    b"x = 1  # compilelint: ignore[CL101]\n",
    b"""import torch
from torch.utils.cpp_extension import load_inline

ext = load_inline(name="wrapped_ext", cpp_sources="", functions=["scaled"])


@torch.compile
def once(x: torch.Tensor) -> torch.Tensor:
    return ext.scaled(x + 1, 0.5).relu()
""",
    b"""import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(3)
    return x + torch.rand(4)


def main() -> None:
    f(torch.zeros(4))
""",
)


def test_fixable_is_the_least_safe_fix() -> None:
    """What a rule declares, over all fixtures: `rules` and the README say no more than the fixes do."""
    seen: dict[str, set[Applicability]] = {}
    result = api.check(FILES, Settings())
    assert not result.errors
    elsewhere = [
        found for text in FIXED_IN_OTHER_TESTS for found in api.check_source(text, "m.py", Settings()).findings
    ]
    for finding in [*result.findings, *elsewhere]:
        if finding.fix is not None:
            seen.setdefault(finding.code, set()).add(finding.fix.applicability)
    order = (Applicability.MANUAL, Applicability.UNSAFE, Applicability.SAFE)
    least = {code: next(each for each in order if each in given) for code, given in seen.items()}
    declared = {rule.code: rule.fixable for rule in registry.all_rules() if rule.fixable is not None}
    differ = {code: (declared.get(code), least.get(code)) for code in declared | least}
    wrong = {code: pair for code, pair in differ.items() if pair[0] != pair[1]}
    assert not wrong, "code: (what `fixable` declares, the least safe fix over the fixtures)"
    assert {code_of(path) for path in FIXED} <= set(declared)


@pytest.mark.parametrize("source", ["torchvision.ops", "torchvision.ops.boxes"])
def test_suppression_of_boxes_counts_what_it_keeps(tmp_path: Path, source: str) -> None:
    file = tmp_path / "detect.py"
    file.write_text(
        f"import torch\nfrom {source} import batched_nms\n\n\n@torch.compile\n"
        "def keep(boxes: torch.Tensor, scores: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:\n"
        "    return boxes[batched_nms(boxes, scores, ids, 0.5)]\n"
    )
    assert [(f.code, f.span.line) for f in api.check([file], Settings()).findings] == [("CL105", 7)]


def test_a_private_function_is_what_its_callers_make_of_it(tmp_path: Path) -> None:
    text = """\
import torch
def _mean(x: torch.Tensor, check: bool):
    if check and x.isnan().any():
        x = x.nan_to_num()
    return x.mean()
{caller}
"""
    called = "def f(x: torch.Tensor):\n    return _mean(x, False)"
    asked = "def f(x: torch.Tensor):\n    return _mean(x, True)"
    for caller, expected in (("", ["CL102"]), (called, []), (asked, ["CL102"])):
        found = codes(tmp_path / "m.py", text.format(caller=caller), Settings(compiled="all"))
        assert [code for code in found if code.startswith("CL1")] == expected, caller
    public = text.replace("_mean", "mean").format(caller=called.replace("_mean", "mean"))
    assert "CL102" in codes(tmp_path / "m.py", public, Settings(compiled="all"))


def test_a_function_called_is_compiling(tmp_path: Path) -> None:
    text = """\
import torch
_asks = getattr(torch.compiler, "is_compiling", None)
def {name}() -> bool:
    return bool(_asks()) if _asks is not None else False
def f(x: torch.Tensor):
    if not {name}():
        print("eager")
    return x
"""
    for name, expected in (("is_compiling", []), ("is_eager", ["CL110"])):
        assert codes(tmp_path / "m.py", text.format(name=name), Settings(compiled="all")) == expected, name


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("a, b = leggauss(3)", "CL122"),
        ("SobolEngine(3)", "CL113"),
        ("y = ENGINE.draw(2)", "CL113"),
    ],
)
def test_files_that_dynamo_skips(tmp_path: Path, call: str, code: str) -> None:
    head = "from numpy.polynomial.legendre import leggauss\nfrom torch.quasirandom import SobolEngine\n"
    head += "ENGINE = SobolEngine(3)\n"
    assert codes(tmp_path / "m.py", head + CALL.format(call=call)) == [code]


def test_a_test_of_several_lines_breaks_on_its_first(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        """\
import torch
@torch.compile
def f(x: torch.Tensor, on: bool) -> torch.Tensor:
    if (
        on
        and x.sum() > 0
    ):
        x = x + 1
    return x
""",
        encoding="utf-8",
    )
    (finding,) = api.check([tmp_path / "m.py"], Settings()).findings
    span = finding.span
    assert (finding.code, span.line, span.column, span.end_line) == ("CL101", 4, 5, 6)


def test_what_breaks_in_a_cached_function_is_told_where_it_stands(tmp_path: Path) -> None:
    """Unless it is called for no result: what a `warn_once` does is told, and mended, at its calls."""
    text = """\
import functools
import torch
@functools.lru_cache(maxsize=None)
def scale(n: int) -> int:
    print(n)
    return n * 2
@functools.lru_cache(maxsize=None)
def say_once(text: str) -> None:
    print(text)
@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    say_once("scaled")
    return x * scale(3)
"""
    file = tmp_path / "m.py"
    file.write_text(text, encoding="utf-8")
    assert [(f.code, f.span.line) for f in api.check([file], Settings()).findings] == [("CL110", 5), ("CL110", 12)]


def test_a_number_that_a_tensor_holds_is_not_one_of_pythons(tmp_path: Path) -> None:
    text = CALL.format(call="chosen = int(torch.randint(4, ()))\n    if chosen == 2:\n        x = x * 2")
    assert "CL114" not in codes(tmp_path / "m.py", text)
    text = CALL.format(call="chosen = random.randint(0, 3)\n    if chosen == 2:\n        x = x * 2")
    assert "CL114" in codes(tmp_path / "m.py", text)


@pytest.mark.parametrize(("kind", "expected"), [("float", []), ("torch.Tensor", ["CL101"])])
def test_a_declared_alternative_stays_one_when_computed_with(tmp_path: Path, kind: str, expected: list[str]) -> None:
    declared = f"import torch\n@torch.compile\ndef f(x: torch.Tensor, rate: {kind} | torch.Tensor) -> torch.Tensor:\n"
    assert codes(tmp_path / "m.py", declared + "    return x * rate if rate * 2 > 1 else x\n") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch.Tensor().to(x.device)", []),
        ("torch.Tensor([1.0, 2.0]).to(x.device)", ["CL402"]),
        ("torch.normal(mean=0.0, std=deviation, size=(1,)).item()", []),
        ("torch.normal(x, x).sum().item()", ["CL201", "CL207"]),
    ],
)
def test_what_the_host_makes(line: str, expected: list[str], tmp_path: Path) -> None:
    text = f"import torch\n\n\ndef f(x: torch.Tensor, deviation):\n    return {line}\n"
    assert codes(tmp_path / "made.py", text) == expected


@pytest.mark.parametrize(("argument", "expected"), [("0.0", ["CL114"]), ("means", []), ("np.ones(3)", [])])
def test_one_number_is_drawn_where_numbers_are_given(argument: str, expected: list[str], tmp_path: Path) -> None:
    text = "import numpy as np\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, means):\n"
    assert codes(tmp_path / "drawn.py", text + f"    return x + np.random.normal({argument}, 1.0)\n") == expected


def test_an_object_is_of_a_subclass_where_its_class_cannot_be_called(tmp_path: Path) -> None:
    text = "import torch\nfrom sklearn.base import BaseEstimator\nfrom sklearn.preprocessing import scale\n\n\n"
    text += "@torch.compile\ndef f(x: torch.Tensor, encoder: BaseEstimator):\n    return {}(x)\n"
    assert codes(tmp_path / "called.py", text.format("encoder")) == []
    assert codes(tmp_path / "called.py", text.format("scale")) == ["CL113"]


@pytest.mark.parametrize(
    ("test", "severity"),
    [("group is None", "error"), ("x.dim() > 4", "note"), ("scale is None", "note"), ("group is not None", "note")],
)
def test_a_warning_in_unusual_cases_is_a_note(test: str, severity: str, tmp_path: Path) -> None:
    path = tmp_path / "warned.py"
    text = "import warnings\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, scale, group=None):\n"
    path.write_text(text + f"    if {test}:\n        warnings.warn('unusual')\n    return x + 1\n")
    assert [finding.severity.value for finding in api.check([path], Settings()).findings] == [severity]


@pytest.mark.parametrize(
    ("test", "method", "severity"),
    [
        ("x.shape[0] % 8", "warning", "note"),
        ("n > 4 and scale", "error", "note"),
        ("n > 4", "info", "error"),
        ("scale", "warning", "error"),
        ("group is None", "warning", "error"),
        ("scale is None", "warning", "note"),
        ("scale is not None", "warning", "error"),
        ("group is not None:\n        pass\n    elif scale is None", "warning", "note"),
    ],
)
def test_a_log_of_an_unusual_argument_is_a_note(test: str, method: str, severity: str, tmp_path: Path) -> None:
    path = tmp_path / "logged.py"
    text = (
        "import logging\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, scale, group=None):\n    n = len(x)\n"
    )
    path.write_text(text + f"    if {test}:\n        logging.{method}('unusual')\n    return x + 1\n")
    assert [finding.severity.value for finding in api.check([path], Settings()).findings] == [severity]


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        ("torch.hann_window(n).sqrt().to(x.device)", "CL402", "make it on the device (`device=`)"),
        ("torch.from_numpy(a).to(x.device)", "CL402", "pin it (`.pin_memory()`)"),
        ("[b.to(x.device) for b in torch.utils.data.DataLoader(a)]", "CL402", "`pin_memory=True` in the DataLoader"),
        ("[b['x'].to(x.device) for b in torch.utils.data.DataLoader(a)]", "CL403", "on the GPU already"),
        ("torch.inverse(x)", "CL207", "`torch.linalg.inv_ex`"),
        ("x.cholesky()", "CL207", "`torch.linalg.cholesky_ex`"),
        ("torch.linalg.svd(x)", "CL207", ""),
    ],
)
def test_hints_by_what_a_value_comes_from(tmp_path: Path, call: str, code: str, said: str) -> None:
    text = f"import numpy as np\nimport torch\n\n\ndef f(x: torch.Tensor, a: np.ndarray, n: int):\n    return {call}\n"
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    hints = [f.hint for f in api.check([tmp_path / "m.py"], Settings(select=(code,))).findings]
    assert hints
    assert all(said in hint if said else not hint for hint in hints)


def test_what_only_a_read_tells_of_is_waited_for_where_the_graph_breaks(tmp_path: Path) -> None:
    text = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x.max().item()\n"
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    (finding,) = api.check([tmp_path / "m.py"], Settings()).findings
    assert finding.effects == ("graph-break", "sync")
