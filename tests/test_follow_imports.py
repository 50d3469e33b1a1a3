"""`follow-imports`: values flow through installed packages, and nothing is reported on them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_cli_check import check, codes, run

from compilelint import api, parts
from compilelint.checking import CheckResult
from compilelint.config import Settings, load_settings
from compilelint.engine import engine
from compilelint.errors import ConfigError
from compilelint.finding import Finding
from compilelint.source import project as projects
from compilelint.source.installed import Installed, environment, followed
from compilelint.source.layout import Layout
from compilelint.source.project import Project

DEP = {
    "dep/__init__.py": "from . import ops\nfrom .nets import Base\nfrom .ops import score, total as summed\n",
    "dep/ops.py": """\
import torch


def score(x):
    if x.sum() > 0:  # a break, of which nothing is said
        x = torch.relu(x)
    return x.softmax(-1)


def total(x) -> torch.Tensor:
    return _native(score(x))


def each(xs, function):
    return [function(torch.relu(x)) for x in xs]
""",
    "dep/nets.py": """\
import torch
from .broken import anything


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3))

    def body(self, x):
        return self.head(x * self.scale)
""",
    "dep/broken.py": "def anything(:\n",
    "other.py": "import torch\n\n\ndef norm(x):\n    return torch.relu(x).norm()\n",
    "torch/__init__.py": "def relu(x):\n    return 1\n",
}
MODEL = """\
import torch
import dep
import other
from dep import Base, score, summed
from dep.ops import each


def positive(y):
    return y if y.sum() > 0 else -y  # callback


class Net(Base):
    def forward(self, x):
        if score(x).any():  # function
            return x
        if self.body(x):  # inherited
            return x
        return each([x], positive)

    def head(self, z):
        if z.sum() > 1:  # called back
            return z
        return z + 1


@torch.compile
def apart(x: torch.Tensor):
    if dep.ops.score(x).any():  # attribute
        return x
    if summed(x).any():  # annotated
        return x
    return x if other.norm(x) > 0 else -x  # other
"""
DEPS = {"callback", "function", "inherited", "called back", "attribute", "annotated"}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An active environment with packages in it."""
    site = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    for name, text in DEP.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "env"))
    return site


@pytest.fixture
def model(tmp_path: Path, site: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    return folder / "model.py"


def marks(model: Path, follow: bool | tuple[str, ...] = True) -> set[str]:
    """The comments on the lines that have findings."""
    result = api.check([model], Settings(follow_imports=follow))
    assert not result.errors
    assert {finding.span.path for finding in result.findings} <= {str(model)}, "installed files are not checked"
    source = model.read_text(encoding="utf-8").splitlines()
    return {source[finding.span.line - 1].rpartition("# ")[2] for finding in result.findings}


def test_values_flow_through_what_is_installed(model: Path) -> None:
    assert marks(model, follow=False) == set()
    assert marks(model) == DEPS | {"other"}


def test_only_the_packages_that_are_named(model: Path) -> None:
    assert marks(model, follow=("other",)) == {"other"}
    assert marks(model, follow=("dep",)) == DEPS


def test_flag_and_setting(model: Path) -> None:
    folder = model.parent
    code, report, stderr = check(folder, "--follow-imports")
    assert (code, stderr, len(codes(report))) == (1, "", 7)
    traces = [{Path(step["path"]).name for step in finding["trace"]} for finding in report["findings"]]
    assert {"ops.py", "model.py"} in traces, "the history of a value tells where it was made"
    assert codes(check(folder)[1]) == []
    (folder / "pyproject.toml").write_text("[tool.compilelint]\nfollow-imports = ['dep', 'deep']\n", encoding="utf-8")
    code, report, stderr = check(folder)
    assert (code, len(codes(report))) == (1, 6)
    assert 'follow-imports: "deep" is not installed' in stderr
    assert codes(check(folder, "--no-follow-imports")[1]) == []


def test_fix(model: Path) -> None:
    assert run(model.parent, "fix", "--unsafe-fixes").stdout == ""
    diff = run(model.parent, "fix", "--unsafe-fixes", "--follow-imports").stdout
    assert "torch.where" in diff
    assert re.findall(r"^\+\+\+ (.*)", diff, re.MULTILINE) == ["b/model.py"]


def test_several_processes_find_the_same(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (model.parent / "a.py").write_text(MODEL, encoding="utf-8")
    for name, source in (("b", "a"), ("c", "b")):
        text = f"import torch\nfrom {source} import Net, score\n\n\nclass More(Net):\n    def tail(self, x):\n"
        text += "        return 1 if score(x).any() else self.head(x)\n"
        (model.parent / f"{name}.py").write_text(text, encoding="utf-8")
    alone = _verdicts(api.check([model.parent], Settings(follow_imports=True, jobs=1)))
    for name in ("WHOLE_BYTES", "LEAST_BYTES", "MOST_BYTES"):
        monkeypatch.setattr(parts, name, 0)
    assert _verdicts(api.check([model.parent], Settings(follow_imports=True, jobs=2))) == alone
    assert len(alone) == 2 * 7 + 2


def _verdicts(result: CheckResult) -> list[Finding]:
    """The findings without their traces: which of several callers they tell of may differ."""
    assert not result.errors, result.errors
    return [replace(finding, trace=()) for finding in result.findings]


def test_an_empty_environment_is_told(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))
    result = api.check([model], Settings(follow_imports=True))
    assert result.notices == [f"follow-imports: no installed packages found in {tmp_path / 'gone'}"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('"dep"', "expected true, false or a list of import names, got a string"),
        ('["dep.ops"]', 'expected the import name of a package, got "dep.ops"'),
        ('["torch"]', "torch is never followed"),
        ('["json"]', "json is never followed"),
    ],
)
def test_settings_that_make_no_sense(tmp_path: Path, value: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.compilelint]\nfollow-imports = {value}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        load_settings(tmp_path)


def test_modules_are_parsed_when_a_name_is_looked_for_in_them(model: Path, site: Path) -> None:
    project = Project(Layout.of([model]), installed=Installed(None, [site]))
    assert project.has("dep.broken") and not project.has("dep.gone") and not project.has("torch")
    assert not project.errors
    assert project.find("dep.broken") is None and project.find("torch") is None
    assert list(project.errors) == [site / "dep" / "broken.py"]
    assert not project.owns("dep")
    found = project.find("dep.ops")
    assert found is not None and found.installed


def test_bounds(model: Path) -> None:
    settings = Settings(follow_imports=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "MAX_FOLLOWED", 0)
        assert marks(model) == {"annotated"}
        assert api.check([model], settings).stats.bounds["contexts in installed packages"] > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projects, "MAX_INSTALLED", 0)
        assert marks(model) == set()
        assert api.check([model], settings).stats.bounds["modules of installed packages"] > 0


def test_path_files_count(model: Path, site: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.mkdir()
    (site / "other.py").rename(linked / "other.py")
    assert marks(model, follow=("other",)) == set()
    (site / "editable.pth").write_text(f"import os; os._exit(3)\n# a comment\n{linked}\n", encoding="utf-8")
    assert environment() == [site.resolve(), linked]
    assert marks(model, follow=("other",)) == {"other"}


def test_the_running_interpreter_counts_without_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    installed = followed(True)
    assert installed is not None
    assert installed.locate("pytest") is not None
    assert installed.locate("numpy") is None
