"""A check from paths to findings: select the files, run the rules, apply what suppresses findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from compilelint import baseline, registry, runner, suppress
from compilelint.changed import changed_since
from compilelint.config import Settings
from compilelint.errors import did_you_mean
from compilelint.finding import TOO_DEEP, TOO_LONG, TOO_SLOW, Finding, Severity, Stats
from compilelint.outcome import Outcome
from compilelint.source.files import Exclusions, Selection, excluded_anywhere, select
from compilelint.source.installed import followed
from compilelint.source.layout import Layout, module_name
from compilelint.source.lines import lines_of
from compilelint.source.project import Project, SourceError, decode, read_text
from compilelint.vendor import is_copy

if TYPE_CHECKING:
    from compilelint.outcome import InternalError


@dataclass(slots=True)
class CheckResult:
    """What a check found in how many `files`; `problems` are paths that can't be read, `notices` ones left out."""

    findings: list[Finding]
    files: int
    settings: Settings
    stats: Stats = field(default_factory=Stats)
    errors: list[InternalError] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)  # by shown path, of what is not on disk
    known: int = 0  # findings of the baseline, which are left out
    checked: list[str] = field(default_factory=list)  # the files, as they are shown

    @property
    def failed(self) -> bool:
        """Whether something went wrong that is not a finding."""
        return bool(self.errors or self.problems)

    @property
    def exit_code(self) -> int:
        """2 when something went wrong, 1 for a finding of severity warning or error, else 0."""
        if self.failed:
            return 2
        return int(any(finding.severity is not Severity.NOTE for finding in self.findings))


def check(
    paths: Sequence[Path],
    settings: Settings,
    *,
    diff_base: str | None = None,
    build_fixes: bool = False,
    progress: runner.Progress | None = None,
) -> CheckResult:
    """Checks files and folders. Raises UsageProblem for wrong settings; all else is in the result.

    Of the findings, those in the baseline of the settings and, with `diff_base`, those on lines that are as they were
    in that revision are left out.
    """
    registry.selected_codes(settings)  # before any work: the settings must make sense
    changed = changed_since(diff_base, Path.cwd()) if diff_base is not None else None
    selection = select_files(paths, settings)
    checked = [display_path(file) for file in selection.files]
    outcome = findings_in(selection.files, settings, build_fixes=build_fixes, progress=progress)
    shown = [finding for finding in outcome.findings if finding.severity.rank >= settings.severity.rank]
    notices, known = [], 0
    if settings.baseline is not None:
        judged = baseline.judge(settings.baseline, shown, checked, lru_cache(64)(source_lines))
        shown, known = judged.new, judged.known
        if judged.gone:
            notices.append(f"{settings.baseline}: {judged.gone} of its findings are gone; --write-baseline drops them")
    if changed is not None:
        shown = [finding for finding in shown if changed.holds(finding)]
    return CheckResult(
        findings=shown,
        files=len(selection.files),
        settings=settings,
        stats=outcome.stats,
        errors=outcome.errors,
        problems=selection.problems,
        notices=selection.notices
        + notices
        + cut_short(outcome.stats)
        + _roots_that_are_none(selection.files, settings.roots)
        + not_installed(settings),
        checked=checked,
        known=known,
    )


_CUT = {TOO_LONG: "is too long", TOO_DEEP: "is nested too deeply", TOO_SLOW: "takes too much time"}


def cut_short(stats: Stats, module: str = "") -> list[str]:
    """A line for each function, or for those of one module, that is not followed to its end."""
    return [
        f"{name} {what} to be followed to its end: findings may be missing there"
        for start, what in _CUT.items()
        for name in sorted(bound.removeprefix(start) for bound in stats.bounds if bound.startswith(start))
        if not module or name.startswith(f"{module}:")
    ]


def _roots_that_are_none(files: Sequence[Path], roots: Sequence[str]) -> list[str]:
    """A line for each root that names no function though its module is among the files."""
    notices = []
    for root in roots:
        module, _, wanted = root.partition(":")
        stems = (module.rpartition(".")[2], "__init__")
        named = [file for file in files if file.stem in stems and module_name(file)[0] == module]
        loaded = [found for file in named if (found := Project(Layout.of([file])).load(file)) is not None]
        known = {function.qualname for found in loaded for function in found.functions}
        if loaded and wanted not in known:
            place = display_path(loaded[0].path)
            notices.append(f'roots: "{root}": no function {wanted} in {place}{did_you_mean(wanted, sorted(known))}')
    return notices


def not_installed(settings: Settings) -> list[str]:
    """A line for what is to be followed and isn't there."""
    installed = followed(settings.follow_imports)
    if installed is None:
        return []
    if not installed.folders:
        where = os.environ.get("VIRTUAL_ENV", sys.prefix)
        return [f"follow-imports: no installed packages found in {where}"]
    return [f'follow-imports: "{name}" is not installed' for name in installed.missing()]


def check_source(data: bytes, path: Path, settings: Settings) -> CheckResult:
    """Checks a source that is not on disk, or not yet. Its `path` says what it belongs to and which settings count."""
    registry.selected_codes(settings)
    result = CheckResult([], 0, settings)
    if settings.force_exclude and excluded(path, settings):
        return result
    result.files = 1
    shown = display_path(path)
    try:
        result.texts = {shown: decode(data, path)}
    except SourceError as error:
        found = _suppressed([runner.unreadable_finding(shown, error)], [shown], settings, {}, ())
    else:
        outcome = findings_in([Path(shown)], settings, texts=result.texts)
        found, result.stats, result.errors = outcome.findings, outcome.stats, outcome.errors
        result.notices = cut_short(outcome.stats)
    result.findings = [finding for finding in found if finding.severity.rank >= settings.severity.rank]
    return result


def select_files(paths: Sequence[Path], settings: Settings) -> Selection:
    """The files that paths and settings choose."""
    return select(paths, _exclusions(settings))


def excluded(path: Path, settings: Settings) -> bool:
    """Whether a file that is named is excluded all the same."""
    return excluded_anywhere(path, _exclusions(settings))


def _exclusions(settings: Settings) -> Exclusions:
    return Exclusions(settings.exclude, settings.base, settings.force_exclude, settings.respect_gitignore)


def findings_in(
    files: Sequence[Path],
    settings: Settings,
    *,
    build_fixes: bool = False,
    texts: Mapping[str, str] | None = None,
    progress: runner.Progress | None = None,
) -> Outcome:
    """What the rules find in these files, without what is suppressed, sorted, with paths as they are shown.

    `texts` by shown path stand for what is on disk.
    """
    outcome = runner.run(files, settings, build_fixes=build_fixes, texts=texts, progress=progress)
    outcome.findings = visible(outcome.findings, files, settings, texts, outcome.remarked)
    outcome.stats.files = len(files)
    return outcome


def visible(
    findings: Iterable[Finding],
    files: Sequence[Path],
    settings: Settings,
    texts: Mapping[str, str] | None = None,
    remarked: Iterable[Path] | None = None,
) -> list[Finding]:
    """The findings in these files, without what is suppressed, sorted, with paths as they are shown.

    `remarked`: those in which there may be comments that suppress any; without it each is read."""
    shown = [display_path(file) for file in files]
    read = shown if remarked is None else {display_path(file) for file in remarked}.intersection(shown)
    kept = _suppressed(_chosen(findings, files), shown, settings, texts or {}, read)
    return sorted(kept, key=lambda finding: finding.sort_key)


@lru_cache(maxsize=65536)
def _display_path(path: str, cwd: str) -> str:
    absolute = os.path.abspath(path)
    below = absolute.startswith(os.path.join(cwd, "")) or absolute == cwd  # noqa: PTH118  # ten times as quick
    return (os.path.relpath(absolute, cwd) if below else absolute).replace(os.sep, "/")


def display_path(path: Path | str) -> str:
    """How a path is shown: relative to the working directory where it lies below it, else absolute; with slashes."""
    return _display_path(str(path), os.getcwd())  # noqa: PTH109  # likewise


def source_lines(path: str, texts: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The lines of a file as Python counts them; none when it can't be read. `texts` stand for what is on disk."""
    try:
        text = texts[path] if texts and path in texts else read_text(Path(path))
    except SourceError:
        return ()
    return tuple(lines_of(text))


def _chosen(findings: Iterable[Finding], files: Sequence[Path]) -> list[Finding]:
    """The findings in the files that were asked for, with the paths as they are shown."""
    chosen: dict[str, str | None] = {str(file): display_path(file) for file in files}
    by_real: dict[str, str] = {}  # for what goes by another name
    shown = []
    for finding in findings:
        named = finding.span.path
        if named not in chosen:
            by_real = by_real or {os.path.realpath(file): display_path(file) for file in files}
            chosen[named] = by_real.get(os.path.realpath(named))
        path = chosen[named]
        if path is not None:
            trace = tuple(replace(step, path=display_path(step.path)) for step in finding.trace)
            shown.append(replace(finding, span=replace(finding.span, path=path), trace=trace))
    return shown


def _suppressed(
    findings: Sequence[Finding],
    paths: Collection[str],
    settings: Settings,
    texts: Mapping[str, str],
    read: Collection[str],
) -> list[Finding]:
    """Without what comments, which stand in the files `read`, and `per-file-ignores` suppress; with the notes about
    idle comments."""
    ran = registry.selected_codes(settings)
    known = registry.known_codes()
    by_path: dict[str, list[Finding]] = {path: [] for path in paths}
    for finding in findings:
        by_path[finding.span.path].append(finding)
    ignored = _PerFileIgnores(settings)
    kept = []
    for path, group in by_path.items():
        codes = ignored.codes(path)
        here = frozenset(code for code in ran if not registry.matches(code, codes)) if codes else ran
        group = [finding for finding in group if finding.code in here]
        if path not in read:
            kept += group
            continue
        try:
            text = texts[path] if path in texts else read_text(Path(path))
        except SourceError:
            kept += group
            continue
        if is_copy(text):
            continue  # ours to mend
        judge = registry.UNUSED_SUPPRESSION in here and all(f.code != registry.UNREADABLE_FILE for f in group)
        kept += suppress.apply(group, text, path, ran=here, known=known, judge=judge)
    return kept


class _PerFileIgnores:
    def __init__(self, settings: Settings) -> None:
        self._base = settings.base.absolute()
        self._entries = []
        if settings.per_file_ignores:
            from pathspec import GitIgnoreSpec

            self._entries = [(GitIgnoreSpec.from_lines([glob]), codes) for glob, codes in settings.per_file_ignores]

    def codes(self, path: str) -> list[str]:
        if not self._entries:
            return []
        relative = os.path.relpath(Path(path).absolute(), self._base)
        return [code for spec, codes in self._entries if spec.match_file(relative) for code in codes]
