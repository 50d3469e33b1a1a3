"""Writes docs/events.md: the events that rules subscribe to, the values in them, and the helpers of the sdk.

    python scripts/events.py

Made of docstrings, of the rules' subscriptions, and of what the engine tells of the examples below.
tests/test_events.py fails when the page is not what this writes.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import tempfile
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

from compilelint import registry, sdk
from compilelint.analysis import analyse
from compilelint.config import Settings
from compilelint.engine import values
from compilelint.explain.words import words

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "events.md"
DECLARED = ("A rule and its reports", "Values")
HEAD = """\
# Events, values and helpers

<!-- made by scripts/events.py -->

A rule subscribes to events with `@rule.on(Call, "Tensor.item")`: an event type and, for those that have a `target`,
the exact names or prefixes (`logging.*`) that it wants. All names here are imported from `compilelint.sdk`. What a call
at some place is told as, and what its values are, `compilelint check --explain-value FILE:LINE:COL` says.

Methods of tensors are told as `Tensor.NAME`, those of modules as `Module.NAME` (calling one is
`torch.nn.Linear.__call__`), those of optimizers as `torch.optim.Optimizer.NAME`; functions and classes by the name that
torch documents. Another name of theirs
is refused when the rule is loaded, with the one to write; a misspelled one is not.
"""
EXAMPLE = """\
import torch


def example(x: torch.Tensor, xs: list[torch.Tensor], layer: torch.nn.Linear, optimizer: torch.optim.Adam, flag: bool):
    {line}
"""
LINES = {
    "Accumulate": "for t in xs: x = x + t",
    "Branch": "if x.sum() > 0: pass",
    "Call": "optimizer.zero_grad()",
    "Compare": "x == 3",
    "Convert": "int(x)",
    "Define": "def inner(y): return y",
    "Enter": "with torch.no_grad(): pass",
    "Import": "import os.path",
    "Iterate": "for row in x: pass",
    "Load": "x.grad_fn",
    "LoopEnd": "for t in xs: t.zero_()",
    "Raise": 'raise ValueError("no")',
    "Read": "x[x > 0]",
    "Store": "x.requires_grad = True",
    "Touch": "s = x.to_sparse(); s + 1",
    "Write": "x[0] += 1",
}


def page() -> str:
    parts = [HEAD]
    for title, names in groups().items():
        parts.append(f"## {title}\n")
        if all(inspect.isclass(getattr(sdk, name)) or title in DECLARED for name in names):
            parts += [described(name) for name in names]
        else:
            parts.append(
                "\n".join(["| | |", "| --- | --- |", *(row(name, getattr(sdk, name)) for name in names)]) + "\n"
            )
    return "\n".join(parts).rstrip() + "\n"


def groups() -> dict[str, list[str]]:
    """The names of `sdk.__all__` under the comments there."""
    listed = inspect.getsource(sdk).partition("\n__all__ = [")[2].partition("\n]\n")[0]
    found: dict[str, list[str]] = {}
    for comment, name in re.findall(r'^    (?:# (.*)|"(\w+)",)$', listed, re.MULTILINE):
        if comment:
            names = found[comment] = []
        else:
            names.append(name)
    return found


def described(name: str) -> str:
    """What a class says of itself, its own fields, and for an event an example and the rules that read it."""
    item = getattr(sdk, name)
    if not inspect.isclass(item):
        return f"### {name}\n\n{constant(name, item)}\n"
    lines = [f"### {name}", "", text_of(item)]
    if issubclass(item, Enum):
        lines += ["", f"One of {', '.join(f'`{name}.{member.name}`' for member in item)}."]
    elif dataclasses.is_dataclass(item):
        inherited = {field.name for base in item.__bases__ if base is sdk.Event for field in dataclasses.fields(base)}
        fields = [f"`{f.name}: {f.type}`" for f in dataclasses.fields(item) if f.name not in {*inherited, "origin"}]
        lines += ["", f"Fields: {', '.join(fields)}."] if fields else []
    elif name == "Context":
        members = {k: v for base in (sdk.Frame, item) for k, v in vars(base).items() if not k.startswith("_")}
        lines += ["", "| | |", "| --- | --- |", *(row(f"ctx.{key}", member) for key, member in members.items())]
    if name in LINES:
        said = ", ".join(told(name))
        lines += ["", f"`{LINES[name]}` makes one" + (f": {said}." if said else ".")]
        lines += ["", f"Read by {', '.join(listeners(item)) or 'no rule yet'}."]
    return "\n".join(lines) + "\n"


def constant(name: str, item: Any) -> str:
    if get_args(item):
        return f"One of {', '.join(f'`{each}`' for each in get_args(item))}."
    if isinstance(item, sdk.Value):
        return f"The value {words(item)}."
    comment = re.findall(rf"^{name} = .*  # (.*)$", inspect.getsource(values), re.MULTILINE)
    return f"`{item}`: {comment[0]}."


def row(name: str, item: Any) -> str:
    """A line of a table: a function with its parameters, or a property, and its first paragraph."""
    shown = name
    if isinstance(item, property):
        item = item.fget
    elif inspect.isfunction(item):
        parameters = [p for p in inspect.signature(item).parameters.values() if p.name != "self"]
        shown += f"({', '.join(f'*{p.name}' if p.kind is p.VAR_POSITIONAL else p.name for p in parameters)})"
    return f"| `{shown}` | {text_of(item).replace('|', chr(92) + '|')} |"


def text_of(item: Any) -> str:
    """Its own docstring as one paragraph; of a function the first."""
    own = item.__dict__.get("__doc__") if inspect.isclass(item) else item.__doc__
    text = inspect.cleandoc(own or "")
    return " ".join((text if inspect.isclass(item) else text.partition("\n\n")[0]).split())


def listeners(event: type[sdk.Event]) -> list[str]:
    rules = registry.load_rules()
    return [rule.code for rule in rules if any(each.event is event for each in rule.subscriptions)]


def told(name: str) -> list[str]:
    """The words in the first event of a type that the engine makes of its example."""
    rule, seen = sdk.Rule("XX999", "listens", ("sync",), in_setup=True), []

    @rule.on(getattr(sdk, name))
    def listen(event: Any, ctx: sdk.Context) -> Iterator[sdk.Report]:
        seen.append(event)
        yield from ()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "example.py"
        path.write_text(EXAMPLE.format(line=LINES[name]), encoding="utf-8")
        analyse([path], Settings(), rules=[rule])
    assert seen, f"no {name} event in {LINES[name]}"
    fields = {each.name: getattr(seen[0], each.name) for each in dataclasses.fields(seen[0])}
    return [f"`{key}` is `{value}`" for key, value in fields.items() if isinstance(value, str) and value]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
