"""How well `check --compiled all` agrees with Dynamo on the probes: what breaks is found, what doesn't is left alone.

    python scripts/score_probes.py [--torch 2.13] [--verbose]

Each probe is checked in a file of its own. One that breaks is found when a graph break is reported (at least a warning)
stands on a line where Dynamo broke, anywhere when it broke in a helper; one that doesn't break is quiet when there is
none at all. What Dynamo does is read from the release's table.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from probes import calls, suite

from compilelint import api
from compilelint.models import tables

PARTS = ("constructs", "calls")


@dataclass(frozen=True)
class Judged:
    """One probe: whether it breaks on that release, whether check agrees, the codes that say so, and all it found."""

    name: str
    breaks: bool
    right: bool
    gb_type: str
    hits: tuple[str, ...]
    findings: tuple[str, ...]


def probes(part: str, table: tables.Table) -> Iterator[tuple[str, suite.Standalone, tables.Json]]:
    """(name, source, verdict) of each probe that could be measured."""
    if part == "constructs":
        for name in suite.names():
            if (verdict := table.construct(name)) is not None:
                yield name, suite.standalone(name), verdict
        return
    for index, (target, _, _) in enumerate(calls.entries()):
        if target in table.data["breaks"] or target in table.data["traces"]:
            yield target, suite.standalone_call(index), table.data["breaks"].get(target, {})


def judge(part: str, version: tables.Version) -> list[Judged]:
    """Checks every probe of a part as on that release of torch."""
    table = tables.load(version)
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for number, probe in enumerate(probes(part, table)):
            path = Path(folder, f"p{number:04}_{re.sub(r'[^A-Za-z0-9_]+', '_', probe[0])}.py")
            path.write_text(probe[1].text, encoding="utf-8")
            found[path] = probe
        result = api.check([folder], api.Settings(torch=version, compiled="all"))
    if result.errors or result.problems:
        raise SystemExit("\n".join([*map(api.describe_error, result.errors), *result.problems]))
    broken: dict[str, list[api.Finding]] = {}
    for finding in result.findings:
        if "graph-break" in finding.effects and finding.severity != api.Severity.NOTE:
            broken.setdefault(Path(finding.span.path).name, []).append(finding)
    return [judged(name, source, verdict, broken.get(path.name, [])) for path, (name, source, verdict) in found.items()]


def judged(name: str, source: suite.Standalone, verdict: tables.Json, findings: list[api.Finding]) -> Judged:
    findings = [f for f in findings if f.span.line <= source.last]  # behind it stands the caller
    lines = {source.first + line - 1 if line else 0 for line in verdict.get("lines") or [0]}
    hits = [f.code for f in findings if 0 in lines or any(f.span.line <= n <= f.span.end_line for n in lines)]
    shown = tuple(f"{f.code} in line {f.span.line - source.first + 1}" for f in findings)
    if not verdict:
        return Judged(name, False, not findings, "", (), shown)
    return Judged(name, True, bool(hits), verdict["gb_type"], tuple(hits), shown)


def figures(results: list[Judged]) -> str:
    count = Counter((each.breaks, each.right) for each in results)
    found, missed, quiet, false = count[True, True], count[True, False], count[False, True], count[False, False]
    return (
        f"found {found} of {found + missed} that break ({100 * found / max(1, found + missed):.1f} %), "
        f"quiet on {quiet} of {quiet + false} that don't ({100 * quiet / max(1, quiet + false):.1f} %)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", action="append", help="a release that has a table; all by default")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--verbose", action="store_true", help="name every probe that is missed or wrongly reported")
    args = parser.parse_args()
    for version in tables.available():
        if args.torch and ".".join(map(str, version)) not in args.torch:
            continue
        for part in args.part or PARTS:
            results = judge(part, version)
            for each in results if args.verbose else ():
                if not each.right:
                    print("missed" if each.breaks else "false ", each.name, each.gb_type, *each.findings, sep="  ")
            print(f"torch {version[0]}.{version[1]}, {part}: {figures(results)}")


if __name__ == "__main__":
    main()
