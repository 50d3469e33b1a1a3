"""Regions: which contexts Dynamo traces, which run every step, which only once, and by whom they are reached."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from compilelint.engine import steps
from compilelint.engine.aside import MAKES, SETUP, draws, feeds_loader, is_test, runs_seldom
from compilelint.engine.engine import Engine
from compilelint.engine.events import RARE, Loop, Site
from compilelint.engine.rarity import Rarity
from compilelint.engine.summary import Summary
from compilelint.engine.values import (
    BATCH,
    Compiled,
    Const,
    External,
    Function,
    Instance,
    Map,
    Scalar,
    Seq,
    Tensor,
    walk,
)
from compilelint.finding import Region, RegionKind
from compilelint.models.names import is_optimizer
from compilelint.source.module import FunctionInfo
from compilelint.source.walk import walk as walk_tree

RANK: dict[RegionKind, int] = {"cold": 0, "library": 1, "step": 2, "forward": 3, "compiled": 4}
# classes whose objects are made once, whatever they are made of
LASTING = ("torch.nn.Module", "torch.optim.Optimizer", "torch.autograd.Function")
# functions whose loops over what nobody knows are steps
WORKS = re.compile(r"_*(train|fit|eval|valid|test|infer|predict|generat|rollout)\w*|\w*_epoch")
STEPS = frozenset("training_step validation_step test_step predict_step".split())


@dataclass(frozen=True, slots=True)
class Standing:
    """How a context is reached. `looped`: the frame whose loop calls it while Dynamo traces ("" for none).

    `fullgraph`: only through torch.compile(fullgraph=True). `rarely`: all its known calls are gated to every N-th step.
    `aside`: of no matter for how fast a program trains, set-up included.
    """

    region: Region
    looped: str = ""
    fullgraph: bool = False
    rarely: bool = False
    aside: bool = False


class Regions:
    """The region of every context, found by reachability along the calls seen."""

    def __init__(self, engine: Engine, roots: Iterable[str] = (), modules: bool = False) -> None:
        """`roots` are compiled by decree (`module:Qual.name`), with `modules` every nn.Module's forward is."""
        self.engine = engine
        self.regions: dict[Summary, Region] = {}
        self.looped: dict[Summary, str] = {}
        summaries = engine.summaries()
        steps.mark(summaries)
        hooks = {hook.info for hook in (*(hook for _, hook in engine.hooks), *engine.backward_hooks)}
        self._setup = _setup_only(summaries, engine.references, hooks)
        self._rarity = Rarity(engine, summaries)
        forwards = self._forward_roots(summaries)
        parted = (root.partition(":") for root in roots)
        named = {f"{engine.project.own_name(module)}:{name}" for module, _, name in parted}
        split_roots = self._compiled_roots(summaries, named, fullgraph=False)
        self._spread("compiled", split_roots + (forwards if modules else []))
        self._spread("compiled", self._hooks_beside())
        split = set(self.regions)
        self._spread("compiled", self._compiled_roots(summaries, set(), fullgraph=True))
        self.fullgraph = set(self.regions) - split
        self._kept_out: list[tuple[Summary, str]] = []  # by torch.compiler.disable, of forward passes
        self._spread("forward", forwards)
        self._spread("step", self._step_roots(summaries))
        self._spread("library", self._library_roots(summaries))

    def of(self, summary: Summary) -> Region:
        return self._of(summary, self._aside(summary))

    def _of(self, summary: Summary, aside: str | None) -> Region:
        if aside is not None:
            return Region("cold", summary.name, aside)
        found = self.regions.get(summary)
        if found is not None:
            return found
        return Region("cold", summary.name, "runs once, as far as is known")

    def standing(self, summary: Summary, site: Site) -> Standing:
        """The region of one site, and how it is reached."""
        aside = self._aside(summary)
        return Standing(
            self._at(summary, site, aside),
            self.looped.get(summary, ""),
            summary in self.fullgraph,
            self._rarity.at(summary.info, site),
            aside is not None,
        )

    def steps(self, summary: Summary) -> list[Loop]:
        """The loops of a context whose rounds are steps, as far as is known."""
        works = summary.info is not None and WORKS.fullmatch(summary.info.name) is not None
        return [
            loop
            for loop in summary.loops
            if loop.is_step
            or self._rarity.may_step(summary.info, loop)
            or (works and loop.kind == "for" and not isinstance(loop.iterated, (Seq, Map, Scalar, Const)))
        ]

    def seldom(self, info: FunctionInfo) -> bool:
        """Whether what a function calls is not hot by that: it runs seldom, draws, or makes batches on the host."""
        bases = self.engine.bases(info.cls) if info.cls is not None else ()
        made = info.name in MAKES and set(LASTING).isdisjoint(bases)  # as often as the code around runs, perhaps
        once = (info.name in SETUP or info in self._setup) and not made
        once |= info in self._rarity.rare or runs_seldom(info)
        return once or draws(info) or feeds_loader(info, bases)

    def _at(self, summary: Summary, site: Site, aside: str | None) -> Region:
        """Inside a step loop a site is hot, beside one it is not."""
        region = self._of(summary, aside)
        if RANK[region.kind] >= RANK["forward"] or aside is not None:
            return region
        if site.in_step:
            return Region("step", summary.name, "runs at each step of this loop")
        if summary.trains and region.kind != "step":
            return Region("cold", summary.name, "stands beside the training loop, not in it")
        return region

    def _aside(self, summary: Summary) -> str | None:
        """Why a context is never hot; None where it may be."""
        info = summary.info
        if is_test(summary.module):
            return "belongs to a test"
        if info is None:
            return None
        if draws(info):
            return "draws a figure"
        if info.decorators and self.engine.is_kernel(info):
            return "is compiled by another compiler"
        found = self.regions.get(summary)
        if found is not None and RANK[found.kind] >= RANK["forward"]:
            return None
        bases = self.engine.bases(info.cls) if info.cls is not None else ()
        return "makes batches, on the host" if feeds_loader(info, bases) else None

    def _spread(self, kind: RegionKind, roots: list[tuple[Summary, str]]) -> None:
        queue: deque[Summary] = deque()
        for summary, why in roots:
            if summary not in self.regions:
                self.regions[summary] = Region(kind, summary.name, why)
                queue.append(summary)
        while queue:
            caller = queue.popleft()
            region = self.regions[caller]
            for edge in caller.edges:
                callee = edge.callee
                if callee in self.regions or (kind != "compiled" and self._sets_up(callee, caller)):
                    continue
                if kind == "compiled" and (edge.disabled or "not-compiling" in edge.site.gates):
                    continue
                if kind == "forward" and edge.disabled:
                    self._kept_out.append((callee, f"is called from {caller.name}, and kept out of graphs"))
                    continue
                if RANK[kind] >= RANK["forward"] and _is_coroutine(callee):
                    continue
                if kind == "library" and not self._in_tensor_code(caller, edge.site):
                    continue
                self.regions[callee] = Region(kind, region.root, f"is called from {caller.name}")
                if RANK[kind] >= RANK["forward"]:
                    frame = caller.info.name if edge.site.loops and caller.info is not None else ""
                    if frame := frame or self.looped.get(caller, ""):
                        self.looped[callee] = frame
                queue.append(callee)

    def _sets_up(self, callee: Summary, caller: Summary) -> bool:
        """Whether hot code that calls this does not make it hot: it builds a model.

        An object of a plain class that is made of tensors is made as often as the code around it runs.
        """
        info = callee.info
        if info is None or info not in self._setup:
            return False
        if info.name in SETUP:
            return info.name not in MAKES or not _made_of_tensors(callee)
        return caller.info is None or caller.info.name not in MAKES

    def _in_tensor_code(self, caller: Summary, site: Site) -> bool:
        return not caller.trains or site.in_step

    def _compiled_roots(
        self, summaries: list[Summary], names: set[str], *, fullgraph: bool
    ) -> list[tuple[Summary, str]]:
        """What torch.compile enters, with fullgraph=True or without; settings go with the latter."""
        entry = "fullgraph" if fullgraph else "split"

        def why(plain: str) -> str:
            return "is compiled with fullgraph=True" if fullgraph else plain

        compiled = [s for s, whole in self.engine.compile_roots if whole is fullgraph]
        roots = [(s, why("is passed to torch.compile")) for s in compiled]
        for summary in summaries:
            roots += [
                (edge.callee, why("is compiled where it is called"))
                for edge in summary.edges
                if edge.compiled == entry and not edge.disabled
            ]
            info = summary.info
            if info is None:
                continue
            if info.id in names:
                roots.append((summary, "is named as a compile root in the settings"))
            elif info.decorators:
                value = self.engine.decorated(Function(info), info, self.engine.scope(info.module))
                if isinstance(value, Compiled) and value.fullgraph is fullgraph:
                    roots.append((summary, why("is decorated with torch.compile")))
        return roots

    def _hooks_beside(self) -> list[tuple[Summary, str]]:
        """The hooks in files of which something is compiled."""
        files = {summary.module for summary in self.regions if summary.info is not None}
        return [(hook, "is a hook of a compiled module") for _, hook in self.engine.hooks if hook.module in files]

    def _forward_roots(self, summaries: list[Summary]) -> list[tuple[Summary, str]]:
        roots = [
            (summary, "is an nn.Module's forward")
            for summary in summaries
            if summary.info is not None
            and summary.info.name == "forward"
            and summary.info.cls is not None
            and "torch.nn.Module" in self.engine.bases(summary.info.cls)
            and summary.info not in self._rarity.whole  # a calibration, say
            and not self.engine.disabled(summary.info)
        ]
        return roots + [(hook, "is a module's hook") for _, hook in self.engine.hooks]

    def _step_roots(self, summaries: list[Summary]) -> list[tuple[Summary, str]]:
        roots = [*self._kept_out, *((hook, "is a hook of the backward pass") for hook in self.engine.backward_hooks)]
        for summary in summaries:
            info = summary.info
            if info is not None and info.cls is not None:
                bases = self.engine.bases(info.cls)
                if info.name == "step" and "torch.optim.Optimizer" in bases:
                    roots.append((summary, "is an optimizer's step"))
                elif info.name == "forward" and "torch.nn.Module" in bases and self.engine.disabled(info):
                    roots.append((summary, "is an nn.Module's forward, kept out of graphs"))
                elif info.name in STEPS and any(b.endswith("LightningModule") for b in bases):
                    roots.append((summary, "is run at each step"))
            roots += [
                (edge.callee, f"is called at each step of a loop in {summary.name}")
                for edge in summary.edges
                if edge.site.in_step and not RARE & edge.site.gates
            ]
        return [(s, why) for s, why in roots if s.info is not None and s.info not in self._setup]

    def _library_roots(self, summaries: list[Summary]) -> list[tuple[Summary, str]]:
        return [
            (summary, "works on tensors, and a hot path may call it")
            for summary in summaries
            if summary.info is not None
            and summary.info not in self._setup
            and (takes_tensors(summary) or makes_tensors(summary) or self._is_round(summary))
        ]

    def _is_round(self, summary: Summary) -> bool:
        """Whether a function trains outside loops, with an optimizer that is there already: else it is a script."""
        if not summary.body.trains or summary.info is None:
            return False
        scope = self.engine.scope(summary.module)
        made = (scope.static(node.func) for node in walk_tree(summary.info.node) if isinstance(node, ast.Call))
        return not any(isinstance(value, External) and is_optimizer(value.name) for value in made)


def _is_coroutine(summary: Summary) -> bool:
    """Whether a call only makes a coroutine, which runs somewhere else: Dynamo traces none."""
    return summary.info is not None and isinstance(summary.info.node, ast.AsyncFunctionDef)


def takes_tensors(summary: Summary) -> bool:
    """Whether a parameter certainly is, or holds, a tensor or a module; or `self` is a module."""
    if any(_holds_tensor(value) for value in summary.arguments.values()):
        return True
    bound = summary.bound
    return isinstance(bound, Instance) and bound.isa("torch.nn.Module") and bool(summary.info and summary.info.cls)


def _made_of_tensors(summary: Summary) -> bool:
    """Whether an object is certainly given tensors when it is made, and is no module or the like."""
    bound = summary.bound
    if not isinstance(bound, Instance) or bound.isa(*LASTING) or any(b.startswith("torch.utils.") for b in bound.bases):
        return False
    given = [value for value in summary.arguments.values() if isinstance(value, (Tensor, Seq, Map))]
    return any(isinstance(v, Tensor) for value in given for v in walk(value))


def makes_tensors(summary: Summary) -> bool:
    """Whether a function is told a device: it makes tensors for its caller there."""
    return "device" in summary.arguments and not _entry(summary)


def _entry(summary: Summary) -> bool:
    """Whether a function sets things up: its device has a name (`device="cpu"` in scripts), or it builds modules."""
    device = summary.info.default("device") if summary.info is not None else None
    if isinstance(device, ast.Constant) and isinstance(device.value, str):
        return True
    return any(edge.callee.info is not None and edge.callee.info.name == "__init__" for edge in summary.edges)


def _holds_tensor(value: object) -> bool:
    return any(
        (isinstance(v, Tensor) and v.kind != "numpy") or (isinstance(v, Instance) and v.isa("torch.nn.Module", BATCH))
        for v in walk(value)  # type: ignore[arg-type]
    )


def _setup_only(
    summaries: list[Summary],
    references: Mapping[FunctionInfo, set[FunctionInfo | None]],
    hooks: Collection[FunctionInfo | None],
) -> set[FunctionInfo]:
    """Functions of the set-up protocol, and those, but for hooks, that nothing but set-up calls or speaks of."""
    callers: dict[FunctionInfo, set[FunctionInfo | None]] = {info: set(by) for info, by in references.items()}
    for summary in summaries:
        for edge in summary.edges:
            if edge.callee.info is not None and edge.callee.info is not summary.info:
                callers.setdefault(edge.callee.info, set()).add(summary.info)
    setup = {s.info for s in summaries if s.info is not None and s.info.name in SETUP}
    changed = True
    while changed:
        changed = False
        for callee, by in callers.items():
            if (
                callee not in setup
                and callee.name != "forward"
                and callee not in hooks
                and by
                and all(c is not None and c in setup for c in by)
            ):
                setup.add(callee)
                changed = True
    return setup
