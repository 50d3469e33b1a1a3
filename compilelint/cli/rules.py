"""`compilelint rules`."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import click

from compilelint.api import EFFECTS
from compilelint.cli import console

TITLES = {
    "CL0": "About the tool itself",
    "CL1": "Graph breaks",
    "CL2": "Hidden syncs",
    "CL3": "Loops that launch kernels one by one",
    "CL4": "Copies between host and device",
    "CL5": "torch.compile and custom operators",
    "CL6": "Recompilations",
}


@click.command()
@click.argument("codes", nargs=-1)
@click.option("--fixable", is_flag=True, help="Only rules that offer a fix.")
@click.option("--effect", type=click.Choice(EFFECTS), help="Only rules about this.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rules(codes: tuple[str, ...], fixable: bool, effect: str | None, output_format: str) -> None:
    """List rules by family: code, name, and whether a fix is offered ([*] safe, [!] unsafe).

    CODES: only these, as for --select: codes, beginnings of codes (CL1), or names.
    """
    from compilelint import api

    api.load_settings()  # which may name rules
    found = [
        rule
        for rule in api.rules(codes)
        if (rule.fixable is not None or not fixable) and (effect is None or effect in rule.effects)
    ]
    if output_format == "json":
        console.write(json.dumps([_entry(rule) for rule in found], indent=2) + "\n")
        return
    if not found:
        console.write("No such rules.\n")
        return
    width = max(len(rule.name) for rule in found)
    for family, group in groupby(found, key=lambda rule: rule.code[:3]):
        console.write(f"{TITLES.get(family, 'Others')} ({family}xx)\n")
        for rule in group:
            console.write(f"{rule.code}  {console.fix_mark(rule.fixable)} {rule.name:<{width}}  {api.summary(rule)}\n")
        console.write("\n")
    console.write("[*] offers a safe fix, [!] an unsafe one, made with `compilelint fix --unsafe-fixes`.\n")


def _entry(rule: Any) -> dict[str, Any]:
    from compilelint import api

    return {
        "code": rule.code,
        "name": rule.name,
        "summary": api.summary(rule),
        "effects": list(rule.effects),
        "gb_types": list(rule.gb_types),
        "versions": rule.versions,
        "fix": rule.fixable.value if rule.fixable else None,
    }
