"""An explanation as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from compilelint.escaping import escape
from compilelint.explain import Context, Explanation, Verdict, steps_once
from compilelint.finding import REGION_NAMES

MAX_CALLERS = 5


def text(explanation: Explanation) -> str:
    """For people: a block for each context."""
    blocks = ["\n".join(_context(context, explanation)) for context in explanation.contexts]
    blocks += ["\n".join(f"note: {note}" for note in explanation.notes)] if explanation.notes else []
    place = f"{explanation.path}:{explanation.line}:{explanation.column}"
    return escape("\n\n".join([place, *blocks]), keep="\n") + "\n"


def _context(context: Context, explanation: Explanation) -> list[str]:
    region = context.region
    root = f", reached from `{region.root}`" if region.root not in ("", context.function) else ""
    lines = [f"in `{context.function}`: {REGION_NAMES[region.kind]}: it {region.why}{root}"]
    if context.callers:
        shown = ", ".join(f"{path}:{line}" for path, line in context.callers[:MAX_CALLERS])
        lines.append(f"  as called at {shown}" + (", …" if len(context.callers) > MAX_CALLERS else ""))
    elif context.arguments:
        lines.append("  on its own: parameters as they are annotated, or used")
    lines += [f"    {name}: {value}" for name, value in context.arguments.items()]
    for belief, steps in steps_once(context.beliefs):
        lines.append(f"  `{belief.text}` is {belief.value}")
        for step in steps:
            place = f"line {step.line}" if step.path == explanation.path else f"{step.path}:{step.line}"
            lines.append(f"    {place}: {step.text}")
        if belief.targets:
            named = " and of ".join(f"`{target}`" for target in belief.targets)
            lines.append(f"    is told to rules as a call of {named}")
    if not context.beliefs:
        lines.append("  is not evaluated: it can't be reached here, or only when its value is asked for")
    lines += [f"  {_verdict(verdict)}" for verdict in context.verdicts]
    if not context.verdicts and context.beliefs:
        lines.append("  no rule reported anything here")
    return lines


def _verdict(verdict: Verdict) -> str:
    name = f"{verdict.code} ({verdict.name})"
    if verdict.why:
        return f"{name} was dropped: {verdict.why}"
    return f"{name} is reported: {', '.join(verdict.effects)}: {verdict.message}"


def as_json(explanation: Explanation, version: str, torch: str) -> str:
    """For programs: one object."""
    return json.dumps({"version": 1, "compilelint": version, "torch": torch} | asdict(explanation), indent=2) + "\n"
