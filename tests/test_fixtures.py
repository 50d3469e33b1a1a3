"""Every rule's fixture: what check finds, what fix writes, and that Dynamo breaks where a graph break is reported.

The marks are those of `fixturefiles.py`. `clNNN_name.fixed.py` is what `fix --unsafe-fixes` makes of `clNNN_name.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fixturefiles import FILES, FIXED, code_of, expected, load, marks

from compilelint import api, registry
from compilelint.config import Settings

BREAKING = [path for path in FILES if "graph-break" in registry.find_rule(code_of(path)).effects]
UNSAFE = replace(Settings(), unsafe_fixes=True)


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


@pytest.fixture(autouse=True)
def switches() -> Iterator[None]:
    """What a fixed file sets of Dynamo's configuration is undone."""
    try:
        import torch._dynamo.config as config
    except ImportError:
        yield
        return
    name = "trace_autograd_ops"
    before = getattr(config, name, None)
    yield
    if before is not None:
        setattr(config, name, before)


def shown(path: Path, lines: Iterable[int]) -> dict[int, str]:
    """The text of these lines, so that a failure can be read."""
    text = path.read_text(encoding="utf-8").splitlines()
    return {number: text[number - 1].strip() for number in sorted(lines)}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_check(path: Path) -> None:
    result = api.check([path], Settings())
    assert not result.errors
    found = Counter((finding.span.end_line, finding.code) for finding in result.findings)
    starts = Counter((finding.span.line, finding.code) for finding in result.findings)
    wanted = expected(path)
    assert starts == wanted or found == wanted, f"too many: {starts - wanted}, missing: {wanted - starts}"


def remake(path: Path) -> str:
    """How a `.fixed.py` is made."""
    fixed = f"fixtures/{path.stem}.fixed.py"
    command = f"python -m compilelint fix --unsafe-fixes --apply --isolated {fixed}"
    return f"make {fixed} anew and read it: cp fixtures/{path.name} {fixed} && {command}"


@pytest.mark.parametrize("path", FIXED, ids=lambda p: p.stem)
def test_fix(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    api.fix([copy], UNSAFE, apply=True)
    once = copy.read_text(encoding="utf-8")
    assert once == path.with_suffix(".fixed.py").read_text(encoding="utf-8"), remake(path)
    api.fix([copy], UNSAFE, apply=True)
    assert copy.read_text(encoding="utf-8") == once, "a second fix changes what the first one wrote"


@pytest.mark.parametrize("path", [path for path in FILES if path not in FIXED], ids=lambda p: p.stem)
def test_nothing_to_fix(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    api.fix([copy], UNSAFE, apply=True)
    assert copy.read_bytes() == path.read_bytes(), f"fix changes it: {remake(path)}"


@pytest.mark.parametrize("path", BREAKING, ids=lambda p: p.stem)
def test_dynamo(path: Path) -> None:
    """Dynamo breaks on exactly the marked lines, and fails as often as a line says `raises`."""
    pytest.importorskip("torch")
    from dynamo import observe

    cases = load(path).make_cases()
    if not cases:
        pytest.skip("no cases")
    seen = [observe(original(function), args, str(path)) for function, args in cases]
    errors = [each.error for each in seen if each.error is not None]
    failing = {mark.line for mark in marks(path) if mark.how == "raises"}
    assert len(errors) == len(failing), errors
    broken = {line for each in seen for line in each.lines} - failing
    wanted = {mark.line for mark in marks(path) if not mark.how}
    assert shown(path, broken) == shown(path, wanted)


@pytest.mark.parametrize("path", [p for p in FIXED if p in BREAKING], ids=lambda p: p.stem)
def test_fixed_in_dynamo(path: Path) -> None:
    """After the fix Dynamo breaks where check still says so and nowhere else, and computes what eager code did."""
    torch = pytest.importorskip("torch")
    from dynamo import observe

    fixed = path.with_suffix(".fixed.py")
    result = api.check([fixed], Settings())
    assert not result.errors
    left = {finding.span.line for finding in result.findings if "graph-break" in finding.effects}
    before, after = load(path).make_cases(), load(fixed).make_cases()
    broken: set[int] = set()
    for (old, old_args), (new, new_args) in zip(before, after, strict=True):
        torch.manual_seed(0)
        if isinstance(new, torch.nn.Module):
            new.load_state_dict(old.state_dict())
        wanted = original(old)(*old_args)
        seen = observe(original(new), new_args, str(fixed))
        assert seen.error is None
        broken |= seen.lines
        assert_same(seen.output, wanted)
    assert shown(fixed, broken) == shown(fixed, left)
