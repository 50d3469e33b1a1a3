"""Findings against a record: no torch needed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tracesample import FINDINGS, PATH, finding, record

from compilelint import registry
from compilelint.report import trace_text
from compilelint.runtime.trace import journal
from compilelint.runtime.trace.join import SYNC_RULES, join, rules_for
from compilelint.runtime.trace.record import Break, Event, Record, Steps, Sync, Work, event_from_json, event_to_json
from compilelint.runtime.trace.report import report
from compilelint.runtime.trace.stacks import moments


def statuses(record: Record, *findings: object) -> list[tuple[str, str]]:
    joined, _ = join(record, list(findings or FINDINGS))  # type: ignore[arg-type]
    return [(each.status, each.detail) for each in joined]


def test_each_finding_has_a_status() -> None:
    joined, unpredicted = join(record(), FINDINGS)
    assert [each.status for each in joined] == ["confirmed", "confirmed", "refuted", "not reached"]
    first = joined[0]
    assert [each.gb_type for each in first.breaks] == ["Data-dependent branching"]
    assert (sum(each.count for each in first.syncs), first.blocked_us) == (4, 800.0)
    assert sum(each.kernels for each in joined[1].work) == 6
    assert [(each.kind, each.line) for each in unpredicted] == [
        ("break", 9),
        ("recompile", 3),
        ("sync", 10),
        ("sync", 7),
    ]


def test_a_break_of_two_on_a_line_confirms_the_one_that_names_its_type() -> None:
    run = Record(events=[Break(PATH, 4, gb_type="B")], traced={PATH: [4]})
    a, b = finding(4, "CL101", ("graph-break",), ("A",)), finding(4, "CL102", ("graph-break",), ("B",))
    assert [status for status, _ in statuses(run, a, b)] == ["refuted", "confirmed"]
    assert [status for status, _ in statuses(run, a)] == ["confirmed"]  # under another name, but it broke


def test_syncs_of_a_line_are_shared_by_its_findings() -> None:
    run = Record(events=[Sync(PATH, 4, what="Tensor.item", count=3)], syncs_are="predicted", executed={PATH: [4]})
    two = [finding(4, "CL201", ("sync",)), finding(4, "CL204", ("sync",))]
    told = report(run, two)
    assert [(each["run"]["syncs"], each["run"]["shared"]) for each in told["findings"]] == [(3, True), (3, True)]
    assert told["summary"]["syncs"] == 3
    assert trace_text.write(told).count("3 syncs, together with other findings of the line") == 2
    (alone,) = report(run, two[:1])["findings"]
    assert not alone["run"]["shared"]


def test_a_break_is_counted_once_however_often_it_is_compiled() -> None:
    run = Record(events=[Break(PATH, 4, gb_type="A", count=3)], traced={PATH: [4]})
    told = report(run, [finding(4, "CL101", ("graph-break",), ("A",))])
    assert told["findings"][0]["run"]["breaks"] == told["summary"]["breaks"] == 1


def test_what_a_run_can_not_tell() -> None:
    sync, launch = finding(4, "CL201", ("sync",)), finding(4, "CL302", ("launch",))
    both = finding(4, "CL101", ("graph-break", "sync"))
    outside = Record(syncs_are="measured", executed={PATH: [4]}, measured={PATH: [5]})
    assert statuses(outside, sync) == [("not reached", "the line ran, but not while syncs were counted")]
    eager = Record(syncs_are="predicted", executed={PATH: [4]})
    assert statuses(eager, launch) == [("not measured", "the line ran; what it costs shows on a GPU only")]
    assert statuses(eager, finding(4, "CL110", ("graph-break",))) == [
        ("not reached", "the line ran, but never under torch.compile")
    ]
    compiled = Record(syncs_are="predicted", executed={PATH: [4]}, traced={PATH: [4]})
    assert statuses(compiled, sync) == [
        ("not measured", "the line is compiled code, in which a CPU does not show all that would sync")
    ]
    unclear = Record(syncs_are="predicted", executed={PATH: [4]}, measured={PATH: [4]}, unclear={PATH: [4]})
    assert statuses(unclear, sync) == [("not measured", "the line ran; whether it waits shows on a GPU only")]
    quiet = Record(syncs_are="predicted", executed={PATH: [4]}, measured={PATH: [4]})
    assert statuses(quiet, both) == [("refuted", "the line ran, and none of its operators would sync")]


def test_a_statement_of_several_lines_is_one_place() -> None:
    long = finding(6, "CL110", ("graph-break",))
    long = replace(long, statement_line=4, span=replace(long.span, end_line=7))
    for line, status in ((4, "confirmed"), (7, "confirmed"), (3, "not reached"), (8, "not reached")):
        assert statuses(Record(events=[Break(PATH, line, gb_type="B")]), long)[0][0] == status


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("aten::item", "CL201"),
        ("aten::_local_scalar_dense", "CL201"),
        ("Tensor.__bool__", "CL201"),
        ("Tensor.tolist", "CL202"),
        ("Tensor.cpu", "CL202"),
        ("torch.nonzero", "CL203"),
        ("aten::index", "CL210"),
        ("torch.tensor", "CL401"),
        ("Tensor.to", "CL402"),
        ("Tensor.new_tensor", "CL401"),
        ("aten::allclose", "CL207"),
        ("torch.equal", "CL207"),
        ("torch.cuda.synchronize", "CL206"),
        ("ncclAllReduce", None),
    ],
)
def test_the_rule_of_a_sync(what: str, code: str | None) -> None:
    assert rules_for(Sync(PATH, 1, what=what)) == ([code] if code else [])


def test_rules_that_are_named_exist() -> None:
    assert {code for _, code in SYNC_RULES} <= {rule.code for rule in registry.all_rules()}
    assert "CL101" in rules_for(Break(PATH, 1, gb_type="Data-dependent branching"))


@pytest.mark.parametrize("event", record().events, ids=lambda event: event.kind)
def test_events_travel_as_json(event: Event) -> None:
    assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event


def test_the_journal_survives_a_program_that_dies(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    written = journal.Journal(str(path))
    for _ in range(10):
        written.add(Sync(PATH, 4, what="aten::item", blocked_us=1.0, calls={"cudaStreamSynchronize": 1}))
    written.add(Work(PATH, 4, kernels=2))
    written.line("executed", PATH, 4)
    path.write_text(path.read_text(encoding="utf-8") + '{"kind": "note", "te', encoding="utf-8")
    read = journal.read(path)
    (sync,) = read.of(Sync)
    assert not read.complete and 5 <= sync.count <= 10 and read.executed == {PATH: [4]}
    path.write_text(path.read_text(encoding="utf-8").rpartition("\n")[0] + "\n", encoding="utf-8")
    written.facts(steps={"by": "calls", "done": 3})
    written.end()
    written.add(Work(PATH, 5, kernels=2))  # too late
    read = journal.read(path)
    (sync,) = read.of(Sync)
    assert read.complete and (sync.count, sync.blocked_us, sync.calls) == (10, 10.0, {"cudaStreamSynchronize": 10})
    assert len(read.of(Work)) == 1 and read.steps == Steps(by="calls", done=3)


def test_text() -> None:
    text = trace_text.write(report(record(), FINDINGS))
    assert "6 steps (steps of an optimizer, loop at train.py:9), median 12.5 ms; 4 measured" in text
    both = "1 graph break (Data-dependent branching; frame skipped); 4 syncs, 0.800 ms blocked"
    assert f"confirmed    train.py:4:5  CL101 name-of-cl101  {both}" in text
    assert "refuted      train.py:6:5  CL110 name-of-cl110  Dynamo traced the line and did not break" in text
    assert "confirmed    train.py:5:5  CL302 name-of-cl302  6 kernels launched" in text
    assert "train.py:3 in step  recompile: size mismatch at index 0 (called at train.py:10)" in text
    assert "\ngraphs\n  train.py:5 in step  3 operators, compiled in 0 s\n" in text
    syncs = text.partition("host syncs (measured)")[2]
    assert syncs.index("aten::item") < syncs.index("aten::is_nonzero") < syncs.index("torch.cuda.synchronize")
    assert text.endswith(
        "4 findings: 2 confirmed, 1 refuted, 1 not reached; 2 graph breaks (1 frame skipped), 1 recompile, 1 graph, "
        "46 host syncs measured, 2.400 ms blocked; 4 not predicted.\n"
    )
    assert "\x1b[" not in text and "\x1b[" in trace_text.write(report(record(), FINDINGS), color=True)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (Record(exit_code=3), "exited with 3"),
        (Record(signal="SIGSEGV"), "was ended by SIGSEGV"),
        (Record(timed_out=5, hung_at="m.py:3 in f"), "did not finish within 5 s and was killed at m.py:3 in f"),
        (Record(exit_code=0, steps=Steps(done=7, stopped=True)), "exited with 0, stopped after 7 steps"),
    ],
)
def test_how_it_ended(run: Record, told: str) -> None:
    assert told in trace_text.outcome(report(run, []))


def test_no_stack_without_a_tree() -> None:
    assert moments([], [1]) == {}
