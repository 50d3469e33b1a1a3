"""What each torch release does, as data: `load((2, 13)).breaks("time.time")`.

A table is written by `scripts/make_tables.py` from one installed torch: what functions return (declared and observed),
which calls and constructs break Dynamo's graph and which make the host wait for a GPU (measured one by one), Dynamo's
trace rules, graph-break registry and configuration. Names are canonical: `torch.where`, `Tensor.item`, `Module.eval`,
`logging.Logger.info`, a builtin is plain `print`. A circumstance a verdict depends on stands in brackets:
`torch.repeat_interleave[tensor]`. This module imports no torch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

Version = tuple[int, int]
Json = dict[str, Any]
Verdict = Literal["breaks", "traces"]

_HERE = Path(__file__).parent


@cache
def available() -> tuple[Version, ...]:
    """The releases that have a table, oldest first."""
    found = []
    for path in _HERE.glob("torch-*.json"):
        major, _, minor = path.stem.removeprefix("torch-").partition(".")
        found.append((int(major), int(minor)))
    return tuple(sorted(found))


def nearest(version: Version) -> Version:
    """The release whose table stands for `version`: itself, else the newest older one, else the oldest."""
    known = available()
    if not known:
        raise FileNotFoundError(f"no tables in {_HERE}")
    older = [v for v in known if v <= version]
    return older[-1] if older else known[0]


@cache
def _read(version: Version) -> Table:
    text = (_HERE / f"torch-{version[0]}.{version[1]}.json").read_text(encoding="utf-8")
    return Table(version, json.loads(text))


@cache
def _read_syncs() -> Json:
    """What measure_syncs.py found on a GPU: one release's, which stands for all."""
    found: Json = json.loads((_HERE / "syncs.json").read_text(encoding="utf-8"))["syncs"]
    return found


def load(version: Version | None = None) -> Table:
    """The table of a release (of the newest by default), read once."""
    return _read(available()[-1] if version is None else nearest(version))


@dataclass(frozen=True, eq=False)
class Table:
    """One release's table. `data` is the JSON object; the methods answer what rules ask."""

    version: Version
    data: Json

    @property
    def python(self) -> Version:
        """The Python release that the verdicts were measured on."""
        major, minor, *_ = self.data["python"].split(".")
        return int(major), int(minor)

    def function(self, name: str) -> Json:
        """What a torch function returns: {"returns": "tensor", "dtype": "bool", "rank": "same", …}; {} when not known.

        `returns` lists alternatives with "|"; `overloads` says which parameters give which. `dtype` is a family
        ("bool", "int", "float", "complex") or "same" as the operands; `rank` a number, "same", or "reduce" (a `dim`
        argument removes one, none removes all). `fields` names the members of a returned tuple.
        """
        found: Json = self.data["functions"].get(name, {})
        return found

    def method(self, name: str) -> Json:
        """The same for `Tensor.sum` and for attributes such as `Tensor.shape`."""
        found: Json = self.data["methods"].get(name, {})
        return found

    def function_returns(self, name: str) -> str | None:
        """The `returns` of a torch function, None when not known."""
        found: str | None = self.function(name).get("returns")
        return found

    def method_returns(self, name: str) -> str | None:
        """The `returns` of a method or attribute of a tensor, `Tensor.` before it or not; None when not known."""
        found: str | None = self.method(name if name.startswith("Tensor.") else f"Tensor.{name}").get("returns")
        return found

    def says(self, target: str) -> Json:
        """All that is known of a name: `returns`, `dtype`, `rank`, `breaks` (bool), `break` (how), `syncs`, `tags`."""
        return _says(self, target)

    def breaks(self, target: str) -> Json | None:
        """How a call breaks the graph: {"gb_type": …, "effect": "split" | "skip" | "error"}; None: traces or not known.

        With `when` and `traces_when` (kinds of the arguments: T tensor, i int, …) only some forms of the call break.
        """
        found = self._measured("breaks", target)
        return found if found else None

    def verdict(self, target: str) -> Verdict | None:
        """What measuring `target` showed; None when it was not measured, or when only some forms of the call break."""
        found = self._measured("breaks", target)
        if found is None or "traces_when" in found:
            return None
        return "breaks" if found else "traces"

    def _measured(self, part: str, target: str) -> Json | None:
        """The entry of a break, {} for what traces, None for what is not known (in no release, if it could not run)."""
        found: Json | None = self.data[part].get(target)
        if found is not None:
            return found
        if target in self._traces:
            return {}
        if target in self.data["invalid"]:  # needs a GPU, say, which the machine of another release's table had
            for other in sorted(available(), key=lambda v: abs(v[1] - self.version[1])):
                table = _read(other)
                if target not in table.data["invalid"]:
                    return table._measured(part, target)
        return None

    @property
    def _traces(self) -> frozenset[str]:
        return _as_set(self)

    def syncs(self, target: str) -> bool | None:
        """Whether a call makes the host wait for the GPU; None: not measured, or it depends on the arguments."""
        found = self.sync(target)
        return None if found is None or "signatures" in found else bool(found["syncs"])

    def sync(self, target: str) -> Json | None:
        """{"syncs": bool, "how": [...], "kernels": n, "signatures": {kinds of arguments: bool or None}} of a call."""
        found: Json | None = _read_syncs().get(target)
        return found

    def tags(self, target: str) -> tuple[str, ...]:
        """Operator tags: `data_dependent_output`, `dynamic_output_shape`, `nondeterministic_seeded`."""
        return tuple(self.data["tags"].get(target, ()))

    def construct(self, name: str) -> Json | None:
        """The verdict on a construct of scripts/probes: {} where it traces, None when not known."""
        found: Json | None = self.data["constructs"].get(name)
        return found

    def inlines(self, module: str) -> bool | None:
        """Whether Dynamo traces into Python functions of a module; None when it is not known (a C module, say)."""
        known: dict[str, bool | None] = self.data["trace_rules"]["modules"]
        name = module
        while name:
            if name in known:
                return known[name]
            name = name.rpartition(".")[0]
        return None

    def explanation(self, gb_type: str) -> str:
        """Dynamo's own sentence on a type of graph break, "" when it has none."""
        return next((e["explanation"] for e in self.data["gb_registry"].values() if e["type"] == gb_type), "")

    def gb_id(self, gb_type: str) -> str:
        """The registry's id of a type of graph break ("GB0170"), "" when it has none."""
        return next((key for key, e in self.data["gb_registry"].items() if e["type"] == gb_type), "")

    def config(self, name: str) -> Any:
        """The default of a setting of torch._dynamo.config, None when not recorded."""
        return self.data["config"].get(name)


@cache
def _as_set(table: Table) -> frozenset[str]:
    return frozenset(table.data["traces"])


@lru_cache(maxsize=4096)
def _says(table: Table, target: str) -> Json:
    found = dict(table.method(target) if target.startswith("Tensor.") else table.function(target))
    if verdict := table.verdict(target):
        found["breaks"] = verdict == "breaks"
    if how := table.breaks(target):
        found["break"] = how
    if (syncs := table.syncs(target)) is not None:
        found["syncs"] = syncs
    if tags := table.tags(target):
        found["tags"] = tags
    return found
