"""FiniteGuard, DeviceMetrics, to_host and prefetch on a CPU."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from compilelint.ops import DeviceMetrics, FiniteGuard, NonFiniteError, prefetch, to_host  # noqa: E402


def test_guard_names_step_and_tensors() -> None:
    guard = FiniteGuard()
    good, bad = torch.ones(3), torch.tensor([1.0, math.nan])
    guard.check({"a": good, "b": good})
    with pytest.raises(NonFiniteError, match=r"step 1: not finite: b, c") as raised:
        guard.check({"a": good, "b": bad, "c": bad, "d": None})
    assert raised.value.step == 1 and raised.value.names == ["b", "c"]
    with pytest.raises(NonFiniteError, match="step 70: not finite: 1"):
        guard.check([good, -math.inf * good], step=70)
    guard.check([None])
    assert guard.step == 72
    guard.flush()


def test_guard_as_a_context() -> None:
    with FiniteGuard() as guard:
        guard.check([torch.ones(2)])
    with pytest.raises(KeyError), FiniteGuard():
        raise KeyError


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0.0, 10.0), st.integers(0, 3)), max_size=8))
def test_metrics(values: list[tuple[float, float, int]]) -> None:
    """Tensors and numbers in any mixture."""
    metrics = DeviceMetrics()
    for value, weight, form in values:
        given_value: Any = torch.tensor(value, dtype=torch.float64) if form & 1 else value
        given_weight: Any = torch.tensor([weight], dtype=torch.float64) if form & 2 else weight
        metrics.mean("mean", given_value, given_weight)
        metrics.sum("sum", given_value)
    read = metrics.read(reset=False)
    assert metrics.read() == pytest.approx(read, nan_ok=True) and metrics.read() == {}
    if values:
        weight = math.fsum(w for _, w, _ in values)
        wanted = math.fsum(v * w for v, w, _ in values) / weight if weight else math.nan
        assert read["mean"] == pytest.approx(wanted, abs=1e-6, nan_ok=True)
        assert read["sum"] == pytest.approx(math.fsum(v for v, _, _ in values), abs=1e-6)


def test_metrics_detach_and_refuse() -> None:
    metrics = DeviceMetrics()
    metrics.mean("loss", torch.ones((), requires_grad=True) * 2)
    assert metrics.read(reset=False) == {"loss": 2.0}
    with pytest.raises(ValueError, match="'loss' is a mean"):
        metrics.sum("loss", 1)
    with pytest.raises(ValueError, match="'n': a real tensor of one element"):
        metrics.sum("n", torch.ones(2))


def test_to_host() -> None:
    values = {
        "loss": torch.tensor(0.5, requires_grad=True),
        7: torch.tensor([[2**53 + 1]]),
        "flag": torch.tensor(True),
        "half": torch.tensor(1.5, dtype=torch.bfloat16),
        "z": torch.tensor(1 + 2j).conj(),
        "lr": 1e-3,
    }
    read = to_host(values)
    assert read == {"loss": 0.5, 7: 2**53 + 1, "flag": True, "half": 1.5, "z": 1 - 2j, "lr": 1e-3}
    assert list(read) == list(values) and read["flag"] is True
    assert to_host({}) == {}
    with pytest.raises(ValueError, match="'x' has 2 elements"):
        to_host({"x": torch.ones(2)})
    with pytest.raises(TypeError, match="'x' is str"):
        to_host({"x": "1"})  # type: ignore[dict-item]


SEVERAL = [torch.float64, torch.float16, torch.bool, torch.int64, torch.uint8, torch.complex64]
SEVERAL += [torch.uint16, torch.float8_e4m3fn]


@settings(max_examples=30, deadline=None)
@given(dtypes=st.lists(st.sampled_from(SEVERAL), max_size=12))
def test_to_host_of_several_dtypes(dtypes: list[Any]) -> None:
    """Each value is where its dtype may begin, in any order of dtypes; none is converted."""
    values = {place: torch.tensor(place % 2 + 1.0).to(dtype) for place, dtype in enumerate(dtypes)}
    read = to_host(values)
    assert read == {place: value.item() for place, value in values.items()}
    assert [type(value) for value in read.values()] == [type(value.item()) for value in values.values()]


@pytest.mark.parametrize("dtype", [torch.bool, torch.int32, torch.bfloat16, torch.float32, torch.float8_e4m3fn])
def test_metrics_of_a_dtype(dtype: Any) -> None:
    metrics = DeviceMetrics()
    for _ in range(3):
        metrics.mean("mean", torch.ones((1, 1)).to(dtype), weight=0.1)
        metrics.mean("weighted", 0.1, weight=torch.tensor(1.0).to(dtype))
    read = metrics.read()
    assert read["mean"] == pytest.approx(1.0, rel=1e-12) and read["weighted"] == pytest.approx(0.1, rel=1e-12)


def test_to_host_copies_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = torch.Tensor.cpu

    def counted(tensor: Any) -> Any:
        calls.append(tensor)
        return original(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    to_host({place: torch.tensor(float(place)) for place in range(50)})
    assert len(calls) == 1
    to_host({place: torch.tensor(place * (1.0 if place % 2 else 1)) for place in range(50)})
    assert len(calls) == 2


def test_prefetch_passes_on_for_a_cpu() -> None:
    batches = [object(), {"x": torch.ones(2)}]
    assert all(got is batch for got, batch in zip(prefetch(batches, "cpu"), batches, strict=True))

    def endless() -> Iterator[int]:
        yield 1
        raise KeyError

    loop = prefetch(endless(), torch.device("cpu"))
    assert next(loop) == 1
    with pytest.raises(KeyError):
        next(loop)
