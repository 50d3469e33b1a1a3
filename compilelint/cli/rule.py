"""`compilelint rule`."""

from __future__ import annotations

import sys

import click

from compilelint.cli import console


@click.command()
@click.argument("code")
def rule(code: str) -> None:
    """Explain a rule, given by its code (CL101) or name: what it finds, why it costs, what to write instead."""
    from compilelint import api

    api.load_settings()  # which may name rules
    text = api.rule_page(api.find_rule(code))
    if console.wants_color():
        from rich.console import Console
        from rich.markdown import Markdown

        Console(file=sys.stdout, force_terminal=True).print(Markdown(text, code_theme="ansi_dark"))
    else:
        console.write(text)
