"""From files to findings: interpret every function, find the regions, hand the events to the rules."""

from __future__ import annotations

import ast
import contextlib
import math
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mypy_extensions import mypyc_attr

from compilelint.allowance import Allowance
from compilelint.context import RAISES, SiteContext
from compilelint.dispatch import Dispatch
from compilelint.engine.aside import is_cached
from compilelint.engine.engine import Engine
from compilelint.engine.events import PERIODIC, Branch, Call, Event, Site
from compilelint.engine.regions import Regions, Standing
from compilelint.engine.summary import Edge, Summary
from compilelint.engine.values import UNKNOWN, Instance, Origin, Tensor, Unknown, Value, options, tensor_of
from compilelint.finding import (
    EFFECTS,
    TOO_DEEP,
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
from compilelint.flags import Flags
from compilelint.garbage import uncollected
from compilelint.givenup import without_given_up
from compilelint.hostside import HostSide
from compilelint.models import tables
from compilelint.outcome import InternalError, Reads
from compilelint.reached import Reached
from compilelint.resumed import without_resumed
from compilelint.sdk import Report, Rule
from compilelint.source.installed import Installed, followed
from compilelint.source.layout import Layout
from compilelint.source.module import FunctionInfo, Module
from compilelint.source.parsed import Parsed
from compilelint.source.project import Project, SourceError
from compilelint.source.spans import source_of, span_of
from compilelint.source.templates import Templates

if TYPE_CHECKING:
    from compilelint.config import Settings
    from compilelint.fix.cst import CstFile
    from compilelint.fix.rewriter import Rewriter

RECURSION_LIMIT = 12_000
# what Dynamo captures instead of breaking once fullgraph=True is asked for (torch/_dynamo/eval_frame.py)
CAPTURED = frozenset(
    (
        "Unsupported Tensor.item() call with capture_scalar_outputs=False",
        "Dynamic shape operator",
        "Data dependent operator",
        "Failed to trace builtin operator",
    )
)


@dataclass(slots=True)
class Analysis:
    findings: list[Finding] = field(default_factory=list)
    stats: Stats = field(default_factory=Stats)
    errors: list[InternalError] = field(default_factory=list)
    unreadable: dict[Path, SourceError] = field(default_factory=dict)
    reads: Reads = field(default_factory=Reads)


@mypyc_attr(allow_interpreted_subclasses=True)
class Analyser:
    """One run over a set of files."""

    def __init__(
        self,
        paths: Sequence[Path],
        settings: Settings,
        rules: Sequence[Rule],
        layout: Layout,
        texts: Mapping[str, str],
        parsed: Parsed | None = None,
        installed: Installed | None = None,
        engine: type[Engine] = Engine,
    ) -> None:
        self.settings = settings
        self.paths = paths
        self.layout = layout
        self.rules = rules
        self.dispatch = Dispatch(rules)
        overlay = {Path(path): text for path, text in texts.items()}
        self._home = frozenset(paths)
        self.project = Project(layout, overlay, installed or followed(settings.follow_imports), parsed)
        self.engine = engine(self.project, self.dispatch, tables.load(settings.torch), self._home)
        self.templates = Templates()
        self.result = Analysis()
        self._values: dict[Summary, dict[ast.AST, Value]] = {}
        self._files: dict[Module, CstFile] = {}
        self._by_path: dict[str, Module] = {}
        self._callers: dict[FunctionInfo, list[tuple[Summary, ast.Call]]] | None = None
        self._host = HostSide(self.engine)
        self._flags = Flags(self.engine, self.callers)
        self._called: dict[FunctionInfo, dict[Summary, None]] = {}
        self._allowance = Allowance()
        self._numbers: dict[int, Origin] = {}  # findings about a number in a tensor, by id → where it was made

    def run(self, build_fixes: bool = False) -> Analysis:
        self.interpret()
        return self.judge(build_fixes)

    def interpret(self) -> None:
        """Interpret every function of the files."""
        self._allowance = Allowance()
        wanted: dict[str, Module] = {}
        for path in self.paths:
            module = self.project.load(path)
            if module is not None and path in self.templates:
                self.engine.hit("templates of generated files left out")
            elif module is not None:
                wanted[str(path)] = module
                self._interpret(module)
        self.result.stats.files = len(wanted)

    def judge(self, build_fixes: bool = False) -> Analysis:
        """What the rules find in what was interpreted."""
        self._callers, self._called, self._numbers, self._host = None, {}, {}, HostSide(self.engine)
        self._flags = Flags(self.engine, self.callers)
        self._allowance = Allowance()
        self._by_path = {str(s.module.path): s.module for s in self.engine.summaries()}
        regions = Regions(self.engine, self.settings.roots, modules=self.settings.compiled == "modules")
        self._reached = Reached(self.engine, regions, self._flags, self._home >= self.layout.names.keys())
        found: list[Finding] = []
        summaries = self.engine.summaries()
        modules = {summary.module for summary in summaries}
        ours = {m for m in modules if m.path in self.layout.names and m.path not in self.templates}
        imagined = without_callers(summaries)
        for summary in summaries:
            if summary.module in ours and summary not in imagined:
                found.extend(self._allowed(summary, self._findings(summary, regions, build_fixes)))
        self.result.findings = one_per_site(
            without_given_up(without_resumed(found, self._numbers, self._by_path), self._by_path)
        )
        self.result.stats.bounds = dict(self.engine.bounds)
        if self.project.left_out:
            self.result.stats.bounds["modules of installed packages"] = self.project.left_out
        asked = set(self.paths)
        self.result.unreadable = {p: e for p, e in self.project.errors.items() if p in asked}
        self.result.reads = Reads(
            self.project.read,
            {path for path in self.project.read if path not in self.layout.names},
            self.project.located,
            self.project.located_installed,
            self.templates.of,
        )
        return self.result

    def release(self) -> None:
        """Gives up all but the modules that another part may want."""
        self.engine.release()
        self._flags.release()
        self.project.release(set(self.paths))

    def _interpret(self, module: Module) -> None:
        self._guarded(module, None)
        for info in module.functions:
            if "<locals>" not in info.qualname:
                self._guarded(module, info)
        for info in module.functions:
            if "<locals>" in info.qualname and not self.engine.seen(info):
                self._guarded(module, info)
        for klass in module.classes:
            if (receiver := self.engine.completes(klass, "forward")) is not None:
                self._guarded(module, self.engine.method(klass, "forward"), receiver)

    def _guarded(self, module: Module, info: FunctionInfo | None, receiver: Instance | None = None) -> None:
        """Interpret one function; an exception of ours ends it alone, and is reported."""
        name = info.id if info is not None else f"{module.name}:<module>"
        try:
            with self._allowance.for_function(module) as self.engine.deadline:
                if info is None:
                    self.engine.top_level(module)
                else:
                    self.engine.generic(info, receiver)
        except RecursionError:
            self.engine.recover()
            self.engine.hit(f"{TOO_DEEP}{name}")
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the other functions go on
            self.engine.recover()
            line = info.node.lineno if info is not None else 1
            self._failed(module, line, info.qualname if info is not None else "<module>", "", error)
        finally:
            self.engine.deadline = math.inf

    def _failed(self, module: Module, line: int, function: str, rule: str, error: BaseException) -> None:
        message = f"{type(error).__name__}: {error}"
        self.result.errors.append(
            InternalError(str(module.path), line, function, rule, message, "".join(traceback.format_exception(error)))
        )

    def _allowed(self, summary: Summary, findings: Iterable[Finding]) -> Iterable[Finding]:
        """The findings in one context, as far as they are found in time; an exception of ours ends these alone."""
        try:
            with self._allowance.for_function(summary.module) as self.engine.deadline:
                yield from findings
        except RecursionError:
            self.engine.recover()
            self.engine.hit(f"{TOO_DEEP}{summary.name}")
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the other functions go on
            self.engine.recover()
            info = summary.info
            line, name = (info.node.lineno, info.qualname) if info is not None else (1, "<module>")
            self._failed(summary.module, line, name, "", error)
        finally:
            self.engine.deadline = math.inf

    # -- from events to findings -----------------------------------------------------------------------------------

    def _findings(self, summary: Summary, regions: Regions, build_fixes: bool) -> Iterable[Finding]:
        if not self._for_effect(summary.info):
            yield from self._findings_of(summary.events, summary, regions, build_fixes)
        for edge in summary.edges:
            if self._for_effect(edge.callee.info):
                # what breaks in `warn_once("…")` is told, and mended, at the call
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
        site, idle = None, False
        for event in events:
            if event.site is not site:
                site = event.site
                standing = regions.standing(summary, site) if at is None else regions.standing(at[0], at[1].site)
                idle = self.is_idle(standing, site, summary)
            if idle and standing.aside:
                continue  # whatever is claimed does not matter there
            if self.engine.overdue(summary):
                return
            context = SiteContext(self, summary, event, standing)
            for rule, check in self.dispatch.checks(event):
                if idle and not rule.in_setup:
                    continue
                try:
                    for report in check(event, context):
                        if not isinstance(report, Report):
                            raise TypeError(f"{rule.code} yields {type(report).__name__}, not Report")
                        finding = self._finding(rule, report, event, context, summary)
                        if finding is not None:
                            finding = self._built(finding, report, event, summary) if build_fixes else finding
                            number = report.because if report.number else None
                            if isinstance(number, Tensor) and number.rank in (0, None) and number.origin is not None:
                                self._numbers[id(finding)] = number.origin
                            yield finding
                except (KeyboardInterrupt, GeneratorExit):
                    raise
                except RecursionError:
                    self.engine.recover()
                    self.engine.hit(f"{TOO_DEEP}{summary.name}")
                except BaseException as error:  # noqa: BLE001 - one rule's failure must not hide the others' findings
                    name = summary.info.qualname if summary.info is not None else "<module>"
                    self._failed(summary.module, getattr(event.node, "lineno", 1), name, rule.code, error)

    def is_idle(self, standing: Standing, site: Site, summary: Summary) -> bool:
        """Whether nothing that happens at a site matters, but to rules about set-up."""
        return standing.region.kind == "cold" and not self.traced(standing.region, site, summary)

    def traced(self, region: Region, site: Site, summary: Summary) -> bool:
        """Whether Dynamo would trace a site: by region and the `compiled` setting, unless guarded by is_compiling()."""
        if "not-compiling" in site.gates:
            return False
        if region.kind in ("compiled", "forward"):
            return True
        if self.settings.compiled != "all" or summary.info is None:
            return False
        if self.engine.disabled(summary.info):
            return False
        return region.kind != "cold" or summary.info.name not in ("__init__", "__repr__", "extra_repr")

    def _finding(
        self, rule: Rule, report: Report, event: Event, context: SiteContext, summary: Summary
    ) -> Finding | None:
        site, region = event.site, context.region
        gb_types = tuple(report.gb_types if report.gb_types is not None else rule.gb_types)
        effects = self._effects(report.effects if report.effects is not None else rule.effects, context, site, rule)
        no_device = region.kind in ("library", "step") and self._host.keeps(report.because)
        if no_device or "elsewhere" in site.gates:
            effects = tuple(effect for effect in effects if effect == "graph-break")
        message = report.message
        if context.standing.fullgraph and set(gb_types) <= CAPTURED:
            effects = tuple(effect for effect in effects if effect != "graph-break")
            message = message.replace(RAISES, "the graph captures it, and the CPU waits for the device when it runs")
        if not effects:
            return None
        severity = report.severity if report.severity is not None else _severity(effects, context, event, rule)
        waits = severity is Severity.WARNING and "graph-break" not in effects and not rule.in_setup
        if waits and not self._may_be_hot(region, summary):
            severity = Severity.NOTE
        if severity is not Severity.NOTE:
            flagged = self._flags.before(event.node, summary.module, summary.info)
            if flagged is not None:
                severity, test = Severity.NOTE, source_of(flagged.module, flagged.test, 48)
                message = f"{message}; seldom run: by default `{test}` is {str(not flagged.truth).lower()}"
        fix = None
        # a wait where nothing is hot is left as it is written
        if report.fix is not None and not (severity is Severity.NOTE and effects == ("sync",)):
            fix = FixPlan(report.fix.title, report.fix.applicability, report.fix.why)
        return Finding(
            code=rule.code,
            name=rule.name,
            effects=effects,
            severity=severity,
            span=_span(report, event, summary.module, effects),
            message=message,
            region=region,
            gb_types=gb_types if "graph-break" in effects else (),
            hint=report.hint,
            trace=self.trace(report.because),
            fix=fix,
            statement_line=event.statement.lineno,
        )

    def _may_be_hot(self, region: Region, summary: Summary) -> bool:
        """Whether steps may lead to code that is not known to be one: a library's."""
        return region.kind != "library" or summary.info is None or summary.info in self._reached

    def _effects(self, claimed: Sequence[Effect], context: SiteContext, site: Site, rule: Rule) -> tuple[Effect, ...]:
        """Those of a site's effects that matter where it stands."""
        kind = context.region.kind
        if kind == "compiled" and "not-compiling" in site.gates:
            return ()
        breaks = context.compiled
        elsewhere = kind != "cold" or breaks or (rule.in_setup and not context.standing.aside)
        return tuple(e for e in EFFECTS if e in claimed and (breaks if e == "graph-break" else elsewhere))

    def _built(self, finding: Finding, report: Report, event: Event, summary: Summary) -> Finding:
        """The finding with its fix's edits; without a fix when the code at hand can't be rewritten."""
        from compilelint.fix.rewriter import CannotFix

        if report.fix is None or finding.fix is None:
            return finding
        if self._disputed(event, summary):
            refused = "from other places it is called with what is no tensor"
            return replace(finding, fix=replace(finding.fix, edits=(), refused=refused))
        rewriter = self._rewriter(summary.module, report.node)
        try:
            report.fix.build(rewriter)
            edits = rewriter.edits()
        except CannotFix as error:
            return replace(finding, fix=replace(finding.fix, edits=(), refused=str(error)))
        return replace(finding, fix=replace(finding.fix, edits=edits))

    def _disputed(self, event: Event, summary: Summary) -> bool:
        """Whether the tensor that an event is about is certainly no tensor where the function is called otherwise."""
        node: ast.AST | None = event.node
        if isinstance(event, Call):
            node = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if node is None or not isinstance(event, (Branch, Call)) or summary.info is None:
            return False
        if tensor_of(self.values(summary).get(node, UNKNOWN)) is None:
            return False
        for other in self.engine.contexts(summary.info):
            if other is not summary:
                value = self.values(other).get(node, UNKNOWN)
                if not isinstance(value, Unknown) and not any(isinstance(v, Tensor) for v in options(value)):
                    return True
        return False

    def _rewriter(self, module: Module, node: ast.AST) -> Rewriter:
        from compilelint.fix.cst import CstFile
        from compilelint.fix.rewriter import Rewriter

        file = self._files.get(module)
        if file is None:
            file = self._files[module] = CstFile(str(module.path), module.text, module.tree)
        return Rewriter(file, at=node)

    def trace(self, value: Value | None) -> tuple[TraceStep, ...]:
        """The history of a value in a few steps; of a chain on one line the last says enough."""
        if value is None or value.origin is None:
            return ()
        steps: list[TraceStep] = []
        for link in value.origin.chain():
            line = getattr(link.node, "lineno", 1)
            text = f"`{source_of(self._by_path.get(link.path), link.node, 48)}` {link.why}"
            if len(steps) > 1 and (steps[-1].path, steps[-1].line) == (link.path, line):
                steps.pop()
            step = TraceStep(link.path, line, text)
            if step not in steps:
                steps.append(step)
        return tuple(steps)

    def callers(self, info: FunctionInfo) -> list[tuple[Summary, ast.Call]]:
        """The calls of a function that were seen, with the contexts they stand in. For when all is interpreted."""
        return self._calls().get(info, [])

    def called(self, info: FunctionInfo) -> Iterable[Summary]:
        """The contexts of a function that calls made."""
        self._calls()
        return self._called.get(info, ())

    def _calls(self) -> dict[FunctionInfo, list[tuple[Summary, ast.Call]]]:
        if self._callers is None:
            self._callers = {}
            for summary in self.engine.summaries():
                for edge in summary.edges:
                    if edge.callee.info is not None and isinstance(edge.node, ast.Call):
                        self._callers.setdefault(edge.callee.info, []).append((summary, edge.node))
                        self._called.setdefault(edge.callee.info, {})[edge.callee] = None
        return self._callers

    def _for_effect(self, info: FunctionInfo | None) -> bool:
        """Whether a function does something once, wrapped by functools.cache and called for no result: `warn_once`."""
        if info is None or not is_cached(info):
            return False
        calls = self.callers(info)
        return bool(calls) and all(isinstance(at.module.parents.get(node), ast.Expr) for at, node in calls)

    def values(self, summary: Summary) -> dict[ast.AST, Value]:
        """Every expression's value in a context; of another part's, for which they are not kept, it is interpreted
        once more."""
        found = summary.values if summary.values is not None else self._values.get(summary)
        if found is None:
            from compilelint.engine.run import Run

            found = self._values[summary] = {}
            again = Summary(
                summary.module,
                summary.info,
                dict(summary.arguments),
                summary.generic,
                closure=summary.closure,
                bound=summary.bound,
                values=found,
            )
            run = Run(self.engine, again)
            run.silent = 1
            run.execute()
        return found


def _unconditional(event: Event, summary: Summary) -> bool:
    """Whether an event happens whenever its function is called."""
    body = summary.info.node.body if summary.info is not None else []
    return isinstance(body, list) and event.statement in body


def without_callers(summaries: Iterable[Summary]) -> set[Summary]:
    """Private functions on their own, where calls are seen: these are all there are, and say what is passed."""
    called = {edge.callee for summary in summaries for edge in summary.edges}
    seen = {summary.info for summary in called if not summary.generic}
    return {
        summary
        for summary in summaries
        if summary.generic
        and summary not in called
        and summary.info in seen
        and summary.info is not None
        and summary.info.name.startswith("_")
        and not summary.info.name.endswith("__")
    }


def _span(report: Report, event: Event, module: Module, effects: Sequence[Effect]) -> Span:
    """Where a finding stands: of a test of several lines, from the statement on, for the jump is on its first line."""
    span = span_of(module, report.node)
    owner = event.owner if "graph-break" in effects and isinstance(event, Branch) else None
    if not isinstance(owner, (ast.If, ast.While, ast.Assert)) or report.node not in (event.node, owner.test):
        return span
    return replace(span, line=owner.lineno, column=span_of(module, owner).column) if owner.lineno < span.line else span


def _severity(effects: Sequence[Effect], context: SiteContext, event: Event, rule: Rule) -> Severity:
    standing, site = context.standing, event.site
    if {"raises", "handler"} & site.gates:
        return Severity.NOTE
    if "once" in site.gates and not site.loops:
        return Severity.NOTE  # made the first time, and kept
    if "graph-break" in effects:
        kind = standing.region.kind
        whole_frame = context.whole_frame(site) or bool(standing.looped)
        return Severity.ERROR if kind == "compiled" or (kind == "forward" and whole_frame) else Severity.WARNING
    if "transfer" in effects and "waited" in site.gates:
        return Severity.NOTE  # the queue is empty there anyway
    if "waited" in site.gates and _tells(event.statement):
        return Severity.NOTE  # `if torch.isinf(loss): warnings.warn(f"{loss.item()}")`
    rarely = standing.rarely and not rule.in_setup
    return Severity.NOTE if rarely or PERIODIC & site.gates else Severity.WARNING


def _tells(statement: ast.stmt) -> bool:
    """Whether a statement is a call that warns, logs or prints."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name))):
            return name in ("print", "warn", "warning", "warning_once", "error", "critical", "info", "debug", "log")
    return False


def analyse(
    paths: Sequence[Path],
    settings: Settings,
    *,
    rules: Sequence[Rule],
    layout: Layout | None = None,
    build_fixes: bool = False,
    texts: Mapping[str, str] | None = None,
    parsed: Parsed | None = None,
    installed: Installed | None = None,
) -> Analysis:
    """Analyse Python files.

    `layout`: of all files of the run, when `paths` is a share of them (imports are followed among them). `texts` by
    path stand for what is on disk. `parsed`: what the parts of a run hand on to one another;
    `installed`: the packages that imports are followed into, where that has been found out already.
    """
    analyser = Analyser(paths, settings, rules, layout or Layout.of(paths), texts or {}, parsed, installed)
    with uncollected(), deeply():
        try:
            return analyser.run(build_fixes)
        finally:
            analyser.release()


@contextlib.contextmanager
def deeply() -> Iterator[None]:
    """With room for syntax trees that are nested deeply."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
