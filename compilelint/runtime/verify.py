"""verify(): both sides measured, compared and judged. Runs in the caller's process, which never imports torch."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from compilelint.errors import UsageProblem
from compilelint.runtime.process import WorkerError, run_worker
from compilelint.runtime.results import MODES, MODULE_MODES, Check, ModuleMode, Side, VerifyResult, side_from_json
from compilelint.runtime.sources import Tree, copy, resolve, working_tree
from compilelint.runtime.target import Target, parse_input, parse_target
from compilelint.runtime.verdict import counts_kernels, judge

TIMEOUT = 300.0
BACKENDS = ("inductor", "aot_eager", "eager")
SideName = Literal["before", "after"]
NO_TORCH = (
    'verify runs the code, and needs torch in this environment: python -m pip install torch (or "compilelint[dev]")'
)


@dataclass(frozen=True)
class Running:
    """How a TARGET is run. `device` None: the GPU where there is one. `timeout` in seconds, for each side."""

    device: str | None = None
    inputs: Sequence[str] = ()
    timeout: float = TIMEOUT
    backend: str = "inductor"
    mode: ModuleMode = "given"

    def __post_init__(self) -> None:
        for text in self.inputs:
            parse_input(text)
        if self.backend not in BACKENDS:
            raise UsageProblem(f"--backend {self.backend}: expected one of {', '.join(BACKENDS)}")
        if self.mode not in MODULE_MODES:
            raise UsageProblem(f"--mode {self.mode}: expected one of {', '.join(MODULE_MODES)}")
        if self.device is not None and not re.fullmatch(r"cpu|cuda(:\d+)?", self.device):
            raise UsageProblem(f"--device {self.device}: expected cpu, cuda or cuda:N")


def verify(
    target: str,
    before: str,
    after: str | None = None,
    *,
    cwd: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    **running: Any,
) -> VerifyResult:
    """Run TARGET of `before` (a git revision or a directory) and of `after` (a directory; the working tree when None).
    `running`: the fields of Running.

    Raises UsageProblem where there is nothing to compare: a TARGET that can't be used, a revision that isn't there, a
    `before` that itself crashes or hangs. The same of `after` is a result: its `error` says so and `ok` is False.
    """
    cwd = (cwd or Path.cwd()).resolve()
    parsed, options = parse_target(target), Running(**running)
    with tempfile.TemporaryDirectory(prefix="compilelint-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder).resolve()
        given: dict[SideName, Tree] = {"before": resolve(before, cwd, scratch / "before-export")}
        given["after"] = resolve(after, cwd, scratch / "after-export") if after is not None else working_tree(cwd)
        session = Session(parsed, given, cwd, scratch, options)
        trees = session.trees
        progress(f"running {trees['before'].label}")
        session.measure_before()
        progress(f"running {trees['after'].label}")
        return session.compare_after(progress)


class Session:
    """One version measured, others compared with it: each time what the "after" tree holds by then. `trees` are private
    copies of those that are `given`: what the program writes into its folder, it writes there."""

    def __init__(self, target: Target, given: dict[SideName, Tree], cwd: Path, scratch: Path, running: Running) -> None:
        if importlib.util.find_spec("torch") is None:
            raise UsageProblem(NO_TORCH)
        self.target, self.cwd, self.scratch, self.running = _relative(target, given), cwd, scratch, running
        self._given = given
        self.trees = {name: copy(tree, scratch / f"{name}-tree") for name, tree in given.items()}
        self.before = Side("")
        self.reached: dict[str, list[int]] = {}  # lines of the "before" tree that ran, if it was asked for

    def measure_before(self, *, reached: bool = False) -> None:
        """Raises UsageProblem where it can't be measured. `reached`: watch which lines run."""
        self.before = self._measure("before", reached=reached)
        if self.before.error:
            raise UsageProblem(f"before ({self.before.label}): {self.before.error}")

    def compare_after(self, progress: Callable[[str], None] = lambda _: None) -> VerifyResult:
        old, new = self.before, self._measure("after")
        result = VerifyResult(self.target.text, old.device, old, new, self.running.backend)
        if not new.error:
            progress("comparing")
            result.checks = self._compare(old, new)
            result.verdicts = [
                verdict
                for verdict in judge(old, new)
                if verdict.metric != "kernels" or counts_kernels(result.device, self.running.backend)
            ]
        return result

    def _measure(self, name: SideName, *, reached: bool = False) -> Side:
        shutil.rmtree(self.scratch / name, ignore_errors=True)
        tree = self.trees[name]
        file, elsewhere = self._file(name)
        note = f"{self.target.file} is not in {tree.label}: taken from the other side" if elsewhere else ""
        request: dict[str, Any] = {
            "job": "measure",
            "target": self.target.text,
            "file": str(file) if file else None,
            "elsewhere": elsewhere,
            "inputs": list(self.running.inputs),
            "device": self.running.device,
            "backend": self.running.backend,
            "label": tree.label,
            "other_roots": [
                str(self.trees["after" if name == "before" else "before"].root),
                *(str(tree.root) for tree in self._given.values()),
            ],
            "roots": [str(tree.root), *([str(file.parent)] if file and elsewhere else [])],
            "values": self._values(name),
            "mode": self.running.mode,
            "reference": name == "before",
            "reached": reached,
        }
        try:
            answer = run_worker(
                request,
                scratch=self.scratch / name,
                cwd=tree.cwd,
                path=_import_path(tree, file),
                timeout=self.running.timeout,
            )
        except WorkerError as error:
            return Side(tree.label, error=str(error))
        if "usage" in answer:
            raise UsageProblem(answer["usage"])
        if "failed" in answer:
            return Side(tree.label, error=f"could not be run: {answer['failed']}")
        side = side_from_json(answer["side"])
        if reached:
            self.reached = answer["reached"]
        if note:
            side.notes.append(note)
        return side

    def _compare(self, before: Side, after: Side) -> list[Check]:
        request = {
            "job": "compare",
            "before": asdict(before),
            "after": asdict(after),
            "before_values": self._values("before"),
            "after_values": self._values("after"),
        }
        try:
            answer = run_worker(
                request,
                scratch=self.scratch / "compare",
                cwd=self.scratch,
                path=[],
                timeout=self.running.timeout,
            )
        except WorkerError as error:
            raise UsageProblem(f"the comparison of the values {error}") from None
        if "checks" not in answer:
            raise UsageProblem(f"the values could not be compared: {answer}")
        return [Check(**check) for check in answer["checks"]]

    def _values(self, name: SideName) -> dict[str, str]:
        return {values: str(self.scratch / name / f"{values}.pt") for values in (*MODES, "nudged", "exact")}

    def _file(self, name: SideName) -> tuple[Path | None, bool]:
        """Where TARGET's file is for this side, and whether that is the other side's: a script written for the
        verification need not be in the old version."""
        if self.target.file is None:
            return None, False
        given = Path(self.target.file)
        other: SideName = "after" if name == "before" else "before"
        if (own := self.trees[name].cwd / given).is_file():
            return own.resolve(), False
        if (theirs := self.trees[other].cwd / given).is_file():
            return theirs.resolve(), True
        if (here := self.cwd / given).is_file():
            return here.resolve(), True
        raise UsageProblem(
            f"TARGET {self.target.text}: there is no {given} in {self.trees[name].label} ({self._given[name].cwd})"
        )


def _relative(target: Target, given: dict[SideName, Tree]) -> Target:
    """An absolute path that lies in one of the trees means the same file in both."""
    if target.file is None or not Path(target.file).is_absolute():
        return target
    file = Path(target.file).resolve()
    for tree in given.values():
        if file.is_relative_to(tree.root):
            return replace(target, file=os.path.relpath(file, tree.cwd))
    return target


def _import_path(tree: Tree, file: Path | None) -> list[Path]:
    """What goes in front of PYTHONPATH: the tree's own packages hide any installed copy of them."""
    places = [tree.cwd, tree.cwd / "src", tree.root, tree.root / "src"]
    if file is not None and file.is_relative_to(tree.root) and not (file.parent / "__init__.py").is_file():
        places.insert(0, file.parent)
    return [place for place in dict.fromkeys(places) if place.is_dir()]
