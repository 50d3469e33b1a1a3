"""CL302 on loops made of random statements: what `_foreach_` functions compute is what the loop did."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from typing import Any

import pytest

from compilelint import api

torch = pytest.importorskip("torch")

STATEMENTS = """\
q.mul_(0.9).add_(p, alpha=0.1)
q.lerp_(p, 0.3)
q.data.copy_(0.2 * p.data + (1 - 0.2) * q.data)
q.copy_((1 - 0.2) * q + 0.2 * p)
q.add_(0.5 * p)
q.sub_(p * 0.5)
q.sub_(p, alpha=2.0)
q.mul_(p)
q.div_(p)
q.copy_(p.detach())
q -= 0.1 * p
q *= 3
q /= p
q.addcmul_(p, p, value=-0.5)
q.addcdiv_(p, p)
q.clamp_(-0.5, 0.5)
q.clamp_(min=-1, max=0.2)
q.clamp_min_(0.1)
q.abs_()
q.neg_()
q.add_(1.5)
q.pow_(2)
q.zero_()""".splitlines()
HEAD = "import torch\nfrom torch import nn\n"
FUNCTION = """

@torch.no_grad()
def f{place}(a: nn.Module, b: nn.Module) -> list[torch.Tensor]:
    for p, q in zip(a.parameters(), b.parameters()):
        {body}
    return [t.clone() for t in b.parameters()]
"""


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_as_the_loop(tmp_path: Path) -> None:
    draw = random.Random(0)
    bodies = [[each] for each in STATEMENTS] + [draw.sample(STATEMENTS, draw.randint(2, 3)) for _ in range(40)]
    source = HEAD + "".join(
        FUNCTION.format(place=place, body="\n        ".join(body)) for place, body in enumerate(bodies)
    )
    for name in ("before", "after"):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True, "select": ("CL302",)})
    assert api.fix([tmp_path / "after.py"], settings, apply=True).result.applied == len(bodies)
    before, after = loaded(tmp_path / "before.py"), loaded(tmp_path / "after.py")
    for place, body in enumerate(bodies):
        results = []
        for module in (before, after):
            torch.manual_seed(0)
            results.append(getattr(module, f"f{place}")(torch.nn.Linear(5, 5), torch.nn.Linear(5, 5)))
        for old, new in zip(*results, strict=True):
            torch.testing.assert_close(new, old, rtol=1e-5, atol=1e-6, equal_nan=True, msg=str(body))
