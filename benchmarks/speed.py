"""CPU time, wall time and peak memory of check beside other linters, on pinned packages from PyPI.

    python benchmarks/speed.py --site DIR --install           # once: the trees, without their dependencies
    python benchmarks/speed.py --site DIR [--peers BIN] [--compiled PYTHON] [--out benchmarks/results/speed]

BIN is the folder of an environment's programs with `ruff`, `flake8`, `torchfix` (TorchFix 0.7.0), `torch-preflight`
0.5.0 and `hotpath` (hotpath-ai 0.1.0); those that are absent are left out. All is measured in one run: CPU seconds are
those of all processes of a command, peak memory is that of its largest one (Linux). Peers that would take longer than
`--patience` seconds for the whole tree, judged by how long they took for the sample, are measured on the sample alone.
PYTHON is that of an environment in which compilelint was installed with COMPILELINT_MYPYC=1.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

TREES = {"transformers": "5.24.0", "torchvision": "0.28.0", "timm": "1.0.31"}
SAMPLE = "torchvision"
EDITED = {"transformers": "transformers/models/bert/modeling_bert.py", "torchvision": "torchvision/models/resnet.py"}
PR_SET_CHILD_SUBREAPER = 36
ELSEWHERE = "/"  # `python -m` imports what lies in the working folder first: a checkout is never compiled
PEERS: dict[str, list[str]] = {
    "ruff": ["ruff", "check", "--isolated", "--no-cache", "--quiet"],
    "flake8": ["flake8", "--isolated", "--quiet", "--quiet"],
    "torchfix": ["torchfix", "--select", "ALL"],
    "torch-preflight": ["torch-preflight", "check"],
    "hotpath": ["hotpath", "analyze"],
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of CPU and of wall time, MB of the largest process, exit status."""

    cpu: float
    wall: float
    peak: float
    status: int


def measured(command: Sequence[str], env: Mapping[str, str]) -> Cost:
    """Runs a command in a child that adopts all its orphans, so that none of their time is lost."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        start = time.perf_counter()
        quiet = subprocess.DEVNULL
        done = subprocess.run(command, env=env, cwd=ELSEWHERE, stdout=quiet, stderr=quiet, check=False)
        wall = time.perf_counter() - start
        try:
            while True:
                os.wait()
        except ChildProcessError:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cost = Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, done.returncode)
        os.write(write, json.dumps(asdict(cost)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        cost = Cost(**json.loads(pipe.read()))
    os.waitpid(pid, 0)
    return cost


def check(python: str, tree: Path, *args: str) -> list[str]:
    return [python, "-m", "compilelint", "check", "--isolated", "--quiet", "--statistics", *args, str(tree)]


def of_compilelint(python: str, tree: Path, edited: Path | None, rounds: int) -> dict[str, Cost]:
    """Cold with one process and with one for each core, filling the cache, warm, and after an edit of one file."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "COMPILELINT_CACHE_DIR": cache}
        found = {
            "cold, 1 process": best(check(python, tree, "--no-cache", "--jobs", "1"), env, rounds),
            "cold": best(check(python, tree, "--no-cache"), env, rounds),
            "cold, filling the cache": measured(check(python, tree), env),
            "warm": best(check(python, tree), env, rounds),
        }
        if edited is not None:
            text = edited.read_bytes()
            runs = []
            try:
                for number in range(rounds):
                    edited.write_bytes(text + f"\n# edited {number}\n".encode())
                    runs.append(measured(check(python, tree), env))
            finally:
                edited.write_bytes(text)
            found["one file changed"] = min(runs, key=lambda cost: cost.cpu)
    return found


def best(command: Sequence[str], env: Mapping[str, str], rounds: int) -> Cost:
    """The run of several that needed the least CPU: what else the machine does only adds to it."""
    return min((measured(command, env) for _ in range(rounds)), key=lambda cost: cost.cpu)


def lines_of(tree: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in tree.rglob("*.py"))


def run(site: Path, peers: Path | None, compiled: str | None, rounds: int, patience: float) -> dict[str, object]:
    lines = {name: lines_of(site / name) for name in TREES if (site / name).is_dir()}
    rows: list[dict[str, object]] = []

    def note(tree: str, tool: str, what: str, cost: Cost) -> None:
        per_second = lines[tree] / cost.cpu
        rows.append({"tree": tree, "tool": tool, "what": what, "lines_per_cpu_second": per_second, **asdict(cost)})
        print(
            f"{tree:13} {tool:22} {what:24} {cost.cpu:8.2f} CPU s {cost.wall:8.2f} s {cost.peak:6.0f} MB"
            f" {per_second:10,.0f} lines/CPU s",
            flush=True,
        )

    trees = sorted(lines, key=lambda name: name != SAMPLE)
    for tree in trees:
        edited = EDITED.get(tree)
        pythons = {"compilelint": sys.executable, **({"compilelint, compiled": compiled} if compiled else {})}
        for tool, python in pythons.items():
            for what, cost in of_compilelint(python, site / tree, site / edited if edited else None, rounds).items():
                note(tree, tool, what, cost)
        for tool, command in PEERS.items():
            program = shutil.which(command[0], path=str(peers)) if peers is not None else None
            sample = next((row for row in rows if (row["tree"], row["tool"]) == (SAMPLE, tool)), None)
            if program is None or (sample is not None and _seconds(sample, lines, tree) > patience):
                continue
            note(tree, tool, "cold", measured([program, *command[1:], str(site / tree)], os.environ))
    version = best([sys.executable, "-m", "compilelint", "--version"], os.environ, 5 * rounds)
    nothing = best([sys.executable, "-c", "pass"], os.environ, 5 * rounds)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "rounds": rounds,
        "patience": patience,
        "versions": {"compilelint": metadata.version("compilelint"), **_versions(peers)},
        "trees": {name: {"version": TREES[name], "lines": lines[name]} for name in lines},
        "rows": rows,
        "version_ms": 1000 * version.wall,
        "python_ms": 1000 * nothing.wall,
    }


def _is_compiled(python: str) -> bool:
    script = "from compilelint.engine import run; print(run.__file__)"
    where = subprocess.run([python, "-c", script], cwd=ELSEWHERE, capture_output=True, text=True, check=True).stdout
    return Path(where.strip()).suffix in (".so", ".pyd")


def _seconds(sample: Mapping[str, object], lines: Mapping[str, int], tree: str) -> float:
    return float(str(sample["wall"])) * lines[tree] / lines[SAMPLE]


def _versions(peers: Path | None) -> dict[str, str]:
    names = ("ruff", "flake8", "torchfix", "torch-preflight", "hotpath-ai")
    if peers is None:
        return {}
    script = (
        f"from importlib.metadata import version\nimport json\nprint(json.dumps({{n: version(n) for n in {names}}}))"
    )
    done = subprocess.run([peers / "python", "-c", script], capture_output=True, text=True, check=False)
    return dict(json.loads(done.stdout)) if done.returncode == 0 else {}


def markdown(result: Mapping[str, object]) -> Iterable[str]:
    versions, trees, rows = result["versions"], result["trees"], result["rows"]
    assert isinstance(versions, dict)
    assert isinstance(trees, dict)
    assert isinstance(rows, list)
    yield "# Speed\n"
    how = f"--rounds {result['rounds']} --patience {result['patience']:g}"
    yield f"`python benchmarks/speed.py {how}`, {result['date']}, Python {result['python']}, {result['cores']} cores."
    yield "Versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + "."
    yield "CPU seconds of all processes, wall time, and the peak of the largest process. The speed of a shared"
    yield "machine may change by half within minutes: compare rows that stand near.\n"
    for tree, about in trees.items():
        yield f"## {tree} {about['version']}, {about['lines']:,} lines\n"
        yield "| | | CPU s | wall s | peak MB | lines per CPU s |"
        yield "| --- | --- | ---: | ---: | ---: | ---: |"
        for row in rows:
            if row["tree"] == tree:
                yield (
                    f"| {row['tool']} | {row['what']} | {row['cpu']:.2f} | {row['wall']:.2f} | {row['peak']:.0f}"
                    f" | {row['lines_per_cpu_second']:,.0f} |"
                )
        yield ""
    yield f"`compilelint --version`: {result['version_ms']:.0f} ms; `python -c pass`: {result['python_ms']:.0f} ms."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, required=True)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--peers", type=Path, metavar="BIN")
    parser.add_argument("--compiled", type=Path, metavar="PYTHON", help="one whose compilelint is compiled")
    parser.add_argument("--out", type=Path, metavar="STEM", help="write STEM.md and STEM.json")
    parser.add_argument(
        "--rounds", type=int, default=2, help="runs of each, of which the one with the least CPU counts"
    )
    parser.add_argument("--patience", type=float, default=120.0, metavar="S")
    args = parser.parse_args()
    if args.install:
        pins = [f"{name}=={version}" for name, version in TREES.items()]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(args.site), *pins]
        sys.exit(subprocess.run(command, check=False).returncode)
    peers, compiled = (path.absolute() if path is not None else None for path in (args.peers, args.compiled))
    if compiled is not None and not _is_compiled(str(compiled)):
        sys.exit(f"{compiled}: its compilelint is not compiled")
    result = run(args.site.resolve(), peers, str(compiled) if compiled else None, args.rounds, args.patience)
    if args.out is not None:
        args.out.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        args.out.with_suffix(".md").write_text("\n".join(markdown(result)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
