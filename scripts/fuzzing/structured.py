"""Changes notebooks and configurations: mostly they stay JSON and TOML."""

from __future__ import annotations

import json
import random
from typing import Any

from fuzzing.mutate import Mutator

ODD: tuple[Any, ...] = (
    None,
    0,
    -1,
    1e308,
    True,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    {"cells": []},
    ["a", 1],
    "%%bash\n",
    "\f",
)
MAGICS = (
    "%time",
    "!ls",
    "x = %sql a",
    "torch?",
    "??x",
    "%%time",
    "%%html",
    "!echo \\",
    "_#me",
    "%",
    "!",
    "\\",
    "\f",
    "x = !a",
)
KEYS = (
    "select ignore torch python compiled exclude per-file-ignores severity jobs roots follow-imports "
    "unsafe-fixes plugins force-exclude respect-gitignore baseline cache base source local-rules selec x"
).split()
VALUES = (
    '"" "CL1" "CL101" "ALL" "x" "all" "modules" "2.13" "2.99" "3.12" "note" "." "/" "a:b" ":" "m:f" "[z-a]" "**" "!" '
    '"\\u0000" "é😀" [] ["CL101"] ["CL9"] [1] [[]] {} {"**"=["CL1"]} {"["=[]} {""=[""]} {a=1} 0 1 -1 1.5 nan inf true '
    "false 1979-05-27 99999999999999999999 [true] '''x'''"
).split(" ")


def change_notebook(data: bytes, texts: Mutator, rng: random.Random) -> bytes:
    """Changes a cell's code most often, else the form, or the bytes."""
    try:
        whole = json.loads(data.decode("utf-8-sig"))
        cells = whole["cells"]
        cell = rng.choice(cells)
        source = cell["source"]
        text = source if isinstance(source, str) else "".join(source)
        match rng.randrange(14):
            case 0:
                cells.insert(rng.randrange(len(cells) + 1), dict(cell))
            case 1:
                cells.remove(cell)
            case 2:
                cell[rng.choice(list(cell))] = rng.choice(ODD)
            case 3:
                whole[rng.choice(list(whole))] = rng.choice(ODD)
            case 4:
                cell["cell_type"] = rng.choice(("code", "markdown", "raw"))
            case 5 | 6:
                lines = text.split("\n")
                lines.insert(rng.randrange(len(lines) + 1), rng.choice(MAGICS))
                text = "\n".join(lines)
                cell["source"] = text
            case 7:
                cell["source"] = text.splitlines(keepends=True)
            case 8:
                cell["source"] = [text[: len(text) // 2], text[len(text) // 2 :], ""]
            case 9:
                return _noise(data, rng)
            case _:
                cell["source"] = texts(text, rng)
        form = rng.choice(({}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": "\t"}))
        return json.dumps(whole, **form).encode("utf-8", "replace")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return _noise(data, rng)


def change_config(data: bytes, rng: random.Random) -> bytes:
    """Adds, drops and changes lines."""
    lines = data.decode("utf-8", "replace").split("\n")
    at = rng.randrange(len(lines) + 1)
    match rng.randrange(8):
        case 0:
            return _noise(data, rng)
        case 1:
            del lines[at:][:1]
        case 2:
            lines.insert(at, rng.choice(("[tool.compilelint.per-file-ignores]", "[tool]", "[x]", "[tool.compilelint]")))
        case 3 if lines[at:]:
            key = lines[at].partition("=")[0]
            lines[at] = f"{key}= {rng.choice(VALUES)}"
        case _:
            lines.insert(min(at, 1) or 1, f"{rng.choice(KEYS)} = {rng.choice(VALUES)}")
    return "\n".join(lines).encode()


def _noise(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    new = rng.choice(
        (b"", b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\n", b"1", b"\\ud800")
    )
    return data[:at] + new + data[at + rng.randrange(3) :]
