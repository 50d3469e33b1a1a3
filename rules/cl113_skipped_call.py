"""A call that Dynamo can't trace breaks the graph: clocks, files, the operating system, C extensions.

## What it does
Reports, in compiled code, calls of functions that Dynamo skips or fails to trace: `time.*`, parts of `random`, `os`,
`io`, `json`, `pickle`, `hashlib`, `subprocess`, `inspect`, `gc`, `datetime`, `torch.save`, hardware queries, `eval`,
`ctypes`, progress bars and C extensions such as PIL; `finditer` and `groupdict` of regular expressions, a TypedDict
of which keys may be missing, and a metaclass that calls `type.__call__`. Which of them break was measured on each
torch release.

## Why it costs
The graph ends before the call, and another starts after it.

## Example
    start = time.perf_counter()
    y = self.layer(x)
    self.spent += time.perf_counter() - start

## Use instead
Call it outside the compiled region: time around the compiled call (with CUDA events on a GPU), draw random numbers
before it and pass them in, read files and settings in `__init__`.

## Fix safety
Unsafe for clocks: they read 0 while the code runs compiled, where they would time the launch of work, not the work.
What a process finds the same whenever it asks, such as `os.cpu_count()`, is asked once when the module is imported
(unsafe). Elsewhere manual: where the value is to come from is a decision.

## Versions
From the table of the chosen release. `random.randint`, `random.uniform`, `os.environ`, `os.path.join` and `math.*`
are traced; so are `locals()`, `eval` and `hex` since 2.13, and `random.random`, `random.shuffle` and `random.sample`
since 2.14.

## References
https://docs.pytorch.org/docs/stable/compile/programming_model.dynamo_core_concepts.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, Store, ask_once, cost, words

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule(
    "CL113",
    "skipped-call",
    effects=("graph-break",),
    gb_types=(
        "Attempted to call function marked as skipped",
        "Unsupported method call",
        "Failed to trace builtin operator",
    ),
    fixable=Applicability.UNSAFE,
)

# Top-level modules of which every function breaks, and functions of modules of which some do.
MODULES = frozenset(
    words(
        "struct base64 bisect csv cv2 datetime decimal gc glob hashlib io json pickle PIL platform queue"
        " secrets shutil signal socket statistics subprocess tempfile time uuid zlib"
        " h5py pandas scipy sklearn matplotlib tqdm wandb"
    )
)
TRACED = frozenset(words("datetime.datetime platform.system platform.machine time.struct_time signal.SIGINT"))
FUNCTIONS = frozenset(
    words(
        "random.random random.choice random.choices random.sample random.shuffle random.gauss random.seed"
        " random.getstate random.setstate random.betavariate random.normalvariate random.expovariate"
        " random.triangular random.getrandbits os.getpid os.getppid os.getcwd os.chdir os.cpu_count os.listdir"
        " os.makedirs os.mkdir os.remove os.rename os.urandom os.stat os.walk os.system os.path.exists"
        " os.path.isfile os.path.isdir os.path.getsize os.path.getmtime open eval exec compile globals dir"
        " input breakpoint sys.getsizeof sys.getrefcount sys._getframe sys.exit inspect.currentframe"
        " inspect.stack inspect.getsource inspect.getfile traceback.format_stack heapq.heappush heapq.heappop"
        " heapq.heapify heapq.nlargest heapq.nsmallest atexit.register asyncio.run threading.get_ident"
        " threading.current_thread threading.Thread contextlib.redirect_stdout functools.lru_cache"
        " types.SimpleNamespace pprint.pformat pathlib.Path.exists pathlib.Path.read_text pathlib.Path.is_file"
        " pathlib.Path.open pathlib.Path.mkdir torch.save torch.load torch.jit.script torch.jit.trace"
        " torch.typename torch.is_storage torch.result_type torch.can_cast torch.get_num_threads"
        " torch.set_num_threads torch.get_float32_matmul_precision torch.get_default_device"
        " torch.cuda.device_count torch.cuda.memory_allocated torch.cuda.memory_reserved"
        " torch.cuda.max_memory_allocated torch.backends.cudnn.is_available torch.backends.mps.is_available"
        " torch.utils.data.DataLoader torch.testing.assert_close torch.is_inference_mode_enabled"
        " torch._C._is_tracing torch._dynamo.graph_break torch.nn.utils.rnn.pack_padded_sequence"
        " torch.nn.utils.pack_padded_sequence torch.nn.utils.pad_packed_sequence torch.nn.utils.pack_sequence"
        " torch.nn.utils.rnn.pad_packed_sequence torch.nn.utils.rnn.pack_sequence torch.from_dlpack"
        " torch.utils.dlpack.to_dlpack torch.frombuffer torch.autograd.functional.jacobian"
        " torch.autograd.functional.hessian re.finditer re.Pattern.finditer re.Match.groupdict"
    )
)
CLOCKS = words(
    "time.time time.perf_counter time.monotonic time.process_time time.time_ns time.perf_counter_ns time.monotonic_ns"
)
OWNED = words(
    "print logging. warnings. copy. numpy. Tensor. Module. torch.nn. torch.optim. sys.std math. dataclasses."
    " contextlib. threading.Lock. threading.RLock. threading.Semaphore. threading.Condition."
    " functools.cached_property."
)
# Of torch's own functions the table says why they break. These reasons lie in the callee, whatever it is given.
IN_CALLEE = frozenset(
    (
        "Attempted to call function marked as skipped",
        "Attempted to inline function marked as skipped",
        "torch.* op returned non-Tensor",
    )
)
# … unless another rule says more: random state, gradients, storage, copies, what is sparse
TOLD_ELSEWHERE = words(
    "torch.manual_seed torch.initial_seed torch.get_rng_state torch.set_rng_state torch.random. torch.cuda.manual_seed"
    " torch.autograd. torch.is_inference torch.amp. torch.sparse torch.nn.init. torch.nn.LSTM. Tensor.storage"
    " Tensor.is_pinned Tensor.is_shared Tensor.is_set_to Tensor.__ Tensor.dense_dim Tensor.sparse_dim"
)


@rule.on(Call)
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if not ctx.compiled or not breaks(event.target, ctx) or isinstance(ctx.parent(event.node), ast.withitem):
        return
    message = f"`{ctx.source(event.node)}` is a call that Dynamo can't trace: {cost(event, ctx)}"
    hint = "call it outside the compiled region and pass the result in"
    yield Report(event.node, message, hint=hint, fix=stop_clock(event) or ask_once(event, ctx))


@rule.on(Store, "types.SimpleNamespace.*")
def namespace(event: Store, ctx: Context) -> Iterator[Report]:
    """An attribute of an object written in C; Dynamo follows those of Python classes alone."""
    if ctx.compiled:
        message = f"Dynamo can't follow the change of `{ctx.source(event.node)}`: {cost(event, ctx)}"
        yield Report(event.node, message, gb_types=("Unsupported method call",), hint="use a class of your own")


@rule.on(Call, "typing.TypedDict.__optional_keys__")
def typed_dict(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled:
        message = f"`{ctx.source(event.node)}` makes a TypedDict of which keys may be missing: {cost(event, ctx)}"
        yield Report(event.node, message, gb_types=("TypedDict with optional keys",), hint="make a plain dict")


@rule.on(Call, "type.__call__", "abc.ABCMeta.__call__")
def metaclass(event: Call, ctx: Context) -> Iterator[Report]:
    """`super().__call__(…)` of a metaclass that is called on its own: type's is written in C."""
    if ctx.compiled:
        message = f"Dynamo can't trace `{ctx.source(event.node)}` of a metaclass: {cost(event, ctx)}"
        gb_types = ("Attempted to call a super() attribute that is not a function or method",)
        yield Report(event.node, message, gb_types=gb_types, hint="make the object outside the compiled region")


def stop_clock(event: Call) -> Fix | None:
    """A clock read stands still while compiling: what it measures there is not the work of the graph anyway."""
    node = event.node
    if event.target not in CLOCKS or event.discarded:
        return None
    zero = "0" if event.target.endswith("_ns") else "0.0"

    def build(rw: Rewriter) -> None:
        text = f"{zero} if {rw.name_for('torch.compiler.is_compiling')}() else {rw.text(node)}"
        alone = isinstance(event.statement, ast.Assign) and event.statement.value is node
        rw.replace(node, text if alone else f"({text})")

    return Fix("stop the clock while compiling", Applicability.UNSAFE, build, "compiled code measures no time")


def breaks(target: str, ctx: Context) -> bool:
    says = ctx.torch_says(target)
    measured = says.get("breaks")
    if target in FUNCTIONS:
        return measured is not False
    if target.startswith("torch.quasirandom."):  # SobolEngine and its methods
        return True
    if target.startswith(("torch.", "Tensor.")):
        in_callee = measured is True and says["break"]["gb_type"] in IN_CALLEE
        return in_callee and not target.startswith(TOLD_ELSEWHERE)
    if target.startswith(OWNED):
        return False
    if isinstance(measured, bool):
        return measured
    module, _, name = target.partition(".")
    called = target.endswith(".__call__")  # an object of a subclass, for one of sklearn's has no such method
    return bool(name) and module in MODULES and target not in TRACED and not called
