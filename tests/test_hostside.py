"""Tensors that all calls in sight keep on the host, and devices that are no other than those things are on."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from compilelint import api
from compilelint.config import Settings


def lines(text: str, *codes: str) -> list[int]:
    source = ("import torch\nfrom torch import nn\n" + textwrap.dedent(text)).encode()
    found = api.check_source(source, "m.py", Settings(select=codes or ("CL201",))).findings
    return [finding.span.line for finding in found]


CALLED = """
def total(pair: tuple[torch.Tensor, torch.Tensor]):
    x, y = pair
    z = {made}
    return z.sum().item()

def report(a):
    total((torch.ones(3), {other}))
"""


@pytest.mark.parametrize(
    ("made", "other", "told"),
    [
        ("x.detach() * 2", "torch.zeros(3)", False),
        ("x.to(torch.float32)", "torch.zeros(3)", True),  # it may be a device, as far as the history tells
        ("x.detach()", "torch.zeros(3).cuda()", True),
        ("x.detach()", "a", True),
        ("torch.zeros_like(x, device='cuda')", "torch.zeros(3)", True),
        ("nn.Linear(3, 3)(x)", "torch.zeros(3)", True),
    ],
)
def test_what_is_made_of_a_parameter(made: str, other: str, told: bool) -> None:
    assert bool(lines(CALLED.format(made=made, other=other))) is told


CHAIN = """
def inner(x: torch.Tensor, depth: int):
    if depth:
        inner(x, depth - 1)
    return x.sum().item()

def outer(x: torch.Tensor):
    return inner(x, 3)

def report(x: torch.Tensor):
    {call}
"""


@pytest.mark.parametrize(("call", "told"), [("outer(x.cpu())", False), ("outer(x)", True), ("pass", True)])
def test_calls_of_calls(call: str, told: bool) -> None:
    assert bool(lines(CHAIN.format(call=call))) is told


BY_NAME = """
class Base:
    def update(self, x: torch.Tensor):
        raise NotImplementedError

class Sum{base}:
    def update(self, x: torch.Tensor):
        return x.sum().item()

def report(metrics, metric: {kind}, x: torch.Tensor):
    {call}
"""


@pytest.mark.parametrize(
    ("base", "kind", "call", "told"),
    [
        ("", "object", "metrics['sum'].update(x.cpu())", False),
        ("", "object", "metrics['sum'].update(x=x.cpu())", False),
        ("", "object", "metrics['sum'].update(x)", True),
        ("", "object", "metrics['sum'].update(x.cpu(), x.cpu())", True),  # another one
        ("", "object", "metrics['sum'].add(x.cpu())", True),
        ("(Base)", "Base", "metric.update(x.cpu())", False),
        ("", "Base", "metric.update(x.cpu())", True),
    ],
)
def test_methods_of_objects_that_nobody_knows(base: str, kind: str, call: str, told: bool) -> None:
    assert bool(lines(BY_NAME.format(base=base, kind=kind, call=call))) is told


def test_calls_of_tests_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "import torch\n\ndef total(x: torch.Tensor):\n    return inner(x)\n\n"
        "def inner(x: torch.Tensor):\n    return x.sum().item()\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "calls.py").write_text("import torch\nimport m\n\nm.total(torch.ones(3))\n")
    found = api.check([tmp_path], Settings(select=("CL201",))).findings
    assert [finding.span.line for finding in found] == [7]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("place(x)", []),
        ("place(x, 'cpu')", [4]),
        ("place(x, torch.device('cpu'))", [4]),
        ("x.to(torch.ones(3).device)", []),
        ("x.to('cpu')", [7]),
    ],
)
@pytest.mark.parametrize("default", ['"cpu"', 'torch.device("cpu")'])
def test_a_default_device_is_where_things_are(call: str, told: list[int], default: str) -> None:
    text = f"def place(x, device={default}):\n    return x.to(device)\n\ndef step(x: torch.Tensor):\n    {call}\n"
    assert lines(text, "CL202") == told


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("tokenizer(texts, return_tensors='pt')", False),
        ("tokenizer(texts, return_tensors='pt', device='cuda')", True),
        ("tokenizer(texts, return_tensors='pt').to('cuda')", True),
        ("tokenizer(texts)", True),
    ],
)
def test_a_tokenizers_tensors_are_on_the_host(call: str, told: bool) -> None:
    text = (
        f"def ends(tokenizer, texts, model: nn.Module):\n    ids = {call}\n    return bool(ids['ids'].detach().all())\n"
    )
    assert bool(lines(text, "CL201", "CL101")) is told


def test_what_a_batch_holds_is_where_the_batch_is() -> None:
    text = """
        from torch.utils.data import DataLoader

        def count(loader: DataLoader):
            for batch in loader:
                _, edges = batch.edges
                yield torch.unique(edges).numel()

        def train(loader: DataLoader, net):
            for batch in loader:
                net(torch.unique(batch.edges.cuda())).backward()
        """
    assert lines(text, "CL203") == [13]
    own = """
        from torch.utils.data import DataLoader

        class Loader(DataLoader):
            {iterates}

        def count(loader: Loader):
            for batch in loader:
                yield torch.unique(batch.edges).numel()
        """
    assert not lines(own.format(iterates="def size(self):\n                return 3"), "CL203")
    moved = "def __iter__(self):\n                for x in super().__iter__():\n                    yield x.cuda()"
    assert lines(own.format(iterates=moved), "CL203") == [13]
