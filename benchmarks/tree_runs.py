"""What `fix_trees.py` runs of each package: models, losses, metrics and filters, on small inputs of fixed values.

    python benchmarks/tree_runs.py SITE PACKAGE OTHERS < places.json > runs.json

Each line of `tree_runs.txt` is an expression; it is evaluated with seeds set, and where its value has a gradient,
`backward` runs. Printed are the values, and the gradients of the inputs. What fails is told by its error.
`places.json`: path → the lines of each place; printed is of how many places of a file one was executed.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

RUNS = Path(__file__).with_suffix(".txt")
PARTS = (
    *("models", "ops", "transforms", "losses", "metrics", "networks", "functional", "loss", "layers", "optim"),
    *("functional.clustering", "functional.segmentation", "transforms.v2"),
)
SMALL = {
    "vocab_size": 50, "hidden_size": 16, "d_model": 16, "n_embd": 16, "embedding_size": 16, "num_hidden_layers": 2,
    "num_layers": 2, "n_layer": 2, "encoder_layers": 2, "decoder_layers": 2, "num_attention_heads": 2, "n_head": 2,
    "num_heads": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "intermediate_size": 32, "d_ff": 32,
    "d_kv": 8, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64, "n_positions": 64,
    "num_key_value_heads": 2, "attention_window": 4, "attention_type": "original_full", "pad_token_id": 1,
    "num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16, "block_sizes": [1, 1], "d_inner": 32, "d_head": 8, "dff": 32, "dropout": 0.0,
    "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64, "word_embed_proj_dim": 16,
    "ffn_dim": 32, "num_encoder_layers": 2, "num_decoder_layers": 2, "bos_token_id": 2, "eos_token_id": 3,
    "decoder_start_token_id": 2,
}  # fmt: skip


def inputs() -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    made = {
        "a": torch.rand(2, 3, 32, 32),
        "b": torch.rand(2, 3, 32, 32),
        "big": torch.rand(2, 3, 160, 160),
        "scores": torch.randn(2, 4, 32, 32),
        "rows": torch.randn(12, 5),
        "rows2": torch.randn(12, 5),
    }
    for tensor in made.values():
        tensor.requires_grad_()
    corners = torch.rand(8, 2) * 10
    return made | {
        "labels": torch.randint(0, 4, (2, 32, 32)),
        "targets": torch.randint(0, 5, (12,)),
        "boxes": torch.cat([corners, corners + 8], 1),
        "ids": torch.randint(4, 50, (2, 8)),
        "small": dict(SMALL),
        "stepped": stepped,
        "torch": torch,
    }


def stepped(make: Any) -> list[Any]:
    """The parameters of a layer after three steps of an optimizer."""
    import torch

    layer = torch.nn.Linear(5, 3)
    optimizer = make(layer.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        layer(torch.rand(4, 5)).square().mean().backward()
        optimizer.step()
    return [parameter.detach() for parameter in layer.parameters()]


def numbers(value: Any) -> list[float]:
    """The floats of tensors, in containers and outputs of models too."""
    import torch

    if isinstance(value, torch.Tensor):
        flat = value.detach().to_dense().flatten()
        return [float(v) for v in flat[:200].double()] + [float(flat.double().sum())]
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers(item)]
    if isinstance(value, list | tuple):
        return [n for item in value for n in numbers(item)]
    return [float(value)] if isinstance(value, int | float) else []


def tensors(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [t for item in items for t in tensors(item)]


def run(expression: str, names: dict[str, Any]) -> list[float]:
    import torch

    given = inputs()
    torch.manual_seed(1)
    value = eval(expression, {**names, **given})
    found = numbers(value)
    differentiable = [t for t in tensors(value) if t.requires_grad and t.is_floating_point()]
    if differentiable:
        sum(t.square().mean() for t in differentiable).backward()
        leaves = [t for t in given.values() if isinstance(t, torch.Tensor) and t.grad is not None]
        found += [n for leaf in leaves for n in numbers(leaf.grad)]
    return found


def runs_of(package: str) -> list[str]:
    section = RUNS.read_text(encoding="utf-8").partition(f"\n[{package}]\n")[2].partition("\n[")[0]
    return [line for line in section.splitlines() if line]


class Watch:
    """Notes which of some lines are executed."""

    def __init__(self, places: dict[str, list[list[int]]]) -> None:
        self._places = places
        self._lines = {path: {line for place in each for line in place} for path, each in places.items()}
        self._seen: dict[str, set[int]] = {path: set() for path in places}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        path = frame.f_code.co_filename
        return self._line if path in self._lines else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_lineno in self._lines[frame.f_code.co_filename]:
            self._seen[frame.f_code.co_filename].add(frame.f_lineno)
        return self._line

    def reached(self) -> dict[str, int]:
        return {
            path: sum(not seen.isdisjoint(place) for place in self._places[path]) for path, seen in self._seen.items()
        }


def main() -> None:
    site, package, others = sys.argv[1:]
    watch = Watch(json.loads(sys.stdin.read() or "{}"))
    sys.path.insert(0, site)
    sys.path.append(others)
    warnings.simplefilter("ignore")
    import importlib

    import torch

    torch.set_num_threads(1)
    module = importlib.import_module(package)
    assert (module.__file__ or "").startswith(site), module.__file__
    names: dict[str, Any] = {"torch": torch}
    for part in PARTS:
        try:
            names.setdefault(part.rpartition(".")[2], importlib.import_module(f"{package}.{part}"))
        except ImportError:
            continue
    found: dict[str, Any] = {}
    for expression in runs_of(package):
        for name in {part.split("(")[0].split(".")[0] for part in (expression, expression.partition("(")[2])}:
            if name not in names and hasattr(module, name):
                names[name] = getattr(module, name)
        sys.settrace(watch)
        try:
            found[expression] = run(expression, names)
        except Exception as error:  # noqa: BLE001 a run that fails is told of
            found[expression] = f"{type(error).__name__}: {error}"[:200]
        finally:
            sys.settrace(None)
    print(json.dumps({"runs": found, "reached": watch.reached()}))


if __name__ == "__main__":
    main()
