"""verify(): both sides measured, compared and judged. Runs in the caller's process, which never imports torch."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from compilelint.errors import UsageProblem
from compilelint.runtime.process import WorkerError, run_worker
from compilelint.runtime.results import MODES, MODULE_MODES, Check, ModuleMode, Side, VerifyResult, side_from_json
from compilelint.runtime.sources import Tree, resolve, working_tree
from compilelint.runtime.target import Target, parse_input, parse_target
from compilelint.runtime.verdict import counts_kernels, judge

TIMEOUT = 300.0
BACKENDS = ("inductor", "aot_eager", "eager")
NO_TORCH = (
    'verify runs the code, and needs torch in this environment: python -m pip install torch (or "compilelint[dev]")'
)


def verify(
    target: str,
    before: str,
    after: str | None = None,
    *,
    device: str | None = None,
    inputs: Sequence[str] = (),
    timeout: float = TIMEOUT,
    backend: str = "inductor",
    mode: ModuleMode = "given",
    cwd: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> VerifyResult:
    """Run TARGET of `before` (a git revision or a directory) and of `after` (a directory; the working tree when None).

    Raises UsageProblem where there is nothing to compare: a TARGET that can't be used, a revision that isn't there, a
    `before` that itself crashes or hangs. The same of `after` is a result: its `error` says so and `ok` is False.
    """
    cwd = (cwd or Path.cwd()).resolve()
    parsed = parse_target(target)
    for text in inputs:
        parse_input(text)
    if backend not in BACKENDS:
        raise UsageProblem(f"--backend {backend}: expected one of {', '.join(BACKENDS)}")
    if mode not in MODULE_MODES:
        raise UsageProblem(f"--mode {mode}: expected one of {', '.join(MODULE_MODES)}")
    if device is not None and not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise UsageProblem(f"--device {device}: expected cpu, cuda or cuda:N")
    with tempfile.TemporaryDirectory(prefix="compilelint-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder).resolve()
        trees = {"before": resolve(before, cwd, scratch / "before-tree"), "after": working_tree(cwd)}
        if after is not None:
            trees["after"] = resolve(after, cwd, scratch / "after-tree")
        if importlib.util.find_spec("torch") is None:
            raise UsageProblem(NO_TORCH)
        run = _Run(parsed, trees, cwd, scratch, device, list(inputs), timeout, backend, mode)
        progress(f"running {trees['before'].label}")
        old = run.measure("before")
        if old.error:
            raise UsageProblem(f"before ({old.label}): {old.error}")
        progress(f"running {trees['after'].label}")
        new = run.measure("after")
        result = VerifyResult(target, old.device, old, new, backend)
        if not new.error:
            progress("comparing")
            result.checks = run.compare(old, new)
            result.verdicts = [
                verdict
                for verdict in judge(old, new)
                if verdict.metric != "kernels" or counts_kernels(result.device, backend)
            ]
        return result


class _Run:
    """One verification's settings and scratch folder."""

    def __init__(
        self,
        target: Target,
        trees: dict[str, Tree],
        cwd: Path,
        scratch: Path,
        device: str | None,
        inputs: list[str],
        timeout: float,
        backend: str,
        mode: ModuleMode,
    ) -> None:
        self.target, self.trees, self.cwd, self.scratch = target, trees, cwd, scratch
        self.device, self.inputs, self.timeout, self.backend, self.mode = device, inputs, timeout, backend, mode

    def measure(self, name: str) -> Side:
        tree = self.trees[name]
        file, elsewhere = self._file(name)
        note = f"{self.target.file} is not in {tree.label}: taken from the other side" if elsewhere else ""
        request: dict[str, Any] = {
            "job": "measure",
            "target": self.target.text,
            "file": str(file) if file else None,
            "elsewhere": elsewhere,
            "inputs": self.inputs,
            "device": self.device,
            "backend": self.backend,
            "label": tree.label,
            "other_root": str(self.trees["after" if name == "before" else "before"].root),
            "roots": [str(tree.root), *([str(file.parent)] if file and elsewhere else [])],
            "values": self._values(name),
            "mode": self.mode,
            "reference": name == "before",
        }
        path = _import_path(tree, file)
        try:
            answer = run_worker(request, scratch=self.scratch / name, cwd=tree.cwd, path=path, timeout=self.timeout)
        except WorkerError as error:
            return Side(tree.label, error=str(error))
        if "usage" in answer:
            raise UsageProblem(answer["usage"])
        if "failed" in answer:
            return Side(tree.label, error=f"could not be run: {answer['failed']}")
        side = side_from_json(answer["side"])
        if note:
            side.notes.append(note)
        return side

    def compare(self, before: Side, after: Side) -> list[Check]:
        request = {
            "job": "compare",
            "before": asdict(before),
            "after": asdict(after),
            "before_values": self._values("before"),
            "after_values": self._values("after"),
        }
        try:
            answer = run_worker(
                request, scratch=self.scratch / "compare", cwd=self.scratch, path=[], timeout=self.timeout
            )
        except WorkerError as error:
            raise UsageProblem(f"the comparison of the values {error}") from None
        if "checks" not in answer:
            raise UsageProblem(f"the values could not be compared: {answer}")
        return [Check(**check) for check in answer["checks"]]

    def _values(self, name: str) -> dict[str, str]:
        return {mode: str(self.scratch / f"{name}-{mode}.pt") for mode in (*MODES, "nudged", "exact")}

    def _file(self, name: str) -> tuple[Path | None, bool]:
        """Where TARGET's file is for this side, and whether that is the other side's: a script written for the
        verification need not be in the old version."""
        if self.target.file is None:
            return None, False
        given = Path(self.target.file)
        if given.is_absolute():
            # an absolute path lies in one of the trees: it means the same file in both
            for tree in self.trees.values():
                if given.resolve().is_relative_to(tree.root):
                    given = Path(
                        *given.resolve()
                        .relative_to(tree.cwd if given.resolve().is_relative_to(tree.cwd) else tree.root)
                        .parts
                    )
                    break
        other = "after" if name == "before" else "before"
        if (own := self.trees[name].cwd / given).is_file():
            return own.resolve(), False
        if (theirs := self.trees[other].cwd / given).is_file():
            return theirs.resolve(), True
        if (here := self.cwd / given).is_file():
            return here.resolve(), True
        raise UsageProblem(
            f"TARGET {self.target.text}: there is no {given} in {self.trees[name].label} ({self.trees[name].cwd})"
        )


def _import_path(tree: Tree, file: Path | None) -> list[Path]:
    """What goes in front of PYTHONPATH: the tree's own packages hide any installed copy of them."""
    places = [tree.cwd, tree.cwd / "src", tree.root, tree.root / "src"]
    if file is not None and file.is_relative_to(tree.root) and not (file.parent / "__init__.py").is_file():
        places.insert(0, file.parent)
    return [place for place in dict.fromkeys(places) if place.is_dir()]
