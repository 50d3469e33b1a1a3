"""A context manager that Dynamo doesn't know makes it skip the whole frame.

## What it does
Reports, in compiled code, `with` over locks, files, `torch.device(…)`, `cudnn.flags`, `fork_rng`, `detect_anomaly`,
saved-tensor hooks, NVTX ranges, `numpy.errstate`, `redirect_stdout`, temporary files and the like, over an object
of a class of your own that was made before the compiled code runs, and `acquire`/`release` of a lock.

## Why it costs
Dynamo can't resume inside a `with` block: the function around it isn't compiled at all.

## Example
    with self.lock:
        y = self.layer(x)

## Use instead
Enter it outside the compiled region: `with lock: y = compiled(x)`. For `with torch.device(d):` pass `device=d` to the
calls inside.

## Fix safety
Manual: what the block protects decides how far out it may move.

## Versions
All releases. `no_grad`, `inference_mode`, `autocast`, `record_function`, `sdpa_kernel`, `nullcontext`, `suppress`,
`catch_warnings`, `@contextmanager` functions and objects made where they are entered are traced.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import Call, Context, Enter, External, Instance, Report, Rule, Value, cost, words

rule = Rule("CL115", "context-manager-in-graph", effects=("graph-break",), gb_types=("Unsupported context manager",))

LOCKS = words(
    "threading.Lock threading.RLock threading.Semaphore threading.BoundedSemaphore threading.Condition _thread.lock"
)
LOCKS += ("multiprocessing.Lock", "multiprocessing.RLock", "asyncio.Lock")
MANAGERS = words(
    "torch.device torch.backends.cudnn.flags torch.backends.cuda.sdp_kernel torch.random.fork_rng"
    " torch.autograd.detect_anomaly torch.autograd.set_detect_anomaly torch.autograd.graph.save_on_cpu"
    " torch.autograd.graph.saved_tensors_hooks torch.autograd.set_multithreading_enabled"
    " torch.cuda.nvtx.range torch.utils.flop_counter.FlopCounterMode"
    " torch.sparse.check_sparse_tensor_invariants contextlib.redirect_stdout contextlib.redirect_stderr"
    " open io.open tempfile.TemporaryDirectory tempfile.NamedTemporaryFile tempfile.TemporaryFile"
    " numpy.errstate numpy.printoptions decimal.localcontext zipfile.ZipFile tarfile.open"
    " concurrent.futures.ThreadPoolExecutor multiprocessing.Pool"
)
HINT = "enter it outside the compiled region"
KEPT = "make it where it is entered, or enter it outside the compiled region"


def kind_of(value: Value) -> str:
    if isinstance(value, Instance):
        return value.external or next(iter(value.bases), "")
    return value.name if isinstance(value, External) else ""


@rule.on(Enter)
def enter(event: Enter, ctx: Context) -> Iterator[Report]:
    name = event.target or kind_of(event.value)
    if ctx.compiled and (event.kept or name in (*MANAGERS, *LOCKS)):
        message = f"Dynamo can't trace `with {ctx.source(event.node)}`: {cost(event, ctx)}"
        yield Report(event.node, message, because=event.value, hint=KEPT if event.kept else HINT)


@rule.on(Call, *(f"{lock}.{method}" for lock in LOCKS for method in ("acquire", "release", "locked")))
def acquire(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled:
        message = f"Dynamo can't trace `{ctx.source(event.node)}`: {cost(event, ctx)}"
        yield Report(event.node, message, gb_types=("Unsupported method call",), hint=HINT)


@rule.on(Call, "functools.cached_property.__get__")
def cached(event: Call, ctx: Context) -> Iterator[Report]:
    """The first read takes a lock, up to Python 3.11."""
    if ctx.compiled and ctx.python < (3, 12):
        message = f"`{ctx.source(event.node)}` takes the lock of `functools.cached_property`: {cost(event, ctx)}"
        yield Report(event.node, message, hint="set the attribute in `__init__`, or use a plain property")
