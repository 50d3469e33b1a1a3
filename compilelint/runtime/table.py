"""The result as a table, for the terminal and as Markdown. Without torch, and rich only where it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compilelint.escaping import escape
from compilelint.runtime.results import MODES, Mode, Outcome, Site, Verdict, VerifyResult
from compilelint.runtime.verdict import counts_kernels

if TYPE_CHECKING:
    from rich.console import Console

MARK = {"better": "✓ better", "same": "=", "worse": "✗ worse", "slower": "slower", "differs": "✗ differs", "info": ""}
STYLE = {
    "better": "green",
    "same": "dim",
    "worse": "bold red",
    "slower": "yellow",
    "differs": "bold red",
    "info": "",
    "note": "yellow",
}


HEADS = ("eager before", "after", "compiled before", "after")


@dataclass
class Row:
    """`cells`: eager before, eager after, compiled before, compiled after."""

    label: str
    cells: tuple[str, str, str, str]
    outcome: Outcome
    verdict: str


def rows(result: VerifyResult) -> list[Row]:
    """The equality rows, then the figures."""
    return [*_checks(result), *_figures(result)]


def _checks(result: VerifyResult) -> Iterator[Row]:
    whats = dict.fromkeys(check.what for check in result.checks)
    for what in whats:
        found = {check.mode: check for check in result.checks if check.what == what}
        if not any(check.count or not check.equal for check in found.values()):
            continue
        cells: list[str] = []
        for mode in MODES:
            check = found.get(mode)
            if check is None or not (check.count or not check.equal):
                cells += ["", ""]
            else:
                cells += [str(check.count) if check.count else "", "equal" if check.equal else "differ"]
        bad = [check for check in found.values() if not check.equal]
        fatal = any(check.fatal for check in bad)
        outcome: Outcome = "differs" if fatal else "info" if bad else "same"
        text = ("✗ differs" if fatal else "differs, not judged") if bad else "equal"
        yield Row(what, (cells[0], cells[1], cells[2], cells[3]), outcome, text)


def _figures(result: VerifyResult) -> Iterator[Row]:
    gpu = result.device.startswith("cuda")
    figures: list[tuple[str, Callable[[Mode], object], str]] = [
        ("graphs", lambda m: m.graphs, ""),
        ("graph breaks (sites)", lambda m: len(m.breaks), "breaks"),
        ("recompiles", lambda m: m.recompile_count, "recompiles"),
        ("host syncs" if gpu else "host syncs (predicted)", lambda m: m.sync_count, "syncs"),
        ("kernels" if gpu else "kernels (predicted)", _kernels, "kernels"),
        ("launches", lambda m: m.launches, ""),
        ("CUDA graphs launched", lambda m: m.graph_launches or None, ""),
        ("kernels replayed by them", lambda m: m.replayed or None, ""),
        ("memory operations", lambda m: m.memops, ""),
        ("GPU time", lambda m: _time(m.gpu_us), ""),
        ("wall time, one call", lambda m: _time(m.wall_us), "wall time"),
    ]
    for label, read, metric in figures:
        cells: list[str] = []
        for mode in MODES:
            for side in (result.before, result.after):
                measured = side.mode(mode)
                static = mode == "eager" and label in ("graphs", "graph breaks (sites)", "recompiles")
                value = None if measured is None or measured.exception or static else read(measured)
                cells.append("" if value is None else str(value))
        if not any(cells) or (metric == "kernels" and not counts_kernels(result.device, result.backend)):
            continue
        outcome, text = _outcome(result, metric)
        yield Row(label, (cells[0], cells[1], cells[2], cells[3]), outcome, text)


def _outcome(result: VerifyResult, metric: str) -> tuple[Outcome, str]:
    """The gravest outcome of a figure, and its mark: one for each mode where they differ."""
    found = [verdict for verdict in result.verdicts if verdict.metric == metric]
    order: tuple[Outcome, ...] = ("worse", "slower", "better", "info", "same")
    gravest = next((outcome for outcome in order if any(verdict.outcome == outcome for verdict in found)), order[3])
    marks = [(verdict.mode, _mark(verdict)) for verdict in found]
    if len({mark for _, mark in marks}) == 1:
        return gravest, marks[0][1]
    return gravest, ", ".join(f"{mode} {mark}" for mode, mark in marks if mark)


def _mark(verdict: Verdict) -> str:
    return "more" if is_more(verdict) else MARK[verdict.outcome]


def is_more(verdict: Verdict) -> bool:
    """More kernels, which is not judged: in eager code, or for a break or a sync that went."""
    return verdict.metric == "kernels" and verdict.outcome == "info"


def _kernels(mode: Mode) -> str | None:
    if mode.kernels is None:
        return None
    return str(mode.kernels)


def _time(us: float | None) -> str | None:
    if us is None:
        return None
    return f"{us:.0f} µs" if us < 1000 else f"{us / 1000:.2f} ms" if us < 1e6 else f"{us / 1e6:.2f} s"


def site_lines(result: VerifyResult) -> list[tuple[str, str]]:
    """Every site of a break, a recompilation or a sync, those before and then those after: (heading, line)."""
    lines: list[tuple[str, str]] = []
    for mode in reversed(MODES):
        one, two = result.before.mode(mode), result.after.mode(mode)
        if one is None or two is None:
            continue
        for side, measured in (("before", one), ("after ", two)):
            if measured.exception:
                at = f"{measured.exception_at}  " if measured.exception_at else ""
                lines.append((f"exceptions ({mode})", f"{side}  {at}{measured.exception} (call {measured.calls})"))
        both = (("graph breaks", one.breaks, two.breaks), ("recompiles", one.recompiles, two.recompiles))
        for what, old, new in (*both, ("host syncs", one.syncs or [], two.syncs or [])):
            heading = f"{what} ({mode})"
            lines += [(heading, f"before  {_site(site)}") for site in old]
            lines += [(heading, f"after   {_site(site)}") for site in new]
    return lines


KERNELS_SHOWN = 12


def kernel_lines(result: VerifyResult) -> list[tuple[str, str]]:
    """Kernels and memory operations by name, those that take the most time first: (heading, line)."""
    lines: list[tuple[str, str]] = []
    for mode in reversed(MODES):
        sides = [side.mode(mode) for side in (result.before, result.after)]
        for what in ("kernels", "memory operations"):
            for label, measured in zip(("before", "after "), sides, strict=True):
                if measured is None or (what == "kernels" and not counts_kernels(result.device, result.backend)):
                    continue
                counts = measured.kernel_names if what == "kernels" else measured.memop_names
                names = sorted(counts, key=lambda name: (-measured.kernel_us.get(name, 0.0), -counts[name], name))
                for name in names[:KERNELS_SHOWN]:
                    spent = f"  {_time(measured.kernel_us[name])}" if name in measured.kernel_us else ""
                    lines.append((f"{what} ({mode})", f"{label}  {_short(name)} \u00d7{counts[name]}{spent}"))
                if len(names) > KERNELS_SHOWN:
                    lines.append((f"{what} ({mode})", f"{label}  and {len(names) - KERNELS_SHOWN} other names"))
    return lines


def _short(name: str) -> str:
    """C++ names of templates go on for lines."""
    return name if len(name) <= 100 else name[:97] + "..."


def _site(site: Site) -> str:
    times = f" \u00d7{site.count}" if site.count > 1 else ""
    return f"{site.place}  {site.what}{times}" + (f" ({site.detail})" if site.detail else "")


def summary(result: VerifyResult) -> str:
    """One line: the outcome and what was compared."""
    after = result.after
    where = after.device_name or result.before.device_name or result.device
    version = f"torch {result.before.torch}, Python {result.before.python}, {where}"
    if result.ok:
        gains = sum(verdict.outcome == "better" for verdict in result.verdicts)
        more = [verdict.mode for verdict in result.verdicts if is_more(verdict)]
        cost = f", more kernels in {' and '.join(more)} code" if more else ""
        return f"equal results, nothing worse, {gains} figure{'s' if gains != 1 else ''} better{cost} ({version})"
    if result.unmeasured:
        return f"{result.unmeasured} ({version})"
    return f"{len(result.problems)} problem{'s' if len(result.problems) != 1 else ''} ({version})"


def notes(result: VerifyResult) -> list[str]:
    """What the reader must know to read the table."""
    lines = list(dict.fromkeys(note for side in (result.before, result.after) for note in side.notes))
    if result.after.compiled_by == "verify":
        lines.append(
            f"compiled: the whole target in torch.compile(backend={result.backend!r}); it compiles nothing itself"
        )
    elif result.after.compiled_by == "target":
        lines.append(
            "compiled: as the target itself calls torch.compile; eager: the same code with compilation switched off"
        )
    if result.before.compiled_by != result.after.compiled_by and not result.after.error:
        lines.append("one side calls torch.compile itself, the other does not: the whole target was compiled there")
    if not result.device.startswith("cuda"):
        kernels = (
            f"; kernels are Inductor's C++ kernels{_generated(result)} and the operators run outside of them"
            if counts_kernels(result.device, result.backend)
            else ""
        )
        lines.append(f"no GPU: host syncs are those that the calls would cause on one{kernels}")
    return lines


def _generated(result: VerifyResult) -> str:
    counts = [side.compiled.generated for side in (result.before, result.after) if side.compiled is not None]
    return f" ({counts[0]} generated before, {counts[1]} after)" if len(counts) == 2 and None not in counts else ""


def draw(result: VerifyResult, console: Console, *, sites: bool = True, kernels: bool = False) -> None:
    """Print the table, the sites, the kernels' names and the outcome."""
    from rich.markup import escape as escape_markup
    from rich.table import Table

    def plain(text: str) -> str:
        return escape_markup(escape(text))

    table = Table(
        title=f"{plain(result.before.label)} against {plain(result.after.label)}: {plain(result.target)}",
        title_justify="left",
    )
    table.add_column("")
    for head in HEADS:
        table.add_column(head, justify="right")
    table.add_column("")
    for row in rows(result):
        style = STYLE["note"] if row.verdict == "differs, not judged" else STYLE[row.outcome]
        table.add_row(row.label, *row.cells, f"[{style}]{row.verdict}[/]" if style else row.verdict)
    if table.row_count:
        console.print(table)
    if sites:
        heading = ""
        for name, line in [*site_lines(result), *(kernel_lines(result) if kernels else ())]:
            if name != heading:
                console.print(f"[bold]{name}[/]")
                heading = name
            console.print("  " + plain(line), soft_wrap=True, highlight=False)
    for note in notes(result):
        console.print(f"[dim]note: {plain(note)}[/]", soft_wrap=True, highlight=False)
    for problem in result.problems:
        if problem == result.unmeasured:
            continue  # the summary says it
        console.print(f"[bold red]✗[/] {plain(problem)}", soft_wrap=True, highlight=False)
    style = "bold green" if result.ok else "bold red"
    console.print(f"[{style}]{plain(summary(result))}[/]", soft_wrap=True, highlight=False)


def text(result: VerifyResult, *, color: bool = False, width: int | None = None, kernels: bool = False) -> str:
    """What `draw` prints, as a string; wide enough for the table where no width is asked for."""
    import io
    import shutil

    from rich.console import Console

    columns = width or max(shutil.get_terminal_size((120, 24)).columns, 100)
    buffer = io.StringIO()
    console = Console(file=buffer, force_terminal=color, no_color=not color, width=columns, highlight=False)
    draw(result, console, kernels=kernels)
    return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())


def markdown(result: VerifyResult) -> str:
    """The table for a README, with the outcome and the notes below."""
    head = " | ".join(["", *HEADS, ""])
    lines = [f"| {head} |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    lines += [f"| {row.label} | {' | '.join(row.cells)} | {row.verdict} |" for row in rows(result)]
    lines += ["", summary(result) + "."]
    lines += [f"- {problem}" for problem in result.problems if problem != result.unmeasured]
    heading = ""
    for name, line in site_lines(result):
        if name != heading:
            lines += ["", f"{name}:", ""]
            heading = name
        lines.append(f"- {line}")
    if found := notes(result):
        lines += ["", *(f"- {note}" for note in found)]
    return "\n".join(lines) + "\n"
