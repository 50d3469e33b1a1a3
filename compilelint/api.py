"""The door to everything: check, fix, verify, the rules, the settings and the reports. The command line uses only this.

Importing it is quick; what a call needs is imported by the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from compilelint.config import Settings, describe, known_torch_versions, load_settings, origins, show_version
from compilelint.errors import ConfigError, InstallationError, RegistryError, UsageProblem
from compilelint.finding import EFFECTS, Applicability, Edit, Finding, Severity

if TYPE_CHECKING:
    from compilelint.budget import Outcome as Spent
    from compilelint.checking import CheckResult
    from compilelint.explain import Explanation
    from compilelint.fixing import FixRun
    from compilelint.outcome import InternalError
    from compilelint.outcome import Outcome as Outcome  # noqa: PLC0414  # for the server
    from compilelint.report import RuleDoc
    from compilelint.runtime.results import VerifyResult
    from compilelint.sdk import Rule
    from compilelint.session import Session as Session  # noqa: PLC0414
    from compilelint.source.notebook import Cells as Cells  # noqa: PLC0414
    from compilelint.tracing import TraceResult

__all__ = [
    "EFFECTS",
    "FORMATS",
    "Applicability",
    "ConfigError",
    "Edit",
    "Finding",
    "Format",
    "InstallationError",
    "RegistryError",
    "Settings",
    "Severity",
    "UsageProblem",
    "add_ignores",
    "budget",
    "cache_folder",
    "check",
    "check_source",
    "clean",
    "cut_short",
    "describe",
    "describe_error",
    "end_as",
    "explain_value",
    "find_rule",
    "fix",
    "ignore",
    "known_torch_versions",
    "load_settings",
    "notebook",
    "origins",
    "render",
    "render_explanation",
    "render_trace",
    "rule_page",
    "rules",
    "serve",
    "session",
    "show_version",
    "source_lines",
    "statistics",
    "summary",
    "summary_line",
    "trace",
    "verification_summary",
    "verification_table",
    "verify",
    "write_baseline",
]

TraceFormat = Literal["text", "json", "html"]
Format = Literal["text", "concise", "json", "sarif", "github", "gitlab", "junit", "html"]
FORMATS: tuple[Format, ...] = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "html")


def check(
    paths: Sequence[Path | str],
    settings: Settings | None = None,
    *,
    diff_base: str | None = None,
    fixes: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CheckResult:
    """Checks files and folders. Nothing is imported from them or run. Raises UsageProblem for wrong settings.

    `diff_base`: only findings on lines that changed since that revision of git; raises UsageProblem where there is
    none. `fixes`: the findings hold the edits of their fixes. `progress` is told how many files are done, of how many.
    Findings in the baseline of the settings are left out.
    With more than one job, call this from a main module that is guarded by `if __name__ == "__main__"`.
    """
    from compilelint import checking

    given = [Path(path) for path in paths]
    return checking.check(given, settings or load_settings(), diff_base=diff_base, build_fixes=fixes, progress=progress)


def write_baseline(paths: Sequence[Path | str], settings: Settings | None = None) -> tuple[CheckResult, Path, int]:
    """Checks, and writes all findings to the baseline of the settings: what was found, the file, how many it holds.

    Nothing is written where the check failed. Raises UsageProblem.
    """
    from dataclasses import replace

    from compilelint import baseline, checking

    settings = settings or load_settings()
    file = settings.baseline or settings.base / baseline.DEFAULT
    files = [Path(path) for path in paths]
    result = checking.check(files, replace(settings, baseline=None))
    if result.failed:
        return result, file, 0
    return result, file, baseline.write(file, result.findings, result.checked, lru_cache(64)(checking.source_lines))


def cache_folder() -> Path:
    """Where caches are kept: $COMPILELINT_CACHE_DIR, else the user's folder for such things."""
    from compilelint.cache import folder

    return folder()


def clean() -> int:
    """Removes the caches of all projects; how many there were."""
    from compilelint import cache

    return cache.clean(cache.folder())


def watch(paths: Sequence[Path | str]) -> Iterator[None]:
    """Yields at once, then each time that files below the paths changed. Raises UsageProblem without watchfiles."""
    from compilelint import watching

    return watching.rounds([Path(path) for path in paths])


def check_source(data: bytes, path: Path | str, settings: Settings | None = None) -> CheckResult:
    """Checks a source as it would be in the file at `path`, which need not exist."""
    from compilelint import checking

    return checking.check_source(data, Path(path), settings or load_settings())


def session() -> Session:
    """Checks and fixes of documents that are being edited, quick when one is asked for again."""
    from compilelint.session import Session

    return Session()


def source_lines(path: str) -> tuple[str, ...]:
    """The lines of a file, as findings count them; none where it can't be read."""
    from compilelint import checking

    return checking.source_lines(path)


def notebook(cells: Iterable[tuple[str, bool]]) -> Cells:
    """The cells that an editor has open, the source of each and whether it is Python, as one text to check."""
    from compilelint.source.notebook import opened

    return opened(cells)


def ignore(text: str, finding: Finding) -> Edit | None:
    """The edit of a text that adds a comment which suppresses a finding in it; None where no comment fits."""
    from compilelint.ignoring import ignore

    return ignore(text, finding)


def add_ignores(
    paths: Sequence[Path | str], settings: Settings | None = None
) -> tuple[CheckResult, int, list[Finding]]:
    """Checks, and adds a comment for each finding: what was found, how many are suppressed, and those that can't be.

    Nothing is written where the check failed. Findings of files that are no Python stay. Raises UsageProblem.
    """
    from compilelint import checking
    from compilelint.fix.errors import WriteError
    from compilelint.ignoring import ignore_all
    from compilelint.registry import UNREADABLE_FILE, UNUSED_SUPPRESSION

    result = checking.check([Path(path) for path in paths], settings or load_settings())
    if result.failed:
        return result, 0, []
    wanted = [each for each in result.findings if each.code not in (UNREADABLE_FILE, UNUSED_SUPPRESSION)]
    try:
        return result, *ignore_all(wanted)
    except WriteError as error:
        raise UsageProblem(str(error)) from None


def serve() -> int:
    """Runs the language server on stdin and stdout until the editor ends it; its exit code.

    Raises InstallationError where the extra `server` is not installed.
    """
    from compilelint import isolation

    isolation.leave(Path.cwd())
    try:
        from compilelint.server import main
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise InstallationError(
            f'the language server needs {error.name}: python -m pip install "compilelint[server]"'
        ) from None
    return main.run()


def explain_value(place: str, paths: Sequence[Path | str] = (), settings: Settings | None = None) -> Explanation:
    """What a check of `paths` believes of the expression at `place` (`FILE:LINE:COLUMN`) and why.

    Raises UsageProblem for a place where nothing can be explained.
    """
    from compilelint import explain
    from compilelint.explain.places import place as parsed

    return explain.explain(parsed(place), [Path(path) for path in paths], settings or load_settings())


def render_explanation(
    explanation: Explanation,
    settings: Settings,
    format: Literal["text", "json"] = "text",  # noqa: A002  # the option's name
) -> str:
    """An explanation for people or for programs, with a newline at its end."""
    from compilelint import __version__
    from compilelint.explain import write

    if format == "json":
        return write.as_json(explanation, __version__, show_version(settings.torch))
    return write.text(explanation)


def fix(
    paths: Sequence[Path | str],
    settings: Settings | None = None,
    *,
    apply: bool = False,
    verify: str | None = None,
    vendor_ops: Path | str | None = None,
    progress: Callable[[str], None] = lambda _: None,
    **running: Any,
) -> FixRun:
    """Rewrites what can be rewritten; writes only with `apply`. Raises UsageProblem for wrong settings.

    `vendor_ops` is a folder for copies of those operators of `compilelint.ops` that fixes call: they come from there.
    `verify` names a TARGET: only fixes are kept with which it runs as it did, or better. `running`: see
    compilelint.runtime.verify.Running. Raises UsageProblem too where TARGET can't be run as it is.
    """
    from compilelint import fixing, vendor

    prover = None
    if verify is not None:
        from compilelint.proving import Prover
        from compilelint.runtime.verify import Running

        prover = Prover(verify, Running(**running), progress=progress)
    copies = vendor.copies(Path(vendor_ops)) if vendor_ops is not None else None
    given = [Path(path) for path in paths]
    return fixing.fix(given, settings or load_settings(), apply=apply, prover=prover, copies=copies)


def verify(target: str, before: str, after: str | None = None, **options: Any) -> VerifyResult:
    """Runs TARGET before and after a change and compares. Options: see compilelint.runtime.verify."""
    from compilelint.runtime.verify import verify

    return verify(target, before, after, **options)


def verification_summary(result: VerifyResult) -> str:
    """The outcome in a line."""
    from compilelint.runtime import table

    return table.summary(result)


def verification_table(result: VerifyResult, *, color: bool = False, kernels: bool = False) -> str:
    """What a verification found, side by side; with `kernels`, these by name too."""
    from compilelint.runtime import table

    return table.text(result, color=color, kernels=kernels)


def trace(
    program: str,
    arguments: Sequence[str] = (),
    *,
    settings: Settings | None = None,
    module: bool = False,
    **options: Any,
) -> TraceResult:
    """Runs a program and joins what happened with what is found in its sources.

    `module`: as `python -m`. Options: see compilelint.runtime.trace.run.Options. Raises UsageProblem where there is no
    such program.
    """
    from compilelint import tracing
    from compilelint.runtime.trace.run import Options

    return tracing.trace(program, arguments, settings or load_settings(), Options(**options), module=module)


def render_trace(result: TraceResult, format: TraceFormat, *, color: bool = False) -> str:  # noqa: A002
    """The report of a trace, with a newline at its end."""
    import json

    from compilelint.checking import source_lines
    from compilelint.report import trace_html, trace_text

    if format == "json":
        return json.dumps(result.report, indent=2) + "\n"
    if format == "html":
        return trace_html.write(result.report, {name: source_lines(path) for path, name in result.record.files.items()})
    return trace_text.write(result.report, color=color)


def end_as(result: TraceResult) -> int:
    """The exit code of a traced program; where a signal ended it, the same one ends this process."""
    from compilelint import tracing

    return tracing.end_as(result)


def budget(target: str | None, **options: Any) -> list[Spent]:
    """Runs TARGET and compares what it costs with the stored budget. Options: see compilelint.budget.budget."""
    from compilelint.budget import budget

    return budget(target, **options)


def rules(selectors: Sequence[str] = ()) -> tuple[Rule, ...]:
    """All rules, those of the tool itself included, sorted by code; or those that codes, beginnings of codes and names
    choose. Raises ConfigError for what chooses none."""
    from compilelint import registry

    wanted = [registry.resolve(each, "rules") for each in selectors] or ["ALL"]
    return tuple(rule for rule in registry.all_rules() if registry.matches(rule.code, wanted))


def find_rule(text: str) -> Rule:
    """The rule of that code or name. Raises ConfigError."""
    from compilelint import registry

    return registry.find_rule(text)


def rule_page(rule: Rule) -> str:
    """What there is to say of a rule, in Markdown."""
    facts = [f"Effects: {', '.join(rule.effects)}"] if rule.effects else []
    if rule.fixable is not None:
        facts.append(f"Fix: {rule.fixable.value}")
    title, _, body = rule.documentation.partition("\n")
    return "\n".join(
        [f"# {rule.code} {rule.name}", "", title, "", *(f"- {fact}" for fact in facts), "", body.strip(), ""]
    )


def summary(rule: Rule) -> str:
    """What a rule is about, in a line."""
    from compilelint import registry

    return registry.summary(rule)


def statistics(result: CheckResult) -> list[tuple[int, str, str, Applicability | None]]:
    """(count, code, name, its safest fix) of each rule with findings, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in result.findings)
    offered = {(f.code, f.fix.applicability) for f in result.findings if f.fix}
    order = (Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL)
    rows = [
        (count, code, name, next((a for a in order if (code, a) in offered), None))
        for (code, name), count in counts.items()
    ]
    return sorted(rows, key=lambda row: (-row[0], row[1]))


def summary_line(result: CheckResult) -> str:
    """How many findings there are, of which severity, and how many can be fixed."""
    from compilelint.report.text import summary_line

    return summary_line(result.findings, result.files, failed=result.failed)


def render(
    result: CheckResult,
    format: Format,  # noqa: A002  # the option's name
    *,
    color: bool = False,
    quiet: bool = False,
    runs: Sequence[Path] = (),
) -> str:
    """The report of a check, with a newline at its end; `quiet`: without the text report's summary.

    `runs`: files that `verify --json` and `trace --output-format json` wrote, for the HTML report. Raises UsageProblem
    for what is none.
    """
    from compilelint import __version__, report
    from compilelint.checking import source_lines
    from compilelint.source import notebook

    @lru_cache(maxsize=64)
    def read_lines(path: str) -> tuple[str, ...]:
        return source_lines(path, result.texts)

    def cell(path: str, line: int) -> tuple[int, int]:
        return notebook.place(read_lines(path), line) if notebook.is_notebook(path) else (0, line)

    def on_disk(path: str, line: int) -> int:
        is_there = notebook.is_notebook(path) and path not in result.texts and read_lines(path)
        return notebook.read(Path(path).read_bytes()).on_disk(line) if is_there else line

    run = report.Run(
        version=__version__,
        torch=show_version(result.settings.torch),
        files=result.files,
        rules=_rule_docs,
        failures=[*result.problems, *(describe_error(error) for error in result.errors)],
        read_lines=read_lines,
        cell=cell,
        on_disk=on_disk,
        color=color,
        quiet=quiet,
        runs=[_read_run(path) for path in runs],
    )
    return report.writer(format)(result.findings, run)


def _read_run(path: Path) -> dict[str, Any]:
    import json

    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageProblem(f"{path}: can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or not (
        {"before", "after", "target"} <= data.keys() or {"events", "program"} <= data.keys()
    ):
        raise UsageProblem(f"{path}: not what `verify --json` or `trace --output-format json` write")
    return data


def _rule_docs() -> list[RuleDoc]:
    from compilelint import report

    return [report.RuleDoc(r.code, r.name, summary(r), r.documentation, r.effects) for r in rules()]


def cut_short(outcome: Outcome) -> list[str]:
    """A line for each function that was not followed to its end: findings may be missing there."""
    from compilelint import checking

    return checking.cut_short(outcome.stats)


def describe_error(error: InternalError) -> str:
    """An internal error in a line: where, in which function and rule, and what."""
    from compilelint.checking import display_path

    where = display_path(error.path) + (f":{error.line}" if error.line else "")
    rule = f" rule {error.rule}" if error.rule else ""
    function = f" in `{error.function}`" if error.function else ""
    return f"{where}: internal error{rule}{function}: {error.message}"
