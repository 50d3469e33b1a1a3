"""Notebooks: checked and fixed by cells, with every byte kept that a fix doesn't change."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compilelint import api
from compilelint.config import Settings
from compilelint.errors import NotebookError
from compilelint.source.notebook import pages, place, read

IMPORTS = "%matplotlib inline\nimport torch\n!pip install -q x"
NET = """\
@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if torch.isnan(x).any():  # é
        x = torch.nan_to_num(x)
    return x
"""
OUTPUT = {"output_type": "stream", "name": "stdout", "text": ["torch \u2028 if x: \\n\f\n"]}


def cell(source: str, kind: str = "code", *, lines: bool = True) -> dict[str, Any]:
    said: Any = source.splitlines(keepends=True) if lines else source
    more = {"execution_count": 7, "outputs": [OUTPUT]} if kind == "code" else {}
    return {"cell_type": kind, "id": "ab", "metadata": {"tags": []}, **more, "source": said}


def notebook(*cells: dict[str, Any], language: str = "python", **layout: Any) -> bytes:
    metadata = {"kernelspec": {"name": "k", "language": language}}
    whole = {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(whole, **{"indent": 1, "ensure_ascii": False, **layout}) + "\n").encode()


def fixed(tmp_path: Path, data: bytes) -> bytes:
    path = tmp_path / "n.ipynb"
    path.write_bytes(data)
    run = api.fix([path], Settings(unsafe_fixes=True), apply=True)
    assert not run.errors and not run.result.problems
    return path.read_bytes()


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("layout", [{}, {"ensure_ascii": True}, {"indent": None}, {"indent": "\t"}])
def test_a_fix_changes_its_lines_alone(tmp_path: Path, lines: bool, layout: dict[str, Any]) -> None:
    cells = [cell("# About\n", "markdown"), cell(IMPORTS), cell(NET, lines=lines), cell("%time f(x)\nf?")]
    before = notebook(*cells, **layout)
    branch = "    if torch.isnan(x).any():  # é\n        x = torch.nan_to_num(x)\n"
    chosen = "    # é\n    x = torch.where(torch.isnan(x).any(), torch.nan_to_num(x), x)\n"
    cells[2] = cell(NET.replace(branch, chosen), lines=lines)
    after = fixed(tmp_path, before)
    assert after == notebook(*cells, **layout) != before
    assert fixed(tmp_path, after) == after


def test_windows_line_ends_and_a_byte_order_mark_stay(tmp_path: Path) -> None:
    before = b"\xef\xbb\xbf" + notebook(cell("import torch"), cell(NET)).replace(b"\n", b"\r\n")
    after = fixed(tmp_path, before)
    assert after.startswith(b"\xef\xbb\xbf{\r\n") and b"torch.where" in after
    assert after.count(b"\r\n") == after.count(b"\n") == before.count(b"\n")


def test_places_are_told_by_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "n.ipynb"
    path.write_bytes(notebook(cell("# About", "markdown"), cell(IMPORTS), cell(NET)))
    result = api.check([tmp_path], Settings())
    (finding,) = json.loads(api.render(result, "json"))["findings"]
    assert (finding["path"], finding["cell"], finding["line"], finding["column"]) == ("n.ipynb", 3, 3, 8)
    assert finding["end_line"] == 3 and {(step["cell"], step["line"]) for step in finding["trace"]} <= {(3, 2), (3, 3)}
    assert api.render(result, "concise").startswith("n.ipynb:cell 3:3:8: CL102 ")
    text = api.render(result, "text")
    assert " --> n.ipynb:cell 3:3:8\n" in text and "\n3 |     if torch.isnan(x).any():  # é\n" in text
    on_disk = path.read_text(encoding="utf-8").split("\n").index('    "    if torch.isnan(x).any():  # é\\n",') + 1
    assert f"file=n.ipynb,line={on_disk},endLine={on_disk}::" in api.render(result, "github")
    sarif = json.loads(api.render(result, "sarif"))["runs"][0]["results"][0]
    assert sarif["locations"][0]["physicalLocation"]["region"] == {"startLine": on_disk, "endLine": on_disk}
    run = api.fix([path], Settings(unsafe_fixes=True))
    assert run.result.diff.startswith("--- a/n.ipynb:cell 3\n+++ b/n.ipynb:cell 3\n@@ -1,6 +1,6 @@ CL102 ")


def test_what_no_cell_can_take_is_refused(tmp_path: Path) -> None:
    """A rewrite of lines between which one for IPython stands."""
    body = "    if torch.isnan(x).any():\n        %time x = torch.nan_to_num(x)\n        x = torch.nan_to_num(x)"
    before = notebook(cell("import torch"), cell(f"def f(x: torch.Tensor):\n{body}\n    return x\ntorch.compile(f)"))
    assert fixed(tmp_path, before) == before


def test_a_package_beside_is_imported_not_the_notebook(tmp_path: Path) -> None:
    (tmp_path / "net.ipynb").write_bytes(notebook(cell("import torch\ndef f(x):\n    return 1")))
    (tmp_path / "net.py").write_text("import torch\n\n\ndef f(x):\n    return torch.relu(x)\n")
    (tmp_path / "use.py").write_text(
        "import torch\nfrom net import f\n\n\n@torch.compile\ndef g(x: torch.Tensor):\n    return 1 if f(x) else 2\n"
    )
    assert [f.code for f in api.check([tmp_path], Settings()).findings] == ["CL101"]


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("%time x\n!ls\nx?", "_#ime x\n_#s\n_#"),
        ("if x:\n    %time y", "if x:\n    _#ime y"),
        ("a = !ls\nb, c = %x\n?y\n%%time", "a = _#s\nb, c = _#\n_#\n_#time"),
        ("x = (a\n     % b)\ns = '''\n%x\n!y?\n'''", "x = (a\n     % b)\ns = '''\n%x\n!y?\n'''"),
        ("x = a \\\n% b\nd['a=%s'] = 3", "x = a \\\n% b\nd['a=%s'] = 3"),
        ("!pip install \\\n  a \\\n\nx = 1", "_#ip install \\\n# a \\\n\nx = 1"),
        ("d['a'] = !ls\nd['a=%s'] = 3", "d['a'] = _#s\nd['a=%s'] = 3"),
        ("*int*?\n?", "_#nt*?\n_"),
        ("%%timeit -n 1\nf(x)", "_#timeit -n 1\nf(x)"),
        ("%%bash\nls", ""),
        ("%%writefile a.py\nimport torch", ""),
        ("'\f'", ""),
    ],
)
def test_lines_for_ipython(source: str, page: str) -> None:
    found = read(notebook(cell(source), cell("y"))).text
    assert pages(found) == [page, "y"]
    ast.parse(found)


@given(st.lists(st.tuples(st.sampled_from(["code", "markdown"]), st.sampled_from(["", "a", "a\n", "\n", "%x\nb\n"]))))
def test_pages_are_the_cells(cells: list[tuple[str, str]]) -> None:
    data = notebook(*(cell(source, kind) for kind, source in cells))
    book = read(data)
    assert book.with_text(book.text) == data.decode()
    lines = book.text.split("\n")
    for number, (kind, source) in enumerate(cells, 1):
        if kind == "code" and "a" in source:
            assert (number, 1) in {place(lines, line) for line, said in enumerate(lines, 1) if said == "a"}


def test_another_text_is_written_or_refused() -> None:
    book = read(notebook(cell("%a\nb\n!c", lines=False), cell("x", "markdown"), cell("")))
    assert json.loads(book.with_text("_#\nnew\n_#\n\f\n\f\n"))["cells"][0]["source"] == "%a\nnew\n!c"
    for text, message in (
        ("_#\nb\n\f\n\f\n", "a line for IPython"),
        (f"{book.text}\f\n", "join cells"),
        ("_#\nb\n_#\n\f\nx\n\f\n", "no Python"),
    ):
        with pytest.raises(NotebookError, match=message):
            book.with_text(text)


def test_other_languages_hold_no_python() -> None:
    assert read(notebook(cell("x <- 1"), language="R")).text == "\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"import torch", "Not a notebook: Expecting value"),
        (b'{"worksheets": []} torch', "Not a notebook"),
        (b'{"torch": 1}', "Not a notebook of format 4"),
        (b"torch\xff", "Not valid utf-8"),
        (notebook(cell("import torch"), cell("x = (")), "'(' was never closed"),
        (notebook(cell("import torch\nx = ["), cell("]")), "'[' was never closed"),
    ],
)
def test_what_is_no_notebook_is_a_finding(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "n.ipynb").write_bytes(data)
    (finding,) = api.check([tmp_path], Settings()).findings
    assert finding.code == "CL002" and message.lower() in finding.message.lower()
    assert finding.message.endswith("; no cell of the notebook is checked")


SCRIPT = """\
# %% [markdown]
# # A title

# %%
# %matplotlib inline
%load_ext autoreload
!echo "it's"
files = !ls
import torch

# %%
@torch.compile
def f(x: torch.Tensor):
    x = x.float().relu()
    if torch.isnan(x).any():
        x = torch.nan_to_num(x)
    return x.item()  # compilelint: ignore[CL103]

# %%
%time y = f(torch.ones(3))
f?
"""


def test_lines_for_ipython_in_a_script_of_cells(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT, encoding="utf-8")
    assert [(found.code, found.span.line) for found in api.check([path]).findings] == [("CL102", 15)]
    assert api.fix([path], apply=True).applied == 1
    kept = SCRIPT.split("\n")
    kept[14:16] = ["    x = torch.where(torch.isnan(x).any(), torch.nan_to_num(x), x)"]
    assert path.read_text(encoding="utf-8").split("\n") == kept


def test_what_is_no_python_in_other_scripts_is_told(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.replace("# %%", "# --"), encoding="utf-8")
    assert [(found.code, found.span.line) for found in api.check([path]).findings] == [("CL002", 6)]
    path.write_text(SCRIPT.replace("return x", "return = x"), encoding="utf-8")
    (found,) = api.check([path]).findings
    assert (found.code, found.span.line) == ("CL002", 17)
