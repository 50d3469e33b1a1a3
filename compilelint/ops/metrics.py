"""Sums and means of what a loop computes, kept on the device and read once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from compilelint.ops.transfer import COMMON, Number, to_host


@dataclass
class _Metric:
    """What came from the host is added up there, the rest on its device, in float64 on CUDA and the CPU."""

    total: Tensor | None = None
    weight: Tensor | None = None
    host_total: float = 0.0
    host_weight: float = 0.0
    mean: bool = True


class DeviceMetrics:
    """Running means and sums that cost a kernel or two a step and no wait.

        metrics = DeviceMetrics()
        for batch in loader:
            ...
            metrics.mean("loss", loss, weight=len(batch))
            metrics.sum("tokens", mask.sum())
        print(metrics.read())  # {"loss": 0.31, "tokens": 81920.0}

    Values are tensors of one element, or numbers. They are added up in float64 (float32 on devices that lack it),
    detached.
    """

    def __init__(self) -> None:
        self._metrics: dict[str, _Metric] = {}

    def mean(self, name: str, value: Tensor | float, weight: Tensor | float = 1.0) -> None:
        """Counts a value, `weight` times, for the mean of `name`."""
        metric = self._metric(name, mean=True)
        metric.total, metric.host_total = _added(metric.total, metric.host_total, name, value, weight)
        metric.weight, metric.host_weight = _added(metric.weight, metric.host_weight, name, weight)

    def sum(self, name: str, value: Tensor | float) -> None:
        """Adds a value to the sum of `name`."""
        metric = self._metric(name, mean=False)
        metric.total, metric.host_total = _added(metric.total, metric.host_total, name, value)

    def read(self, *, reset: bool = True) -> dict[str, float]:
        """All of them, in one copy; starts anew unless told not to. The mean of no weight is NaN."""
        parts: dict[tuple[str, str], Tensor | Number] = {}
        for name, metric in self._metrics.items():
            parts[name, "total"] = 0.0 if metric.total is None else metric.total
            parts[name, "weight"] = 0.0 if metric.weight is None else metric.weight
        host = to_host(parts)
        result: dict[str, float] = {}
        for name, metric in self._metrics.items():
            total = _real(host[name, "total"]) + metric.host_total
            weight = _real(host[name, "weight"]) + metric.host_weight
            result[name] = total if not metric.mean else total / weight if weight else float("nan")
        if reset:
            self._metrics.clear()
        return result

    def _metric(self, name: str, *, mean: bool) -> _Metric:
        metric = self._metrics.setdefault(name, _Metric(mean=mean))
        if metric.mean != mean:
            raise ValueError(f"{name!r} is a {'mean' if metric.mean else 'sum'}: one name, one kind")
        return metric


def _real(value: Number) -> float:
    assert not isinstance(value, complex), "accumulators are real"
    return float(value)


def _added(
    total: Tensor | None, host: float, name: str, value: Tensor | float, factor: Tensor | float = 1.0
) -> tuple[Tensor | None, float]:
    """`value` x `factor` added: to the device's part where one of them is there, else to the host's."""
    if not isinstance(value, Tensor) and not isinstance(factor, Tensor):
        return total, host + value * factor
    tensors = [part for part in (value, factor) if isinstance(part, Tensor)]
    if any(part.numel() != 1 or part.is_complex() for part in tensors):
        raise ValueError(f"{name!r}: a real tensor of one element is wanted")
    device = tensors[0].device
    if total is None:
        wide = torch.float32 if device.type == "mps" else torch.float64
        total = torch.zeros((), dtype=wide, device=device)
    left, right = (_scalar(part) if isinstance(part, Tensor) else part for part in (value, factor))
    if isinstance(left, Tensor):
        if isinstance(right, Tensor):
            total.addcmul_(left.to(total.dtype), right.to(total.dtype))
        else:
            total.add_(left, alpha=right)  # converts, then multiplies, in the same kernel
    elif isinstance(right, Tensor):
        total.add_(right, alpha=left)
    return total, host


def _scalar(value: Tensor) -> Tensor:
    """0-d, detached, of a dtype that promotes; each step is left out where it isn't needed, as it mostly isn't."""
    value = value.detach() if value.requires_grad else value
    value = value.reshape(()) if value.dim() else value
    return value if value.dtype in COMMON else value.float()
