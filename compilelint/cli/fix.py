"""`compilelint fix`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compilelint.cli import console
from compilelint.cli.options import RUNNING, paths_argument, running_options, selection_options, settings_from


@click.command()
@paths_argument
@selection_options
@click.option("--apply", is_flag=True, help="Write the changes; without it a diff is printed and nothing is written.")
@click.option("--unsafe-fixes", is_flag=True, default=None, help="Also fixes that may change what the code does.")
@click.option("--verify", metavar="TARGET", help="Keep only fixes with which TARGET runs as it did, or better.")
@click.option(
    "--vendor-ops",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Copy the operators that fixes call to this package, and import them from there, not from compilelint.",
)
@running_options
def fix(paths: tuple[Path, ...], apply: bool, verify: str | None, vendor_ops: Path | None, **options: Any) -> int:
    """Show, as a diff, how what check finds would be rewritten; --apply writes it.

    With --verify, fixes are tried in a private copy of the tree first: all together, and where that fails, by halves,
    down to each alone. TARGET, --input, --device, --backend, --mode and --timeout are those of `compilelint verify`.

    Exit code: 0 nothing to fix, or all written; 1 the diff is not empty, or a file is not valid Python; 2 a usage
    error, a path that can't be read or written, or an internal error.
    """
    from compilelint import api

    running = {name: options.pop(name) for name in RUNNING}
    run = api.fix(
        paths or (Path(),),
        settings_from(options),
        apply=apply,
        verify=verify,
        vendor_ops=vendor_ops,
        progress=console.progress,
        **running,
    )
    for problem in run.problems:
        console.error(problem)
    for told in run.told:
        console.error(told)
    if not options["quiet"]:
        for notice in run.notices:
            console.warn(notice)
    for problem in run.result.problems:
        console.error(problem)
    console.internal_errors(run.errors, debug=options["debug"])
    if not apply:
        console.write_source(run.result.diff)
    if not options["quiet"]:
        for place, skipped in run.result.disproved:
            console.warn(f"{place}: {skipped.code} {skipped.title}: not kept: {skipped.reason}")
        if run.prover is not None and run.prover.result is not None:
            console.note(f"Verified: {api.verification_summary(run.prover.result)}")
        _summarise(run, apply=apply)
    if options["verbose"]:
        for file in run.result.files:
            for skipped in file.skipped:
                console.note(f"{file.place(skipped)}: {skipped.code} not fixed: {skipped.reason}")
    return run.exit_code


def _summarise(run: Any, *, apply: bool) -> None:
    """What was done, or would be, on stderr: stdout holds the diff alone."""
    result, unread = run.result, len(run.unreadable)
    if unread and unread == run.files:
        return  # all that there is to say was said
    files = [file for file in result.changed if file.written or not apply]
    number = sum(len(file.applied) for file in files)
    fixes = f"{console.count(number, 'fix', 'fixes')} in {console.count(len(files), 'file')}"
    done = f"Applied {fixes}." if apply else f"Would apply {fixes}: write with --apply."
    left = result.skipped - result.on_request - result.refused - result.unknown - len(result.disproved)
    more = [f"{result.on_request} more with --unsafe-fixes"] if result.on_request else []
    more += [f"{result.refused} can't be rewritten here: see --verbose"] if result.refused else []
    more += [f"{result.unknown} without a fix: see --verbose"] if result.unknown else []
    more += [f"{left} left: see --verbose"] if left else []
    more += [f"{len(result.disproved)} not kept: see above"] if result.disproved else []
    more += [f"{console.count(unread, 'file')} not read: see above"] if unread else []
    console.note((done if result.applied else "Nothing to fix.") + (f" ({'; '.join(more)})" if more else ""))
