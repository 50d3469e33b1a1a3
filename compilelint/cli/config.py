"""`compilelint config`."""

from __future__ import annotations

import json

import click

from compilelint.cli import console


@click.command()
def config() -> None:
    """Show the settings that a run in this folder goes by, as JSON, and the file they come from."""
    from compilelint import api

    console.write(json.dumps(api.describe(api.load_settings(jobs=0)), indent=2) + "\n")
