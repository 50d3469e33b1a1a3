"""What is fuzzed: each target takes bytes and raises Failed, or what went wrong, where a promise is broken."""

from __future__ import annotations

import ast
import dataclasses
import json
import warnings
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from compilelint import api
from compilelint.config import Compiled, Settings
from compilelint.errors import UsageProblem
from compilelint.registry import UNREADABLE_FILE
from compilelint.source.project import SourceError, decode, parse

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "html")
COMPILED: tuple[Compiled, ...] = get_args(Compiled)


class Failed(Exception):
    """A promise that was not kept; the first line says which."""


def source(data: bytes, name: str = "fuzzed.py") -> None:
    """check → reports → fix to its end, twice → comments that ignore what is found. All in the current folder."""
    path, choice = Path(name), zlib.crc32(data)
    compiled = COMPILED[choice % len(COMPILED)]
    settings = dataclasses.replace(Settings(), compiled=compiled, unsafe_fixes=bool(choice & 64))
    before = readable(data, path)
    path.write_bytes(data)
    result = api.check([path], settings)
    no_errors("check", result.errors, result.problems)
    if (before is None) != any(finding.code == UNREADABLE_FILE for finding in result.findings):
        raise Failed("check does not say whether the file can be read")
    for form in FORMATS:
        api.render(result, form)  # type: ignore[arg-type]
    if before is None:
        return
    run = api.fix([path], settings, apply=True)
    no_errors("fix", run.errors, run.problems, run.result.problems)
    after = readable(path.read_bytes(), path)
    if after is None:
        raise Failed("fix: the result can't be read")
    if run.result.changed:
        again = api.fix([path], settings)
        no_errors("second fix", again.errors, again.problems, again.result.problems)
        if again.result.changed:
            raise Failed(f"fix: a second run changes it again\n{again.result.diff}")
    elif path.read_bytes() != data:
        raise Failed("fix: writes what it does not tell")
    ignored(path, data, before, settings)


def ignored(path: Path, data: bytes, before: ast.Module, settings: Settings) -> None:
    """Comments suppress what is found, and change nothing else."""
    path.write_bytes(data)
    try:
        result, number, left = api.add_ignores([path], settings)
    except UsageProblem:
        if path.read_bytes() != data:
            raise Failed("ignore: refused, and written all the same") from None
        return
    no_errors("ignore", result.errors, result.problems)
    after = readable(path.read_bytes(), path)
    if after is None or ast.dump(after) != ast.dump(before):
        raise Failed("ignore: the comments change the program")
    found = [f for f in api.check([path], settings).findings if f.code not in ("CL001", UNREADABLE_FILE)]
    if number and len(found) > len(left):
        raise Failed(f"ignore: still found: {found[0].code} line {found[0].span.line}")


def readable(data: bytes, path: Path) -> ast.Module | None:
    try:
        return parse(decode(data, path), str(path))
    except SourceError:
        return None


def notebook(data: bytes) -> None:
    """A notebook is checked and fixed as a source; all but the sources of its cells stays."""
    source(data, "fuzzed.ipynb")
    try:
        old = without_sources(data)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        return
    path = Path("fuzzed.ipynb")
    path.write_bytes(data)
    api.fix([path], dataclasses.replace(Settings(), unsafe_fixes=True), apply=True)
    if without_sources(path.read_bytes()) != old:
        raise Failed("notebook: more changes than its cells")


def without_sources(data: bytes) -> Any:
    whole = json.loads(data.decode("utf-8-sig"))
    for cell in whole["cells"]:
        del cell["source"]
    return whole


def config(data: bytes) -> None:
    """Settings are read, or refused with a message; with those that are read a check runs, or is refused."""
    path = Path("pyproject.toml")
    path.write_bytes(data)
    sample = Path("sample.py")
    sample.write_text(
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.item()\n", encoding="utf-8"
    )
    try:
        settings = dataclasses.replace(api.load_settings(), jobs=1)
        result = api.check([sample], settings)
    except UsageProblem:
        return
    finally:
        path.unlink()
    no_errors("check", result.errors)


def no_errors(what: str, errors: Iterable[Any], *problems: Iterable[str]) -> None:
    for error in errors:
        raise Failed(f"{what}: {error.message}\nrule {error.rule or '-'}, function {error.function}\n{error.traceback}")
    for group in problems:
        for problem in group:
            raise Failed(f"{what}: {problem}")


TARGETS = {"source": source, "notebook": notebook, "config": config}
warnings.simplefilter("ignore")
