"""The parts of verify that need no worker: values compared, traces read, figures judged, targets parsed."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from fixturefiles import ROOT, load

from compilelint.errors import UsageProblem
from compilelint.runtime.breaks import Dynamo, guard
from compilelint.runtime.compare import difference
from compilelint.runtime.kernels import WINDOW, read_trace
from compilelint.runtime.places import Places
from compilelint.runtime.results import Check, Mode, Side, Site, VerifyResult, result_from_json
from compilelint.runtime.syncs import Prediction, Sites
from compilelint.runtime.table import kernel_lines, markdown, summary, text
from compilelint.runtime.target import LiteralInput, TensorInput, parse_input, parse_target
from compilelint.runtime.verdict import judge


def test_read_trace_counts_what_the_call_asked_for() -> None:
    """Work launched in the window counts, also when it runs later; the harness's own wait does not."""

    def event(category: str, name: str, start: float, correlation: int = 0, dur: float = 2) -> dict[str, Any]:
        args = {"correlation": correlation} if correlation else {}
        return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": dur, "args": args}

    counts = read_trace(
        [
            {"ph": "M", "name": "process_name"},
            event("cuda_runtime", "cudaLaunchKernel", 5, 1),
            event("kernel", "early", 6, 1),
            event("user_annotation", WINDOW, 10, dur=100),
            event("cuda_runtime", "cudaLaunchKernel", 20, 2),
            event("cuda_driver", "cuLaunchKernelEx", 30, 3),
            event("cuda_runtime", "cudaMemcpyAsync", 40, 4),
            event("cuda_runtime", "cudaStreamSynchronize", 45),
            event("cuda_runtime", "cudaGraphLaunch", 50, 5),
            event("cuda_runtime", "cudaDeviceSynchronize", 115),
            event("kernel", "add", 25, 2),
            event("kernel", "triton_mul", 35, 3),
            event("kernel", "replayed", 120, 5),
            event("kernel", "replayed", 122, 5),
            event("gpu_memcpy", "Memcpy DtoH", 41, 4),
        ]
    )
    assert counts.kernels == {"add": 1, "triton_mul": 1, "replayed": 2}
    assert counts.kernel_us == {"add": 2.0, "triton_mul": 2.0, "replayed": 4.0}
    assert (counts.launches, counts.memops, counts.gpu_us) == (3, {"Memcpy DtoH": 1}, 10.0)
    assert (counts.graph_launches, counts.replayed) == (1, 2)
    assert counts.waits == {"cudaStreamSynchronize": 1}


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        (torch.ones(3), torch.ones(3) + 1e-6, ""),
        (torch.ones(3), torch.ones(3) + 1e-3, "3 of 3 values differ"),
        (torch.ones(3, dtype=torch.float16), torch.ones(3, dtype=torch.float16) + 2e-3, ""),
        (torch.ones(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64) + 1e-6, "3 of 3"),
        (torch.tensor([1e6, 1.0]), torch.tensor([1e6, 1.5]), ""),  # an error of the size of the tensor's rounding
        (torch.tensor([float("nan"), float("inf")]), torch.tensor([float("nan"), float("inf")]), ""),
        (torch.tensor([float("inf")]), torch.tensor([float("-inf")]), "1 of 1 values differ"),
        (torch.tensor([1.0]), torch.tensor([float("nan")]), "1 of 1 values differ (nan or inf)"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "1 of 2"),
        (torch.ones(2), torch.ones(2, dtype=torch.float64), "dtype float32 became float64"),
        (torch.ones(2), torch.ones(2, 1), "shape [2] became [2, 1]"),
        (torch.ones(2), [1], "a tensor [2] became a list"),
        (0.5, torch.tensor(0.5), ""),
        (0.5, 0.6, "0.5 became 0.6"),
        (1, True, ""),
        ("a", "b", "'a' became 'b'"),
        (None, 0.0, "None became 0.0"),
    ],
)
def test_difference(left: Any, right: Any, told: str) -> None:
    found = difference(left, right)
    assert found.startswith(told) and bool(found) == bool(told), found


def predicted(function: Any, *arguments: Any) -> list[tuple[int, str]]:
    import inspect

    first = inspect.getsourcelines(function)[1]
    sites = Sites(Places([__file__.rpartition("/")[0]]))
    with Prediction(sites) as prediction:
        prediction.place("argument", [a for a in arguments if isinstance(a, torch.Tensor)])
        function(*arguments)
    return [(site.line - first, site.what) for site in sites.list()]


def test_predicted_syncs() -> None:
    def run(x: Any) -> None:
        y = x * 2
        y.sum().item()
        y[y > 0]
        y[y > 0] = 0.0
        y[0] = 1.0
        torch.nonzero(y)
        f"{y.sum()}"
        y.tolist()
        bool(y.any())
        torch.tensor([1.0, 2.0], device=x.device)
        y.to("cpu", non_blocking=True)
        torch.repeat_interleave(y, torch.ones(4, dtype=torch.int64).to(y.device))

    assert predicted(run, torch.ones(4)) == [
        (2, "Tensor.item"),
        (3, "Tensor.__getitem__"),
        (5, "Tensor.__setitem__"),
        (6, "torch.nonzero"),
        (7, "Tensor.__format__"),
        (8, "Tensor.tolist"),
        (9, "Tensor.__bool__"),
        (10, "torch.tensor"),
        (12, "Tensor.to"),
        (12, "torch.repeat_interleave"),
    ]


def test_what_lives_on_the_host_is_read_for_free() -> None:
    def run(x: Any) -> None:
        lengths = torch.tensor([3, 4])
        lengths.max().item()
        (lengths + 1).tolist()
        for _ in range(int(lengths[0])):
            x = x + 1
        moved = lengths.to(x.device)
        moved.sum().item()

    assert predicted(run, torch.ones(4)) == [(6, "Tensor.to"), (7, "Tensor.item")]


def test_a_break_in_a_library_says_so() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([parameter], lr=0.1)

    def step(x: Any) -> None:
        parameter.grad = x
        optimizer.step()

    with Dynamo(Places([__file__.rpartition("/")[0]])) as dynamo:
        torch.compile(step, backend="eager")(torch.ones(2))
    inside = [site for site in dynamo.breaks.values() if "inside torch/optim/optimizer.py:" in site.detail]
    assert inside and all(site.path == "test_verify_parts.py" for site in inside)


def mode(kernels: int, syncs: int, breaks: int = 0, memops: int | None = None) -> Mode:
    found = [Site("m.py", line, "Data-dependent branching") for line in range(breaks)]
    sites = [Site("m.py", 1, "Tensor.item", syncs)] if syncs else []
    return Mode(calls=2, breaks=found, kernels=kernels, syncs=sites, memops=memops, wall_us=10, wall_range_us=(9, 11))


@pytest.mark.parametrize(
    ("one", "two", "outcome"),
    [
        (mode(5, 1), mode(6, 0), "info"),  # a kernel for a sync
        (mode(5, 0), mode(6, 0), "worse"),
        (mode(5, 0, memops=1), mode(6, 0, memops=0), "same"),
        (mode(5, 0, breaks=1), mode(7, 0), "info"),
        (mode(5, 0), mode(4, 0), "better"),
    ],
)
def test_more_kernels_are_worse_only_for_nothing(one: Mode, two: Mode, outcome: str) -> None:
    verdicts = judge(Side("before", compiled=one), Side("after", compiled=two))
    assert {verdict.metric: verdict.outcome for verdict in verdicts}["kernels"] == outcome


def test_tables_of_a_gpu() -> None:
    before = Side(
        "v1", eager=mode(40, 3, memops=4), compiled=mode(12, 3, 1, 4), device="cuda:0", device_name="NVIDIA X"
    )
    after = Side("v2", eager=mode(42, 0, memops=0), compiled=mode(9, 0, 0, 0), device="cuda:0", device_name="NVIDIA X")
    result = VerifyResult("m.py:make", "cuda:0", before, after, verdicts=judge(before, after))
    assert "| host syncs | 3 | 0 | 3 | 0 | ✓ better |" in markdown(result)
    assert "| kernels | 40 | 42 | 12 | 9 | ✓ better |" in markdown(result)
    drawn = text(result)
    assert "memory operations" in drawn and "NVIDIA X" in drawn and "predicted" not in drawn
    assert "\x1b[" in text(result, color=True)
    assert "\x1b[" not in drawn


def test_kernels_by_name() -> None:
    before = mode(3, 0)
    before.kernel_names, before.kernel_us = {"add": 2, "mul": 1}, {"add": 4.0, "mul": 9.5}
    before.memops, before.memop_names = 1, {"Memcpy DtoH (Device -> Pageable)": 1}
    after = mode(14, 0)
    after.kernel_names = {f"triton_{n}": 1 for n in range(14)}
    after.graph_launches, after.replayed = 1, 14
    result = VerifyResult("m.py:make", "cuda:0", Side("v1", compiled=before), Side("v2", compiled=after))
    assert [line for _, line in kernel_lines(result) if line.startswith("before")] == [
        "before  mul \u00d71  10 \u00b5s",
        "before  add \u00d72  4 \u00b5s",
        "before  Memcpy DtoH (Device -> Pageable) \u00d71",
    ]
    assert kernel_lines(result)[-2] == ("kernels (compiled)", "after   and 2 other names")
    assert "Memcpy DtoH (Device -> Pageable)" in text(result, kernels=True)
    assert "triton_0" not in text(result)
    assert "| CUDA graphs launched |  |  |  | 1 |  |" in markdown(result)
    assert "| kernels replayed by them |  |  |  | 14 |  |" in markdown(result)


def test_more_kernels_in_one_mode_are_told() -> None:
    before = Side("v1", eager=mode(40, 3), compiled=mode(12, 3))
    after = Side("v2", eager=mode(42, 0), compiled=mode(9, 0))
    result = VerifyResult("m.py:make", "cuda:0", before, after, verdicts=judge(before, after))
    assert "| kernels | 40 | 42 | 12 | 9 | eager more, compiled ✓ better |" in markdown(result)
    assert "nothing worse, 3 figures better, more kernels in eager code (" in summary(result)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("0/0: self.n == 1  # return x * self.n  # /tmp/x/m.py:7 in f (HINT: mark it)", "self.n == 1"),
        ("1/2: ___check_type_id(L['f'], 1), type A (HINT: type A)\n0/1: other", "___check_type_id(L['f'], 1), type A"),
        ("0/0: L['s'] == 'a # b'", "L['s'] == 'a # b'"),
    ],
)
def test_the_guard_of_a_recompile(reason: str, told: str) -> None:
    assert guard(reason) == told


def test_results_travel_as_json() -> None:
    before, after = Side("v1", eager=mode(40, 3), compiled=mode(12, 3, 1)), Side("v2", compiled=mode(9, 0))
    result = VerifyResult("m.py:make", "cpu", before, after, "eager", [], judge(before, after))
    result.checks.append(Check("eager", "outputs", equal=True, count=2))
    assert result_from_json(json.loads(json.dumps(result.to_json()))) == result


def test_written_table_is_that_of_its_figures() -> None:
    module = load(ROOT / "benchmarks" / "verify_gpu.py")
    written = ROOT / "benchmarks" / "results" / "verify_h200.md"
    assert module.rendered(written.with_suffix(".json")) == written.read_text(encoding="utf-8"), (
        "run `python benchmarks/verify_gpu.py --render`, then `python scripts/readme.py`"
    )


def test_targets_and_inputs() -> None:
    assert parse_target("a/b.py:Net.make").file == "a/b.py"
    assert parse_target("pack.mod:make").module == "pack.mod"
    assert parse_input("f32[8, 128]") == TensorInput("float32", (8, 128))
    assert parse_input("i64[]<7") == TensorInput("int64", (), 7)
    assert parse_input("bf16[2]+grad") == TensorInput("bfloat16", (2,), grad=True)
    assert parse_input("(1, 'a')") == LiteralInput((1, "a"))
    for wrong in ("m.py", "m.py:", ":make", "a/b:make", "pack.mod:a-b"):
        with pytest.raises(UsageProblem, match="TARGET"):
            parse_target(wrong)
    for wrong in ("f32[a]", "i64[2]+grad", "x y", "f32[2,,3]"):
        with pytest.raises(UsageProblem, match="--input"):
            parse_input(wrong)
