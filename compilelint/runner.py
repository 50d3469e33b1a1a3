"""Runs the analysis over the selected files, in this process or in several, and loses no finding when one fails.

A part of the files whose analysis raises, or whose process dies, is halved and tried again until the one file at fault
is left: that becomes an internal error, and all others are reported.
"""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from compilelint import isolation
from compilelint.errors import InstallationError, UsageProblem
from compilelint.finding import Finding, Region, Severity, Span, Stats, one_per_site
from compilelint.garbage import uncollected
from compilelint.outcome import InternalError, Outcome, Reads
from compilelint.parts import cut
from compilelint.registry import UNREADABLE_FILE, load_rules
from compilelint.source.files import Glance, glance
from compilelint.source.installed import Installed, followed
from compilelint.source.layout import Layout
from compilelint.source.notebook import is_notebook
from compilelint.source.parsed import Parsed
from compilelint.source.project import SourceError, decode, noted_bytes, parse

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.context import BaseContext

    from compilelint.analysis import Analysis
    from compilelint.cache import Cache
    from compilelint.config import Settings


@dataclass(frozen=True, slots=True)
class Job:
    """What all parts of a run share. `texts`, by path, stand for what is on disk; `parsed` is for one process.

    `installed`: found here, since the processes that do the parts may have another environment."""

    layout: Layout
    settings: Settings
    build_fixes: bool = False
    texts: Mapping[str, str] | None = None
    installed: Installed | None = None
    parsed: Parsed = field(default_factory=Parsed)
    lent: bool = False  # whether `parsed` outlives the run


Part = tuple[Path, ...]
Progress = Callable[[int, int], None]


def run(
    paths: Sequence[Path],
    settings: Settings,
    *,
    build_fixes: bool = False,
    texts: Mapping[str, str] | None = None,
    parsed: Parsed | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """The findings in the given files and in those of the project that they reach: one a site, the gravest, sorted.

    `parsed`: the modules that earlier runs imported, which get those of this one. `progress` is told how many files
    are done, of how many.
    """
    layout = Layout.of(paths)
    job = Job(
        layout, settings, build_fixes, texts, followed(settings.follow_imports), parsed or Parsed(), parsed is not None
    )
    parts = cut(sorted(paths, key=str))  # in whatever order they were given
    found: dict[Part, Outcome] = {}
    cache = None
    if settings.cache is not None and not build_fixes and texts is None:
        from compilelint.cache import Cache

        cache = Cache.open(settings.cache, settings, job.layout, job.installed)
    made: dict[Part, Outcome] = {}
    missing = parts if cache is None else _missing(cache, parts, found)
    try:
        for part, outcome in _outcomes(missing, job, len(parts)):
            made[part] = outcome
            if progress is not None:
                progress(sum(map(len, found)) + sum(map(len, made)), len(paths))
    finally:  # what a run got done before it was interrupted counts the next time
        if cache is not None:
            cache.put(made)
            cache.close()
    outcome = Outcome(stats=Stats(parts=len(parts), cached=len(found)))
    for part in parts:
        outcome.add(found.get(part) or made[part])
    outcome.findings = one_per_site(outcome.findings)
    outcome.errors.sort(key=lambda error: (str(error.path), error.line))
    return outcome


def _missing(cache: Cache, parts: Sequence[Part], found: dict[Part, Outcome]) -> Iterator[Part]:
    """The parts that must be analysed, each as soon as that is known; what is known of the others goes to `found`."""
    for part, outcome in cache.look(parts):
        if outcome is None:
            yield part
        else:
            found[part] = outcome


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def work(part: Part, job: Job) -> Outcome:
    """Analyses one part in this process."""
    outcome = Outcome()
    hopeful = []
    for path in part:
        text = None if job.texts is None else job.texts.get(path.as_posix())
        seen = glance(path) if text is None else Glance("torch" in text.lower(), remarks=True)
        if seen.remarks:
            outcome.remarked.add(path)
        if seen.torch:
            hopeful.append(path)
        elif (finding := unreadable(path, text, outcome.reads)) is not None:
            outcome.findings.append(finding)
    if not hopeful:
        return outcome
    from compilelint.analysis import analyse

    analysis = analyse(
        hopeful,
        job.settings,
        rules=load_rules(job.settings),
        layout=job.layout,
        build_fixes=job.build_fixes,
        texts=job.texts or {},
        parsed=job.parsed,
        installed=job.installed,
    )
    outcome.add(outcome_of(analysis))
    if job.build_fixes:
        gc.collect()  # libcst's trees hold one another
    return outcome


def outcome_of(analysis: Analysis) -> Outcome:
    found = [unreadable_finding(str(path), error) for path, error in analysis.unreadable.items()]
    return Outcome([*analysis.findings, *found], analysis.stats, list(analysis.errors), analysis.reads)


def unreadable(path: Path, text: str | None = None, reads: Reads | None = None) -> Finding | None:
    """The finding about a file, or the text in its place, that is no Python source; None when it is."""
    files = reads.files if reads is not None else {}
    try:
        if text is None:
            text = decode(noted_bytes(path, files), path)
        parse(text, str(path))
    except SourceError as error:
        return unreadable_finding(str(path), error)
    return None


def unreadable_finding(path: str, error: SourceError) -> Finding:
    """What is said of a file that can't be read or parsed."""
    message = f"{error}; no cell of the notebook is checked" if is_notebook(path) else str(error)
    return Finding(
        code=UNREADABLE_FILE,
        name="unreadable-file",
        effects=(),
        severity=Severity.ERROR,
        span=Span(path, error.line, error.column, error.line, error.column + 1),
        message=message[:1].upper() + message[1:],
        region=Region("cold", "", "the file is not analysed"),
    )


def _guarded(part: Part, job: Job) -> Outcome:
    """Analyses a part; when that raises, its halves. Raises UsageProblem for what all files would fail of."""
    try:
        return work(part, job)
    except UsageProblem:
        raise
    except ImportError as error:  # of ours or of what we need: rules and user code are not imported here
        raise _not_loaded(error) from error
    except Exception as error:  # noqa: BLE001  # the other files must still be reported
        if len(part) > 1:
            outcome = Outcome()
            for half in _halves(part):
                outcome.add(_guarded(half, job))
            return outcome
        return Outcome(errors=[_failure(part, error)] if part else [])


def _not_loaded(error: ImportError) -> InstallationError:
    return InstallationError(f"compilelint can't be loaded: {error}; please install it again")


def _halves(part: Part) -> tuple[Part, Part]:
    middle = len(part) // 2
    return part[:middle], part[middle:]


def _failure(part: Part, error: BaseException, what: str = "") -> InternalError:
    what = what or f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error))
    return InternalError(path=str(part[0]), line=0, function="", rule="", message=what, traceback=trace)


def _outcomes(parts: Iterable[Part], job: Job, most: int) -> Iterator[tuple[Part, Outcome]]:
    """Each part with what became of it, as they are done. There are `most` of them, or fewer."""
    jobs = min(job.settings.jobs or available_cores(), most)
    parts = iter(parts)
    enough = 2 if job.lent else 1  # parts for which others are asked: a single one finds here what was parsed before
    first = list(islice(parts, enough))
    parts = chain(first, parts)
    if jobs > 1 and len(first) == enough:
        yield from _several(parts, job, jobs)
        return
    with uncollected():
        for part in list(parts):  # first look for all that is known: it counts as done
            yield part, _guarded(part, job)
        if not job.lent:
            job.parsed.release()


def _several(parts: Iterable[Part], job: Job, jobs: int) -> Iterator[tuple[Part, Outcome]]:
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    lost: list[Part] = []
    with _pool(jobs, job) as pool:
        waiting: dict[Future[Outcome], Part] = {}
        for part in parts:
            try:
                waiting[_submit(pool, part)] = part
            except BrokenProcessPool:
                lost.append(part)
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except BrokenProcessPool:
                lost.append(waiting[future])
    for part in lost:
        yield part, _alone(part, job)


def _alone(part: Part, job: Job) -> Outcome:
    """Analyses a part in a process of its own: one of those that were under way when a process died."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        with _pool(1, job) as pool:
            return _submit(pool, part).result()
    except BrokenProcessPool as error:
        if len(part) == 1:
            return Outcome(errors=[_failure(part, error, "the analysing process died")])
    outcome = Outcome()
    for half in _halves(part):
        outcome.add(_alone(half, job))
    return outcome


def _pool(jobs: int, job: Job | None) -> ProcessPoolExecutor:
    from concurrent.futures import ProcessPoolExecutor

    here = Path.cwd()
    with isolation.away():
        return ProcessPoolExecutor(jobs, mp_context=_context(), initializer=_begin, initargs=(job, here))


def _context() -> BaseContext:
    """How worker processes start: from one that has imported what they need, where the system has such."""
    import multiprocessing

    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    context.set_forkserver_preload(["compilelint.analysis"])
    return context


def _submit(pool: ProcessPoolExecutor, part: Part) -> Future[Outcome]:
    """Processes start when there is work for them."""
    with isolation.away():
        return pool.submit(_in_worker, part)


_job: Job | None = None  # in a worker: what all of its parts share


def _begin(job: Job | None, here: Path) -> None:
    global _job  # noqa: PLW0603 - what an initializer is for
    os.chdir(here)
    _job = job
    gc.disable()  # parts leave no cycles behind
    _end_with_parent()


def _in_worker(part: Part) -> Outcome:
    assert _job is not None
    return _guarded(part, _job)


def _end_with_parent() -> None:
    """In a worker: ends it when the process that wants its results is killed, which it would else never notice."""
    import threading
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
