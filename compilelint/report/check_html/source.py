"""The files with findings, each finding below its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import groupby

from compilelint.escaping import as_html
from compilelint.finding import Finding
from compilelint.report.run import Run
from compilelint.report.text import fix_line, reason_lines

WHOLE = 20_000  # lines in all up to which files are shown whole
AROUND = 4  # lines shown around a finding in larger reports
_LEGEND = '<p class="dim">Keys: n and p go to the next and the previous marked line.</p>'


def anchor(path: str, line: int) -> str:
    return f"f{blake2b(path.encode('utf-8', 'surrogateescape'), digest_size=6).hexdigest()}-{line}"


def files_shown(findings: Sequence[Finding], run: Run) -> str:
    if not findings:
        return ""
    paths = {finding.span.path for finding in findings}
    whole = sum(len(run.read_lines(path)) for path in paths) <= WHOLE
    grouped = groupby(findings, key=lambda finding: finding.span.path)
    return _LEGEND + "".join(_file(path, list(group), run, whole=whole) for path, group in grouped)


def _file(path: str, findings: Sequence[Finding], run: Run, *, whole: bool) -> str:
    rows = "".join(_rows(path, findings, run, whole=whole))
    count = f"{len(findings)} finding{'' if len(findings) == 1 else 's'}"
    title = f"<code>{as_html(path)}</code> <span class=dim>{count}</span>"
    return f'<details open><summary>{title}</summary><div class="source code">{rows}</div></details>'


def _rows(path: str, findings: Sequence[Finding], run: Run, *, whole: bool) -> Iterator[str]:
    lines = run.read_lines(path)
    notes: dict[int, list[Finding]] = {}
    for finding in findings:
        notes.setdefault(finding.span.line, []).append(finding)
    previous = 0
    for number, text in enumerate(lines, 1):
        if text == "\f":  # between the cells of a notebook
            continue
        if not whole and not any(abs(number - line) <= AROUND for line in notes):
            continue
        if number != previous + 1 and previous:
            yield '<div class="row"><span class="number">…</span></div>'
        previous = number
        shown = run.cell(path, number)[1]
        name = anchor(path, number)
        marked = " marked" if number in notes else ""
        link = f'<a class="number" href="#{name}">{shown}</a>'
        yield f'<div class="row{marked}" id="{name}">{link}<span>{as_html(text)}</span></div>'
        for finding in notes.pop(number, ()) if whole else notes.get(number, ()):
            yield _note(finding, run)
    for finding in (each for line, group in notes.items() if line > len(lines) for each in group):
        yield _note(finding, run)  # the file changed since, or can't be read


def _note(finding: Finding, run: Run) -> str:
    head = f'<span class="mark">{as_html(finding.code)} {finding.severity.value}</span>'
    more = "".join(f'<p class="dim">{as_html(line)}</p>' for line in (*reason_lines(finding, run), *fix_line(finding)))
    return f'<div class="note at-{finding.severity.value}">{head}<p>{as_html(finding.message)}</p>{more}</div>'
