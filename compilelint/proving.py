"""Fixes kept for what a run proves: attempts are verified in a private copy of the tree before anything is written."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from compilelint.errors import UsageProblem
from compilelint.fix.fixpoint import AppliedFix, FixedText, FixKey, refuse_none
from compilelint.fix.write import Source, read_source
from compilelint.runtime.results import Side, VerifyResult
from compilelint.runtime.sources import Tree, working_tree
from compilelint.runtime.target import parse_target
from compilelint.runtime.verify import Running, Session, SideName

if TYPE_CHECKING:
    from compilelint.fix.run import Attempt

Texts = dict[str, FixedText]
WITHOUT_OTHERS = "it counts on a fix that was not kept"


@dataclass
class Prover:
    """Calling it makes attempts: all fixes together; where that fails, halves, down to single fixes. `result` is the
    verification of what is kept (None: nothing is), `runs` how often TARGET's new version ran."""

    target: str
    running: Running
    cwd: Path = field(default_factory=Path.cwd)
    progress: Callable[[str], None] = lambda _: None
    result: VerifyResult | None = None
    runs: int = 0

    def __call__(self, attempt: Attempt) -> Texts:
        texts = attempt(refuse_none)
        if not any(text.applied for text in texts.values()):
            return texts
        root = working_tree(self.cwd.resolve())
        with tempfile.TemporaryDirectory(prefix="compilelint-", ignore_cleanup_errors=True) as folder:
            self.progress("copying the tree")
            given: dict[SideName, Tree] = {"before": root, "after": replace(root, label="fixed")}
            session = Session(parse_target(self.target), given, root.cwd, Path(folder).resolve(), self.running)
            self.progress("running the code as it is")
            session.measure_before(reached=True)
            _refuse_raising(session)
            search = _Search(self, attempt, session, _Copy(root, session.trees["after"], self.cwd))
            search.run(texts)
            self.result = search.result
            return search.kept_texts


class _Copy:
    """The private copy that fixes are tried in."""

    def __init__(self, root: Tree, tree: Tree, cwd: Path) -> None:
        self._root, self._tree, self._cwd = root, tree, cwd
        self._sources: dict[str, Source] = {}

    def relative(self, path: str) -> str:
        """A path as fixes have it, below the tree's root. Raises UsageProblem for one outside."""
        full = (self._cwd / path).resolve()
        if not full.is_relative_to(self._root.root):
            raise UsageProblem(f"{path}: is not below {self._root.root}, where TARGET runs: it can't be verified")
        return full.relative_to(self._root.root).as_posix()

    def hold(self, texts: Mapping[str, FixedText]) -> None:
        """Make the copy hold these texts."""
        for path, text in texts.items():
            if not text.changed and path not in self._sources:
                continue
            if path not in self._sources:
                self._sources[path] = read_source(self._cwd / path)
            place = self._tree.root / self.relative(path)
            if place.resolve() != place:
                raise UsageProblem(f"{path}: is a link, or in a folder that git ignores: it can't be verified")
            place.write_bytes(self._sources[path].encode(text.after))


class _Search:
    """Keeps what holds: a group of fixes is tried with those kept so far; where it fails, its halves are."""

    def __init__(self, prover: Prover, attempt: Attempt, session: Session, place: _Copy) -> None:
        self._prover, self._attempt, self._session, self._place = prover, attempt, session, place
        self._kept: set[FixKey] = set()
        self._rejected: dict[FixKey, str] = {}
        self._sound = False  # the unchanged code was found to equal itself
        self.result: VerifyResult | None = None
        self.kept_texts: Texts = {}

    def run(self, first: Texts) -> None:
        texts = first
        while fixes := self._untried(texts):
            group = []
            for fix in fixes:
                if self._reached(fix, texts[fix.key[0]].before):
                    group.append(fix)
                else:
                    self._rejected[fix.key] = f"{self._prover.target} does not run it: nothing would be proved"
            if group:
                self._settle(group)
            texts = self._attempt(lambda key: self._rejected.get(key, ""))  # fixes that others hid
        self.kept_texts = texts

    def _untried(self, texts: Texts) -> list[AppliedFix]:
        known = self._kept | set(self._rejected)
        found: dict[FixKey, AppliedFix] = {}
        for text in texts.values():
            for fix in text.applied:
                if fix.key not in known:
                    found.setdefault(fix.key, fix)
        return list(found.values())

    def _settle(self, group: Sequence[AppliedFix]) -> None:
        """Keep what holds of the group."""
        keys = {fix.key for fix in group}
        texts = self._only(self._kept | keys)
        if not keys & {fix.key for text in texts.values() for fix in text.applied}:
            self._rejected.update(dict.fromkeys(keys, WITHOUT_OTHERS))
            return
        self._prover.progress(f"verifying {len(group)} fix{'es' if len(group) > 1 else ''}")
        result = self._verified(texts)
        if result.ok:
            self._kept |= keys
            self.result = result
            return
        self._check_itself(texts)
        if len(group) == 1:
            self._rejected[group[0].key] = self._told(_why(result), texts)
            return
        middle = len(group) // 2
        self._settle(group[:middle])
        self._settle(group[middle:])

    def _only(self, keys: Collection[FixKey]) -> Texts:
        return self._attempt(lambda key: "" if key in keys else "not now")

    def _verified(self, texts: Texts) -> VerifyResult:
        self._place.hold(texts)
        self._prover.runs += 1
        try:
            return self._session.compare_after()
        except UsageProblem as problem:  # TARGET could be used before
            session = self._session
            failed = Side("fixed", error=str(problem))
            return VerifyResult(session.target.text, session.before.device, session.before, failed)

    def _check_itself(self, texts: Texts) -> None:
        """A program that gives other results each time fails every fix: it's not the fix that is to blame."""
        if self._sound:
            return
        self._prover.progress("running the code as it is once more")
        result = self._verified({path: replace(text, after=text.before) for path, text in texts.items()})
        if not result.ok:
            raise UsageProblem(
                f"TARGET {self._prover.target}: unchanged code differs from itself at a second run, nothing can be "
                f"proved: {_why(result)}"
            )
        self._sound = True

    def _told(self, reason: str, texts: Texts) -> str:
        """With the original's lines, where it names lines of the fixed text: the user does not have that."""
        before, after, rest = reason.partition("after: ")
        if not after:  # of the fixed side alone
            before, rest = "", reason
        for path, text in texts.items():
            place = self._place.relative(path)

            def original(match: re.Match[str], place: str = place, text: FixedText = text) -> str:
                return f"{place}:{text.original_line(int(match[1]))}"

            rest = re.sub(rf"(?<![\w/.]){re.escape(place)}:(\d+)", original, rest)
        return before + after + rest

    def _reached(self, fix: AppliedFix, before: str) -> bool:
        ran = self._session.reached.get(self._place.relative(fix.key[0]), ())
        lines = set(range(fix.line, fix.end_line + 1)) | _statement_lines(before, fix.line)
        return bool(lines & set(ran))


def _statement_lines(text: str, line: int) -> set[int]:
    """The lines of the simple statement that a line is part of: where it runs, any of them may be named."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.lineno <= line <= (node.end_lineno or 0):
            return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return {line}


def _why(result: VerifyResult) -> str:
    """What is wrong in a few words; an exception explains all else that differs."""
    problems = sorted(result.problems, key=lambda problem: "exceptions differ" not in problem)
    return "; ".join(problems[:2])


def _refuse_raising(session: Session) -> None:
    modes = [mode for mode in (session.before.eager, session.before.compiled) if mode is not None]
    if modes and all(mode.exception for mode in modes):
        at = f" (at {modes[0].exception_at})" if modes[0].exception_at else ""
        raise UsageProblem(f"TARGET {session.target.text}: raises {modes[0].exception}{at}: nothing can be proved")
