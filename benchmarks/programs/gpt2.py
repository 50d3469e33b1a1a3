"""Trains a small GPT-2 of transformers, random weights, on random tokens."""

from __future__ import annotations

import torch
from loop import arguments, train
from transformers import GPT2Config, GPT2LMHeadModel


def main() -> None:
    options = arguments()
    torch.manual_seed(0)
    config = GPT2Config(n_layer=4, n_head=4, n_embd=128, vocab_size=1000, n_positions=128)
    model = GPT2LMHeadModel(config).to(options.device)
    x = torch.randint(0, 1000, (4, 64))
    mask = torch.ones_like(x)
    mask[:, 48:] = 0

    def loss(net: torch.nn.Module, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = net(input_ids=x, attention_mask=mask, labels=x).loss
        return found

    train(options, model, loss, x, mask)


if __name__ == "__main__":
    main()
