"""`compilelint verify`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from compilelint.cli import console


@click.command()
@click.argument("target")
@click.option("--before", required=True, metavar="REV|DIR", help="The old version: a git revision or a directory.")
@click.option("--after", metavar="DIR", help="The new version. [default: the working tree]")
@click.option("--device", metavar="cpu|cuda", help="Where to run. [default: the GPU when there is one, else the CPU]")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="SPEC",
    help='An input of TARGET, in order: "f32[8,128]", "i64[4,16]<1000", "f32[8]+grad", or a Python literal.',
)
@click.option(
    "--backend",
    type=click.Choice(["inductor", "aot_eager", "eager"]),
    default="inductor",
    show_default=True,
    help="Of torch.compile, TARGET's own calls included. `eager` is quick: breaks and syncs, but no kernels.",
)
@click.option(
    "--mode",
    type=click.Choice(["given", "training", "inference"]),
    default="given",
    show_default=True,
    help="Put the modules in this mode first; `inference` runs without gradients too.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=300, show_default=True, metavar="S", help="For each side."
)
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

    def progress(text: str) -> None:
        if sys.stderr.isatty():
            console.note(f"{text} ...")

    result = api.verify(target, before, after, progress=progress, cwd=Path.cwd(), **options)
    if as_json:
        console.write(json.dumps(result.to_json(), indent=2) + "\n")
    else:
        console.write(api.verification_table(result, color=console.wants_color(), kernels=kernels))
    return result.exit_code
