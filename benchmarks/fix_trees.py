"""Fix copies of installed packages: files must still be Python, a second run change nothing, and models agree.

    python benchmarks/fix_trees.py torchvision kornia [--site DIR] [--safe] [--run] [--python PYTHON] [--under models]

`--site` holds the packages (default: where they are installed). `--run` runs what `tree_runs.py` lists of a package,
forward and backward in float32 on the CPU, in a process with the original package and in one with the fixed copy, with
the same seeds and inputs, and compares outputs and gradients. It also tells which places that fixes changed were
executed. The exit status is 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from compilelint import api
from compilelint.config import Settings
from compilelint.fix.run import FixResult

TOLERANCE = 1e-4
RUNS = Path(__file__).with_name("tree_runs.py")
Numbers = dict[str, list[float] | str]  # of each run, or its error
Watched = dict[str, list[list[int]]]  # the lines of each place of a file


def package_folder(name: str, site: Path | None) -> Path:
    if site is not None:
        return site / name
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed: use --site")
    return Path(spec.origin).parent


def wrong_files(root: Path) -> list[str]:
    """The files that Python does not compile any more."""
    wrong = []
    for path in sorted(root.rglob("*.py")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compile(path.read_bytes(), str(path), "exec")
            except (SyntaxError, ValueError) as error:
                wrong.append(f"{path}: {error}")
    return wrong


def new_lines(before: str, after: str) -> list[list[int]]:
    """The lines of `after` that are new, place by place."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return [list(range(c + 1, d + 1)) for kind, _, _, c, d in matcher.get_opcodes() if kind != "equal" and c < d]


def fix_tree(root: Path, settings: Settings) -> tuple[FixResult, list[str]]:
    """What was fixed, and what is wrong: files that are no Python any more, or change again."""
    before = set(wrong_files(root))
    run = api.fix([root], settings, apply=True)
    problems = [*run.result.problems, *(api.describe_error(error) for error in run.errors)]
    problems += [wrong for wrong in wrong_files(root) if wrong not in before]
    again = api.fix([root], settings, apply=False)
    problems += [f"{file.path}: changes in a second run\n{file.diff}" for file in again.result.changed]
    return run.result, problems


def run_all(package: str, site: Path, others: Path, python: str, watched: Watched) -> tuple[Numbers, dict[str, int]]:
    """The numbers of each run of the package in `site`, or its error, and of `watched` how many places of each file
    were executed; other packages are those in `others`."""
    command = [python, str(RUNS), str(site), package, str(others)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, input=json.dumps(watched))
    if done.returncode:
        raise SystemExit(f"{package} of {site}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return found["runs"], found["reached"]


def close(one: float, other: float) -> bool:
    return one == other or (one != one and other != other) or abs(one - other) <= TOLERANCE * max(1.0, abs(one))


def disagreements(old: Numbers, new: Numbers) -> tuple[dict[str, str], list[str]]:
    """What differs, with how, and what did not run before either."""
    wrong, failed = {}, []
    for name, before in old.items():
        after = new[name]
        if isinstance(before, str):
            failed.append(name)
        elif isinstance(after, str):
            wrong[name] = after
        elif len(before) != len(after):
            wrong[name] = f"{len(before)} numbers before, {len(after)} after"
        elif not all(map(close, before, after)):
            wrong[name] = f"differs by up to {max(abs(x - y) for x, y in zip(before, after, strict=True)):.3g}"
    return wrong, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--site", type=Path)
    parser.add_argument("--safe", action="store_true", help="safe fixes only")
    parser.add_argument("--run", action="store_true", help="run models, losses and metrics before and after")
    parser.add_argument("--python", default=sys.executable, help="run them with this Python")
    parser.add_argument("--under", default="", help="fix this folder of the package only")
    parser.add_argument("--diff", type=Path, help="write the changes to this file")
    parser.add_argument("--verbose", action="store_true", help="name the files of which changed places did not run")
    options = parser.parse_args()
    settings = dataclasses.replace(Settings(), unsafe_fixes=not options.safe)
    failed = False
    for name in options.packages:
        source, began = package_folder(name, options.site), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / name
            shutil.copytree(source, tree, ignore=shutil.ignore_patterns("__pycache__"))
            if (libraries := source.with_name(f"{name}.libs")).exists():
                (Path(folder) / libraries.name).symlink_to(libraries)
            result, problems = fix_tree(tree / options.under, settings)
            took = time.monotonic() - began
            print(f"{name}: {result.applied} fixes in {len(result.changed)} files, {took:.0f} s", flush=True)
            if options.diff:
                options.diff.write_text(result.diff, encoding="utf-8")
            if options.run:
                watched = {str(Path(f.path).resolve()): new_lines(f.before, f.after) for f in result.changed}
                old, _ = run_all(name, source.parent, source.parent, options.python, {})
                new, reached = run_all(name, Path(folder), source.parent, options.python, watched)
                wrong, failed_before = disagreements(old, new)
                problems += [f"{each}: {how}" for each, how in wrong.items()]
                ran = len(old) - len(failed_before)
                print(f"{name}: {ran - len(wrong)} of {ran} runs agree", flush=True)
                places = sum(map(len, watched.values()))
                print(f"{name}: {sum(reached.values())} of {places} changed places ran")
                for path, groups in watched.items():
                    if options.verbose and reached.get(path, 0) < len(groups):
                        print(f"    {path}: {reached.get(path, 0)} of {len(groups)}")
                if failed_before:
                    print(f"    not run: {'; '.join(failed_before)}")
        for problem in problems:
            print(f"    {problem}")
        failed = failed or bool(problems)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
