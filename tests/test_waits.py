"""Syncs predicted on a CPU, against the fixtures of sync rules: each flagged line that runs is predicted, or known to
be unclear; what is not flagged is not predicted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from fixturefiles import FILES, code_of, load, permitted_reads

from compilelint import api

torch = pytest.importorskip("torch")

from torch.utils import _pytree as pytree  # noqa: E402

from compilelint.runtime.syncs import Prediction  # noqa: E402

WAITING = [path for path in FILES if code_of(path).startswith(("CL2", "CL4"))]
WATCHED = "CL206"  # synchronize and empty_cache are watched by trace itself
SHORT = {("cl201_checks", 8)}  # `p.grad is not None and …` of a parameter without one


class Lines:
    """The file's innermost line at each event."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self.told: dict[int, set[str]] = {}
        self.ran: set[int] = set()

    def add(self, what: str) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self._path:
            frame = frame.f_back
        if frame is not None:
            self.told.setdefault(frame.f_lineno, set()).add(what)

    def unclear(self) -> None:
        self.add("?")

    @contextmanager
    def running(self) -> Iterator[None]:
        def called(frame: FrameType, event: str, arg: Any) -> Any:
            return line if frame.f_code.co_filename == self._path else None

        def line(frame: FrameType, event: str, arg: Any) -> Any:
            self.ran.add(frame.f_lineno)
            return line

        before = sys.gettrace()
        sys.settrace(called)
        try:
            yield
        finally:
            sys.settrace(before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", WAITING, ids=lambda path: path.stem)
def test_flagged_lines(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)  # Dynamo switches it off
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    found = api.check([path], api.load_settings(isolated=True)).findings
    lines, cases = Lines(path), load(path)
    torch.manual_seed(0)
    with Prediction(lines) as prediction:
        for function, args in cases.make_cases():
            leaves = [function, *pytree.tree_leaves(args)]
            modules = [leaf for leaf in leaves if isinstance(leaf, torch.nn.Module)]
            state = [value for module in modules for value in module.state_dict(keep_vars=True).values()]
            prediction.place("device", [value for value in state if isinstance(value, torch.Tensor)])
            prediction.place("argument", [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)])
            with lines.running():
                function(*args)
    flagged: set[int] = set()
    for finding in found:
        where = {*range(finding.statement_line or finding.span.line, finding.span.end_line + 1), finding.span.line}
        if {"sync", "transfer"} & set(finding.effects):
            flagged |= where
        if "sync" not in finding.effects or finding.code == WATCHED or not where & lines.ran:
            continue
        if (path.stem, finding.span.line) not in SHORT:
            assert where & set(lines.told), f"{finding.span.line}: {finding.message}"
    others = {line: what - {"?", "Tensor.numpy"} for line, what in lines.told.items()}  # only the host's has .numpy()
    assert not [line for line, what in others.items() if what and line not in flagged | permitted_reads(path)]


def copy(x: Any) -> Any:
    return torch.ones(3).to(x.device, non_blocking=True)


def loaded(x: Any) -> Any:
    loader = torch.utils.data.DataLoader(torch.arange(6.0), batch_size=3, pin_memory=True)
    return next(iter(loader)).to(x.device, non_blocking=True)


def given(x: Any) -> Any:
    return x.to(x.device, non_blocking=True)


def computed(x: Any) -> Any:
    return (x + 1).to("cpu")


def somewhere(x: Any) -> Any:
    moved = (x + 1).to(x.device)
    return moved.sum().item()


def not_waited_for(x: Any) -> Any:
    return (x + 1).to("cpu", non_blocking=True)


def stays(x: Any) -> Any:
    return torch.ones(3).to("cpu").tolist()


def by_torch(x: Any) -> Any:
    weight = torch.nn.Parameter(torch.ones(3))
    (weight * x).sum().backward()
    return torch.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)


def cast(x: Any) -> Any:
    return (x + 1).to(torch.float64, non_blocking=True)


def beside(x: Any) -> Any:
    return (x + 1).to(x + 2)


def from_host(x: Any) -> Any:
    return torch.ones(3).to(x + 2)


def read_on(x: Any) -> Any:
    host = (x + 1).cpu()
    return host.tolist(), host.mean().item(), host.to(x.device)  # on a CPU the copy is the tensor itself


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("function", "told"),
    [
        (copy, {"Tensor.to"}),
        (loaded, {"?"}),
        (given, {"?"}),
        (computed, {"Tensor.to"}),
        (somewhere, {"?", "Tensor.item"}),
        (not_waited_for, set()),
        (stays, set()),
        (by_torch, {"Tensor.__bool__"}),
        (cast, set()),
        (beside, set()),
        (from_host, {"Tensor.to"}),
        (read_on, {"Tensor.cpu", "?"}),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_copies(function: Callable[[Any], Any], told: set[str]) -> None:
    lines, x = Lines(Path(__file__)), torch.ones(3)
    with Prediction(lines) as prediction:
        prediction.place("argument", [x])
        function(x)
    assert set().union(*lines.told.values()) == told
