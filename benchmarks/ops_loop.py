"""A training loop with four hidden syncs, and without: NaN check, metric read, pageable copy, per-tensor norm.

In two sizes: one that the host can't launch as fast as the GPU computes, where a wait costs little more than the read
itself, and one that keeps the GPU busy for longer than the host needs to launch it, where each wait leaves it idle.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
from timing import seen
from torch import nn

from compilelint import ops

STEPS = 20
SIZES = {"launch-bound": (256, 512), "compute-bound": (2048, 2048)}  # rows of a batch, width
Batch = tuple[torch.Tensor, torch.Tensor]


class Net(nn.Module):
    def __init__(self, width: int = 512, depth: int = 12) -> None:
        super().__init__()
        layers = [nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(depth)]
        self.layers = nn.ModuleList(layers)
        self.head = nn.Linear(width, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


@cache
def made(rows: int, width: int) -> list[Batch]:
    """Pageable, as a loader without pin_memory gives them; made once, so that making them costs nothing."""
    generator = torch.Generator().manual_seed(0)
    return [
        (torch.randn(rows, width, generator=generator), torch.randint(16, (rows,), generator=generator))
        for _ in range(4)
    ]


def batches(rows: int = 256, width: int = 512) -> Iterator[Batch]:
    return itertools.islice(itertools.cycle(made(rows, width)), STEPS)


def before(
    model: Any, parameters: list[nn.Parameter], optimizer: torch.optim.Optimizer, loader: Iterator[Batch]
) -> float:
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.to("cuda")), y.to("cuda"))
        loss.backward()
        if torch.isnan(loss):
            raise ArithmeticError("loss is NaN")
        norm = math.sqrt(sum(p.grad.norm().item() ** 2 for p in parameters if p.grad is not None))
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item() + 0 * norm
    return total / STEPS


def after(
    model: Any, parameters: list[nn.Parameter], optimizer: torch.optim.Optimizer, loader: Iterator[Batch]
) -> float:
    metrics, guard = ops.DeviceMetrics(), ops.FiniteGuard()
    for x, y in ops.prefetch(loader, "cuda"):
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        guard.check({"loss": loss})
        norm = ops.squared_norm_each([p.grad for p in parameters if p.grad is not None]).sum().sqrt()
        optimizer.step()
        optimizer.zero_grad()
        metrics.mean("loss", loss)
        metrics.sum("norm", norm)
    guard.flush()
    return metrics.read()["loss"]


MODES: dict[str, Callable[[nn.Module], Any]] = {
    "eager": lambda model: model,
    "compiled": torch.compile,
    "compiled, CUDA graphs": lambda model: torch.compile(model, mode="reduce-overhead"),
}


def loop_rows() -> list[dict[str, Any]]:
    rows = []
    for (size, (count, width)), (mode, wrap) in itertools.product(SIZES.items(), MODES.items()):
        losses = []
        for name, work in (("before", before), ("after", after)):
            torch.manual_seed(0)
            torch._dynamo.reset()
            model = Net(width).cuda()
            parameters = list(model.parameters())
            optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
            target = wrap(model)
            held = (target, parameters, optimizer)
            losses.append(work(*held, batches(count, width)))
            epoch = lambda work=work, held=held, shape=(count, width): work(*held, batches(*shape))  # noqa: E731
            epoch()
            torch.cuda.synchronize()
            times = []
            for _ in range(5):
                start = time.perf_counter()
                epoch()
                torch.cuda.synchronize()
                times.append(time.perf_counter() - start)
            what = seen(epoch, calls=2)
            rows.append(
                {
                    "case": f"training loop, {size}, for each step",
                    "what": f"{mode}, {name}",
                    "steps_per_s": STEPS / sorted(times)[2],
                    "kernels": what.kernels / STEPS,
                    "waits": what.waits / STEPS,
                    "gpu_us": what.gpu_us / STEPS,
                    "busy": what.busy,
                }
            )
        assert math.isclose(*losses, rel_tol=1e-3), losses
    return rows
