"""Trains torchvision's ResNet-18 on random images, as many do: the loss is read at each step."""

from __future__ import annotations

import torch
from loop import arguments, train
from torchvision.models import resnet18


def main() -> None:
    options = arguments()
    torch.manual_seed(0)
    model = resnet18(num_classes=10).to(options.device)
    x = torch.randn(16, 3, 64, 64)
    y = torch.randint(0, 10, (16,))

    def loss(net: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(net(x), y)

    train(options, model, loss, x, y)


if __name__ == "__main__":
    main()
