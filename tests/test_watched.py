"""Checks of a step loop that became a FiniteGuard raise in the cases in which they did."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from fixturefiles import load

torch = pytest.importorskip("torch")

FIXTURES = Path(__file__).parent.parent / "fixtures"
FIT = [load(FIXTURES / name).fit for name in ("cl201_watched.py", "cl201_watched.fixed.py")]


def parts(*batches: float) -> Any:
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 2)
    return net, torch.optim.SGD(net.parameters(), lr=0.1), [torch.full((4, 3), x) for x in batches]


@pytest.mark.parametrize("fit", FIT)
@pytest.mark.parametrize("bad", [0, 1])
def test_a_bad_step_raises(fit: Any, bad: int) -> None:
    batches = [1.0, 1.0]
    batches[bad] = math.nan
    with pytest.raises(ArithmeticError):
        fit(*parts(*batches))


@pytest.mark.parametrize("fit", FIT)
def test_a_bad_gradient_raises(fit: Any) -> None:
    net, opt, batches = parts(1.0)
    net.bias.register_hook(lambda grad: grad * math.inf)
    with pytest.raises(ArithmeticError):
        fit(net, opt, batches)


@pytest.mark.parametrize("fit", FIT)
def test_good_steps_and_none(fit: Any) -> None:
    assert fit(*parts(1.0, 2.0)) == 2
    assert fit(*parts()) == 0
