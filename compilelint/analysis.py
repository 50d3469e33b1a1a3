"""From files to findings: interpret every function, find the regions, hand the events to the rules."""

from __future__ import annotations

import ast
import gc
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilelint.engine.engine import Engine
from compilelint.engine.events import Call, Enter, Event, Site
from compilelint.engine.regions import Regions
from compilelint.engine.summary import Edge, Summary
from compilelint.engine.values import UNKNOWN, Value
from compilelint.finding import (
    EFFECTS,
    Effect,
    Finding,
    FixPlan,
    Region,
    Severity,
    Span,
    Stats,
    TraceStep,
    one_per_site,
)
from compilelint.models import tables
from compilelint.sdk import Check, Report, Rule
from compilelint.source.module import FunctionInfo, Module
from compilelint.source.project import Project, SourceError

if TYPE_CHECKING:
    from compilelint.config import Settings
    from compilelint.fix.cst import CstFile
    from compilelint.fix.rewriter import Rewriter

RECURSION_LIMIT = 12_000
FEW = 40  # files whose garbage can wait


@dataclass(slots=True)
class InternalError:
    """An exception of ours: in which file, at which function, in which rule (or "" for the engine)."""

    path: str
    line: int
    function: str
    rule: str
    message: str
    traceback: str


@dataclass(slots=True)
class Analysis:
    findings: list[Finding] = field(default_factory=list)
    stats: Stats = field(default_factory=Stats)
    errors: list[InternalError] = field(default_factory=list)
    unreadable: dict[Path, SourceError] = field(default_factory=dict)


class Dispatch:
    """Which checks want which events: exact targets, prefixes (`time.*`), or all of a type."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._all: dict[type[Event], list[tuple[Rule, Check]]] = {}
        self._exact: dict[type[Event], dict[str, list[tuple[Rule, Check]]]] = {}
        self._prefix: dict[type[Event], list[tuple[str, Rule, Check]]] = {}
        self._wanted: dict[tuple[type[Event], str], bool] = {}
        for rule in rules:
            for subscription in rule.subscriptions:
                entry = (rule, subscription.check)
                if not subscription.targets:
                    self._all.setdefault(subscription.event, []).append(entry)
                for target in subscription.targets:
                    if target.endswith("*"):
                        self._prefix.setdefault(subscription.event, []).append((target[:-1], *entry))
                    else:
                        self._exact.setdefault(subscription.event, {}).setdefault(target, []).append(entry)

    def wants(self, event: type[Event], target: str = "") -> bool:
        known = self._wanted.get((event, target))
        if known is None:
            known = self._wanted[event, target] = bool(self._checks(event, target))
        return known

    def checks(self, event: Event) -> list[tuple[Rule, Check]]:
        target = event.target if isinstance(event, Call | Enter) else ""
        return self._checks(type(event), target)

    def _checks(self, event: type[Event], target: str) -> list[tuple[Rule, Check]]:
        found = list(self._all.get(event, ()))
        if target:
            found += self._exact.get(event, {}).get(target, ())
            found += [(rule, check) for prefix, rule, check in self._prefix.get(event, ()) if target.startswith(prefix)]
        return found


class SiteContext:
    """What a check sees of the place of one event (sdk.Context)."""

    def __init__(self, analyser: Analyser, summary: Summary, event: Event, region: Region) -> None:
        self._analyser = analyser
        self._summary = summary
        self._event = event
        self.region = region

    @property
    def torch(self) -> tuple[int, int]:
        return self._analyser.settings.torch

    @property
    def python(self) -> tuple[int, int]:
        return self._analyser.settings.python

    @property
    def compiled(self) -> bool:
        return self._analyser.traced(self.region, self._event.site, self._summary)

    @property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
        return self._summary.info.node if self._summary.info is not None else None

    def source(self, node: ast.AST) -> str:
        return shortened(node)

    def value(self, node: ast.AST) -> Value:
        return self._analyser.values(self._summary).get(node, UNKNOWN)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._summary.module.parents.get(node)

    def feeds_device(self, node: ast.AST) -> bool:
        return node in self._analyser.engine.fed_loaders

    def torch_says(self, target: str) -> dict[str, Any]:
        return self._analyser.engine.tables.says(target)

    def consequence(self, site: Site) -> str:
        function = self._summary.info.name if self._summary.info is not None else "the module"
        if site.loops:
            return f"inside a loop Dynamo can't resume: it skips the whole frame of `{function}`"
        if site.protected:
            return f"inside `try` or `with` Dynamo can't resume: the rest of `{function}` runs eagerly"
        return "the graph is split here"


def shortened(node: ast.AST, limit: int = 60) -> str:
    if isinstance(node, ast.arg):
        return node.arg
    try:
        text = " ".join(ast.unparse(node).split())
    except (ValueError, AttributeError, RecursionError):
        return "…"
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Analyser:
    """One run over a set of files."""

    def __init__(
        self,
        paths: Sequence[Path],
        settings: Settings,
        rules: Sequence[Rule],
        project_paths: Sequence[Path],
        texts: Mapping[str, str],
    ) -> None:
        self.settings = settings
        self.paths = paths
        self.project_paths = project_paths
        self.rules = rules
        self.dispatch = Dispatch(rules)
        self.project = Project(project_paths, {Path(path): text for path, text in texts.items()})
        self.engine = Engine(self.project, self.dispatch, tables.load(settings.torch))
        self.result = Analysis()
        self._values: dict[Summary, dict[ast.AST, Value]] = {}
        self._files: dict[Module, CstFile] = {}

    def run(self, build_fixes: bool = False) -> Analysis:
        wanted: dict[str, Module] = {}
        for path in self.paths:
            module = self.project.load(path)
            if module is not None:
                wanted[str(path)] = module
                self._interpret(module)
        ours = {str(path) for path in self.project_paths}
        regions = Regions(self.engine, self.settings.roots, modules=self.settings.compiled == "modules")
        found: list[Finding] = []
        for summary in self.engine.summaries():
            if str(summary.module.path) in ours:  # what is outside was followed, not asked for
                found.extend(self._findings(summary, regions, build_fixes))
        self.result.findings = one_per_site(found)
        self.result.stats.files = len(wanted)
        self.result.stats.bounds = dict(self.engine.bounds)
        self.result.unreadable = {p: e for p, e in self.project.errors.items() if p in set(self.paths)}
        return self.result

    def _interpret(self, module: Module) -> None:
        self._guarded(module, None)
        for info in module.functions:
            if "<locals>" not in info.qualname:
                self._guarded(module, info)
        for info in module.functions:
            if "<locals>" in info.qualname and not self.engine.seen(info):
                self._guarded(module, info)

    def _guarded(self, module: Module, info: FunctionInfo | None) -> None:
        """Interpret one function; an exception of ours ends it alone, and is reported."""
        try:
            if info is None:
                self.engine.top_level(module)
            else:
                self.engine.generic(info)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the other functions go on
            self.engine.recover()
            line = info.node.lineno if info is not None else 1
            self._failed(module, line, info.qualname if info is not None else "<module>", "", error)

    def _failed(self, module: Module, line: int, function: str, rule: str, error: Exception) -> None:
        message = f"{type(error).__name__}: {error}"
        self.result.errors.append(
            InternalError(str(module.path), line, function, rule, message, "".join(traceback.format_exception(error)))
        )

    # -- from events to findings -----------------------------------------------------------------------------------

    def _findings(self, summary: Summary, regions: Regions, build_fixes: bool) -> Iterable[Finding]:
        if not is_cached(summary):
            yield from self._findings_of(summary.events, summary, regions, build_fixes)
        for edge in summary.edges:
            if is_cached(edge.callee):
                # Dynamo reports what breaks in a cached function at the call, and it is mended there
                certain = [event for event in edge.callee.events if _unconditional(event, edge.callee)]
                for finding in self._findings_of(certain, edge.callee, regions, False, at=(summary, edge)):
                    where = replace(
                        finding, span=span_of(summary.module, edge.node), statement_line=edge.statement.lineno, fix=None
                    )
                    yield replace(
                        where, message=f"{finding.message} (in `{edge.callee.name}`, line {finding.span.line})"
                    )

    def _findings_of(
        self,
        events: Iterable[Event],
        summary: Summary,
        regions: Regions,
        build_fixes: bool,
        at: tuple[Summary, Edge] | None = None,
    ) -> Iterable[Finding]:
        for event in events:
            region = regions.at(summary, event.site) if at is None else regions.at(at[0], at[1].site)
            context = SiteContext(self, summary, event, region)
            for rule, check in self.dispatch.checks(event):
                try:
                    for report in check(event, context):
                        finding = self._finding(rule, report, event, context, summary)
                        if finding is not None:
                            yield self._built(finding, report, summary) if build_fixes else finding
                except Exception as error:  # noqa: BLE001 - one rule's failure must not hide the others' findings
                    name = summary.info.qualname if summary.info is not None else "<module>"
                    self._failed(summary.module, getattr(event.node, "lineno", 1), name, rule.code, error)

    def traced(self, region: Region, site: Site, summary: Summary) -> bool:
        """Whether Dynamo would trace a site: by region and the `compiled` setting, unless guarded by is_compiling()."""
        if "not-compiling" in site.gates:
            return False
        if region.kind in ("compiled", "forward"):
            return True
        if self.settings.compiled != "all" or summary.info is None:
            return False
        return region.kind != "cold" or summary.info.name not in ("__init__", "__repr__", "extra_repr")

    def _finding(
        self, rule: Rule, report: Report, event: Event, context: SiteContext, summary: Summary
    ) -> Finding | None:
        site, region = event.site, context.region
        effects = self._effects(report.effects if report.effects is not None else rule.effects, context, site)
        if not effects:
            return None
        severity = report.severity if report.severity is not None else _severity(effects, region, site)
        fix = None
        if report.fix is not None:
            fix = FixPlan(report.fix.title, report.fix.applicability, report.fix.why)
        return Finding(
            code=rule.code,
            name=rule.name,
            effects=effects,
            severity=severity,
            span=span_of(summary.module, report.node),
            message=report.message,
            region=region,
            gb_types=tuple(report.gb_types if report.gb_types is not None else rule.gb_types)
            if "graph-break" in effects
            else (),
            hint=report.hint,
            trace=_trace(report.because),
            fix=fix,
            statement_line=event.statement.lineno,
        )

    def _effects(self, claimed: Sequence[Effect], context: SiteContext, site: Site) -> tuple[Effect, ...]:
        """Those of a site's effects that matter where it stands."""
        kind = context.region.kind
        kept = []
        for effect in EFFECTS:
            if effect not in claimed:
                continue
            if effect == "graph-break" and not context.compiled:
                continue
            eager = effect in ("sync", "launch", "transfer") and kind == "cold" and not context.compiled
            if eager and list(claimed) != ["transfer"]:  # how an input pipeline is set up matters where it is set up
                continue
            if kind == "compiled" and "not-compiling" in site.gates:
                continue
            kept.append(effect)
        return tuple(kept)

    def _built(self, finding: Finding, report: Report, summary: Summary) -> Finding:
        """The finding with its fix's edits; without a fix when the code at hand can't be rewritten."""
        from compilelint.fix.rewriter import CannotFix

        if report.fix is None or finding.fix is None:
            return finding
        rewriter = self._rewriter(summary.module, report.node)
        try:
            report.fix.build(rewriter)
            edits = rewriter.edits()
        except CannotFix:
            return replace(finding, fix=None)
        return replace(finding, fix=replace(finding.fix, edits=edits))

    def _rewriter(self, module: Module, node: ast.AST) -> Rewriter:
        from compilelint.fix.cst import CstFile
        from compilelint.fix.rewriter import Rewriter

        file = self._files.get(module)
        if file is None:
            file = self._files[module] = CstFile(str(module.path), module.text, module.tree)
        return Rewriter(file, at=node)

    def values(self, summary: Summary) -> dict[ast.AST, Value]:
        """Every expression's value in a context: it is interpreted once more, and remembered."""
        found = self._values.get(summary)
        if found is None:
            from compilelint.engine.run import Run

            again = Summary(
                summary.module,
                summary.info,
                dict(summary.arguments),
                summary.generic,
                closure=summary.closure,
                bound=summary.bound,
            )
            self.engine.keep_values.add(summary.info or summary.module)
            try:
                run = Run(self.engine, again)
                run.silent = 1
                run.execute()
            finally:
                self.engine.keep_values.clear()
            found = self._values[summary] = again.values or {}
        return found


def _unconditional(event: Event, summary: Summary) -> bool:
    """Whether an event happens whenever its function is called."""
    body = summary.info.node.body if summary.info is not None else []
    return isinstance(body, list) and event.statement in body


def is_cached(summary: Summary) -> bool:
    """Whether a function is wrapped by functools.lru_cache or cache."""
    decorators = summary.info.decorators if summary.info is not None else ()
    return any(name.rpartition(".")[2] in ("lru_cache", "cache") for name in decorators)


def _severity(effects: Sequence[Effect], region: Region, site: Site) -> Severity:
    if {"raises", "handler"} & site.gates:
        return Severity.NOTE
    if "graph-break" in effects:
        return (
            Severity.ERROR
            if region.kind == "compiled" or (site.loops and region.kind == "forward")
            else Severity.WARNING
        )
    return Severity.NOTE if {"every-n", "once"} & site.gates else Severity.WARNING


def _trace(value: Value | None) -> tuple[TraceStep, ...]:
    if value is None or value.origin is None:
        return ()
    steps: list[TraceStep] = []
    for link in value.origin.chain():
        step = TraceStep(link.path, getattr(link.node, "lineno", 1), f"`{_subject(link.node)}` {link.why}")
        if not steps or steps[-1] != step:
            steps.append(step)
    return tuple(steps)


def _subject(node: ast.AST) -> str:
    return shortened(node, 48)


def span_of(module: Module, node: ast.AST) -> Span:
    """The 1-based span of a node, columns in characters."""
    line = getattr(node, "lineno", 1)
    end = getattr(node, "end_lineno", None) or line
    column = _column(module, line, getattr(node, "col_offset", 0))
    if isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.For | ast.While | ast.If | ast.With
    ):
        end, stop = _header_end(module, node)
    else:
        stop = _column(module, end, getattr(node, "end_col_offset", None) or 0)
    return Span(str(module.path), line, column, end, stop)


def _header_end(module: Module, node: Any) -> tuple[int, int]:
    """A compound statement is marked by its header, not by its body."""
    last = node.lineno
    text = module.lines[last - 1] if last <= len(module.lines) else ""
    return last, len(text.rstrip()) + 1


def _column(module: Module, line: int, offset: int) -> int:
    text = module.lines[line - 1] if 0 < line <= len(module.lines) else ""
    return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1


def analyse(
    paths: Sequence[Path],
    settings: Settings,
    *,
    rules: Sequence[Rule],
    roots: Sequence[Path] | None = None,
    build_fixes: bool = False,
    texts: Mapping[str, str] | None = None,
) -> Analysis:
    """Analyse Python files.

    `roots`: all files of the run, when `paths` is a share of them (imports are followed among them). `texts` by path
    stand for what is on disk.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    collecting = gc.isenabled()
    gc.disable()  # syntax trees are large and live to the end: walking them over and over costs a third of the time
    try:
        return Analyser(paths, settings, rules, roots if roots is not None else paths, texts or {}).run(build_fixes)
    finally:
        sys.setrecursionlimit(limit)
        if collecting:
            gc.enable()
            if len(paths) > FEW:
                gc.collect()  # the trees of this part, before the next one's are made
