"""Steps behind a call: a loop whose rounds call `train_step(batch)` is a step loop as one that trains itself is."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from compilelint.engine.events import RARE, own_loop
from compilelint.engine.summary import Edge, Summary


def mark(summaries: Sequence[Summary]) -> None:
    """Flag the loops that run a module, or train, by way of functions that do so outside any loop of their own.

    A function that loops over the steps itself (`train_one_epoch`) makes no step of the loop around its call.
    """
    callers: dict[Summary, list[tuple[Summary, Edge]]] = defaultdict(list)
    for summary in summaries:
        for edge in summary.edges:
            if not RARE & edge.site.gates:
                callers[edge.callee].append((summary, edge))
    waiting = deque(summary for summary in summaries if summary.body.is_step)
    while waiting:
        callee = waiting.popleft()
        for caller, edge in callers[callee]:
            inside = own_loop(edge.site.loops)
            body = caller.body if inside is None else inside
            before = body.trains, body.calls_module
            body.trains |= callee.body.trains
            body.calls_module |= callee.body.calls_module
            if inside is None and before != (body.trains, body.calls_module):
                waiting.append(caller)
