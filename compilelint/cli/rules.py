"""`compilelint rules`."""

from __future__ import annotations

import json

import click

from compilelint.cli import console


@click.command()
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rules(output_format: str) -> None:
    """List all rules: code, name, and whether a fix is offered ([*] safe, [!] unsafe)."""
    from compilelint import api

    found = api.rules()
    if output_format == "json":
        entries = [
            {
                "code": rule.code,
                "name": rule.name,
                "summary": api.summary(rule),
                "effects": list(rule.effects),
                "gb_types": list(rule.gb_types),
                "versions": rule.versions,
                "fix": rule.fixable.value if rule.fixable else None,
            }
            for rule in found
        ]
        console.write(json.dumps(entries, indent=2) + "\n")
        return
    width = max(len(rule.name) for rule in found)
    for rule in found:
        console.write(f"{rule.code}  {console.fix_mark(rule.fixable)} {rule.name:<{width}}  {api.summary(rule)}\n")
    console.write("\n[*] offers a safe fix, [!] an unsafe one, made with `compilelint fix --unsafe-fixes`.\n")
