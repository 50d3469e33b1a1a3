"""An analysis that keeps what rules reported, dropped or not, by the context that they reported it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compilelint import registry
from compilelint.analysis import Analyser
from compilelint.config import Settings
from compilelint.context import SiteContext
from compilelint.dispatch import Dispatch
from compilelint.engine.events import Call, Event, Site
from compilelint.engine.regions import Standing
from compilelint.engine.summary import Summary
from compilelint.finding import Finding, Span
from compilelint.sdk import Report, Rule
from compilelint.source.layout import Layout
from compilelint.source.spans import span_of


@dataclass(frozen=True, slots=True)
class Claim:
    """One report: with the finding that it became or, in words, why it became none."""

    rule: Rule
    span: Span
    message: str
    finding: Finding | None
    why: str


class EveryCall(Dispatch):
    """Which events rules want, and all calls."""

    def wants(self, event: type[Event], target: str = "") -> bool:
        return event is Call or super().wants(event, target)


class Watched(Analyser):
    """`claims` by context."""

    def __init__(self, files: Sequence[Path], settings: Settings) -> None:
        super().__init__(files, settings, registry.load_rules(settings), Layout.of(files), {})
        self.engine.interest = EveryCall(self.rules)
        self.claims: dict[Summary, list[Claim]] = {}

    def is_idle(self, standing: Standing, site: Site, summary: Summary) -> bool:
        return False  # what is dropped is told, with the reason

    def _finding(
        self, rule: Rule, report: Report, event: Event, context: SiteContext, summary: Summary
    ) -> Finding | None:
        finding = super()._finding(rule, report, event, context, summary)
        why = "" if finding is not None else dropped(rule, report, event, context)
        claim = Claim(rule, span_of(summary.module, report.node), report.message, finding, why)
        self.claims.setdefault(summary, []).append(claim)
        return finding


def dropped(rule: Rule, report: Report, event: Event, context: SiteContext) -> str:
    """Why none of a report's effects matters where it stands."""
    if "not-compiling" in event.site.gates and context.region.kind == "compiled":
        return "Dynamo doesn't get there: an is_compiling() test guards it"
    claimed = report.effects if report.effects is not None else rule.effects
    kind = {"library": "library code", "step": "a step loop", "cold": "cold code"}.get(context.region.kind, "it")
    if set(claimed) == {"graph-break"} and not context.compiled:
        return f"Dynamo is not known to trace {kind}"
    if context.region.kind == "cold":
        return f"it stands in cold code, which runs once as far as is known ({', '.join(claimed)})"
    return "with fullgraph=True the graph captures it"
