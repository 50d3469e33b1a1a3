"""fix --vendor-ops: copies of operators that work without compilelint."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from compilelint import api, vendor
from compilelint.fixing import FixRun

SOURCE = """\
import torch


def norm(grads: list[torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(())
    for g in grads:
        total += g.pow(2).sum()
    return total


def total(grads: list[torch.Tensor]) -> torch.Tensor:
    return sum(g.sum() for g in grads)
"""
MORE = """\
import torch


def means(xs: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack([x.mean() for x in xs])
"""
RUN = """\
import sys
sys.modules["compilelint"] = None  # nothing may import it
import torch
from app.model import norm, total
grads = [torch.full((3,), 2.0), torch.ones(2, 2, dtype=torch.bfloat16)]
print(norm(grads).item(), total(grads).item())
print(torch.compile(norm, fullgraph=True, backend="eager")(grads).item())
"""


@pytest.fixture(autouse=True)
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fixed(tmp_path: Path, source: str, apply: bool = True) -> FixRun:
    (tmp_path / "app").mkdir(exist_ok=True)
    (tmp_path / "app" / "__init__.py").touch()
    (tmp_path / "app" / "model.py").write_text(source, encoding="utf-8")
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True})
    return api.fix([tmp_path / "app"], settings, apply=apply, vendor_ops=tmp_path / "app" / "kernels")


def test_nothing_is_written_without_apply(tmp_path: Path) -> None:
    run = fixed(tmp_path, SOURCE, apply=False)
    assert not (tmp_path / "app" / "kernels").exists()
    assert run.exit_code == 1
    for shown in ("+from app.kernels import squared_norm_each", "+def squared_norm_each(", "+MIT License", "b/"):
        assert shown in run.result.diff


def test_copies_work_alone(tmp_path: Path) -> None:
    run = fixed(tmp_path, SOURCE)
    assert run.exit_code == 0 and run.result.applied == 2
    text = (tmp_path / "app" / "model.py").read_text(encoding="utf-8")
    assert "from app.kernels import sum_tensors\n" in text and "from compilelint" not in text
    there = {path.name for path in (tmp_path / "app" / "kernels").iterdir()}
    assert there == {
        *("__init__.py", "LICENSE", "kernels.py", "native.py", "pointers.py"),
        *("reduce.py", "reduce_triton.py", "register.py", "scan.cpp"),
    }
    start = (tmp_path / "app" / "kernels" / "__init__.py").read_text(encoding="utf-8")
    assert '__all__ = [\n    "squared_norm_each",\n    "sum_tensors",\n]' in start
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["16.0", "10.0", "16.0"], done.stderr


def test_a_second_run_changes_nothing_and_a_later_one_keeps_what_is_there(tmp_path: Path) -> None:
    fixed(tmp_path, SOURCE)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True})
    again = api.fix([tmp_path / "app"], settings, apply=True, vendor_ops=tmp_path / "app" / "kernels")
    assert again.result.applied == 0
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    fixed(tmp_path, MORE)
    start = (tmp_path / "app" / "kernels" / "__init__.py").read_text(encoding="utf-8")
    for name in ("mean_each", "squared_norm_each", "sum_tensors"):
        assert f"from .reduce import {name}\n" in start


def test_each_operator_can_be_copied(tmp_path: Path) -> None:
    """With all that it imports, and no mention of the package it came from in an import."""
    copies = vendor.copies(tmp_path / "kernels")
    for name, home in vendor._homes().items():
        files = copies.files([f"from kernels import {name}\n"])
        assert home in {path.name for path in files}
        for path, text in files.items():
            if path.suffix == ".py":
                for node in ast.walk(ast.parse(text)):
                    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                    assert not [imported for imported in names if imported.startswith("compilelint")]
                assert "compilelint::" not in text and "torch.ops.compilelint" not in text
    assert "reduce.py" not in {path.name for path in copies.files(["from kernels import to_host\n"])}


def test_the_licence_is_the_projects() -> None:
    text = (Path(__file__).parent.parent / "LICENSE").read_text(encoding="utf-8")
    assert text == vendor.LICENCE


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("not-a-name", "can't be imported"),
        ("class", "can't be imported"),
        ("json", "would hide the module `json`"),
        ("torch", "would hide the module `torch`"),
        ("train", "would hide train.py"),
        ("other", "holds no copies"),
        ("dangling", "holds no copies"),
        ("latin", "holds no copies"),
        ("train/ops", "would hide train.py"),
        ("json/ops", "would hide the module `json`"),
        ("a.b/ops", "can't be imported"),
        ("sub-folder/ops", "can't be imported"),
        ("", "must lie below the current folder"),
        ("..", "must lie below the current folder"),
        ("../ops", "must lie below the current folder"),
    ],
)
def test_refused(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "train.py").write_text("x = 1\n", encoding="utf-8")
    for other, start in (("other", b"x = 1\n"), ("latin", b"# \xe9\n")):
        (tmp_path / other).mkdir()
        (tmp_path / other / "__init__.py").write_bytes(start)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(api.UsageProblem, match=f"--vendor-ops.*{why}"):
        vendor.copies(tmp_path / name)


@pytest.mark.parametrize(
    ("folder", "packages", "name"),
    [
        ("ops", [], "ops"),
        ("mylib/ops", [], "mylib.ops"),
        ("mylib/part/ops", ["mylib"], "mylib.part.ops"),
        ("mylib/../ops", [], "ops"),
        ("src/ops", [], "ops"),
        ("src/mylib/ops", [], "mylib.ops"),
        ("libs/mylib/ops", ["libs/mylib"], "mylib.ops"),
    ],
)
def test_how_the_copies_are_imported(tmp_path: Path, folder: str, packages: list[str], name: str) -> None:
    for package in packages:
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "__init__.py").touch()
    assert vendor.copies(Path(folder)).name == name


def test_within_a_package_the_whole_name_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path / "mylib")
    assert vendor.copies(Path("part/ops")).name == "mylib.part.ops"


def test_nothing_is_reported_in_copies(tmp_path: Path) -> None:
    """They are what fixes put there."""
    fixed(tmp_path, SOURCE)
    copies = tmp_path / "app" / "kernels"
    settings = api.load_settings(isolated=True)
    assert api.check([copies], settings).findings == []
    for path in copies.glob("*.py"):
        path.write_text(path.read_text(encoding="utf-8") + SOURCE, encoding="utf-8")
    assert api.check([copies], settings).findings == []
    (copies / "own.py").write_text(SOURCE, encoding="utf-8")
    assert api.check([copies], settings).findings != []
