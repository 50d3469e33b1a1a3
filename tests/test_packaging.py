"""The distribution: sdist, the wheel built from it, and what that wheel does in a fresh environment without torch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from compilelint import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
RULES = sorted(path.name for path in (ROOT / "rules").glob("*.py"))


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_package_is_listed() -> None:
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "compilelint").rglob("*.py")
        if "sample" not in path.relative_to(ROOT).parts
    }
    assert set(configured["tool"]["setuptools"]["packages"]) == folders | {"compilelint.rules"}
    assert all((ROOT.joinpath(*name.split(".")) / "__init__.py").is_file() for name in folders)


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
    assert not [line for line in project["dependencies"] if line.startswith("torch")]
    assert "torch==2.13.0" in project["optional-dependencies"]["dev"]


def test_the_extra_of_the_server() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {line.partition(">")[0] for line in extras["server"]} == {"lsprotocol", "pygls"}
    assert set(extras["server"]) <= set(extras["dev"])


def test_rules_are_one_folder_under_two_names() -> None:
    link = ROOT / "compilelint" / "rules"
    assert link.is_symlink()
    assert link.readlink() == Path("../rules")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that was built from it, from a copy of what git tracks or would."""
    source = tmp_path_factory.mktemp("source") / "compilelint"
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT).split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_symlink() or not (ROOT / name).is_file():
            continue
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    (source / "compilelint" / "rules").symlink_to("../rules")
    dist = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", dist, source, cwd=source)  # the wheel from the sdist
    return dist


@pytest.mark.slow
def test_sdist_and_wheel_hold_the_same_modules(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    (wheel,) = built.glob("*.whl")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"rules/{name}" for name in RULES} <= names
    assert {"LICENSE", "README.md", "pyproject.toml"} <= names
    with zipfile.ZipFile(wheel) as archive:
        wheel_names = set(archive.namelist())
    assert {f"compilelint/rules/{name}" for name in RULES} <= wheel_names
    assert {"compilelint/py.typed", "compilelint/ops/scan.cpp"} <= wheel_names
    assert {f"compilelint/report/page.{kind}" for kind in ("css", "js")} <= wheel_names
    data = {path for folder in ("models/tables", "sample") for path in (ROOT / "compilelint" / folder).rglob("*")}
    wanted = {path.relative_to(ROOT).as_posix() for path in data if path.suffix in (".py", ".json", ".toml", ".md")}
    assert wanted <= wheel_names
    assert not [name for name in wheel_names if name.startswith(("rules/", "tests/")) or "__pycache__" in name]


@pytest.mark.slow
def test_the_wheel_works_in_a_fresh_environment(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    installed = run(python, "-m", "pip", "list", "--format=freeze", cwd=tmp_path)
    assert "torch" not in installed
    assert "numpy" not in installed
    modules = [f"compilelint.rules.{name.removesuffix('.py')}" for name in RULES if name != "__init__.py"]
    script = (
        "import importlib, pathlib, compilelint\n"
        f"assert 'site-packages' in compilelint.__file__\n"
        f"for name in {modules!r}:\n"
        "    module = importlib.import_module(name)\n"
        "    assert module.rule.code, name\n"
    )
    run(python, "-c", script, cwd=tmp_path)
    cli = tmp_path / "venv" / "bin" / "compilelint"
    assert run(cli, "--version", cwd=tmp_path) == f"compilelint {__version__}\n"
    listed = [line for line in run(cli, "rules", cwd=tmp_path).splitlines() if line.startswith("CL")]
    assert len(listed) == len(modules) + 2
    (tmp_path / "bad.py").write_text(
        "import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n    if x.sum() > 0:\n        x = -x\n    return x\n",
        encoding="utf-8",
    )
    done = subprocess.run([cli, "check", "bad.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "bad.py:5:8" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which((sysconfig.get_config_var("CC") or "cc").split()[0]) is None, reason="no compiler for what mypyc makes"
)
def test_a_compiled_engine_finds_the_same(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    site = tmp_path / "site"
    python = sys.executable
    env = {"COMPILELINT_MYPYC": "1", "MYPYC_OPT_LEVEL": "0"}  # half of the time
    run(python, *"-m pip install -q --no-deps --target".split(), site, sdist, cwd=tmp_path, **env)
    where = run(python, "-c", "from compilelint.engine import run; print(run.__file__)", cwd=site)
    assert where.startswith(str(site))
    assert Path(where.strip()).suffix in (".so", ".pyd")
    check = [
        python,
        *"-m compilelint check --isolated --no-cache --exit-zero --output-format json".split(),
        "--compiled",
    ]
    for compiled in ("auto", "all"):
        found = [
            json.loads(run(*check, compiled, ROOT / "fixtures", cwd=tmp_path, PYTHONPATH=str(where)))
            for where in (site, ROOT)
        ]
        assert found[0] == found[1]
        assert len(found[0]["findings"]) > 500
    explain = [python, *"-m compilelint check --isolated --explain-value".split()]
    place = f"{ROOT / 'fixtures' / 'cl101_branch_on_tensor.py'}:21:8"
    said = [run(*explain, place, cwd=tmp_path, PYTHONPATH=str(where)) for where in (site, ROOT)]
    assert said[0] == said[1]
    assert said[0]
