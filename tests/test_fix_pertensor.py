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


KEPT = [
    "for p in params:\n        p.mul_(2)\n    return p",  # the last one
    "for p in params:\n        p.mul_(2)\n    return lambda: p",
    "for p in params:\n        p.mul_(scale)\n    return params",  # may be a vector
    "for p in params:\n        p.clamp_(0.0, None)\n    return params",
    "for p in params:\n        p.mul_(2).add_(1)\n    return params",  # one may be there twice
    "for p, q in zip(params[1:], params[:-1]):\n        p.add_(q)\n    return params",
    "for t in params:\n        total = total + t\n    return total, t",
    "for t in params:\n        total += t.pow(2).sum()\n    return total, t",
    "losses = [p.sum().item() for p in params]\n    if scale:\n        losses = params\n    return sum(losses)",
]


@pytest.mark.parametrize("body", KEPT)
def test_what_may_compute_something_else_stays(tmp_path: Path, body: str) -> None:
    code = f"import torch\n\n\ndef f(params: list[torch.Tensor], scale, total):\n    {body}\n"
    path = tmp_path / "m.py"
    path.write_text(code, encoding="utf-8")
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True, "select": ("CL301", "CL302")})
    assert not api.fix([path], settings, apply=True).result.applied
    assert path.read_text(encoding="utf-8") == code


ALIKE = [
    "for p, name in zip(params, 'ab'):\n        p.add_(1)\n    return params",  # `zip` stops early
    "total = sum(p.pow(2).sum() for p, name in zip(params, 'ab'))\n    return [total]",
    "held = dict(enumerate(params))\n    for p in held.values():\n        p.mul_(2)\n    return params",
]


@pytest.mark.parametrize("body", ALIKE)
def test_lists_are_those_of_the_loop(tmp_path: Path, body: str) -> None:
    results = []
    for apply in (False, True):
        path = tmp_path / f"m{apply}.py"
        path.write_text(f"import torch\n\n\ndef f(params: list[torch.Tensor]):\n    {body}\n", encoding="utf-8")
        settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True, "select": ("CL301", "CL302")})
        assert api.fix([path], settings, apply=apply).result.applied
        results.append(loaded(path).f([torch.full((2,), float(n)) for n in range(3)]))
    torch.testing.assert_close(*results)
