"""What earlier runs found counts again only where a new run would find the same."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from compilelint import api, parts, runner
from compilelint.cache import Cache, clean, contents
from compilelint.cache.store import Store
from compilelint.checking import CheckResult
from compilelint.config import Settings
from compilelint.outcome import Outcome
from compilelint.registry import HEADINGS
from compilelint.source.layout import Layout
from compilelint.source.templates import Templates

MODEL = """
import torch

from acme.tools import score


@torch.compile
def f(x: torch.Tensor):
    if score(x):
        return -x
    return x
"""
READS = "import torch\n\n\ndef score(x):\n    x.max().item()\n    return x.sum() > 0\n"
QUIET = "import torch\n\n\ndef score(x):\n    return 1\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two modules, each a part of its own, and files that no run just wrote."""
    for name in ("WHOLE_BYTES", "LEAST_BYTES", "MOST_BYTES"):
        monkeypatch.setattr(parts, name, 0)
    monkeypatch.setattr(contents, "TICK", 0)
    folder = tmp_path / "src" / "acme"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    (folder / "tools.py").write_text(READS, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "src")
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache=tmp_path / "cache")


def check(settings: Settings) -> CheckResult:
    """A run with the cache, which must say what one without it says."""
    result = api.check([Path("acme")], settings)
    assert not result.errors
    assert result.findings == api.check([Path("acme")], replace(settings, cache=None)).findings
    return result


def lines(result: CheckResult) -> set[tuple[str, int]]:
    return {(Path(found.span.path).name, found.span.line) for found in result.findings}


def test_comments_count_warm_as_cold(project: Path, settings: Settings) -> None:
    """Only files in which words of such comments stand are read for them, which the cache remembers."""
    reads = "import torch\n\n\ndef score(x):\n    x.max().item()  # {}\n    return x.sum() > 0\n"
    (project / "tools.py").write_text(reads.format("NOQA: cl103, CL201"), encoding="utf-8")
    (project / "plain.py").write_text("x = 1  # CompileLint: ignore[CL101]\n", encoding="utf-8")
    cold, warm = check(settings), check(settings)
    assert warm.findings == cold.findings
    assert lines(warm) == {("model.py", 9), ("plain.py", 1)}
    (project / "tools.py").write_text(reads.format("read once"), encoding="utf-8")
    assert ("tools.py", 5) in lines(check(settings))


def test_warm_as_cold(project: Path, settings: Settings) -> None:
    cold, warm = check(settings), check(settings)
    assert warm.findings == cold.findings
    assert lines(warm) == {("tools.py", 5), ("model.py", 9)}
    assert (cold.stats.cached, cold.stats.parts) == (0, 3)
    assert (warm.stats.cached, warm.stats.parts) == (3, 3)
    assert warm.stats.bounds == cold.stats.bounds


def test_what_imports_the_edited_file_is_looked_at_again(project: Path, settings: Settings) -> None:
    check(settings)
    (project / "tools.py").write_text(QUIET, encoding="utf-8")
    result = check(settings)
    assert lines(result) == set()
    assert result.stats.cached == 1  # __init__.py
    (project / "model.py").write_text(MODEL + "\n# more\n", encoding="utf-8")
    assert check(settings).stats.cached == 2


def test_there_and_back_again(project: Path, settings: Settings) -> None:
    """As when a branch is looked at: what was found on the other one is still known."""
    check(settings)
    (project / "tools.py").write_text(QUIET, encoding="utf-8")
    check(settings)
    (project / "tools.py").write_text(READS, encoding="utf-8")
    assert lines(check(settings)) == {("tools.py", 5), ("model.py", 9)}


def test_an_edit_that_leaves_time_and_size_alone(project: Path, settings: Settings) -> None:
    check(settings)
    path = project / "tools.py"
    before = path.stat()
    path.write_text(READS.replace(".item()", ".size()"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    check(settings)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda p: (p / "tools.py").unlink(), id="deleted"),
        pytest.param(lambda p: (p / "tools.py").rename(p / "other.py"), id="renamed"),
        pytest.param(lambda p: (p / "tools").mkdir() or (p / "tools" / "__init__.py").write_text(QUIET), id="shadowed"),
        pytest.param(lambda p: (p / "tools.py").write_text("def score(:"), id="unparsable"),
        pytest.param(lambda p: (p / "tools.py").write_bytes(b"\xff"), id="undecodable"),
        pytest.param(lambda p: (p / "__init__.py").unlink(), id="no longer a package"),
        pytest.param(
            lambda p: (p / "later.py").write_text("# automatically generated from model.py\nimport torch\n"),
            id="became a template",
        ),
    ],
)
def test_changes_of_the_tree(project: Path, settings: Settings, change: Callable[[Path], object]) -> None:
    check(settings)
    change(project)
    check(settings)
    check(settings)


def test_a_module_that_appears(project: Path, settings: Settings) -> None:
    (project / "tools.py").unlink()
    assert lines(check(settings)) == set()
    (project / "tools.py").write_text(READS, encoding="utf-8")
    assert ("model.py", 9) in lines(check(settings))


def test_a_file_that_was_not_asked_for(project: Path, settings: Settings) -> None:
    """Found on the way to it, a break in another file counts once that file is part of the run."""
    alone = api.check([project / "model.py"], settings)
    assert lines(alone) == {("model.py", 9)}
    assert ("tools.py", 5) in lines(api.check([project], settings))
    assert lines(api.check([project / "model.py"], settings)) == lines(alone)


def test_settings_count(project: Path, settings: Settings) -> None:
    check(settings)
    assert check(replace(settings, ignore=("CL103",))).stats.cached == 0
    assert check(replace(settings, torch=(2, 11))).stats.cached == 0
    assert check(replace(settings, jobs=2)).stats.cached == 3


def test_another_release_of_the_tool(project: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    check(settings)
    monkeypatch.setattr("compilelint.cache.__version__", "0.0.0")
    assert check(settings).stats.cached == 0


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 99, b"SQLite format 3\0" + b"\0" * 4096])
def test_what_is_no_cache_is_made_anew(project: Path, settings: Settings, content: bytes) -> None:
    check(settings)
    (path,) = (settings.cache or Path()).glob("*.sqlite")
    path.write_bytes(content)
    assert check(settings).stats.cached == 0
    assert check(settings).stats.cached == 3


@pytest.mark.parametrize("value", ["", "{", "[]", "{}", '{"files": 1}', '{"findings": [[1]], "files": {}}'])
def test_a_value_that_is_none(project: Path, settings: Settings, value: str) -> None:
    check(settings)
    (path,) = (settings.cache or Path()).glob("*.sqlite")
    store = Store(path)
    keys = [key for (key,) in store._database.execute("SELECT key FROM parts")]
    store.keep(dict.fromkeys(keys, value), (), {})
    store.close()
    assert check(settings).stats.cached == 0


def test_no_place_for_it(project: Path, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    assert lines(check(settings)) == {("tools.py", 5), ("model.py", 9)}


def test_a_locked_cache_is_gone_without(project: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compilelint.cache.store.WAIT", 0.0)
    check(settings)
    (path,) = (settings.cache or Path()).glob("*.sqlite")
    other = Store(path)
    other._database.execute("BEGIN EXCLUSIVE")
    assert lines(check(settings)) == {("tools.py", 5), ("model.py", 9)}
    other.close()


def test_a_failure_is_not_remembered(project: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("boom")

    with monkeypatch.context() as broken:
        broken.setattr("compilelint.analysis.analyse", fail)
        assert len(api.check([project], settings).errors) == 2
    assert lines(check(settings)) == {("tools.py", 5), ("model.py", 9)}


def test_what_was_done_before_an_interrupt_counts(
    project: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = runner.work

    def work(part: runner.Part, job: runner.Job) -> Outcome:
        if part[0].name == "tools.py":
            raise KeyboardInterrupt
        return done(part, job)

    with monkeypatch.context() as interrupted:
        interrupted.setattr(runner, "work", work)
        with pytest.raises(KeyboardInterrupt):
            api.check([project], settings)
    assert api.check([project], settings).stats.cached == 2


def test_a_file_written_while_it_was_read_is_not_trusted(
    project: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "TICK", 10 * 60 * 1_000_000_000)
    check(settings)
    (path,) = (settings.cache or Path()).glob("*.sqlite")
    assert Store(path).files() == {}
    monkeypatch.setattr(contents, "TICK", 0)
    check(settings)
    assert len(Store(path).files()) == 3


def test_parts_that_nobody_asks_for_go(project: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    check(settings)
    (path,) = (settings.cache or Path()).glob("*.sqlite")
    now = time.time()
    monkeypatch.setattr("compilelint.cache.store.time.time", lambda: now + 40 * 86_400)
    (project / "tools.py").write_text(QUIET, encoding="utf-8")
    check(settings)
    keys = [used for (used,) in Store(path)._database.execute("SELECT used FROM parts")]
    assert len(keys) == 3
    assert set(keys) == {(int(now) + 40 * 86_400) // 86_400}


def test_rules_of_others_count(tmp_path: Path) -> None:
    """A plug-in that changes is a tool that changes."""
    site, cache = tmp_path / "site", tmp_path / "cache"
    info = site / "plug-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[compilelint.rules]\nplug = plug_rule\n", encoding="utf-8")
    headings = "".join(f"## {heading}\\nx\\n" for heading in HEADINGS)
    rule = (
        f'"""A rule.\n\n{headings}"""\nfrom compilelint.sdk import Call, Report, Rule\n'
        'rule = Rule("XX901", "marks", effects=("sync",))\n\n\n@rule.on(Call, "torch.relu")\n'
        'def check(event, ctx):\n    yield Report(event.node, "WORD")\n'
    )
    (site / "plug_rule.py").write_text(rule, encoding="utf-8")
    (tmp_path / "m.py").write_text("import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.relu(x)\n")
    env = {**os.environ, "COMPILELINT_CACHE_DIR": str(cache)}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    (tmp_path / "pyproject.toml").write_text('[tool.compilelint]\nplugins = ["plug"]\n', encoding="utf-8")
    command = [sys.executable, "-m", "compilelint", "check", "-v", "m.py"]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)

    assert "WORD" in run().stdout
    again = run()
    assert "WORD" in again.stdout
    assert "1 of 1 part from the cache" in again.stderr
    (site / "plug_rule.py").write_text(rule.replace("WORD", "OTHER"), encoding="utf-8")
    changed = run()
    assert "OTHER" in changed.stdout
    assert "0 of 1 part from the cache" in changed.stderr


def test_no_cache_and_clean(project: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    env = {**os.environ, "COMPILELINT_CACHE_DIR": str(cache)}

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "compilelint", *args]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)

    uncached = run("check", "--no-cache", "acme")
    assert not cache.exists()
    assert run("check", "acme").stdout == uncached.stdout
    assert run("check", "acme").stdout == uncached.stdout
    assert len(list(cache.iterdir())) == 1
    done = run("clean")
    assert (done.returncode, done.stdout) == (0, f"Removed 1 cache from {cache}\n")
    assert not cache.exists()
    assert run("clean").stdout == f"Removed 0 caches from {cache}\n"


def test_clean_leaves_what_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    assert clean(tmp_path) == 0
    assert (tmp_path / "notes.txt").exists()


def test_a_text_that_is_not_on_disk_is_not_taken_from_it(project: Path, settings: Settings) -> None:
    check(settings)
    assert api.check_source(QUIET.encode(), project / "tools.py", settings).findings == []


def test_folders_do_not_share_one(project: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    check(settings)
    monkeypatch.chdir(project)
    opened = Cache.open(settings.cache or Path(), settings, Layout.of([]), None)
    assert opened is not None
    opened.close()
    assert len(list((settings.cache or Path()).glob("*.sqlite"))) == 2


def test_names_of_any_bytes(project: Path, settings: Settings) -> None:
    (project / os.fsdecode(b"odd\xff.py")).write_text(READS, encoding="utf-8")
    assert ("tools.py", 5) in lines(api.check([project], settings))
    assert ("tools.py", 5) in lines(api.check([project], settings))


def test_databases_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "mine.sqlite").touch()
    assert clean(tmp_path) == 0
    assert (tmp_path / "mine.sqlite").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_beside_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    (tmp_path / "b.py").write_text("# automatically generated from c.py\n", encoding="utf-8")
    assert Templates().named_in(tmp_path) == {"c.py"}
