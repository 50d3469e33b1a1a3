"""Fixes that move reads out of loops, or make one of many: the old code and the new run side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compilelint import api
from compilelint.config import Settings

torch = pytest.importorskip("torch")


def both(path: Path, code: str) -> tuple[Callable[..., Any], Callable[..., Any], str]:
    """`f` of the code, `f` after all fixes, and the fixed text."""
    path.write_text("import torch\n\n\n" + textwrap.dedent(code).strip("\n") + "\n", encoding="utf-8")
    old = namespace(path)["f"]
    run = api.fix([path], Settings(unsafe_fixes=True), apply=True)
    assert not run.errors and not run.result.problems
    return old, namespace(path)["f"], path.read_text(encoding="utf-8")


def namespace(path: Path) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    return names


DECODE_FOR = """
def f(logits: torch.Tensor, eos: int):
    done = torch.zeros(logits.shape[1], dtype=torch.bool, device=logits.device)
    out = []
    for step in range(logits.shape[0]):
        token = logits[step].argmax(-1)
        out.append(token)
        done = done | (token == eos)
        if done.all():
            break
    return torch.stack(out, 1)
"""
DECODE_WHILE = """
def f(logits: torch.Tensor, eos: int):
    alive = torch.ones(logits.shape[1], dtype=torch.long, device=logits.device)
    out = []
    step = 0
    while step < logits.shape[0] and alive.max() != 0:
        token = logits[step].argmax(-1) * alive + eos * (1 - alive)
        out.append(token)
        alive = alive * (token != eos).long()
        step += 1
    return torch.stack(out, 1), step
"""


@pytest.mark.parametrize("code", [DECODE_FOR, DECODE_WHILE])
@pytest.mark.parametrize("rounds", [1, 7, 8, 9, 20])
def test_a_loop_asks_every_few_rounds_and_gives_the_same(tmp_path: Path, code: str, rounds: int) -> None:
    old, new, text = both(tmp_path / "m.py", code)
    assert "if done.all()" not in text and "and alive.max()" not in text
    for stop in {0, 1, 6, 7, 8, rounds - 1, rounds}:
        logits = torch.rand(rounds, 2, 5, generator=torch.Generator().manual_seed(0))
        logits[..., 4] = -1.0
        if stop < rounds:
            logits[stop, :, 4] = 9.0
        wanted, found = old(logits, 4), new(logits, 4)
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("out.append(token)", "out.append(token); seen[step] = token"),  # a write
        ("out.append(token)", "out.append(token); show(token)"),  # what is not known
        ("logits[step].argmax(-1)", "torch.multinomial(logits[step], 1)[:, 0]"),  # a draw
        ("return torch.stack(out, 1)", "return torch.stack(out, 1), done"),  # state of the last round
        ("return torch.stack(out, 1)", "return torch.stack(out, 1), step"),
    ],
)
def test_a_loop_with_other_effects_asks_each_round(tmp_path: Path, old: str, new: str) -> None:
    assert old in DECODE_FOR
    code = DECODE_FOR.replace(old, new).replace("eos: int)", "eos: int, seen=None, show=print)")
    _, _, text = both(tmp_path / "m.py", code)
    assert "if done.all()" in text


TRAIN = """
def f(model: torch.nn.Module, data: torch.Tensor):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    {start}
    for row in data:
        loss = model(row).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {each}
    return {end}
"""
COLLECTED = [
    ("losses = []", "losses.append(loss.item())", "losses"),
    ("losses = []", "losses.append(round(float(loss), 3))", "sum(losses)"),
    ("log = {'loss': [], 'steps': 0}", "log['loss'].append(loss.item())", "log"),
    ("best = float('inf')", "best = min(best, loss.item())", "best"),
    ("mean = 0.0", "mean = 0.9 * mean + 0.1 * loss.item()", "mean"),
]


@pytest.mark.parametrize(("start", "each", "end"), COLLECTED)
def test_numbers_of_each_step_are_read_behind_the_loop(tmp_path: Path, start: str, each: str, end: str) -> None:
    old, new, text = both(tmp_path / "m.py", TRAIN.format(start=start, each=each, end=end))
    assert "loss.detach()" in text and "loss.item()" not in text
    for rows in (0, 1, 5):
        results = []
        for f in (old, new):
            torch.manual_seed(0)
            results.append(f(torch.nn.Linear(3, 1), torch.randn(rows, 3)))
        assert flat(results[1]) == pytest.approx(flat(results[0]), rel=1e-5)
        assert type(results[1]) is type(results[0])


def flat(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for each in value.values() for n in flat(each)]
    if isinstance(value, list | tuple):
        return [n for each in value for n in flat(each)]
    assert isinstance(value, int | float)
    return [float(value)]


@pytest.mark.parametrize(
    ("start", "each"),
    [
        ("losses = []", "losses.append(loss.item()); print(losses[-1])"),
        ("losses = list(data)", "losses.append(loss.item())"),
        ("losses = []", "losses.append(loss.item() * row.sum())"),
        ("losses = other = []", "losses.append(loss.item()); print(other)"),
        ("losses = []; log = {'loss': losses}", "losses.append(loss.item())"),
        ("log = {'loss': []}; losses = log['loss']", "log['loss'].append(loss.item())"),
        ("losses = []", "losses.append(loss.item()); loss.detach().zero_()"),
        ("losses = 0.0", "losses += loss.item()\n        if losses > 1e6: break"),
    ],
)
def test_numbers_that_the_loop_needs_are_read_there(tmp_path: Path, start: str, each: str) -> None:
    _, _, text = both(tmp_path / "m.py", TRAIN.format(start=start, each=each, end="losses"))
    assert "loss.item()" in text


@pytest.mark.parametrize(
    ("start", "each", "end"),
    [
        ("count, kept = torch.zeros((), device=data.device), []", "kept.append(count.add_(1).item())", "kept"),
        (
            "count, kept = torch.zeros(2, device=data.device), []",
            "count += 1\n        kept.append(count[0].item())",
            "kept",
        ),
        ("hits = 0.5", "hits += (row > 0).sum().item()", "hits"),
        ("hits = 0.0", "hits += (row > 0).sum().item()", "hits"),
        ("hits = 0", "hits += (row > 0).sum().item()", "hits"),
        (
            "count, kept = torch.zeros(1, device=data.device), torch.zeros(0, device=data.device)",
            "count += 1\n        kept = torch.cat([kept, count])",
            "kept",
        ),
        ("hits = []", "hits.append(float((row > 0).sum()))", "hits"),
    ],
)
def test_numbers_stay_what_they_were(tmp_path: Path, start: str, each: str, end: str) -> None:
    old, new, _ = both(tmp_path / "m.py", TRAIN.format(start=start, each=each, end=end))
    results = []
    for f in (old, new):
        torch.manual_seed(0)
        results.append(f(torch.nn.Linear(3, 1), torch.randn(5, 3)))
    assert repr(results[0]) == repr(results[1])


def test_an_integer_is_not_read_as_a_float(tmp_path: Path) -> None:
    code = "def f(x: torch.Tensor):\n    return x.max().item(), x.argmax().item()\n"
    old, new, _ = both(tmp_path / "m.py", code)
    x = torch.tensor([1.5, -2.0, 4.0])
    assert repr(new(x)) == repr(old(x))


READS = [
    'def f(x: torch.Tensor):\n    return {"mean": x.mean().item(), "max": x.max().item()}\n',
    "def f(x: torch.Tensor):\n    return x.mean().item(), float(x.max())\n",
    """
def f(x: torch.Tensor):
    losses = {"a": x.mean(), "b": x.max()}
    return {f"train/{k}": v.detach().cpu().item() for k, v in losses.items()}
""",
    """
def f(x: torch.Tensor):
    losses, out = {"a": x.mean(), "b": x.max()}, {}
    for name, value in losses.items():
        out[name] = value.item() * 2
    return out
""",
]


@pytest.mark.parametrize("code", READS)
def test_several_numbers_are_read_at_once(tmp_path: Path, code: str) -> None:
    old, new, text = both(tmp_path / "m.py", code)
    assert "torch.stack(" in text and ".item()" not in text
    x = torch.tensor([1.5, -2.0, 4.0])
    assert new(x) == old(x)


def test_a_loop_goes_over_all_of_the_mask(tmp_path: Path) -> None:
    code = """
    def f(x: torch.Tensor, keep: torch.Tensor, size: int = 2):
        n = keep.sum()
        total = torch.zeros((), device=x.device)
        for start in range(0, n, size):
            stop = min(start + size, x.shape[0])
            total = total + (x[start:stop] * keep[start:stop]).sum()
        return total
    """
    old, new, text = both(tmp_path / "m.py", code)
    assert "range(0, keep.shape[0], size)" in text and "keep.sum()" not in text
    x = torch.arange(1.0, 7.0)
    for set_ in (0, 1, 3, 6):
        keep = (torch.arange(6) < set_).long()
        torch.testing.assert_close(new(x, keep), old(x, keep))
    unmasked = code.replace("* keep[start:stop]", "* 2")
    assert "range(0, n, size)" in both(tmp_path / "m.py", unmasked)[2]


def test_seeds_are_set_before_the_call(tmp_path: Path) -> None:
    code = """
    @torch.compile(backend="eager")
    def noisy(x: torch.Tensor):
        torch.manual_seed(3)
        return x + torch.rand_like(x)


    def f(x: torch.Tensor):
        y = noisy(x)
        return y, noisy(x)
    """
    _, _, text = both(tmp_path / "m.py", code)
    assert text.count("torch.manual_seed(3)") == 2
    assert text.index("def f") < text.index("torch.manual_seed")


EAGER = {
    "schedule": """
def f(x: torch.Tensor, device: torch.device):
    timesteps = torch.tensor([3, 1, 2], device=device)
    for t in timesteps:
        x = x * float(t) + t.item()
    return x
""",
    "numbered": """
def f(x: torch.Tensor, device: torch.device):
    timesteps = torch.tensor([3, 1, 2], device=device)
    for i, t in enumerate(timesteps):
        x = x * t + i * t.item()
    return x
""",
    "total": """
def f(x: torch.Tensor, device: torch.device):
    total = 0.0
    for row in x.to(device):
        total += row.norm().item() ** 2
    return total**0.5
""",
    "ratio": """
@torch.no_grad()
def f(x: torch.Tensor, device: torch.device):
    for p in [x, x * 0]:
        norm = p.norm()
        if norm > 0:
            ratio = 1.0 / norm
        else:
            ratio = 1.0
        if norm > 2:
            p.mul_(2 / norm)
        x = x + p * ratio
    return x
""",
    "counts": """
def f(x: torch.Tensor, device: torch.device):
    batch = torch.tensor([0, 2, 2], device=device)
    counts = torch.bincount(batch, minlength=4)
    return torch.repeat_interleave(torch.arange(4, device=device), counts)
""",
    "back": """
def f(x: torch.Tensor, device: torch.device):
    sizes = torch.tensor([2, 1])
    lengths = sizes.to(device)
    return x[: lengths.cpu()[0]] * lengths.sum()
""",
}


@pytest.mark.parametrize("name", EAGER)
def test_reads_of_eager_code(tmp_path: Path, name: str) -> None:
    old, new, text = both(tmp_path / "m.py", EAGER[name])
    wanted = {
        "schedule": "for t in timesteps.tolist():",
        "numbered": "for i, (t, t_value) in enumerate(zip(timesteps, timesteps.tolist())):",
        "total": "torch.stack(total_parts).tolist()",
        "ratio": "ratio = torch.where(norm > 0, 1.0 / norm, 1.0)",
        "counts": "output_size=batch.shape[0]",
        "back": "x[: sizes[0]]",
    }
    assert wanted[name] in text
    x = torch.tensor([[3.0, 4.0], [0.5, -2.0], [1.0, 1.0]])
    torch.testing.assert_close(new(x.clone(), "cpu"), old(x.clone(), "cpu"))


CALLED = """
class Encoder(torch.nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor):
        return torch.nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True).data


def f(x: torch.Tensor, device: torch.device):
    encoder, lengths = Encoder(), torch.tensor([3, 2])
    batch = {"x": x.to(device), "lengths": lengths.to(device)}
    return encoder(batch["x"], batch["lengths"])
"""


def test_a_host_tensor_is_passed_as_it_is(tmp_path: Path) -> None:
    old, new, text = both(tmp_path / "m.py", CALLED)
    assert '"lengths": lengths}' in text and ".cpu()" not in text
    x = torch.rand(2, 3, 4)
    torch.testing.assert_close(new(x, "cpu"), old(x, "cpu"))
    for code in (
        CALLED.replace(
            "lengths.cpu(), batch_first=True).data", "lengths.cpu(), batch_first=True).data * lengths.sum()"
        ),
        CALLED.replace('batch["lengths"])', 'batch["lengths"]) + batch["lengths"].sum()'),
        CALLED.replace("torch.tensor([3, 2])", "x.sum(-1).int()[:, 0]"),
    ):
        assert ".cpu()" in both(tmp_path / "m.py", code)[2]


CARRIED = """\
import torch


def train(steps: int, losses: dict[str, torch.Tensor]) -> float:
    out, last = {}, 0.0
    v = None
    for step in range(steps):
        if v is not None:
            last += v.mean().item() if isinstance(v, torch.Tensor) else 100.0
        for k, v in losses.items():
            out[k] = v.item()
    return last
"""


def test_what_the_next_round_reads_stays_a_tensor(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(CARRIED, encoding="utf-8")
    api.fix([path], api.load_settings(isolated=True, overrides={"unsafe_fixes": True}), apply=True)
    assert path.read_text(encoding="utf-8") == CARRIED


GLOBAL = """\
import torch

buf = torch.ones(1)


def seen() -> int:
    return buf.numel()


def grow(net: torch.nn.Module, xs: list[torch.Tensor]) -> list[int]:
    global buf
    sizes = []
    for x in xs:
        out = net(x)
        buf = torch.cat([buf, out])
        sizes.append(seen())
    return sizes
"""


def test_a_global_that_grows_is_left(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(GLOBAL, encoding="utf-8")
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True})
    assert "CL303" in {finding.code for finding in api.check([path], settings).findings}
    api.fix([path], settings, apply=True)
    assert path.read_text(encoding="utf-8") == GLOBAL


TRIED = """
def f(model: torch.nn.Module, data: torch.Tensor):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    try:
        for row in data:
            loss = model(row).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    except RuntimeError:
        print("stopped")
    return losses
"""


def test_a_loop_that_an_exception_may_end_reads_in_each_round(tmp_path: Path) -> None:
    assert "losses.append(loss.item())" in both(tmp_path / "m.py", TRIED)[2]
