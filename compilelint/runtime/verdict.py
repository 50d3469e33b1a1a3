"""Better, same or worse: judges the figures of the two sides."""

from __future__ import annotations

from compilelint.runtime.results import MODES, Mode, ModeName, Outcome, Side, Verdict

# a call is told to be faster or slower only where the quartiles are this far apart; timings are noisy, and never fail
APART = 1.2


def counts_kernels(device: str, backend: str) -> bool:
    """Whether kernels tell anything: on a CPU, the `eager` backend makes none, and what was counted are operators."""
    return device.startswith("cuda") or backend != "eager"


def judge(before: Side, after: Side) -> list[Verdict]:
    """One verdict a figure and mode. More kernels are worse only in compiled code, and only if they bought nothing: a
    rewrite that removes a break or a sync may compute a little more."""
    verdicts: list[Verdict] = []
    for mode in MODES:
        one, two = before.mode(mode), after.mode(mode)
        if one is None or two is None or one.exception or two.exception:
            continue
        found = [_figure(mode, "syncs", one.sync_count, two.sync_count)]
        if mode == "compiled":
            found += [
                _figure(mode, "breaks", len(one.breaks), len(two.breaks)),
                _figure(mode, "recompiles", one.recompile_count, two.recompile_count),
            ]
        bought = any(verdict is not None and verdict.outcome == "better" for verdict in found)
        found.append(_launched(mode, one, two, bought))
        found.append(_wall(mode, one, two))
        verdicts += [verdict for verdict in found if verdict is not None]
    return verdicts


def _figure(mode: ModeName, name: str, old: int | None, new: int | None) -> Verdict | None:
    if old is None or new is None:
        return None
    outcome: Outcome = "same" if old == new else "better" if new < old else "worse"
    return Verdict(mode, name, outcome, f"{name}: {old} → {new}")


def _launched(mode: ModeName, one: Mode, two: Mode, bought: bool) -> Verdict | None:
    """Kernels and memory operations together: both are work the host must launch."""
    if one.kernels is None or two.kernels is None:
        return None
    verdict = _figure(mode, "kernels", one.kernels + (one.memops or 0), two.kernels + (two.memops or 0))
    if verdict is not None and verdict.outcome == "worse" and (bought or mode == "eager"):
        verdict.outcome = "info"
    return verdict


def _wall(mode: ModeName, one: Mode, two: Mode) -> Verdict | None:
    if one.wall_us is None or two.wall_us is None:
        return None
    old, new = one.wall_range_us, two.wall_range_us
    outcome: Outcome = "info"
    if old and new and new[0] > APART * old[1]:
        outcome = "slower"
    elif old and new and APART * new[1] < old[0]:
        outcome = "better"
    return Verdict(mode, "wall time", outcome, f"wall time: {one.wall_us:.0f} µs → {two.wall_us:.0f} µs")
