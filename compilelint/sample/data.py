"""Token sequences of varying length, with a tag for each token; -100 marks padding, as in Hugging Face's collators."""

import torch
from torch.utils.data import DataLoader, Dataset

PAD = 0
IGNORED = -100


class TaggedSequences(Dataset):
    """A synthetic stand-in for a corpus: the tag of a token depends on it and on the token before it."""

    def __init__(self, count: int, vocabulary: int, tags: int, longest: int, seed: int = 0):
        generator = torch.Generator().manual_seed(seed)
        self.rows = []
        for _ in range(count):
            length = int(torch.randint(longest // 2, longest + 1, (1,), generator=generator))
            tokens = torch.randint(1, vocabulary, (length,), generator=generator)
            labels = (tokens + tokens.roll(1)) % tags
            self.rows.append((tokens, labels))
        self.longest = longest

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        tokens, labels = self.rows[index]
        padding = self.longest - len(tokens)
        return {
            "tokens": torch.nn.functional.pad(tokens, (0, padding), value=PAD),
            "labels": torch.nn.functional.pad(labels, (0, padding), value=IGNORED),
        }


def make_loader(dataset: Dataset, batch_size: int, shuffle: bool = True, workers: int = 0) -> DataLoader:
    return DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, num_workers=workers, drop_last=True)
