"""Trains the tagger: python train.py [--steps N] [--device cuda]."""

import argparse
import logging

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import TaggedSequences, make_loader
from model import Tagger

logger = logging.getLogger("train")

LOSS_WEIGHTS = {"cross_entropy": 1.0, "z_loss": 1e-4}


def gradient_norm(model: nn.Module) -> float:
    total = 0.0
    for parameter in model.parameters():
        if parameter.grad is not None:
            total += parameter.grad.norm().item() ** 2
    return total**0.5


def train_epoch(
    model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, device: torch.device, log_every: int = 20
) -> dict[str, float]:
    """One pass over the data; returns averages over the epoch."""
    model.train()
    running = 0.0
    seen = torch.tensor(0.0, device=device)
    history = []
    norms = []
    for step, batch in enumerate(loader):
        tokens = batch["tokens"].to(device)
        labels = batch["labels"].to(device)
        optimizer.zero_grad(set_to_none=True)
        losses = model(tokens, labels)
        loss = torch.tensor(0.0, device=device)
        for name, weight in LOSS_WEIGHTS.items():
            loss = loss + weight * losses[name]
        loss.backward()
        norms.append(gradient_norm(model))
        optimizer.step()
        running += loss.item()
        seen += (labels >= 0).sum()
        metrics = {name: value.item() for name, value in losses.items()}
        history.append(metrics["accuracy"])
        if step % log_every == 0:
            logger.info("step %d: cross entropy %.3f, accuracy %.3f", step, metrics["cross_entropy"], metrics["accuracy"])
    steps = len(history)
    return {
        "loss": running / steps,
        "accuracy": sum(history) / steps,
        "gradient_norm": sum(norms) / steps,
        "tokens": float(seen),
    }


def build(device: torch.device, steps: int, batch_size: int = 16) -> tuple[nn.Module, DataLoader, torch.optim.Optimizer]:
    dataset = TaggedSequences(count=steps * batch_size, vocabulary=1000, tags=12, longest=64)
    loader = make_loader(dataset, batch_size)
    model = Tagger(vocabulary=1000, tags=12).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    return torch.compile(model), loader, optimizer


def verify_target(device: str = "cpu", steps: int = 4):
    """What `compilelint verify train.py:verify_target` runs: an epoch of a few steps."""
    where = torch.device(device)
    model, loader, optimizer = build(where, steps)
    return train_epoch, (model, loader, optimizer, where)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    device = torch.device(options.device)
    model, loader, optimizer = build(device, options.steps)
    for epoch in range(options.epochs):
        logger.info("epoch %d: %s", epoch, train_epoch(model, loader, optimizer, device))


if __name__ == "__main__":
    main()
