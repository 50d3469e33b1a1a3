"""Comments that suppress findings: `# compilelint: ignore[CL101] reason`, `# compilelint: ignore`, `# noqa: CL101`.

They count on the line that a finding starts on, on the first line of its statement and, since no comment fits inside a
string, behind a string of several lines that a finding starts in. A bare `# noqa`, meant for other linters, is ignored.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from compilelint.finding import Applicability, Edit, Finding, FixPlan, Region, Severity, Span
from compilelint.fix.edits import LineIndex
from compilelint.registry import UNREADABLE_FILE, UNUSED_SUPPRESSION, code_of

_OURS = re.compile(r"#\s*compilelint:\s*(?P<body>[^#]*)", re.IGNORECASE)
_BODY = re.compile(r"ignore(?:\s*\[(?P<codes>[^\]]*)\])?(?![\w\[-])", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<codes>[A-Z]+\d+(?:[\s,]+[A-Z]+\d+)*)", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]{2,4}\d{3}")


@dataclass(slots=True)
class Suppression:
    """One comment. No `codes` means all; `ours` are judged for use, those of `# noqa` are not."""

    line: int
    column: int
    text: str
    codes: tuple[str, ...] = ()
    ours: bool = True
    malformed: str = ""
    whole: str = ""  # with the reason behind it
    used: set[str] = field(default_factory=set)

    def covers(self, code: str) -> bool:
        return not self.malformed and (not self.codes or code in self.codes)


@dataclass(slots=True)
class Comments:
    """The suppressions of a file by line, and for each line inside a long string the line it ends on."""

    by_line: dict[int, list[Suppression]] = field(default_factory=dict)
    string_ends: dict[int, int] = field(default_factory=dict)

    def at(self, lines: Collection[int]) -> list[Suppression]:
        wanted = {self.string_ends.get(line, line) for line in lines} | set(lines)
        return [found for line in sorted(wanted) for found in self.by_line.get(line, ())]


def read_comments(text: str) -> Comments:
    """The suppression comments of a source text."""
    comments = Comments()
    opened: list[int] = []  # lines on which the f-strings around this token began (Python 3.12+)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            kind = tokenize.tok_name[token.type]
            if token.type == tokenize.COMMENT:
                for found in _parse(token.string, *token.start):
                    comments.by_line.setdefault(found.line, []).append(found)
            elif kind in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif token.type == tokenize.STRING or kind in ("FSTRING_END", "TSTRING_END"):
                first = token.start[0] if token.type == tokenize.STRING else opened.pop()
                for line in range(first, token.end[0]):
                    comments.string_ends[line] = token.end[0]
    except (tokenize.TokenError, SyntaxError):
        pass  # the file parses, or it would not have come here: keep what was read
    return comments


def _parse(comment: str, line: int, column: int) -> list[Suppression]:
    found = []
    for match in _OURS.finditer(comment):
        body = match["body"].strip()
        whole = comment[match.start() : match.end()].rstrip()
        here = Suppression(line, column + match.start() + 1, whole, whole=whole)
        parsed = _BODY.match(body)
        if parsed is None:
            here.malformed = "expected `ignore` or `ignore[CODES]`"
        elif parsed["codes"] is not None:
            here.text = comment[match.start() : match.start("body") + parsed.end()]
            here.codes = tuple(_code(word) for word in re.split(r"[\s,]+", parsed["codes"]) if word)
            bad = [code for code in here.codes if not _CODE.fullmatch(code)]
            if bad or not here.codes:
                here.malformed = f"`{bad[0]}` is not a rule's code or name" if bad else "the brackets are empty"
        else:
            here.text = comment[match.start() : match.start("body") + parsed.end()]
            if _CODE.match(reason := body[parsed.end() :].lstrip(" :=([-")):
                here.malformed = f"codes stand in brackets: `ignore[{reason[:5]}]`"
        found.append(here)
    for match in _NOQA.finditer(comment):
        codes = tuple(code.upper() for code in re.split(r"[\s,]+", match["codes"]))
        found.append(Suppression(line, column + match.start() + 1, match[0], codes, ours=False))
    return found


def _code(word: str) -> str:
    """A code as rules have it, of a code or of a rule's name; what is neither stays."""
    if _CODE.fullmatch(word.upper()):
        return word.upper()
    found = code_of(word)
    return found if found is not None and _CODE.fullmatch(found) else word


def _concerns(text: str, findings: Sequence[Finding]) -> bool:
    """Whether a comment of ours may be in a text, or one for other linters that names what was found."""
    if "compilelint:" in text.lower():
        return True
    if not findings:
        return False
    named = {code for match in _NOQA.finditer(text) for code in re.split(r"[\s,]+", match["codes"].upper())}
    return any(finding.code in named for finding in findings)


def apply(
    findings: Sequence[Finding],
    text: str,
    path: str,
    *,
    ran: Collection[str],
    known: Collection[str],
    judge: bool = True,
) -> list[Finding]:
    """The findings of one file that no comment suppresses, and a note for each of our comments that did nothing.

    `ran` are the codes of the rules that ran, `known` all codes: what suppresses a rule that did not run is not unused.
    """
    if not _concerns(text, findings):
        return list(findings)
    comments = read_comments(text)
    if not comments.by_line:
        return list(findings)
    kept = []
    for finding in findings:
        hits = [
            suppression
            for suppression in comments.at({finding.span.line, finding.statement_line or finding.span.line})
            if finding.code != UNREADABLE_FILE and suppression.covers(finding.code)
        ]
        for suppression in hits:
            suppression.used.add(finding.code)
        if not hits:
            kept.append(finding)
    if judge:
        everything_ran = set(known) <= set(ran)
        index = LineIndex(text)
        unused = [
            _unused(suppression, fault, path, index)
            for suppressions in comments.by_line.values()
            for suppression in suppressions
            if suppression.ours and (fault := _fault(suppression, ran, known, everything_ran))
        ]
        silenced = {
            line: any(UNUSED_SUPPRESSION in suppression.codes for suppression in comments.at({line}))
            for line in {note.span.line for note in unused}
        }
        kept += [note for note in unused if not silenced[note.span.line]]
    return kept


@dataclass(frozen=True, slots=True)
class _Fault:
    """What is wrong with a comment, and the codes in it that are of no use; None: all of it, () : nothing known."""

    text: str
    idle: tuple[str, ...] | None = ()


def _fault(suppression: Suppression, ran: Collection[str], known: Collection[str], everything: bool) -> _Fault | None:
    if suppression.malformed:
        return _Fault(f"Suppression can't be read: {suppression.malformed}")
    if not suppression.codes:
        idle = everything and not suppression.used
        return _Fault("Unused suppression: nothing is found here", None) if idle else None
    unknown = [code for code in suppression.codes if code not in known]
    idle_codes = [c for c in suppression.codes if c in ran and c not in suppression.used | {UNUSED_SUPPRESSION}]
    parts = []
    if unknown:
        parts.append(f"unknown {_listed(unknown)}")
    if idle_codes:
        parts.append(f"unused {_listed(idle_codes)}")
    useless = (*unknown, *idle_codes)
    return _Fault(f"Suppression without effect: {', '.join(parts)}", useless) if parts else None


def _listed(codes: Sequence[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)


def _unused(suppression: Suppression, fault: _Fault, path: str, index: LineIndex) -> Finding:
    end = suppression.column + len(suppression.text)
    return Finding(
        code=UNUSED_SUPPRESSION,
        name="unused-suppression",
        effects=(),
        severity=Severity.NOTE,
        span=Span(path, suppression.line, suppression.column, suppression.line, end),
        message=fault.text,
        region=Region("cold", "", "a comment"),
        hint="Remove the comment, or mend the code in it.",
        fix=_removal(suppression, fault, index),
    )


def _removal(suppression: Suppression, fault: _Fault, index: LineIndex) -> FixPlan | None:
    """Without the codes of no use, or the whole comment; the whole line where nothing else is on it."""
    start = index.starts[suppression.line - 1] + suppression.column - 1
    if fault.idle == () or not index.text.startswith(suppression.whole, start):
        return None
    left = [code for code in suppression.codes if code not in (fault.idle or ())]
    if left:
        opened = index.text.index("[", start) + 1
        edit = Edit(opened, index.text.index("]", opened), ", ".join(left))
    else:
        first, end = index.line_start(start), start + len(suppression.whole)
        kept = len(index.text[first:start].rstrip(" \t"))
        alone = not kept and end == index.line_end(start)
        edit = Edit(first, index.next_line(start), "") if alone else Edit(first + kept if kept else start, end, "")
    why = "a run over more files may find something here"
    return FixPlan("Remove what has no effect", Applicability.UNSAFE, why, (edit,))
