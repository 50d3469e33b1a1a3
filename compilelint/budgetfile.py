"""The file that budgets are stored in: read, checked and written. People edit it: what is wrong in it is told by its
place."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from compilelint.errors import UsageProblem
from compilelint.source.files import read_regular
from compilelint.writing import write_text

Metric = Literal["breaks", "recompiles", "syncs", "graphs", "kernels"]
METRICS: tuple[Metric, ...] = ("breaks", "recompiles", "syncs", "graphs", "kernels")
VERSION = 1
ANEW = "mend it, or delete it and store anew with `compilelint budget TARGET --write`"


@dataclass(frozen=True)
class Site:
    """Where something is counted. `what` is Dynamo's name of the break, the guard that failed, the call that syncs."""

    metric: Metric
    path: str
    function: str
    source: str = ""
    what: str = ""


Sites = Counter[Site]


@dataclass
class Budget:
    """One TARGET on one kind of device."""

    torch: str
    backend: str
    device_name: str = ""
    sites: Sites = field(default_factory=Counter)
    lines: dict[Site, int] = field(default_factory=dict)  # where a site was now; not stored

    def total(self, metric: Metric) -> int:
        return sum(count for site, count in self.sites.items() if site.metric == metric)

    def to_json(self) -> dict[str, Any]:
        sites = sorted(self.sites.items(), key=lambda item: (METRICS.index(item[0].metric), *asdict(item[0]).values()))
        return {
            "torch": self.torch,
            "backend": self.backend,
            "device_name": self.device_name,
            "totals": {metric: self.total(metric) for metric in METRICS},
            "sites": [{**asdict(site), "count": count} for site, count in sites],
        }


@dataclass
class Stored:
    """What the file holds of one TARGET: its `--input`s, and a budget for each kind of device."""

    inputs: list[str] = field(default_factory=list)
    devices: dict[str, Budget] = field(default_factory=dict)


def read(place: Path) -> dict[str, Stored]:
    """By TARGET; nothing where there is no file. Raises UsageProblem."""
    if not place.exists():
        return {}
    try:
        data = json.loads(read_regular(place).decode())
    except OSError as error:
        raise UsageProblem(f"{place}: can't be read: {error.strerror}") from None
    except RecursionError:
        raise UsageProblem(f"{place}: is no budget: it is nested too deeply; {ANEW}") from None
    except ValueError as error:
        raise UsageProblem(f"{place}: is no budget: not valid JSON: {error}; {ANEW}") from None
    try:
        version = _member(data, "", "version", int)
        if version != VERSION:
            raise UsageProblem(f"{place}: is of version {version}; this compilelint reads version {VERSION}")
        targets = _member(data, "", "targets", dict)
        return {name: _stored(each, f"targets[{name!r}]") for name, each in targets.items()}
    except _Malformed as problem:
        raise UsageProblem(f"{place}: is no budget: {problem}; {ANEW}") from None


def write(place: Path, targets: dict[str, Stored]) -> None:
    """Raises UsageProblem."""
    rows = {
        name: {"inputs": each.inputs, "devices": {kind: found.to_json() for kind, found in each.devices.items()}}
        for name, each in sorted(targets.items())
    }
    try:
        write_text(place, json.dumps({"version": VERSION, "targets": rows}, indent=1) + "\n")
    except OSError as error:
        raise UsageProblem(f"{place}: can't be written: {error.strerror}") from None


class _Malformed(Exception):
    """A place in the file, and what is wrong there."""


_NAMES = {int: "a whole number", str: "a text", list: "a list", dict: "an object"}


def _member(data: Any, where: str, key: str, kind: type) -> Any:
    """One member of an object, of this kind."""
    _of_kind(data, where or "the file", dict)
    if key not in data:
        raise _Malformed(f"{where or 'the file'}: has no {key!r}")
    return _of_kind(data[key], f"{where}.{key}".lstrip("."), kind)


def _of_kind(value: Any, where: str, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _Malformed(f"{where}: expected {_NAMES[kind]}, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else json.dumps(value)


def _stored(data: Any, where: str) -> Stored:
    inputs = _member(data, where, "inputs", list)
    devices = _member(data, where, "devices", dict)
    return Stored(
        [_of_kind(each, f"{where}.inputs[{index}]", str) for index, each in enumerate(inputs)],
        {kind: _budget(each, f"{where}.devices[{kind!r}]") for kind, each in devices.items()},
    )


def _budget(data: Any, where: str) -> Budget:
    facts = [_member(data, where, key, str) for key in ("torch", "backend", "device_name")]
    budget = Budget(*facts)
    for index, each in enumerate(_member(data, where, "sites", list)):
        at = f"{where}.sites[{index}]"
        count = _member(each, at, "count", int)
        if count < 1:
            raise _Malformed(f"{at}.count: expected 1 or more, not {count}")
        metric = _member(each, at, "metric", str)
        if metric not in METRICS:
            raise _Malformed(f"{at}.metric: expected one of {', '.join(METRICS)}, not {metric!r}")
        site = Site(metric, *(_member(each, at, key, str) for key in ("path", "function", "source", "what")))
        budget.sites[site] += count
    return budget
