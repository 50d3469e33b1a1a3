"""A function of a C++ extension in compiled code, and the operator that fix wraps it in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compilelint import api
from compilelint.fixing import FixRun

SOURCE = """\
import torch
from torch.utils.cpp_extension import load_inline

CODE = "torch::Tensor scaled(torch::Tensor x, double by) { return x * by; }"
ext = load_inline(name="wrapped_ext", cpp_sources=CODE, functions=["scaled"])


@torch.compile(backend="eager")
def once(x: torch.Tensor) -> torch.Tensor:
    return ext.scaled(x + 1, 0.5).relu()


@torch.compile(backend="eager")
def twice(x: torch.Tensor) -> torch.Tensor:
    return ext.scaled(ext.scaled(x, 2.0) * 3, 4.0)
"""
RUN = """
import sys
sys.path[:0] = [sys.argv[1]]
import torch, model
from torch._dynamo.utils import counters
x = torch.tensor([1.0, -3.0])
print(model.once(x).tolist(), model.twice(x).tolist(), sum(counters["graph_break"].values()))
"""


def fixed(folder: Path) -> FixRun:
    path = folder / "model.py"
    path.write_text(SOURCE, encoding="utf-8")
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True, "select": ("CL501",)})
    return api.fix([path], settings, apply=True)


WRAPPER = """


@torch.library.custom_op("model::ext_scaled", mutates_args=())
def ext_scaled(a0: torch.Tensor, a1: float) -> torch.Tensor:
    return ext.scaled(a0, a1)


@ext_scaled.register_fake
def _(a0: torch.Tensor, a1: float) -> torch.Tensor:
    return torch.empty_like(a0)


@torch.compile"""


def test_found_and_wrapped(tmp_path: Path) -> None:
    assert fixed(tmp_path).exit_code == 0
    text = (tmp_path / "model.py").read_text(encoding="utf-8")
    assert WRAPPER in text
    settings = api.load_settings(isolated=True, overrides={"select": ("CL501",)})
    assert api.check([tmp_path / "model.py"], settings).findings == []


@pytest.mark.slow
def test_breaks_before_and_not_after(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    results = []
    for step in range(2):
        (tmp_path / "model.py").write_text(SOURCE, encoding="utf-8")
        if step:
            fixed(tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        if "Ninja is required" in done.stderr or "Error checking compiler" in done.stderr:
            pytest.skip("no compiler")
        results.append(done.stdout.rpartition(" "))
        assert done.returncode == 0, done.stderr
    (before, _, breaks), (after, _, left) = results
    assert before == after == "[1.0, 0.0] [24.0, -72.0]"
    assert int(breaks) >= 2 and int(left) == 0


NUMBA = """\
import numba
import numpy as np
import torch
from torch import Tensor


@numba.njit
def clipped(x: np.ndarray, most: float) -> np.ndarray:
    return np.minimum(x, most)


def host(x: np.ndarray) -> np.ndarray:
    return clipped(x, 1.0)


@torch.compile
def scaled(x: Tensor) -> Tensor:
    return 2 * torch.from_numpy(clipped(x.numpy(), 1.0))
"""


def test_a_function_of_numba_is_wrapped_with_what_makes_a_tensor_of_it(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(NUMBA, encoding="utf-8")
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True, "select": ("CL501",)})
    api.fix([path], settings, apply=True)
    text = path.read_text(encoding="utf-8")
    assert "    return torch.from_numpy(clipped(x.numpy(), 1.0))\n" in text
    assert text.endswith("    return 2 * clipped_operator(x)\n")
    assert "@clipped_operator.register_fake" in text


TWO = """\
import ctypes

import torch

LIBC = ctypes.CDLL(None)


@torch.compile
def cleared(x: torch.Tensor) -> torch.Tensor:
    LIBC.memset(x.data_ptr(), 0, 4)
    return x


@torch.compile
def filled(x: torch.Tensor, n: int) -> torch.Tensor:
    LIBC.memset(x.data_ptr(), n, 4)
    return x
"""


def test_operators_of_one_file_have_names_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(TWO, encoding="utf-8")
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True, "select": ("CL501",)})
    api.fix([path], settings, apply=True)
    text = path.read_text(encoding="utf-8")
    assert "    memset_operator(x)\n" in text and "    memset_operator_2(x, n)\n" in text
    assert text.count("::memset_operator") == 2 and text.count('::memset_operator_2"') == 1
