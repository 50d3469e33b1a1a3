"""Trains a small vision transformer of timm, random weights, with its own loss for mixed-up labels."""

from __future__ import annotations

import timm
import torch
from loop import arguments, train
from timm.loss import SoftTargetCrossEntropy


def main() -> None:
    options = arguments()
    torch.manual_seed(0)
    model = timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=64, num_classes=10)
    model = model.to(options.device)
    x = torch.randn(16, 3, 64, 64)
    y = torch.softmax(torch.randn(16, 10), dim=1)
    criterion = SoftTargetCrossEntropy()

    def loss(net: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = criterion(net(x), y)
        return found

    train(options, model, loss, x, y)


if __name__ == "__main__":
    main()
