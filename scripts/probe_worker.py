"""A worker of make_tables.py: runs one probe, eagerly and compiled alone, and says what came back and what broke."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import warnings
from collections.abc import Callable
from typing import Any

import opinfos
import workers
from dynamo import Dynamo

SAMPLES = 24
SIGNATURES = 4
TAGS = ("data_dependent_output", "dynamic_output_shape", "nondeterministic_seeded")

_dynamo: Dynamo | None = None
_ops: list[Any] = []


def dynamo() -> Dynamo:
    global _dynamo
    _dynamo = _dynamo or Dynamo()
    return _dynamo


def kind(value: Any) -> str:
    """What a value is, in the table's words: `tensor`, `tuple:tensor`, `int`, …"""
    import torch

    if isinstance(value, torch.Tensor):
        return "tensor"
    if value is None:
        return "none"
    if isinstance(value, torch.Size):
        return "size"
    if isinstance(value, (bool, int, float, complex, str)):
        return type(value).__name__
    if isinstance(value, (torch.dtype, torch.device, torch.layout)):
        return type(value).__name__
    if isinstance(value, (list, tuple)):
        kinds = {kind(v) for v in value}
        name = "list" if isinstance(value, list) else "tuple"
        return f"{name}:{kinds.pop()}" if len(kinds) == 1 else name
    return type(value).__name__.lower()


def family(dtype: Any) -> str:
    if dtype.is_complex:
        return "complex"
    if dtype.is_floating_point:
        return "float"
    return "bool" if str(dtype) == "torch.bool" else "int"


def observe(call: opinfos.Call, result: Any) -> dict[str, Any]:
    """What one eager call gave: kinds, dtype families and ranks of the operands and of what came back."""
    import torch

    operands = [v for v in call.values.values() if isinstance(v, torch.Tensor)]
    first = next(
        (v for v in (result if isinstance(result, (list, tuple)) else [result]) if isinstance(v, torch.Tensor)), None
    )
    seen: dict[str, Any] = {"returns": kind(result)}
    if hasattr(type(result), "__match_args__") and isinstance(result, tuple):
        seen["fields"] = list(type(result).__match_args__)
    if first is not None and operands:
        seen["dtype"] = [family(operands[0].dtype), family(first.dtype)]
        seen["rank"] = [max(v.dim() for v in operands), first.dim()]
        seen["dims"] = "dim=" in call.source or call.signature.startswith(("T,i", "T,(i", "T,[i"))
    elif first is not None:
        seen["dtype"] = ["", family(first.dtype)]
    return seen


def tag_mode(found: set[str]) -> Any:
    """A dispatch mode that collects the tags of the aten operators that run below it."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found.update(tag.name for tag in func.tags if tag.name in TAGS)
            return func(*args, **(kwargs or {}))

    return Mode()


def clones(call: opinfos.Call) -> list[Any]:
    return [call.values[name].clone() for name in call.tensors()]


def operator(index: int) -> list[dict[str, Any]]:
    """Every call of one operator: what came back, which tags, and what Dynamo made of it."""
    import torch

    _ops.extend([] if _ops else opinfos.op_db())
    op = _ops[index]
    pairs = opinfos.targets(op)
    if not pairs:
        return []
    found = opinfos.samples(op, "cpu", SAMPLES)
    integers = []
    if torch.int64 in op.supported_dtypes("cpu"):
        integers = opinfos.samples(op, "cpu", SAMPLES, torch.int64)
    results = []
    for number, (target, form) in enumerate(pairs):
        primary = number == 0 or target == f"Tensor.{op.name}"
        entry: dict[str, Any] = {"target": target, "seen": [], "calls": []}
        all_calls = list(opinfos.calls(op, target, form, found))
        for call in all_calls + list(opinfos.calls(op, target, form, integers)):
            try:
                entry["seen"].append(observe(call, call.function()(*clones(call))))
            except Exception as error:
                entry["error"] = f"{type(error).__name__}: {error}"[:160]
        for call in opinfos.distinct(iter(all_calls), SIGNATURES if primary else 1):
            tags: set[str] = set()
            try:
                with tag_mode(tags):
                    call.function()(*clones(call))
            except Exception:
                tags.clear()
            try:
                call.function()(*clones(call))
            except Exception:
                continue
            verdict = dynamo().measure(call.function(), clones(call))
            if verdict and not (inner := on_intermediate(call)):
                on_input = {"signature": call.signature, "tags": [], **verdict}
                results.append({"target": f"{target}[input]", "seen": [], "calls": [on_input]})
                verdict = inner
            entry["calls"].append({"signature": call.signature, "tags": sorted(tags), **verdict})
        results.append(entry)
    return results


def on_intermediate(call: opinfos.Call) -> dict[str, Any]:
    """The verdict on an in-place call whose receiver was made in the function: more is allowed than on an input."""
    if not call.target.endswith("_") or not call.source.startswith("a0."):
        return {"gb_type": "", "effect": ""}
    inner = opinfos.Call(call.target, "a0.clone()" + call.source[2:], call.signature, call.values, call.sample)
    return dynamo().measure(inner.function(), clones(inner))


FORMS = ("x", "x, y", "x, 0", "x, 1", "x, i", "[x, y]", "x, (2, 2)", "4", "")
OPERANDS = {"x": "a0", "y": "a1", "i": "a2"}
UNSAFE = ("compile", "export", "save", "load", "fork", "wait", "hub", "init_", "sleep", "import_ir", "read_vitals")


def declared(target: str) -> dict[str, Any]:
    """A function or method that the operator database has no samples of, called the first way that works."""
    from probes import calls

    owner, _, name = target.rpartition(".")
    if name.startswith(UNSAFE):
        return {}
    if owner == "Tensor":
        import torch

        if not callable(getattr(torch.Tensor, name, None)):
            sources = [f"x.{name}"]
        else:
            sources = [f"x.{name}({form[3:]})" for form in FORMS if form[:1] == "x"]
    else:
        sources = [f"{target}({form})" for form in FORMS]
    for number, source in enumerate(sources):
        operands = calls.operands()
        text = re.sub(r"\b([xyi])\b(?!\w*\()", lambda m: OPERANDS[m[1]], source)
        values = {new: operands[old] for old, new in OPERANDS.items() if new in text}
        call = opinfos.Call(target, text, re.sub(r"^.*?(\(|$)", "", source).rstrip(")"), values, number)
        try:
            result = call.function()(*clones(call))
        except Exception:
            continue
        if kind(result) == "notimplementedtype":
            continue
        verdict = dynamo().measure(call.function(), clones(call))
        if verdict and not on_intermediate(call):
            verdict = {}
        entry = {"signature": f"({call.signature})", "tags": [], **verdict}
        return {"target": target, "seen": [observe(call, result)], "calls": [entry]}
    return {}


Built = tuple[Callable[..., Any], Callable[[], list[Any]]]


def run_probe(build: Callable[[], Built], file: str = "") -> dict[str, Any]:
    """The verdict on a curated probe, its objects made anew for each run; one that doesn't run eagerly has none."""
    function, make = build()
    try:
        function(*make())
    except Exception as error:
        return {"invalid": f"{type(error).__name__}: {error}"[:160]}
    function, make = build()
    return dynamo().measure(function, make(), file)


def call_probe(index: int) -> dict[str, Any]:
    """The verdict on a line of probes/calls.py; where it traces, also on the form that returns its value."""
    from probes import calls

    verdict = run_probe(lambda: calls.build(index))
    if not verdict and calls.can_return(index):
        verdict = {"returned": run_probe(lambda: calls.build(index, returned=True))}
    return verdict


def construct_probe(name: str) -> dict[str, Any]:
    """The verdict on a construct, with the lines of it that broke (1: its first); 0 stands for a helper's line."""
    from probes import suite

    file, first, last = suite.place(name)
    verdict = run_probe(lambda: suite.build(name), file)
    if "gb_type" in verdict:
        verdict["lines"] = sorted({line - first + 1 if first <= line <= last else 0 for line in dynamo().lines})
    return verdict


def isolated(probe: Callable[[Any], dict[str, Any]], which: Any, timeout: float = 25) -> dict[str, Any]:
    """The probe's result from a forked child: whatever it does to the process (hooks, seeds, crashes) ends with it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            result = probe(which)
        except BaseException as error:
            result = {"invalid": f"{type(error).__name__}: {error}"[:160]}
        with os.fdopen(writer, "w") as pipe:
            json.dump(result, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        ready, _, _ = select.select([pipe], [], [], timeout)
        text = pipe.read() if ready else ""
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(text) if text else {"invalid": "died or timed out"}


def warm_up() -> None:
    """Import what compiling needs, once, before probes are forked."""
    import torch
    from probes import calls

    calls.namespace()
    for name in ("item_factor", "namedtuple_construct", "numpy_round_trip", "with_no_grad", "module_hook_before"):
        construct_probe(name)
    torch._dynamo.reset()


def handle(job: workers.Job) -> Any:
    what, which = job
    if what == "op":
        return operator(which)
    if what == "call_alone":
        return {**call_probe(which), "fatal": True}
    if _dynamo is None:
        warm_up()
    return isolated({"call": call_probe, "construct": construct_probe, "declared": declared}[what], which)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    torch.set_num_threads(1)
    workers.serve(handle)
