"""Files of every kind in one run: what can't be read is told with its place and why, and all others are checked."""

from __future__ import annotations

import codecs
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from compilelint import api
from compilelint.checking import CheckResult
from compilelint.config import Settings

READ = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.item()\n"
CHECK = """import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if torch.isnan(x).any():  # é
            x = torch.nan_to_num(x)
        return x
"""

UNREADABLE = {
    "two.py": (b"import torch\nprint 'torch'\n", 2, "Missing parentheses"),
    "newer.py": (b"import torch\nmatch lambda: 0 = 1\n", 2, f"Syntax error in Python {sys.version_info[0]}."),
    "nul.py": (READ.encode() + b"x = '\x00'\n", 6, "Syntax error: a NUL character"),
    "end_of_file.py": (READ.encode() + b"\x1a", 6, "U+001A"),
    "line_separator.py": ("import torch\u2028\n".encode(), 1, "U+2028"),
    "latin_no_cookie.py": ("# torch\n\n\nx = 'é'\n".encode("latin-1"), 4, "Not valid utf-8: byte 0xe9 on line 4"),
    "latin_in_line_1.py": ("# torch é\n".encode("latin-1"), 1, "Not valid utf-8: byte 0xe9 on line 1"),
    "utf16.py": (READ.encode("utf-16"), 1, "it begins as UTF-16"),
    "unknown_cookie.py": (b"# coding: nosuch\nimport torch\n", 1, "unknown encoding: nosuch"),
    "cookie_and_mark.py": (codecs.BOM_UTF8 + b"# coding: latin-1\nimport torch\n", 1, "byte order mark says utf-8"),
    "no_text_encoding.py": (b"# coding: hex\nimport torch\n", 1, "not a text encoding"),
    "deep.py": (f"import torch\nx = {'(' * 1000}{')' * 1000}\n".encode(), 1, ""),
    "indented.py": (f"import torch\n{''.join(' ' * i + f'if x{i}:{chr(10)}' for i in range(200))}".encode(), 1, ""),
    "empty.ipynb": (b"", 1, "Not a notebook"),
    "cut_off.ipynb": (b'{"cells": [{"cell_type"', 1, "Not a notebook"),
    "list.ipynb": (b"[]", 1, "not a notebook of format 4"),
    "no_source.ipynb": (b'{"cells": [{"cell_type": "code"}]}', 1, "cell 1 has no source"),
    "digits.ipynb": (b'{"cells": [], "a": ' + b"9" * 10_000 + b"}", 1, "Not a notebook"),
    "half_a_character.ipynb": (b'{"cells": [{"cell_type": "code", "source": "torch\\nx = \'\\ud800\'"}]}', 2, "U+D800"),
    "half_a_character.py": (b"# coding: unicode_escape\nx = torch, '\\ud800'\n", 2, "U+D800, half of a character"),
    "nested.ipynb": (b"[" * 100_000, 1, "Not a notebook"),
}  # fmt: skip


@pytest.fixture(scope="module")
def unreadable(tmp_path_factory: pytest.TempPathFactory) -> CheckResult:
    folder = tmp_path_factory.mktemp("unreadable")
    for name, (data, _, _) in UNREADABLE.items():
        (folder / name).write_bytes(data)
    (folder / "whole.py").write_text(READ, encoding="utf-8")
    return api.check([folder], Settings())


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cant_be_read_is_told(name: str, unreadable: CheckResult) -> None:
    _, line, words = UNREADABLE[name]
    if name == "digits.ipynb" and not hasattr(sys, "set_int_max_str_digits"):
        return
    [found] = [finding for finding in unreadable.findings if Path(finding.span.path).name == name]
    assert found.code == "CL002" and found.span.line >= line
    assert words.lower() in found.message.lower()


def test_the_others_are_checked(unreadable: CheckResult) -> None:
    assert [f.code for f in unreadable.findings if f.span.path.endswith("whole.py")] == ["CL201"]
    assert (unreadable.exit_code, unreadable.errors) == (1, [])
    assert all(api.render(unreadable, form) for form in api.FORMATS)


def test_fix_tells_the_cell_too(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": text} for text in ("import torch\n", "y = 1\nx = (\n", ")")]
    (tmp_path / "m.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (tmp_path / "m.py").write_text("import torch\nx = (\n", encoding="utf-8")
    told = api.fix([tmp_path], Settings()).told
    assert [line.partition("m.")[2].partition(": ")[0] for line in told] == ["ipynb:cell 2:2:5", "py:2:5"]


ODD: dict[str, Callable[[str], bytes]] = {
    "mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "latin": lambda text: b"# -*- coding: latin-1 -*-\n" + text.encode("latin-1"),
    "shift_jis": lambda text: b"# coding: shift_jis\n" + text.replace("é", "日本").encode("shift_jis"),
    "utf7": lambda text: b"# coding: utf-7\n" + text.encode("utf-7"),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "cr": lambda text: text.replace("\n", "\r").encode(),
    "mixed": lambda text: text.replace("\n\n", "\r\n\r").encode(),
    "form_feeds": lambda text: ("\x0c" + text.replace("\n\n", "\n\x0c\n")).encode(),
    "tabs": lambda text: text.replace("    ", "\t").encode(),
    "no_end": lambda text: text.rstrip("\n").encode(),
    "a name with spaces": str.encode,
    "naïve 😀": str.encode,
    "two\nlines": str.encode,
    "-dash": str.encode,
    "a.b.c": str.encode,
    "class": str.encode,
    "1": str.encode,
    "[a-z]": str.encode,
    "%41": str.encode,
    "x" * 240: str.encode,
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_odd_files_are_checked_and_fixed(tmp_path: Path) -> None:
    for name, write in ODD.items():
        (tmp_path / f"{name}.py").write_bytes(write(CHECK))
    names = {f"{name}.py" for name in ODD}
    result = api.check([tmp_path], Settings())
    assert {Path(f.span.path).name for f in result.findings if f.code == "CL102"} == names
    for form in api.FORMATS:
        assert api.render(result, form)
    settings = replace(Settings(), unsafe_fixes=True)
    run = api.fix([tmp_path], settings, apply=True)
    assert {Path(file.path).name for file in run.result.changed} == names
    assert run.exit_code == 0
    for name in names:
        compile((tmp_path / name).read_bytes(), name, "exec")
    assert not api.check([tmp_path], Settings()).findings
    assert not api.fix([tmp_path], settings).result.changed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_file_is_told_where_it_is_named_and_passed_over_where_not(tmp_path: Path) -> None:
    (tmp_path / "whole.py").write_text(READ, encoding="utf-8")
    (tmp_path / "empty.py").touch()
    (tmp_path / "blank.py").write_bytes(b" \n\t\n\x0c")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "gone.py").symlink_to("nowhere")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    result = api.check([tmp_path], Settings())
    assert ([f.code for f in result.findings], result.files, result.exit_code) == (["CL201"], 3, 1)
    named = [tmp_path / name for name in ("pipe.py", "loop.py", "gone.py", "zero.py", "absent.py", "whole.py")]
    result = api.check(named, Settings())
    assert ([f.code for f in result.findings], len(result.problems), result.exit_code) == (["CL201"], 5, 2)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no permissions of this kind here")
def test_folders_and_files_that_may_not_be_read(tmp_path: Path) -> None:
    for name in ("a.py", "closed.py", "shut/b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(READ, encoding="utf-8")
    (tmp_path / "closed.py").chmod(0)
    (tmp_path / "shut").chmod(0)
    try:
        if os.access(tmp_path / "closed.py", os.R_OK):
            pytest.skip("this user may read everything")
        result = api.check([tmp_path], Settings())
    finally:
        (tmp_path / "shut").chmod(0o755)
    assert [Path(problem.partition(": ")[0]).name for problem in result.problems] == ["shut"]
    assert [(Path(f.span.path).name, f.code) for f in result.findings] == [("a.py", "CL201"), ("closed.py", "CL002")]
    assert result.exit_code == 2


@pytest.mark.skipif(os.name != "posix", reason="a folder in use can't be removed")
def test_a_working_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = f"rmdir ../gone && exec {sys.executable} -m compilelint check"
    env = {**os.environ, "PYTHONPATH": str(Path(api.__file__).parents[1])}
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path / "gone", env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error: the working folder is gone\n")


def test_a_name_that_is_only_annotated_is_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        "import torch\ntorch: int\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.sum().item()\n"
    )
    assert [finding.span.line for finding in api.check([path], Settings()).findings] == [7]
