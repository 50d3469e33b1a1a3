"""The door to everything: check, fix, verify, the rules, the settings and the reports. The command line uses only this.

Importing it is quick; what a call needs is imported by the call.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from compilelint.config import Settings, describe, known_torch_versions, load_settings, show_version
from compilelint.errors import ConfigError, RegistryError, UsageProblem
from compilelint.finding import Applicability, Finding, Severity, Stats

if TYPE_CHECKING:
    from compilelint.analysis import InternalError
    from compilelint.fix import FixResult
    from compilelint.runtime import VerifyResult
    from compilelint.sdk import Rule

__all__ = [
    "FORMATS",
    "Applicability",
    "CheckResult",
    "ConfigError",
    "Finding",
    "Format",
    "RegistryError",
    "Settings",
    "Severity",
    "UsageProblem",
    "check",
    "describe",
    "describe_error",
    "find_rule",
    "fix",
    "known_torch_versions",
    "load_settings",
    "render",
    "rules",
    "show_version",
    "statistics",
    "summary",
    "summary_line",
    "verification_table",
    "verify",
]

Format = Literal["text", "json", "sarif", "github"]
FORMATS: tuple[Format, ...] = ("text", "json", "sarif", "github")


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


def check(paths: Sequence[Path | str], settings: Settings | None = None, *, build_fixes: bool = False) -> CheckResult:
    """Checks files and folders. Nothing is imported from them or run. Raises UsageProblem only for wrong settings.

    With more than one job, call this from a main module that is guarded by `if __name__ == "__main__"`.
    """
    from compilelint import registry, runner
    from compilelint.source.files import Exclusions, select

    settings = settings or load_settings()
    ran = registry.selected_codes(settings)
    exclusions = Exclusions(settings.exclude, settings.base, settings.force_exclude, settings.respect_gitignore)
    selection = select([Path(path) for path in paths], exclusions)
    outcome = runner.run(selection.files, settings, build_fixes=build_fixes)
    chosen = {os.path.realpath(file): display_path(file) for file in selection.files}
    findings = _suppressed(_chosen(outcome.findings, chosen), chosen, settings, ran)
    findings = [finding for finding in findings if finding.severity.rank >= settings.severity.rank]
    outcome.stats.files = len(selection.files)
    return CheckResult(
        findings=sorted(findings, key=lambda finding: finding.sort_key),
        files=len(selection.files),
        settings=settings,
        stats=outcome.stats,
        errors=outcome.errors,
        problems=selection.problems,
        notices=selection.notices,
    )


def fix(paths: Sequence[Path | str], settings: Settings | None = None, *, apply: bool = False) -> FixResult:
    """Rewrites what can be rewritten; writes only with `apply`. See compilelint.fix."""
    from compilelint.fix import fix_paths

    return fix_paths([Path(path) for path in paths], settings or load_settings(), apply=apply)


def verify(
    target: str,
    before: str,
    after: str | None = None,
    *,
    device: str | None = None,
    inputs: Sequence[str] = (),
    timeout: float = 300.0,
    backend: str = "inductor",
    cwd: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> VerifyResult:
    """Runs TARGET of `before` (a git revision or a directory) and of `after` (the working tree when None), each in its own
    process, and compares. Raises UsageProblem where nothing could be measured. See compilelint.runtime."""
    from compilelint import runtime

    return runtime.verify(
        target,
        before,
        after,
        device=device,
        inputs=inputs,
        timeout=timeout,
        backend=backend,
        cwd=cwd,
        progress=progress,
    )


def verification_table(result: VerifyResult, *, color: bool = False, width: int | None = None) -> str:
    """A verification as text: the table, the sites, the outcome."""
    from compilelint.runtime.table import text

    return text(result, color=color, width=width)


@lru_cache(maxsize=1024)
def _display_path(path: str, cwd: str) -> str:
    absolute = os.path.abspath(path)
    return Path(os.path.relpath(absolute, cwd) if Path(absolute).is_relative_to(cwd) else absolute).as_posix()


def display_path(path: Path | str) -> str:
    """How a path is shown: relative to the working directory where it lies below it, else absolute; with slashes."""
    return _display_path(str(path), str(Path.cwd()))


def _chosen(findings: Iterable[Finding], chosen: Mapping[str, str]) -> list[Finding]:
    """The findings in the files that were asked for, with the paths as they are shown."""
    shown = []
    for finding in findings:
        path = chosen.get(os.path.realpath(finding.span.path))
        if path is not None:
            trace = tuple(replace(step, path=display_path(step.path)) for step in finding.trace)
            shown.append(replace(finding, span=replace(finding.span, path=path), trace=trace))
    return shown


def _suppressed(
    findings: Sequence[Finding], chosen: Mapping[str, str], settings: Settings, ran: frozenset[str]
) -> list[Finding]:
    """Without what comments and `per-file-ignores` suppress; with the notes about idle comments."""
    from compilelint import registry, suppress
    from compilelint.source.project import SourceError, read_text

    known = {rule.code for rule in registry.all_rules()}
    by_path: dict[str, list[Finding]] = {path: [] for path in chosen.values()}
    for finding in findings:
        by_path[finding.span.path].append(finding)
    ignored = _PerFileIgnores(settings)
    kept = []
    for path, group in by_path.items():
        codes = ignored.codes(path)
        group = [finding for finding in group if finding.code in ran and not registry.matches(finding.code, codes)]
        here = {code for code in ran if not registry.matches(code, codes)}
        try:
            text = read_text(Path(path))
        except SourceError:
            kept += group
            continue
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
        relative = os.path.relpath(Path(path).absolute(), self._base)
        return [code for spec, codes in self._entries if spec.match_file(relative) for code in codes]


def rules() -> tuple[Rule, ...]:
    """All rules, those of the tool itself included, sorted by code."""
    from compilelint.registry import all_rules

    return all_rules()


def find_rule(text: str) -> Rule:
    """The rule of that code or name. Raises ConfigError."""
    from compilelint import registry

    return registry.find_rule(text)


def summary(rule: Rule) -> str:
    """What a rule is about, in a line."""
    from compilelint import registry

    return registry.summary(rule)


def statistics(result: CheckResult) -> list[tuple[int, str, str, bool]]:
    """(count, code, name, fixable) of each rule with findings, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in result.findings)
    fixable = {f.code for f in result.findings if f.fix and f.fix.applicability is not Applicability.MANUAL}
    rows = [(count, code, name, code in fixable) for (code, name), count in counts.items()]
    return sorted(rows, key=lambda row: (-row[0], row[1]))


def summary_line(result: CheckResult) -> str:
    """How many findings there are, of which severity, and how many can be fixed."""
    from compilelint.report.text import summary_line

    return summary_line(result.findings, result.files, failed=result.failed)


def render(result: CheckResult, format: Format, *, color: bool = False) -> str:  # noqa: A002  # the option's name
    """The report of a check, with a newline at its end."""
    from compilelint import __version__, report

    run = report.Run(
        version=__version__,
        torch=show_version(result.settings.torch),
        files=result.files,
        rules=_rule_docs,
        failures=[*result.problems, *(describe_error(error) for error in result.errors)],
        read_lines=lru_cache(maxsize=64)(source_lines),
        color=color,
    )
    return report.WRITERS[format](result.findings, run)


def _rule_docs() -> list[Any]:
    from compilelint import report

    return [report.RuleDoc(r.code, r.name, summary(r), r.documentation, r.effects) for r in rules()]


def describe_error(error: InternalError) -> str:
    """An internal error in a line: where, in which function and rule, and what."""
    where = display_path(error.path) + (f":{error.line}" if error.line else "")
    rule = f" rule {error.rule}" if error.rule else ""
    function = f" in `{error.function}`" if error.function else ""
    return f"{where}: internal error{rule}{function}: {error.message}"


def source_lines(path: str) -> tuple[str, ...]:
    """The lines of a file as Python counts them; none when it can't be read."""
    import re

    from compilelint.source.project import SourceError, read_text

    try:
        return tuple(re.split(r"\r\n|\r|\n", read_text(Path(path))))
    except SourceError:
        return ()
