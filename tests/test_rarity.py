"""Functions that run seldom: what is known of how often, by what they are given and what they keep."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from compilelint import api
from compilelint.config import Settings

HEAD = """\
import functools
import datasets
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
"""


def severities(text: str, *codes: str) -> list[str]:
    source = (HEAD + textwrap.dedent(text)).encode()
    found = api.check_source(source, "m.py", Settings(select=codes or ("CL201",))).findings
    return [finding.severity.value for finding in found]


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        ("loader: DataLoader", "note"),
        ("rows: Dataset", "note"),
        ("rows: datasets.Dataset", "note"),
        ("table: pd.DataFrame | None", "note"),
        ("batch: dict[str, torch.Tensor]", "warning"),
    ],
)
def test_what_is_given_a_whole_data_set(given: str, severity: str) -> None:
    assert severities(f"""
        def evaluate(model: nn.Module, {given}, scores: torch.Tensor):
            return scores.mean().item()
        """) == [severity]


def test_steps_over_a_data_set_are_hot() -> None:
    """A loop over it, or over what nobody knows: what it calls runs at each step."""
    assert severities("""
        def score(x: torch.Tensor):
            return x.sum().item()

        def evaluate(model, loader: DataLoader):
            return [score(model(batch.cuda())) for batch in loader]
        """) == ["warning"]
    assert severities("""
        def score(x: torch.Tensor):
            return x.sum().item()

        def evaluate(model, rows: Dataset, progress):
            for batch in progress(rows):
                score(model(batch))
        """) == ["warning"]
    assert severities("""
        def score(x: torch.Tensor):
            return x.sum().item()

        def evaluate(model, rows: Dataset):
            return score(model(rows))
        """) == ["note"]


def test_what_makes_a_loader_runs_once_a_pass() -> None:
    text = """
        def embed(model: nn.Module, rows, means: torch.Tensor):
            loader = {loader}
            return means.max().item()
        """
    assert severities(text.format(loader="DataLoader(rows, batch_size=8)")) == ["note"]
    assert severities(text.format(loader="list(rows)")) == ["warning"]


def test_a_progress_bar_over_names_shows_no_steps() -> None:
    text = """
        from tqdm import tqdm

        def score(x: torch.Tensor):
            return x.sum().item()

        def convert(net: nn.Module):
            for name in tqdm({names}):
                score(net.get_parameter(name))
        """
    assert severities(text.format(names="[name for name, _ in net.named_parameters()]")) == ["note"]
    assert severities(text.format(names="dict(net.layers.named_modules())")) == ["note"]
    assert severities(text.format(names="names")) == ["warning"]


@pytest.mark.parametrize(("batches", "severity"), [("tqdm(range(9))", "note"), ("range(9)", "warning")])
def test_a_progress_bar_shows_a_whole_pass(batches: str, severity: str) -> None:
    """What stands beside its loop runs once; what is in it, or called from there, at each step."""
    assert severities(f"""
        from tqdm.auto import tqdm

        def score(x: torch.Tensor):
            return x.sum().item()

        def encode(model, rows: torch.Tensor, order: torch.Tensor):
            scores = []
            for n in {batches}:
                scores.append(score(rows[n]))
                model(rows[n].max().item())
            return scores, order.max().item()
        """) == ["warning", "warning", severity]


def test_a_progress_bar_of_another_name() -> None:
    assert severities("""
        from tqdm import trange as bar

        def encode(model, rows: torch.Tensor, order: torch.Tensor):
            for n in bar(9):
                model(rows[n])
            return order.max().item()
        """) == ["note"]


def test_a_text_outside_of_loops_is_one_request() -> None:
    text = """
        def answer(model, tokenizer, texts, device):
            {loop}
                model(tokenizer(texts, return_tensors="pt").to(device))
        """
    assert severities(text.format(loop="if texts:"), "CL402") == ["note"]
    assert severities(text.format(loop="for text in texts:"), "CL402") == ["warning"]


def test_a_loader_is_told_all_the_same() -> None:
    assert severities(
        """
        def embed(model: nn.Module, rows: Dataset):
            for batch in DataLoader(rows):
                model(batch.cuda())
        """,
        "CL403",
    ) == ["warning"]


@pytest.mark.parametrize(("last", "severity"), [("compute", "note"), ("compute_loss", "warning")])
def test_a_metrics_last_word(last: str, severity: str) -> None:
    assert severities(f"""
        class Accuracy:
            def update(self, x: torch.Tensor):
                self.total = x.sum()

            def {last}(self, weight: torch.Tensor):
                return weight.sum().item()
        """) == [severity]


@pytest.mark.parametrize(
    ("decorator", "given", "severity"),
    [
        ("@functools.lru_cache(2)", "size: int", "note"),
        ("@functools.lru_cache(2)", "size: int, x: torch.Tensor", "warning"),
        ("", "size: int, device: torch.device", "warning"),
    ],
)
def test_what_is_cached(decorator: str, given: str, severity: str) -> None:
    assert severities(
        f"""
        {decorator}
        def window({given}, device=None):
            return torch.ones(size, device="cuda").sum().item()
        """
        if "device" not in given
        else f"""
        def window({given}):
            return torch.ones(size, device=device).sum().item()
        """
    ) == [severity]


def test_a_cache_in_place_of_a_method() -> None:
    text = """
        class Pattern:
            def __init__(self):
                {init}

            def mask(self, steps: int, device):
                return torch.ones(steps, device="cuda").sum().item()

            def apply(self, x: torch.Tensor):
                return x * self.mask(len(x), x.device)
        """
    assert severities(text.format(init="self.mask = functools.lru_cache(100)(self.mask)")) == ["note"]
    assert severities(text.format(init="self.masks = functools.lru_cache(100)(self.other)")) == ["warning"]


def test_another_way_to_build_a_module() -> None:
    text = """
        class Table({base}):
            @classmethod
            def of_rows(cls, rows: torch.Tensor):
                return cls(rows.max().item())
        """
    assert severities(text.format(base="nn.Module")) == ["note"]
    assert severities(text.format(base="dict")) == ["warning"]


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("if self.ready:\n            return\n        n = x.sum().item()\n        self.ready = True", "note"),
        ("if self.ready:\n            return\n        n = x.sum().item()\n        self.ready = n > 3", "warning"),
        ("if self.ready:\n            n = 1\n        n = x.sum().item()\n        self.ready = True", "warning"),
        ("if not self.ready:\n            n = x.sum().item()\n            self.ready = True", "note"),
        ("if not self.ready:\n            n = x.sum().item()\n            self.ready = n > 3", "warning"),
        ("if self.n is not None:\n            return\n        m = x.sum().item()\n        self.n = 3", "note"),
        ("if self.n is not None:\n            return\n        m = x.sum().item()\n        self.n = x", "warning"),
        ("if not hasattr(self, 'n'):\n            m = x.sum().item()\n            self.n = 3", "note"),
        ("if not hasattr(self, 'n'):\n            m = x.sum().item()", "note"),  # __init__ sets it
        ("if not hasattr(self, 'other'):\n            m = x.sum().item()", "warning"),
        ("if torch.isnan(x).any():\n            m = x.sum().item()", "note"),
        ("if x.isnan().any() or x.isinf().any():\n            m = x.sum().item()", "note"),
        ("if x.isnan().all():\n            m = x.sum().item()", "warning"),
        ("if torch.isfinite(x).any():\n            m = x.sum().item()", "warning"),
        ("if torch.isnan(x).any():\n            pass\n        else:\n            m = x.sum().item()", "warning"),
        ("if not hasattr(x, 'n'):\n            m = x.sum().item()\n            self.n = 3", "warning"),
    ],
)
def test_what_is_done_once(body: str, severity: str) -> None:
    assert severities(f"""
class Norm:
    def __init__(self):
        self.ready = False
        self.n = None

    def look(self, x: torch.Tensor):
        {body}
""") == [severity]


@pytest.mark.parametrize(
    ("name", "body", "severity"),
    [
        ("_init_thermostat", "self.mass = x.sum().item()", "note"),
        ("initialize_queue", "self.mass = x.sum().item()", "note"),
        ("_init_thermostat", "return x.sum().item()", "warning"),
        ("init_hidden", "self.mass = x.sum().item()", "warning"),
        ("thermostat", "self.mass = x.sum().item()", "warning"),
    ],
)
def test_what_prepares_its_object(name: str, body: str, severity: str) -> None:
    assert severities(f"""
        class Hook:
            def {name}(self, x: torch.Tensor):
                {body}
        """) == [severity]


@pytest.mark.parametrize(
    ("given", "test", "severity"),
    [
        ("verbose=False", "verbose", "note"),
        ("debug: bool = False", "self.debug", "note"),
        ("verbose=False", "self._verbose", "note"),
        ("verbose=False", "not self.verbose", "warning"),
        ("verbose=True", "self.verbose", "warning"),
        ("verbose", "self.verbose", "warning"),
        ("verbose=0", "verbose > 0", "note"),
        ("scaled=False", "self.scaled", "note"),
    ],
)
def test_a_flag_that_is_off(given: str, test: str, severity: str) -> None:
    name = given.partition("=")[0].partition(":")[0]
    assert severities(
        f"""
        class Net(nn.Module):
            def __init__(self, {given}):
                super().__init__()
                self.{name} = self._{name} = {name}

            def forward(self, x: torch.Tensor, {given}):
                if {test}:
                    print("scores", x.shape)
                return x * 2
        """,
        "CL110",
    ) == [severity]


@pytest.mark.parametrize(
    ("value", "severity"),
    [("nn.Linear(3, 3)", "note"), ("Adapter()", "note"), ("torch.zeros(3)", "warning"), ("nn.Parameter(x)", "warning")],
)
def test_a_method_that_adds_modules_sets_up(value: str, severity: str) -> None:
    assert severities(f"""
        class Adapter(nn.Module):
            pass

        class Net(nn.Module):
            def extend(self, name: str, x: torch.Tensor):
                self.parts[name] = {value}
                return x.mean().item()
        """) == [severity]


@pytest.mark.parametrize(
    ("table", "severity"),
    [
        ("self.scales", "note"),
        ("SCALES", "note"),
        ("self.scales[mode]", "note"),
        ("scales", "warning"),
        ("own", "warning"),
    ],
)
def test_what_fills_a_table_runs_once_for_each_key(table: str, severity: str) -> None:
    text = """
        SCALES = {}

        class Net(nn.Module):
            def scale(self, key: str, mode: str, x: torch.Tensor, scales: dict[str, float]):
                own = {}
                BODY
        """
    ways = (
        "if key not in TABLE:\n    TABLE[key] = x.max().item()",
        "if key not in TABLE:\n    found = x.max().item()\n    TABLE[key] = found",
        "table = self.scales\nif key not in TABLE:\n    with torch.no_grad():\n        TABLE[key] = x.max().item()",
        "found = TABLE.get(key)\nif found is None:\n    found = TABLE[key] = x.max().item()\nreturn found",
        "if key in TABLE:\n    return TABLE[key]\nfound = x.max().item()\nTABLE[key] = found\nreturn found",
        "found = TABLE.get(key)\nif found is not None:\n    return found\nTABLE[key] = x.max().item()",
    )
    for way in ways:
        body = way.replace("TABLE", table).replace("\n", "\n" + " " * 16)
        assert severities(text.replace("BODY", body)) == [severity], way


def test_a_table_that_is_filled_elsewhere_says_nothing() -> None:
    text = """
        class Net(nn.Module):
            def scale(self, key: str, x: torch.Tensor):
                {alias}
                if key not in {asked}:
                    {filled}[{place}] = x.max().item()
        """
    for alias, asked, filled, place, severity in (
        ("table = self.scales", "table", "table", "key", "note"),
        ("table = {}", "table", "table", "key", "warning"),
        ("pass", "self.others", "self.scales", "key", "warning"),
        ("pass", "self.scales", "self.scales", "key + '_'", "warning"),  # it is never found
    ):
        assert severities(text.format(alias=alias, asked=asked, filled=filled, place=place)) == [severity]


def test_kernels_of_other_compilers_hold_no_tensors() -> None:
    text = """
        from numba import cuda

        {decorator}
        def add(x: torch.Tensor, out: torch.Tensor):
            if x[0] > out[0]:
                out[0] = x[0].item()
        """
    assert severities(text.format(decorator="@cuda.jit()"), "CL101", "CL201") == []
    assert severities(text.format(decorator="@torch.no_grad()"), "CL101", "CL201") == ["warning", "warning"]


def test_a_forward_over_a_data_set_is_a_pass() -> None:
    text = """
        class Calibration(nn.Module):
            def forward(self, {given}):
                return scores(torch.zeros(3, device="cuda"))

        def scores(x: torch.Tensor):
            print(x.shape)
            return x
        """
    assert severities(text.format(given="loader: DataLoader"), "CL110") == []
    assert severities(text.format(given="x: torch.Tensor"), "CL110") == ["warning"]


@pytest.mark.parametrize(("test", "severity"), [("self.calls == 0", "note"), ("self.size == 0", "warning")])
def test_what_a_counter_leads_to_runs_every_so_often(test: str, severity: str) -> None:
    assert severities(f"""
        class Meter:
            def add(self, x: torch.Tensor):
                if {test}:
                    self.last = x.mean().item()
                self.calls += 1
        """) == [severity]


@pytest.mark.parametrize(
    ("caller", "severity"),
    [
        ("def plot(x: torch.Tensor):", "note"),
        ("class Net(nn.Module):\n    def __init__(self, x: torch.Tensor):", "note"),
        ("class Batch:\n    def __init__(self, x: torch.Tensor):", "warning"),
        ("def loss(x: torch.Tensor):", "warning"),
    ],
)
def test_what_is_called_to_draw_or_build(caller: str, severity: str) -> None:
    """Beside a call that runs once an epoch."""
    indent = "    " * (1 + caller.count("\n"))
    text = (
        "def spread(x: torch.Tensor):\n    return x.std().item()\n\ndef save_all(x: torch.Tensor):\n    spread(x)\n\n"
    )
    assert severities(text + f"{caller}\n{indent}spread(x)\n") == [severity]


def test_what_gives_a_module_a_buffer_sets_up() -> None:
    text = """
        def {name}(module: nn.Module, x: torch.Tensor):
            module.register_buffer("scale", x)
            return x.mean().item()
        """
    assert severities(text.format(name="convert")) == ["note"]
    assert severities(text.format(name="step")) == ["warning"]


SCORE = """
        def score(x: torch.Tensor):
            return x.sum().item()
        """


@pytest.mark.parametrize(
    ("caller", "severity"),
    [
        # a caller that works on a batch, and one that works on weights alone
        ("def loss(out: torch.Tensor):\n    return score(out)", "warning"),
        ("def loss(out):\n    return score(out)", "warning"),
        ("class Net(nn.Module):\n    def merge(self, safe: bool = False):\n        return score(self.weight)", "note"),
        (
            "class Net(nn.Module):\n    def clip(self):\n        return [score(p.grad) for p in self.parameters()]",
            "warning",
        ),
        ("class Rows(Dataset):\n    def __getitem__(self, n):\n        return score(self.rows[n])", "note"),
        ("def export_model(x: torch.Tensor):\n    return score(x)", "note"),
        (
            "class Net(nn.Module):\n    def __init__(self): ...\ndef f(x: torch.Tensor):\n    return score(x), Net()",
            "note",
        ),
        ("def tell(writer, x: torch.Tensor):\n    writer.add_scalar('x', score(x))", "note"),
        ("def fit_rows(rows: list[str]):\n    for row in load(rows):\n        score(row)", "warning"),
        ("def train_rows(rows: list[str]):\n    while rows:\n        score(load(rows))", "note"),  # of epochs
        ("def show_rows(rows: list[str]):\n    for row in load(rows):\n        score(row)", "note"),
        # it is not called there
        ("def merge(net: nn.Module):\n    '''calls score(x)'''", "warning"),
        ("def merge(net: nn.Module):\n    return net.score(1)", "warning"),
        # nobody knows who calls what is passed on
        ("def train(net: nn.Module):\n    net.hook = score", "warning"),
    ],
)
def test_what_only_seldom_run_code_calls(caller: str, severity: str) -> None:
    found = severities(f"{textwrap.dedent(SCORE)}\n{caller}\n")
    assert found == [severity]


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        ("net.total", "warning"),
        ("self.total", "note"),  # its own attribute
        ("total", "note"),
    ],
)
def test_a_name_means_what_its_object_has(other: str, severity: str) -> None:
    assert severities(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))

            @property
            def total(self):
                return self.weight.sum().item()

        class Head(nn.Module):
            def __init__(self):
                self.total = 3

            def loss(self, x: torch.Tensor, net, total):
                return x * {other}
        """) == [severity]


def test_what_nobody_calls_of_a_file_that_others_use(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "import torch\n\n"
        "def used(x: torch.Tensor):\n    return x.sum().item()\n\n"
        "def unused(x: torch.Tensor):\n    return x.sum().item()\n"
    )
    (tmp_path / "user.py").write_text(
        "import torch\nfrom tools import unused, used\n\ndef loss(x: torch.Tensor):\n    return used(x)\n"
    )
    assert [f.severity.value for f in api.check([tmp_path], Settings(select=("CL201",))).findings] == [
        "warning",
        "note",
    ]
    found = api.check([tmp_path / "tools.py"], Settings(select=("CL201",))).findings
    assert [f.severity.value for f in found] == ["warning", "warning"]


def test_a_break_where_a_part_is_made_the_first_time() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = None

            def forward(self, x: torch.Tensor):
                if {test}:
                    size = x.sum().item()
                    self.head = nn.Linear(size, 3)
                for step in range(3):
                    if step == 0:
                        x = x * x.sum().item()
                return x
        """
    assert severities(text.format(test="self.head is None"), "CL103") == ["note", "error"]
    assert severities(text.format(test="x.ndim > 1"), "CL103") == ["warning", "error"]


@pytest.mark.parametrize(("kind", "severity"), [("Table", "warning"), ("dict", "note")])
def test_methods_that_containers_have_too(kind: str, severity: str) -> None:
    """`names.update(…)` is the table's where it is one."""
    assert severities(
        f"""
        class Table(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))

            def update(self, force: bool = False):
                return self.weight.sum().item()

        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                made = {kind}()
                made.update()
                return x

            def renew(self):
                return Table().update()
        """,
        "CL201",
        "CL103",
    ) == [severity]
