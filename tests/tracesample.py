"""A trace made by hand, of a small program whose texts are hostile to a page that does not escape them."""

from __future__ import annotations

from compilelint.finding import Finding, Region, Severity, Span
from compilelint.runtime.trace.record import Break, Frame, Graph, Idle, Recompile, Record, Steps, Sync, Timeline, Work

EVIL = '<script>alert("x")</script>'
SOURCE = (
    "import torch",
    "",
    "def step(x):",
    "    if x.sum() > 0:",
    "        x = x + 1",
    "    print(x)",
    f"    return x.cpu()  # {EVIL}",
    "",
    "for x in loader:",
    "    step(x).item()",
)
OTHER = ("x = 1", "y = 2")
PATH = "train.py"


def finding(line: int, code: str, effects: tuple[str, ...], gb_types: tuple[str, ...] = ()) -> Finding:
    return Finding(
        code,
        f"name-of-{code.lower()}",
        effects,  # type: ignore[arg-type]
        Severity.WARNING,
        Span(PATH, line, 5, line, 9),
        f"`{EVIL}` is not good",
        Region("compiled", "train:step", "is passed to torch.compile"),
        gb_types,
        statement_line=line,
    )


FINDINGS = [
    finding(4, "CL101", ("graph-break", "sync"), ("Data-dependent branching",)),
    finding(5, "CL302", ("launch",)),
    finding(6, "CL110", ("graph-break",), ("Failed to trace builtin operator",)),
    finding(8, "CL103", ("graph-break",)),
]


def record() -> Record:
    return Record(
        argv=["train.py", EVIL],
        torch="2.13.0",
        python="3.11.7",
        device="cuda",
        device_name="a GPU",
        syncs_are="measured",
        events=[
            Break(
                PATH,
                4,
                "step",
                stack=[Frame(PATH, 10, "<module>"), Frame(PATH, 4, "step")],
                gb_type="Data-dependent branching",
                reason=EVIL,
                hints=["use torch.where"],
                effect="skip",
                frame="step",
            ),
            Break(PATH, 9, "<module>", gb_type=EVIL, hints=[f"don't {EVIL}"], inside="torch/optim/optimizer.py:79"),
            Recompile(PATH, 3, "step", guard="size mismatch at index 0", stack=[Frame(PATH, 10, "<module>")]),
            Graph(PATH, 5, "step", ops=3),
            Sync(PATH, 4, "step", count=4, what="aten::is_nonzero", blocked_us=800.0),
            Sync(PATH, 10, "<module>", count=2, what="aten::item", blocked_us=1500.0),
            Sync("lib/other.py", 7, "f", count=40, what="torch.cuda.synchronize", blocked_us=100.0),
            Work(PATH, 5, "step", kernels=6, gpu_us=40.0),
        ],
        steps=Steps("steps of an optimizer", PATH, 9, 6, 12.5, 4),
        timeline=Timeline(
            3000.0,
            launches=[(0.0, 100.0), (900.0, 950.0)],
            waits=[(200.0, 800.0, EVIL)],
            busy=[(50.0, 800.0), (1000.0, 1500.0)],
            idle=[
                Idle(800.0, 1000.0, "after the wait for aten::item", PATH, 10),
                Idle(1500.0, 2900.0, "compiling", PATH, 3),
            ],
            busy_us=1250.0,
            kernels=9,
        ),
        files={"/p/train.py": PATH, "/p/other.py": "other.py"},
        executed={PATH: [1, 3, 4, 5, 6, 7, 9, 10]},
        measured={PATH: [4, 5, 6, 9, 10]},
        traced={PATH: [3, 4, 6]},
        notes=[f"note {EVIL}"],
        complete=True,
        exit_code=0,
        seconds=4.2,
    )
