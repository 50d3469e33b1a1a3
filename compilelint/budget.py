"""Budgets: what a TARGET costs, by site, kept in a file that is committed; a run fails where a site's cost grew.

A site is known by its file, function and source text, not by its line: code that moves stays within its budget.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from compilelint import budgetfile
from compilelint.budgetfile import METRICS, Budget, Metric, Site, Sites, Stored
from compilelint.errors import UsageProblem
from compilelint.runtime.trace import run
from compilelint.runtime.trace.record import Break, Event, Graph, Recompile, Record, Sync, Work

# more graphs or kernels are no growth where fewer of these paid for them
PAID_BY: dict[Metric, tuple[Metric, ...]] = {"graphs": ("breaks",), "kernels": ("breaks", "syncs")}
CALLS = 1  # measured; one or two that compile come before
FILE = "compilelint-budget.json"
TIMEOUT = 300.0
# sizes, values and addresses in a guard are another at each run; an index such as `args[0]` is not
_NUMBER = re.compile(r"(?<![\w.\['\"])-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w\]])")


@dataclass
class Change:
    """A site whose count is another now. `line` is 0 for one that is gone."""

    site: Site
    stored: int
    now: int
    line: int = 0

    def __str__(self) -> str:
        site = self.site
        where = f"{site.path}:{self.line}" if self.line else site.path
        text = f": `{site.source}`" if site.source else ""
        what = f" ({site.what})" if site.what else ""
        return f"{site.metric} {self.stored} \u2192 {self.now} at {where} in {site.function}{text}{what}"


@dataclass
class Outcome:
    """One TARGET compared with its budget, or written into it."""

    target: str
    device: str
    budget: Budget
    grew: list[Change] = field(default_factory=list)
    shrank: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    written: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "device": self.device,
            "ok": not self.grew,
            "written": self.written,
            **self.budget.to_json(),
            "grew": [asdict(change) for change in self.grew],
            "shrank": [asdict(change) for change in self.shrank],
            "notes": self.notes,
        }


def budget(
    target: str | None,
    *,
    write: bool = False,
    file: Path | None = None,
    device: str | None = None,
    inputs: Sequence[str] = (),
    backend: str | None = None,
    timeout: float = TIMEOUT,
    cwd: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Run TARGET (None: all that the file holds) and compare it with its budget, or `write` that anew.

    Raises UsageProblem where there is nothing to compare with, and for a TARGET that can't be run to its end.
    """
    if device not in (None, "cpu", "cuda"):
        raise UsageProblem(f"--device {device}: expected cpu or cuda")
    cwd = (cwd or Path.cwd()).resolve()
    place = cwd / (file or FILE)
    stored = budgetfile.read(place)
    targets = [target] if target is not None else sorted(stored)
    if not targets:
        raise UsageProblem(_first_use(place, None))
    outcomes = []
    for name in targets:
        known = stored.get(name, Stored())
        if not write and not known.devices:
            raise UsageProblem(_first_use(place, name))
        known.inputs = list(inputs) or known.inputs
        progress(f"running {name}")
        options = run.Options(
            steps=CALLS,
            timeout=timeout,
            syncs={"cpu": "predict", "cuda": "measure", None: None}[device],
            inputs=known.inputs,
            backend=backend or _backend(known, device) or "inductor",
            quiet_stdout=True,
            private=True,
            cwd=cwd,
        )
        record = run.run("target", name, (), options)
        _refuse_unfinished(name, record)
        now = measured(record, options.backend)
        outcome = Outcome(name, record.device, now)
        if write:
            known.devices[record.device] = now
            stored[name] = known
            outcome.written = True
        else:
            kinds = known.devices
            if record.device not in kinds:
                raise UsageProblem(
                    f"{place.name}: holds a budget of {name} for {', '.join(sorted(kinds))}, not for {record.device}: "
                    f"store one with --write on such a machine, or name --device"
                )
            _judge(outcome, kinds[record.device])
        outcomes.append(outcome)
    if write:
        budgetfile.write(place, stored)
    return outcomes


def _first_use(place: Path, target: str | None) -> str:
    held = f"holds no budget of {target}" if target else "holds no budget"
    told = f"{place.name}: {held if place.exists() else 'there is no such file here'}"
    return f"{told}; store one with `compilelint budget {target or 'TARGET'} --write`, and commit the file"


def measured(record: Record, backend: str) -> Budget:
    """The costs of a run by site. Kernels are those launched by a call on a GPU, else those that Inductor generated."""
    found = Budget(record.torch, backend, record.device_name)
    texts = {shown: _lines(path) for path, shown in record.files.items()}
    for event in record.events:
        for metric, what, count in _costs(event, record.device):
            whole = isinstance(event, (Graph, Recompile))  # these are a function's, not a line's
            source = "" if whole else _line(texts.get(event.path, []), event.line)
            site = Site(metric, event.path, event.function, source, what)
            found.sites[site] += count
            found.lines.setdefault(site, event.line)
    return found


def _costs(event: Event, device: str) -> Iterator[tuple[Metric, str, int]]:
    if isinstance(event, Break):
        inside = f", inside {event.inside.rpartition(':')[0]}" if event.inside else ""
        yield "breaks", event.gb_type + inside, 1  # however often the function around it was compiled
    elif isinstance(event, Recompile):
        yield "recompiles", _NUMBER.sub("\u2026", event.guard), event.count
    elif isinstance(event, Sync):
        yield "syncs", event.what, event.count
    elif isinstance(event, Graph):
        yield "graphs", "", event.count
        if device == "cpu" and event.kernels:
            yield "kernels", "", event.kernels
    elif isinstance(event, Work) and event.kernels:
        yield "kernels", "", event.kernels


def compare(stored: Sites, now: Sites) -> tuple[Sites, Sites]:
    """(more, fewer): what of `now` is not in `stored`, and the reverse. A site that moved to another function or file
    is the same, and so is a line that was edited, if its function has no more of the kind than before."""
    more, fewer = now - stored, stored - now
    alike: tuple[Callable[[Site], tuple[str, ...] | None], ...] = (
        lambda site: (site.metric, site.source, site.what) if site.source else None,
        lambda site: (site.metric, site.path, site.function, site.what),
        lambda site: (site.metric, site.path, site.function),
    )
    for key in alike:
        left: Counter[tuple[str, ...]] = Counter()
        for site, count in fewer.items():
            if (known := key(site)) is not None:
                left[known] += count
        cancelled: Counter[tuple[str, ...]] = Counter()
        more, cancelled = _less(more, left, key)
        fewer, _ = _less(fewer, cancelled, key)
    return more, fewer


def _less(
    sites: Sites, left: Counter[tuple[str, ...]], key: Callable[[Site], tuple[str, ...] | None]
) -> tuple[Sites, Counter[tuple[str, ...]]]:
    """`sites` without as many as `left` holds of each key, and how many of each that were."""
    left, taken, rest = Counter(left), Counter[tuple[str, ...]](), Counter[Site]()
    for site, count in sites.items():
        known = key(site)
        gone = min(count, left[known]) if known is not None else 0
        if known is not None and gone:
            left[known] -= gone
            taken[known] += gone
        if count > gone:
            rest[site] = count - gone
    return rest, taken


def _judge(outcome: Outcome, stored: Budget) -> None:
    now = outcome.budget
    more, fewer = compare(stored.sites, now.sites)
    same = (now.torch, now.backend, now.device_name) == (stored.torch, stored.backend, stored.device_name)
    if not same:
        was = " ".join(filter(None, [f"torch {stored.torch}", stored.backend, stored.device_name]))
        outcome.notes.append(f"stored with {was}: kernels are not compared")
    paid = {metric for metric in METRICS if now.total(metric) < stored.total(metric)}
    for metric in METRICS:
        if metric == "kernels" and not same:
            continue
        excuse = [other for other in PAID_BY.get(metric, ()) if other in paid]
        changes = [
            Change(site, stored.sites[site], stored.sites[site] + count, now.lines[site])
            for site, count in sorted(more.items(), key=lambda item: str(item[0]))
            if site.metric == metric
        ]
        if excuse and changes:
            told = f"more {metric} ({stored.total(metric)} \u2192 {now.total(metric)}), but fewer {excuse[0]}"
            outcome.notes.append(told)
        else:
            outcome.grew += changes
        outcome.shrank += [
            Change(site, stored.sites[site], stored.sites[site] - count, now.lines.get(site, 0))
            for site, count in sorted(fewer.items(), key=lambda item: str(item[0]))
            if site.metric == metric
        ]


def _refuse_unfinished(target: str, record: Record) -> None:
    """A run that didn't come to its end has counted too little."""
    if record.timed_out is not None:
        at = f" (at {record.hung_at})" if record.hung_at else ""
        raise UsageProblem(f"TARGET {target}: did not finish within {record.timed_out:g} s{at}; see --timeout")
    if record.signal:
        raise UsageProblem(f"TARGET {target}: was ended by {record.signal}")
    if record.exit_code or not record.complete or record.steps.done < CALLS:
        told = "".join(f"\n  {note}" for note in record.notes)
        code = record.exit_code
        raise UsageProblem(f"TARGET {target}: ended its process with code {code} before it was measured{told}")


def _line(lines: Sequence[str], number: int) -> str:
    return " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def _backend(known: Stored, device: str | None) -> str | None:
    """That of the stored budget, for the device or for any."""
    stored = known.devices.get(device or "") or next(iter(known.devices.values()), None)
    return None if stored is None else stored.backend
