import math
import torch


def metadata(x: torch.Tensor) -> int:
    if x:
        if x:
            pass
    else:
        x, pick = torch.randn(6, 4), torch.tensor([0, 2, 0, 2, 2, 0])
    return size if x.is_floating_point() else -size
