"""Runs TARGET: its callable a few times, as it is where it calls torch.compile itself, else compiled as a whole."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.utils import counters, get_compilation_metrics

from compilelint.errors import UsageProblem
from compilelint.runtime.load import Loader, Program
from compilelint.runtime.measure import Runner
from compilelint.runtime.target import parse_input, parse_target
from compilelint.runtime.trace.watch import Watch

CALLS = 3  # measured, after one that compiles


def run_target(request: dict[str, Any], watch: Watch) -> None:
    """Raises what the program raises; of a TARGET that can't be used the record says why."""
    sys.argv = [request["name"], *request["arguments"]]
    device = torch.device("cuda" if watch.measures else "cpu")
    try:
        loader = Loader(
            parse_target(request["name"]), request["file"], [parse_input(each) for each in request["inputs"]], device
        )
        program = loader.make()
    except UsageProblem as problem:
        watch.journal.facts(refused=str(problem))
        sys.exit(2)
    runner = Runner(program, device)
    if watch.prediction is not None:
        watch.prediction.place("device", (value for _, value in program.named_state()))
    original = program.call
    try:
        _call(runner, watch)
    except Exception:
        if hint := program.mismatch():
            watch.journal.note(hint)
        raise
    if not get_compilation_metrics():
        watch.journal.note("compiled: the whole target in torch.compile; it compiles nothing itself")
        program.call = torch.compile(original, backend=request["backend"])
        _call(runner, watch)
    for _ in range(request["after"]):
        _call(runner, watch)
    calls = request["steps"] or CALLS
    with _in_sight(runner, watch, calls):
        watch.steps.target(calls)
        for _ in range(calls):
            _call(runner, watch)
            watch.steps.target_called()
    if program.call is not original:
        _explain(original, program, watch)


@contextlib.contextmanager
def _in_sight(runner: Runner, watch: Watch, calls: int) -> Iterator[None]:
    """Where syncs are predicted, what is compiled hides calls: it is called as often all the same, since a recompile
    shows on a later call, and then run with compilation switched off."""
    if watch.prediction is None:
        yield
        return
    for _ in range(calls):
        _call(runner, watch)
    with torch.compiler.set_stance("force_eager"):
        yield


def _call(runner: Runner, watch: Watch) -> None:
    arguments = runner.program.fresh()
    if watch.prediction is not None:
        watch.prediction.place("argument", runner.tensors(arguments))
    runner.clear_gradients()
    runner.again(arguments)


def _explain(call: Any, program: Program, watch: Watch) -> None:
    """What `torch._dynamo.explain` says of the same call, for comparison; a break that only it tells of is a note."""
    known = watch.journal.gb_types()
    watch.dynamo.paused = True
    args, kwargs = program.fresh()
    try:
        said: Any = torch._dynamo.explain(call)(*args, **kwargs)
    except Exception as error:  # noqa: BLE001
        watch.journal.facts(explained={"error": f"{type(error).__name__}: {error}"})
        return
    reasons = [str(reason.reason).strip().partition("\n")[0] for reason in said.break_reasons]
    watch.journal.facts(
        explained={
            "graphs": said.graph_count,
            "breaks": said.graph_break_count,
            "ops": said.op_count,
            "reasons": reasons,
        }
    )
    counters["graph_break"].clear()
    for reason in reasons:
        if not any(reason.startswith(gb_type) for gb_type in known):
            watch.journal.note(f"torch._dynamo.explain names a graph break that was not seen at any line: {reason}")
