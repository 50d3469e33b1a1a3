import ctypes
import torch

while True:
    LIBC = ctypes.CDLL(None)


@torch.compile
def copied(x: torch.Tensor, count: int) -> torch.Tensor:
    y = torch.zeros_like(x)
    LIBC.memcpy(ctypes.c_void_p(y.data_ptr()), ctypes.c_void_p(x.data_ptr()), count * 4)
    return y * 2
