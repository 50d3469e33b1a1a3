"""What the engine makes of a snippet: values where it says `reveal(…)`, regions and gates where it calls `time.time()`.

    reveal(x.sum())  # tensor float 0d

The comment says what the engine believes, as `shown` puts it. A function interpreted in several contexts has one
text for each, sorted and joined by " / ". What is never reached has none: `# never`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compilelint.analysis import Analyser
from compilelint.config import Settings
from compilelint.engine.events import Call, Event, Site
from compilelint.engine.regions import RANK, Standing
from compilelint.engine.summary import Summary
from compilelint.engine.values import (
    Class,
    Compiled,
    Const,
    Device,
    External,
    Flow,
    Function,
    Instance,
    Map,
    Method,
    Namespace,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
)
from compilelint.finding import Region
from compilelint.sdk import Context, Report, Rule
from compilelint.source.layout import Layout
from compilelint.source.module import Module

HEADER = """\
import dataclasses, functools, math, time, typing
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union
"""
MARK = re.compile(r"#\s*(.*)$")


class Everything:
    """Wants every event."""

    def wants(self, event: type[Event], target: str = "") -> bool:
        return True


class _Tells(Analyser):
    """Shows its rules cold code too."""

    def is_idle(self, standing: Standing, site: Site, summary: Summary) -> bool:
        return False


@dataclass
class Mark:
    """One call of `time.time()`, in one context."""

    event: Call
    region: Region
    compiled: bool


@dataclass
class Interpreted:
    analyser: Analyser
    module: Module
    summaries: list[Summary]
    marks: list[Mark]

    def of(self, qualname: str) -> list[Summary]:
        """The contexts of one function."""
        return [s for s in self.summaries if s.info is not None and s.info.qualname == qualname]

    def events(self, kind: type[Event] = Event) -> list[Any]:
        return [e for s in self.summaries for e in s.events if isinstance(e, kind)]

    def line(self, node: ast.AST) -> str:
        """The comment on a node's line."""
        found = MARK.search(self.module.lines[getattr(node, "lineno", 1) - 1])
        return found.group(1).strip() if found else ""


def interpret(
    text: str, path: Path = Path("/nowhere/snippet.py"), header: str = HEADER, **settings: Any
) -> Interpreted:
    """Interpret one module. No error of the engine's own is let pass."""
    source = header + textwrap.dedent(text)
    marks: list[Mark] = []
    rule = Rule("CL999", "mark", effects=())

    @rule.on(Call, "time.time")
    def mark(event: Call, ctx: Context) -> Iterator[Report]:
        marks.append(Mark(event, ctx.region, ctx.compiled))
        yield from ()

    analyser = _Tells([path], Settings(**settings), [rule], Layout.of([path]), {str(path): source})
    analyser.engine.interest = Everything()
    analyser.run()
    assert not analyser.result.errors, analyser.result.errors[0].traceback
    assert not analyser.result.unreadable, analyser.result.unreadable
    module = analyser.project.load(path)
    assert module is not None
    summaries = [s for s in analyser.engine.summaries() if s.module is module]
    return Interpreted(analyser, module, summaries, marks)


def believed(found: Interpreted) -> dict[int, set[str]]:
    """By line, the values that `reveal(…)` was given, one for each context."""
    texts: dict[int, set[str]] = {}
    for summary in list(found.summaries):
        for node, value in found.analyser.values(summary).items():
            parent = found.module.parents.get(node)
            if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "reveal":
                texts.setdefault(parent.lineno, set())
                if node in parent.args:
                    texts[parent.lineno].add(shown(value))
    return texts


def check(text: str, **options: Any) -> None:
    """Compare every `reveal(…)` of a snippet with its comment."""
    found = interpret(text, **options)
    texts = believed(found)
    wanted: dict[str, str] = {}
    got: dict[str, str] = {}
    for number, line in enumerate(found.module.lines, 1):
        if re.search(r"\breveal\(", line):
            mark = MARK.search(line)
            assert mark is not None, f"no expectation: {line}"
            wanted[where := f"{number}: {line.strip()}"] = mark.group(1).strip()
            got[where] = " / ".join(sorted(texts.get(number, ()))) or "never"
    assert wanted, "nothing is asked"
    wrong = [f"{where}  but: {got[where]}" for where in wanted if got[where] != wanted[where]]
    assert not wrong, "\n" + "\n".join(wrong)


def check_regions(text: str, **settings: Any) -> None:
    """Compare the gravest region of every `time.time()` with its comment."""
    found = interpret(text, **settings)
    gravest: dict[ast.AST, Mark] = {}
    for mark in sorted(found.marks, key=lambda mark: RANK[mark.region.kind]):
        gravest[mark.event.node] = mark
    _compare_marks(found, [(mark, mark.region.kind) for mark in gravest.values()])


def check_gates(text: str) -> None:
    """Compare the gates of every `time.time()` with its comment."""
    found = interpret(text)
    texts = []
    for mark in found.marks:
        site = mark.event.site
        texts.append((mark, " ".join([*sorted(site.gates), *(["protected"] if site.protected else [])]) or "none"))
    _compare_marks(found, texts)


def _compare_marks(found: Interpreted, texts: list[tuple[Mark, str]]) -> None:
    got: dict[str, set[str]] = {}
    for mark, text in texts:
        got.setdefault(_where(found, mark.event.node), set()).add(text)
    asked = [n for n in ast.walk(found.module.tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "time.time"]
    assert asked, "nothing is asked"
    wrong = []
    for node in asked:
        text = " / ".join(sorted(got.get(_where(found, node), ()))) or "never"
        if text != found.line(node):
            wrong.append(f"{_where(found, node)}  but: {text}")
    assert not wrong, "\n" + "\n".join(wrong)


def _where(found: Interpreted, node: ast.AST) -> str:
    number = getattr(node, "lineno", 1)
    return f"{number}: {found.module.lines[number - 1].strip()}"


def shown(value: Value) -> str:
    """A value in a few words; its history is left out."""
    match value:
        case Const():
            return repr(value.value)
        case Scalar():
            return value.type if value.flow is Flow.STATIC else f"{value.type} {value.flow.name.lower()}"
        case Tensor():
            flags = [n for n in ("pinned", "dynamic", "constant") if getattr(value, n)]
            device = "" if value.device is Device.UNKNOWN else value.device.name.lower()
            rank = "" if value.rank is None else f"{value.rank}d"
            return " ".join(w for w in ("tensor", value.kind, device, value.dtype or "", rank, *flags) if w)
        case External():
            return value.name
        case Namespace():
            return f"module {value.name}"
        case Function():
            return f"def {value.info.qualname}"
        case Class():
            return f"class {value.info.qualname}"
        case Method():
            return f"method {value.name}"
        case Instance():
            return value.info.qualname if value.info is not None else value.external
        case Seq():
            inner = [f"{shown(value.element)}, ..."] if value.items is None else [shown(item) for item in value.items]
            return f"{value.kind}[{', '.join(inner)}]"
        case Map():
            if value.items is None:
                return f"dict[{shown(value.key)}: {shown(value.element)}, ...]"
            return "dict[" + ", ".join(f"{k!r}: {shown(v)}" for k, v in value.items.items()) + "]"
        case Partial():
            return f"partial({', '.join(shown(v) for v in (value.func, *value.args, *value.kwargs.values()))})"
        case Compiled():
            return f"compiled({shown(value.inner)})"
        case Union():
            return " | ".join(sorted(shown(option) for option in value.options))
    return "?"
