"""The reports of a check. They know findings, and of the run what `Run` tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from compilelint.finding import Finding
from compilelint.report.run import RuleDoc, Run

__all__ = ["RuleDoc", "Run", "writer"]

Writer = Callable[[Sequence[Finding], Run], str]


def writer(form: str) -> Writer:
    """What writes a report of that form."""
    write: Writer = import_module(f"compilelint.report.{'check_html' if form == 'html' else form}").write
    return write
