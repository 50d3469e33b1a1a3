"""What only a flag leads to that is off by default: a note, unless a call turns the flag."""

from __future__ import annotations

import textwrap

import pytest

from compilelint import api
from compilelint.config import Settings

HEAD = """\
import torch
from torch import nn

"""


def severities(text: str, code: str = "CL201") -> list[str]:
    source = (HEAD + textwrap.dedent(text)).encode()
    found = api.check_source(source, "m.py", Settings(select=(code,))).findings
    return [finding.severity.value for finding in found]


@pytest.mark.parametrize(
    ("parameter", "test", "severity"),
    [
        ("stats=False", "stats", "note"),
        ("stats: bool | None = None", "stats", "note"),
        ("stats=False", "bool(stats) and x.ndim > 1", "note"),
        ("stats=True", "not stats", "note"),
        ("stats=True", "stats", "warning"),
        ("stats=False", "not stats", "warning"),
        ("stats=False", "stats or x.ndim > 1", "warning"),
        ("stats=None", "stats is None", "warning"),
        ("stats=None", "stats is not None", "warning"),
        ("stats: float | None = None", "stats is not None", "warning"),
        ("stats", "stats", "warning"),
        ("mode='a'", "mode == 'b'", "note"),
        ("mode='a'", "mode != 'a'", "note"),
        ("mode='a'", "mode == 'a'", "warning"),
        ("deterministic=False", "deterministic", "warning"),
    ],
)
def test_a_parameter_that_is_off(parameter: str, test: str, severity: str) -> None:
    assert severities(f"""
        def loss(x: torch.Tensor, {parameter}):
            if {test}:
                x.mean().item()
        """) == [severity]
    assert severities(f"""
        def loss(x: torch.Tensor, {parameter}):
            if not ({test}):
                return
            x.mean().item()
        """) == [severity]


@pytest.mark.parametrize(
    ("passed", "severity"),
    [
        ("x", "note"),
        ("x, False", "note"),
        ("x, stats=more", "note"),
        ("x, kept", "note"),
        ("x, stats=True", "warning"),
        ("x, settings.stats", "warning"),
        ("x, stats=settings.output_attentions", "note"),
        ("x, options.get('stats', False)", "note"),
    ],
)
def test_what_calls_pass(passed: str, severity: str) -> None:
    assert severities(f"""
        def loss(x: torch.Tensor, stats=False):
            if stats:
                x.mean().item()

        def run(x: torch.Tensor, settings, options, more=None):
            kept = more if more is not None else False
            loss({passed})
        """) == [severity]


@pytest.mark.parametrize(
    ("stored", "made", "severity"),
    [
        ("stats", "Net()", "note"),
        ("stats", "Net(True)", "warning"),
        ("stats and torch.cuda.is_available()", "Net()", "note"),
        ("stats or torch.cuda.is_available()", "Net()", "warning"),
        ("False", "Net()", "note"),
        ("False", "Net().turn()", "warning"),
        ("False\nNet().stats = True", "Net()", "warning"),
    ],
)
def test_an_attribute_that_is_off(stored: str, made: str, severity: str) -> None:
    stored, _, outside = stored.partition("\n")
    assert severities(f"""
        class Net(nn.Module):
            def __init__(self, stats: bool = False):
                super().__init__()
                self.stats = {stored}

            def turn(self):
                self.stats = True

            def loss(self, x: torch.Tensor):
                if self.stats:
                    x.mean().item()
                return x

        def main():
            {made}
            {outside or "pass"}
        """) == [severity]


@pytest.mark.parametrize(
    ("parameter", "test", "severity"),
    [
        ("scale: float | None = None", "self.scale is not None", "note"),
        ("scale: Optional[float] = None", "self.scale is None", "warning"),
        ("scale: torch.Tensor | None = None", "self.scale is not None", "warning"),
    ],
)
def test_a_setting_that_is_left_out(parameter: str, test: str, severity: str) -> None:
    assert severities(f"""
        class Net:
            def __init__(self, {parameter}):
                self.scale = scale

            def loss(self, x: torch.Tensor):
                if {test}:
                    x.mean().item()
        """) == [severity]


def test_a_class_variable_that_is_off() -> None:
    text = """
        class Net(nn.Module):
            stats: bool = False

            def loss(self, x: torch.Tensor):
                if self.stats:
                    x.mean().item()
        """
    assert severities(text) == ["note"]
    other = """
        class Other(Net):
            stats = True
        """
    assert severities(textwrap.dedent(text) + textwrap.dedent(other)) == ["warning"]


def test_what_is_called_where_a_flag_leads() -> None:
    text = """
        def tell(x: torch.Tensor):
            return x.mean().item()

        def loss(x: torch.Tensor, stats=False):
            if stats:
                tell(x)
            {rest}
        """
    assert severities(text.format(rest="return x")) == ["note"]
    assert severities(text.format(rest="return tell(x)")) == ["warning"]


def test_the_message_says_why() -> None:
    text = """
        def loss(x: torch.Tensor, stats=False, plain=True):
            if stats:
                x.mean().item()
            if plain:
                return
            x.mean().item()
        """
    source = (HEAD + textwrap.dedent(text)).encode()
    found = api.check_source(source, "m.py", Settings(select=("CL201",))).findings
    assert [finding.message.partition("; ")[2] for finding in found] == [
        "seldom run: by default `stats` is false",
        "seldom run: by default `plain` is true",
    ]


@pytest.mark.parametrize(
    ("filler", "severity"), [("def merge(self, name):", "note"), ("def forward(self, x, name):", "warning")]
)
def test_a_list_that_only_the_user_fills(filler: str, severity: str) -> None:
    """What stands under a property of it that says whether there is anything in it."""
    text = f"""
        class Adapter(nn.Module):
            done: list = []

            def __init__(self):
                super().__init__()
                self.done = []

            @property
            def merged(self):
                '''Whether one is.'''
                return bool(self.done)

            {filler}
                self.done.append(name)

            def undo(self, x: torch.Tensor):
                self.done.pop()
                return x.sum().item()

        class Net(Adapter):
            def step(self, x: torch.Tensor):
                if self.merged:
                    self.undo(x)
        """
    assert severities(text) == [severity]


def test_what_only_a_flag_leads_to_makes_nothing_hot() -> None:
    text = """
        def score(x: torch.Tensor):
            return x.sum().item()

        class Net(nn.Module):
            def merge(self):
                return score(self.weight)

            def tell(self, x: torch.Tensor, {on}):
                return self.inner(x) if on else x

            def inner(self, x: torch.Tensor):
                return x, score(self.weight)
        """
    assert severities(text.format(on="on=False")) == ["note"]
    assert severities(text.format(on="on")) == ["warning"]


@pytest.mark.parametrize(
    ("default", "test", "severity"),
    [
        ("False", "self.net.stats", "note"),
        ("False", "self.net.stats and x.ndim > 1", "note"),
        ("True", "self.net.stats", "warning"),
        ("False", "self.net.config.stats", "warning"),
        ("False", "net.stats", "note"),
        ("False", "config.stats", "warning"),
    ],
)
def test_a_part_that_may_be_any_module(default: str, test: str, severity: str) -> None:
    assert severities(f"""
        class Net(nn.Module):
            def __init__(self, stats={default}):
                super().__init__()
                self.stats = stats

        class Loss(nn.Module):
            def __init__(self, net):
                super().__init__()
                self.net = net

            def loss(self, x: torch.Tensor, net, config):
                if {test}:
                    x.mean().item()
        """) == [severity]


@pytest.mark.parametrize(
    ("added", "severity"),
    [
        ("'--with-stats', action='store_true'", "note"),
        ("'-s', '--with-stats', action='store_true', help='tells more'", "note"),
        ("'--with-stats', action='store_false'", "warning"),
        ("'--with-stats', type=int", "warning"),
    ],
)
def test_an_option_that_is_not_given(added: str, severity: str) -> None:
    assert severities(f"""
        import argparse

        def loss(x: torch.Tensor, args):
            if args.with_stats:
                x.mean().item()

        def options():
            parser = argparse.ArgumentParser()
            parser.add_argument({added})
            return parser.parse_args()
        """) == [severity]


@pytest.mark.parametrize(
    ("test", "passed", "severity"),
    [
        ("scale is not None", "x", "note"),
        ("scale is None", "x", "warning"),
        ("scale", "x", "note"),
        ("scale is not None", "x, x", "warning"),
        ("scale is not None", "x, scale=x.mean()", "warning"),
        ("scale is not None", "*given", "warning"),
        ("scale is not None", "x, **more", "warning"),
        ("scale is not None", "x); other.loss(x, scale=x", "warning"),
    ],
)
def test_a_parameter_that_no_call_passes(test: str, passed: str, severity: str) -> None:
    assert severities(f"""
        def loss(x: torch.Tensor, scale=None):
            if {test}:
                x.mean().item()

        def run(x: torch.Tensor, given, more, other):
            loss({passed})
        """) == [severity]


def test_a_forward_is_called_from_elsewhere_too() -> None:
    assert severities(
        """
        class Net(nn.Module):
            def forward(self, x: torch.Tensor, mask=None):
                if mask is not None:
                    x.mean().item()

        class Loss(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = Net()

            def loss(self, x: torch.Tensor):
                return self.net(x)
        """,
        "CL103",
    ) == ["warning"]
