"""What `compiled` makes of code that nobody compiles explicitly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from compilelint import api
from compilelint.config import Settings

CODE = """import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            return x + 1
        return helper(x)


def helper(x: torch.Tensor):
    return x if x.max() > 1 else x * 2


def beside(x: torch.Tensor):
    return x if x.min() > 1 else x * 2
"""


@pytest.mark.parametrize(
    ("mode", "breaks"),
    [
        ("auto", {6: "warning", 12: "warning"}),
        ("modules", {6: "error", 12: "error"}),
        ("all", {6: "warning", 12: "warning", 16: "warning"}),
    ],
)
def test_breaks_by_mode(tmp_path: Path, mode: str, breaks: dict[int, str]) -> None:
    path = tmp_path / "net.py"
    path.write_text(CODE)
    found = api.check([path], replace(Settings(), compiled=mode))  # type: ignore[arg-type]
    assert {f.span.line: f.severity.value for f in found.findings if "graph-break" in f.effects} == breaks


KEPT_OUT = """import torch


@torch.compiler.disable
def log(x: torch.Tensor):
    print(x.item())


@torch.library.custom_op("t::op", mutates_args=())
def op(x: torch.Tensor) -> torch.Tensor:
    return x * x.sum().item()


@op.register_fake
def _(x: torch.Tensor):
    return torch.empty(x.item())


@torch.library.impl("t::other", "CPU")
def other(x: torch.Tensor):
    return x * x.sum().item()


@op.register_kernel("cuda")
def kernel(x: torch.Tensor):
    return x * x.sum().item()


@torch.no_grad()
def traced(x: torch.Tensor):
    return x.item()
"""


def test_what_dynamo_is_kept_out_of_has_no_breaks(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(KEPT_OUT)
    found = api.check([path], replace(Settings(), compiled="all")).findings
    assert [f.span.line for f in found if "graph-break" in f.effects] == [31]
    assert all("sync" in f.effects for f in found) and len(found) == 6
