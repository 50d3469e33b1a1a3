"""Kill `fix --apply` at random moments, and look at what it left: every file is the old or the new one, as a whole.

    python benchmarks/kills.py [--kills 300] [--files 200] [--seed 0] [--out benchmarks/results/kills.md]

Each run fixes a fresh tree under git, unsafe fixes too, in two processes beside its own. Four of five kills come while
files are written: a little after a random one of them is. The others come at any moment from the start on. Half of the
kills are of the process alone, whose helpers must then end by themselves, half of all its processes. Afterwards git
must see changed sources and no other file, and a check take the same files as before. One tree of ten is fixed once
more, and all its files must be new then. Ctrl-C ends early, with what was met so far. The exit status is 1 where
anything is wrong. POSIX only.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compilelint import __version__
from compilelint.source.files import select
from compilelint.writing import PREFIX

BYTES = 2_000_000  # in all: enough for several parts, which are checked by processes of their own
AGAIN = 10  # each so many trees are fixed once more
SOON = 0.03  # seconds after a file is seen to be new: what writing one or two takes
PATIENCE = 120.0
FIX = (sys.executable, "-m", "compilelint", "fix", "--apply", "--unsafe-fixes", "--isolated", "--jobs", "2", ".")


@dataclass
class Result:
    """What the kills met, and what was wrong after them."""

    landed: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    written: list[int] = field(default_factory=list)  # files that were new, of kills while some were
    again: int = 0
    wrong: list[str] = field(default_factory=list)


def source(number: int, files: int) -> str:
    text = f'import torch\n\n\n@torch.compile\ndef step(x):\n    print("step", {number})\n    return x * {number}\n'
    return f"{text}\nNOTE = {'x' * (BYTES // files)!r}\n"


class Tree:
    """A git repository of sources, each with one unsafe fix."""

    def __init__(self, folder: Path, files: int) -> None:
        self.folder = folder
        self.old = {f"m{number:03}.py": source(number, files).encode() for number in range(files)}
        self.git("init", "--quiet")
        self.reset()
        self.git("add", ".")
        self.git("-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", "old")
        start = time.monotonic()
        subprocess.run(FIX, cwd=folder, check=True, capture_output=True)
        self.seconds = time.monotonic() - start
        self.new = {name: (folder / name).read_bytes() for name in self.old}
        assert all(self.new[name] != self.old[name] for name in self.old)

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def reset(self) -> None:
        for path in self.folder.iterdir():
            if path.name.startswith(PREFIX):
                shutil.rmtree(path)
        for name, data in self.old.items():
            place = self.folder / name
            if not place.exists() or place.read_bytes() != data:
                place.write_bytes(data)
                place.chmod(0o640)

    def is_new(self, name: str) -> bool:
        return (self.folder / name).read_bytes() == self.new[name]


def killed(tree: Tree, chance: random.Random, *, alone: bool) -> list[str]:
    """Starts a fix and kills it; what is wrong with its processes."""
    process = subprocess.Popen(
        FIX, cwd=tree.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    if chance.random() < 0.2:
        time.sleep(chance.uniform(0, tree.seconds))
    else:
        name = chance.choice(sorted(tree.old))
        before = (tree.folder / name).stat().st_ino
        while process.poll() is None and (tree.folder / name).stat().st_ino == before:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, SOON))
    if alone:
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return [] if others_end(process.pid) else ["its processes did not end"]


def others_end(session: int) -> bool:
    """Whether the processes that a killed one started end by themselves."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    os.killpg(session, signal.SIGKILL)
    return False


def looked_at(tree: Tree, result: Result) -> list[str]:
    """What is wrong with a tree; what was met is counted."""
    wrong = []
    names = {path.name for path in tree.folder.iterdir()} - {".git"}
    new = [name for name in tree.old if tree.is_new(name)]
    for name in sorted(tree.old):
        data = (tree.folder / name).read_bytes()
        if data not in (tree.old[name], tree.new[name]):
            wrong.append(f"{name}: {len(data)} bytes that are neither old nor new")
        if (tree.folder / name).stat().st_mode & 0o777 != 0o640:
            wrong.append(f"{name}: its permissions changed")
    left = sorted(names - set(tree.old))
    for name in left:
        inside = {path.name for path in (tree.folder / name).iterdir()}
        if not name.startswith(PREFIX) or not inside <= {".gitignore", "new"}:
            wrong.append(f"{name}: left behind, with {sorted(inside)}")
    seen = {line.split()[1] for line in tree.git("status", "--porcelain").splitlines()}
    if seen != set(new):
        wrong.append(f"git sees other changes than those of the new files: {sorted(seen ^ set(new))}")
    if {path.name for path in select([tree.folder]).files} != set(tree.old):
        wrong.append("a check takes other files than before")
    moment = "before" if not new else "after" if len(new) == len(tree.old) else "within"
    if moment == "before" and left:
        moment = "within"
    result.landed[moment] += 1
    result.left["a temporary folder" if left else "nothing"] += 1
    if moment == "within":
        result.written.append(len(new))
    return wrong


def runs(folder: Path, kills: int, files: int, seed: int) -> Result:
    """`kills` runs that are killed, on a tree of so many files."""
    result = Result()
    with contextlib.suppress(KeyboardInterrupt):
        _run(Tree(folder, files), result, kills, random.Random(seed))
    return result


def _run(tree: Tree, result: Result, kills: int, chance: random.Random) -> None:
    for number in range(kills):
        if number and number % 20 == 0:
            print(f"{number} of {kills}: {dict(result.landed)}, wrong: {len(result.wrong)}", file=sys.stderr)
        tree.reset()
        alone = number % 2 == 0
        wrong = killed(tree, chance, alone=alone)
        wrong += looked_at(tree, result)
        if number % AGAIN == 0:
            result.again += 1
            done = subprocess.run(FIX, cwd=tree.folder, check=False, capture_output=True)
            if done.returncode or not all(map(tree.is_new, tree.old)):
                wrong.append("a second run does not end with all files new")
        for each in wrong:
            print(f"kill {number}: {each}", file=sys.stderr)
        result.wrong += wrong


def report(result: Result, files: int, seed: int) -> str:
    kills = sum(result.landed.values())
    system = f"{platform.system()}, Python {platform.python_version()}, compilelint {__version__}"
    spread = sorted(result.written)
    rows: Sequence[tuple[str, object]] = (
        ("kills", kills),
        ("before the first file was written", result.landed["before"]),
        ("while files were written", result.landed["within"]),
        ("after the last file was written", result.landed["after"]),
        ("files that were new by then, least, median, most", f"{spread[0]}, {spread[len(spread) // 2]}, {spread[-1]}"),
        ("kills that left a temporary folder, which git and `check` pass over", result.left["a temporary folder"]),
        ("trees that were fixed once more", result.again),
        ("anything wrong", len(result.wrong)),
    )
    lines = [
        "# Kills while files are written",
        "",
        f"Made by `python benchmarks/kills.py --kills {kills} --files {files} --seed {seed}` on "
        f"{datetime.date.today()}: {system}.",
        "`compilelint fix --apply --unsafe-fixes` on a tree of that many files, each with a fix, in several processes,",
        "was killed with SIGKILL at random moments: half of the times alone, half with the processes that it started.",
        "Afterwards every file must be the old or the new one, with its permissions, git must see no other file, and",
        "`check` must take the same files as before.",
        "",
        "| | |",
        "| --- | ---: |",
        *(f"| {name} | {value} |" for name, value in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background a shell has it ignored
    with tempfile.TemporaryDirectory() as folder:
        result = runs(Path(folder), options.kills, options.files, options.seed)
    text = report(result, options.files, options.seed)
    print(text)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")
    return int(bool(result.wrong))


if __name__ == "__main__":
    sys.exit(main())
