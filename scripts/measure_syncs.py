"""Measure on a CUDA GPU which calls make the host wait for the device.

    python3 scripts/measure_syncs.py --out syncs.json [--jobs 4] [--only NAME]

Every operator of torch's own database (functions, methods, in-place methods) and the list in probes/syncs.py is run
warmed up, three ways: with the stream held busy (does the call return before the device is done? that decides), under
`torch.cuda.set_sync_debug_mode("warn")`, and under the profiler (runtime calls, host copies, kernels launched).

Output: {"torch": …, "device": …, "syncs": {name: {"syncs": bool, "how": [...], "kernels": n}}, "errors": {name: text}}.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import opinfos
import workers
from probes.syncs import SETUP, SYNCS

DEVICE = "cuda"
BUSY_MS = 20.0
WAITS = (
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "cuStreamSynchronize",
    "cuCtxSynchronize",
)
SAMPLES = 24  # looked at for each operator, of which
SIGNATURES = 3  # different ones are run for a function or method


class Watch:
    """Runs calls on the device and says how each made the host wait."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.cycles_per_ms = self._calibrate()

    def _calibrate(self) -> float:
        cuda = self.torch.cuda
        cuda._sleep(1000)
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        start.record()
        cuda._sleep(20_000_000)
        end.record()
        end.synchronize()
        return float(20_000_000 / start.elapsed_time(end))

    def blocks(self, call: Callable[[], Any], host_ms: float) -> bool:
        """Whether `call` returns only once work queued before it is done."""
        cuda = self.torch.cuda
        cuda.synchronize()
        cuda._sleep(int(self.cycles_per_ms * min(max(BUSY_MS, 4 * host_ms), 400)))
        done = cuda.Event()
        done.record()
        call()
        blocked = bool(done.query())
        cuda.synchronize()
        return blocked

    def warned(self, call: Callable[[], Any]) -> tuple[bool, float]:
        """Whether torch itself warns of a sync, and the host's time in milliseconds."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.torch.cuda.set_sync_debug_mode("warn")
            start = time.perf_counter()
            try:
                call()
            finally:
                elapsed = (time.perf_counter() - start) * 1000
                self.torch.cuda.set_sync_debug_mode("default")
        return any("synchronizing" in str(w.message) for w in caught), elapsed

    def profile(self, calls: list[Callable[[], Any]]) -> list[tuple[list[str], int]]:
        """For each call the runtime calls and host copies that may wait, and the number of kernels launched."""
        from torch.profiler import ProfilerActivity, profile, record_function

        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            for number, call in enumerate(calls):
                self.torch.cuda.synchronize()
                with record_function(f"probe:{number}"):
                    call()
                self.torch.cuda.synchronize()
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            profiler.export_chrome_trace(file.name)
            trace = json.loads(Path(file.name).read_text())
        return read_trace(trace["traceEvents"], len(calls))


def read_trace(events: list[dict[str, Any]], count: int) -> list[tuple[list[str], int]]:
    """What a profiler trace says of each of `count` marked calls."""
    windows: dict[int, tuple[float, float]] = {}
    copies: dict[Any, str] = {}
    runtime = []
    for event in events:
        category, name = event.get("cat"), str(event.get("name", ""))
        if category == "user_annotation" and name.startswith("probe:"):
            windows[int(name[6:])] = (float(event["ts"]), float(event["ts"]) + float(event.get("dur", 0)))
        elif category == "gpu_memcpy":
            copies[event.get("args", {}).get("correlation")] = name
        elif category in ("cuda_runtime", "cuda_driver"):
            runtime.append((float(event["ts"]), name, event.get("args", {}).get("correlation")))
    result = []
    for number in range(count):
        first, last = windows.get(number, (1.0, 0.0))
        how: set[str] = set()
        kernels = 0
        for at, name, correlation in runtime:
            if not first <= at <= last:
                continue
            if name in WAITS:
                how.add(name)
            kernels += "LaunchKernel" in name or name == "cudaGraphLaunch"
            copy = copies.get(correlation, "")
            if "Pageable" in copy or "DtoH" in copy or "HtoD" in copy:
                how.add(copy.removeprefix("Memcpy ").strip())
        result.append((sorted(how), kernels))
    return result


_watch: Watch | None = None


def watch(calls: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Measure each named call; what fails is left out, its error recorded."""
    import torch

    global _watch
    _watch = _watch or Watch()
    found: dict[str, Any] = {}
    errors: dict[str, str] = {}
    good: dict[str, Callable[[], Any]] = {}
    for name, call in calls.items():
        try:
            call()
            torch.cuda.synchronize()
            call()
            warned, host_ms = _watch.warned(call)
            blocks = _watch.blocks(call, host_ms)
        except Exception as error:
            errors[name] = f"{type(error).__name__}: {error}"[:200]
            if "CUDA error" in str(error) or "device-side assert" in str(error):
                return {"found": found, "errors": errors, "fatal": True}
            continue
        good[name] = call
        found[name] = {"syncs": blocks, "how": ["blocks"] * blocks + ["warns"] * warned, "ms": round(host_ms, 3)}
    try:
        for name, (how, kernels) in zip(good, _watch.profile(list(good.values())), strict=True):
            found[name]["how"] += how
            found[name]["kernels"] = kernels
            found[name]["syncs"] |= any(h in WAITS for h in how)
    except Exception as error:
        errors["profiler"] = f"{type(error).__name__}: {error}"[:200]
    return {"found": found, "errors": errors}


def operator_calls(index: int) -> dict[str, Callable[[], Any]]:
    """The calls of one operator by `target|signature`."""
    op = OPS[index]
    result: dict[str, Callable[[], Any]] = {}
    pairs = opinfos.targets(op)
    if not pairs:
        return {}
    found = opinfos.samples(op, DEVICE, SAMPLES)
    for number, (target, form) in enumerate(pairs):
        primary = number == 0 or target == f"Tensor.{op.name}"
        for call in opinfos.distinct(opinfos.calls(op, target, form, found), SIGNATURES if primary else 1):
            function = call.function()
            operands = [call.values[name] for name in call.tensors()]
            result[f"{target}|{call.signature}"] = lambda f=function, o=operands: f(*o)
    return result


def curated_call(index: int) -> dict[str, Callable[[], Any]]:
    """The one call of an entry of the curated list."""
    name, *parts = SYNCS[index]
    import copy
    import gc
    import io
    import math
    import pickle

    import numpy as np
    import torch
    from torch.nn import functional

    scope: dict[str, Any] = {
        "torch": torch, "nn": torch.nn, "F": functional, "np": np, "math": math, "copy": copy, "gc": gc, "io": io,
        "json": json, "pickle": pickle, "device": DEVICE,
    }  # fmt: skip
    exec(SETUP, scope)
    if len(parts) == 2:
        exec(parts[0], scope)
    code = compile(parts[-1], f"<{name}>", "exec")
    return {name: lambda: exec(code, scope)}


OPS: list[Any] = []


def handle(job: workers.Job) -> Any:
    kind, index = job
    if kind == "op":
        if not OPS:
            OPS.extend(opinfos.op_db())
        return watch(operator_calls(index))
    return watch(curated_call(index))


def merge(results: list[Any], names: list[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """One entry a target: it syncs where any of its calls does; the signatures are listed where they differ."""
    syncs: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for result, name in zip(results, names, strict=True):
        if "error" in result:
            errors[name] = result["error"]
            continue
        errors.update(result["errors"])
        for key, entry in result["found"].items():
            target, _, signature = key.partition("|")
            old = syncs.setdefault(target, {"syncs": False, "how": [], "kernels": 0, "signatures": {}})
            old["syncs"] |= entry["syncs"]
            old["how"] = sorted({*old["how"], *entry["how"]})
            old["kernels"] = max(old["kernels"], entry.get("kernels", 0))
            kinds = signature or "probe"
            old["signatures"].setdefault(kinds, []).append(entry["syncs"])
    for entry in syncs.values():
        forms = entry.pop("signatures")
        if len({answer for answers in forms.values() for answer in answers}) > 1:
            entry["signatures"] = {k: all(a) if len(set(a)) == 1 else None for k, a in sorted(forms.items())}
    return dict(sorted(syncs.items())), dict(sorted(errors.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", help="only names that contain this")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        workers.serve(handle)
        return
    if args.out is None:
        parser.error("--out is required")
    import torch

    if not torch.cuda.is_available():
        sys.exit("measure_syncs: no CUDA device")
    started = time.monotonic()
    ops = opinfos.op_db()
    jobs: list[workers.Job] = [["call", n] for n in range(len(SYNCS))] + [["op", n] for n in range(len(ops))]
    names = [entry[0] for entry in SYNCS] + [f"op {op.name} {op.variant_test_name}".strip() for op in ops]
    if args.only:
        kept = [n for n, name in enumerate(names) if args.only in name]
        jobs, names = [jobs[n] for n in kept], [names[n] for n in kept]
    results = workers.run([sys.executable, __file__, "--worker"], jobs, processes=args.jobs, timeout=60)
    syncs, errors = merge(results, names)
    report = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "device": torch.cuda.get_device_name(),
        "syncs": syncs,
        "errors": errors,
    }
    args.out.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    print(
        f"{len(syncs)} targets, {sum(e['syncs'] for e in syncs.values())} sync, {len(errors)} errors, "
        f"{time.monotonic() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
