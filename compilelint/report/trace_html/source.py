"""The program's files with what happened at each line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compilelint.escaping import as_html

Trace = dict[str, Any]
_KINDS = {"break": "graph break", "sync": "host sync", "recompile": "recompile", "graph": "graph"}
_LEGEND = (
    '<p class="dim">Keys: n and p go to the next and the previous marked line. '
    "A grey bar: the line ran; a green one: Dynamo traced it.</p>"
)


class Anchors:
    """Links to lines of the files that the page shows."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self._numbers = {path: number for number, path in enumerate(texts)}

    def name(self, path: str, line: int) -> str:
        return f"f{self._numbers[path]}-{line}"

    def link(self, path: str, line: int) -> str:
        """The place as a link; as plain text for a file that is not shown."""
        text = f"<code>{as_html(path)}:{line}</code>" if line else f"<code>{as_html(path)}</code>"
        return f'<a href="#{self.name(path, line)}">{text}</a>' if path in self._numbers else text


def files_shown(trace: Trace, texts: Mapping[str, Sequence[str]], anchors: Anchors) -> str:
    marks = _marks(trace)
    order = sorted(texts, key=lambda path: (-len(marks[path]), path))
    return _LEGEND + "".join(_file(path, texts[path], trace["lines"], marks[path], anchors) for path in order)


def _marks(trace: Trace) -> defaultdict[str, defaultdict[int, list[str]]]:
    """Path → line → notes, as HTML."""
    marks: defaultdict[str, defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for finding in trace["findings"]:
        marks[finding["path"]][finding["line"]].append(_finding(finding))
    for event in trace["events"]:
        marks[event["path"]][event["line"]].append(_event(event))
    return marks


def _file(path: str, lines: Sequence[str], ran: Trace, marks: Mapping[int, Sequence[str]], anchors: Anchors) -> str:
    rows = "".join(_rows(path, lines, ran, marks, anchors))
    count = f"{len(marks)} marked line{'' if len(marks) == 1 else 's'}"
    opened = " open" if marks else ""
    title = f"<code>{as_html(path)}</code> <span class=dim>{count}</span>"
    return f'<details{opened}><summary>{title}</summary><div class="source code">{rows}</div></details>'


def _rows(
    path: str, lines: Sequence[str], ran: Trace, marks: Mapping[int, Sequence[str]], anchors: Anchors
) -> Iterator[str]:
    executed, traced = (set(ran[kind].get(path, ())) for kind in ("executed", "traced"))
    for number, text in enumerate(lines, 1):
        state = " traced" if number in traced else " ran" if number in executed else ""
        marked = " marked" if number in marks else ""
        name = anchors.name(path, number)
        link = f'<a class="number" href="#{name}">{number}</a>'
        yield f'<div class="row{state}{marked}" id="{name}">{link}<span>{as_html(text)}</span></div>'
        yield from marks.get(number, ())


def _finding(finding: Trace) -> str:
    run = finding["run"]
    status = run["status"]
    detail = f'<p class="dim">{as_html(run["detail"])}</p>' if run["detail"] else ""
    head = f'<span class="mark">{as_html(finding["code"])} {status}</span>'
    hint = f'<p class="dim">help: {as_html(finding["hint"])}</p>' if finding["hint"] else ""
    return f'<div class="note {status.split()[0]}">{head}<p>{as_html(finding["message"])}</p>{detail}{hint}</div>'


def _event(event: Trace) -> str:
    kind = event["kind"]
    what = {
        "break": event.get("gb_type"),
        "sync": event.get("what"),
        "recompile": f"guard failed: {event.get('guard')}",
        "graph": f"{event.get('ops')} operators, the first here",
    }[kind]
    times = f" \u00d7{event['count']}" if event["count"] > 1 else ""
    unpredicted = " (not predicted)" if event.get("predicted") is False else ""
    blocked = f", {event['blocked_us'] / 1e3:.3f} ms blocked" if event.get("blocked_us") is not None else ""
    inside = f", inside {event['inside']}" if event.get("inside") else ""
    head = f'<span class="mark">{_KINDS[kind]}{times}{unpredicted}</span>'
    hints = "".join(f'<p class="dim">hint: {as_html(hint)}</p>' for hint in event.get("hints", ())[:2])
    return f'<div class="note {kind}">{head}<p>{as_html(str(what))}{as_html(blocked + inside)}</p>{hints}</div>'
