"""The Visual Studio Code extension agrees with the server and its documentation; it is built where its packages are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
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


@pytest.mark.slow
@pytest.mark.skipif(not (EXTENSION / "node_modules").is_dir(), reason="its packages are not installed: npm ci")
def test_it_builds() -> None:
    npm = shutil.which("npm")
    assert npm is not None
    for script in ("check", "build"):
        done = subprocess.run([npm, "run", script], cwd=EXTENSION, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (EXTENSION / "dist" / "extension.js").is_file()
