"""The source tree as a git repository, as those have it who install from there."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent


def git(folder: Path, *args: str) -> str:
    identity = ["-c", "user.name=Sample", "-c", "user.email=sample@example.invalid", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *args], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def published(folder: Path) -> Path:
    """A git repository in a folder, with the working tree's files: what users name as `repo:`."""
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    for name in filter(None, listed):
        origin, copy = ROOT / name, folder / name
        if origin.is_symlink():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(origin.readlink())
        elif origin.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(origin.read_bytes())
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "hooks")
    return folder
