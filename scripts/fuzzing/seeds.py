"""What fuzzing starts from: the fixtures, the rules' examples and the sample, each definition in a file of its own."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADER = "import torch\nfrom torch import nn\n"
MAX_SEED = 6_000


def sources() -> list[str]:
    """Programs, small ones first."""
    found: dict[str, None] = {}
    for path in sorted([*(ROOT / "fixtures").glob("*.py"), *(ROOT / "compilelint" / "sample").glob("*.py")]):
        for text in parts(path.read_text(encoding="utf-8")):
            found[text] = None
    for path in sorted((ROOT / "rules").glob("cl*.py")):
        for text in examples(path.read_text(encoding="utf-8")):
            found[text] = None
    return sorted((text for text in found if len(text) < MAX_SEED), key=len)


def parts(text: str) -> Iterator[str]:
    """Each definition of a file, below the imports and the other definitions that it names."""
    tree, lines = ast.parse(text), text.splitlines(keepends=True)

    def source(node: ast.stmt) -> str:
        decorators = getattr(node, "decorator_list", [])
        return "".join(lines[min([node.lineno, *(d.lineno for d in decorators)]) - 1 : node.end_lineno])

    imports = "".join(source(n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom))
    named = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        used = [n for name, n in named.items() if name in names and n is not node]
        yield imports + "\n\n" + "\n\n".join(source(n) for n in [*used, node])


def examples(text: str) -> Iterator[str]:
    """The indented blocks of a rule's docstring that are Python, as a function's body and as they stand."""
    for block in re.findall(r"(?:^    .*\n|^\n)+", ast.get_docstring(ast.parse(text)) or "", re.MULTILINE):
        code = textwrap.dedent(block).strip("\n") + "\n"
        inside = f"{HEADER}\n\n@torch.compile\ndef f(x: torch.Tensor, model: nn.Module, loader, n: int):\n"
        for whole in (f"{HEADER}\n{code}", inside + textwrap.indent(code, "    ")):
            try:
                ast.parse(whole)
            except SyntaxError:
                continue
            yield whole


def notebooks() -> list[bytes]:
    """Notebooks of these programs, in the forms that the JSON may have."""
    import json

    made = []
    for number, text in enumerate(sources()[::7]):
        cells = [cell for cell in text.split("\n\n") if cell.strip()]
        if number % 3 == 0:
            cells[1:1] = ["%matplotlib inline", "%%bash\nls", "!pip install torch\nx = !ls\ntorch?"]
        whole = {
            "cells": [
                {"cell_type": "code", "metadata": {}, "source": cell.splitlines(keepends=True) if number % 2 else cell}
                for cell in cells
            ],
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        made.append(json.dumps(whole, indent=number % 4 or None, ensure_ascii=bool(number % 2)).encode())
    return made


def configs() -> list[bytes]:
    """Configurations with every key."""
    return [
        b"[tool.compilelint]\n",
        b'[tool.compilelint]\nselect = ["CL1"]\nignore = ["CL204"]\ntorch = "2.11"\n'
        b'python = "3.12"\ncompiled = "all"\n',
        b'[tool.compilelint]\nexclude = ["a/*.py", "!b"]\nseverity = "warning"\njobs = 1\nroots = ["m:f"]\n'
        b'[tool.compilelint.per-file-ignores]\n"tests/**" = ["CL2"]\n',
        b'[tool.compilelint]\nfollow-imports = ["numpy"]\nunsafe-fixes = true\nforce-exclude = true\n'
        b'respect-gitignore = false\nbaseline = "b.json"\nplugins = []\nlocal-rules = []\n',
    ]
