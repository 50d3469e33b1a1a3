"""Hostile names and sources: nothing that shows them is led to obey them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from compilelint import api
from compilelint.escaping import as_html, escape

SOURCE = """\
import torch

@torch.compile
def f(x, n="[x](https://evil.example)"):
    print("A\x1b[31mB\u202eC\u2066D\x07]]></script><img src=x onerror=alert(1)>%0A\x9b1m\u2028\ufffe\x0b", n)
    hooks = [print, None]
    hooks[0]("%s" % [0](x))  # \x1b]0;title\x07
    return x
"""
NAMES = (
    "\x1b[31mred.py",
    "a\n::error::pwned.py",
    "b%0A::warning::pwned.py",
    "c,line=1::pwned.py",
    "]]><img src=x onerror=alert(1)>.py",
    "\u202eyp.\u2066py.py",
    "\"'&amp;\t\r.py",
    "\udcff.py",
    "\x9b31m\ufffe\u2028.py",
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        try:
            (tmp_path / name).write_text(SOURCE, encoding="utf-8")
        except OSError:
            pytest.skip("the file system takes no such names")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(output: api.Format) -> str:
    settings = api.load_settings(isolated=True)
    text = api.render(api.check([Path()], settings), output)
    assert not [char for char in text if not char.isprintable() and char not in "\n\t"]
    return text


def strings(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        for each in data:
            yield from strings(each)
    elif isinstance(data, str):
        yield data


@pytest.mark.parametrize("output", ["text", "concise"])
def test_a_terminal(tree: Path, output: api.Format) -> None:
    assert "::error::pwned" in report(output)
    assert not [line for line in report(output).splitlines() if line.startswith("::")]


def test_github(tree: Path) -> None:
    lines = report("github").splitlines()
    assert len(lines) >= len(NAMES)
    for line in lines:
        head, _, rest = line.removeprefix("::error ").partition("::")
        fields = {field.partition("=")[0] for field in head.split(",")}
        assert rest and fields <= {"title", "file", "line", "endLine", "col", "endColumn"}


def test_junit(tree: Path) -> None:
    root = ElementTree.fromstring(report("junit"))
    assert {each.tag for each in root.iter()} == {"testsuites", "testsuite", "testcase", "failure"}
    assert all(
        escape(text, "\n\t") == text for each in root.iter() for text in (each.text or "", *each.attrib.values())
    )


def test_html(tree: Path) -> None:
    text = report("html")
    assert "<img" not in text and text.count("<script>") == text.count("</script>") == 1


def test_messages_in_json(tree: Path) -> None:
    for entry in json.loads(report("gitlab")):
        assert entry["description"].isprintable()
    (run,) = json.loads(report("sarif"))["runs"]
    for result in run["results"]:
        messages = [result["message"], *(place["message"] for place in result.get("relatedLocations", ()))]
        assert all(text.isprintable() for text in strings(messages))
        assert all(text.isascii() and text.isprintable() for text in strings(result["locations"]))


def test_code_makes_no_link_in_sarif(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = 'import torch\n\n@torch.compile\ndef f(x):\n    print(x, "[here](https://evil.example)")\n    return x\n'
    (tmp_path / "a.py").write_text(code, encoding="utf-8")
    (result,) = json.loads(report("sarif"))["runs"][0]["results"]
    assert r"\[here\](https://evil.example)" in result["message"]["text"]


COMMAND = (sys.executable, "-m", "compilelint")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *arguments, "--isolated"]
    return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", check=False)


def test_what_is_told_of_files_stays_in_its_line(tree: Path) -> None:
    for name in NAMES:
        (tree / name).write_bytes(b"# coding: no-such-one\n")
    for command in ("check", "fix"):
        done = run(command, *(f"./{name}" for name in NAMES if command == "fix"))
        shown = done.stdout + done.stderr
        assert "no-such-one" in shown and "Traceback" not in shown
        assert not [char for char in shown if not char.isprintable() and char != "\n"]
        assert not [line for line in shown.splitlines() if line.startswith("::")]


def test_a_diff_on_a_terminal_is_escaped_and_in_a_pipe_is_a_patch(tree: Path) -> None:
    pty = pytest.importorskip("pty")
    there = run("fix", "--unsafe-fixes").stdout
    assert "\x1b[31mB" in there and "\n::" not in there
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as reader:
        command = [*COMMAND, "fix", "--unsafe-fixes", "--isolated", "./]]><img src=x onerror=alert(1)>.py"]
        process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = reader.read(4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        process.wait()
    assert b"\\x1b[31mB" in shown and b"\x1b" not in shown and b"\xe2\x80\xae" not in shown


def test_escape() -> None:
    assert escape("naïve \u00a0 \U0001f468\u200d\U0001f4bb") == "naïve \u00a0 \U0001f468\u200d\U0001f4bb"
    assert escape("\n\t", keep="\n") == "\n\\t"
    assert as_html("<a b='\u202e'>\n\t\x00") == "&lt;a b=&#x27;\\u202e&#x27;&gt;\n\t\\x00"
