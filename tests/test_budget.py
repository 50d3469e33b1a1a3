"""Budgets: growth is told by site, moved and edited lines are none, and a run that doesn't end has no figures."""

from __future__ import annotations

import json
import os
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from compilelint.budget import Outcome, _judge, _refuse_unfinished, compare, measured
from compilelint.budgetfile import Budget, Site, Sites
from compilelint.cli import compilelint
from compilelint.errors import UsageProblem
from compilelint.runtime.trace.record import Break, Graph, Recompile, Record, Steps, Sync, Work

ITEM = Site("syncs", "m.py", "train", "total += loss.item()", "Tensor.item")


def sites(*found: tuple[Site, int]) -> Sites:
    return Counter(dict(found))


@pytest.mark.parametrize(
    ("now", "grew"),
    [
        (ITEM, {}),
        (Site("syncs", "other.py", "fit", ITEM.source, ITEM.what), {}),  # moved
        (Site("syncs", "m.py", "train", "total = total + loss.item()", ITEM.what), {}),  # edited
        (Site("syncs", "m.py", "train", "total += float(loss)", "Tensor.__float__"), {}),  # as many as before
        (Site("syncs", "m.py", "test", "total += float(loss)", "Tensor.__float__"), {"test": 2}),  # another site
        (Site("breaks", "m.py", "train", ITEM.source, ITEM.what), {"train": 2}),  # of another kind
    ],
)
def test_what_is_growth(now: Site, grew: dict[str, int]) -> None:
    more, fewer = compare(sites((ITEM, 2)), sites((now, 2)))
    assert {site.function: count for site, count in more.items()} == grew
    assert bool(fewer) == bool(grew)


def test_more_of_the_same() -> None:
    more, fewer = compare(sites((ITEM, 2)), sites((ITEM, 5)))
    assert (more, fewer) == (sites((ITEM, 3)), sites())
    moved = Site("syncs", "m.py", "fit", ITEM.source, ITEM.what)
    more, fewer = compare(sites((ITEM, 2)), sites((ITEM, 1), (moved, 2)))
    assert (more, fewer) == (sites((moved, 1)), sites())


def judged(stored: Sites, now: Sites, torch: str = "2.13.0") -> Outcome:
    budget = Budget(torch, "inductor", "", now, dict.fromkeys(now, 7))
    outcome = Outcome("m.py:make", "cpu", budget)
    _judge(outcome, Budget("2.13.0", "inductor", "", stored))
    return outcome


BREAK = Site("breaks", "m.py", "forward", "if x.any():", "Data-dependent branching")
GRAPH, KERNEL = Site("graphs", "m.py", "forward"), Site("kernels", "m.py", "forward")


def test_growth_is_told_by_site() -> None:
    (change,) = judged(sites((ITEM, 2)), sites((ITEM, 3))).grew
    assert str(change) == "syncs 2 → 3 at m.py:7 in train: `total += loss.item()` (Tensor.item)"
    outcome = judged(sites((ITEM, 2), (BREAK, 1)), sites((ITEM, 1)))
    assert not outcome.grew
    assert [(change.site.metric, change.stored, change.now) for change in outcome.shrank] == [
        ("breaks", 1, 0),
        ("syncs", 2, 1),
    ]


def test_graphs_and_kernels_that_were_paid_for() -> None:
    """A break that goes makes graphs where there were none."""
    outcome = judged(sites((BREAK, 1)), sites((GRAPH, 1), (KERNEL, 3)))
    assert not outcome.grew
    assert outcome.notes == ["more graphs (0 → 1), but fewer breaks", "more kernels (0 → 3), but fewer breaks"]
    assert [change.site.metric for change in judged(sites((GRAPH, 1)), sites((GRAPH, 2))).grew] == ["graphs"]
    assert [change.site.metric for change in judged(sites((KERNEL, 1)), sites((KERNEL, 2))).grew] == ["kernels"]


def test_kernels_of_another_release_are_not_compared() -> None:
    outcome = judged(sites((KERNEL, 1), (ITEM, 1)), sites((KERNEL, 2), (ITEM, 2)), torch="2.14.0")
    assert [change.site.metric for change in outcome.grew] == ["syncs"]
    assert outcome.notes == ["stored with torch 2.13.0 inductor: kernels are not compared"]


GUARDS = (  # without numbers that are others at each run
    "tensor 'x' size mismatch at index \u2026. expected \u2026, actual \u2026",
    "___check_obj_id(L['args'][0], \u2026)",
)


def test_costs_of_a_record(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("a\n  b =  1\n", encoding="utf-8")
    events = [
        Break("m.py", 2, "f", gb_type="Data-dependent branching", count=3),
        Break("m.py", 2, "f", gb_type="Other", inside="torch/optim/optimizer.py:79"),
        Recompile("m.py", 1, "f", guard="tensor 'x' size mismatch at index 0. expected 4, actual 772", count=2),
        Recompile("m.py", 1, "f", guard="___check_obj_id(L['args'][0], 140176354260304)"),
        Sync("m.py", 2, "f", what="Tensor.item", count=4),
        Graph("m.py", 1, "f", ops=2, kernels=2),
        Graph("m.py", 2, "f", ops=5, kernels=1),
        Work("m.py", 2, "f", kernels=6, copies=1),
    ]
    record = Record(torch="2.13.0", device="cuda", events=events, files={str(tmp_path / "m.py"): "m.py"})
    on_gpu = measured(record, "inductor")
    assert on_gpu.sites == {
        Site("breaks", "m.py", "f", "b = 1", "Data-dependent branching"): 1,
        Site("breaks", "m.py", "f", "b = 1", "Other, inside torch/optim/optimizer.py"): 1,
        Site("recompiles", "m.py", "f", "", GUARDS[0]): 2,
        Site("recompiles", "m.py", "f", "", GUARDS[1]): 1,
        Site("syncs", "m.py", "f", "b = 1", "Tensor.item"): 4,
        Site("graphs", "m.py", "f"): 2,
        Site("kernels", "m.py", "f", "b = 1"): 6,
    }
    record.device = "cpu"
    assert measured(record, "inductor").sites[Site("kernels", "m.py", "f")] == 3


CODE = """
    import os, torch

    def count(x):
        BODY
        return x

    def make():
        net = torch.compile(torch.nn.Linear(4, 4), backend="BACKEND")

        def step(batches):
            total = 0.0
            for x in batches:
                count(x)
                total += net(x).sum().item()
            return total

        return step, ([torch.ones(2, 4) for _ in range(3)],)
"""


def write(body: str = "pass", backend: str = "eager", above: str = "") -> None:
    text = above + textwrap.dedent(CODE).replace("BODY", body).replace("BACKEND", backend)
    Path("m.py").write_text(text, encoding="utf-8")


def command(*arguments: str) -> Result:
    return CliRunner().invoke(compilelint, ["budget", *arguments], standalone_mode=False)


def problem(*arguments: str) -> str:
    done = command(*arguments)
    assert done.exception is not None, done.output
    return str(done.exception)


def test_a_budget_that_is_kept_and_overrun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    write()
    done = command("m.py:make", "--write", "--device", "cpu")
    assert done.return_value == 0, done.output
    stored = json.loads(Path("compilelint-budget.json").read_text(encoding="utf-8"))
    kept = stored["targets"]["m.py:make"]["devices"]["cpu"]
    assert kept["totals"] == {"breaks": 0, "recompiles": 0, "syncs": 3, "graphs": 1, "kernels": 0}
    assert [(site["function"], site["source"]) for site in kept["sites"] if site["metric"] == "syncs"] == [
        ("step", "total += net(x).sum().item()")
    ]
    assert sorted(os.listdir()) == ["compilelint-budget.json", "m.py"]
    write("x.sum().item()", above="# moved down\n\n\n")
    done = command("--json", "--device", "cpu")
    assert done.return_value == 1, done.output
    (told,) = json.loads(done.stdout)["budgets"]
    assert [(change["now"], change["line"], change["site"]["source"]) for change in told["grew"]] == [
        (3, 8, "x.sum().item()")
    ]
    assert json.loads(Path("compilelint-budget.json").read_text(encoding="utf-8")) == stored
    write("os._exit(0)")
    assert "ended its process with code 0 before it was measured" in problem("--write", "--device", "cpu")
    assert json.loads(Path("compilelint-budget.json").read_text(encoding="utf-8")) == stored


def test_what_is_no_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = "compilelint-budget.json: there is no such file here; store one with `compilelint budget TARGET --write`"
    assert problem().startswith(first)
    assert "store one with `compilelint budget m.py:make --write`" in problem("m.py:make")
    stored("{}")
    assert "is no budget: the file: has no 'version'" in problem()
    stored('{"version": 2}')
    assert "is of version 2; this compilelint reads version 1" in problem()
    stored('{"version": 1, "targets": {}}')
    assert problem().startswith("compilelint-budget.json: holds no budget; store one with")
    assert "holds no budget of m.py:make" in problem("m.py:make")
    stored("[" * 100_000)
    assert "nested too deeply; mend it, or delete it" in problem()
    stored('{"version": 1,')
    assert "not valid JSON" in problem()


def stored(text: str) -> None:
    Path("compilelint-budget.json").write_text(text, encoding="utf-8")


SITE = {"metric": "syncs", "path": "m.py", "function": "f", "source": "x.item()", "what": "Tensor.item", "count": 2}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"count": -3}, "sites[0].count: expected 1 or more, not -3"),
        ({"count": "2"}, 'sites[0].count: expected a whole number, not "2"'),
        ({"count": True}, "sites[0].count: expected a whole number, not true"),
        ({"metric": "time"}, "sites[0].metric: expected one of breaks, recompiles, syncs, graphs, kernels, not 'time'"),
        ({"path": None}, "sites[0].path: expected a text, not null"),
    ],
)
def test_a_site_that_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    device = {"torch": "2.13.0", "backend": "eager", "device_name": "", "sites": [{**SITE, **change}]}
    stored(json.dumps({"version": 1, "targets": {"m.py:make": {"inputs": [], "devices": {"cpu": device}}}}))
    assert f"is no budget: targets['m.py:make'].devices['cpu'].{told}; mend it" in problem()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("device_name", 3, ".device_name: expected a text, not 3"),
        ("sites", {}, ".sites: expected a list, not an object"),
        ("sites", [3], ".sites[0]: expected an object, not 3"),
        ("torch", None, ".torch: expected a text, not null"),
    ],
)
def test_a_budget_that_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: object, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    device = {"torch": "2.13.0", "backend": "eager", "device_name": "", "sites": [], key: value}
    stored(json.dumps({"version": 1, "targets": {"m.py:make": {"inputs": [], "devices": {"cpu": device}}}}))
    assert f"devices['cpu']{told}; mend it" in problem()


@pytest.mark.slow
def test_kernels_that_inductor_generates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("torch.compile(lambda y: (y.sin() + 1).sum(0))(x)", backend="inductor")
    done = command("m.py:make", "--write", "--device", "cpu", "--file", "costs.json")
    assert done.return_value == 0, done.output
    (target,) = json.loads(Path("costs.json").read_text(encoding="utf-8"))["targets"].values()
    kernels = [site for site in target["devices"]["cpu"]["sites"] if site["metric"] == "kernels"]
    assert kernels and all(each["path"] == "m.py" and each["count"] >= 1 for each in kernels)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (Record(timed_out=5.0, hung_at="m.py:5 in count"), "did not finish within 5 s (at m.py:5 in count)"),
        (Record(signal="SIGSEGV"), "was ended by SIGSEGV"),
        (Record(exit_code=3, complete=True), "ended its process with code 3 before it was measured"),
        (Record(exit_code=0, complete=True, steps=Steps(done=0)), "with code 0 before it was measured"),
    ],
)
def test_a_run_without_an_end(record: Record, told: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        _refuse_unfinished("m.py:make", record)
    assert told in str(caught.value)
