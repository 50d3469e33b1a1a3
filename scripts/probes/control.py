"""Generators, exceptions, context managers, locks, decorators, breaks in nested places; `_ok` marks a near twin."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import itertools
import threading
import time
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# fmt: off

_LOCK = threading.Lock()
_RLOCK = threading.RLock()
_SEMAPHORE = threading.Semaphore()
_CONDITION = threading.Condition()


class _Quiet:
    def __enter__(self): return self
    def __exit__(self, *args): return False


class _Scale:
    def __init__(self, factor): self.factor = factor
    def __enter__(self): return self.factor
    def __exit__(self, *args): return None


class _Stopwatch:
    def __enter__(self): self.start = time.perf_counter(); return self
    def __exit__(self, *args): self.spent = time.perf_counter() - self.start


class _Swallow:
    def __enter__(self): return self
    def __exit__(self, kind, error, trace): return kind is ValueError


class _GradOff(torch.autograd.grad_mode.no_grad):
    pass


@contextlib.contextmanager
def _section(name): yield name
@contextlib.contextmanager
def _section_with_print(name):
    print(name)
    yield
@contextlib.contextmanager
def _guarded():
    try: yield
    finally: pass
@contextlib.contextmanager
def _restored(module):
    was = module.training
    module.eval()
    try: yield module
    finally: module.train(was)


def _rows(t):
    for r in t: yield r * 2
def _rows_printed(t):
    for r in t:
        print("row")
        yield r * 2
def _rows_item(t):
    for r in t: yield r.sum().item()
def _pairs(n):
    for k in range(n): yield k, k + 1


class _Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.lock = threading.Lock()

    def blocks(self):
        yield from self.layers


_NET = _Net()


def _plain(t): return t * 2
@torch.no_grad()
def _without_grad(t): return t * 2
@torch.inference_mode()
def _in_inference(t): return t * 2
@torch.no_grad()
def _without_grad_item(t): return t * t.mean().item()
@torch.enable_grad()
def _with_grad(t): return t * 2
@torch.autocast("cpu", dtype=torch.bfloat16)
def _in_autocast(t): return t @ t
@contextlib.contextmanager
def _as_decorator(): yield
@_as_decorator()
def _decorated_by_manager(t): return t * 2
@torch.compiler.disable
def _eager_only(t): return t * 2
@torch.jit.ignore
def _jit_ignored(t): return t * 2
@torch.jit.unused
def _jit_unused(t): return t * 2


# -- generators ---
def generator_own_ok(x): return torch.stack(list(_rows(x)))
def generator_own_print(x): return torch.stack(list(_rows_printed(x)))
def generator_own_item(x): return x * sum(_rows_item(x))
def generator_own_for_ok(x):
    for a, b in _pairs(3): x = x + a * b
    return x
def generator_own_for_item(x):
    for value in _rows_item(x): x = x + value
    return x
def generator_next_ok(x):
    rows = _rows(x)
    return next(rows) + next(rows)
def generator_next_default_ok(x): return next(_rows(x), None) + 1
def generator_send_ok(x):
    def running():
        total = x
        while True: total = total + (yield total)
    g = running()
    next(g)
    return g.send(x)
def generator_throw(x):
    def guarded():
        try: yield x
        except ValueError: yield x + 1
    g = guarded()
    next(g)
    return g.throw(ValueError("a"))
def generator_close(x):
    g = _rows(x)
    y = next(g)
    g.close()
    return y + 1
def generator_yield_from_ok(x):
    def outer(): yield from _rows(x)
    return torch.stack(list(outer()))
def generator_returned_out(x): return _rows(x), x + 1
def generator_expression_returned(x): return (r * 2 for r in x), x + 1
def generator_infinite_ok(x):
    def counting():
        n = 0
        while True:
            yield n
            n += 1
    return x + sum(itertools.islice(counting(), 3))
def generator_infinite_count_ok(x):
    for k, r in zip(itertools.count(), x): x = x + r * k
    return x
def generator_data_dependent(x):
    def positive():
        for r in x:
            if r.sum() > -99: yield r
    return torch.stack(list(positive()))
def generator_python_condition_ok(x):
    def even():
        for k, r in enumerate(x):
            if k % 2 == 0: yield r
    return torch.stack(list(even()))
def generator_in_stack(x): return torch.stack([*(r * 2 for r in x)])
def generator_in_dict_ok(x): return dict((k, r) for k, r in enumerate(x))[0] + 1
def generator_in_max(x): return x * max(r.sum().item() for r in x)
def generator_chained_ok(x): return torch.stack(list(itertools.chain(_rows(x), _rows(x))))
def generator_with_manager(x):
    def rows():
        with torch.no_grad():
            for r in x: yield r * 2
    return torch.stack(list(rows()))
def generator_try_finally(x):
    def rows():
        try:
            for r in x: yield r * 2
        finally: pass
    return torch.stack(list(rows()))
class module_generator_method_ok(_Net):
    def forward(self, x):
        for layer in self.blocks(): x = layer(x)
        return x

# -- exceptions ---
def try_item_inside(x):
    try: factor = x.mean().item()
    except RuntimeError: factor = 1.0
    return x * factor
def try_print_inside(x):
    try:
        y = x * 2
        print("a")
    except RuntimeError: y = x
    return y + 1
def try_nothing_ok(x):
    try: y = x * 2
    except RuntimeError: y = x
    return y + 1
def try_finally_item(x):
    try: y = x * 2
    finally: factor = x.mean().item()
    return y * factor
def try_except_print(x):
    try: y = [x][3]
    except IndexError:
        print("none")
        y = x
    return y + 1
def try_except_raises_ok(x):
    try: y = [x][3]
    except IndexError: y = x * 2
    return y + 1
def try_except_as_string(x):
    try: raise ValueError("a b")
    except ValueError as error: return x + len(str(error))
def try_except_as_args_ok(x):
    try: raise ValueError("a", 2)
    except ValueError as error: return x + error.args[1]
def try_else_item(x):
    try: y = x * 2
    except ValueError: y = x
    else: y = y * y.mean().item()
    return y
def try_reraise_ok(x):
    try:
        try: raise ValueError("a")
        except ValueError: raise KeyError("b") from None
    except KeyError: return x * 2
def try_nested_item(x):
    try:
        try: y = x * x.mean().item()
        except ValueError: y = x
    except KeyError: y = x
    return y
def try_bare_ok(x):
    try: y = {}["a"]
    except: y = x
    return y * 2
def try_base_exception_ok(x):
    try: y = x.nothing_like_it
    except Exception: y = x
    return y * 2
def try_custom_exception(x):
    class Stop(Exception):
        pass
    try: raise ValueError("a")
    except ValueError: return x * 2
def try_exception_group_ok(x):
    try: int("a")
    except (TypeError, ValueError): return x * 2
def try_loop_inside(x):
    for r in x:
        try: x = x * r.mean().item()
        except ValueError: continue
    return x
def try_loop_inside_ok(x):
    for r in x:
        try: x = x * r.mean()
        except ValueError: continue
    return x
def try_return_inside_ok(x):
    try: return x * 2
    finally: x = x + 1
def try_break_in_finally_ok(x):
    for r in x:
        try: x = x + r
        finally: x = x * 2
    return x
def try_assert(x):
    try: assert x.shape[0] == 5, "five"
    except AssertionError: return x * 2
    return x
def try_stop_iteration_ok(x):
    it = iter([x])
    next(it)
    try: next(it)
    except StopIteration: return x * 2
    return x
def try_shape_mismatch(x):
    try: return x @ torch.ones(3, 3)
    except RuntimeError: return x * 2
def suppress_ok(x):
    with contextlib.suppress(KeyError): x = x * 2
    return x
def suppress_raised(x):
    with contextlib.suppress(KeyError): raise KeyError("a")
    return x * 2
def suppress_item(x):
    factor = 1.0
    with contextlib.suppress(KeyError): factor = x.mean().item()
    return x * factor

# -- context managers ---
def manager_own_ok(x):
    with _Quiet(): y = x * 2
    return y
def manager_own_item(x):
    with _Quiet(): y = x * x.mean().item()
    return y
def manager_own_value_ok(x):
    with _Scale(2.0) as factor: y = x * factor
    return y
def manager_own_clock(x):
    with _Stopwatch() as watch: y = x * 2
    return y + watch.spent * 0
def manager_own_swallow_ok(x):
    with _Swallow(): y = x * 2
    return y
def manager_own_swallow_raised(x):
    with _Swallow(): raise ValueError("a")
    return x * 2
def manager_generator_ok(x):
    with _section("a"): y = x * 2
    return y
def manager_generator_print_inside(x):
    with _section("a"):
        y = x * 2
        print("a")
    return y
def manager_generator_print(x):
    with _section_with_print("a"): y = x * 2
    return y
def manager_generator_finally_ok(x):
    with _guarded(): y = x * 2
    return y
def manager_generator_branch(x):
    with _guarded():
        if x.mean() > 0: x = x * 2
    return x
def manager_nested_item(x):
    with torch.no_grad():
        with _Quiet(): y = x * x.mean().item()
    return y
def manager_nested_ok(x):
    with torch.no_grad():
        with _Quiet(): y = x * 2
    return y
def manager_exit_stack_ok(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(_Quiet())
        y = x * 2
    return y
def manager_exit_stack_callback(x):
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: None)
        y = x * 2
    return y
def manager_closing(x):
    with contextlib.closing(io.StringIO()): y = x * 2
    return y
def manager_null_ok(x):
    with contextlib.nullcontext(2) as factor: y = x * factor
    return y
def manager_chosen_ok(x):
    context = torch.no_grad if x.dim() == 2 else contextlib.nullcontext
    with context(): y = x * 2
    return y
def manager_redirect_stdout(x):
    with contextlib.redirect_stdout(io.StringIO()): y = x * 2
    return y
def manager_redirect_stderr(x):
    with contextlib.redirect_stderr(io.StringIO()): y = x * 2
    return y
def manager_as_decorator_ok(x): return _decorated_by_manager(x) + 1
def manager_in_loop_ok(x):
    for _ in range(2):
        with _Quiet(): x = x * 2
    return x
def manager_in_loop_item(x):
    for _ in range(2):
        with _Quiet(): x = x * x.mean().item()
    return x
def manager_numpy_errstate(x):
    with np.errstate(divide="ignore"): y = x * 2
    return y
def manager_numpy_printoptions(x):
    with np.printoptions(precision=2): y = x * 2
    return y
def manager_warnings_record(x):
    with warnings.catch_warnings(record=True) as caught: y = x * 2
    return y + len(caught)
def manager_module_restored(x):
    with _restored(_NET) as net: y = net.lin(x)
    return y
def manager_enter_by_hand_ok(x):
    manager = _Quiet()
    manager.__enter__()
    y = x * 2
    manager.__exit__(None, None, None)
    return y
def manager_torch_enter_by_hand(x):
    manager = torch.no_grad()
    manager.__enter__()
    y = x * 2
    manager.__exit__(None, None, None)
    return y

# -- torch's context managers ---
def torch_no_grad_ok(x):
    with torch.no_grad(): y = x * 2
    return y + x
def torch_no_grad_decorator_ok(x): return _without_grad(x) + x
def torch_no_grad_decorator_item(x): return _without_grad_item(x) + x
def torch_no_grad_lambda(x): return torch.no_grad()(lambda t: t * 2)(x)
def torch_no_grad_subclass(x):
    with _GradOff(): y = x * 2
    return y
def torch_enable_grad_decorator_ok(x): return _with_grad(x) + x
def torch_inference_decorator(x): return _in_inference(x) + x
def torch_inference_mode_ok(x):
    with torch.inference_mode(): y = x * 2
    return y
def torch_inference_mode_off_ok(x):
    with torch.inference_mode(False): y = x * 2
    return y
def torch_set_grad_enabled_with_ok(x):
    with torch.set_grad_enabled(x.dim() == 2): y = x * 2
    return y
def torch_set_grad_enabled_call_ok(x):
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(True)
    return y
def torch_is_grad_enabled_ok(x): return x * 2 if torch.is_grad_enabled() else x
def torch_autocast_ok(x):
    with torch.autocast("cpu", dtype=torch.bfloat16): y = x @ x
    return y
def torch_autocast_disabled_ok(x):
    with torch.autocast(device_type=x.device.type, enabled=False): y = x @ x
    return y
def torch_autocast_decorator(x): return _in_autocast(x) + 1
def torch_cpu_amp_autocast_ok(x):
    with torch.amp.autocast("cpu"): y = x @ x
    return y
def torch_cuda_amp_autocast_ok(x):
    with torch.cuda.amp.autocast(enabled=False): y = x @ x
    return y
def torch_record_function_ok(x):
    with torch.profiler.record_function("a"): y = x * 2
    return y
def torch_autograd_record_function(x):
    with torch.autograd.profiler.record_function("a"): y = x * 2
    return y
def torch_profiler(x):
    with torch.profiler.profile(): y = x * 2
    return y
def torch_detect_anomaly(x):
    with torch.autograd.detect_anomaly(): y = x * 2
    return y
def torch_set_detect_anomaly(x):
    with torch.autograd.set_detect_anomaly(False): y = x * 2
    return y
def torch_saved_tensors_hooks(g):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): y = g * g
    return y
def torch_save_on_cpu(g):
    with torch.autograd.graph.save_on_cpu(): y = g * g
    return y
def torch_disable_saved_tensors_hooks(g):
    with torch.autograd.graph.disable_saved_tensors_hooks("no"): y = g * g
    return y
def torch_device_manager(x):
    with torch.device("cpu"): y = x * torch.ones(4)
    return y
def torch_device_keyword_ok(x): return x * torch.ones(4, device=torch.device("cpu"))
def torch_fork_rng_off(x):
    with torch.random.fork_rng(enabled=False): y = x * 2
    return y
def torch_set_default_device(x): torch.set_default_device("cpu"); return x * 2
def torch_sdpa_kernel_ok(x):
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH): y = F.scaled_dot_product_attention(x, x, x)
    return y
def torch_cudnn_flags(x):
    with torch.backends.cudnn.flags(enabled=False): y = x * 2
    return y
def torch_skip_init(x): return nn.utils.skip_init(nn.Linear, 4, 4).weight.shape[0] + x
def torch_forward_ad(x):
    with torch.autograd.forward_ad.dual_level(): y = x * 2
    return y
def torch_functional_dispatch_off(x):
    with torch._C.DisableTorchFunctionSubclass(): y = x * 2
    return y

# -- locks and threads ---
def lock_with(x):
    with _LOCK: y = x * 2
    return y
def lock_with_rlock(x):
    with _RLOCK: y = x * 2
    return y
def lock_semaphore(x):
    with _SEMAPHORE: y = x * 2
    return y
def lock_condition(x):
    with _CONDITION: y = x * 2
    return y
def lock_acquire(x):
    _LOCK.acquire()
    try: y = x * 2
    finally: _LOCK.release()
    return y
def lock_locked(x): return x + _LOCK.locked()
def lock_new(x):
    with threading.Lock(): y = x * 2
    return y
def lock_absent_ok(x):
    lock = None
    if lock is not None: lock.acquire()
    return x * 2
class module_lock(_Net):
    def forward(self, x):
        with self.lock: return self.lin(x)
def thread_run(x):
    worker = threading.Thread(target=time.sleep, args=(0,))
    worker.start()
    worker.join()
    return x * 2
def thread_pool(x):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(1) as pool: return x + pool.submit(len, [1]).result()
def asyncio_run(x):
    async def twice(): return 2
    return x * asyncio.run(twice())
def async_not_awaited(x):
    async def twice(): return 2
    twice().close()
    return x * 2

# -- breaks in nested places ---
def nested_print_two_levels(x):
    def inner(t):
        print("a")
        return t * 2
    def outer(t): return inner(t) + 1
    return outer(x) * 3
def nested_item_in_callback(x):
    def apply(function, t): return function(t)
    return apply(lambda t: t * t.mean().item(), x)
def nested_callback_ok(x):
    def apply(function, t): return function(t)
    return apply(lambda t: t * t.mean(), x)
def nested_item_in_partial(x):
    def scaled(t, u): return t * u.mean().item()
    return functools.partial(scaled, x)(x)
def nested_partial_ok(x):
    def scaled(t, u): return t * u.mean()
    return functools.partial(scaled, x)(x)
def nested_print_in_default_argument(x):
    def scaled(t, flag=print("a")): return t * 2
    return scaled(x)
def nested_item_in_class_method(x):
    class Scaler:
        def scale(self, t): return t * t.mean().item()
    return Scaler().scale(x)
def nested_break_in_loop_of_calls(x):
    def step(t):
        print("a")
        return t * 2
    for _ in range(2): x = step(x)
    return x
def nested_loop_of_calls_ok(x):
    def step(t): return t * 2
    for _ in range(2): x = step(x)
    return x
def nested_item_in_inner_loop(x):
    for _ in range(2):
        for r in x: x = x + r.mean().item()
    return x
def nested_item_in_dict_comprehension(x): return {k: r.mean().item() for k, r in enumerate(x)}[0] + x
def nested_print_in_condition(x):
    if print("a") is None: x = x * 2
    return x
def nested_break_call_in_argument(x): return torch.add(x, x * x.mean().item())
def nested_recursion_item(x):
    def halve(t, n): return t * t.mean().item() if n == 0 else halve(t / 2, n - 1)
    return halve(x, 2)
def nested_recursion_ok(x):
    def halve(t, n): return t if n == 0 else halve(t / 2, n - 1)
    return halve(x, 2)
def nested_disabled_function(x): return _eager_only(x) + 1
def nested_disable_inline(x): return torch.compiler.disable(lambda t: t * 2)(x) + 1
def nested_graph_break(x):
    y = x * 2
    torch._dynamo.graph_break()
    return y + 1
def nested_jit_ignored(x): return _jit_ignored(x) + 1
def nested_jit_unused(x): return _jit_unused(x) + 1
def nested_compile_call_ok(x): return torch.compile(_plain, backend="eager")(x)
def nested_is_scripting_ok(x): return x.mean().item() * x if torch.jit.is_scripting() else x * 2
def nested_is_tracing_ok(x): return x.mean().item() * x if torch.jit.is_tracing() else x * 2
def nested_is_exporting_ok(x): return x.mean().item() * x if torch.compiler.is_exporting() else x * 2
def nested_annotate(x): return torch.jit.annotate(torch.Tensor, x) * 2
