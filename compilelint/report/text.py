"""The report for people: what, where, the code with the place underlined, why, and what to do."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from compilelint.escaping import escape
from compilelint.finding import REGION_NAMES, Applicability, Finding, Severity, TraceStep
from compilelint.report.run import Run

MAX_LINES = 6  # of the flagged span; what lies between is left out
MAX_WIDTH = 160
_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}
_EFFECT_WORDS = {"graph-break": "graph break", "launch": "kernel launches", "recompile": "recompilation"}


def write(findings: Sequence[Finding], run: Run) -> str:
    paint = Paint(run.color)
    parts = ["\n".join(_finding(finding, run, paint)) + "\n\n" for finding in findings]
    if run.quiet:
        return "".join(parts)
    return "".join(parts) + summary_line(findings, run.files, failed=bool(run.failures)) + "\n"


def summary_line(findings: Sequence[Finding], files: int, *, failed: bool = False) -> str:
    """How many findings of which severity, and how many can be fixed."""
    in_files = _count(files, "file")
    if not findings:
        if failed:
            return f"No findings in {in_files}, but the run is incomplete."
        return f"All checks passed! ({in_files})"
    severities = Counter(finding.severity for finding in findings)
    parts = [_count(severities[s], s.value) for s in (Severity.ERROR, Severity.WARNING, Severity.NOTE) if severities[s]]
    line = f"Found {_count(len(findings), 'finding')} ({', '.join(parts)}) in {in_files}."
    safe = sum(_applicability(finding) is Applicability.SAFE for finding in findings)
    unsafe = sum(_applicability(finding) is Applicability.UNSAFE for finding in findings)
    if safe:
        more = f" ({unsafe} more with `--unsafe-fixes`)" if unsafe else ""
        line += f"\n{safe} fixable with `compilelint fix`{more}."
    elif unsafe:
        line += f"\n{unsafe} fixable with `compilelint fix --unsafe-fixes`."
    return line


def reason_lines(finding: Finding, run: Run) -> Iterator[str]:
    """Why the finding stands: the region, then the history of the value."""
    region = finding.region
    if finding.effects:
        effects = ", ".join(_EFFECT_WORDS.get(effect, effect) for effect in finding.effects)
        why = f": the function {region.why}" if region.why else ""
        root = f" (root `{region.root}`)" if region.root and region.root not in region.why else ""
        yield f"{effects} in {REGION_NAMES[region.kind]}{why}{root}"
    for step in finding.trace:
        yield f"{_near(step, finding, run)}: {step.text}"


def _near(step: TraceStep, finding: Finding, run: Run) -> str:
    """The place of a step, as short as it can be said beside the finding."""
    if step.path != finding.span.path:
        return run.place(step.path, step.line)
    cell, line = run.cell(step.path, step.line)
    return f"line {line}" if cell == run.cell(step.path, finding.span.line)[0] else f"cell {cell}, line {line}"


def fix_line(finding: Finding) -> Iterator[str]:
    """What to do: the hint, and the fix that is offered."""
    if finding.hint:
        yield f"help: {finding.hint}"
    fix = finding.fix
    if fix is not None:
        note = {"safe": "", "unsafe": " (unsafe", "manual": " (by hand"}[fix.applicability.value]
        if note:
            note += f": {fix.why})" if fix.why else ")"
        yield f"fix: {fix.title}{note}"


def _finding(finding: Finding, run: Run, paint: Paint) -> Iterator[str]:
    span = finding.span
    fixable = paint("36", "[*] ") if _applicability(finding) is Applicability.SAFE else ""
    severity = paint(_COLORS[finding.severity] + ";1", finding.severity.value)
    yield f"{paint('1', finding.code)} {severity}: {fixable}{escape(finding.message)}"
    lines = run.read_lines(span.path)
    cell, first = run.cell(span.path, span.line)
    above = span.line - first  # lines of other cells
    shown = [n for n in _shown_lines(span.line, span.end_line, len(lines)) if not cell or lines[n - 1] != "\f"]
    gutter = len(str(max(shown, default=span.line) - above))
    bar = paint("34;1", "|")
    yield f"{' ' * gutter}{paint('34;1', '-->')} {escape(run.place(span.path, span.line))}:{span.column}"
    if shown:
        yield f"{' ' * gutter} {bar}"
        previous = shown[0]
        for number in shown:
            if number > previous + 1:
                yield paint("34;1", "...")
            previous = number
            code, start, end = _frame(lines[number - 1], number, finding)
            yield f"{paint('34;1', str(number - above).rjust(gutter))} {bar} {code}".rstrip()
            if start < end:
                mark = paint(_COLORS[finding.severity] + ";1", "^" * (end - start))
                yield f"{' ' * gutter} {bar} {' ' * start}{mark}"
        yield f"{' ' * gutter} {bar}"
    for line in (*reason_lines(finding, run), *fix_line(finding)):
        label, colon, rest = line.partition(":")
        if label in ("help", "fix"):
            yield f"{' ' * gutter} {paint('34;1', '=')} {paint('36;1', label + colon)}{escape(rest)}"
        else:
            yield f"{' ' * gutter} {paint('34;1', '=')} {escape(line)}"


def _shown_lines(first: int, last: int, count: int) -> list[int]:
    """The flagged lines, shortened in the middle, and one line of context around them."""
    last = max(first, min(last, count))
    flagged = list(range(first, last + 1))
    if len(flagged) > MAX_LINES:
        flagged = [*flagged[: MAX_LINES - 2], *flagged[-1:]]
    around = [flagged[0] - 1, *flagged, flagged[-1] + 1]
    return [number for number in around if 1 <= number <= count]


def _frame(line: str, number: int, finding: Finding) -> tuple[str, int, int]:
    """A source line as it is printed, and where in it the underline starts and ends (equal: none)."""
    span = finding.span
    flagged = span.line <= number <= span.end_line
    start = span.column - 1 if number == span.line else len(line) - len(line.lstrip())
    end = span.end_column - 1 if number == span.end_line else len(line.rstrip())
    start = min(max(start, 0), len(line))
    end = min(max(end, start + 1), max(len(line), start + 1))
    offset, head = 0, ""
    if flagged and len(line) > MAX_WIDTH and start > MAX_WIDTH // 2:
        offset, head = start - 20, "… "
    tail = " …" if len(line) - offset > MAX_WIDTH else ""
    shown = line[offset : offset + MAX_WIDTH]
    plain = shown.isascii() and shown.isprintable()
    cells = [(char, 1) for char in shown] if plain else [_cell(char) for char in shown]
    code = head + "".join(text for text, _ in cells) + tail
    if not flagged or not line.strip():
        return code, 0, 0
    before = len(head) + sum(width for _, width in cells[: start - offset])
    within = sum(width for _, width in cells[start - offset : end - offset])
    return code, before, before + max(within, 1)


def _cell(char: str) -> tuple[str, int]:
    """How a character is printed and how many columns that takes."""
    if char == "\t":
        return "    ", 4
    shown = escape(char)
    if shown != char:
        return shown, len(shown)
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return char, 0
    return char, 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _applicability(finding: Finding) -> Applicability | None:
    return None if finding.fix is None else finding.fix.applicability


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Paint:
    def __init__(self, on: bool) -> None:
        self._on = on

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._on else text
