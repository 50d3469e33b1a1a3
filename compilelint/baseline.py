"""A baseline: the findings that an old code base starts with, kept in a file that is committed. Only others are shown.

A finding is known by its file, its rule and the text of its line, so that lines may move; where several are alike,
their number counts. What is one rule's in compiled code and another's outside of it is known by either: which of them
reports it depends on the files that were checked.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compilelint import __version__
from compilelint.errors import UsageProblem
from compilelint.finding import Finding
from compilelint.source.files import read_regular
from compilelint.writing import write_text

DEFAULT = "compilelint-baseline.json"
VERSION = 1
LONGEST = 200  # characters kept of a line
PAIRS = (  # rules that report the same code: in compiled code, or outside of it; in a step, or elsewhere
    *(("CL103", "CL201"), ("CL103", "CL204"), ("CL103", "CL205"), ("CL103", "CL207"), ("CL201", "CL204")),
    ("CL104", "CL202"),
    *(("CL105", "CL203"), ("CL105", "CL207"), ("CL105", "CL210")),
    *(("CL106", "CL201"), ("CL121", "CL201")),
)

Key = tuple[str, str, str]  # path below the baseline's folder, code, text of the line
Lines = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Judged:
    """`new` findings are not in the baseline, `known` are; `gone` ones of it were found no more, by a run over all."""

    new: list[Finding]
    known: int
    gone: int


def judge(file: Path, findings: Iterable[Finding], checked: Collection[str], lines: Lines) -> Judged:
    """Findings of a run over `checked` files, against a baseline. Raises UsageProblem."""
    left = _read(file)
    places = {_place(file, path) for path in checked}
    # some findings are seen only with the files that lead to them at hand
    partly = any((file.parent / path).exists() for path in {path for path, *_ in left} - places)
    unmatched: list[tuple[Finding, Key]] = []
    known = 0
    for finding in findings:
        key = _key(file, finding, lines)
        if left[key] > 0:
            left[key] -= 1
            known += 1
        else:
            unmatched.append((finding, key))
    new: list[Finding] = []
    for finding, (path, code, line) in unmatched:
        others = [(path, other, line) for other in _paired(code)]
        if (entry := next((entry for entry in others if left[entry] > 0), None)) is not None:
            left[entry] -= 1
            known += 1
        else:
            new.append(finding)
    return Judged(new, known, 0 if partly else sum(n for (path, *_), n in left.items() if path in places))


def write(file: Path, findings: Iterable[Finding], checked: Collection[str], lines: Lines) -> int:
    """Writes the findings of a run as the baseline, and gives their number.

    What it holds of files that were not checked stays, as long as they exist. Raises UsageProblem.
    """
    places = {_place(file, path) for path in checked}
    kept = Counter(_key(file, finding, lines) for finding in findings)
    number = kept.total()
    if file.exists():
        there = {key: n for key, n in _read(file).items() if key[0] not in places}
        kept.update({key: n for key, n in there.items() if (file.parent / key[0]).exists()})
    by_path: dict[str, list[dict[str, Any]]] = {}
    for (path, code, line), count in sorted(kept.items()):
        by_path.setdefault(path, []).append({"code": code, "line": line, "count": count})
    data = {"version": VERSION, "compilelint": __version__, "findings": by_path}
    text = json.dumps(data, indent=1, ensure_ascii=False)
    try:
        # the bytes of a file name that are no UTF-8 become JSON's escapes
        write_text(file, text.encode("utf-8", "backslashreplace").decode() + "\n")
    except OSError as error:
        raise UsageProblem(f"{file}: can't be written: {error.strerror}") from None
    return number


def _read(file: Path) -> Counter[Key]:
    try:
        data = json.loads(read_regular(file).decode())
        if data["version"] != VERSION:
            raise UsageProblem(f"{file}: a baseline of version {data['version']!r}; this compilelint knows {VERSION}")
        found: Counter[Key] = Counter()
        for path, entries in data["findings"].items():
            for entry in entries:
                if type(count := entry["count"]) is not int or count < 1:
                    raise ValueError(count)
                found[(str(path), str(entry["code"]), str(entry["line"]))] += count
    except FileNotFoundError:
        raise UsageProblem(f"{file}: no such baseline; `--write-baseline` makes one") from None
    except OSError as error:
        raise UsageProblem(f"{file}: can't be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageProblem(f"{file}: not a baseline; `--write-baseline` makes one") from None
    return found


def _paired(code: str) -> list[str]:
    return [other for pair in PAIRS if code in pair for other in pair if other != code]


def _key(file: Path, finding: Finding, lines: Lines) -> Key:
    text = lines(finding.span.path)
    line = text[finding.span.line - 1].strip() if finding.span.line <= len(text) else ""
    return _place(file, finding.span.path), finding.code, line[:LONGEST]


def _place(file: Path, path: str) -> str:
    return Path(os.path.relpath(os.path.abspath(path), file.absolute().parent)).as_posix()
