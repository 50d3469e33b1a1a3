"""verify on small cases, before.py against after.py, beside a plain profiler run of the same calls.

    python benchmarks/verify_cases.py DIR                     # DIR/NNN/before.py, after.py and case.toml
    python benchmarks/verify_cases.py DIR --device cpu        # a rehearsal: nothing is counted beside verify

A case of kind `graph-break` compiles something in its `run(device, backend)`: that callable, compiled by Inductor, is
what is called. Of a case of kind `sync` it is `run(device)` itself, eagerly. Kernels, memory operations and syncs of
one steady call are counted twice: by `compilelint verify`, and from `torch.profiler`'s event list by the code below,
which shares nothing with verify's. `[gpu.before]` and `[gpu.after]` in case.toml hold what others counted, where they
did; one of their syncs is the harness's own.

Cases are started until --seconds are over. Writes benchmarks/results/verify_cases_<device>.json and .md, and prints the
table. Run it from the root of the repository, with the project installed or with PYTHONPATH=. set; it needs torch
alone, and Python 3.11 or later.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parent.parent
WARM_UP = 4  # calls before the counted one
SIDES = ("before", "after")
MARK = "the steady call"
FIGURES = ("kernels", "memops", "syncs")
Json = dict[str, Any]

# the TARGET: what a case compiles is caught when it is called, and called again without backward
STEADY = """
import torch
from torch.utils import _pytree as pytree

import case


class Caught(Exception):
    pass


class Catcher:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        raise Caught(self.function, args, kwargs)


def make(device="cpu"):
    if KIND == "sync":
        return (lambda: detached(case.run(device))), ()
    original = torch.compile
    torch.compile = lambda function, **options: Catcher(function)
    try:
        case.run(device, BACKEND)
    except Caught as caught:
        function, args, kwargs = caught.args
    finally:
        torch.compile = original
    compiled = torch.compile(function, backend=BACKEND)
    return (lambda *args, **kwargs: detached(compiled(*args, **kwargs))), args, kwargs


def detached(out):
    return pytree.tree_map(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, out)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="inductor", help="of the cases that compile")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=6, help="cases at a time, two processes each")
    parser.add_argument("--seconds", type=float, default=130, help="no case is started later than that")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each process")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plain:
        print(json.dumps(plain(options.folder, options.device)))
        return 0
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # small graphs: a pool of compilers takes longer to start
    started = time.monotonic()
    folders = chosen(options.folder.resolve(), options.only)
    if not folders:
        parser.error(f"{options.folder}: holds no NNN/case.toml")
    with ThreadPoolExecutor(options.jobs) as pool:
        found: list[Json] = []
        for each in pool.map(lambda folder: case(folder, options, started), folders):
            found += [each] if each else []
            report = written(found, len(folders), options)  # what is done is kept, whatever comes next
    print(report)
    print(f"{time.monotonic() - started:.0f} s")
    return 0 if found and not any(each.get("error") for each in found) else 1


def chosen(folder: Path, only: str) -> list[Path]:
    """The cases to run, of both kinds by turns."""
    kinds: dict[str, list[Path]] = {"graph-break": [], "sync": []}
    for path in sorted(folder.glob("*/case.toml")):
        kind = facts(path.parent).get("kind")
        if only in path.parent.name and kind in kinds:
            kinds[kind].append(path.parent)
    return [path for pair in zip_longest(*kinds.values()) for path in pair if path is not None]


def facts(folder: Path) -> Json:
    return tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))


def case(folder: Path, options: argparse.Namespace, started: float) -> Json | None:
    """Both counts of a case; None where the time is over."""
    if time.monotonic() - started > options.seconds:
        return None
    known = facts(folder)
    kind = known["kind"]
    backend = options.backend if kind == "graph-break" else "eager"
    result: Json = {"case": folder.name, "kind": kind, "known": known.get("gpu", {})}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(1) as beside:
        place = Path(scratch).resolve()
        for side in SIDES:
            (place / side).mkdir()
            shutil.copyfile(folder / f"{side}.py", place / side / "case.py")
            head = f"KIND, BACKEND = {kind!r}, {backend!r}\n"
            (place / side / "target.py").write_text(head + STEADY, encoding="utf-8")
        counted = beside.submit(plainly, place, options)
        result |= verified(place, kind, backend, options)
        result["plain"] = counted.result()
        if "error" in result["plain"]:
            result["error"] = f"plain run: {result['plain'].pop('error')}"
    result["seconds"] = round(time.monotonic() - begun, 1)
    return result


def verified(place: Path, kind: str, backend: str, options: argparse.Namespace) -> Json:
    """What verify says: of compiled code for a break, of eager code for a sync."""
    from compilelint.errors import UsageProblem
    from compilelint.runtime import verify

    try:
        before, after = (str(place / side) for side in SIDES)
        how = {"device": options.device, "backend": backend, "timeout": options.timeout}
        result = verify("target.py:make", before, after, **how)
    except UsageProblem as problem:
        return {"error": str(problem)}
    counts: Json = {}
    for side, measured in zip(SIDES, (result.before, result.after), strict=True):
        mode = measured.compiled if kind == "graph-break" else measured.eager
        if mode is None or mode.exception:
            return {"error": f"{side}: {measured.error or (mode and mode.exception) or 'not measured'}"}
        counts[side] = {
            "kernels": mode.kernels,
            "memops": mode.memops,
            "syncs": mode.sync_count,
            "breaks": len(measured.compiled.breaks) if measured.compiled else None,
            "sites": [[site.place, site.what, site.count] for site in mode.syncs or ()],
            "names": mode.kernel_names,
            "memory": mode.memop_names,
            "graph_launches": mode.graph_launches,
            "gpu_us": mode.gpu_us,
        }
    return {"verify": counts, "ok": result.ok, "problems": result.problems}


def plainly(place: Path, options: argparse.Namespace) -> Json:
    """`plain` of both sides, each in a process of its own."""
    counts: Json = {}
    for side in SIDES:
        counts[side] = plain_side(place / side, options)
        if "error" in counts[side]:
            return {"error": f"{side}: {counts[side]['error']}"}
    return counts


def plain_side(place: Path, options: argparse.Namespace) -> Json:
    command = [sys.executable, str(Path(__file__).resolve()), str(place), "--plain", "--device", options.device]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(place / "i"), "TRITON_CACHE_DIR": str(place / "t")}
    try:
        done = subprocess.run(
            command, env=environment, cwd=place, capture_output=True, text=True, check=False, timeout=options.timeout
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {options.timeout:g} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    counts: Json = json.loads(done.stdout.splitlines()[-1])
    return counts


def plain(place: Path, device: str) -> Json:
    """One steady call under torch.profiler, counted from its event list."""
    import torch

    sys.path.insert(0, str(place))
    torch.manual_seed(0)
    call, args, *rest = importlib.import_module("target").make(device)
    kwargs = rest[0] if rest else {}
    for _ in range(WARM_UP):
        call(*copied(args), **copied(kwargs))
    return profiled(call, copied(args), copied(kwargs)) if device.startswith("cuda") else {}


def copied(value: Any) -> Any:
    """Arguments for one call, which may write into them."""
    import torch
    from torch.utils import _pytree as pytree

    def copy(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or isinstance(leaf, torch.nn.Parameter):
            return leaf
        return leaf.detach().clone().requires_grad_(leaf.requires_grad)

    return pytree.tree_map(copy, value)


def profiled(call: Callable[..., Any], args: Any, kwargs: Any) -> Json:
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities):  # the first profile sets CUPTI up
        torch.ones(1, device="cuda").add_(1)
        torch.cuda.synchronize()
    with profile(activities=activities) as prof:
        with record_function(MARK):
            call(*args, **kwargs)
        torch.cuda.synchronize()
    events = list(prof.events() or ())
    cuda = torch.autograd.DeviceType.CUDA
    end = next(event.time_range.end for event in events if event.name == MARK and event.device_type != cuda)
    # waits behind the call are this function's and the profiler's
    return tally(
        (str(event.name), event.device_type == cuda, bool(event.is_user_annotation))
        for event in events
        if event.device_type == cuda or event.time_range.start < end
    )


def tally(events: Iterable[tuple[str, bool, bool]]) -> Json:
    """Counts of (name, whether it ran on the device, whether it is a mark)."""
    kernels = memops = syncs = 0
    for name, on_device, mark in events:
        if on_device and not mark and name.startswith(("Memcpy", "Memset")):
            memops += 1
        elif on_device and not mark and not name.endswith(("Sync", "Synchronize")):
            kernels += 1
        elif not on_device and name in WAITING:
            syncs += 1
    return {"kernels": kernels, "memops": memops, "syncs": syncs}


WAITING = {
    *("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy"),
    *("cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2"),
}


def agreement(each: Json) -> list[str]:
    """Where verify and the plain run differ: `before kernels 5, 6`."""
    found = []
    for side in SIDES:
        for figure in FIGURES:
            one, two = each["verify"][side][figure], each["plain"].get(side, {}).get(figure)
            if two is not None and one != two:
                found.append(f"{side} {figure} {one}, {two}")
    return found


def known(each: Json, side: str) -> Json:
    """What case.toml says, without its harness's own sync."""
    said = each["known"].get(side, {})
    return {figure: said[figure] - (figure == "syncs") for figure in FIGURES if figure in said}


def table(found: Sequence[Json]) -> str:
    head = "| case | kind | kernels | memory operations | syncs | breaks | verify | plain run | case.toml |"
    lines = [head, "| --- | --- | ---: | ---: | ---: | ---: | --- | --- | --- |"]
    for each in found:
        if "error" in each:
            lines.append(f"| {each['case']} | {each['kind']} | {each['error'].splitlines()[0]} | | | | | | |")
            continue
        counts = each["verify"]
        cells = [_change(counts, figure) for figure in (*FIGURES, "breaks")]
        said = "ok" if each["ok"] else "; ".join(each["problems"])
        counted = any(each["plain"].get(side) for side in SIDES)
        differ = agreement(each)
        beside = ("agrees" if not differ else "; ".join(differ)) if counted else ""
        others = [
            f"{side} {figure} {counts[side][figure]}, {value}"
            for side in SIDES
            for figure, value in known(each, side).items()
            if counted and counts[side][figure] != value
        ]
        toml = ("agrees" if not others else "; ".join(others)) if counted and each["known"] else ""
        lines.append("| " + " | ".join([each["case"], each["kind"], *cells, said, beside, toml]) + " |")
    return "\n".join(lines) + "\n"


def _change(counts: Json, figure: str) -> str:
    values = [counts[side][figure] for side in SIDES]
    return "" if None in values else f"{values[0]} \u2192 {values[1]}"


def summary(found: Sequence[Json], offered: int) -> str:
    lines = []
    for kind in ("graph-break", "sync"):
        group = [each for each in found if each["kind"] == kind]
        ran = [each for each in group if "error" not in each]
        counted = [each for each in ran if any(each["plain"].get(side) for side in SIDES)]
        agree = sum(not agreement(each) for each in counted)
        text = f"{kind}: {len(ran)} of {len(group)} ran, {sum(each['ok'] for each in ran)} held"
        lines.append(f"- {text}; {agree} of {len(counted)} agree with the plain run in all six counts")
    if len(found) < offered:
        lines.append(f"- {offered - len(found)} were not started: the time was over")
    return "\n".join(lines) + "\n"


def written(found: Sequence[Json], offered: int, options: argparse.Namespace) -> str:
    """The report, which is written beside the figures."""
    import torch

    device = torch.cuda.get_device_name() if options.device.startswith("cuda") else "a CPU"
    when = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    versions = f"torch {torch.__version__}, Python {platform.python_version()}"
    text = (
        f"# verify: before and after of small cases on {device}\n\n"
        f"Made by `python benchmarks/verify_cases.py`: {when}, {versions}.\n"
        "Counts of one steady call, by verify, before \u2192 after; where another count differs, both are given.\n\n"
        f"{table(found)}\n{summary(found, offered)}"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"verify_cases_{options.device.partition(':')[0]}"
    stem.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


if __name__ == "__main__":
    sys.exit(main())
