"""`compilelint check`."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import Any

import click

from compilelint.api import FORMATS
from compilelint.cli import console
from compilelint.cli.options import GivenPath, paths_argument, selection_options, settings_from
from compilelint.errors import UsageProblem


@click.command()
@paths_argument
@selection_options
@click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How findings are written, to stdout.",
)
@click.option(
    "--severity", type=click.Choice(["note", "warning", "error"]), help="The least severity shown. [default: note]"
)
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of showing them.")
@click.option(
    "--stdin-filename",
    type=GivenPath(dir_okay=False, readable=False, path_type=Path),
    metavar="FILE",
    help="Check what stdin holds (PATHS: none, or `-`) as if it were in this file.",
)
@click.option(
    "--explain-value",
    metavar="FILE:LINE:COL",
    help="Instead of findings, show what is believed of the expression there and why, as text or json.",
)
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Leave out the findings that this file holds.",
)
@click.option(
    "--write-baseline",
    is_flag=True,
    help="Write all findings to the baseline (--baseline, the configured one, or compilelint-baseline.json).",
)
@click.option(
    "--add-ignores", is_flag=True, help="Add a comment to the code that suppresses each finding, instead of showing it."
)
@click.option("--diff-base", metavar="REV", help="Only findings on lines that changed since this revision of git.")
@click.option(
    "--run-report",
    "runs",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="For html: show beside the findings what `verify --json` or `trace --output-format json` wrote.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep what earlier runs found.")
@click.option("--watch", is_flag=True, help="Check again each time that files change, until interrupted.")
def check(
    paths: tuple[Path, ...],
    output_format: Any,
    statistics: bool,
    stdin_filename: Path | None,
    explain_value: str | None,
    write_baseline: bool,
    add_ignores: bool,
    diff_base: str | None,
    runs: tuple[Path, ...],
    exit_zero: bool,
    no_cache: bool,
    watch: bool,
    **options: Any,
) -> int:
    """Find graph breaks and hidden syncs in files and folders (the current folder by default; `-` is stdin).

    Nothing is run or imported, and torch is not needed. Exit code: 0 no finding of severity warning or error, 1 such
    findings, 2 a usage error, a path that can't be read or an internal error.
    """
    from compilelint import api

    if watch:
        if explain_value or write_baseline or add_ignores or stdin_filename or Path("-") in paths:
            raise click.UsageError("--watch is for checks of files alone")
        return _watched(paths or (Path(),))
    if explain_value is not None:
        if statistics or output_format not in ("text", "json") or stdin_filename or Path("-") in paths:
            raise click.UsageError("--explain-value goes with --output-format text or json, and reads files alone")
        settings = settings_from(options)
        explanation = api.explain_value(explain_value, paths or (Path(),), settings)
        console.write(api.render_explanation(explanation, settings, output_format))
        return 0
    if runs and output_format != "html":
        raise click.UsageError("--run-report goes with --output-format html only")
    if statistics and output_format != "text":
        raise click.UsageError("--statistics goes with --output-format text only")
    started = time.perf_counter()
    settings = settings_from(options, cached=not no_cache)
    quiet = options["quiet"]
    from_stdin = Path("-") in paths or stdin_filename is not None
    if from_stdin:
        if paths not in ((), (Path("-"),)):
            raise click.UsageError("what stdin holds is checked alone: no paths beside `-` or --stdin-filename")
        if write_baseline or add_ignores or diff_base is not None:
            raise click.UsageError("--write-baseline, --add-ignores and --diff-base are for files, not for stdin")
        result = api.check_source(_stdin(), stdin_filename or "-", settings)
    elif write_baseline or add_ignores:
        if diff_base is not None or statistics or (write_baseline and add_ignores):
            raise click.UsageError("--write-baseline, --add-ignores, --diff-base and --statistics exclude each other")
        settle = _write_baseline if write_baseline else _add_ignores
        return settle(paths or (Path(),), settings, quiet=quiet, debug=options["debug"])
    else:
        fixes = output_format == "sarif"
        with console.Bar() as bar:
            result = api.check(paths or (Path(),), settings, diff_base=diff_base, fixes=fixes, progress=bar)
    _tell_problems(result, quiet=quiet)
    if not quiet and not result.files and not result.problems and not from_stdin:
        console.warn("no Python files found under the given paths")
    console.internal_errors(result.errors, debug=options["debug"])
    if statistics:
        _write_statistics(result, quiet=quiet)
    else:
        color = output_format == "text" and console.wants_color()
        console.write(api.render(result, output_format, color=color, quiet=quiet, runs=runs))
    if result.known and output_format == "text" and not quiet:
        console.write(f"{console.count(result.known, 'finding')} in the baseline not shown.\n")
    if options["verbose"]:
        _tell_more(result, time.perf_counter() - started)
    return 0 if exit_zero and not result.failed else result.exit_code


def _stdin() -> bytes:
    if sys.stdin is None:
        raise click.UsageError("stdin is closed")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise click.UsageError(f"stdin can't be read: {error.strerror or error}") from None


def _watched(paths: tuple[Path, ...]) -> int:
    """Runs the same command, but for --watch, in each round; the exit code of the last."""
    from compilelint import api

    context = click.get_current_context()
    code = 0
    with contextlib.suppress(KeyboardInterrupt):
        for _ in api.watch(paths):
            try:
                code = context.invoke(check, **{**context.params, "watch": False})
            except UsageProblem as problem:  # half of an edit, perhaps
                code = console.fail(problem)
            console.progress("waiting for changes (Ctrl-C ends)")
    return code


def _tell_problems(result: Any, *, quiet: bool) -> None:
    for problem in result.problems:
        console.error(problem)
    if not quiet:
        for notice in result.notices:
            console.warn(notice)


def _write_baseline(paths: tuple[Path, ...], settings: Any, *, quiet: bool, debug: bool) -> int:
    from compilelint import api

    result, file, number = api.write_baseline(paths, settings)
    _tell_problems(result, quiet=quiet)
    console.internal_errors(result.errors, debug=debug)
    if result.failed:
        console.error("no baseline is written where a check fails")
        return 2
    if not quiet:
        console.write(f"Wrote {console.count(number, 'finding')} to {file}.\n")
    return 0


def _add_ignores(paths: tuple[Path, ...], settings: Any, *, quiet: bool, debug: bool) -> int:
    from compilelint import api

    result, number, left = api.add_ignores(paths, settings)
    _tell_problems(result, quiet=quiet)
    console.internal_errors(result.errors, debug=debug)
    if result.failed:
        console.error("no comments are added where a check fails")
        return 2
    for finding in left:
        console.warn(f"{finding.span.path}:{finding.span.line}: {finding.code}: no comment fits here")
    if not quiet:
        console.write(f"Added comments for {console.count(number, 'finding')}.\n")
    return 0


def _write_statistics(result: Any, *, quiet: bool) -> None:
    from compilelint import api

    rows = api.statistics(result)
    width = max((len(str(count)) for count, *_ in rows), default=1)
    for count, code, name, fix in rows:
        console.write(f"{count:>{width}}  {code}  {console.fix_mark(fix)} {name}\n")
    if not quiet:
        console.write(api.summary_line(result) + "\n")


def _tell_more(result: Any, seconds: float) -> None:
    from compilelint import api

    settings = result.settings
    console.note(f"settings: {settings.source or 'defaults'}")
    console.note(
        f"torch {api.show_version(settings.torch)}, Python {api.show_version(settings.python)}, "
        f"compiled: {settings.compiled}"
    )
    console.note(f"{console.count(result.files, 'file')} in {seconds:.2f} s")
    if settings.cache is not None and result.stats.parts:
        console.note(
            f"{result.stats.cached} of {console.count(result.stats.parts, 'part')} from the cache in {settings.cache}"
        )
    for name, count in sorted(result.stats.bounds.items()):
        console.note(f"bound hit: {name}, {console.count(count, 'time')}")
