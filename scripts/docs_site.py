"""The pages of the documentation site that are made from the code, the tables and the figures: a hook of mkdocs.

`rules/CLNNN.md` from the rules' docstrings and fixtures, `graph-breaks/` from the tables of torch releases, `results/`
from benchmarks/results, the first page from README.md. See mkdocs.yml.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from compilelint import registry
from compilelint.config import show_version
from compilelint.models import tables
from compilelint.sdk import Rule

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
UPSTREAM = "https://meta-pytorch.org/compile-graph-break-site/gb/{}.html"
MOVED = {
    "docs/": "",
    "../benchmarks/results/": "results/",
    "benchmarks/results/": "results/",
    "../CONTRIBUTING.md": "contributing.md",
    "CONTRIBUTING.md": "contributing.md",
    "../SECURITY.md": "security.md",
    "SECURITY.md": "security.md",
    "README.md": "index.md",
}
LONGEST_DIFF = 120


def on_files(files: Files, config: MkDocsConfig) -> Files:
    pages = {
        "index.md": (ROOT / "README.md").read_text(encoding="utf-8"),
        "contributing.md": (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        "security.md": (ROOT / "SECURITY.md").read_text(encoding="utf-8"),
        **dict(rule_pages()),
        **dict(break_pages()),
        **dict(result_pages()),
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links of the repository's own files, as they are on the site."""
    if page.file.src_uri.count("/"):
        return markdown

    def moved(match: re.Match[str]) -> str:
        target = match[1]
        for old, new in MOVED.items():
            if target.startswith(old):
                return f"]({new}{target.removeprefix(old)})"
        return match[0]

    return re.sub(r"\]\(([^)\s]+)\)", moved, markdown)


def rule_pages() -> Iterator[tuple[str, str]]:
    lines = ["# Rules", "", "| code | name | effects | fix | what it finds |", "| --- | --- | --- | --- | --- |"]
    for rule in registry.all_rules():
        yield f"rules/{rule.code}.md", rule_page(rule)
        fix = rule.fixable.value if rule.fixable else ""
        summary = _cell(registry.summary(rule))
        lines.append(f"| [{rule.code}]({rule.code}.md) | {rule.name} | {', '.join(rule.effects)} | {fix} | {summary} |")
    yield "rules/index.md", "\n".join(lines) + "\n"


def rule_page(rule: Rule) -> str:
    """The rule's own text, then what Dynamo says, a rewrite, and what it changed on a GPU."""
    effects = ", ".join(rule.effects) or "none: about the tool itself"
    fix = f"{rule.fixable.value} fix" if rule.fixable else "no fix"
    body = re.sub(r"<(https?://[^>\s]+)>|(?<![(\[`<])(https?://[^\s)]+)", r"<\1\2>", rule.documentation.strip())
    title, _, rest = body.partition("\n")
    parts = [f"# {rule.code}: {rule.name}", f"*Effects: {effects}. {fix[0].upper()}{fix[1:]}.*", title, rest.strip()]
    if said := list(dynamo_rows(rule)):
        head = "| graph break | " + " | ".join(f"torch {show_version(v)}" for v in tables.available()) + " |"
        parts += ["## What Dynamo says", "\n".join([head, "| --- " * (len(tables.available()) + 1) + "|", *said])]
    for stem, diff in rewrites(rule):
        cut = diff[:LONGEST_DIFF] + (["…"] if len(diff) > LONGEST_DIFF else [])
        parts += [
            f'??? example "`fixtures/{stem}.py`, rewritten"',
            "\n".join(f"    {x}" for x in ["```diff", *cut, "```"]),
        ]
    if measured := effect_rows(rule):
        parts += ["## Measured", *measured]
    return "\n\n".join(parts) + "\n"


def dynamo_rows(rule: Rule) -> Iterator[str]:
    """For each graph-break type of the rule, its id in each release."""
    for kind in rule.gb_types:
        ids = [_ids(version).get(kind) for version in tables.available()]
        if any(ids):
            cells = [f"[{each}](../graph-breaks/{each}.md)" if each else "not known" for each in ids]
            yield f"| {_cell(kind)} | {' | '.join(cells)} |"


def rewrites(rule: Rule) -> Iterator[tuple[str, list[str]]]:
    for fixed in sorted((ROOT / "fixtures").glob(f"{rule.code.lower()}_*.fixed.py")):
        stem = fixed.name.removesuffix(".fixed.py")
        before, after = (
            _without_marks(path.read_text(encoding="utf-8")) for path in (fixed.with_name(f"{stem}.py"), fixed)
        )
        yield stem, [line.rstrip("\n") for line in difflib.unified_diff(before, after, "before", "after", n=2)]


def effect_rows(rule: Rule) -> list[str]:
    """What benchmarks/rule_effects.py measured, if it was run."""
    data = _effects()
    found = [each for each in data.get("effects", ()) if each["rule"] == rule.code and "error" not in each]
    if not found:
        return []
    lines = ["| fixture | kernels | memory operations | host syncs | graph breaks |", "| --- | --- | --- | --- | --- |"]
    for each in found:
        cells = [
            "" if each["before"][name] is None else f"{each['before'][name]} → {each['after'][name]}"
            for name in ("kernels", "memops", "syncs", "breaks")
        ]
        lines.append(f"| {each['fixture']} ({each['how']}) | {' | '.join(cells)} |")
    said = (
        f"All cases of the fixture, before → after the fix, on {data['device']}, torch {data['torch']}, {data['date']}."
    )
    return [said, "\n".join(lines)]


def break_pages() -> Iterator[tuple[str, str]]:
    """A page for each id of PyTorch's registry of graph breaks."""
    by_rule: dict[str, list[Rule]] = {}
    for rule in registry.all_rules():
        for kind in rule.gb_types:
            by_rule.setdefault(kind, []).append(rule)
    known: dict[str, dict[str, str]] = {}
    seen: dict[str, list[str]] = {}
    for version in tables.available():
        for number, entry in tables.load(version).data["gb_registry"].items():
            known[number] = entry
            seen.setdefault(number, []).append(show_version(version))
    lines = [
        "# Graph breaks",
        "",
        "PyTorch's own names of graph breaks, the rules that find them, and the releases that have them.",
        "",
        "| id | type | rules | torch |",
        "| --- | --- | --- | --- |",
    ]
    for number, entry in sorted(known.items()):
        rules = by_rule.get(entry["type"], [])
        links = ", ".join(f"[{rule.code}](../rules/{rule.code}.md)" for rule in rules)
        lines.append(f"| [{number}]({number}.md) | {_cell(entry['type'])} | {links} | {', '.join(seen[number])} |")
        found = "\n".join(f"- [{r.code} {r.name}](../rules/{r.code}.md): {registry.summary(r)}" for r in rules)
        text = f"# {number}: {_plain(entry['type'])}\n\n{_plain(entry['explanation'])}\n\n"
        text += f"Known to torch {', '.join(seen[number])}. [PyTorch's page]({UPSTREAM.format(number.lower())}).\n\n"
        yield f"graph-breaks/{number}.md", text + f"## Rules\n\n{found or 'No rule finds it from source yet.'}\n"
    yield "graph-breaks/index.md", "\n".join(lines) + "\n"


def result_pages() -> Iterator[tuple[str, str]]:
    lines = ["# Figures", "", "What `benchmarks/` measured, as its scripts wrote it.", ""]
    for path in sorted(RESULTS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].lstrip("# ")
        lines.append(f"- [{title}]({path.name})")
        yield f"results/{path.name}", text
    yield "results/index.md", "\n".join(lines) + "\n"


@cache
def _ids(version: tables.Version) -> dict[str, str]:
    return {entry["type"]: number for number, entry in sorted(tables.load(version).data["gb_registry"].items())}


@cache
def _effects() -> dict[str, Any]:
    path = RESULTS / "rule_effects_h200.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _without_marks(text: str) -> list[str]:
    return re.sub(r" *# (?:expect|reads).*", "", text).splitlines(keepends=True)


def _plain(text: str) -> str:
    """Text of others, which may hold anything, as Markdown that shows it."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|") if "`" in text else _plain(text)
