"""Collect a ground truth: what Dynamo, or a GPU, did while real code of PyPI packages ran.

    python collect.py SET --site DIR --install                 # once: the packages, pinned, without dependencies
    python collect.py SET --site DIR --out FILE                # compiled: lines traced, graph breaks
    python collect.py SET --site DIR --out FILE --mode syncs   # eagerly on a CUDA GPU: lines executed, host syncs

Each case runs in a process of its own. One that fails or takes too long is named on stderr and left out; `--work DIR`
keeps the results of the others for the next run.
Output: {"torch", "python", "versions": {package: release}, "cases": {name: package}, "errors": {name: what only Dynamo
raised}, "files": {path: {"package", "traced": [[first line, last line]], "breaks": [site]}}}, a site being {"line",
"gb_type", "skipped", "secondary", "cases": how many}; for syncs also "effect" and "device". Paths are relative to DIR.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import multiprocessing.connection
import platform
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from case import Case, load  # noqa: E402

FORK = multiprocessing.get_context("fork")
Recorder = Callable[[Case, str, Path, Path], None]

# Types that Dynamo meets only in a frame that it was handed because its caller already ran eagerly: a generator or a
# comprehension on its own, or values that a break before has left half consumed.
SECONDARY = {
    "Attempt to trace generator",
    "Missing tp_iternext",
    "Generator reconstruction with mutations",
    "Reconstruction failure",
}


def run(cases: Iterable[Case], mode: str, site: Path, work: Path, jobs: int, timeout: float) -> None:
    """Leaves what record.py writes of each case in `work`; {"failed": why} where it wrote nothing.

    A process for each package, forked so that torch is imported once, forks one for each case. This one must not use
    torch: it would not survive.
    """
    import torch._dynamo
    from record import record

    torch.set_num_threads(1)
    sys.path.insert(0, str(site))
    by_package: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_package[case.package].append(case)
    waiting, running = list(by_package), []
    while waiting or running:
        while waiting and len(running) < jobs:
            package = waiting.pop(0)
            process = FORK.Process(target=lead, args=(package, by_package[package], record, mode, site, work, timeout))
            process.start()
            running.append(process)
        multiprocessing.connection.wait([process.sentinel for process in running])
        running = [process for process in running if process.is_alive()]


def lead(
    package: str, cases: Iterable[Case], record: Recorder, mode: str, site: Path, work: Path, timeout: float
) -> None:
    """The cases of one package, one after the other; those recorded before are kept."""
    tops = Counter(Path(path).parts[0] for path in installed(site, [package])[1])
    with contextlib.suppress(Exception):  # a case that needs it will tell
        importlib.import_module(tops.most_common(1)[0][0])
    for case in cases:
        out = work / f"{case.name}.json"
        if out.exists():
            continue
        process = FORK.Process(target=record, args=(case, mode, site, out))
        process.start()
        process.join(timeout)
        late = process.is_alive()
        process.kill()
        process.join()
        if not out.exists():
            why = f"takes more than {timeout:.0f} s" if late else f"exit {process.exitcode}"
            out.write_text(json.dumps({"failed": why}), encoding="utf-8")


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


def collect(
    set_name: str, mode: str, site: Path, work: Path, only: Sequence[str], jobs: int, timeout: float
) -> dict[str, Any]:
    import torch

    chosen = load(set_name)
    cases = [case for case in chosen.cases if not only or not {case.name, case.package}.isdisjoint(only)]
    run(cases, mode, site, work, jobs, timeout)
    good = {}
    for case in cases:
        result = json.loads((work / f"{case.name}.json").read_text(encoding="utf-8"))
        if "failed" in result:
            print(f"left out {case.package} {case.name}: {result['failed']}", file=sys.stderr)
        else:
            good[case] = result
    releases, owners = installed(site, chosen.packages)
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
    parser.add_argument("--work", type=Path, help="folder that keeps each case's result: a second run goes on from it")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these cases, or those of these packages")
    parser.add_argument("--jobs", type=int, default=1, help="packages at once")
    parser.add_argument("--timeout", type=float, default=300, help="seconds a case")
    options = parser.parse_args()
    if options.install:
        install(options.set, options.site)
        return
    if options.out is None:
        parser.error("--out is missing")
    with contextlib.ExitStack() as stack:
        work = options.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        work.mkdir(parents=True, exist_ok=True)
        site = options.site.resolve()
        truth = collect(options.set, options.mode, site, work, options.only, options.jobs, options.timeout)
    kinds = Counter(site["gb_type"] for file in truth["files"].values() for site in file["breaks"])
    print(f"{len(truth['cases'])} cases of {len(truth['versions'])} packages, {kinds.total()} sites")
    for kind, count in kinds.most_common():
        print(f"{count:5d}  {kind}")
    write(truth, options.out)


if __name__ == "__main__":
    main()
