"""What verify measures and compares, on small programs run in this process."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from compilelint.errors import UsageProblem
from compilelint.runtime.compare import compare, difference
from compilelint.runtime.load import Loader
from compilelint.runtime.measure import Measurement
from compilelint.runtime.places import Places
from compilelint.runtime.results import Mode, ModuleMode, VerifyResult
from compilelint.runtime.table import text
from compilelint.runtime.target import parse_input, parse_target
from compilelint.runtime.verdict import judge

PLAIN = """
    import torch

    def run(x, weight):
        BODY

    def make():
        return run, (torch.linspace(-1, 1, 6), torch.ones(6, requires_grad=True))
"""


@pytest.fixture(autouse=True)
def isolated() -> Iterator[None]:
    """The imports and threads of a case don't outlive it."""
    path, threads = list(sys.path), torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    sys.path[:] = path
    for name in [name for name, module in sys.modules.items() if name in ("m", "pack") or name.startswith("pack.")]:
        del sys.modules[name]
    torch._dynamo.reset()


def measured(
    folder: Path,
    text: str,
    target: str = "m.py:make",
    inputs: tuple[str, ...] = (),
    mode: ModuleMode = "given",
    backend: str = "eager",
) -> Measurement:
    sys.modules.pop("m", None)
    folder.mkdir(exist_ok=True)
    (folder / "m.py").write_text(textwrap.dedent(text), encoding="utf-8")
    specs = [parse_input(spec) for spec in inputs]
    loader = Loader(parse_target(target), str(folder / "m.py"), specs, torch.device("cpu"), mode=mode)
    measurement = Measurement(loader, Places([str(folder)]), folder.name, backend, lambda _: None)
    measurement.run()
    return measurement


def verified(tmp_path: Path, before: str, after: str) -> VerifyResult:
    one, two = measured(tmp_path / "before", before), measured(tmp_path / "after", after)
    one.nudge()
    one.refer()
    checks = compare(one.side, two.side, one.values, two.values, one.nudged, one.exact)
    return VerifyResult("m.py:make", "cpu", one.side, two.side, "eager", checks, judge(one.side, two.side))


def plain(body: str) -> str:
    return PLAIN.replace("BODY", body)


def equal(result: VerifyResult, mode: str = "eager") -> dict[str, bool]:
    return {check.what: check.equal for check in result.checks if check.mode == mode}


def outcomes(result: VerifyResult, mode: str) -> dict[str, str]:
    return {verdict.metric: verdict.outcome for verdict in result.verdicts if verdict.mode == mode}


def the(mode: Mode | None) -> Mode:
    assert mode is not None
    return mode


def test_other_outputs(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("return x * weight"), plain("return x * weight + 0.01"))
    assert not result.ok
    assert not equal(result)["outputs"]
    assert equal(result)["gradients"]
    assert "6 of 6 values differ, by up to 0.01" in result.problems[0]


def test_rounding_is_no_difference(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("return (x * weight).sum()"), plain("return sum(x * weight)"))
    assert all(check.equal for check in result.checks), result.problems


ADAM = """
    import torch

    def make():
        weight = torch.nn.Parameter(torch.linspace(0.5, 1.5, 64))
        optimizer = torch.optim.Adam([weight], lr=1e-3, eps=1e-12)

        def step(x):
            optimizer.zero_grad()
            loss = LOSS
            loss.backward()
            optimizer.step()
            return weight.detach().clone()

        return step, (torch.linspace(1, 3, 64),)
"""


def test_what_rounding_alone_moves_is_no_difference(tmp_path: Path) -> None:
    """A gradient that is nothing but rounding: Adam steps along its sign."""
    before, after = (
        ADAM.replace("LOSS", loss)
        for loss in (
            "(weight * (x / 3) - weight * (x * (1 / 3))).sum()",
            "(weight * (x * 0.7 / 2.1) - weight * (x / 3)).sum()",
        )
    )
    result = verified(tmp_path, before, after)
    assert all(check.equal for check in result.checks), result.problems
    one, two = (measured(tmp_path / str(i), text).values["eager"] for i, text in enumerate((before, after)))
    assert (one["call 1 output"] - two["call 1 output"]).abs().max() > 1e-4, "more than the tolerance of float32"


HALF = """
    import torch

    def run(x):
        SUM

    def make():
        return run, (torch.full((600,), 0.1, dtype=torch.float16),)
"""
IN_HALF = """
        total = x[0]
        for i in range(1, 600):
            total = total + x[i]
        return total
"""
AT_ONCE = "return x.sum()"


def test_half_precision_is_measured_against_double(tmp_path: Path) -> None:
    """What is off by more than the tolerance, but nearer to the truth than before, is equal; the reverse is not."""
    crude, fine = HALF.replace("SUM", IN_HALF.strip()), HALF.replace("SUM", AT_ONCE)
    better = verified(tmp_path, crude, fine)
    one, two = (measured(tmp_path / str(i), text).values["eager"] for i, text in enumerate((crude, fine)))
    assert difference(one["call 1 output"], two["call 1 output"]), "more than the tolerance of float16"
    assert equal(better)["outputs"], better.problems
    assert not equal(verified(tmp_path, fine, crude))["outputs"]
    wrong = verified(tmp_path, crude, HALF.replace("SUM", "return x.sum() * 1.1"))
    assert not equal(wrong)["outputs"]


def test_random_numbers_drawn_and_dropped(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("return x"), plain("torch.rand(1); return x"))
    assert equal(result)["outputs"]
    assert result.problems[0] == "eager: random state differ: after call 1 (torch)"
    assert verified(tmp_path, plain("return x + torch.rand(1)"), plain("return torch.rand(1) + x")).ok


NORM = """
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2 if self.training else EVAL

    def make():
        return Net().MODE, (torch.ones(3),)
"""


@pytest.mark.parametrize(("mode", "told"), [("train()", "in inference"), ("eval()", "outputs")])
def test_training_and_inference(tmp_path: Path, mode: str, told: str) -> None:
    text = NORM.replace("MODE", mode)
    result = verified(tmp_path, text.replace("EVAL", "x"), text.replace("EVAL", "x + 1"))
    assert [what for what, same in equal(result).items() if not same] == [told]


def test_a_module_that_the_target_hands_out_again(tmp_path: Path) -> None:
    text = NORM.replace("MODE", "train()").replace("EVAL", "x + 5").replace("return Net()", "return NET")
    text += "    NET = Net()\n"
    one = measured(tmp_path / "one", text)
    assert one.values["eager"]["inference call 1 output"].tolist() == [6.0] * 3
    assert one.values["compiled"]["call 2 output"].tolist() == [2.0] * 3


def test_a_mode_that_is_asked_for(tmp_path: Path) -> None:
    text = NORM.replace("MODE", "train()").replace("EVAL", "x + 1")
    one = measured(tmp_path / "one", text, mode="inference")
    assert one.values["eager"]["call 1 output"].tolist() == [2.0] * 3
    assert one.values["eager"]["training call 1 output"].tolist() == [2.0] * 3
    layer = "import torch\n\ndef make():\n    return torch.nn.Linear(2, 2), (torch.ones(1, 2, requires_grad=True),)\n"
    two = measured(tmp_path / "two", layer, mode="inference")
    assert not [name for name in two.values["eager"] if "gradient" in name]


def test_other_gradients_alone(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("return x * weight"), plain("return x * weight.detach() + 0 * weight"))
    assert equal(result)["outputs"]
    assert not equal(result)["gradients"]
    assert not equal(result, "compiled")["gradients"]
    assert "argument 1" in result.problems[0]


def test_an_input_that_is_written_into(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("return x.add(1)"), plain("return x.add_(1)"))
    assert equal(result)["outputs"], "each call gets inputs of its own"
    assert not equal(result)["inputs changed"]
    assert the(result.after.eager).mutated == ["argument 0"]


def test_a_new_exception(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("return x"), plain("raise ValueError('no')"))
    assert not result.ok
    assert any("none; after: ValueError: no (call 1, at m.py:5)" in problem for problem in result.problems)


def test_the_same_exception_is_equal(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("raise ValueError('no')"), plain("raise ValueError('no')"))
    assert the(result.after.compiled).exception == "ValueError: no"
    assert (result.ok, result.problems) == (False, ["nothing was measured: both versions raise"])
    shown = text(result)
    assert (
        "exceptions (eager)\n  before  m.py:5  ValueError: no (call 1)\n  after   m.py:5  ValueError: no (call 1)"
        in shown
    )
    assert shown.splitlines()[-1].startswith("nothing was measured: both versions raise (torch ")
    assert "nothing worse" not in shown


def test_sys_exit_is_an_exception(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("return x"), plain("raise SystemExit(3)"))
    assert "SystemExit: 3" in result.problems[-1]


def test_a_number_and_its_tensor_are_equal(tmp_path: Path) -> None:
    result = verified(tmp_path, plain("return x.sum().item()"), plain("return x.sum()"))
    assert result.ok, result.problems
    assert outcomes(result, "eager")["syncs"] == "better"
    assert outcomes(result, "compiled")["breaks"] == "better"


def test_printed_text_is_shown_but_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = verified(tmp_path, plain("print('one 1'); return x"), plain("print('two'); return x"))
    assert result.ok
    assert not equal(result)["printed text"]
    assert [check.detail for check in result.checks if check.what == "printed text"] == [
        "2 lines before, 2 after: 'one 0' became 'two'"
    ]
    assert capsys.readouterr().out == ""


STEP = """
    import torch

    def make(device="cpu"):
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1)).to(device)
        optimizer = torch.optim.AdamW(model.parameters())
        compiled = torch.compile(model, backend="eager")

        def step(batch):
            batch = batch.to(device)
            optimizer.zero_grad()
            loss = compiled(batch).square().mean()
            loss.backward()
            optimizer.step()
            print("loss", loss)
            return loss.LOSS

        return step, (torch.randn(8, 4),)
"""


def test_a_target_that_compiles_and_trains(tmp_path: Path) -> None:
    result = verified(tmp_path, STEP.replace("LOSS", "item()"), STEP.replace("LOSS", "detach()"))
    assert result.ok, result.problems
    assert result.after.compiled_by == "target"
    assert the(result.after.compiled).graphs == 1
    assert the(result.after.eager).graphs == 0
    assert not any("Inductor" in note for note in result.after.notes)
    # neither the optimizer's step counts, which live on the host, nor the backward
    assert [(site.line, site.what) for site in the(result.before.eager).syncs or []] == [
        (10, "Tensor.to"),
        (15, "Tensor.__repr__"),
        (16, "Tensor.item"),
    ]
    assert "loss" in the(result.before.eager).printed
    counts = {check.what: check.count for check in result.checks if check.mode == "eager"}
    assert (counts["state"], counts["gradients"]) == (4, 8)


def test_inductor_is_told_to_draw_what_eager_code_draws(tmp_path: Path) -> None:
    one = measured(tmp_path / "before", STEP.replace("LOSS", "item()"), backend="inductor")
    assert [note for note in one.side.notes if note.startswith("draws random numbers: Inductor was told")]


RECOMPILED = """
    import torch

    class Net(torch.nn.Module):
        calls = 0

        def forward(self, x):
            COUNT
            return x + self.calls

    def make():
        net = Net()
        return (lambda x: net(x)), (torch.randn(4),)
"""


def test_recompiles(tmp_path: Path) -> None:
    result = verified(tmp_path, RECOMPILED.replace("COUNT", "pass"), RECOMPILED.replace("COUNT", "self.calls += 1"))
    assert the(result.after.compiled).recompile_count >= 1
    assert "calls" in the(result.after.compiled).recompiles[0].what
    assert not any(
        word in site.what for site in the(result.after.compiled).recompiles for word in ("HINT", "  #", "\n")
    )
    assert "kernels (predicted)" not in text(result)  # the eager backend makes none
    assert outcomes(result, "compiled")["recompiles"] == "worse"
    assert result.after.notes == []


BREAKS = """
    import logging

    import torch

    log = logging.getLogger(__name__)

    def inner(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    def run(x):
        x = inner(x)
        log.info("shape %s", x.shape)
        with torch.no_grad():
            x = x * x.max().item()
        total = [x for _ in range(2) if any(x > 0)]
        return x + len(total)

    def make():
        return run, (torch.ones(4),)
"""


def test_every_break_is_seen(tmp_path: Path) -> None:
    """In an inlined callee, where a frame is split, in a block that can't be resumed, and in Dynamo's own polyfill."""
    mode = the(measured(tmp_path / "before", BREAKS).side.compiled)
    assert {site.line for site in mode.breaks} == {9, 15, 17, 18}
    assert mode.breaks[0].what == "Data-dependent branching"
    assert {site.path for site in mode.breaks} == {"m.py"}


def test_an_nn_module_class_with_inputs(tmp_path: Path) -> None:
    text = """
        import torch

        class Net(torch.nn.Module):
            def forward(self, x, index, flag):
                return x[index] * flag
    """
    one = measured(tmp_path / "before", text, "m.py:Net", ("f32[8,4]+grad", "i64[3]<8", "2.0"))
    assert [name for name in one.values["eager"] if "gradient" in name] == [
        "call 1 gradient of argument 0",
        "call 2 gradient of argument 0",
    ]


def test_a_module_in_eval_mode_runs_without_gradients(tmp_path: Path) -> None:
    text = "import torch\n\ndef make():\n    return torch.nn.Linear(2, 2).eval(), (torch.ones(1, 2),)\n"
    one = measured(tmp_path / "before", text)
    assert not [name for name in one.values["eager"] if "gradient" in name]


@pytest.mark.parametrize(
    ("target", "text", "told"),
    [
        ("m.py:nothing", "def make(): ...", "has no 'nothing'"),
        ("m.py:make", "def make(): return 3", r"must return \(callable, args\)"),
        ("m.py:make", "make = 3", "is a int, not callable"),
        ("m.py:Net", "import torch\nclass Net(torch.nn.Module): ...", "is a class: give its inputs"),
    ],
)
def test_targets_that_cannot_be_used(tmp_path: Path, target: str, text: str, told: str) -> None:
    with pytest.raises(UsageProblem, match=told):
        measured(tmp_path / "before", text, target)


NEEDS = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self, dim, depth=2): ...

        def make(self): ...

    def step(model, x, device="cpu"): ...
"""


@pytest.mark.parametrize(
    ("target", "inputs", "told"),
    [
        ("m.py:Net", ("f32[2]",), ["needs dim to be made: write", "return Net(dim=...), (torch.randn(8, 128),)"]),
        ("m.py:Net.make", (), ["is a method: write", "def make_make():\n        return Net(...).make, ()"]),
        ("m.py:step", (), ["needs model, x: give an --input for each", "return step, (model, x)"]),
    ],
)
def test_what_needs_arguments_is_told_what_to_write(
    tmp_path: Path, target: str, inputs: tuple[str, ...], told: list[str]
) -> None:
    with pytest.raises(UsageProblem) as caught:
        measured(tmp_path / "before", NEEDS, target, inputs)
    assert all(part in str(caught.value) for part in told), str(caught.value)


LINEAR16 = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4, dtype=torch.float16)

        def forward(self, x):
            return self.linear(x)
"""


def test_a_module_in_another_precision_than_its_inputs(tmp_path: Path) -> None:
    one = measured(tmp_path / "before", LINEAR16, "m.py:Net", ("f32[2,4]",))
    assert the(one.side.eager).exception.startswith("RuntimeError")
    (note,) = one.side.notes
    assert note.startswith("the parameters are float16, the inputs float32") and '--input "f16[8,128]"' in note
    assert not measured(tmp_path / "before", LINEAR16, "m.py:Net", ("f16[2,4]",)).side.notes
