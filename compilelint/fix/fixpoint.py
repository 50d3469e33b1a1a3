"""Fixing texts in rounds: find, choose fixes that don't meet, apply, check, and again, until nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compilelint.finding import Applicability, Edit, Finding, FixPlan
from compilelint.fix.edits import Group, LineIndex, apply_edits, choose, line_index, map_back, parses

MAX_ROUNDS = 10

Rejection = tuple[str, str, tuple[tuple[int, str, str], ...]]
# Given the texts by path, and which of them differ from the first: the findings in them, their fixes built on them.
Find = Callable[[Mapping[str, str], Collection[str]], Iterable[Finding]]
FixKey = tuple[str, str, int]  # path, code, and where its finding starts in the first text
Refuse = Callable[[FixKey], str]  # why a fix must not be made, "" where it may


def refuse_none(key: FixKey) -> str:
    return ""


@dataclass(frozen=True)
class AppliedFix:
    """A fix that was made. `line`, `end_line` and those of each place it changes are lines of the original text."""

    code: str
    title: str
    applicability: Applicability
    why: str
    line: int
    end_line: int
    round: int = 1
    places: tuple[tuple[int, int], ...] = ()
    key: FixKey = ("", "", 0)


@dataclass(frozen=True)
class SkippedFix:
    """A fix that was not made, and why. `line` is that of the last text, `original` that of the first."""

    code: str
    title: str
    applicability: Applicability
    line: int
    reason: str
    on_request: bool = False  # unsafe fixes, were they asked for, would include it
    refused: bool = False  # the fix could not be built
    disproved: bool = False  # the caller refused it
    unknown: bool = False  # the finding has no fix
    original: int = 0


@dataclass
class FixedText:
    """What became of one text. `problems` are failures to report: rounds dropped, fixes that never settle."""

    path: str
    before: str
    after: str
    applied: list[AppliedFix] = field(default_factory=list)
    skipped: list[SkippedFix] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    rounds: int = 0
    history: list[tuple[Edit, ...]] = field(default_factory=list)  # the edits of each round

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def original_line(self, line: int) -> int:
        """The line of `before` that a line of `after` was."""
        starts = line_index(self.after).starts
        return _original(starts[min(line, len(starts)) - 1], self.history, line_index(self.before))


@dataclass
class _State:
    result: FixedText
    seen: set[str]
    rejected: set[Rejection] = field(default_factory=set)
    one_by_one: bool = False
    settled: bool = False


def fix_texts(
    texts: Mapping[str, str],
    find: Find,
    *,
    unsafe: bool = False,
    max_rounds: int = MAX_ROUNDS,
    refuse: Refuse = refuse_none,
) -> dict[str, FixedText]:
    """Fix several texts together: `find` sees all of them each round, since one may tell what another's values are."""
    current = dict(texts)
    states = {path: _State(FixedText(path, text, text), {text}) for path, text in texts.items()}
    for number in range(1, max_rounds + 2):
        by_path: dict[str, list[Finding]] = {}
        changed = frozenset(path for path, text in texts.items() if current[path] != text)
        for finding in find(current, changed):
            by_path.setdefault(finding.span.path, []).append(finding)
        again = False
        for path, state in states.items():
            findings = sorted(by_path.get(path, ()), key=lambda finding: finding.sort_key)
            state.result.skipped = [skip for finding in findings if (skip := _declined(finding, unsafe)) is not None]
            text = current[path]
            wanted = []
            for finding in findings:
                if finding.fix and _allowed(finding.fix, unsafe):
                    if reason := refuse(_key(finding, text, state.result.history)):
                        skipped = replace(_skipped(finding, finding.fix, reason), disproved=True)
                        state.result.skipped.append(skipped)
                    else:
                        wanted.append((finding, finding.fix))
            if state.rejected:
                wanted = [each for each in wanted if _rejection(*each, text) not in state.rejected]
            if not wanted or state.settled:
                continue
            if number > max_rounds:
                state.result.problems.append(
                    f"after {max_rounds} rounds {len(wanted)} fix{'es are' if len(wanted) > 1 else ' is'} still left "
                    f"({', '.join(sorted({finding.code for finding, _ in wanted}))})"
                )
                state.result.skipped += [_skipped(finding, plan, "too many rounds") for finding, plan in wanted]
                continue
            current[path] = _round(state, current[path], wanted, number)
            again = True
        if not again:
            break
    for path, state in states.items():
        result = state.result
        result.after = current[path]
        result.skipped = [replace(skip, original=result.original_line(skip.line)) for skip in result.skipped]
    return {path: state.result for path, state in states.items()}


def fix_text(
    path: str,
    text: str,
    find: Callable[[str], Iterable[Finding]],
    *,
    unsafe: bool = False,
    max_rounds: int = MAX_ROUNDS,
) -> FixedText:
    """Fix one text alone."""
    return fix_texts({path: text}, lambda texts, _: find(texts[path]), unsafe=unsafe, max_rounds=max_rounds)[path]


def _round(state: _State, text: str, wanted: Sequence[tuple[Finding, FixPlan]], number: int) -> str:
    """The text after one round; the same text when the round had to be dropped."""
    result = state.result
    result.rounds = number
    groups = [Group((finding.code, n), plan.edits) for n, (finding, plan) in enumerate(wanted)]
    chosen, _ = choose(groups)
    if state.one_by_one:
        chosen = chosen[:1]
    edits = tuple(edit for group in chosen for edit in group.edits)
    owners = {group.key: wanted[n] for n, group in enumerate(groups)}
    after, problem = _apply(text, edits)
    if problem is not None:
        culprits = [group for group in chosen if _apply(text, group.edits)[1] is not None]
        for group in culprits:
            finding, plan = owners[group.key]
            state.rejected.add(_rejection(finding, plan, text))
            result.skipped.append(_skipped(finding, plan, "its result would not be Python"))
        names = ", ".join(sorted({owners[group.key][0].code for group in culprits or chosen}))
        result.problems.append(
            f"round {number} was dropped: the result would not be Python ({problem}); fixes: {names}"
        )
        state.one_by_one = not culprits
        return text
    if after == text:
        for group in chosen:
            finding, plan = owners[group.key]
            state.rejected.add(_rejection(finding, plan, text))
        return text
    state.one_by_one = False
    original = line_index(result.before)
    for group in chosen:
        finding, plan = owners[group.key]
        first, last = (_original(offset, state.result.history, original) for offset in group.hull)
        places = []
        for edit in group.edits:
            begin, end = (_original(offset, state.result.history, original) for offset in (edit.start, edit.end))
            places.append((begin, max(begin, end)))
        result.applied.append(
            AppliedFix(
                finding.code,
                plan.title,
                plan.applicability,
                plan.why,
                first,
                max(first, last),
                number,
                tuple(places),
                _key(finding, text, state.result.history),
            )
        )
    state.result.history.append(edits)
    if after in state.seen:
        names = ", ".join(sorted({owners[group.key][0].code for group in chosen}))
        result.problems.append(f"the fixes undo each other: round {number} led back to an earlier text ({names})")
        state.settled = True
    state.seen.add(after)
    return after


def _apply(text: str, edits: Sequence[Edit]) -> tuple[str, str | None]:
    """(text after, None) or (the text as it was, what is wrong)."""
    try:
        after = apply_edits(text, edits)
    except ValueError as error:
        return text, str(error)
    problem = parses(after)
    return (text, problem) if problem is not None else (after, None)


def _original(offset: int, history: Sequence[tuple[Edit, ...]], index: LineIndex) -> int:
    for edits in reversed(history):
        offset = map_back(offset, edits)
    return index.line(min(offset, len(index.text)))


def _key(finding: Finding, text: str, history: Sequence[tuple[Edit, ...]]) -> FixKey:
    offset = line_index(text).starts[finding.span.line - 1] + finding.span.column - 1
    for edits in reversed(history):
        offset = map_back(offset, edits)
    return finding.span.path, finding.code, offset


def _allowed(plan: FixPlan, unsafe: bool) -> bool:
    return bool(plan.edits) and (
        plan.applicability is Applicability.SAFE or (unsafe and plan.applicability is Applicability.UNSAFE)
    )


def _declined(finding: Finding, unsafe: bool) -> SkippedFix | None:
    plan = finding.fix
    if plan is None:
        reason = "none is known" + (f"; {finding.hint}" if finding.hint else "")
        return SkippedFix(finding.code, "", Applicability.MANUAL, finding.span.line, reason, unknown=True)
    if _allowed(plan, unsafe):
        return None
    if plan.applicability is Applicability.MANUAL:
        return _skipped(finding, plan, "to be done by hand" + (f": {plan.why}" if plan.why else ""))
    if not plan.edits:
        skipped = _skipped(finding, plan, f"can't be rewritten here: {plan.refused or 'the code is of another form'}")
        return replace(skipped, refused=True)
    skipped = _skipped(finding, plan, "unsafe" + (f": {plan.why}" if plan.why else ""))
    return replace(skipped, on_request=True)


def _skipped(finding: Finding, plan: FixPlan, reason: str) -> SkippedFix:
    return SkippedFix(finding.code, plan.title, plan.applicability, finding.span.line, reason)


def _rejection(finding: Finding, plan: FixPlan, text: str) -> Rejection:
    """What a rejected fix is known by in later rounds: its edits, wherever they moved to, and what they replace."""
    changes = Group((), plan.edits).changes or plan.edits
    first = changes[0].start
    return (
        finding.code,
        plan.title,
        tuple((edit.start - first, text[edit.start : edit.end], edit.text) for edit in changes),
    )
