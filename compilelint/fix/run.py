"""Fixing files: read, fix in rounds, show as a diff, and write when asked to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compilelint.finding import Finding
from compilelint.fix.edits import apply_edits, unified_diff
from compilelint.fix.errors import WriteError
from compilelint.fix.fixpoint import (
    MAX_ROUNDS,
    AppliedFix,
    Find,
    FixedText,
    Refuse,
    SkippedFix,
    fix_texts,
    refuse_none,
)
from compilelint.fix.write import Source, read_source, write_source
from compilelint.source.notebook import is_notebook, pages, place
from compilelint.writing import write_text

Attempt = Callable[[Refuse], dict[str, FixedText]]  # fixes all texts but for what is refused
Prove = Callable[[Attempt], dict[str, FixedText]]  # makes attempts, and gives the one to keep


@dataclass
class FileFix:
    """What fixing did, or would do, to one file. `written` is true once the new text is on disk."""

    path: str
    before: str
    after: str
    applied: list[AppliedFix] = field(default_factory=list)
    skipped: list[SkippedFix] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    written: bool = False

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def diff(self) -> str:
        """A unified diff, "" for no change: a hunk for each fix, headed by code, title and why it is safe or not; of a
        notebook one for each cell."""
        notes = [
            (first, last, f"{fix.code} {fix.title} ({fix.applicability.value}{': ' if fix.why else ''}{fix.why})")
            for fix in self.applied
            for first, last in fix.places
        ]
        if not is_notebook(self.path):
            return unified_diff(self.before, self.after, self.path, notes=notes)
        out, above = [], 0
        for cell, (old, new) in enumerate(zip(pages(self.before), pages(self.after), strict=True), 1):
            here = [(first - above, last - above, note) for first, last, note in notes]
            out.append(unified_diff(f"{old}\n", f"{new}\n", f"{self.path}:cell {cell}", notes=here))
            above += old.count("\n") + 2 if old else 1
        return "".join(out)

    def place(self, skip: SkippedFix) -> str:
        """`path:line`, in a notebook `path:cell 3:line`, in the text that the file now holds."""
        text, line = (self.after, skip.line) if self.written else (self.before, skip.original)
        if not is_notebook(self.path):
            return f"{self.path}:{line}"
        cell, line = place(text.split("\n"), line)
        return f"{self.path}:cell {cell}:{line}"


@dataclass
class FixResult:
    """The outcome for all files, by path. `failures` are files that could not be read or written."""

    files: list[FileFix] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def changed(self) -> list[FileFix]:
        return [file for file in self.files if file.changed]

    @property
    def applied(self) -> int:
        return sum(len(file.applied) for file in self.files)

    @property
    def skipped(self) -> int:
        return sum(len(file.skipped) for file in self.files)

    @property
    def on_request(self) -> int:
        """How many of the skipped would be made with unsafe fixes."""
        return sum(skip.on_request for file in self.files for skip in file.skipped)

    @property
    def disproved(self) -> list[tuple[str, SkippedFix]]:
        """Place and fix of those that `prove` didn't keep."""
        return [(file.place(skip), skip) for file in self.files for skip in file.skipped if skip.disproved]

    @property
    def refused(self) -> int:
        """How many of the skipped could not be built on the code as it stands."""
        return sum(skip.refused for file in self.files for skip in file.skipped)

    @property
    def unknown(self) -> int:
        """How many findings have no fix."""
        return sum(skip.unknown for file in self.files for skip in file.skipped)

    @property
    def problems(self) -> list[str]:
        """What the user should be told on stderr, a line each."""
        return [*self.failures, *(f"{file.path}: {problem}" for file in self.files for problem in file.problems)]

    @property
    def diff(self) -> str:
        return "".join(file.diff for file in self.files)

    def exit_code(self, *, applied: bool) -> int:
        """0, or 1 where a diff was shown that is not empty; 2 when a file could not be read or written."""
        if self.failures:
            return 2
        return 1 if self.changed and not applied else 0


def fix_files(
    paths: Sequence[Path],
    find: Find,
    *,
    apply: bool = False,
    unsafe: bool = False,
    max_rounds: int = MAX_ROUNDS,
    prove: Prove | None = None,
    finish: Callable[[str], str] = str,
    needs: Callable[[Iterable[str]], Mapping[Path, str]] | None = None,
) -> FixResult:
    """Fix files with the findings of `find`, which gets texts by path, with slashes. Only `apply` writes, and only what
    `prove` keeps. `finish` is given each changed text last; it must keep its lines. `needs` gives the other files that
    the changed texts count on, whole: they are written first, and where that fails nothing else is."""
    result = FixResult()
    sources: dict[str, Source] = {}
    for path in paths:
        try:
            sources[path.as_posix()] = read_source(path)
        except WriteError as error:
            result.failures.append(str(error))
    texts = {name: source.text for name, source in sources.items()}

    def writable(texts: Mapping[str, str], dirty: Collection[str]) -> Iterator[Finding]:
        for finding in find(texts, dirty):
            path = finding.span.path
            yield _writable(finding, sources[path], texts[path])

    def attempt(refuse: Refuse) -> dict[str, FixedText]:
        return fix_texts(texts, writable, unsafe=unsafe, max_rounds=max_rounds, refuse=refuse)

    fixed = prove(attempt) if prove is not None else attempt(refuse_none)
    for name in sorted(fixed):
        text = fixed[name]
        after = finish(text.after) if text.applied else text.after
        result.files.append(FileFix(name, text.before, after, text.applied, text.skipped, text.problems))
    changed = result.changed
    needed = needs(file.after for file in changed) if needs is not None else {}
    if _add_files(result, needed, apply=apply) and apply:
        for file in changed:
            try:
                write_source(sources[file.path], file.after)
                file.written = True
            except WriteError as error:
                result.failures.append(str(error))
    return result


def _writable(finding: Finding, source: Source, text: str) -> Finding:
    """The finding, its fix refused where the file can't take it."""
    plan = finding.fix
    if source.notebook is None or plan is None or not plan.edits:
        return finding
    try:
        source.encode(apply_edits(text, plan.edits))
    except WriteError as error:
        return replace(finding, fix=replace(plan, edits=(), refused=str(error)))
    return finding


def _add_files(result: FixResult, texts: Mapping[Path, str], *, apply: bool) -> bool:
    """Files that fixes need, whole: new, or other than they are. Whether all are there."""
    for path, text in texts.items():
        try:
            before = path.read_text(encoding="utf-8") if path.is_file() else ""
            file = FileFix(path.as_posix(), before, text)
            if apply and file.changed:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text(path, text)
                file.written = True
        except (OSError, UnicodeError) as error:
            told = error.strerror if isinstance(error, OSError) and error.strerror else error
            result.failures.append(f"{path}: can't be written: {told}")
            return False
        result.files.append(file)
    return True
