"""A check for infinities and NaN in every step that nobody waits for."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from compilelint.ops.reduce import max_abs_each


class NonFiniteError(ArithmeticError):
    """A tensor held an infinity or NaN. `step` is the step in which it was checked, `names` the tensors concerned."""

    def __init__(self, step: int, names: list[str]) -> None:
        super().__init__(f"step {step}: not finite: {', '.join(names)}")
        self.step = step
        self.names = names


@dataclass(frozen=True)
class _Check:
    step: int
    names: list[str]
    largest: Tensor  # [tensors] on the host, once `arrived`
    arrived: torch.cuda.Event | None


class FiniteGuard:
    """Checks tensors in each step, and raises when a result has arrived: some steps later on CUDA, at the latest in
    `flush`.

        guard = FiniteGuard()
        for batch in loader:
            ...
            loss.backward()
            guard.check({name: p.grad for name, p in model.named_parameters()})
            optimizer.step()
        guard.flush()

    A check is a kernel (two for long tensors) and a copy of a number for each tensor, whatever their sizes. As a
    context manager it flushes at the end of a block that didn't raise. Not for compiled regions or CUDA graphs: call
    it between them.
    """

    def __init__(self) -> None:
        self.step = 0  # of the next check
        self._open: deque[_Check] = deque()

    def check(self, tensors: Mapping[str, Tensor | None] | Iterable[Tensor | None], step: int | None = None) -> None:
        """Checks tensors as `sum_tensors` takes them, on one device; None is left out, as a missing `.grad`.

        In a mapping, its keys are the names in the error, else positions are. `step` defaults to one more than the
        last. Raises NonFiniteError of an earlier step, or of this one where the result is there already, as on the
        CPU.
        """
        self.raise_arrived()
        pairs = tensors.items() if isinstance(tensors, Mapping) else enumerate(tensors)
        present = [(str(name), tensor) for name, tensor in pairs if tensor is not None]
        step = self.step if step is None else step
        self.step = step + 1
        if not present:
            return
        with torch.no_grad():
            largest = max_abs_each([tensor for _, tensor in present])
        arrived = None
        if largest.is_cuda:
            host = torch.empty(largest.shape, dtype=largest.dtype, pin_memory=True)
            largest = host.copy_(largest, non_blocking=True)
            arrived = torch.cuda.Event()
            arrived.record()
        self._open.append(_Check(step, [name for name, _ in present], largest, arrived))
        self.raise_arrived()

    def raise_arrived(self) -> None:
        """Raises NonFiniteError of the first step whose result is there and bad. Never waits."""
        while self._open and (self._open[0].arrived is None or self._open[0].arrived.query()):
            _raise_bad(self._open.popleft())

    def flush(self) -> None:
        """Waits for all results."""
        while self._open:
            check = self._open.popleft()
            if check.arrived is not None:
                check.arrived.synchronize()
            _raise_bad(check)

    def __enter__(self) -> FiniteGuard:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.flush()


def _raise_bad(check: _Check) -> None:
    pairs = zip(check.names, check.largest.tolist(), strict=True)
    if names := [name for name, value in pairs if not math.isfinite(value)]:
        raise NonFiniteError(check.step, names)
