"""A document that is being edited. As long as changes stay in the body of one function and nobody else would notice,
that function alone is interpreted again, and nothing where they stay in a text that documents something: the findings
are those of a new check.

What is noticed: what the function gives, sets, asks for, and what others read of its source.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compilelint.again.graft import Change, function_around, graft, parsed, reword, text_around
from compilelint.again.noting import Execution, Noting, Unsettled
from compilelint.again.replay import Replay, alike, replayed, same_result
from compilelint.analysis import Analyser, Analysis, deeply
from compilelint.engine import docs, facts
from compilelint.engine.events import Rounds
from compilelint.engine.summary import Summary
from compilelint.finding import CUT, one_per_site
from compilelint.garbage import uncollected
from compilelint.outcome import Outcome
from compilelint.registry import load_rules
from compilelint.rewrites import preserved
from compilelint.runner import outcome_of
from compilelint.source import module as modules
from compilelint.source import walk
from compilelint.source.installed import followed
from compilelint.source.layout import Layout
from compilelint.source.lines import lines_of
from compilelint.source.module import Def, FunctionInfo, Module
from compilelint.source.parsed import Parsed

if TYPE_CHECKING:
    from compilelint.config import Settings

# words that are looked for in the text of a whole file, when it is interpreted
_WORDS = ("torch", "numpy", "torch.library", "from torch import library", "yield", "global ", "nonlocal ", ":=")

# what is remembered of syntax trees and texts
_REMEMBERED = (
    walk._of_kind,
    walk._names,
    facts.imports_by_name,
    preserved._writes_certainly,
)


class Edited:
    """An analysis of one document that is kept, and follows its text."""

    def __init__(self, analyser: Analyser, module: Module, settings: Settings) -> None:
        """`analyser` has interpreted everything, with an engine that notes how."""
        assert isinstance(analyser.engine, Noting)
        self.settings = settings
        self._analyser = analyser
        self._engine = analyser.engine
        self._engine.complete = True
        self._module = module
        self._rounds = {summary: _rounds(summary) for summary in self._engine.summaries()}
        self._replays: dict[Execution, Replay] = {}
        self._disk: dict[Path, tuple[int, int] | None] = {}
        self.spoilt = False  # whether it is of no more use

    @classmethod
    def begun(cls, path: Path, settings: Settings, texts: Mapping[str, str], parsed: Parsed) -> tuple[Outcome, Edited]:
        """What is found in a document, and the analysis to go on with; it may be spoilt from the start."""
        layout, installed = Layout.of([path]), followed(settings.follow_imports)
        analyser = Analyser([path], settings, load_rules(settings), layout, texts, parsed, installed, Noting)
        with uncollected(), deeply():
            analyser.interpret()
            module = analyser.project.load(path) or Module(path, "", "", ast.Module([], []))
            kept = cls(analyser, module, settings)
            analysis = kept._judged()
        kept.spoilt = kept._fails() or bool(analysis.unreadable)
        kept._disk = {file: _state(file) for file in analysis.reads.files if file.as_posix() not in texts}
        analyser.project.share({path})
        outcome = outcome_of(analysis)
        outcome.findings = one_per_site(outcome.findings)
        return outcome, kept

    def _fails(self) -> bool:
        """Whether something went wrong, or the rules had more interpreted."""
        cut = any(bound.startswith(CUT) for bound in self._engine.bounds)
        return bool(self._analyser.result.errors) or self._engine.late or cut

    def update(self, text: str) -> Outcome | None:
        """What is found in a new text; None where only a new analysis can tell."""
        if self.spoilt or any(_state(file) != state for file, state in self._disk.items()):
            self.spoilt = True
            return None
        with uncollected(), deeply():
            try:
                if not self._updated(text):
                    return None
                analysis = self._judged()
            except (Unsettled, RecursionError):
                self.spoilt = True
                return None
        self.spoilt = self._fails()
        return None if self.spoilt else Outcome(list(analysis.findings), analysis.stats, [], analysis.reads)

    def release(self) -> None:
        """Takes it apart."""
        self._analyser.project.stop_sharing()
        self._analyser.release()

    def _updated(self, text: str) -> bool:
        module = self._module
        if any((word in text) is not (word in module.text) for word in _WORDS):
            return False
        lines = lines_of(text)
        change = Change.between(module.lines, lines)
        statement = text_around(module, change)
        if statement is not None:
            return self._reworded(statement, text, lines, change)
        around = function_around(module, change)
        if around is None:
            return False
        info, first, last = around
        node = info.node
        assert isinstance(node, Def)
        new = parsed(node, lines[first - 1 : last + change.shift], first)
        executions = self._engine.executions.get(info, [])
        if new is None or any(execution.vague for execution in executions):
            return False
        before = [self._replay(execution) for execution in executions]
        if not all(_is_what_was(replay, e) for replay, e in zip(before, executions, strict=True)):
            return False
        said = _said(new)
        if _said(node) != said:
            return False
        self.spoilt = True  # until it is known to agree
        graft(module, node, new, change)
        self._take(text, info, change.shift)
        if not self._same_parameters(info):
            return False
        after = [replayed(self._engine, execution) for execution in executions]
        if not all(new.agrees(old) for new, old in zip(after, before, strict=True)):
            return False
        for execution, replay in zip(executions, after, strict=True):
            self._replays[execution] = replay
            self._put(execution, replay.summary)
        return True

    def _reworded(self, statement: ast.Expr, text: str, lines: Sequence[str], change: Change) -> bool:
        """Whether a text, perhaps one that documents something, says the same of tensors as before."""
        module = self._module
        new = parsed(statement, lines[statement.lineno - 1 : _last(statement) + change.shift], statement.lineno)
        if new is None:
            return False
        owner = module.parents.get(statement)
        before = _documented(owner)
        self.spoilt = True  # until it is known to agree
        if not reword(module, statement, new, change) or _documented(owner) != before:
            return False
        self._take(text, None, change.shift)
        return True

    def _replay(self, execution: Execution) -> Replay:
        found = self._replays.get(execution)
        return found if found is not None else replayed(self._engine, execution)

    def _take(self, text: str, info: FunctionInfo | None, lines: int) -> None:
        """Has the module, and what is remembered of it, follow the text; the tree does already."""
        module = self._module
        module.follow(text)
        if info is not None:
            info.generator = info.uses_files = info.draws = None
        for remembered in _REMEMBERED:
            remembered.cache_clear()
        if lines:
            for other, executions in self._engine.executions.items():
                if other.module is module and isinstance(other.node, ast.Lambda):
                    _move_statements(other.node, executions)

    def _same_parameters(self, info: FunctionInfo) -> bool:
        engine = self._engine
        known = engine._defaults.pop(info, None)
        if known is None or not alike(known, engine.parameters(info)):
            return known is None
        engine._defaults[info] = known
        return True

    def _put(self, execution: Execution, new: Summary) -> None:
        if execution.silent:
            return
        summary = execution.summary
        summary.events, summary.edges, summary.loops, summary.body = new.events, new.edges, new.loops, new.body
        summary.returns, summary.yields, summary.self_writes = new.returns, new.yields, new.self_writes
        summary.unresolved, summary.values = new.unresolved, new.values
        self._rounds[summary] = _rounds(summary)
        self._analyser._values.pop(summary, None)

    def _judged(self) -> Analysis:
        for noted in self._rounds.values():
            for rounds, flags in noted:
                rounds.trains, rounds.calls_module, rounds.loads = flags
        analysis = self._analyser.judge()
        self._engine.forget_passing()
        return analysis


def _rounds(summary: Summary) -> list[tuple[Rounds, tuple[bool, bool, bool]]]:
    """What happens in a context by itself, before it is told what its callees do."""
    return [(each, (each.trains, each.calls_module, each.loads)) for each in (summary.body, *summary.loops)]


def _is_what_was(replay: Replay, execution: Execution) -> bool:
    new, old = replay.summary, execution.summary
    return same_result(new, old) and [e.callee for e in new.edges] == [e.callee for e in old.edges]


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _documented(node: ast.AST | None) -> tuple[Any, ...]:
    """What is read of a docstring."""
    text = docs.of(node) if node is not None else ""
    return (docs.documented(text), docs.returned(text)) if "ensor" in text else ()


def _said(node: Def) -> tuple[Any, ...]:
    """What others read of a function's source."""
    called = {
        child.func.attr
        for child in ast.walk(node)
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute)
    }
    return (
        ast.get_docstring(node, clean=False),
        modules._self_writes(node),
        facts.is_generator(node),
        facts.imports_by_name(node),
        _globals(node),
        called if node.name == "forward" else None,
        "is_compiling" in called and ast.unparse(node),
        ast.unparse(node) if node.name == "__getattr__" else None,
    )


def _globals(node: Def) -> Sequence[str]:
    return [name for child in ast.walk(node) if isinstance(child, (ast.Global, ast.Nonlocal)) for name in child.names]


def _move_statements(node: ast.Lambda, executions: Sequence[Execution]) -> None:
    """The statement of a lambda is made for it, and stands in no tree."""
    for execution in executions:
        found = [each.statement for each in execution.summary.events]
        for statement in found + [each.statement for each in execution.summary.edges]:
            if isinstance(statement, ast.Expr) and statement.value is node.body:
                ast.copy_location(statement, node.body)


def _state(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
