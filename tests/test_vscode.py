"""The Visual Studio Code extension agrees with the server and its documentation; it is built where its packages are."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from compilelint import __version__
from compilelint.cli import COMMANDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
EXTENSION = ROOT / "editors" / "vscode"
PACKAGE = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
SOURCE = (EXTENSION / "src" / "extension.ts").read_text(encoding="utf-8")
DOCS = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")


def test_the_package() -> None:
    assert PACKAGE["version"] == __version__
    settings = PACKAGE["contributes"]["configuration"]["properties"]
    for name in settings:
        assert f"`{name}`" in DOCS
        assert f'"{name.removeprefix("compilelint.")}"' in SOURCE
    server = (ROOT / "compilelint" / "server" / "main.py").read_text(encoding="utf-8")
    sent = re.search(r"initializationOptions: \{(.*?)\}", SOURCE, re.DOTALL)
    assert sent is not None
    for option in re.findall(r"(\w+):", sent[1]):
        assert f'options.get("{option}")' in server
        assert f"| `{option}` |" in DOCS
    for command in PACKAGE["contributes"]["commands"]:
        assert f'registerCommand("{command["command"]}"' in SOURCE


def test_the_documented_set_ups() -> None:
    assert "server" in COMMANDS
    (helix,) = re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL)
    settings = tomllib.loads(helix)
    server = settings["language-server"]["compilelint"]
    assert [server["command"], *server["args"]] == ["compilelint", "server"]
    assert "compilelint" in settings["language"][0]["language-servers"]
    assert 'cmd = { "compilelint", "server" }' in DOCS
    assert 'args: ["server"]' in SOURCE


INSTALLED = pytest.mark.skipif(
    not (EXTENSION / "node_modules").is_dir(), reason="its packages are not installed: npm ci"
)


@pytest.mark.slow
@INSTALLED
def test_it_builds() -> None:
    npm = shutil.which("npm")
    assert npm is not None
    done = subprocess.run([npm, "run", "package"], cwd=EXTENSION, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(EXTENSION / "compilelint.vsix") as packed:
        assert {"extension/package.json", "extension/dist/extension.js"} <= set(packed.namelist())


@pytest.mark.slow
@INSTALLED
@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script here")
def test_it_starts_the_server_and_shows_what_it_finds(tmp_path: Path) -> None:
    """The bundle, with a stand-in for the editor's own module."""
    pytest.importorskip("pygls")
    npm, node = shutil.which("npm"), shutil.which("node")
    assert npm is not None and node is not None
    subprocess.run([npm, "run", "build"], cwd=EXTENSION, capture_output=True, check=True)
    text = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.item()\n"
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    program = tmp_path / "compilelint"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compilelint "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    command = [node, str(ROOT / "tests" / "fakevscode.js"), str(EXTENSION / "dist" / "extension.js"), str(program)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["errors"] == []
    assert "compilelint.restart" in said["commands"]
    assert said["diagnostics"] == [[(tmp_path / "model.py").as_uri(), 1]]
