"""Sample calls of every operator, as source, from torch's own operator database (needs torch; never shipped).

A `Call` is one expression (`torch.add(a0, 2, alpha=3)`, `a0.add(2)`) and the tensors it names: the form a user would
write, so that the same text can be run eagerly, compiled alone by Dynamo, and watched for syncs on a GPU.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
import types
import unittest
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# Not worth a probe: need nvrtc, or hang, or are private helpers of the tests.
SKIPPED = ("jiterator", "torch.ops", "_segment_reduce")


def op_db() -> list[Any]:
    """torch's OpInfo database, also where its test-only dependency is not installed."""
    if "expecttest" not in sys.modules and importlib.util.find_spec("expecttest") is None:
        stub = types.ModuleType("expecttest")
        stub.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        stub.ACCEPT = False  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stub
    argv, sys.argv = sys.argv, sys.argv[:1]  # common_utils parses the command line
    try:
        module = importlib.import_module("torch.testing._internal.common_methods_invocations")
    finally:
        sys.argv = argv
    return list(module.op_db)


@dataclass
class Call:
    """One expression to run: `source` over the names in `values`; `signature` says what kinds its arguments have."""

    target: str
    source: str
    signature: str
    values: dict[str, Any] = field(default_factory=dict)
    sample: int = 0

    def tensors(self) -> list[str]:
        return [name for name in self.values if name[0] == "a"]

    def function(self) -> Any:
        """A function `probe(a0, …)` returning the expression's value, whose other operands are globals or literals."""
        import linecache

        import torch

        names = ", ".join(self.tensors())
        text = f"def probe({names}):\n    return {self.source}\n"
        filename = f"<call {self.target} {self.sample}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        scope: dict[str, Any] = {"torch": torch, **{k: v for k, v in self.values.items() if k[0] == "K"}}
        exec(compile(text, filename, "exec"), scope)
        return scope["probe"]


class _Renderer:
    """Turns argument values into source text; tensors become `a0`, `a1`, …, what has no literal `K0`, `K1`, …"""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def name(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{sum(k[0] == prefix for k in self.values)}"
        self.values[name] = value
        return name

    def render(self, value: Any) -> tuple[str, str]:
        import torch

        if isinstance(value, torch.Tensor):
            return self.name("a", value), "T"
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return repr(value), {type(None): "n", bool: "b", str: "s", int: "i"}[type(value)]
        if type(value) is float:
            return (repr(value), "f") if math.isfinite(value) else (f"float('{value}')", "f")
        if type(value) is complex:
            return repr(value), "c"
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return str(value), "d"
        if isinstance(value, slice):
            parts = [self.render(v)[0] for v in (value.start, value.stop, value.step)]
            return f"slice({', '.join(parts)})", "slice"
        if value is Ellipsis:
            return "...", "..."
        if type(value) in (list, tuple, torch.Size):
            rendered = [self.render(v) for v in value]
            inner = ", ".join(text for text, _ in rendered)
            kinds = sorted({kind for _, kind in rendered})
            if type(value) is list:
                return f"[{inner}]", f"[{'|'.join(kinds)}]"
            return f"({inner}{',' if len(rendered) == 1 else ''})", f"({'|'.join(kinds)})"
        return self.name("K", value), "o"


def _resolve(dotted: str) -> Any:
    import torch

    value: Any = torch
    for part in dotted.split("."):
        value = getattr(value, part, None)
    return value


def targets(op: Any) -> list[tuple[str, str]]:
    """(target, form) of an OpInfo: `torch.add`, `Tensor.add`, `Tensor.add_`, aliases; form is how to write the call."""
    import torch

    if op.name.startswith(SKIPPED):
        return []
    result: list[tuple[str, str]] = []
    names = [op.name, *(alias.name for alias in op.aliases)]
    for name in names:
        function = _resolve(name)
        if callable(function) and not isinstance(function, (type, torch.dtype)):
            result.append((f"torch.{name}", f"torch.{name}(*)"))
        short = name.rpartition(".")[2] if name.startswith(("linalg.", "special.")) else name
        for method in (short, short + "_"):
            if (
                "." in method
                or not hasattr(torch.Tensor, method)
                or (method != name and method == short and short not in names)
            ):
                continue
            form = "@.{}(*)" if callable(getattr(torch.Tensor, method)) else "@.{}"
            result.append((f"Tensor.{method}", form.format(method)))
    seen: set[str] = set()
    return [pair for pair in result if not (pair[0] in seen or seen.add(pair[0]))]  # type: ignore[func-returns-value]


def samples(op: Any, device: str, limit: int, dtype: Any = None) -> list[Any]:
    """Up to `limit` sample inputs of an operator, on `device`, in float32 or else the first dtype it supports there."""
    import torch

    if dtype is None:
        supported = op.supported_dtypes(torch.device(device).type)
        if not supported:
            return []
        order = (torch.float32, torch.int64, torch.complex64, torch.bool, torch.float16)
        dtype = next((d for d in order if d in supported), sorted(supported, key=str)[0])
    found = []
    for sample in op.sample_inputs(device, dtype, requires_grad=False):
        found.append(sample)
        if len(found) >= limit:
            break
    return found


def calls(op: Any, target: str, form: str, found: list[Any]) -> Iterator[Call]:
    """The calls of `target` that the samples give, one for each signature and set of ranks."""
    for number, sample in enumerate(found):
        renderer = _Renderer()
        texts, kinds = [], []
        for value in (sample.input, *sample.args):
            text, kind = renderer.render(value)
            texts.append(text)
            kinds.append(kind)
        receiver = ""
        if form.startswith("@"):
            if kinds[0] != "T":
                continue
            receiver, *texts = texts
        for key, value in sample.kwargs.items():
            text, kind = renderer.render(value)
            texts.append(f"{key}={text}")
            kinds.append(f"{key}={kind}")
        source = form.replace("@", receiver).replace("(*)", f"({', '.join(texts)})")
        yield Call(target, source, ",".join(kinds), renderer.values, number)


def distinct(found: Iterator[Call], limit: int) -> list[Call]:
    """The first call of each signature, at most `limit`."""
    kept: dict[str, Call] = {}
    for call in found:
        kept.setdefault(call.signature, call)
    return list(kept.values())[:limit]
