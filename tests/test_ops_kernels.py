"""The Triton kernels against plain torch: on a GPU, or anywhere in Triton's interpreter (TRITON_INTERPRET=1)."""

from __future__ import annotations

import math
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("needs CUDA, or TRITON_INTERPRET=1", allow_module_level=True)


from compilelint.ops import pointers, reduce_triton, register  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HOWS = ["sum", "mean", "max", "square"]
DTYPES = list(pointers.KINDS)
SIZES = st.lists(st.sampled_from([0, 1, 3, 7, 8, 9, 63, 64, 100, 4095, 4096, 4097, 9000]), min_size=1, max_size=6)


def planned(tensors: list[Any]) -> pointers.Plan:
    found = pointers.scan(tensors)
    assert found is not None
    return pointers.plan(found)


def close(ours: Any, wanted: Any, tensors: list[Any]) -> None:
    """Within the rounding of sums in another order."""
    assert ours.dtype == wanted.dtype and ours.shape == wanted.shape
    scale = max([float(t.detach().double().abs().sum()) for t in tensors] + [1.0])
    eps = torch.finfo(wanted.dtype).eps
    torch.testing.assert_close(ours, wanted, rtol=16 * eps, atol=8 * eps * scale, equal_nan=True)


def drawn(sizes: list[int], dtypes: list[Any], skew: int = 0) -> list[Any]:
    """Random tensors; `skew` elements behind an aligned address."""
    generator = torch.Generator().manual_seed(sum(sizes) + len(sizes))
    made = []
    for place, size in enumerate(sizes):
        whole = torch.randn(size + skew, generator=generator, dtype=torch.float64)
        made.append(whole.to(DEVICE, dtypes[place % len(dtypes)])[skew:])
    return made


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("dtypes", [[dtype] for dtype in DTYPES] + [DTYPES], ids=str)
@settings(max_examples=8, deadline=None)
@given(sizes=SIZES, skew=st.integers(0, 9))
def test_each(how: Any, dtypes: list[Any], sizes: list[int], skew: int) -> None:
    tensors = drawn(sizes, dtypes, skew)
    close(reduce_triton.reduce(planned(tensors), how), register.reduce_each(tensors, how), tensors)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("dtypes", [[DTYPES[0]], DTYPES], ids=str)
def test_tensors_that_are_cut(how: Any, dtypes: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointers, "LONGEST", 64)
    monkeypatch.setattr(pointers, "SHORTEST", 64)
    monkeypatch.setattr(pointers, "_recent", [])
    tensors = drawn([1000, 0, 64, 65, 1, 20000], dtypes, skew=1)
    plan = planned(tensors)
    assert not plan.single
    close(reduce_triton.reduce(plan, how), register.reduce_each(tensors, how), tensors)
    if how == "sum":
        close(reduce_triton.reduce(plan, how, whole=True), register.reduce_all(tensors), tensors)
    monkeypatch.setattr(pointers, "_recent", [])


@settings(max_examples=20, deadline=None)
@given(sizes=SIZES, dtype=st.sampled_from(DTYPES))
def test_whole(sizes: list[int], dtype: Any) -> None:
    tensors = drawn(sizes, [dtype])
    close(reduce_triton.reduce(planned(tensors), "sum", whole=True), register.reduce_all(tensors), tensors)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bad", [math.nan, -math.nan, math.inf, -math.inf, None], ids=str)
@pytest.mark.parametrize("at", [0, 7, 8, 4096, 5003])
def test_finite(dtype: Any, bad: float | None, at: int) -> None:
    tensors = drawn([17, 5004, 0], [dtype], skew=3)
    if bad is not None:
        tensors[1][at] = bad
    plan = planned(tensors)
    found = reduce_triton.reduce(plan, "max", whole=True, finite=True)
    assert found.dtype == torch.bool and found.shape == () and bool(found) is (bad is None)
    each = reduce_triton.reduce(plan, "max")
    torch.testing.assert_close(each, register.reduce_each(tensors, "max"), equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize("how", ["sum", "mean", "square"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shared", [False, True])
def test_spread(how: Any, dtype: Any, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointers, "_recent", [])
    monkeypatch.setattr(pointers, "LONGEST", 2048)
    monkeypatch.setattr(pointers, "SHORTEST", 2048)
    tensors = drawn([5, 0, 3000, 2048], [dtype])
    grads = torch.tensor(1.5) if shared else torch.tensor([1.0, 2.0, 3.0, 4.0])
    grads = grads.to(DEVICE, register.accumulator(tensors))
    ours = reduce_triton.spread(planned(tensors), grads, how)
    values = tensors if how == "square" else []
    torch.testing.assert_close(ours, register.spread(grads, values, [5, 0, 3000, 2048], dtype, how))
    monkeypatch.setattr(pointers, "_recent", [])


def test_same_each_time() -> None:
    tensors = drawn([70000, 5, 131072], [torch.float32])
    results = [reduce_triton.reduce(planned(tensors), "sum", whole=True) for _ in range(5)]
    assert all(torch.equal(result, results[0]) for result in results)
