"""What a check believes of the expression at one place and why: the tool for judging a finding, or its absence."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from compilelint.checking import cut_short, display_path, select_files, visible
from compilelint.config import Settings
from compilelint.engine.events import Call, Loop, Site
from compilelint.engine.regions import Regions
from compilelint.engine.summary import Summary
from compilelint.engine.values import UNKNOWN, Value
from compilelint.errors import UsageProblem
from compilelint.explain.data import Belief, Context, Explanation, Verdict
from compilelint.explain.places import Place, covers, expressions_at, functions_around
from compilelint.explain.watch import Claim, Watched
from compilelint.explain.words import words
from compilelint.finding import Finding, TraceStep
from compilelint.source.files import mentions_torch
from compilelint.source.module import Module
from compilelint.source.spans import source_of, span_of

__all__ = ["Belief", "Context", "Explanation", "Verdict", "explain"]


def explain(at: Place, paths: Sequence[Path], settings: Settings) -> Explanation:
    """Explains a place as a check of `paths` sees it. Raises UsageProblem when there is nothing to explain."""
    selection = select_files(paths, settings)
    real = os.path.realpath(at.path)
    path = next((file for file in selection.files if os.path.realpath(file) == real), at.path)
    explanation = Explanation(display_path(path), at.line, at.column)
    if path not in selection.files:
        explanation.notes.append("the file is not among those that are checked: nothing is reported on it")
    if not mentions_torch(path):
        explanation.notes.append("the file doesn't mention torch: a check leaves it out")
    files = list(dict.fromkeys([*(file for file in selection.files if mentions_torch(file)), path]))
    analyser = Watched(files, settings)
    module = analyser.project.load(path)
    if module is None:
        error = analyser.project.errors[path]
        raise UsageProblem(f"{display_path(path)}:{error.line}:{error.column}: {error}")
    chain = expressions_at(module, at._replace(path=Path(explanation.path)))
    found = analyser.run().findings
    explanation.notes += cut_short(analyser.result.stats, module.name)
    explanation.notes += [
        f"internal error in `{error.function}`: {error.message}"
        for error in analyser.result.errors
        if os.path.realpath(error.path) == real
    ]
    shown = [f for f in visible(found, files, settings) if f.severity.rank >= settings.severity.rank]
    reader = _Reader(analyser, module, chain, at, found, shown)
    explanation.contexts = _grouped(reader.contexts())
    if not explanation.contexts:
        explanation.notes.append(reader.silence())
    return explanation


class _Reader:
    """Reads off the contexts of one place when the analysis is done."""

    def __init__(
        self,
        analyser: Watched,
        module: Module,
        chain: list[ast.expr | ast.arg],
        at: Place,
        found: Sequence[Finding],
        shown: Sequence[Finding],
    ) -> None:
        self.analyser = analyser
        self.module = module
        self.chain = chain
        self.at = at
        self.found = found
        self.shown = {(finding.span.line, finding.span.column, finding.code) for finding in shown}
        settings = analyser.settings
        self.regions = Regions(analyser.engine, settings.roots, modules=settings.compiled == "modules")
        self.callers: dict[Summary, list[tuple[str, int]]] = {}
        for summary in analyser.engine.summaries():
            for edge in summary.edges:
                where = (display_path(summary.module.path), getattr(edge.node, "lineno", 1))
                self.callers.setdefault(edge.callee, []).append(where)

    def contexts(self) -> Iterator[Context]:
        """The contexts of the innermost function around the place; of its module where it stands in none."""
        around = functions_around(self.module, self.chain[0])
        node = around[0] if around else None
        for summary in list(self.analyser.engine.summaries()):
            if summary.module is self.module and (summary.info.node if summary.info else None) is node:
                yield self._context(summary)

    def _inside(self, loop: Loop) -> bool:
        """Whether the place is in the body of a loop."""
        body = loop.node.body if isinstance(loop.node, (ast.For, ast.AsyncFor, ast.While)) else [loop.node]
        child: ast.AST | None = self.chain[0]
        while child is not None and child not in body:
            child = self.module.parents.get(child)
        return child is not None

    def silence(self) -> str:
        """Why there is no context."""
        if self.module.path in self.analyser.templates:
            return "the file is a template: another is generated from it, and that one is checked"
        return "the function around it was never interpreted: nothing that runs was seen to define it"

    def _context(self, summary: Summary) -> Context:
        values: dict[ast.AST, Value] = dict(self.analyser.values(summary))
        info = summary.info
        site = Site(tuple(loop for loop in summary.loops if self._inside(loop)))
        region = self.regions.standing(summary, site).region
        context = Context(summary.name, region, self.callers.get(summary, []))
        if info is not None:
            arguments = info.node.args
            plain = arguments.posonlyargs + arguments.args
            everything = [*plain, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            for arg in everything:
                if arg is None:
                    continue
                own = summary.bound if arg in plain[:1] else None
                values[arg] = own if own is not None else summary.arguments.get(arg.arg, UNKNOWN)
                context.arguments[arg.arg] = words(values[arg])
        elif self.chain[0] not in values and isinstance(self.chain[0], ast.expr):
            # class bodies, defaults and decorators are evaluated when somebody asks for them
            values[self.chain[0]] = self.analyser.engine.evaluate(self.chain[0], self.module)
        told: dict[ast.AST, dict[str, None]] = {}
        for event in summary.events:
            if isinstance(event, Call):
                told.setdefault(event.node, {})[event.target] = None
        context.beliefs = [
            self._belief(node, values[node], tuple(told.get(node, ()))) for node in self.chain if node in values
        ]
        context.verdicts = list(dict.fromkeys(self._verdicts(summary)))
        return context

    def _belief(self, node: ast.AST, value: Value, targets: tuple[str, ...]) -> Belief:
        steps = tuple(replace(step, path=display_path(step.path)) for step in self.analyser.trace(value))
        return Belief(span_of(self.module, node), source_of(self.module, node), words(value), steps, targets)

    def _verdicts(self, summary: Summary) -> Iterator[Verdict]:
        for claim in self.analyser.claims.get(summary, ()):
            if covers(claim.span, self.at.line, self.at.column):
                why = claim.why or self._hidden(claim)
                effects = () if why or claim.finding is None else claim.finding.effects
                yield Verdict(claim.rule.code, claim.rule.name, claim.span, claim.message, effects, why)

    def _hidden(self, claim: Claim) -> str:
        """Why a finding of one rule in one context is not among those that are shown."""
        if claim.finding is None or (claim.span.line, claim.span.column, claim.rule.code) in self.shown:
            return ""
        others = [f for f in self.found if (f.span.line, f.span.column) == (claim.span.line, claim.span.column)]
        if all(other.code != claim.rule.code for other in others):
            told = ", ".join(sorted({other.code for other in others})) or "another finding"
            return f"{told} stands for the site"
        if claim.finding.severity.rank < self.analyser.settings.severity.rank:
            return f"a {claim.finding.severity.value} is below the least severity shown"
        return "suppressed by a comment or by per-file-ignores"


def _grouped(contexts: Iterator[Context]) -> list[Context]:
    """Contexts in which the same is believed of the place are one, with the callers of all."""
    groups: dict[object, Context] = {}
    for context in contexts:
        beliefs = tuple((belief.span, belief.value) for belief in context.beliefs)
        key = (context.region, beliefs, tuple(verdict.why for verdict in context.verdicts))
        known = groups.setdefault(key, context)
        if known is not context:
            known.callers += context.callers
            known.arguments = {
                name: text for name, text in known.arguments.items() if context.arguments.get(name) == text
            }
    for context in groups.values():
        context.callers = sorted(set(context.callers))
    return list(groups.values())


def steps_once(beliefs: Sequence[Belief]) -> list[tuple[Belief, list[TraceStep]]]:
    """Each belief with the steps of its history that none before it told."""
    told: set[TraceStep] = set()
    rows = []
    for belief in beliefs:
        rows.append((belief, [step for step in belief.trace if step not in told]))
        told.update(belief.trace)
    return rows
