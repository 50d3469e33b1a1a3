"""The reports of a check. They know findings, and of the run what `Run` tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compilelint.finding import Finding
from compilelint.report.check_html import write as _html
from compilelint.report.concise import write as _concise
from compilelint.report.github import write as _github
from compilelint.report.gitlab import write as _gitlab
from compilelint.report.json import write as _json
from compilelint.report.junit import write as _junit
from compilelint.report.run import RuleDoc, Run
from compilelint.report.sarif import write as _sarif
from compilelint.report.text import write as _text

__all__ = ["WRITERS", "RuleDoc", "Run"]

WRITERS: dict[str, Callable[[Sequence[Finding], Run], str]] = {
    "text": _text,
    "concise": _concise,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
    "html": _html,
}
