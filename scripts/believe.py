"""What the engine believes of every expression of a file: python scripts/believe.py FILE [FUNCTION]

One block for each context that a function was interpreted in; FUNCTION is a qualified name, such as `Net.forward`. For
one expression, and why, there is `compilelint check --explain-value FILE:LINE:COLUMN`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from compilelint.config import Settings
from compilelint.engine.regions import Regions
from compilelint.explain.watch import Watched
from compilelint.explain.words import words
from compilelint.source.spans import source_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("function", nargs="?", help="only this one")
    options = parser.parse_args()
    analyser = Watched([options.file], Settings())
    analyser.run()
    regions = Regions(analyser.engine)
    for summary in list(analyser.engine.summaries()):
        name = summary.info.qualname if summary.info is not None else "<module>"
        if summary.module.path != options.file or options.function not in (None, name):
            continue
        region = regions.of(summary)
        print(f"{name}: {region.kind} ({region.why})")
        for node, value in analyser.values(summary).items():
            print(f"  {getattr(node, 'lineno', 0):>4}  {source_of(summary.module, node, 40):<40}  {words(value)}")
        reports = []
        for claim in analyser.claims.get(summary, ()):
            became = f"kept: {', '.join(claim.finding.effects)}" if claim.finding else f"dropped: {claim.why}"
            reports.append(f"  {claim.rule.code} line {claim.span.line}, {became}")
        print(*dict.fromkeys(reports), sep="\n")


if __name__ == "__main__":
    main()
