"""Coverage-guided fuzzing of check, fix, suppressions, notebooks and the configuration, with Atheris.

    python -m pip install atheris
    python scripts/fuzz.py source --minutes 60 --out /tmp/fuzz [--seed 1]

Programs are mutated as programs (fuzzing/mutate.py), from the fixtures and the rules' examples on. What breaks a
promise of fuzzing/targets.py is written to OUT/failures, one file for each kind, the smallest input of it, with its
traceback, and the run goes on. OUT/figures.json holds what was done; a later run with the same OUT adds to it.
`--replay FILE…` runs inputs again, and tells of each what becomes of it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import pkgutil
import random
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

MOST_SECONDS = 20  # of CPU, for one input
MOST_BYTES = 20_000
TELL_EVERY = 60.0


class Hang(KeyboardInterrupt):
    """More than MOST_SECONDS for one input: no `except Exception` holds it back."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=("source", "notebook", "config"))
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", type=Path, nargs="+", default=[])
    options = parser.parse_args()
    out = options.out.absolute()
    work = out / f"work-{options.target}"
    for folder in (work, out / "failures", out / f"corpus-{options.target}"):
        folder.mkdir(parents=True, exist_ok=True)
    replayed = [path.absolute() for path in options.replay]
    os.environ["COMPILELINT_CACHE_DIR"] = str(out / "cache")
    os.chdir(work)
    signal.signal(signal.SIGVTALRM, _too_long)
    if replayed:
        from fuzzing import targets

        return max([replay(targets.TARGETS[options.target], path) for path in replayed])
    import atheris

    with atheris.instrument_imports(include=["compilelint"]):
        from fuzzing import targets

        for module in static_modules():
            importlib.import_module(module)
    run = Run(options.target, targets.TARGETS[options.target], out)
    atheris.Setup(
        [
            sys.argv[0],
            str(out / f"corpus-{options.target}"),
            f"-max_total_time={int(options.minutes * 60)}",
            f"-max_len={MOST_BYTES}",
            f"-seed={options.seed}",
            "-rss_limit_mb=6000",
            "-timeout=600",
            "-report_slow_units=600",
            "-len_control=0",
            f"-artifact_prefix={out}/failures/lost-",
        ],
        run.once,
        custom_mutator=mutator(options.target, out),
    )
    atheris.Fuzz()
    return 0


def static_modules() -> Iterator[str]:
    """The modules that a check or a fix imports, most of them late: here they are instrumented."""
    import compilelint

    apart = ("runtime", "ops", "server", "sample", "__main__", "cli")
    for found in pkgutil.walk_packages(compilelint.__path__, "compilelint."):
        if found.name.split(".")[1] not in apart:
            yield found.name


def _too_long(signum: int, frame: FrameType | None) -> None:
    raise Hang


def bounded(target: Callable[[bytes], None], data: bytes) -> BaseException | None:
    """What a target raised, Hang included."""
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        target(data)
    except BaseException as error:
        return error
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def kind(error: BaseException) -> str:
    """What one failure has in common with others: its type, and where in the tool it came up."""
    text = "".join(traceback.format_exception(error))
    if isinstance(error, Hang):
        frames = [
            frame.name for frame in traceback.extract_tb(error.__traceback__) if "/compilelint/" in frame.filename
        ]
        return f"Hang {' '.join(frames[:8])}"
    first = str(error).splitlines()[0] if str(error) else ""
    where = re.findall(r'compilelint/([\w/]+\.py)", line (\d+)', text)
    words = re.sub(r"[0-9]+|`[^`]*`", "#", first)[:80]
    return f"{type(error).__name__} {words} {where[-1:] if 'round' not in first else ''}"


class Run:
    """Runs a target on many inputs and keeps what fails."""

    def __init__(self, name: str, target: Callable[[bytes], None], out: Path) -> None:
        self.name, self.target, self.out = name, target, out
        self.told = time.monotonic()
        self.runs, self.slowest, self.began = 0, 0.0, time.process_time()
        self.figures = out / "figures.json"
        known: dict[str, Any] = json.loads(self.figures.read_text()) if self.figures.exists() else {}
        self.before = known.get(name, {"runs": 0, "cpu_seconds": 0.0, "slowest": 0.0, "failures": 0})
        self.failures = 0

    def once(self, data: bytes) -> None:
        start = time.process_time()
        error = bounded(self.target, data)
        took = time.process_time() - start
        self.runs += 1
        if took > self.slowest:
            self.slowest = took
            (self.out / f"slowest-{self.name}").write_bytes(data)
        if error is not None:
            self.failures += 1
            self.keep(error, data)
        if time.monotonic() - self.told > TELL_EVERY:
            self.tell()

    def keep(self, error: BaseException, data: bytes) -> None:
        name = f"{self.name}-{hashlib.sha256(kind(error).encode()).hexdigest()[:10]}"
        path = self.out / "failures" / name
        if path.exists() and len(path.read_bytes()) <= len(data):
            return
        path.write_bytes(data)
        path.with_suffix(".txt").write_text(
            "".join(traceback.format_exception(error)), encoding="utf-8", errors="replace"
        )
        print(f"FAILURE {name}: {kind(error)}", flush=True)

    def tell(self) -> None:
        self.told = time.monotonic()
        known = json.loads(self.figures.read_text()) if self.figures.exists() else {}
        known[self.name] = {
            "runs": self.before["runs"] + self.runs,
            "cpu_seconds": round(self.before["cpu_seconds"] + time.process_time() - self.began, 1),
            "slowest": round(max(self.before["slowest"], self.slowest), 2),
            "failures": self.before["failures"] + self.failures,
        }
        self.figures.write_text(json.dumps(known, indent=1) + "\n")


def replay(target: Callable[[bytes], None], path: Path) -> int:
    start = time.process_time()
    error = bounded(target, path.read_bytes())
    print(f"{path}: {time.process_time() - start:.2f} s")
    if error is not None:
        traceback.print_exception(error)
    return int(error is not None)


def mutator(target: str, out: Path) -> Callable[[bytes, int, int], bytes]:
    """The mutator of a target; its seeds are written to the corpus."""
    from fuzzing import seeds
    from fuzzing.mutate import Mutator
    from fuzzing.structured import change_config, change_notebook

    programs = seeds.sources()
    texts = Mutator(programs)
    given = {"source": [t.encode() for t in programs], "notebook": seeds.notebooks(), "config": seeds.configs()}[target]
    for data in given:
        (out / f"corpus-{target}" / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if len(data) < 2:
            data = rng.choice(given)
        if target == "source":
            text = data.decode("utf-8", "replace")
            after = texts(text, rng).encode("utf-8", "surrogatepass")
        elif target == "notebook":
            after = change_notebook(data, texts, rng)
        else:
            after = change_config(data, rng)
        return after if len(after) <= max_size else data[:max_size]

    return mutate


if __name__ == "__main__":
    sys.exit(main())
