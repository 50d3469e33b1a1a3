"""Copies of `compilelint.ops` in the user's tree: those operators that fixes call, and what they need."""

from __future__ import annotations

import ast
import keyword
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from compilelint import __version__
from compilelint.errors import UsageProblem
from compilelint.source.layout import module_name
from compilelint.writing import PREFIX

OPS = "compilelint.ops"
MARK = '"""Operators over lists of tensors, copied from compilelint'
COPIED = "Copied from compilelint "
LICENCE = """\
MIT License

Copyright (c) 2025 The compilelint developers

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""
_IMPORT = re.compile(rf"^(\s*)from {re.escape(OPS)} import (?=\w)", re.MULTILINE)
_SOURCES = Path(__file__).with_name("ops")


@dataclass(frozen=True)
class Copies:
    """A package to be, at `folder`; `name` is how it is imported."""

    folder: Path
    name: str

    def redirect(self, text: str) -> str:
        """A source that imports from the copies what it imported from `compilelint.ops`."""
        return _IMPORT.sub(rf"\1from {self.name} import ", text)

    def files(self, sources: Iterable[str]) -> dict[Path, str]:
        """What to write, for sources that import from the copies: none where they need nothing."""
        wanted = {name for source in sources for name in _imported(source, self.name)}
        if not wanted:
            return {}
        start = self.folder / "__init__.py"
        if start.is_file():
            wanted |= set(_imported(start.read_text(encoding="utf-8"), ""))
        homes = _homes()
        names = sorted(name for name in wanted if name in homes)
        modules = _closure({homes[name] for name in names})
        space = re.sub(r"\W", "_", self.name)
        files = {self.folder / name: _standalone(name, space) for name in sorted(modules)}
        return {start: _start(names, homes), self.folder / "LICENSE": LICENCE, **files}


def copies(folder: Path) -> Copies:
    """Raises UsageProblem where there can be no such package, or is another."""
    place = Path(os.path.abspath(folder))
    root = _root(place)
    if root is None:
        raise UsageProblem(f"--vendor-ops {folder}: must lie below the current folder, so that it can be imported")
    parts = place.relative_to(root).parts
    name = ".".join(parts)
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise UsageProblem(f"--vendor-ops {folder}: `{name}` can't be imported")
    first = root / parts[0]
    taken = parts[0] in sys.stdlib_module_names or parts[0] in ("torch", "numpy", "compilelint")
    if taken and (first == place or not (first / "__init__.py").is_file()):
        raise UsageProblem(f"--vendor-ops {folder}: a package of that name would hide the module `{parts[0]}`")
    for part in (place, *place.parents[: len(parts) - 1]):
        if part.with_name(f"{part.name}.py").exists() and (part == place or not (part / "__init__.py").is_file()):
            raise UsageProblem(f"--vendor-ops {folder}: a package of that name would hide {part.name}.py")
    if os.path.lexists(folder) and not _is_ours(folder / "__init__.py") and not _is_empty(folder):
        raise UsageProblem(f"--vendor-ops {folder}: exists, and holds no copies of operators")
    return Copies(folder, name)


def _root(place: Path) -> Path | None:
    """The folder that a package is imported from: that of the package around it, else the current one or its `src`.

    None for what does not lie below the current folder.
    """
    working = Path.cwd()
    if working not in place.parents:
        return None
    for above in place.parents[: len(place.parts) - len(working.parts)]:
        if (above / "__init__.py").is_file():
            return module_name(above / "__init__.py")[1]
    return working / "src" if working / "src" in place.parents else working


def is_copy(text: str) -> bool:
    """Whether a source is one that was copied."""
    return text.startswith((MARK, f"# {COPIED}"))


def _is_ours(start: Path) -> bool:
    try:
        return start.read_text(encoding="utf-8").startswith(MARK)
    except (OSError, UnicodeDecodeError):
        return False


def _is_empty(folder: Path) -> bool:
    """As a run leaves it that ended before it wrote anything."""
    try:
        return all(path.name.startswith(PREFIX) for path in folder.iterdir())
    except OSError:
        return False


def _imported(source: str, module: str) -> list[str]:
    """The names that a source imports from a module; from any relative one for ""."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    chosen = [node for node in found if (node.level if not module else node.module == module and not node.level)]
    return [alias.name for node in chosen for alias in node.names]


def _homes() -> dict[str, str]:
    """Name → the file it is in, as `compilelint.ops` says; that is not imported here, since it may need torch."""
    for node in ast.parse((_SOURCES / "__init__.py").read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="_HOMES")], value=value):
                return {name: f"{home}.py" for home, names in ast.literal_eval(value).items() for name in names}
    raise AssertionError("compilelint.ops has no _HOMES")


def _closure(modules: set[str]) -> set[str]:
    """With what they import, load or compile."""
    found: set[str] = set()
    left = list(modules)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        text = (_SOURCES / name).read_text(encoding="utf-8")
        for inside, direct in re.findall(rf"from {re.escape(OPS)}(?:\.(\w+) import| import (\w+))", text):
            left.append(f"{inside or direct}.py")
        left += [f"{module}.py" for module in re.findall(r"__package__}\.(\w+)", text)]
        left += re.findall(r'with_name\("([\w.]+)"\)', text)
    return found


def _standalone(name: str, space: str) -> str:
    """A file of `compilelint.ops` for another package, its operators in a namespace of their own."""
    text = (_SOURCES / name).read_text(encoding="utf-8")
    text = re.sub(rf"from {re.escape(OPS)}\.(\w+) import", r"from .\1 import", text)
    text = re.sub(rf"from {re.escape(OPS)} import", "from . import", text)
    text = text.replace("compilelint::", f"{space}::").replace("torch.ops.compilelint.", f"torch.ops.{space}.")
    mark = "//" if name.endswith(".cpp") else "#"
    return f"{mark} {COPIED}{__version__}; MIT licence, see LICENSE.\n{text}"


def _start(names: list[str], homes: dict[str, str]) -> str:
    lines = [f"from .{homes[name].removesuffix('.py')} import {name}" for name in names]
    listed = "".join(f'    "{name}",\n' for name in names)
    imports = "\n".join(sorted(lines))
    note = f'{MARK} {__version__} by `compilelint fix --vendor-ops`. MIT licence, see LICENSE."""'
    return f"{note}\n\n{imports}\n\n__all__ = [\n{listed}]\n"
