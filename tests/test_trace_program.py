"""trace runs a program as Python does: same arguments, output, exit code, signals, exceptions. No torch in these."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from compilelint.cli import COMMANDS
from compilelint.errors import UsageProblem
from compilelint.runtime.trace.run import Options, run

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text: str, name: str = "main.py") -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")


def trace(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compilelint", "trace", *arguments]
    return subprocess.run(
        command, env=ENVIRONMENT, input=stdin, capture_output=True, text=True, check=False, timeout=120
    )


def plainly(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env=ENVIRONMENT, input=stdin, capture_output=True, text=True, check=False, timeout=120
    )


WORLD = """
    import sys, os
    if __name__ == "__main__":
        main = sys.modules["__main__"]
        facts = [sys.argv, sys.path, main.__dict__ is globals(), os.getcwd()]
        names = ("__name__", "__file__", "__package__", "__doc__", "__cached__")
        facts += [globals().get(name) for name in names]
        facts += [__spec__ and __spec__.name, type(__loader__).__name__, sorted(vars(main)), sys.stdin.read()]
        facts += [getattr(__builtins__, "__name__", "")]
        for fact in facts:
            print(fact)
        print("to stderr", file=sys.stderr)
        sys.exit(3)
"""


@pytest.mark.parametrize("arguments", [["sub/main.py", "--lr", "1", "-m"], ["-m", "sub.main", "--steps", "x"], ["sub"]])
def test_a_program_sees_the_same_world(arguments: list[str]) -> None:
    write(WORLD, "sub/main.py")
    write(WORLD, "sub/__main__.py")
    write("", "sub/__init__.py")
    ours, theirs = trace(*arguments, stdin="given"), plainly(*arguments, stdin="given")
    assert ours.stdout == theirs.stdout != ""
    assert ours.returncode == theirs.returncode == 3
    assert ours.stderr.startswith("to stderr\n")
    assert "exited with 3" in ours.stderr and "torch was never imported" in ours.stderr


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    raise ValueError('mine')\nf()\n",
        "import sys\nsys.exit('a message')\n",
        "raise KeyboardInterrupt\n",
        "def f(:\n",
        "import atexit\natexit.register(print, 'at exit')\n1/0\n",
        "import sys\nsys.excepthook = lambda *a: print('mine', a[0].__name__)\nraise ValueError\n",
        "try:\n    {}['a']\nexcept KeyError as error:\n    raise RuntimeError('both') from error\n",
    ],
    ids=["raise", "message", "interrupt", "syntax", "atexit", "hook", "cause"],
)
def test_exceptions_are_its_own(text: str) -> None:
    write(text)
    ours, theirs = trace("main.py"), plainly("main.py")
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    assert ours.stderr.startswith(theirs.stderr)


def test_os_exit_and_signals() -> None:
    write("import os\nprint('before', flush=True)\nos._exit(7)\n")
    done = trace("main.py")
    assert (done.returncode, done.stdout) == (7, "before\n") and "exited with 7" in done.stderr
    write("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    done = trace("main.py")
    assert done.returncode == -signal.SIGSEGV and "was ended by SIGSEGV" in done.stderr
    assert "at least these" in done.stderr


def test_a_signal_is_handed_on() -> None:
    write(
        """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    command = [sys.executable, "-m", "compilelint", "trace", "main.py"]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as ours:
        assert ours.stdout is not None and ours.stdout.readline() == "ready\n"
        ours.terminate()
        assert ours.wait(60) == 5


def test_a_program_that_hangs_is_killed_with_its_children() -> None:
    write(
        """
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(child.pid, flush=True)
        def stuck():
            while True:
                time.sleep(0.1)
        stuck()
        """
    )
    done = trace("--timeout", "15", "main.py")
    assert done.returncode == 124
    assert "did not finish within 15 s and was killed at main.py:" in done.stderr and "in stuck" in done.stderr
    pid = int(done.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").is_file() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return  # dead; nobody has waited for it yet
        time.sleep(0.1)
    pytest.fail("the child lives on")


def test_processes_that_it_forks_go_their_own_way() -> None:
    write(
        """
        import os
        pid = os.fork()
        if pid == 0:
            extra = 1
            os._exit(4)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    )
    record = run("file", "main.py", [], Options(quiet_stdout=False))
    assert record.exit_code == 0 and record.complete
    assert record.executed == {"main.py": [2, 3, 4, 7]}


def test_lines_and_files() -> None:
    write("import helper\nif helper.X:\n    y = 1\nelse:\n    y = 2\n")
    write("X = 1\ndef unused():\n    return 2\n", "helper.py")
    record = run("file", "main.py", [], Options())
    assert record.executed == {"helper.py": [1, 2], "main.py": [1, 2, 3]}
    assert set(record.files.values()) == {"helper.py", "main.py"} and record.measured == record.executed


def test_json_has_stdout_for_itself() -> None:
    write("print('noise')\n")
    done = trace("--output-format", "json", "main.py")
    assert json.loads(done.stdout)["program"]["command"] == "main.py" and done.stderr == "noise\n"
    done = trace("--output-format", "json", "-o", "out.json", "main.py")
    assert done.stdout == "noise\n" and json.loads(Path("out.json").read_text(encoding="utf-8"))["version"] == 1
    done = trace("--output-format", "html", "main.py")
    assert done.stdout.startswith("<!doctype html>")


def test_nothing_of_the_programs_is_changed(folder: Path) -> None:
    write("print(1)\n")
    before = sorted(folder.rglob("*"))
    trace("main.py")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("kind", "name", "problem"),
    [("file", "none.py", "none.py: no such file"), ("target", "none.py:make", "none.py: no such file")],
)
def test_no_program(kind: str, name: str, problem: str) -> None:
    with pytest.raises(UsageProblem, match=problem):
        run(kind, name, [], Options())  # type: ignore[arg-type]
    assert trace("none.py").returncode == 2 and "trace" in COMMANDS


def test_a_module_that_is_not_there() -> None:
    done = trace("-m", "no_such_module")
    assert done.returncode == 1 and "No module named no_such_module" in done.stderr


@pytest.mark.parametrize("last", ["64", "os.sysconf('SC_OPEN_MAX')"])
def test_a_program_that_closes_descriptors_is_traced_all_the_same(last: str) -> None:
    """As daemons do; what it opens then is its own."""
    write(
        f"import os\nos.closerange(3, {last})\n"
        "files = [open(f'out{n}', 'w') for n in range(40)]\n"
        "import torch\nprint(torch.ones(3).sum().item())\n"
        "[file.close() for file in files]\nprint(sum(os.path.getsize(f'out{n}') for n in range(40)))\n"
    )
    done = trace("--output-format", "json", "-o", "report.json", "main.py")
    assert (done.returncode, done.stdout) == (0, "3.0\n0\n")
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert report["complete"] and report["lines"]["executed"]["main.py"] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_a_program_that_kills_its_group_kills_no_tracer() -> None:
    write("import os, signal\nprint('here', flush=True)\nos.killpg(0, signal.SIGKILL)\n")
    command = [sys.executable, "-m", "compilelint", "trace", "main.py"]
    temporary = Path("temporary").absolute()
    temporary.mkdir()
    environment = {**ENVIRONMENT, "TMPDIR": str(temporary)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=120, start_new_session=True
    )
    assert (done.stdout, done.returncode) == ("here\n", -signal.SIGKILL)
    assert "was ended by SIGKILL" in done.stderr
    assert os.listdir(temporary) == []


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_processes_that_leave_a_program_that_hangs_end_too() -> None:
    write(
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                print(os.getpid(), flush=True)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(1, 2)
                os.execvp("sleep", ["sleep", "600"])
            os._exit(0)
        time.sleep(600)
        """
    )
    done = trace("--timeout", "10", "main.py")
    assert done.returncode == 124
    state = Path(f"/proc/{int(done.stdout)}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_a_program_may_write_to_its_record() -> None:
    write(
        """
        import os, sys
        argv = open("/proc/self/cmdline").read().split("\\0") if os.path.exists("/proc") else []
        for place in (os.path.dirname(each) for each in argv if each.endswith("request.json")):
            with open(os.path.join(place, "journal"), "ab") as file:
                file.write(b'\\xff{\\n{"kind": "sync"}\\n{"kind": "facts", "steps": 3}\\n[1]\\n')
        """
    )
    done = trace("main.py")
    assert done.returncode == 0 and "lines of the record can't be read" in done.stderr
