"""`compilelint budget`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from compilelint.cli import console
from compilelint.escaping import escape


@click.command()
@click.argument("target", required=False)
@click.option("--write", is_flag=True, help="Store what the run costs now as the budget.")
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    default="compilelint-budget.json",
    show_default=True,
    help="Where budgets are stored.",
)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), help="[default: the GPU when there is one, else the CPU]")
@click.option("--input", "inputs", multiple=True, metavar="SPEC", help="An input of TARGET, as in verify.")
@click.option(
    "--backend",
    type=click.Choice(["inductor", "aot_eager", "eager"]),
    help="For a TARGET that compiles nothing itself. [default: the stored one, else inductor]",
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=300, show_default=True, metavar="S", help="For each TARGET."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def budget(target: str | None, as_json: bool, **options: Any) -> int:
    """Run TARGET, and compare its graph breaks, recompiles, syncs, graphs and kernels with the stored budget.

    TARGET is path/to/file.py:name or package.module:name, as in verify. Without it, all that the file holds are run.
    Budgets are stored for each kind of device. On a CPU syncs are predictions, and kernels those that Inductor
    generates.

    Exit code: 0 within the budget, or written; 1 something grew; 2 a usage error, no budget, or a TARGET that crashes,
    hangs or ends its process.
    """
    from compilelint import api

    outcomes = api.budget(target, progress=console.progress, **options)
    if as_json:
        found = {
            "version": 1,
            "ok": not any(each.grew for each in outcomes),
            "budgets": [e.to_json() for e in outcomes],
        }
        console.write(json.dumps(found, indent=2) + "\n")
    else:
        for outcome in outcomes:
            for line in _told(outcome):
                console.write(escape(line) + "\n")
    return int(any(each.grew for each in outcomes))


def _told(outcome: Any) -> Iterator[str]:
    totals = ", ".join(f"{count} {metric}" for metric, count in outcome.budget.to_json()["totals"].items())
    state = "written" if outcome.written else "over budget" if outcome.grew else "within budget"
    yield f"{outcome.target} ({outcome.device}, torch {outcome.budget.torch}): {state}: {totals}"
    for change in outcome.grew:
        yield f"  grew: {change}"
    for change in outcome.shrank:
        yield f"  shrank: {change}"
    for note in outcome.notes:
        yield f"  note: {note}"
    if outcome.shrank and not outcome.grew:
        yield "  less than the budget: store it with --write"
