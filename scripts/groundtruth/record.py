"""Records one case: what Dynamo traced and where it broke, or what ran and where the host waited for the GPU."""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import traceback
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve().parent
CALLS = 2  # the first call often initializes; the second does what all later ones do
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

import torch  # noqa: E402
from case import Call, Case  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

from compilelint.runtime.breaks import SKIPPED, Dynamo  # noqa: E402
from compilelint.runtime.places import Places  # noqa: E402
from compilelint.runtime.results import Site  # noqa: E402
from compilelint.runtime.syncs import cuda_sync_sites  # noqa: E402

Lines = dict[str, set[int]]


@contextlib.contextmanager
def traced_lines(places: Places) -> Iterator[Lines]:
    """The lines that Dynamo interprets, in inlined functions too: it tells its context each of them."""
    from torch._guards import TracingContext

    lines: Lines = defaultdict(set)
    context: Any = TracingContext
    tell = context.set_current_loc

    def told(filename: str, line: int, *args: Any, **kwargs: Any) -> Any:
        if line and (path := places.relative(filename)) is not None:
            lines[path].add(line)
        return tell(filename, line, *args, **kwargs)

    context.set_current_loc = staticmethod(told)
    try:
        yield lines
    finally:
        context.set_current_loc = tell


@contextlib.contextmanager
def executed_lines(places: Places) -> Iterator[Lines]:
    """The lines that Python runs on this thread."""
    lines: Lines = defaultdict(set)

    def enter(frame: FrameType, event: str, arg: Any) -> Any:
        path = places.relative(frame.f_code.co_filename)
        if path is None:
            return None
        here = lines[path]

        def step(frame: FrameType, event: str, arg: Any) -> Any:
            if event == "line":
                here.add(frame.f_lineno)
            return step

        return step

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield lines
    finally:
        sys.settrace(before)


def record_breaks(case: Case, places: Places) -> tuple[Lines, list[Site], str]:
    """Raises what the case itself raises; what only Dynamo raises is returned as text."""
    target, args, kwargs = build(case, "cpu")
    torch._dynamo.config.recompile_limit = 64  # many instances of one class share its code: see them all
    compiled = torch.compile(target, backend=lambda graph, _: graph.forward)
    error = ""
    with Dynamo(places) as dynamo, traced_lines(places) as lines:
        try:
            for _ in range(CALLS):
                compiled(*args, **kwargs)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}".partition("\n")[0]
    if error:
        torch._dynamo.reset()
        target, args, kwargs = build(case, "cpu")
        for _ in range(CALLS):
            target(*args, **kwargs)
    return lines, list(dynamo.breaks.values()), error


def record_syncs(case: Case, places: Places) -> tuple[Lines, list[Site], str]:
    """Needs a CUDA GPU. Memory is allocated, and the libraries are loaded, before anything is recorded."""
    target, args, kwargs = build(case, "cuda")
    torch.linalg.inv(torch.ones(1, 1, device="cuda") @ torch.ones(1, 1, device="cuda"))
    torch.cuda.synchronize()
    with cuda_sync_sites(places) as sites, executed_lines(places) as lines:
        for _ in range(CALLS):
            target(*args, **kwargs)
    return lines, [Site(site.path, site.line, "sync") for site in sites.list()], ""


def build(case: Case, device: str) -> Call:
    """The case on a device, which is the default one while it is built, not when it runs."""
    random.seed(0)
    torch.manual_seed(0)
    if device == "cpu":
        return case.build()
    with torch.device(device):
        target, args, kwargs = case.build()
    owner = getattr(target, "__self__", target)
    if isinstance(owner, torch.nn.Module):
        owner.to(device)
    return target, *pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(device), (args, kwargs))


def record(case: Case, mode: str, site: Path, out: Path) -> None:
    """Writes {"error", "files": {path: [[line, ...], [[line, what, skipped], ...]]}} of the files under `site`.

    Meant for a process of its own, which it ends; what the case prints is lost. A case that fails writes {"failed"}.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1), os.dup2(nowhere, 2)
    try:
        recorder = record_breaks if mode == "breaks" else record_syncs
        lines, sites, error = recorder(case, Places([str(site)]))
        files: dict[str, Any] = {path: [sorted(numbers), []] for path, numbers in lines.items()}
        for found in sites:
            if (site / found.path).is_file():  # else Dynamo's own, with none of the packages on the stack
                line = [found.line, found.what, found.detail == SKIPPED]
                files.setdefault(found.path, [[], []])[1].append(line)
        result = {"error": error, "files": files}
    except Exception:
        result = {"failed": traceback.format_exc(limit=-4)}
    out.write_text(json.dumps(result), encoding="utf-8")
    os._exit(0)  # threads that a package left running must not keep the process
