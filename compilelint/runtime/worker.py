"""The child process: `python -m compilelint.runtime.worker REQUEST.json` does one job and writes its result as JSON.

The job "measure" runs one side; "compare" compares the values that two sides kept. Errors of the user's making come
back as `{"usage": …}` (TARGET can't be used) or `{"failed": …}` (the side itself raised while being imported or made).
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import time
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from compilelint.errors import UsageProblem
from compilelint.runtime.orphans import end_with_parent
from compilelint.runtime.results import MODES, ModeName, side_from_json


def main(path: str) -> None:
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    _leave_no_core()
    end_with_parent()
    faulthandler.enable()
    # shortly before the parent gives up: the stack tells it where the program hangs
    left = max(request["deadline"] - time.time(), 0.1)
    faulthandler.dump_traceback_later(max(left - 1.0, left * 0.8), exit=False)
    try:
        result = JOBS[request["job"]](request)
    except UsageProblem as problem:
        result = {"usage": str(problem)}
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever the user's code raises
        result = {"failed": _told(error, request.get("roots", []))}
    temporary = Path(request["result"] + ".part")
    temporary.write_text(json.dumps(result), encoding="utf-8")
    temporary.replace(request["result"])


def _leave_no_core() -> None:
    """A crash of the user's code must not put a core file into the user's folder."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Run one side; its values go to the files named in the request."""

    def report(doing: str) -> None:
        Path(request["progress"]).write_text(doing, encoding="utf-8")

    report("importing torch")
    import torch

    from compilelint.runtime.load import Loader
    from compilelint.runtime.measure import Measurement
    from compilelint.runtime.places import Places
    from compilelint.runtime.reached import Reached
    from compilelint.runtime.target import parse_input, parse_target
    from compilelint.runtime.values import save

    warnings.simplefilter("ignore")
    device = torch.device(request["device"] or ("cuda" if torch.cuda.is_available() else "cpu"))
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageProblem(f"--device {device}: torch {torch.__version__} sees no CUDA device here")
    if str(device) == "cuda":
        device = torch.device("cuda", torch.cuda.current_device())
    if request["backend"] != "inductor":
        _compile_with(request["backend"])
    report("importing the target")
    inputs = [parse_input(text) for text in request["inputs"]]
    target, elsewhere = parse_target(request["target"]), request["elsewhere"]
    places = Places(request["roots"])
    reached = Reached(places, on=request["reached"])
    with reached:
        loader = Loader(target, request["file"], inputs, device, elsewhere=elsewhere, mode=request["mode"])
    measurement = Measurement(loader, places, request["label"], request["backend"], report)
    if places.relative(loader.module.__file__ or "") is None and not elsewhere:
        raise UsageProblem(
            f"TARGET {request['target']}: was imported from {loader.module.__file__}, not from {request['label']} "
            f"({request['roots'][0]}): both versions would run the same code"
        )
    side = measurement.run()
    if strays := _strays(request["roots"][0], request["other_roots"], loader.module.__file__):
        raise UsageProblem(
            f"{request['label']}: imported {strays[0]} of the other version, or from outside of its copy"
        )
    for mode in MODES:
        save(measurement.values[mode], request["values"][mode])
    if request["reference"]:
        with reached:
            measurement.nudge()
        save(measurement.nudged, request["values"]["nudged"])
        measurement.refer()
        save(measurement.exact, request["values"]["exact"])
    return {"side": asdict(side), "reached": reached.lines()}


def _strays(root: str, others: list[str], target: str | None) -> list[str]:
    """Files of the other version, or of what this is a copy of, that were imported all the same (an editable install,
    an absolute path)."""
    mine = os.path.realpath(root) + os.sep
    theirs = tuple(os.path.realpath(other) + os.sep for other in others)
    theirs = tuple(other for other in theirs if not mine.startswith(other) and not other.startswith(mine))
    found = (_file_of(module) for module in list(sys.modules.values()))
    # a link in the copy, to a folder that isn't copied, is the copy's own
    files = {os.path.realpath(file) for file in found if file and not os.path.abspath(file).startswith(mine)}
    strays = {file for file in files if file.startswith(theirs) and "site-packages" not in Path(file).parts}
    own = str(Path(__file__).resolve().parents[1]) + os.sep
    return sorted(file for file in strays if file != os.path.realpath(target or "") and not file.startswith(own))


def _file_of(module: Any) -> str | None:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else None


def _compile_with(backend: str) -> None:
    """Another backend than Inductor is meant for the target's own calls of torch.compile as well."""
    import torch

    original: Any = torch.compile

    def compile(model: Any = None, **options: Any) -> Any:  # noqa: A001  # stands in for torch.compile
        options = {key: value for key, value in options.items() if key not in ("backend", "mode", "options")}
        return original(model, backend=backend, **options)

    torch.compile = compile


def compare(request: dict[str, Any]) -> dict[str, Any]:
    """Compare what two measured sides computed."""
    from compilelint.runtime.compare import compare
    from compilelint.runtime.values import Values, load

    def values(files: dict[str, str]) -> dict[ModeName, Values]:
        return {mode: load(files[mode]) for mode in MODES}

    before, after = side_from_json(request["before"]), side_from_json(request["after"])
    nudged, exact = (load(request["before_values"][name]) for name in ("nudged", "exact"))
    checks = compare(before, after, values(request["before_values"]), values(request["after_values"]), nudged, exact)
    return {"checks": [asdict(check) for check in checks]}


JOBS = {"measure": measure, "compare": compare}


def _told(error: BaseException, roots: list[str]) -> str:
    """The exception with the user's innermost line."""
    from compilelint.runtime.places import Places

    stack = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    found = Places(roots).innermost(stack) if roots else None
    at = f" (at {found[0]}:{found[1]})" if found else ""
    text = f"{type(error).__name__}: {error}".strip().splitlines()[0]
    if found is None:
        traceback.print_exception(error, file=sys.stderr)
        last = stack[-1] if stack else ("?", 0)
        at = f" (at {os.path.basename(last[0])}:{last[1]})"  # noqa: PTH119
    return text + at


if __name__ == "__main__":
    main(sys.argv[1])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # the result is written: threads that the program left behind must not hold this process
