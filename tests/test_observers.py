"""What the fixtures are compared with: the observers of Dynamo and of reads see what is there, and only that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from dynamo import observe  # noqa: E402
from hostreads import host_reads  # noqa: E402


def written(tmp_path: Path, body: str) -> tuple[Path, dict[str, Any]]:
    """A file, and what it defines."""
    path = tmp_path / "observed.py"
    path.write_text(body, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(body, str(path), "exec"), names)
    return path, names


DYNAMO = """\
import torch
def whole(x):
    return x * 2
def broken(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2
def branching(x):
    if x.sum() > 0:
        return x + 1
    return x - 1
def failing(x):
    raise ValueError("no")
"""


def test_dynamo_breaks_are_seen(tmp_path: Path) -> None:
    path, names = written(tmp_path, DYNAMO)
    x = torch.ones(3)
    whole = observe(names["whole"], (x,), str(path))
    assert (whole.lines, whole.graphs, whole.error) == (set(), 1, None)
    broken = observe(names["broken"], (x,), str(path))
    assert (broken.lines, broken.graphs, broken.error) == ({6}, 2, None)
    assert observe(names["branching"], (x,), str(path)).breaks == [(9, "Data-dependent branching")]
    assert isinstance(observe(names["failing"], (x,), str(path)).error, ValueError)


READS = """\
import torch
def run(x):
    x.sum().item()
    x.tolist()
    x.to(x.device)
    x[x > 0]
    torch.nonzero(x)
    torch.tensor([1.0], device=x.device)
    x[0] = 1.0
    torch.normal(x, x)
    torch.cuda.synchronize()
def silent(x):
    x.to(torch.float64).to(dtype=torch.float32)
    x.sum() + torch.tensor([1.0])
    x[1:] = 1.0
    x[x > 0] = 1.0
    torch.normal(x, 1.0)
    torch.histc(x, 4, 0, 1)
    torch.as_tensor(x, device=x.device)
"""


def test_reads_are_seen(tmp_path: Path) -> None:
    path, names = written(tmp_path, READS)
    seen: set[int] = set()
    with host_reads(path, seen):
        names["run"](torch.ones(3))
    assert seen == set(range(3, 12))
    with host_reads(path, seen := set()):
        names["silent"](torch.ones(3))
    assert seen == set()
