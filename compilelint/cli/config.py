"""`compilelint config`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from compilelint.cli import console


@click.command()
@click.option(
    "--config",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Read this file, not the nearest pyproject.toml.",
)
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
def config(file: Path | None, isolated: bool) -> None:
    """Show the settings that a run in this folder goes by, as JSON, and where each comes from."""
    from compilelint import api

    settings = api.load_settings(config=file, isolated=isolated, jobs=0)
    console.write(json.dumps({**api.describe(settings), "origins": api.origins(settings)}, indent=2) + "\n")
