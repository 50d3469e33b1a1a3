"""trace on programs that use torch: what Dynamo did, predicted syncs, steps. Each process imports torch."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from compilelint import api
from compilelint.errors import UsageProblem

torch = pytest.importorskip("torch")

TRAIN = """
    import sys
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

        def forward(self, x):
            for layer in self.layers:
                x = torch.relu(layer(x))
                if torch.isnan(x).any():  # the frame is skipped
                    x = torch.nan_to_num(x)
            return x

    def head(x, scale):
        print("once")  # the graph is split
        return x.sum() * scale

    @torch.compile(backend="eager")
    def clean(x):
        if x.shape[0] > 100:
            print("never")
        return x * 2

    @torch.compile(backend="eager", fullgraph=True)
    def whole(x):
        return x.item() if x.is_floating_point() and x.sum() > 0 else 0

    def main():
        torch.manual_seed(0)
        model = torch.compile(Net(), backend="eager")
        loss_of = torch.compile(head, backend="eager")
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        batches = [torch.randn(4, 8) for _ in range(6)]
        total, device = 0.0, "cpu"
        for number, x in enumerate(batches):
            loss = loss_of(model(clean(x.to(device))), 1.0 + number)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item()
        print(torch.ones(2).to("cpu").tolist())
        torch.cuda.empty_cache()
        try:
            whole(torch.ones(3))
        except Exception as error:
            print(type(error).__name__)
        print(f"{total:.6f}")

    if __name__ == "__main__":
        main()
"""


def line(source: str, text: str) -> int:
    (found,) = [number for number, each in enumerate(textwrap.dedent(source).splitlines(), 1) if text in each]
    return found


def trace(folder: Path, source: str, program: str = "main.py", **options: Any) -> dict[str, Any]:
    (folder / "main.py").write_text(textwrap.dedent(source), encoding="utf-8")
    settings = api.load_settings(isolated=True)
    result = api.trace(program, settings=settings, cwd=folder, syncs="predict", timeout=300, **options)
    return result.report


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return trace(tmp_path_factory.mktemp("trained"), TRAIN)


def of(report: dict[str, Any], kind: str, path: str = "main.py") -> dict[int, dict[str, Any]]:
    return {each["line"]: each for each in report["events"] if each["kind"] == kind and each["path"] == path}


def test_breaks(trained: dict[str, Any]) -> None:
    assert trained["program"]["exit_code"] == 0 and trained["notes"] == []
    breaks = of(trained, "break")
    skipped, split = breaks[line(TRAIN, "isnan")], breaks[line(TRAIN, '"once"')]
    assert (skipped["gb_type"], skipped["effect"], skipped["frame"]) == ("Data-dependent branching", "skip", "forward")
    assert skipped["hints"] and "Dynamo" in skipped["reason"]
    assert [each["function"] for each in skipped["stack"]] == ["<module>", "main", "forward"]
    assert (split["gb_type"], split["effect"]) == ("Failed to trace builtin operator", "split")
    assert "CL110" in split["codes"]
    raised = breaks[line(TRAIN, "x.item() if")]
    assert raised["effect"] == "raise"
    assert len(breaks) == 3


def test_recompiles_and_graphs(trained: dict[str, Any]) -> None:
    (recompile,) = of(trained, "recompile").values()
    assert recompile["function"] == "head" and "scale" in recompile["guard"] and recompile["step"] == 1
    assert line(TRAIN, "loss_of(model") in [each["line"] for each in recompile["stack"]]
    graphs = of(trained, "graph")
    assert graphs[line(TRAIN, "x * 2")]["ops"] == 1


def test_predicted_syncs(trained: dict[str, Any]) -> None:
    syncs = {number: (each["what"], each["count"]) for number, each in of(trained, "sync").items()}
    assert syncs[line(TRAIN, "isnan")] == ("aten::_local_scalar_dense", 18)
    assert syncs[line(TRAIN, "total += loss.item()")] == ("Tensor.item", 6)
    assert syncs[line(TRAIN, "clean(x.to")] == ("Tensor.to", 6)
    assert syncs[line(TRAIN, "empty_cache")] == ("torch.cuda.memory.empty_cache", 1)
    assert line(TRAIN, "optimizer.step") not in syncs  # its step counts live on the host
    assert line(TRAIN, '"once"') not in syncs  # `scale` varies: Dynamo reads it from a tensor on the host
    assert trained["syncs_are"] == "predicted" and trained["summary"]["blocked_ms"] is None


def test_findings_are_joined(trained: dict[str, Any]) -> None:
    found = {each["line"]: each for each in trained["findings"]}
    broke = found[line(TRAIN, "isnan")]["run"]
    assert (broke["status"], broke["breaks"], broke["syncs"], broke["skips_frame"]) == ("confirmed", 1, 18, True)
    assert found[line(TRAIN, '"never"')]["run"]["status"] == "not reached"


def test_steps(trained: dict[str, Any]) -> None:
    steps = trained["steps"]
    assert (steps["by"], steps["done"], steps["measured"]) == ("steps of an optimizer", 6, 6)
    assert steps["line"] == line(TRAIN, "enumerate(batches)") and not steps["stopped"]


def test_the_program_is_ended_after_its_steps(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report = trace(tmp_path, TRAIN, steps=2, after=1)
    assert report["steps"]["stopped"] and (report["steps"]["done"], report["steps"]["measured"]) == (3, 2)
    assert report["program"]["exit_code"] == 0 and report["complete"]
    syncs = of(report, "sync")
    assert syncs[line(TRAIN, "total += loss.item()")]["count"] == 2
    assert line(TRAIN, "isnan") in of(report, "break")  # of the first step: warm-up is where things are compiled
    assert "Error" not in capfd.readouterr().out


LOADER = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.nn.Linear(4, 2)
    total = 0.0
    for epoch in range(2):
        for (x,) in DataLoader(TensorDataset(torch.randn(12, 4)), batch_size=4):
            total += model(x).sum().item()
"""

HOT = """
    import torch

    model = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(9)))
    for name in range(50):
        str(name)
    x = torch.randn(1, 4)
    while True:
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        x = model(x)
"""


def test_steps_without_an_optimizer(tmp_path: Path) -> None:
    steps = trace(tmp_path, LOADER)["steps"]
    assert (steps["by"], steps["line"]) == ("batches of a DataLoader", line(LOADER, "for (x,)"))
    assert steps["done"] == 6
    report = trace(tmp_path, HOT, steps=12)
    assert (report["steps"]["by"], report["steps"]["line"]) == ("turns of the hottest loop", line(HOT, "while True"))
    assert report["steps"]["stopped"] and report["program"]["exit_code"] == 0


TARGET = """
    import torch

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, scale: float):
            y = x * scale
            if y.sum() > 0:
                y = y + 1
            return y

    def make():
        return Net(), (torch.ones(3, requires_grad=True), 2.0)
"""


def test_target(tmp_path: Path) -> None:
    report = trace(tmp_path, TARGET, "main.py:make", backend="eager")
    branch = line(TARGET, "y.sum() > 0")
    assert of(report, "break")[branch]["gb_type"] == "Data-dependent branching"
    assert of(report, "sync")[branch]["count"] == 3
    assert (report["steps"]["by"], report["steps"]["measured"]) == ("calls of TARGET", 3)
    assert report["explained"]["graphs"] >= 1
    assert [each["run"]["status"] for each in report["findings"]] == ["confirmed"]
    assert any("compiles nothing itself" in note for note in report["notes"])


READS = """
    import torch

    HOST = torch.device("cpu")

    def read(x: torch.Tensor):
        y = x * 2
        print("split")
        host = (y + 1).cpu()
        values = (y + 2).tolist()
        moved = (y + 3).to(HOST)
        return host, values, moved

    compiled = torch.compile(read, backend="eager")

    def make():
        return compiled, (torch.ones(3),)

    if __name__ == "__main__":
        for _ in range(3):
            compiled(torch.ones(3))
"""


def test_calls_that_compiled_code_hides(tmp_path: Path) -> None:
    report = trace(tmp_path, READS, "main.py:make")
    syncs = of(report, "sync")
    assert {line(READS, ".cpu()"), line(READS, ".tolist()")} == set(syncs)
    assert all(each["count"] == 3 for each in syncs.values())
    found = {each["line"]: each["run"]["status"] for each in report["findings"]}
    assert found[line(READS, ".cpu()")] == found[line(READS, ".tolist()")] == "confirmed"
    assert found[line(READS, ".to(")] == "not measured"
    report = trace(tmp_path, READS)
    assert "refuted" not in [each["run"]["status"] for each in report["findings"]]


def test_a_target_that_can_not_be_used_is_told_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageProblem, match=r"TARGET main\.py:step: needs x: give an --input for each"):
        trace(tmp_path, "def step(x):\n    return x\n", "main.py:step")
    assert capfd.readouterr().err == ""
