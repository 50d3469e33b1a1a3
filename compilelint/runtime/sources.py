"""The two trees: a folder as it stands, or a git revision written into a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from compilelint.errors import UsageProblem


@dataclass(frozen=True)
class Tree:
    """One version: its `root`, the folder to run in (`cwd`, inside root), and how to call it in the report."""

    root: Path
    cwd: Path
    label: str


def working_tree(cwd: Path) -> Tree:
    """The tree that `cwd` is in: the git work tree around it, or `cwd` itself."""
    root = _toplevel(cwd) or cwd
    return Tree(root, cwd, "working tree")


# what is no part of a version: caches, environments, git's own
LEFT_OUT = frozenset(
    ".git __pycache__ .venv venv node_modules .tox .nox .mypy_cache .pytest_cache .ruff_cache .hypothesis".split()
)
LINKED_BYTES = 64 << 20
MOST_FILES = 50_000


def copy(tree: Tree, place: Path) -> Tree:
    """A private copy of a tree, in a folder of temporary files. Large files, and folders that git ignores (data,
    outputs), are links to the tree's own; caches and environments are left out."""
    ignored = _ignored(tree.root)
    count = 0
    for folder, folders, files in os.walk(tree.root):
        here = Path(folder)
        there = place / here.relative_to(tree.root)
        there.mkdir(parents=True, exist_ok=True)
        kept = []
        for name in folders:
            if name in LEFT_OUT or (here / name / "pyvenv.cfg").exists() or here / name == place.parent:
                continue
            if (here / name).is_symlink() or here / name in ignored:
                (there / name).symlink_to(_linked(here / name, tree.root))
            else:
                kept.append(name)
        folders[:] = kept
        for name in files:
            source = here / name
            if not source.is_file():
                continue  # a socket, a pipe, a link to nowhere
            if source.is_symlink() or source.stat().st_size > LINKED_BYTES:
                (there / name).symlink_to(_linked(source, tree.root))
            else:
                shutil.copyfile(source, there / name)
        count += len(files)
        if count > MOST_FILES:
            raise UsageProblem(f"{tree.root}: has more than {MOST_FILES:,} files: too many for a private copy")
    return Tree(place, place / tree.cwd.relative_to(tree.root), tree.label)


def _linked(path: Path, root: Path) -> str:
    """Where a link that stands for `path` leads: a relative link within the tree stays one."""
    if path.is_symlink() and not path.readlink().is_absolute() and path.resolve().is_relative_to(root):
        return str(path.readlink())
    return str(path.resolve())


def _ignored(root: Path) -> set[Path]:
    """Files and folders that git ignores, those in ignored folders not named."""
    listed = _git(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return {root / name for name in (listed or "").split("\0") if name}


def resolve(spec: str, cwd: Path, scratch: Path) -> Tree:
    """`REV|DIR`: a folder is taken as it stands; anything else must be a revision of the repository around `cwd`."""
    folder = Path(spec) if Path(spec).is_absolute() else cwd / spec
    if folder.is_dir():
        return Tree(folder.resolve(), folder.resolve(), spec)
    if folder.exists():
        raise UsageProblem(f"{spec}: is a file; expected a git revision or a directory")
    root = _toplevel(cwd)
    if root is None:
        raise UsageProblem(
            f"{spec}: no such directory, and {cwd} is in no git repository that could hold it as a revision"
        )
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{spec}^{{commit}}")
    if commit is None:
        raise UsageProblem(f"{spec}: neither a directory nor a git revision")
    place = scratch / "tree"
    _export(root, commit.strip(), place)
    return Tree(place, _inside(place, cwd.resolve().relative_to(root)), f"{spec} ({commit[:8]})")


def _inside(place: Path, below: Path) -> Path:
    # a folder that did not exist at that revision: run at the nearest one that did
    while not (place / below).is_dir():
        below = below.parent
    return place / below


def _export(root: Path, commit: str, place: Path) -> None:
    place.mkdir(parents=True)
    archive = place.with_suffix(".tar")
    try:
        subprocess.run(
            ["git", "-C", str(root), "archive", "--format=tar", "-o", str(archive), commit],
            check=True,
            capture_output=True,
        )
        with tarfile.open(archive) as tar:
            if hasattr(tarfile, "data_filter"):
                tar.extractall(place, filter=_tolerant)
            else:  # Python before 3.10.12: git's own archives are trusted
                tar.extractall(place)
    except (subprocess.CalledProcessError, OSError, tarfile.TarError) as error:
        raise UsageProblem(f"git archive {commit[:8]} failed: {error}") from None
    finally:
        archive.unlink(missing_ok=True)


def _tolerant(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    # a link that points out of the tree is left out: following it would reach the user's files
    try:
        return tarfile.data_filter(member, path)
    except tarfile.FilterError:
        return None


def _toplevel(cwd: Path) -> Path | None:
    found = _git(cwd, "rev-parse", "--show-toplevel")
    return Path(found.strip()).resolve() if found and found.strip() else None


def _git(cwd: Path, *arguments: str) -> str | None:
    """The output of git, None where it fails or isn't there."""
    try:
        done = subprocess.run(["git", "-C", str(cwd), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
