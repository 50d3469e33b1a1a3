"""What the engine believes of every expression of a file: python scripts/believe.py FILE [FUNCTION]

One block for each context that a function was interpreted in; FUNCTION is a qualified name, such as `Net.forward`. At
its end stands what rules reported there: what became a finding, and what was dropped, since it does not matter there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from compilelint import registry
from compilelint.analysis import Analyser
from compilelint.config import Settings
from compilelint.context import SiteContext
from compilelint.engine.events import Event
from compilelint.engine.regions import Regions
from compilelint.engine.summary import Summary
from compilelint.engine.values import Const, External, Instance, Map, Method, Scalar, Seq, Tensor, Union, Value
from compilelint.finding import Finding
from compilelint.sdk import Report, Rule
from compilelint.source.spans import source_of


class Watched(Analyser):
    """An analysis that keeps what rules reported, dropped or not, by the context that they reported it in."""

    def __init__(self, file: Path) -> None:
        super().__init__([file], Settings(), registry.load_rules(), [file], {})
        self.reported: dict[Summary, list[str]] = {}

    def _finding(
        self, rule: Rule, report: Report, event: Event, context: SiteContext, summary: Summary
    ) -> Finding | None:
        finding = super()._finding(rule, report, event, context, summary)
        claimed = report.effects if report.effects is not None else rule.effects
        where = f"{', '.join(claimed)} in {context.region.kind} code"
        gates = "".join(f", {gate}" for gate in sorted(event.site.gates))
        line = f"{rule.code} reported line {getattr(report.node, 'lineno', 0)}, "
        line += f"dropped: {where}{gates}" if finding is None else f"kept: {', '.join(finding.effects)}"
        self.reported.setdefault(summary, []).append(line)
        return finding


def shown(value: Value) -> str:
    """A value in a few words; its history is left out."""
    match value:
        case Const():
            return f"constant {value.value!r}"
        case Scalar():
            return f"{value.flow.name.lower()} {value.type}"
        case Tensor():
            rank = "" if value.rank is None else f", rank {value.rank}"
            kind = f"{value.kind} " if value.kind else ""
            return f"{kind}tensor, device {value.device.name.lower()}, dtype {value.dtype or 'unknown'}{rank}"
        case External():
            return value.name
        case Method():
            return f"method `{value.name}` of {shown(value.receiver)}"
        case Instance():
            return f"instance of {value.external or (value.info.qualname if value.info else '?')}"
        case Seq() | Map():
            return value.kind if isinstance(value, Seq) else "dict"
        case Union():
            return " or ".join(shown(option) for option in value.options)
        case _:
            return type(value).__name__.lower()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("function", nargs="?", help="only this one")
    options = parser.parse_args()
    analyser = Watched(options.file)
    analyser.run()
    regions = Regions(analyser.engine)
    for summary in list(analyser.engine.summaries()):
        name = summary.info.qualname if summary.info is not None else "<module>"
        if summary.module.path != options.file or options.function not in (None, name):
            continue
        region = regions.of(summary)
        print(f"{name}: {region.kind} ({region.why})")
        for node, value in analyser.values(summary).items():
            print(f"  {getattr(node, 'lineno', 0):>4}  {source_of(summary.module, node, 40):<40}  {shown(value)}")
        for line in dict.fromkeys(analyser.reported.get(summary, ())):
            print(f"  {line}")


if __name__ == "__main__":
    main()
