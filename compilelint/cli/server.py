"""`compilelint server`."""

from __future__ import annotations

import click


@click.command()
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout: what is done anyway; editors may say so.")
def server(stdio: bool) -> int:
    """Serve an editor over the Language Server Protocol, on stdin and stdout.

    Editors start this themselves: docs/editors.md says how. Needs `python -m pip install "compilelint[server]"`.
    """
    from compilelint import api

    return api.serve()
