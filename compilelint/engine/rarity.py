"""Which functions run seldom: by what they are, what they are given, and who calls them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from compilelint.engine.aside import SETUP, draws, is_cached, is_kept, is_test, runs_once, runs_seldom
from compilelint.engine.engine import Engine
from compilelint.engine.events import PERIODIC, Loop, Site
from compilelint.engine.summary import Summary
from compilelint.engine.values import Class, External, Instance, Tensor, Unknown, Value, walk
from compilelint.source.module import ClassInfo, FunctionInfo
from compilelint.source.walk import walk as nodes

INITIALIZE = re.compile(r"_*init(ialize)?_(?!\w*(hidden|state|cache|step|batch|sequence))\w+")
PROGRESS = frozenset("tqdm.tqdm tqdm.trange tqdm.auto.tqdm tqdm.auto.trange tqdm.autonotebook.tqdm".split())
PROGRESS_WORDS = frozenset(("tqdm", "trange"))
LOADER_WORDS = frozenset(("DataLoader",))
PARTS = frozenset("named_modules named_children named_parameters".split())  # of a model, as progress bars show them
RENAMED = {words: frozenset(f"{word} as " for word in words) for words in (PROGRESS_WORDS, LOADER_WORDS)}
KEEPS = frozenset("register_buffer register_parameter add_module setattr".split())
MAKES_LOADER = frozenset(("torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader"))
WHOLE = (
    "<loader>",
    *MAKES_LOADER,
    "torch.utils.data.Dataset",
    "datasets.Dataset",
    "datasets.DatasetDict",
    "pandas.DataFrame",
)


class Rarity:
    """The functions that run seldom: `whole` are those that work on a whole data set."""

    def __init__(self, engine: Engine, summaries: list[Summary]) -> None:
        contexts: dict[FunctionInfo, list[Summary]] = {}
        for summary in summaries:
            if summary.info is not None:
                contexts.setdefault(summary.info, []).append(summary)
        self._once: set[FunctionInfo | None] = {info for info in contexts if runs_once(info)}
        self.whole: set[FunctionInfo | None] = {i for i, of in contexts.items() if _takes_whole(engine, i, of)}
        self.rare = self.whole | {i for i, of in contexts.items() if _is_rare(engine, i, of)}
        aside = {i for i in contexts if draws(i) or (i.name in SETUP and i.cls is not None and _lasts(engine, i.cls))}
        self._spread([summary for summary in summaries if not is_test(summary.module)], aside)

    def _spread(self, summaries: list[Summary], aside: set[FunctionInfo]) -> None:
        """And those all of whose known calls are gated to every N-th step, or come from such, outside their steps.

        `aside`: functions that make calls of no matter: they draw figures, or build what lasts.
        """
        calls: dict[FunctionInfo, list[tuple[FunctionInfo | None, bool]]] = {}
        for summary in summaries:
            for edge in summary.edges:
                if edge.callee.info is not None and edge.callee.info is not summary.info:
                    caller = None if self.repeats(summary.info, edge.site) else summary.info
                    calls.setdefault(edge.callee.info, []).append((caller, bool(PERIODIC & edge.site.gates)))
        changed = True
        while changed:
            changed = False
            for callee, found in calls.items():
                if callee not in self.rare and all(
                    gated or caller in self.rare or caller in aside for caller, gated in found
                ):
                    self.rare.add(callee)
                    changed = True

    def at(self, info: FunctionInfo | None, site: Site) -> bool:
        """Whether a site of a function runs seldom."""
        return info in self.rare and not self.repeats(info, site)

    def repeats(self, info: FunctionInfo | None, site: Site) -> bool:
        """Whether a site runs at each step even of a function that runs seldom."""
        if info in self._once:
            return False
        return site.in_step or any(self.may_step(info, loop) for loop in site.loops)

    def may_step(self, info: FunctionInfo | None, loop: Loop) -> bool:
        """Whether a loop may be one over all of a data set, of a function that works on a whole one."""
        if info is None or info not in self.whole or info.mentions(PARTS):
            return False
        return _may_step(loop)


def _may_step(loop: Loop) -> bool:
    """Whether a loop may run over what loads a data set, as far as is known, or shows how far it got."""
    match loop.node:
        case ast.For(iter=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))) if name in ("tqdm", "trange"):
            return True
    return loop.kind == "while" or isinstance(loop.iterated, (Unknown, Instance))


def _is_rare(engine: Engine, info: FunctionInfo, contexts: Iterable[Summary]) -> bool:
    if (
        runs_seldom(info)
        or _ends_pass(engine, info)
        or _makes_module(engine, info)
        or _sets_up(info)
        or _adds_module(engine, info)
    ):
        return True
    return (is_cached(info) or is_kept(info)) and not any(isinstance(v, Tensor) for v in _given(contexts))


def _takes_whole(engine: Engine, info: FunctionInfo, contexts: Collection[Summary]) -> bool:
    """Whether a function is given a data set, or what loads one, runs over it, makes a loader, or shows a progress bar:
    a pass is all it is for."""
    if any(isinstance(v, Instance) and v.isa(*WHOLE) for v in _given(contexts)):
        return True
    if any(loop.loads for summary in contexts for loop in summary.loops):
        return True
    return _calls(engine, info, LOADER_WORDS, MAKES_LOADER) or _calls(engine, info, PROGRESS_WORDS, PROGRESS)


def _given(contexts: Iterable[Summary]) -> Iterator[Value]:
    return (v for summary in contexts for value in summary.arguments.values() for v in walk(value))


def _sets_up(info: FunctionInfo) -> bool:
    """Whether a method prepares its object: it is called so, and sets attributes. What begins a sequence is hot."""
    if info.cls is None or INITIALIZE.fullmatch(info.name) is None:
        return False
    return any(info in writers for writers in info.cls.stores.values())


def _ends_pass(engine: Engine, info: FunctionInfo) -> bool:
    """Whether a function is a metric's last word on all that its `update` was given."""
    if info.cls is None or info.name not in ("compute", "compute_key_value"):
        return False
    return engine.method(info.cls, "update") is not None


def _lasts(engine: Engine, cls: ClassInfo) -> bool:
    """Whether objects of a class are made once."""
    return not {"torch.nn.Module", "torch.optim.Optimizer"}.isdisjoint(engine.bases(cls))


def _makes_module(engine: Engine, info: FunctionInfo) -> bool:
    """Whether a function is another way to build a module: a class method of one."""
    return info.cls is not None and "classmethod" in info.decorators and "torch.nn.Module" in engine.bases(info.cls)


def _adds_module(engine: Engine, info: FunctionInfo) -> bool:
    """Whether a function, none of those that run hot by their names, gives an object modules or buffers to keep."""
    if info.name in ("forward", "step", "__call__") or not (_keeps(info) or info.mentions(KEEPS)):
        return False
    args = info.node.args.posonlyargs + info.node.args.args
    me = args[0].arg if args and info.cls is not None else None
    scope = engine.scope(info.module)
    for node in nodes(info.node):
        match node:
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target], value=ast.Call(func=func)):
                if _root(target) == me and _is_module(engine, scope.static(func)):
                    return True
            case ast.Call(func=ast.Name(id="setattr"), args=[_, _, ast.Call(func=func)]):
                if _is_module(engine, scope.static(func)):
                    return True
            case ast.Call(func=ast.Attribute(attr="register_buffer" | "register_parameter" | "add_module")):
                return True
    return False


def _keeps(info: FunctionInfo) -> bool:
    """Whether a method, not of the set-up protocol, sets attributes, or fills them."""
    if info.cls is None or info.name in SETUP:
        return False
    return any(info in by for of in (info.cls.stores, info.cls.fills) for by in of.values())


def _root(node: ast.expr) -> str:
    """`self` of `self.adapters[name]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_module(engine: Engine, value: Value) -> bool:
    """Whether a class is one of modules."""
    if isinstance(value, External):
        owner, _, name = value.name.rpartition(".")
        return owner == "torch.nn" and name[:1].isupper() and name not in ("Parameter", "Buffer")
    return isinstance(value, Class) and "torch.nn.Module" in engine.bases(value.info)


def _calls(engine: Engine, info: FunctionInfo, words: frozenset[str], names: frozenset[str]) -> bool:
    """Whether a function calls one of `names`, which end in one of `words`."""
    module, renamed = info.module, RENAMED[words]
    if not info.mentions(words) and not module.wording.says(renamed):
        return False
    scope = engine.scope(info.module)
    called = (scope.static(node.func) for node in nodes(info.node) if isinstance(node, ast.Call))
    return any(isinstance(value, External) and value.name in names for value in called)
