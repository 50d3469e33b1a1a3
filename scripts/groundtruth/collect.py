"""Collect a ground truth: what Dynamo, or a GPU, did while real code of PyPI packages ran.

    python collect.py SET --site DIR --install                 # once: the packages, pinned, without dependencies
    python collect.py SET --site DIR --out FILE                # compiled: lines traced, graph breaks
    python collect.py SET --site DIR --out FILE --mode syncs   # eagerly on a CUDA GPU: lines executed, host syncs

Each case runs in a process of its own. One that fails or takes too long is named on stderr and left out.
Output: {"torch", "python", "versions": {package: release}, "cases": {name: package}, "errors": {name: what only Dynamo
raised}, "files": {path: {"package", "traced": [[first line, last line]], "breaks": [site]}}}, a site being {"line",
"gb_type", "skipped", "secondary", "cases": how many}; for syncs also "effect" and "device". Paths are relative to DIR.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from case import Case, load  # noqa: E402

# Types that Dynamo meets only in a frame that it was handed because its caller already ran eagerly: a generator or a
# comprehension on its own, or values that a break before has left half consumed.
SECONDARY = {
    "Attempt to trace generator",
    "Missing tp_iternext",
    "Generator reconstruction with mutations",
    "Reconstruction failure",
}


def run(cases: Iterable[Case], mode: str, site: Path, jobs: int, timeout: float) -> dict[str, dict[str, Any]]:
    """What record.py wrote of each case, by name; {"failed": why} where it wrote nothing.

    Processes are forked, so that torch is imported once: the parent must not use it.
    """
    import torch._dynamo
    from record import record

    torch.set_num_threads(1)
    sys.path.insert(0, str(site))
    context = multiprocessing.get_context("fork")
    waiting, running, results = list(cases), {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        while waiting or running:
            while waiting and len(running) < jobs:
                case = waiting.pop(0)
                process = context.Process(target=record, args=(case, mode, site, Path(scratch) / case.name))
                process.start()
                running[case.name] = process, time.monotonic() + timeout
            for name, (process, deadline) in list(running.items()):
                process.join(0.1)
                late = time.monotonic() > deadline
                if not process.is_alive() or late:
                    process.kill()
                    process.join()
                    del running[name]
                    out = Path(scratch) / name
                    why = "takes too long" if late else f"exit {process.exitcode}"
                    results[name] = json.loads(out.read_text()) if out.exists() else {"failed": why}
                    print(f"{name}: {results[name].get('failed', 'recorded')}", file=sys.stderr)
    return results


def merge(results: Iterable[dict[str, Any]], owners: dict[str, str]) -> dict[str, Any]:
    """The files of all cases: lines united, sites counted by the cases that have them."""
    lines: dict[str, set[int]] = defaultdict(set)
    sites: dict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
    skipped: dict[tuple[str, int, str], bool] = defaultdict(bool)
    for result in results:
        for path, (traced, breaks) in result["files"].items():
            lines[path].update(traced)
            sites[path].update({(line, what) for line, what, _ in breaks})
            for line, what, skips in breaks:
                skipped[path, line, what] |= skips
    return {
        path: {
            "package": owners[path],
            "traced": ranges(lines[path]),
            "breaks": [
                {
                    "line": line,
                    "gb_type": what,
                    "skipped": skipped[path, line, what],
                    "secondary": what in SECONDARY,
                    "cases": count,
                }
                for (line, what), count in sorted(sites[path].items())
            ],
        }
        for path in sorted(lines)
        if path in owners
    }


def ranges(lines: Iterable[int]) -> list[list[int]]:
    """Consecutive lines as [first, last]."""
    found: list[list[int]] = []
    for line in sorted(lines):
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return found


def installed(site: Path, packages: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Of the packages found in a folder: their releases, and the package that owns each Python file."""
    releases, owners = {}, {}
    for package in packages:
        found = next(iter(metadata.distributions(name=package, path=[str(site)])), None)
        if found is not None:
            releases[package] = found.version
            owners |= {str(file): package for file in found.files or () if file.suffix == ".py"}
    return releases, owners


def write(truth: dict[str, Any], out: Path) -> None:
    """A file a line: short, and a change is seen in a diff."""
    files = truth.pop("files")
    head = json.dumps(truth)[:-1]
    body = ",\n".join(f"{json.dumps(path)}: {json.dumps(files[path])}" for path in files)
    out.write_text(f'{head}, "files": {{\n{body}\n}}}}\n', encoding="utf-8")


def collect(set_name: str, mode: str, site: Path, only: str | None, jobs: int, timeout: float) -> dict[str, Any]:
    import torch

    chosen = load(set_name)
    cases = [case for case in chosen.cases if only in (None, case.name, case.package)]
    results = run(cases, mode, site, jobs, timeout)
    releases, owners = installed(site, chosen.packages)
    good = {case: results[case.name] for case in cases if "failed" not in results[case.name]}
    truth = {
        "torch": torch.__version__.partition("+")[0],
        "python": ".".join(platform.python_version_tuple()[:2]),
        "versions": {package: releases[package] for package in sorted({case.package for case in good})},
        "cases": {case.name: case.package for case in good},
        "errors": {case.name: result["error"] for case, result in good.items() if result["error"]},
        "files": merge(good.values(), owners),
    }
    if mode == "syncs":
        truth = {"effect": "sync", "device": torch.cuda.get_device_name(), **truth}
    return truth


def install(set_name: str, site: Path) -> None:
    for package, release in load(set_name).packages.items():  # one by one: their own pins contradict each other
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
        subprocess.run([*pip, f"{package}=={release}"], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(path.stem.removeprefix("cases_") for path in HERE.glob("cases_*.py")))
    parser.add_argument("--site", type=Path, required=True, help="folder that holds the packages")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--mode", choices=["breaks", "syncs"], default="breaks")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", metavar="NAME", help="one case, or the cases of one package")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for each case")
    options = parser.parse_args()
    if options.install:
        install(options.set, options.site)
        return
    if options.out is None:
        parser.error("--out is missing")
    truth = collect(options.set, options.mode, options.site.resolve(), options.only, options.jobs, options.timeout)
    kinds = Counter(site["gb_type"] for file in truth["files"].values() for site in file["breaks"])
    print(f"{len(truth['cases'])} cases of {len(truth['versions'])} packages, {kinds.total()} sites")
    for kind, count in kinds.most_common():
        print(f"{count:5d}  {kind}")
    write(truth, options.out)


if __name__ == "__main__":
    main()
