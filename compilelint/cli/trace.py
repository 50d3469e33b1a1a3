"""`compilelint trace`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from compilelint.cli import console
from compilelint.errors import UsageProblem


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module, run as `python -m` runs it.")
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="End the program after N steps.")
@click.option(
    "--after", type=click.IntRange(min=0), default=0, metavar="K", help="Of warm-up: syncs count from there on."
)
@click.option("--timeout", type=click.FloatRange(min=1), metavar="S", help="Kill the program after S seconds.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="Text goes to stderr; json and html to stdout, and what the program prints there to stderr.",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it there.")
@click.option("--syncs", type=click.Choice(["measure", "predict"]), help="[default: measure where there is a GPU]")
@click.option("--input", "inputs", multiple=True, metavar="SPEC", help="An input of TARGET, as in verify.")
@click.option(
    "--backend",
    type=click.Choice(["inductor", "aot_eager", "eager"]),
    default="inductor",
    show_default=True,
    help="For a TARGET that compiles nothing itself.",
)
@click.option("--select", multiple=True, metavar="CODES", help="Join with the findings of these rules only.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Not with those of these rules.")
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), help="Read this file, not the nearest pyproject.toml."
)
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def trace(program: str, arguments: tuple[str, ...], **options: Any) -> int:
    """Run a program unchanged, and report per line what torch did: graph breaks, recompiles, host syncs.

    PROGRAM is a script with its ARGUMENTS, a module (-m), or a TARGET as in verify (path/to/file.py:name or
    package.module:name), which is called a few times. Options of trace come before PROGRAM. Findings of `check` on the
    sources that ran are marked confirmed, refuted, not reached or, where only a GPU could tell, not measured.

    A step is a turn of the loop around an optimizer's step; without one, of that over a DataLoader; without one, of the
    hottest loop that calls a module.

    The program's output, exit code and signals are its own; 2 is a usage error too, 124 a timeout.
    """
    from compilelint import api

    output: Path | None = options.pop("output")
    output_format = options.pop("output_format")
    chosen = {name: options.pop(name) for name in ("select", "ignore")}
    settings = api.load_settings(
        overrides={name: value for name, value in chosen.items() if value},
        config=options.pop("config"),
        isolated=options.pop("isolated"),
    )
    if output is not None and not output.parent.is_dir():  # told before the run, which may take long
        raise click.UsageError(f"--output {output}: no such folder: {output.parent}")
    to_stdout = output is None and output_format != "text"
    result = api.trace(program, arguments, settings=settings, quiet_stdout=to_stdout, **options)
    color = output is None and output_format == "text" and console.wants_color(sys.stderr)
    text = api.render_trace(result, output_format, color=color)
    if output is not None:
        try:
            output.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageProblem(f"--output {output}: can't be written: {error.strerror}") from None
    elif to_stdout:
        console.write(text)
    else:
        sys.stderr.write(text)
    return api.end_as(result)
