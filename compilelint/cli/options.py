"""Options that several commands share, and the settings they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class GivenPath(click.Path):
    """A path; an empty one, as an unset variable gives, is not taken for the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


# what can't be read is told by the run, which goes on to the rest
paths_argument = click.argument("paths", nargs=-1, type=GivenPath(readable=False, path_type=Path))

_SELECTION = (
    click.option(
        "--select",
        multiple=True,
        metavar="CODES",
        help="Only these rules, comma-separated: codes, beginnings of codes (CL1), names, or ALL. Replaces the "
        "configured select and ignore.",
    ),
    click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules; adds to the configured ones."),
    click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out these paths too, as in .gitignore."),
    click.option(
        "--force-exclude", is_flag=True, default=None, help="Apply exclusions to files named on the command line too."
    ),
    click.option(
        "--torch", metavar="X.Y", help="The torch release to judge by. [default: the installed, or the newest]"
    ),
    click.option("--python", metavar="X.Y", help="The Python release to judge by. [default: the running]"),
    click.option(
        "--compiled",
        type=click.Choice(["auto", "modules", "all"]),
        help="What counts as compiled: what a compile root reaches (auto), every nn.Module.forward too (modules), or "
        "every function on tensors (all).",
    ),
    click.option(
        "--follow-imports/--no-follow-imports",
        default=None,
        help="Follow calls into installed packages, too ($VIRTUAL_ENV's, else the running interpreter's).",
    ),
    click.option("--jobs", "-j", type=int, metavar="N", help="Processes. [default: one for each core]"),
    click.option(
        "--config",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Read this file, not the nearest pyproject.toml.",
    ),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
    click.option("--quiet", "-q", is_flag=True, help="Findings or the diff, and errors; no summary, no warnings."),
    click.option("--verbose", "-v", is_flag=True, help="Tell more, on stderr: settings, times, bounds that were hit."),
    click.option("--debug", is_flag=True, help="Show the traceback of internal errors."),
)
_RUNNING = (
    click.option(
        "--device", metavar="cpu|cuda", help="Where to run. [default: the GPU when there is one, else the CPU]"
    ),
    click.option(
        "--input",
        "inputs",
        multiple=True,
        metavar="SPEC",
        help='An input of TARGET, in order: "f32[8,128]", "i64[4,16]<1000", "f32[8]+grad", or a Python literal.',
    ),
    click.option(
        "--backend",
        type=click.Choice(["inductor", "aot_eager", "eager"]),
        default="inductor",
        show_default=True,
        help="Of torch.compile, TARGET's own calls included. `eager` is quick: breaks and syncs, but no kernels.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["given", "training", "inference"]),
        default="given",
        show_default=True,
        help="Put the modules in this mode first; `inference` runs without gradients too.",
    ),
    click.option(
        "--timeout", type=click.FloatRange(min=1), default=300, show_default=True, metavar="S", help="For each side."
    ),
)
RUNNING = ("device", "inputs", "backend", "mode", "timeout")
SETTINGS = (
    "select",
    "ignore",
    "exclude",
    "torch",
    "python",
    "compiled",
    "jobs",
    "severity",
    "force_exclude",
    "follow_imports",
    "unsafe_fixes",
    "baseline",
)


def selection_options(command: F) -> F:
    """What to check, by which rules and settings."""
    for option in reversed(_SELECTION):
        command = option(command)
    return command


def running_options(command: F) -> F:
    """How TARGET is run, RUNNING by name."""
    for option in reversed(_RUNNING):
        command = option(command)
    return command


def settings_from(options: dict[str, Any], *, cached: bool = False) -> Any:
    """The Settings for a command's options; `cached`: what runs find is remembered. Raises ConfigError."""
    if options["quiet"] and options["verbose"]:
        raise click.UsageError("--quiet and --verbose exclude each other")
    from compilelint.api import cache_folder, load_settings

    overrides = {name: options[name] for name in SETTINGS if options.get(name) not in (None, ())}
    settings = load_settings(overrides=overrides, config=options["config"], isolated=options["isolated"], jobs=0)
    return replace(settings, cache=cache_folder()) if cached else settings
