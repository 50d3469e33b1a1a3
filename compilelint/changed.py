"""The lines that changed since a revision, as git tells them: for reports on a pull request alone."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from compilelint.errors import UsageProblem
from compilelint.finding import Finding
from compilelint.source.notebook import is_notebook

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}


@dataclass
class Changed:
    """`lines` by the file's real path; `whole` files are new, or their lines can't be told."""

    lines: dict[str, list[range]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)

    def holds(self, finding: Finding) -> bool:
        """Whether a finding, or the statement that it is part of, stands on a changed line."""
        span = finding.span
        path = os.path.realpath(span.path)
        if path in self.whole:
            return True
        first = min(span.line, finding.statement_line or span.line)
        return any(each.start <= span.end_line and first < each.stop for each in self.lines.get(path, ()))


def changed_since(revision: str, folder: Path) -> Changed:
    """What differs, in the work tree, from where the branch left `revision`. Raises UsageProblem."""
    top = Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))
    try:
        base = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except UsageProblem:
        raise UsageProblem(f"--diff-base {revision}: no such revision") from None
    with suppress(UsageProblem):  # a shallow clone may lack the common ancestor
        base = _git(top, "merge-base", base.strip().decode(), "HEAD")
    patch = _git(
        top,
        "diff",
        "--unified=0",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--dst-prefix=b/",
        base.strip().decode(),
    )
    changed = Changed()
    for name, ranges in _read_patch(patch.split(b"\n")):
        path = os.path.realpath(top / os.fsdecode(name))
        if is_notebook(path):  # a patch counts lines of JSON
            changed.whole.add(path)
        else:
            changed.lines.setdefault(path, []).extend(ranges)
    for name in _git(top, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
        if name:
            changed.whole.add(os.path.realpath(top / os.fsdecode(name)))
    return changed


def _read_patch(lines: Sequence[bytes]) -> Iterable[tuple[bytes, list[range]]]:
    name, at = b"", 0
    ranges: list[range] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(b"diff --git "):
            if name and ranges:
                yield name, ranges
            name, ranges = b"", []
        elif line.startswith(b"+++ "):
            name = _unquoted(line[4:].rstrip(b"\t"))
        elif match := _HUNK.match(line):
            removed, start, added = int(match[1] or 1), int(match[2]), int(match[3] or 1)
            if added:
                ranges.append(range(start, start + added))
            at += removed + added  # their text may look like anything
    if name and ranges:
        yield name, ranges


def _unquoted(name: bytes) -> bytes:
    """A path of a patch, without the prefix and quotes."""
    if name.startswith(b'"'):
        name = _ESCAPE.sub(lambda m: bytes([_LETTERS[m[1]] if m[1] in _LETTERS else int(m[1], 8)]), name[1:-1])
    return name.removeprefix(b"b/")


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        # a file system monitor is a program that the repository's configuration names
        command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        raise UsageProblem("--diff-base: git can't be run") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise UsageProblem(f"--diff-base: git says: {said}")
    return done.stdout
