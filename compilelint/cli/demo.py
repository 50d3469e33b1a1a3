"""`compilelint demo`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import click

from compilelint.cli import console

FILES = ("data.py", "model.py", "train.py")
TARGET = "train.py:verify_target"
TAKES = {  # with torch imported four times
    "eager": "this takes half a minute",
    "aot_eager": "this takes a minute",
    "inductor": "this takes a minute on a GPU, several on a CPU",
}


@click.command()
@click.option(
    "--verify/--no-verify", "verifies", default=None, help="Run both versions. [default: where torch is installed]"
)
@click.option("--device", metavar="cpu|cuda", help="Where to run. [default: the GPU when there is one, else the CPU]")
@click.option(
    "--backend",
    type=click.Choice(["inductor", "aot_eager", "eager"]),
    help="Of torch.compile while verifying. [default: inductor on a GPU, else eager, which takes seconds, not minutes]",
)
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Keep DIR/before and DIR/after."
)
def demo(verifies: bool | None, device: str | None, backend: str | None, keep: Path | None) -> int:
    """See it at work on a small training project: check it, show the fixes, and run it before and after them."""
    from compilelint import api

    color = console.wants_color()
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True})
    with _copies(keep) as (before, after):
        _heading("check", "compilelint check .", "no code is run and torch is not needed")
        with _inside(before):
            console.write(api.render(api.check([Path()], settings), "text", color=color))
            _heading("fix", "compilelint fix --unsafe-fixes .", "a diff; --apply writes it")
            shown = api.fix([Path()], settings)
            console.write(_colored(shown.result.diff, color))
        with _inside(after):
            applied = api.fix([Path()], settings, apply=True)
        for problem in (*shown.problems, *(api.describe_error(error) for error in (*shown.errors, *applied.errors))):
            console.error(problem)
        if keep is not None:
            console.write(f"\nkept: {before} and {after}\n")
        return _verified(before, after, verifies, device, backend, color)


def _verified(
    before: Path, after: Path, wanted: bool | None, device: str | None, backend: str | None, color: bool
) -> int:
    from compilelint import api

    installed = find_spec("torch") is not None
    if wanted is False or (wanted is None and not installed):
        why = "" if installed else " (torch is not installed here: it would run both versions and compare them)"
        console.write(f"\nNot verified{why}.\n")
        return 0
    options = {"backend": backend or _quickest(device), **({"device": device} if device else {})}
    flags = "".join(f" --{name} {value}" for name, value in options.items())
    command = f"compilelint verify {TARGET} --before {before.name} --after {after.name}{flags}"
    _heading("verify", command, f"an epoch of four steps, each version in its own process; {TAKES[options['backend']]}")
    with _inside(before.parent):
        result = api.verify(TARGET, before.name, after.name, progress=console.progress, **options)
    console.write(api.verification_table(result, color=color))
    return 0 if result.ok else 2 if result.unmeasured else 1


def _quickest(device: str | None) -> str:
    """Inductor's C++ kernels take minutes to build on a small CPU, its Triton kernels do not. The driver's device file
    tells whether a GPU is there without importing torch."""
    gpu = device.startswith("cuda") if device else Path("/dev/nvidiactl").exists()
    return "inductor" if gpu else "eager"


def _heading(verb: str, command: str, remark: str) -> None:
    title = click.style(f"── {verb} ", bold=True)
    click.echo(f"\n{title}$ {command}  ({remark})\n", color=console.wants_color())


def _colored(diff: str, color: bool) -> str:
    if not color:
        return diff
    styles = {"+": "green", "-": "red", "@": "cyan"}
    lines = diff.splitlines(keepends=True)
    return "".join(click.style(line, fg=styles[line[0]]) if line[:1] in styles else line for line in lines)


@contextmanager
def _copies(keep: Path | None) -> Iterator[tuple[Path, Path]]:
    """The sample, twice."""
    folder = keep.resolve() if keep is not None else Path(tempfile.mkdtemp(prefix="compilelint-demo-")).resolve()
    before, after = folder / "before", folder / "after"
    sample = resources.files("compilelint") / "sample"
    try:
        for place in (before, after):
            place.mkdir(parents=True, exist_ok=True)
            for name in FILES:
                (place / name).write_text((sample / name).read_text(encoding="utf-8"), encoding="utf-8")
        yield before, after
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Paths are shown as someone working there would see them."""
    sys.stdout.flush()
    old = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(old)
