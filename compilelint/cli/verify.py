"""`compilelint verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from compilelint.cli import console
from compilelint.cli.options import running_options


@click.command()
@click.argument("target")
@click.option("--before", required=True, metavar="REV|DIR", help="The old version: a git revision or a directory.")
@click.option("--after", metavar="DIR", help="The new version. [default: the working tree]")
@running_options
@click.option("--kernels", is_flag=True, help="List kernels and memory operations by name too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
def verify(target: str, before: str, after: str | None, as_json: bool, kernels: bool, **options: Any) -> int:
    """Run TARGET before and after a change, and compare what it computes and what that costs.

    TARGET is path/to/file.py:name or package.module:name. Called without arguments, `name` returns (callable, args) or
    (callable, args, kwargs). With --input, `name` is itself what is run: a function, or an nn.Module class.

    Each version runs in a process of its own, eagerly and compiled, from the same seed: outputs, gradients, changed
    inputs, exceptions, random state, graph breaks, recompiles, kernels, host syncs and time. Times are shown, not
    judged. Where a module is what is run, its results in the other of training and inference are compared too.

    Exit code: 0 equal and nothing worse, 1 something differs or got worse, 2 a usage error or no measurement: a version
    that crashes, hangs, ends its process or can't be imported.
    """
    from compilelint import api

    result = api.verify(target, before, after, progress=console.progress, cwd=Path.cwd(), **options)
    if as_json:
        console.write(json.dumps(result.to_json(), indent=2) + "\n")
    else:
        console.write(api.verification_table(result, color=console.wants_color(), kernels=kernels))
    return result.exit_code
