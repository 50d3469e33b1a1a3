"""Runs the analysis over the selected files, in this process or in several, and loses no finding when one fails.

A part of the files whose analysis raises, or whose process dies, is halved and tried again until the one file at fault
is left: that becomes an internal error, and all others are reported.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING

from compilelint.errors import InstallationError, UsageProblem
from compilelint.finding import Finding, Region, Severity, Span, Stats, one_per_site
from compilelint.registry import UNREADABLE_FILE, load_rules
from compilelint.source.files import mentions_torch
from compilelint.source.project import SourceError, parse, read_text

if TYPE_CHECKING:
    from compilelint.analysis import InternalError
    from compilelint.config import Settings

IN_PROCESS_BYTES = 300_000  # a second process costs more than it saves below this
PART_BYTES = 150_000


@dataclass(frozen=True, slots=True)
class Part:
    """What one process is given at a time: a share of the files, and all of them, so that imports are followed."""

    paths: tuple[Path, ...]
    all_paths: tuple[Path, ...]
    settings: Settings
    build_fixes: bool = False
    texts: Mapping[str, str] | None = None  # by path, in place of what is on disk


@dataclass(slots=True)
class Outcome:
    findings: list[Finding] = field(default_factory=list)
    stats: Stats = field(default_factory=Stats)
    errors: list[InternalError] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        self.findings += other.findings
        self.stats.merge(other.stats)
        self.errors += other.errors


def run(
    paths: Sequence[Path], settings: Settings, *, build_fixes: bool = False, texts: Mapping[str, str] | None = None
) -> Outcome:
    """The findings in the given files and in those of the project that they reach: one a site, the gravest, sorted."""
    jobs = settings.jobs or available_cores()
    whole = Part(tuple(paths), tuple(paths), settings, build_fixes, texts)
    parts = list(_split(whole, jobs)) if jobs > 1 else [whole]
    outcome = _several(parts, min(jobs, len(parts))) if len(parts) > 1 else _guarded(whole)
    outcome.findings = one_per_site(outcome.findings)
    outcome.errors.sort(key=lambda error: (str(error.path), error.line))
    return outcome


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def work(part: Part) -> Outcome:
    """Analyses one part in this process."""
    outcome = Outcome()
    hopeful = []
    for path in part.paths:
        text = None if part.texts is None else part.texts.get(path.as_posix())
        if mentions_torch(path) if text is None else "torch" in text.lower():
            hopeful.append(path)
        elif (finding := unreadable(path, text)) is not None:
            outcome.findings.append(finding)
    if not hopeful:
        return outcome
    from compilelint.analysis import analyse

    overlay = {} if part.texts is None else {"texts": part.texts}
    analysis = analyse(
        hopeful,
        part.settings,
        rules=load_rules(part.settings),
        roots=part.all_paths,
        build_fixes=part.build_fixes,
        **overlay,
    )
    outcome.findings += analysis.findings
    outcome.findings += [unreadable_finding(str(path), error) for path, error in analysis.unreadable.items()]
    outcome.stats = analysis.stats
    outcome.errors += analysis.errors
    return outcome


def unreadable(path: Path, text: str | None = None) -> Finding | None:
    """The finding about a file, or the text in its place, that is no Python source; None when it is."""
    try:
        parse(read_text(path) if text is None else text, str(path))
    except SourceError as error:
        return unreadable_finding(str(path), error)
    return None


def unreadable_finding(path: str, error: SourceError) -> Finding:
    """What is said of a file that can't be read or parsed."""
    message = str(error)
    return Finding(
        code=UNREADABLE_FILE,
        name="unreadable-file",
        effects=(),
        severity=Severity.ERROR,
        span=Span(path, error.line, error.column, error.line, error.column + 1),
        message=message[:1].upper() + message[1:],
        region=Region("cold", "", "the file is not analysed"),
    )


def _split(whole: Part, jobs: int) -> Iterator[Part]:
    """Parts of about equal size, a few for each process, neighbours in the tree together."""
    sizes = [_size(path) for path in whole.paths]
    if sum(sizes) < IN_PROCESS_BYTES:
        yield whole
        return
    enough = max(PART_BYTES, sum(sizes) // (4 * jobs))
    start = filled = 0
    for index, size in enumerate(sizes):
        filled += size
        if filled >= enough:
            yield replace(whole, paths=whole.paths[start : index + 1])
            start, filled = index + 1, 0
    if start < len(sizes):
        yield replace(whole, paths=whole.paths[start:])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _guarded(part: Part) -> Outcome:
    """Analyses a part; when that raises, its halves. Raises UsageProblem for what all files would fail of."""
    try:
        return work(part)
    except UsageProblem:
        raise
    except ImportError as error:  # of ours or of what we need: rules and user code are not imported here
        raise _not_loaded(error) from error
    except Exception as error:  # noqa: BLE001  # the other files must still be reported
        if len(part.paths) > 1:
            outcome = Outcome()
            for half in _halves(part):
                outcome.add(_guarded(half))
            return outcome
        return Outcome(errors=[_failure(part, error)] if part.paths else [])


def _not_loaded(error: ImportError) -> InstallationError:
    return InstallationError(f"compilelint can't be loaded: {error}; please install it again")


def _halves(part: Part) -> tuple[Part, Part]:
    middle = len(part.paths) // 2
    return replace(part, paths=part.paths[:middle]), replace(part, paths=part.paths[middle:])


def _failure(part: Part, error: BaseException) -> InternalError:
    try:
        from compilelint.analysis import InternalError
    except ImportError as missing:
        raise _not_loaded(missing) from missing
    what = "the analysing process died" if isinstance(error, BrokenProcessPool) else f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error))
    return InternalError(path=str(part.paths[0]), line=0, function="", rule="", message=what, traceback=trace)


def _several(parts: Sequence[Part], jobs: int) -> Outcome:
    outcome = Outcome()
    lost: list[Part] = []
    with _pool(jobs) as pool:
        waiting: dict[Future[Outcome], Part] = {}
        for part in parts:
            try:
                waiting[pool.submit(_guarded, part)] = part
            except BrokenProcessPool:
                lost.append(part)
        for future in as_completed(waiting):
            try:
                outcome.add(future.result())
            except BrokenProcessPool:
                lost.append(waiting[future])
    for part in lost:
        outcome.add(_alone(part))
    return outcome


def _alone(part: Part) -> Outcome:
    """Analyses a part in a process of its own: one of those that were under way when a process died."""
    try:
        with _pool(1) as pool:
            return pool.submit(_guarded, part).result()
    except BrokenProcessPool as error:
        if len(part.paths) == 1:
            return Outcome(errors=[_failure(part, error)])
    outcome = Outcome()
    for half in _halves(part):
        outcome.add(_alone(half))
    return outcome


def _pool(jobs: int) -> ProcessPoolExecutor:
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """In a worker: ends it when the process that wants its results is killed, which it would else never notice."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
