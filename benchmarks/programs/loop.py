"""The training loop that the programs share: what trace_gpu.py traces. Prints its losses and times as JSON."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch

Loss = Callable[[torch.nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--explain", action="store_true", help="say what torch._dynamo.explain says, and train nothing")
    return parser.parse_args()


def train(options: argparse.Namespace, model: torch.nn.Module, loss: Loss, x: torch.Tensor, y: torch.Tensor) -> None:
    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = loss(model, x, y)
        largest = total.item()
        if largest > 1e6:
            total = total / largest
        return total

    if options.explain:
        said = torch._dynamo.explain(step)(x.to(options.device), y.to(options.device))
        reasons = [str(reason.reason).partition("\n")[0] for reason in said.break_reasons]
        print(json.dumps({"graphs": said.graph_count, "breaks": said.graph_break_count, "reasons": reasons}))
        return
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    compiled = torch.compile(step, backend=options.backend)
    losses, times = [], []
    for _ in range(options.steps):
        start = time.perf_counter()
        found = compiled(x.to(options.device, non_blocking=True), y.to(options.device))
        found.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(found.item())
        times.append(time.perf_counter() - start)
    print(json.dumps({"losses": losses, "step_ms": statistics.median(times[options.steps // 3 :]) * 1e3}))
