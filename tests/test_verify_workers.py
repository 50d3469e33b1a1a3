"""What user code can do to verify's workers: crash, hang, end the process. Nothing is left behind or changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = """
import os, signal, sys, time
import torch

def run(x):
    BODY
    return x

def make():
    return run, (torch.ones(3),)
"""
STARTED = "open(os.environ['STARTED'], 'w').write(str(os.getpid())); "
WRITES = "open('written', 'w').write('x'); "
SCRATCH = "os.path.dirname(os.environ['TMPDIR'])"
ENDINGS = {
    "exit": ("os._exit(0)", "exited with code 0 without a result while eager: call 1 of 2"),
    "crash": ("import ctypes; ctypes.string_at(0)", "was ended by SIGSEGV while eager: call 1 of 2, in run at m.py:6"),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL while eager: call 1 of 2"),
    "endless": ("[os.write(end, b'x' * 65536) for _ in iter(int, 1) for end in (1, 2)]", "did not finish within 40 s"),
    "no scratch": (f"__import__('shutil').rmtree({SCRATCH}); os._exit(0)", "exited with code 0 without a result"),
    "another result": (
        f"open({SCRATCH} + '/result.json', 'w').write('[{{'); os._exit(0)",
        "exited with code 0 without a result",
    ),
    "hang": ("time.sleep(600)", "did not finish within 40 s (while eager: call 1 of 2, in run at m.py:6)"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for side in ("before", "after"):
        (folder / side).mkdir(parents=True)
        (folder / side / "m.py").write_text(CODE.replace("BODY", "pass"), encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    return folder


def start(project: Path, *more: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "TMPDIR": str(project.parent / "tmp"),
        "STARTED": str(project.parent / "started"),
    }
    sides = ["--before", "before", "--after", "after", "--backend", "eager", *more]
    return subprocess.Popen(
        [sys.executable, "-m", "compilelint", "verify", "m.py:make", *sides],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("side", "ending"),
    [
        ("before", "exit"),
        pytest.param("before", "hang", marks=pytest.mark.slow),
        ("after", "exit"),
        ("after", "no scratch"),
        ("after", "another result"),
        pytest.param("after", "endless", marks=pytest.mark.slow),
        ("after", "crash"),
        ("after", "kill"),
    ],
)
def test_a_worker_that_gives_no_result(project: Path, side: str, ending: str) -> None:
    body, told = ENDINGS[ending]
    (project / side / "m.py").write_text(CODE.replace("BODY", WRITES + body), encoding="utf-8")
    files = contents(project)
    process = start(project, "--timeout", "40" if ending in ("hang", "endless") else "300")
    out, err = process.communicate(timeout=600)
    assert process.returncode == 2, (out, err)
    assert told in (err if side == "before" else out)
    assert "Traceback" not in out + err
    assert contents(project) == files
    assert os.listdir(project.parent / "tmp") == []


DAEMON = """pass
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open(os.environ["STARTED"], "a") as file:
                print(os.getpid(), file=file)
            os.execvp("sleep", ["sleep", "600"])
        os._exit(0)
    os.wait()
    time.sleep(1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_processes_that_leave_the_group_end_too(project: Path) -> None:
    (project / "before" / "m.py").write_text(CODE.replace("BODY", DAEMON), encoding="utf-8")
    process = start(project)
    out, err = process.communicate(timeout=600)
    assert process.returncode in (0, 1), (out, err)
    pids = [int(line) for line in (project.parent / "started").read_text(encoding="utf-8").split()]
    assert pids and not any(map(running, pids))
    assert os.listdir(project.parent / "tmp") == []


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_to_verify_ends_the_worker(project: Path, number: signal.Signals) -> None:
    (project / "before" / "m.py").write_text(CODE.replace("BODY", STARTED + "time.sleep(600)"), encoding="utf-8")
    process, started = start(project), project.parent / "started"
    for _ in range(3000):
        if started.is_file() and started.read_text(encoding="utf-8"):
            break
        time.sleep(0.1)
    worker = int(started.read_text(encoding="utf-8"))
    process.send_signal(number)
    process.communicate(timeout=300)
    assert process.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}[number]
    for _ in range(50):
        if not running(worker):
            break
        time.sleep(0.1)
    assert not running(worker)
    if number != signal.SIGKILL:  # which leaves no time to
        assert os.listdir(project.parent / "tmp") == []
