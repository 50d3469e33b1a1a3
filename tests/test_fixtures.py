"""Every rule's fixture: what check finds, what fix writes, and that Dynamo breaks where a graph break is reported.

A line ends in `# expect: CL101` for each finding on it (`# expect: CL103, CL103` for two), and in `traced` where
Dynamo traces the line all the same, or `raises` where it fails. `clNNN_name.fixed.py` is what `fix --unsafe-fixes`
makes of `clNNN_name.py`.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from compilelint import api
from compilelint.config import Settings

ROOT = Path(__file__).parent.parent
FILES = sorted(path for path in (ROOT / "fixtures").glob("cl*.py") if not path.name.endswith(".fixed.py"))
COMPILED = [path for path in FILES if path.name.startswith(("cl1", "cl5"))]
FIXED = [path for path in FILES if path.with_suffix(".fixed.py").exists()]
EXPECT = re.compile(r"# expect: (CL\d{3}(?:, CL\d{3})*)( traced| raises)?")
UNSAFE = replace(Settings(), unsafe_fixes=True)


def expected(path: Path) -> Counter[tuple[int, str]]:
    found: Counter[tuple[int, str]] = Counter()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := EXPECT.search(line):
            found.update((number, code) for code in match.group(1).split(", "))
    return found


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.name.removesuffix(".py").replace(".", "_"), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def original(function: Any) -> Any:
    """What `torch.compile` wrapped."""
    return getattr(function, "_torchdynamo_orig_callable", function)


def assert_same(found: Any, wanted: Any) -> None:
    """Equal values; a number may have become a 0-d tensor."""
    import torch

    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        found, wanted = list(found.values()), list(wanted.values())
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, torch.Tensor | float):
        torch.testing.assert_close(torch.as_tensor(found), torch.as_tensor(wanted), equal_nan=True)
    else:
        assert found == wanted


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_check(path: Path) -> None:
    result = api.check([path], Settings())
    assert not result.errors
    found = Counter((finding.span.end_line, finding.code) for finding in result.findings)
    starts = Counter((finding.span.line, finding.code) for finding in result.findings)
    wanted = expected(path)
    assert starts == wanted or found == wanted, f"too many: {starts - wanted}, missing: {wanted - starts}"


@pytest.mark.parametrize("path", FIXED, ids=lambda p: p.stem)
def test_fix(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    api.fix([copy], UNSAFE, apply=True)
    once = copy.read_text(encoding="utf-8")
    assert once == path.with_suffix(".fixed.py").read_text(encoding="utf-8")
    api.fix([copy], UNSAFE, apply=True)
    assert copy.read_text(encoding="utf-8") == once


@pytest.mark.parametrize("path", [path for path in FILES if path not in FIXED], ids=lambda p: p.stem)
def test_nothing_to_fix(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    api.fix([copy], UNSAFE, apply=True)
    assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", COMPILED, ids=lambda p: p.stem)
def test_dynamo(path: Path) -> None:
    pytest.importorskip("torch")
    from dynamo import observe

    broken: set[int] = set()
    for function, args in load(path).make_cases():
        broken |= observe(original(function), args, str(path)).lines
    if not broken:
        pytest.skip("no case is run")
    lines = path.read_text(encoding="utf-8").splitlines()
    wanted = {n for n, line in enumerate(lines, 1) if (match := EXPECT.search(line)) and not match.group(2)}
    assert {n: lines[n - 1].strip() for n in broken} == {n: lines[n - 1].strip() for n in wanted}


@pytest.mark.parametrize("path", [p for p in FIXED if p in COMPILED], ids=lambda p: p.stem)
def test_fixed_in_dynamo(path: Path) -> None:
    torch = pytest.importorskip("torch")
    from dynamo import observe

    fixed = path.with_suffix(".fixed.py")
    left = {finding.span.line for finding in api.check([fixed], Settings()).findings}
    before, after = load(path).make_cases(), load(fixed).make_cases()
    for (old, old_args), (new, new_args) in zip(before, after, strict=True):
        torch.manual_seed(0)
        if isinstance(new, torch.nn.Module):
            new.load_state_dict(old.state_dict())
        wanted = original(old)(*old_args)
        seen = observe(original(new), new_args, str(fixed))
        assert seen.error is None
        assert seen.lines <= left
        assert_same(seen.output, wanted)
