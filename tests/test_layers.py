"""Who may import whom. Torch in particular: the static side runs where it isn't installed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "compilelint"
ROOT = PACKAGE.parent
LEAF = "compilelint.escaping"  # how text is shown: for whoever shows any
FILES = [
    path
    for folder in (PACKAGE, ROOT / "rules")
    for path in sorted(folder.rglob("*.py"))
    if "sample" not in path.relative_to(ROOT).parts and not path.is_relative_to(PACKAGE / "rules")
]


def module_of(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return ("compilelint." + name if name.startswith("rules") else name).removesuffix(".__init__")


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports, lazily or for types alone too; relative imports resolved."""
    package = module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [base])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if base == "compilelint")


def under(name: str, *prefixes: str) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def own(path: Path) -> set[str]:
    """The modules of the project that a file imports."""
    return {name for name in imports(path) if name.startswith("compilelint.")}


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_layers(path: Path) -> None:
    module, third_party, mine = module_of(path), set(imports(path)), own(path) - {LEAF}
    torch_allowed = under(module, "compilelint.runtime", "compilelint.ops")
    assert torch_allowed or not [name for name in third_party if under(name, "torch", "triton")]
    if under(module, "compilelint.rules") and path.name != "__init__.py":
        assert mine <= {"compilelint.sdk", "compilelint.fix.rewriter"}, "rules know only the sdk"
    elif under(module, "compilelint.engine"):
        assert not [name for name in third_party if under(name, "libcst", "click", "rich")]
        allowed = ("compilelint.engine", "compilelint.models", "compilelint.source", "compilelint.finding")
        assert not [name for name in mine if not under(name, *allowed)], "the engine knows no rule"
    elif under(module, "compilelint.report"):
        assert not [name for name in mine if not under(name, "compilelint.report", "compilelint.finding")]
    elif under(module, "compilelint.cli"):
        allowed = ("compilelint.cli", "compilelint.api", "compilelint.errors", "compilelint.__version__")
        assert not [name for name in mine if not under(name, *allowed)], "the command line knows only the api"
    elif under(module, "compilelint.server"):
        allowed = ("compilelint.server", "compilelint.api", "compilelint.errors", "compilelint.__version__")
        assert not [name for name in mine if not under(name, *allowed)], "the language server knows only the api"
    elif module == "compilelint.fix.edits":
        assert not [name for name in third_party if under(name, "libcst")]
    else:
        assert not [name for name in mine if under(name, "compilelint.cli")] or module == "compilelint.__main__"
    if not under(module, "compilelint.server"):
        assert not [name for name in third_party if under(name, "pygls", "lsprotocol")]
    if not under(module, "compilelint.cli"):
        assert not [name for name in third_party if under(name, "click")]


def test_the_layout_names_every_module() -> None:
    """Those at the top of the package, the folders, and the many fixes that rules share."""
    layout = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Layout")[2].partition("\n## ")[0]
    modules = [path.name for folder in (PACKAGE, PACKAGE / "rewrites") for path in folder.glob("*.py")]
    folders = [f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir() and not path.name.startswith("__")]
    missing = [name for name in modules + folders if name not in layout and not name.startswith("__")]
    assert not missing, f"name them in CONTRIBUTING.md's Layout: {', '.join(sorted(missing))}"
