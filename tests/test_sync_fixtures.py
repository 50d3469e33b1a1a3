"""Fixtures of CL2xx to CL5xx that run on the CPU: marked lines really read, copy or compile, near misses don't.

What CL2xx and CL4xx report is compared with what `hostreads.py` sees; `# reads` marks a line that it sees and that is
rightly not reported (a value of the host, a copy that is none). What CL50x report is compared with the calls of
`torch.compile`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fixturefiles import FILES, FIXED, code_of, load, marks, permitted_reads

from compilelint import registry
from compilelint.sdk import Rule

torch = pytest.importorskip("torch")

from hostreads import host_reads  # noqa: E402

WAITING = ("CL2", "CL4")
UNSEEN = {"CL403", "CL407"}  # the copy is on another line; a list is copied only where the tensor is on a device


def rule_of(path: Path) -> Rule:
    return registry.find_rule(code_of(path))


def is_compile(path: Path) -> bool:
    return bool({"launch", "recompile"} & set(rule_of(path).effects)) and code_of(path).startswith("CL5")


READING = [path for path in FILES if code_of(path).startswith(WAITING)]
COMPILING = [path for path in FILES if is_compile(path)]
REWRITTEN = [path for path in FIXED if "graph-break" not in rule_of(path).effects]


@pytest.fixture(autouse=True)
def validated(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a fresh process: Dynamo, once used, switches the validation of distributions off."""
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)


@pytest.fixture
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)


def run_cases(path: Path) -> list[Any]:
    results = []
    for function, args in load(path).make_cases():
        torch.manual_seed(0)
        results.append(function(*args))
    return results


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", READING, ids=lambda p: p.stem)
def test_lines_that_read(path: Path) -> None:
    wanted = {mark.line for mark in marks(path) if any(c.startswith(WAITING) and c not in UNSEEN for c in mark.codes)}
    unseen = {mark.line for mark in marks(path) if UNSEEN & set(mark.codes)}
    seen: set[int] = set()
    cases = load(path).make_cases()
    assert cases
    with host_reads(path, seen):
        for function, args in cases:
            function(*args)
    allowed = permitted_reads(path)
    assert allowed <= seen, f"marked `# reads`, and read nothing: {sorted(allowed - seen)}"
    assert seen - allowed - unseen == wanted - unseen


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_device")
@pytest.mark.parametrize("path", REWRITTEN, ids=lambda p: p.stem)
def test_fixed_computes_the_same(path: Path) -> None:
    with torch.compiler.set_stance("force_eager"):
        before, after = run_cases(path), run_cases(path.with_suffix(".fixed.py"))
    assert before
    for wanted, found in zip(before, after, strict=True):
        assert type(found) is type(wanted)
        if isinstance(wanted, str):
            assert found == wanted
        else:
            torch.testing.assert_close(found, wanted, equal_nan=True)


def test_the_cases_of_every_fixture_are_run() -> None:
    """By a test that sees what the fixture claims: here, or what Dynamo does in test_fixtures.py."""
    run = {*READING, *COMPILING, *FIXED, *(path for path in FILES if "graph-break" in rule_of(path).effects)}
    assert [path.name for path in FILES if path not in run] == []


class Compiles:
    """What a file compiles: the lines that compile the same code again, and those whose result is never called."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.made: list[tuple[int, object]] = []
        self.unused: set[int] = set()

    @property
    def again(self) -> set[int]:
        return {line for n, (line, what) in enumerate(self.made) if (line, what) in self.made[:n]}

    def __call__(self, model: Any = None, **options: Any) -> Any:
        line = self._line()
        self.made.append((line, getattr(model, "__code__", id(model))))
        self.unused.add(line)

        def compiled(*args: Any, **kwargs: Any) -> Any:
            self.unused.discard(line)
            return model(*args, **kwargs)

        if not isinstance(model, torch.nn.Module):
            return compiled
        whole = torch.nn.Module()
        whole.forward = compiled
        return whole

    def _line(self) -> int:
        frame = sys._getframe(2)
        while frame.f_code.co_filename != str(self.path):
            assert frame.f_back is not None
            frame = frame.f_back
        return frame.f_lineno


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Compiles]]:
    def watch(path: Path) -> Compiles:
        seen = Compiles(path)
        monkeypatch.setattr(torch, "compile", seen)
        return seen

    yield watch


@pytest.mark.parametrize("path", COMPILING, ids=lambda p: p.stem)
def test_lines_that_compile(path: Path, compiles: Callable[[Path], Compiles]) -> None:
    """CL502 marks what is compiled and never called, CL503 what is compiled again."""
    seen = compiles(path)
    assert run_cases(path)
    wanted = {mark.line for mark in marks(path)}
    assert (seen.again if "recompile" in rule_of(path).effects else seen.unused) == wanted
    fixed = path.with_suffix(".fixed.py")
    if fixed.exists():
        seen = compiles(fixed)
        run_cases(fixed)
        assert seen.made and not seen.unused
