"""`compilelint clean`."""

from __future__ import annotations

import click

from compilelint.cli import console


@click.command()
def clean() -> int:
    """Remove what earlier runs found and kept, for all projects."""
    from compilelint import api

    count = api.clean()
    console.write(f"Removed {count} cache{'s' * (count != 1)} from {api.cache_folder()}\n")
    return 0
