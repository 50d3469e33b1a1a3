"""The files under `fixtures/`: loaded, and their marks read.

A line ends in `# expect: CL101` for each finding on it (`# expect: CL103, CL103` for two), and in `traced` where Dynamo
traces the line all the same, or `raises` where it fails. `# reads` marks a line that reads or copies, and is not
reported.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(path for path in (ROOT / "fixtures").glob("cl*.py") if not path.name.endswith(".fixed.py"))
FIXED = [path for path in FILES if path.with_suffix(".fixed.py").exists()]
EXPECT = re.compile(r"# expect: (CL\d{3}(?:, CL\d{3})*)( traced| raises)?")
READS = re.compile(r"# reads\b")


@dataclass(frozen=True)
class Mark:
    """What one line of a fixture expects: `how` is "traced", "raises" or ""."""

    line: int
    codes: tuple[str, ...]
    how: str


def code_of(path: Path) -> str:
    """CL101 for `cl101_branch_on_tensor.py`."""
    return path.name.split("_")[0].upper()


def marks(path: Path) -> list[Mark]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := EXPECT.search(line):
            found.append(Mark(number, tuple(match[1].split(", ")), (match[2] or "").strip()))
    return found


def expected(path: Path) -> Counter[tuple[int, str]]:
    """How often each code is expected on each line."""
    return Counter((mark.line, code) for mark in marks(path) for code in mark.codes)


def permitted_reads(path: Path) -> set[int]:
    """The lines marked `# reads`."""
    return {n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if READS.search(line)}


def load(path: Path) -> ModuleType:
    """A Python file as a module, whatever its name."""
    spec = importlib.util.spec_from_file_location(path.name.removesuffix(".py").replace(".", "_"), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
