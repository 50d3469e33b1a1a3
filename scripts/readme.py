"""Writes the parts of README.md that are made from the code: the table of rules, and what was measured on a GPU.

    python scripts/readme.py

tests/test_readme.py fails when README.md is not what this writes.
"""

from __future__ import annotations

import re
from pathlib import Path

from compilelint import registry

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MEASURED = ROOT / "benchmarks" / "results" / "verify_h200.md"
NOT_MEASURED = "There is no measurement on a GPU in this repository yet. `python benchmarks/verify_gpu.py` makes one.\n"


def rules_table() -> str:
    """Every rule: code, name, effects, fix, and what it finds."""
    lines = ["| code | name | effects | fix | what it finds |", "| --- | --- | --- | --- | --- |"]
    for rule in registry.all_rules():
        fix = rule.fixable.value if rule.fixable else ""
        summary = registry.summary(rule).replace("|", "\\|")
        lines.append(f"| {rule.code} | {rule.name} | {', '.join(rule.effects)} | {fix} | {summary} |")
    return "\n".join(lines) + "\n"


def verify_table() -> str:
    """What benchmarks/verify_gpu.py left, without its heading."""
    if not MEASURED.is_file():
        return NOT_MEASURED
    return re.sub(r"\A# .*\n+", "", MEASURED.read_text(encoding="utf-8")).strip() + "\n"


PARTS = {"rules": rules_table, "verify-table": verify_table}


def refreshed(text: str) -> str:
    """The text with each `<!-- NAME:begin -->` … `<!-- NAME:end -->` filled in."""
    for name, make in PARTS.items():
        pattern = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        if not pattern.search(text):
            raise SystemExit(f"{README.name} has no markers `{name}`")
        body = make()
        text = pattern.sub(lambda match, body=body: f"{match[1]}\n{body}\n{match[2]}", text)
    return text


if __name__ == "__main__":
    README.write_text(refreshed(README.read_text(encoding="utf-8")), encoding="utf-8")
