"""`compilelint fix`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compilelint.cli import console
from compilelint.cli.options import paths_argument, selection_options, settings_from


@click.command()
@paths_argument
@selection_options
@click.option("--apply", is_flag=True, help="Write the changes; without it a diff is printed and nothing is written.")
@click.option("--unsafe-fixes", is_flag=True, default=None, help="Also fixes that may change what the code does.")
def fix(paths: tuple[Path, ...], apply: bool, **options: Any) -> int:
    """Show, as a diff, how what check finds would be rewritten; --apply writes it."""
    from compilelint import api

    result = api.fix(paths or (Path(),), settings_from(options), apply=apply)
    for problem in result.problems:
        console.error(problem)
    if not apply:
        console.write(result.diff)
    return result.exit_code
