"""A loop of epochs around the steps: what it reads once an epoch is no metric of each step, and where sums are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from compilelint import api
from compilelint.config import Settings

CODE = """import torch
from torch import nn


def train(epochs: int, batches: list[torch.Tensor], opt: torch.optim.Optimizer) -> list[float]:
    model = nn.Linear(3, 3)
    history = []
    for epoch in range(epochs):
        running = 0.0
        for x in batches:
            loss = model(x).sum()
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"epoch {epoch}: {running / 10:.4f}")
        history.append(loss.item())
    return history
"""
FIXED = CODE.replace("running += loss.item()", "running += loss.detach()").replace(
    '        print(f"epoch', '        running = float(running)\n        print(f"epoch'
)


def test_only_the_steps_are_hot(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(CODE)
    found = api.check([path], Settings()).findings
    assert [(f.code, f.span.line) for f in found] == [("CL204", 14)]


def test_a_sum_shown_in_an_f_string_is_read_behind_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(CODE)
    settings = replace(Settings(), python=(3, 11), unsafe_fixes=True)
    api.fix([path], settings, apply=True)
    assert path.read_text() == FIXED
    api.fix([path], settings, apply=True)
    assert path.read_text() == FIXED


def test_a_script_is_no_rare_program(tmp_path: Path) -> None:
    """What runs under `__name__ == "__main__"` runs once; the steps of the loops that it calls do not."""
    path = tmp_path / "train.py"
    path.write_text(CODE + '\n\nif __name__ == "__main__":\n    print(train(3, [], None))\n')
    found = api.check([path], Settings()).findings
    assert [(f.code, f.span.line, f.severity.name) for f in found] == [("CL204", 14, "WARNING")]


def test_a_library_tried_by_its_own_module_is_no_rare_one(tmp_path: Path) -> None:
    """A forward that nothing but `if __name__ == "__main__":` calls here is called by others, at each step."""
    path = tmp_path / "net.py"
    path.write_text(
        """import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.tensor([1.0, 2.0], device=x.device)


if __name__ == "__main__":
    print(Net()(torch.ones(2)).shape)
"""
    )
    found = api.check([path], Settings()).findings
    assert [(f.code, f.span.line, f.severity.name) for f in found] == [("CL401", 6, "WARNING")]
