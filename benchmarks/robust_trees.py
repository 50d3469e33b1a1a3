"""Check and fix copies of large packages, and of Python's tests: no internal error, no hang, Python stays Python, and
nothing is left to fix.

    pip install --no-deps --target site/pandas pandas
    python benchmarks/robust_trees.py --site site/pandas pandas [--python-tests] [--out rows.md]

Each package is taken as it is, and once more with `import torch` written at the top of every file: without it, files
are left out before the engine sees them. Checked with all rules and `--compiled all`, fixed with `--unsafe-fixes` and
`--apply`. With `--out`, a row for each is added to that file, in Markdown. The exit status is 1 where anything is
wrong.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import datetime
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
import time
from importlib import metadata
from pathlib import Path

from fix_trees import wrong_files

from compilelint import __version__, api
from compilelint.config import Settings

SETTINGS = dataclasses.replace(Settings(), compiled="all", unsafe_fixes=True, respect_gitignore=False)
COLUMNS = (
    "package",
    "version",
    "read",
    "files",
    "lines",
    "findings",
    "internal errors",
    "check",
    "fixes",
    "broken",
    "fix",
)


def version(name: str, site: Path) -> str:
    """The version of the distribution that installed a package there."""
    for found in metadata.distributions(path=[str(site)]):
        if any(file.parts[:1] == (name,) for file in found.files or ()):
            return found.version
    return ""


def with_torch(root: Path) -> None:
    """Writes `import torch` into every file that parses, below what must stand first."""
    for path in root.rglob("*.py"):
        data = path.read_bytes()
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        line = 0
        for statement in tree.body:
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            if not (is_text or is_future):
                break
            line = statement.end_lineno or 0
        lines = re.split(rb"(?<=\n)", data)
        coding = next((n + 1 for n, each in enumerate(lines[:2]) if b"coding" in each), 0)
        lines.insert(max(line, coding), b"import torch\n")
        after = b"".join(lines)
        try:
            ast.parse(after)
        except (SyntaxError, ValueError):
            continue  # its last line shared by two statements, or without an end
        path.write_bytes(after)


def measure(tree: Path, name: str, of: str, read: str) -> tuple[dict[str, str], list[str]]:
    """A row of the table, and what is wrong."""
    sources = [path.read_bytes() for path in tree.rglob("*.py")]
    lines = sum(data.count(b"\n") for data in sources)
    unparsed = set(wrong_files(tree))
    began = time.process_time()
    checked = api.check([tree], SETTINGS)
    problems = [f"check: {problem}" for problem in checked.problems]
    problems += [f"check: {api.describe_error(error)}\n{error.traceback}" for error in checked.errors]
    problems += [f"note: {notice}" for notice in checked.notices]
    check_time, began = time.process_time() - began, time.process_time()
    fixed = api.fix([tree], SETTINGS, apply=True)
    problems += [f"fix: {problem}" for problem in [*fixed.problems, *fixed.result.problems]]
    problems += [f"fix: {api.describe_error(error)}\n{error.traceback}" for error in fixed.errors]
    fix_time = time.process_time() - began
    again = api.fix([tree], SETTINGS)
    problems += [f"fix: changes {file.path} the second time:\n{file.diff}" for file in again.result.changed]
    broken = [wrong for wrong in wrong_files(tree) if wrong not in unparsed]
    problems += [f"fix: no Python any more: {wrong}" for wrong in broken]
    values = (
        name,
        of,
        read,
        f"{len(sources):,}",
        f"{lines:,}",
        f"{len(checked.findings):,}",
        str(len(checked.errors) + len(fixed.errors)),
        f"{check_time:.0f} s",
        f"{fixed.result.applied:,}",
        str(len(broken)),
        f"{fix_time:.0f} s",
    )
    return dict(zip(COLUMNS, values, strict=True)), problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--site", type=Path, help="where the packages are installed")
    parser.add_argument("--python-tests", action="store_true", help="the package `test` of this Python")
    parser.add_argument("--out", type=Path, help="add the rows to this file")
    parser.add_argument("--only", choices=("as it is", "with torch"))
    options = parser.parse_args()
    trees = [(name, version(name, options.site), options.site / name) for name in options.packages]
    if options.python_tests:
        library = Path(sysconfig.get_paths()["stdlib"])
        trees.append(("test (CPython)", platform.python_version(), library / "test"))
    wrong = False
    for name, of, source in trees:
        for read in [options.only] if options.only else ["as it is", "with torch"]:
            with tempfile.TemporaryDirectory() as folder:
                tree = Path(folder) / source.name
                shutil.copytree(source, tree, ignore=shutil.ignore_patterns("__pycache__", "*.so"), symlinks=True)
                if read == "with torch":
                    with_torch(tree)
                row, problems = measure(tree, name, of, read)
            print(f"| {' | '.join(row.values())} |", flush=True)
            for problem in problems:
                print(f"    {problem}", flush=True)
            wrong = wrong or any(not problem.startswith("note: ") for problem in problems)
            if options.out:
                told = f"compilelint {__version__}, Python {platform.python_version()}, {datetime.date.today()}"
                if not options.out.exists():
                    options.out.write_text(
                        f"{told}\n\n| {' | '.join(COLUMNS)} |\n|{' --- |' * 3}{' ---: |' * (len(COLUMNS) - 3)}\n",
                        encoding="utf-8",
                    )
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(f"| {' | '.join(row.values())} |\n")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
