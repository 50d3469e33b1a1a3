"""Writes docs/probes.md: which probes cover each rule about graph breaks.

    python scripts/probe_coverage.py

tests/test_probes.py fails when the file is not what this writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import score_probes
from probes import suite

from compilelint import api
from compilelint.models import tables

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs" / "probes.md"
VERSION: tables.Version = (2, 13)
SHOWN = 6
HEAD = """# Probes: which of them cover each rule

Made by `python scripts/probe_coverage.py`. A probe is a small function or module of `scripts/probes` that Dynamo
compiled alone; the table of a release has its verdict. `check` runs on each in a file of its own, and
`scripts/score_probes.py` counts how often it agrees. Here stand, for each rule, how many breaking constructs it finds,
and pairs of one that breaks and its near twin that does not (torch {torch}).

| rule | name | probes that break | pairs |
| --- | --- | ---: | --- |
"""


def covered(results: Iterable[score_probes.Judged]) -> dict[str, list[str]]:
    """By rule, the probes that break and that it finds where they break."""
    found: dict[str, list[str]] = {}
    for each in results:
        for code in dict.fromkeys(each.hits):
            found.setdefault(code, []).append(each.name)
    return found


def pairs(names: Iterable[str], results: Iterable[score_probes.Judged]) -> list[tuple[str, str]]:
    """Those of the probes that have a twin which Dynamo traces and check leaves alone."""
    quiet = {each.name for each in results if not each.breaks and each.right}
    return [(name, twin) for name in names if (twin := suite.TWINS.get(name, f"{name}_ok")) in quiet]


def page(results: list[score_probes.Judged]) -> str:
    lines = [HEAD.format(torch=".".join(map(str, VERSION)))]
    found = covered(results)
    for rule in api.rules():
        if rule.code.startswith("CL1"):
            names = found.get(rule.code, [])
            twins = [f"`{name}`, `{twin}`" for name, twin in pairs(names, results)]
            more = f"; … {len(twins) - SHOWN} more" if len(twins) > SHOWN else ""
            lines.append(f"| {rule.code} | {rule.name} | {len(names)} | {'; '.join(twins[:SHOWN])}{more} |\n")
    lines.append(f"\n{len(results)} constructs were measured of {len(suite.names())}.\n")
    return "".join(lines)


def main() -> int:
    DOCS.write_text(page(score_probes.judge("constructs", VERSION)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
