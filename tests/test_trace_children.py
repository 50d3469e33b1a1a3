"""trace on programs that start processes: those go their own way, and the program's own lines are still told."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from compilelint import api

torch = pytest.importorskip("torch")

PROGRAM = """
    import multiprocessing

    import torch
    from torch.utils.data import DataLoader, Dataset

    class Squares(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return (torch.tensor([float(index)]) ** 2).sum().item()

    def work(number):
        return torch.ones(number).sum().item()

    def main():
        model = torch.nn.Linear(2, 1)
        total = 0.0
        for batch in DataLoader(Squares(), batch_size=2, num_workers=1):
            total += model(batch.float()).sum().item()
        print("loader", total == total)
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(1) as pool:
                print(method, pool.map(work, [1, 2]))

    if __name__ == "__main__":
        main()
"""


def line(text: str) -> int:
    (found,) = [number for number, each in enumerate(textwrap.dedent(PROGRAM).splitlines(), 1) if text in each]
    return found


@pytest.mark.slow
def test_processes_that_a_program_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "main.py").write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    settings = api.load_settings(isolated=True)
    report: dict[str, Any] = api.trace("main.py", settings=settings, cwd=tmp_path, syncs="predict", timeout=500).report
    assert capfd.readouterr().out.splitlines() == ["loader True", "fork [1.0, 2.0]", "spawn [1.0, 2.0]"]
    assert (report["program"]["exit_code"], report["complete"], report["notes"]) == (0, True, [])
    assert (report["steps"]["by"], report["steps"]["done"]) == ("batches of a DataLoader", 2)
    # the workers' own reads, of tensors on the host or not, are theirs
    assert {(each["line"], each["count"]) for each in report["events"] if each["kind"] == "sync"} == {
        (line("total +="), 2)
    }
    assert line("return torch.ones(number)") not in report["lines"]["executed"]["main.py"]
    assert line("total +=") in report["lines"]["executed"]["main.py"]


TRAINING = """
    import torch

    def make():
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def epoch(batches):
            for x in batches:
                loss = model(x).sum()
                loss.backward()
                optimizer.step()
                print(loss.item())

        return epoch, ([torch.ones(1, 2) for _ in range(4)],)
"""


def test_the_steps_of_a_target_are_its_calls(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Not those of a loop in it: each of the measured calls is measured as a whole, and no other."""
    (tmp_path / "main.py").write_text(textwrap.dedent(TRAINING), encoding="utf-8")
    settings = api.load_settings(isolated=True)
    options: dict[str, Any] = {
        "cwd": tmp_path,
        "syncs": "predict",
        "timeout": 500,
        "backend": "eager",
        "steps": 2,
        "after": 5,
    }
    report = api.trace("main.py:make", settings=settings, **options).report
    assert (report["steps"]["by"], report["steps"]["measured"]) == ("calls of TARGET", 2)
    assert [each["count"] for each in report["events"] if each["kind"] == "sync"] == [8]
    assert len(capfd.readouterr().out.splitlines()) >= 11 * 4  # one, one compiled, five of warm-up, twice two
