"""Which fixes a run proves, with a run that is made up: what is tried, kept and told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from compilelint import proving
from compilelint.errors import UsageProblem
from compilelint.finding import Applicability, Edit, Finding, FixPlan, Region, Severity, Span
from compilelint.fix.run import FixResult, fix_files
from compilelint.proving import Prover
from compilelint.runtime.results import Check, Mode, Side, VerifyResult
from compilelint.runtime.sources import Tree
from compilelint.runtime.verify import Running

CODE = "".join(f"old({number})\n" for number in range(8))


def finding(text: str, match: re.Match[str], new: str, code: str = "CL999") -> Finding:
    line = text.count("\n", 0, match.start()) + 1
    column = match.start() - text.rfind("\n", 0, match.start())
    span = Span("m.py", line, column, line, column + 3)
    plan = FixPlan(new, Applicability.SAFE, edits=(Edit(match.start(), match.end(), new),))
    return Finding(code, "name", ("sync",), Severity.WARNING, span, "", Region("step", "", ""), fix=plan)


def renames(texts: Mapping[str, str], dirty: object) -> Iterable[Finding]:
    """`old` becomes `new`, and `new(7)`, once it is there, `newest(7)`."""
    text = texts["m.py"]
    yield from (finding(text, match, "new") for match in re.finditer(r"\bold\b", text))
    yield from (finding(text, match, "newest", "CL998") for match in re.finditer(r"\bnew\b(?=\(7\))", text))


class Made:
    """A session whose fixed code fails where it holds what `bad` matches."""

    bad = "never"
    runs: ClassVar[list[str]]  # the texts that were run
    places = False  # whether what failed names its line
    itself = True
    lines = range(1, 9)

    def __init__(self, target: Any, given: dict[str, Tree], cwd: Path, scratch: Path, running: Running) -> None:
        self.target = target
        self.trees = {"after": Tree(scratch / "after", scratch / "after", "fixed")}
        (scratch / "after").mkdir()
        self.before = Side("before", eager=Mode(), compiled=Mode())
        self.reached = {"m.py": list(self.lines)}

    def measure_before(self, *, reached: bool) -> None:
        assert reached

    def compare_after(self) -> VerifyResult:
        place = self.trees["after"].root / "m.py"
        text = place.read_text(encoding="utf-8")
        type(self).runs.append(text)
        fails = bool(re.search(self.bad, text)) or not (self.itself or text != CODE)
        found = re.search(self.bad, text)
        at = f" at m.py:{text.count(chr(10), 0, found.start()) + 1}" if found and self.places else ""
        check = Check("eager", "outputs", not fails, 1, f"other values{at}" if fails else "")
        return VerifyResult("m.py:make", "cpu", self.before, Side("fixed"), checks=[check])


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Made]:
    class Session(Made):
        runs: ClassVar[list[str]] = []

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(proving, "Session", Session)
    Path("m.py").write_text(CODE, encoding="utf-8")
    return Session


def fixed(find: Callable[..., Iterable[Finding]] = renames, *, apply: bool = True) -> tuple[FixResult, Prover]:
    prover = Prover("m.py:make", Running())
    return fix_files([Path("m.py")], find, apply=apply, prove=prover), prover


def after() -> str:
    return Path("m.py").read_text(encoding="utf-8")


def test_all_at_once(made: type[Made]) -> None:
    result, prover = fixed()
    assert after() == CODE.replace("old", "new").replace("new(7)", "newest(7)")
    assert prover.runs == len(made.runs) == 1
    assert not result.disproved


def test_one_of_eight(made: type[Made]) -> None:
    made.bad = r"new\(2\)"
    result, prover = fixed()
    assert after() == CODE.replace("old", "new").replace("new(2)", "old(2)").replace("new(7)", "newest(7)")
    ((_, skipped),) = result.disproved
    assert (skipped.line, skipped.reason) == (3, "eager: outputs differ: other values")
    assert prover.runs < 9  # halves, and the code as it is
    assert prover.result is not None and prover.result.ok
    assert after() in made.runs  # what is kept was run as a whole


@pytest.mark.parametrize(("apply", "line"), [(False, 3), (True, 5)])
def test_lines_are_those_that_the_user_sees(made: type[Made], apply: bool, line: int) -> None:
    """Of the file as it is now, though the fixes that were kept made others of them."""

    def longer(texts: Mapping[str, str], dirty: object) -> Iterable[Finding]:
        text = texts["m.py"]
        yield from (finding(text, match, "0\nnew") for match in re.finditer(r"\bold\b", text))

    made.bad, made.places = r"new\(2\)", True
    result, _ = fixed(longer, apply=apply)
    ((place, skipped),) = result.disproved
    assert place == f"m.py:{line}"
    assert skipped.reason == "eager: outputs differ: other values at m.py:3"


def test_two_that_fail_only_together(made: type[Made]) -> None:
    made.bad = r"(?s)new\(1\).*new\(6\)"
    result, _ = fixed()
    assert after().count("new") == 7
    assert [skipped.line for _, skipped in result.disproved] == [7]


def test_a_fix_of_a_fix(made: type[Made]) -> None:
    """Where the first is not kept, the second has nothing to change."""
    made.bad = r"new\(7\)|newest"
    result, _ = fixed()
    assert after() == CODE.replace("old", "new").replace("new(7)", "old(7)")
    assert {skipped.code for _, skipped in result.disproved} == {"CL999"}
    made.bad = "newest"
    made.runs.clear()
    Path("m.py").write_text(CODE, encoding="utf-8")
    result, _ = fixed()
    assert after() == CODE.replace("old", "new")
    assert {skipped.code for _, skipped in result.disproved} == {"CL998"}


def test_lines_that_do_not_run(made: type[Made]) -> None:
    made.lines = range(1, 3)
    result, prover = fixed()
    assert after().count("new") == 2
    assert {skipped.reason for _, skipped in result.disproved} == {"m.py:make does not run it: nothing would be proved"}
    assert prover.runs == 1


def test_code_that_differs_from_itself(made: type[Made]) -> None:
    made.bad, made.itself = "new", False
    with pytest.raises(UsageProblem, match="unchanged code differs from itself at a second run"):
        fixed()
    assert after() == CODE


def test_nothing_to_prove(made: type[Made]) -> None:
    result, prover = fixed(lambda texts, dirty: [])
    assert (prover.runs, result.changed, prover.result) == (0, [], None)
