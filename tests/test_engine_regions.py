"""Regions: what Dynamo traces, what runs at each step, what a hot path may call, what runs once; and gates."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from interpreted import check_gates, check_regions, interpret

from compilelint import api
from compilelint.config import Settings

REGIONS = {
    # -- compiled ----------------------------------------------------------------------------------------------------
    "coroutines are not traced": """
        async def send(x):
            time.time()  # library
            later(x)

        def later(x):
            time.time()  # library

        class Remote(nn.Module):
            def forward(self, x: Tensor):
                time.time()  # forward
                return run(send(x))
        """,
    "decorator": """
        @torch.compile
        def f(x):
            time.time()  # compiled
        """,
    "decorator with arguments": """
        @torch.compile(mode="reduce-overhead", dynamic=True)
        def f(x):
            time.time()  # compiled
        """,
    "decorator by partial": """
        @functools.partial(torch.compile, dynamic=False)
        def f(x):
            time.time()  # compiled
        """,
    "decorator under another name": """
        import torch as t
        from torch import compile as jit

        @jit
        def f(x):
            time.time()  # compiled

        @t.compile()
        def g(x):
            time.time()  # compiled
        """,
    "call at module level": """
        def f(x):
            time.time()  # compiled

        g = torch.compile(f)
        """,
    "call in a function": """
        def f(x):
            time.time()  # compiled

        def main():
            time.time()  # cold
            fast = torch.compile(f)
            fast(torch.zeros(3))
        """,
    "call of a lambda": """
        def main(x):
            fast = torch.compile(lambda v: time.time())  # compiled
            fast(x)
        """,
    "a figure": """
        import matplotlib.pyplot as plt

        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                time.time()  # forward

            def show(self, x: torch.Tensor):
                time.time()  # cold
                plt.plot(x)

            def show_later(self, x: torch.Tensor):
                from matplotlib import pyplot

                time.time()  # cold
        """,
    "a figure by its name": """
        def plot_prediction(x: torch.Tensor):
            time.time()  # cold

        def _visualize(x: torch.Tensor):
            time.time()  # cold

        def plotted(x: torch.Tensor):
            time.time()  # library
        """,
    "no figure": """
        # matplotlib would be another way
        def show(x: torch.Tensor):
            time.time()  # library
        """,
    "a module": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                time.time()  # cold

            def forward(self, x):
                time.time()  # compiled
                return self.helper(x)

            def helper(self, x):
                time.time()  # compiled

        def main():
            net = torch.compile(Net())
        """,
    "module.compile()": """
        class Net(nn.Module):
            def forward(self, x):
                time.time()  # compiled

        def main():
            net = Net()
            net.compile()
        """,
    "module.compile() of a moved module": """
        class Net(nn.Module):
            def forward(self, x):
                time.time()  # compiled

        def main():
            net = Net().cuda().eval()
            net.compile(mode="max-autotune")
        """,
    "an attribute": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.step = torch.compile(self._step)

            def _step(self, x):
                time.time()  # compiled

            def run(self, x):
                self.step(x)
        """,
    "a method": """
        class Sampler:
            @torch.compile
            def step(self, x):
                time.time()  # compiled
                self.inner(x)

            def inner(self, x):
                time.time()  # compiled

            def other(self):
                time.time()  # cold
        """,
    "a submodule": """
        class Block(nn.Module):
            def forward(self, x):
                time.time()  # compiled

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = torch.compile(Block())

            def forward(self, x):
                time.time()  # forward
                return self.block(x)
        """,
    "a nested function": """
        def make():
            @torch.compile
            def inner(x):
                time.time()  # compiled
            return inner

        def main(x):
            make()(x)
        """,
    "what compiled code calls": """
        def leaf(x):
            time.time()  # compiled

        def mid(x):
            return leaf(x)

        @torch.compile
        def f(x):
            return [mid(x) for _ in range(3)]
        """,
    "callbacks of compiled code": """
        def leaf(x):
            time.time()  # compiled

        def apply(fn, x):
            return fn(x)

        @torch.compile
        def f(x: Tensor):
            return apply(leaf, x)
        """,
    "disabled functions of a forward pass": """
        class Net(nn.Module):
            def forward(self, x: Tensor):
                @torch.compiler.disable
                def post(y):
                    time.time()  # step
                    return tidy(y)

                time.time()  # forward
                return post(x)

        def tidy(y):
            time.time()  # step

        class Loss(nn.Module):
            @torch.compiler.disable
            def forward(self, x: Tensor):
                time.time()  # step
        """,
    "disabled functions": """
        @torch.compiler.disable
        def f(x: Tensor):
            time.time()  # library

        @torch.compile
        def g(x: Tensor):
            time.time()  # compiled
            f(x)
        """,
    "in both": """
        def helper(x: Tensor):
            time.time()  # compiled

        @torch.compile
        def f(x: Tensor):
            helper(x > 0)
        """,
    "hooks of a compiled module": """
        def hook(module, args, output):
            time.time()  # compiled

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(1, 1)
                self.layer.register_forward_hook(hook)

            def forward(self, x):
                return self.layer(x)

        net = torch.compile(Net())
        """,
    # -- forward -----------------------------------------------------------------------------------------------------
    "forward": """
        def helper(x):
            time.time()  # forward

        class Net(nn.Module):
            def forward(self, x):
                time.time()  # forward
                self._inner(x)
                return helper(x)

            def _inner(self, x):
                time.time()  # forward

            def unused(self, x: Tensor):
                time.time()  # library

            def reset_parameters(self):
                time.time()  # cold
        """,
    "forward of what is no module": """
        class Plain:
            def forward(self, x):
                time.time()  # cold
        """,
    "a custom autograd function": """
        class Op(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                time.time()  # forward

            @staticmethod
            def backward(ctx, grad):
                time.time()  # forward

        class Net(nn.Module):
            def forward(self, x: Tensor):
                return Op.apply(x)
        """,
    # -- step --------------------------------------------------------------------------------------------------------
    "a training loop": """
        def train(model: nn.Module, loader, optimizer):
            time.time()  # cold
            for x, y in loader:
                time.time()  # step
                loss = F.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
            time.time()  # cold
        """,
    "nested training loops": """
        def train(model: nn.Module, loader, optimizer: torch.optim.Optimizer, epochs: int):
            for epoch in range(epochs):
                for x in loader:
                    time.time()  # step
                    model(x).sum().backward()
        """,
    "an evaluation loop": """
        def evaluate(model: nn.Module, batches):
            for x in batches:
                model(x)
                time.time()  # step
        """,
    "a loop over a loader": """
        def run(dataset):
            for batch in torch.utils.data.DataLoader(dataset):
                time.time()  # step
        """,
    "what a step loop calls": """
        def log(v):
            time.time()  # step

        def metric(x: Tensor):
            time.time()  # step
            return x.sum()

        def train(model: nn.Module, batches):
            for x in batches:
                out = model(x)
                metric(out)
                log(1)
        """,
    "any other loop": """
        def f(names: list[str]):
            for name in names:
                time.time()  # cold
        """,
    "steps behind a call": """
        def forward_step(model: nn.Module, x):
            time.time()  # step
            return model(x)

        def training_step(model, x: Tensor):
            time.time()  # step
            forward_step(model, x).sum().backward()

        def epoch(model, batches):
            time.time()  # cold
            for x in batches:
                training_step(model, x)
                time.time()  # step

        def run(model: nn.Module, batches, epochs: int):
            for _ in range(epochs):
                epoch(model, batches)
                time.time()  # library
        """,
    "a step that nobody calls": """
        def train_step(model, x, opt):
            loss = model(x).mean()
            loss.backward()
            time.time()  # library
        """,
    "a trainer's backward": """
        def run(accelerator, batches, loss_of):
            for x in batches:
                accelerator.backward(loss_of(x))
                time.time()  # step
            time.time()  # cold
        """,
    "an optimizer of one's own": """
        class Mine(torch.optim.Optimizer):
            def step(self, closure=None):
                time.time()  # step
        """,
    "lightning": """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def training_step(self, batch, index):
                time.time()  # step

            def configure_optimizers(self):
                time.time()  # cold
        """,
    # -- library and cold --------------------------------------------------------------------------------------------
    "library": """
        def f(x: Tensor):
            time.time()  # library

        def g(xs: list[Tensor], n: int):
            time.time()  # library

        def h(model: nn.Module):
            time.time()  # library

        def used(x):
            time.time()  # library
            return x.unsqueeze(0)

        def made(n: int, device):
            time.time()  # library
        """,
    "objects made of tensors": """
        def check(n):
            time.time()  # library

        class Boxes:
            def __init__(self, t, n):
                time.time()  # library
                check(n)

        class Config:
            def __init__(self, n):
                time.time()  # cold

        class Maybe:
            def __init__(self, start: float | Tensor):
                time.time()  # cold

        def like(start: float | Tensor):
            return Maybe(start)

        class Head(nn.Module):
            def __init__(self, prior):
                time.time()  # cold

        def f(x: Tensor):
            return Boxes(x, 1), Config(2), Head(x)
        """,
    "objects made of tensors in a forward pass": """
        class Boxes:
            def __init__(self, t):
                time.time()  # forward

        class Net(nn.Module):
            def forward(self, x: Tensor):
                return Boxes(x)
        """,
    "cold": """
        time.time()  # cold

        def f(n: int, name: str):
            time.time()  # cold

        def build(device="cuda"):
            time.time()  # cold

        def g(a: np.ndarray):
            time.time()  # cold

        class Net(nn.Module):
            def __init__(self, x: Tensor):
                super().__init__()
                time.time()  # cold
                self._init(x)

            def _init(self, x: Tensor):
                time.time()  # cold
        """,
}


@pytest.mark.parametrize("text", REGIONS.values(), ids=REGIONS.keys())
def test_regions(text: str) -> None:
    check_regions(text)


def test_roots_of_the_settings() -> None:
    text = """
    def f(x: Tensor):
        time.time()  # compiled

    class Net(nn.Module):
        def forward(self, x):
            time.time()  # compiled

        def other(self, x: Tensor):
            time.time()  # library
    """
    check_regions(text, roots=("snippet:f", "snippet:Net.forward"))


def test_compiled_modules() -> None:
    text = """
    def f(x: Tensor):
        time.time()  # library

    class Net(nn.Module):
        def forward(self, x):
            time.time()  # compiled
    """
    check_regions(text, compiled="modules")


def test_why_and_from_where() -> None:
    found = interpret(
        """
        def leaf(x):
            time.time()

        @torch.compile
        def f(x):
            leaf(x)
        """
    )
    [region] = {mark.region for mark in found.marks if mark.region.kind == "compiled"}
    assert (region.root, region.why) == ("snippet:f", "is called from snippet:f")


def test_what_counts_as_traced() -> None:
    text = """
    def library(x: Tensor):
        time.time()

    def cold(n: int):
        time.time()

    class Net(nn.Module):
        def forward(self, x):
            time.time()
            if not torch.compiler.is_compiling():
                time.time()
    """
    assert [m.compiled for m in interpret(text).marks] == [False, False, True, False]
    assert [m.compiled for m in interpret(text, compiled="all").marks] == [True, True, True, False]


def test_a_root_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "layers.py").write_text("import time\n\n\ndef leaf(x):\n    time.time()\n")
    text = """
    from layers import leaf

    @torch.compile
    def f(x):
        leaf(x)
    """
    found = interpret(text, path=tmp_path / "main.py")
    leaf = [s for s in found.analyser.engine.summaries() if s.info is not None and s.info.id == "layers:leaf"]
    assert leaf, "the import was not followed"


GATES = {
    "none": """
        def f(x):
            time.time()  # none
        """,
    "compiling": """
        def f(x):
            if torch.compiler.is_compiling():
                time.time()  # compiling
            else:
                time.time()  # not-compiling
            if not torch.compiler.is_compiling():
                time.time()  # not-compiling
            time.time()  # none
        """,
    "compiling, then left": """
        def f(x):
            if torch.compiler.is_compiling():
                return x
            time.time()  # not-compiling
        """,
    "compiling, by other names": """
        import torch._dynamo
        from torch.compiler import is_compiling
        from elsewhere import is_torchdynamo_compiling

        def f(x):
            if not torch._dynamo.is_compiling():
                time.time()  # not-compiling
            if is_compiling():
                time.time()  # compiling
            if not is_torchdynamo_compiling():
                time.time()  # not-compiling
        """,
    "compiling, by a helper": """
        def tracing():
            return torch.compiler.is_compiling()

        def f(x):
            if not tracing():
                time.time()  # not-compiling
        """,
    "compiling, but the helper says no": """
        def exporting():
            if torch.compiler.is_compiling():
                return False
            return torch.onnx.is_in_onnx_export()

        def f(x):
            if not exporting():
                time.time()  # none
        """,
    "compiling, with more": """
        def f(x, debug: bool):
            if debug and not torch.compiler.is_compiling():
                time.time()  # not-compiling
            if debug or not torch.compiler.is_compiling():
                time.time()  # none
            not torch.compiler.is_compiling() and print(time.time())  # not-compiling
            y = time.time() if not torch.compiler.is_compiling() else 0  # not-compiling
        """,
    "tracing": """
        def f(x):
            if torch.jit.is_tracing() or torch.onnx.is_in_onnx_export():
                time.time()  # never
            if not torch.jit.is_scripting():
                time.time()  # none
        """,
    "every n steps": """
        def f(n: int, steps: int):
            for step in range(n):
                if step % 100 == 0:
                    time.time()  # every-n
                if step % steps != 0:
                    continue
                time.time()  # every-n
            if not n % 10:
                time.time()  # every-n
        """,
    "sizes count no steps": """
        def f(x: Tensor, n: int):
            if x.shape[0] % 8 == 0:
                time.time()  # none
            if not x.size(1) % 8:
                time.time()  # none
        """,
    "what is raised otherwise": """
        def f(n: int, steps: int):
            if not (n % 8 == 0 and steps % 8 == 0):
                raise ValueError
            time.time()  # none
        """,
    "training": """
        class Net(nn.Module):
            def forward(self, x):
                if self.training:
                    time.time()  # training
                else:
                    time.time()  # eval
                if not self.training:
                    return x
                time.time()  # training
        """,
    "main": """
        def f():
            time.time()  # none

        if __name__ == "__main__":
            time.time()  # main
        """,
    "once": """
        def f(n: int):
            for i in range(n):
                if i == 0:
                    time.time()  # once
        """,
    "the first round": """
        def f(xs):
            total, last = None, None
            for x in xs:
                if total is None:
                    total = g(time.time())  # once
                if last is None:
                    last = g(time.time())  # none
                last = None
        """,
    "half precision": """
        def f(x: Tensor):
            if x.dtype == torch.float16:
                time.time()  # half
            if x.dtype in (torch.half, torch.bfloat16):
                time.time()  # half
            if x.dtype == torch.float32:
                time.time()  # none
        """,
    "raises and handlers": """
        def f(x):
            if x:
                time.time()  # raises
                raise ValueError(x)
            try:
                time.time()  # protected
            except ValueError:
                time.time()  # handler
            finally:
                time.time()  # none
            raise ValueError(time.time())  # raises
        """,
    "protected": """
        def f(x, lock):
            with lock:
                time.time()  # protected
            with torch.no_grad():
                time.time()  # none
            try:
                time.time()  # none
            finally:
                pass
            try:
                with torch.no_grad():
                    time.time()  # protected
            except ValueError:
                pass
            time.time()  # none
        """,
}


@pytest.mark.parametrize("text", GATES.values(), ids=GATES.keys())
def test_gates(text: str) -> None:
    check_gates(text)


STEP = """
def train(loader, model, optimizer):
    for batch in loader:
        loss = model(batch)
        loss.backward()
        optimizer.step()
        loss.item()
"""


@pytest.mark.parametrize(
    ("path", "beside", "tested"),
    [
        ("tests/common.py", "", True),
        ("pkg/tests/deep/common.py", "", True),
        ("pkg/test_train.py", "def test_it(): train()\n", True),
        ("pkg/train_test.py", "import unittest\n", True),
        ("conftest.py", "import pytest\n", True),
        ("test_cifar.py", "", False),  # a script that evaluates on a test set
        ("test.py", "import pytest\n", False),
        ("latest/train.py", "def test_it(): train()\n", False),
    ],
)
def test_a_test_suite_is_cold(tmp_path: Path, path: str, beside: str, tested: bool) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    for folder in (file.parent, *file.parent.parents):
        if folder == tmp_path or not path.startswith("pkg"):
            break
        (folder / "__init__.py").touch()
    file.write_text(f"import torch\n{beside}{STEP}", encoding="utf-8")
    found = api.check([file], Settings(select=("CL204", "CL201"))).findings
    assert [finding.severity.value for finding in found] == ([] if tested else ["warning"])


BUILT = """
import functools, torch

class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = self.make()

class Net(Base):
    @functools.cached_property
    def width(self):
        return 3

    @functools.cached_property
    def depth(self):
        return 3

    def make(self):
        return torch.nn.Linear(self.width, 2)

    def forward(self, x):
        x = self.head(x) * self.width
        return x * self.depth  # told
"""


def test_a_cached_property_that_is_known_once_the_object_is_built_takes_no_lock() -> None:
    found = api.check_source(BUILT.encode(), "m.py", Settings(select=("CL115",), python=(3, 11))).findings
    assert [finding.span.line for finding in found] == [1 + BUILT[: BUILT.index("# told")].count("\n")]


@pytest.mark.parametrize(
    ("key", "told"), [("key=lambda t: -t", True), ("key=lambda t: t.place", False), ("reverse=True", True)]
)
def test_what_is_sorted_by_a_key_is_compared_by_it(key: str, told: bool) -> None:
    text = f"from torch import Tensor\ndef f(xs: list[Tensor]):\n    return sorted(xs, {key})\n"
    found = api.check_source(text.encode(), "m.py", Settings(select=("CL201",))).findings
    assert bool(found) is told


def test_what_runs_once_is_a_note() -> None:
    text = """
        import functools

        class Embedder:
            @functools.cached_property
            def dimension(self):
                return torch.rand(1, 16000).cuda().sum().item()

            @property
            def size(self):
                return torch.rand(1, 16000).cuda().sum().item()

        def embed(model, loader, embedder: Embedder):
            for batch in loader:
                model(batch, embedder.dimension, embedder.size)
                loss.backward()
        """
    found = api.check_source(textwrap.dedent("import torch\n" + textwrap.dedent(text)).encode(), "m.py", Settings())
    lines = {finding.span.line: finding.severity.value for finding in found.findings}
    assert lines.get(8) == "note", lines
    assert lines.get(12) == "warning", lines


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("on_train_batch_end", "warning"),
        ("on_validation_epoch_end", "note"),
        ("on_train_end", "note"),
        ("_save_checkpoint", "note"),
        ("export", "note"),
        ("export_to_onnx", "note"),
        ("load_pretrained_weights", "note"),
        ("log_metrics", "note"),
        ("log_prob", "warning"),
        ("move_state_dict", "note"),
        ("replace_weights", "note"),
        ("print_results", "note"),
        ("find_batch_size", "note"),
        ("prober", "warning"),
        ("convert", "warning"),
        ("quantize", "warning"),
        ("saved", "warning"),
        ("evaluate", "warning"),
    ],
)
def test_what_runs_once_an_epoch_is_a_note(name: str, severity: str) -> None:
    text = (
        f"import torch\n\n\nclass Stop:\n    def {name}(self, loss: torch.Tensor):\n        return self._look(loss)\n\n"
    )
    text += "    def _look(self, loss):\n        return loss.sum().item()\n"
    found = api.check_source(text.encode(), "m.py", Settings(select=("CL201",))).findings
    assert {finding.severity.value for finding in found} == {severity}


READ = "    def look(self, loss: torch.Tensor):\n        return loss.sum().item()\n"


@pytest.mark.parametrize(
    ("path", "owner", "severities"),
    [
        ("steps.py", "Steps", ["warning"]),
        ("debug.py", "Steps", ["note"]),
        ("loggers/csv.py", "Steps", ["note"]),
        ("_testing.py", "Steps", ["note"]),
        ("cli/steps.py", "Steps", ["note"]),
        ("datasets/mixup.py", "Steps", ["note"]),
        ("datasets/formats/boxes.py", "Steps", ["note"]),
        ("debugging.py", "Steps", ["warning"]),
        ("steps.py", "EarlyStopping", ["note"]),
        ("steps.py", "ModelExporter", ["note"]),
        ("steps.py", "LoggerOfSteps", ["warning"]),
        ("test_utils/steps.py", "Steps", []),
        ("steps.py", "Rows(torch.utils.data.Dataset)", []),
        ("steps.py", "Rows(torch.utils.data.Sampler)", []),
    ],
)
def test_files_and_classes_that_no_step_needs(path: str, owner: str, severities: list[str], tmp_path: Path) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    for folder in file.relative_to(tmp_path.parent).parents[:-1]:
        (tmp_path.parent / folder / "__init__.py").touch()
    file.write_text(f"import torch.utils.data\n\n\nclass {owner}:\n{READ}")
    found = api.check([tmp_path], Settings(select=("CL201",))).findings
    assert [finding.severity.value for finding in found] == severities


@pytest.mark.parametrize(
    ("body", "severities"),
    [
        ("return batch.sum().item()", ["warning"]),
        ("with open('log.txt', 'a') as file:\n        file.write(str(batch.sum().item()))", ["note"]),
        ("return pandas.DataFrame({'sum': batch.sum().item()})", ["note"]),
        ("if batch.device.type == 'mps':\n        return batch.sum().item()\n    return batch", []),
        ("if batch.is_mps:\n        return batch.sum().item()\n    return batch", []),
        ("if batch.is_mps:\n        return batch\n    return batch.sum().item()", ["warning"]),
        ("if torch.backends.mps.is_available():\n        return batch.sum().item()\n    return batch", []),
        ("if is_npu_available():\n        return batch.sum().item()\n    return batch", []),
        ("if batch.device.type == 'cuda':\n        return batch.sum().item()\n    return batch", ["warning"]),
    ],
)
def test_files_tables_and_other_accelerators(body: str, severities: list[str]) -> None:
    text = f"import pandas\nimport torch\n\n\ndef told(batch: torch.Tensor):\n    {body}\n"
    found = api.check_source(text.encode(), "m.py", Settings(select=("CL201",))).findings
    assert [finding.severity.value for finding in found] == severities


def test_steps_of_what_only_tries_a_model_out_are_rare_too() -> None:
    loop = "    for batch in loader:\n        model(batch).sum().backward()\n        print(model(batch).sum().item())\n"
    text = f"import torch\n\n\ndef {{}}(model: torch.nn.Module, loader: torch.utils.data.DataLoader):\n{loop}"
    for name, severity in (("benchmark", "note"), ("on_train_epoch_end", "warning"), ("fit", "warning")):
        found = api.check_source(text.format(name).encode(), "m.py", Settings(select=("CL2",))).findings
        assert {finding.severity.value for finding in found} == {severity}, name


def test_batches_are_made_on_the_host() -> None:
    text = "import torch\n\n\ndef {}(rows: torch.Tensor):\n    return rows.sum().item()\n"
    for name, count in (("collate_fn", 0), ("text_collate_fn", 0), ("undo_collate_boxes", 1)):
        found = api.check_source(text.format(name).encode(), "m.py", Settings(select=("CL201",))).findings
        assert len(found) == count, name


def test_the_loaders_of_tests_are_of_no_matter() -> None:
    text = "import torch\nfrom torch.utils.data import DataLoader\n\n\ndef test_it(model, data):\n"
    text += "    for x in DataLoader(data):\n        model(x.cuda()).sum().backward()\n"
    for name, codes in (("test_loop.py", []), ("loop.py", ["CL403"])):
        found = api.check_source(text.encode(), name, Settings(select=("CL403",))).findings
        assert [finding.code for finding in found] == codes, name


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        ("", 1),
        ("def a():\n    total(torch.ones(3))\n", 0),
        ("def a():\n    total(torch.ones(3))\n\n\ndef b(x: torch.Tensor):\n    total(x)\n", 1),
        ("def a(rows):\n    total(rows)\n", 1),
    ],
)
def test_all_calls_pass_host_tensors(calls: str, count: int) -> None:
    text = f"import torch\n\n\ndef total(x: torch.Tensor):\n    return x.sum().item()\n\n\n{calls}"
    found = api.check_source(text.encode(), "m.py", Settings(select=("CL201",))).findings
    assert len(found) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("a = x.numpy()\n    return x.sum().item()", 0),
        ("a = np.asarray(x)\n    return x.sum().item()", 0),
        ("a = x.cpu().numpy()\n    return x.sum().item()", 1),
        ("y = x.cpu()\n    a = y.numpy()\n    return x.sum().item()", 1),
        ("x = x * 2\n    n = x.sum().item()\n    x = x.cpu()\n    return n, x.numpy()", 1),
        ("a = None if x.is_cuda else x.numpy()\n    return x.sum().item()", 1),
        ("if x.is_cuda:\n        return x.sum().item()\n    return x.numpy()", 1),
        ("if not x.is_cuda:\n        a = x.numpy()\n    return x.sum().item()", 1),
    ],
)
def test_what_becomes_an_array_is_on_the_host(body: str, count: int) -> None:
    text = f"import numpy as np\nimport torch\n\n\ndef f(x: torch.Tensor):\n    {body}\n"
    found = api.check_source(text.encode(), "m.py", Settings(select=("CL201",))).findings
    assert len(found) == count


def test_what_is_told_behind_a_check_is_a_note() -> None:
    text = "import torch, warnings\n\n\ndef check(loss: torch.Tensor):\n"
    text += "    if loss > 100:\n        {}(loss.item())\n"
    for told, severity in (("warnings.warn", "note"), ("print", "note"), ("keep", "warning")):
        found = api.check_source(text.format(told).encode(), "m.py", Settings(select=("CL201",))).findings
        assert {finding.severity.value for finding in found} == {severity}, told


def test_a_script_that_takes_one_step() -> None:
    step = "    loss = net(torch.ones(3).cuda()).sum()\n    loss.backward()\n    opt.step()\n    return loss.item()\n"
    script = "    net = torch.nn.Linear(3, 3).cuda()\n    opt = torch.optim.SGD(net.parameters(), 0.1)\n"
    for body, count in ((step, 1), (script + step, 0)):
        text = f"import torch\n\n\ndef once(rank):\n{body}"
        found = api.check_source(text.encode(), "m.py", Settings(select=("CL201",))).findings
        assert len(found) == count


def test_a_dict_is_asked_for_what_may_be_absent() -> None:
    text = "import torch\n\n\n@torch.compile\ndef f(x: dict[str, torch.Tensor]):\n    return 1 if x{} else 2\n"
    for read, count in (('.get("aux")', 0), ('["aux"]', 1)):
        found = api.check_source(text.format(read).encode(), "m.py", Settings(select=("CL101",))).findings
        assert len(found) == count


def test_an_estimator_with_a_forward_is_no_module(tmp_path: Path) -> None:
    text = """\
import torch
from sklearn.base import BaseEstimator
from zoo import Backbone


class Net(BaseEstimator):
    def forward(self, x: torch.Tensor):
        print(x.shape)
        return x


class Head(Backbone):
    def forward(self, x: torch.Tensor):
        print(x.shape)
        return x
"""
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = api.check([tmp_path], api.load_settings(isolated=True)).findings
    assert [(finding.code, finding.span.line) for finding in found] == [("CL110", 14)]
