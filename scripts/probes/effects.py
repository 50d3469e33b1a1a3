"""What reaches outside of the graph: output, logs, warnings, clocks, random numbers, the system; `_ok` marks a near twin."""

from __future__ import annotations

import ctypes
import datetime
import functools
import gc
import inspect
import io
import json
import logging
import os
import pathlib
import pickle
import pprint
import random
import subprocess
import sys
import threading
import time
import traceback
import uuid
import warnings
import weakref

import numpy as np
import torch
from torch import nn

# fmt: off

_LOG = logging.getLogger("probe.effects")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False
_RNG = np.random.RandomState(0)
_NEW_RNG = np.random.default_rng(0)
_PY_RNG = random.Random(0)
_GENERATOR = torch.Generator().manual_seed(0)
_VERBOSE = False
_SEEN = set()
_STARTED = time.time()


class _Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value): self.total += value; self.count += 1


_METER = _Meter()


class _Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.logger = logging.getLogger("probe.effects.net")
        self.verbose = False
        self.calls = 0
        self.generator = torch.Generator().manual_seed(0)
        self.rng = np.random.RandomState(0)
        self.layer_drop = 0.1


def _timed(f):
    @functools.wraps(f)
    def wrapper(*args):
        start = time.perf_counter()
        result = f(*args)
        _METER.update(time.perf_counter() - start)
        return result
    return wrapper


def _traced(f):
    @functools.wraps(f)
    def wrapper(*args): return f(*args)
    return wrapper


@_timed
def _slow(x): return x * 2
@_traced
def _quick(x): return x * 2
def _verbose_print(*args): print(*args)
@functools.lru_cache(maxsize=None)
def _warn_once(message): warnings.warn(message)
@functools.lru_cache(maxsize=None)
def _log_once(message): _LOG.warning(message)
@functools.lru_cache(maxsize=None)
def _table_size(n): return n * 2


# -- print ---
def print_format(x): y = x + 1; print("mean: %.2f" % 2.5); return y * 2
def print_item(x): y = x + 1; print(y.mean().item()); return y * 2
def print_shape_and_dtype(x): y = x + 1; print(y.shape, y.dtype); return y * 2
def print_separator(x): y = x + 1; print("a", "b", sep=",", end=""); return y * 2
def print_to_stderr(x): y = x + 1; print("a", file=sys.stderr); return y * 2
def print_first(x): print("start"); return x * 2
def print_last(x):
    y = x * 2
    print("end")
    return y
def print_in_if_shape(x):
    if x.shape[0] == 4: print("four rows")
    return x * 2
def print_in_if_shape_ok(x):
    if x is None: print("no rows")
    return x * 2
def print_if_flag_ok(x):
    if _VERBOSE: print(x.shape)
    return x * 2
def print_if_not_compiling_ok(x):
    if not torch.compiler.is_compiling(): print(x.shape)
    return x * 2
def print_if_dynamo_compiling_ok(x):
    if not torch._dynamo.is_compiling(): print(x.shape)
    return x * 2
def print_in_else_ok(x):
    if isinstance(x, torch.Tensor): y = x * 2
    else: y = x; print("odd")
    return y
def print_in_except_ok(x):
    try: y = x * 2
    except ValueError: y = x; print("failed")
    return y
def print_in_finally(x):
    try: y = x * 2
    finally: print("done")
    return y
def print_in_except(x):
    try: raise ValueError("a")
    except ValueError: print("failed")
    return x * 2
def print_in_with(x):
    with torch.no_grad(): print("a"); y = x * 2
    return y
def print_in_while(x):
    n = 0
    while n < 2: x = x + 1; n += 1; print(n)
    return x
def print_through_helper(x): y = x + 1; _verbose_print(y.shape); return y * 2
def print_through_alias(x):
    say = print
    y = x + 1; say("a")
    return y * 2
def print_through_lambda(x):
    say = lambda t: print(t.shape)
    y = x + 1; say(y)
    return y * 2
def print_in_list_comprehension(x): return torch.stack([r * 2 for r in x if print("a") is None])
def print_in_map(x): return x + len(list(map(print, ["a"])))
def pprint_call(x): y = x + 1; pprint.pprint({"a": 1}); return y * 2
def stdout_write(x): y = x + 1; sys.stdout.write("a"); return y * 2
def stdout_flush(x): y = x + 1; sys.stdout.flush(); return y * 2
def stderr_write(x): y = x + 1; sys.stderr.write("a\n"); return y * 2
def string_io_write(x):
    out = io.StringIO(); out.write("a")
    return x + len(out.getvalue())
def traceback_print(x): y = x + 1; traceback.print_stack(); return y * 2

# -- logging ---
def logger_debug(x): y = x + 1; _LOG.debug("a"); return y * 2
def logger_info_tensor(x): y = x + 1; _LOG.info("mean %s", y.mean()); return y * 2
def logger_info_fstring(x): y = x + 1; _LOG.info(f"shape {y.shape}"); return y * 2
def logger_warning(x): y = x + 1; _LOG.warning("a"); return y * 2
def logger_error(x): y = x + 1; _LOG.error("a"); return y * 2
def logger_exception(x):
    try: raise ValueError("a")
    except ValueError: _LOG.exception("b")
    return x * 2
def logger_log_level(x): y = x + 1; _LOG.log(logging.INFO, "a"); return y * 2
def logger_in_dead_branch_ok(x):
    if x is None: _LOG.warning("none")
    return x * 2
def logger_if_not_compiling_ok(x):
    if not torch.compiler.is_compiling(): _LOG.warning("a")
    return x * 2
def logger_enabled_for(x):
    if _LOG.isEnabledFor(logging.DEBUG): x = x + 1
    return x * 2
def logger_effective_level(x): return x + _LOG.getEffectiveLevel()
def logger_name(x): return x + len(_LOG.name)
def logger_level_constant_ok(x): return x + logging.DEBUG
def logger_made_in_function(x):
    log = logging.getLogger("probe.local")
    return x + len(log.name)
def logger_made_and_used(x): logging.getLogger("probe.local").info("a"); return x * 2
def logger_root(x): y = x + 1; logging.warning("a"); return y * 2
def logger_root_debug(x): y = x + 1; logging.debug("a"); return y * 2
def logger_set_level(x): _LOG.setLevel(logging.ERROR); return x * 2
def logger_add_handler(x): _LOG.addHandler(logging.NullHandler()); return x * 2
def logger_in_helper(x):
    def report(t): _LOG.info("%s", tuple(t.shape))
    report(x)
    return x * 2
def logger_once_cached(x): _log_once("a"); return x * 2
def lru_cached_number_ok(x): return x + _table_size(3)
def logger_method_variable(x):
    log = _LOG.info
    log("a")
    return x * 2

# -- warnings ---
def warn_message(x): y = x + 1; warnings.warn("a"); return y * 2
def warn_category(x): y = x + 1; warnings.warn("a", FutureWarning, stacklevel=2); return y * 2
def warn_fstring(x): y = x + 1; warnings.warn(f"shape {x.shape}"); return y * 2
def warn_item(x): y = x + 1; warnings.warn(f"mean {x.mean().item()}"); return y * 2
def warn_in_if_ok(x):
    if not isinstance(x, torch.Tensor): warnings.warn("no tensor")
    return x * 2
def warn_in_taken_if(x):
    if x.dim() == 2: warnings.warn("two")
    return x * 2
def warn_once_cached(x): _warn_once("a"); return x * 2
def warn_once_by_set(x):
    if "a" not in _SEEN: _SEEN.add("a"); warnings.warn("a")
    return x * 2
def warn_before_raise_ok(x):
    if x.dim() == 3:
        warnings.warn("three")
        raise ValueError("three")
    return x * 2
def warn_filter(x): warnings.filterwarnings("ignore"); return x * 2
def warn_catch(x):
    with warnings.catch_warnings(): y = x * 2
    return y
def warn_catch_filter(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x * 2
    return y
def warn_deprecated_wrapper(x):
    def old(t):
        warnings.warn("old is deprecated", DeprecationWarning)
        return t * 2
    return old(x)

# -- clocks ---
def clock_time(x): start = time.time(); y = x * 2; return y + (time.time() - start) * 0
def clock_perf_counter(x): start = time.perf_counter(); y = x * 2; return y + (time.perf_counter() - start) * 0
def clock_monotonic_ns(x): return x + (time.monotonic_ns() > 0)
def clock_module_constant_ok(x): return x + (_STARTED > 0)
def clock_datetime_now(x): return x + datetime.datetime.now().year
def clock_timedelta(x): return x + datetime.timedelta(seconds=2).total_seconds()
def clock_date_today(x): return x + datetime.date.today().year
def clock_decorated(x): return _slow(x) + 1
def clock_decorated_ok(x): return _quick(x) + 1
def clock_sleep(x): time.sleep(0); return x * 2
def clock_strftime(x): return x + len(time.strftime("%Y"))

# -- random numbers ---
def random_random(x): return x * random.random()
def random_random_branch(x): return x * 2 if random.random() < 0.5 else x * 3
def random_uniform_number(x): return x * random.uniform(0.5, 1.5)
def random_randint_number(x): return x + random.randint(0, 3)
def random_choice_number(x): return x + random.choice([1, 2])
def random_choice_function(x): return random.choice([torch.sin, torch.cos])(x)
def random_shuffle_list(x):
    order = [0, 1, 2, 3]
    random.shuffle(order)
    return x[order]
def random_sample_list(x): return x[random.sample(range(4), 2)].sum() + x
def random_gauss_number(x): return x * random.gauss(0, 1)
def random_seed(x): random.seed(0); return x * 2
def random_getstate(x): return x + len(random.getstate())
def random_own_generator(x): return x * _PY_RNG.random()
def random_own_generator_uniform(x): return x * _PY_RNG.uniform(0, 1)
def torch_rand_ok(x): return x * torch.rand(4)
def torch_rand_like_ok(x): return x * torch.rand_like(x)
def torch_randn_ok(x): return x + torch.randn(x.shape)
def torch_randint_ok(x): return x + torch.randint(0, 3, (4,))
def torch_randperm_ok(x): return x[torch.randperm(4)]
def torch_bernoulli_ok(x): return torch.bernoulli(x.sigmoid())
def torch_rand_branch(x):
    if torch.rand(()) < 0.5: x = x * 2
    return x
def torch_rand_item(x): return x * torch.rand(1).item()
def torch_randint_index_ok(x): return x[torch.randint(0, 4, (2,))].sum() + x
def torch_randint_int(x): return x[int(torch.randint(0, 4, (1,)))] + x
def torch_manual_seed(x): torch.manual_seed(0); return x * torch.rand(4)
def torch_seed(x): torch.seed(); return x * 2
def torch_initial_seed(x): return x + (torch.initial_seed() > 0)
def torch_generator_new(x): return x * torch.rand(4, generator=torch.Generator())
def torch_generator_global(x): return x * torch.rand(4, generator=_GENERATOR)
def torch_generator_none_ok(x): return x * torch.rand(4, generator=None)
def torch_generator_seed(x): _GENERATOR.manual_seed(0); return x * 2
def torch_get_rng_state(x):
    state = torch.get_rng_state()
    return x * state.numel()
def torch_set_rng_state(x): torch.set_rng_state(torch.get_rng_state()); return x * 2
def torch_fork_rng(x):
    with torch.random.fork_rng(devices=[]): y = x * torch.rand(4)
    return y
def torch_normal_inplace_ok(x): return x + torch.empty(4).normal_()
def torch_uniform_generator(x): return x + torch.empty(4).uniform_(generator=_GENERATOR)
def torch_dropout_ok(x): return torch.nn.functional.dropout(x, 0.5)
def numpy_random_rand(x): return x * np.random.rand()
def numpy_random_uniform(x): return x * np.random.uniform(0, 1)
def numpy_random_randint(x): return x + np.random.randint(0, 3)
def numpy_random_choice(x): return x + np.random.choice(3)
def numpy_random_normal_array(x): return x + torch.from_numpy(np.random.normal(size=4))
def numpy_random_beta(x): return x * np.random.beta(0.4, 0.4)
def numpy_random_branch(x): return x * 2 if np.random.rand() < 0.5 else x * 3
def numpy_random_seed(x): np.random.seed(0); return x * 2
def numpy_random_state_object(x): return x * _RNG.rand()
def numpy_random_generator_object(x): return x * _NEW_RNG.random()
def numpy_random_generator_new(x): return x * np.random.default_rng(0).random()
def numpy_random_permutation_index(x): return x[torch.as_tensor(np.random.permutation(4))]

# -- the system ---
def os_getenv_ok(x): return x + len(os.getenv("PROBE_NONE", "a"))
def os_environ_get_ok(x): return x + len(os.environ.get("PROBE_NONE", "a"))
def os_environ_in_ok(x): return x + ("PROBE_NONE" in os.environ)
def os_environ_set(x): os.environ["PROBE_SOME"] = "1"; return x * 2
def os_path_join_ok(x): return x + len(os.path.join("a", "b"))
def os_path_exists(x): return x + os.path.exists("/")
def os_path_isfile(x): return x + os.path.isfile("/")
def os_getpid(x): return x + (os.getpid() > 0)
def os_cpu_count(x): return x + (os.cpu_count() or 1)
def os_listdir(x): return x + (len(os.listdir("/")) > 0)
def os_makedirs(x): os.makedirs("/tmp", exist_ok=True); return x * 2
def os_name_ok(x): return x + len(os.name)
def os_sep_ok(x): return x + len(os.sep)
def pathlib_join(x): return x + len(str(pathlib.Path("a") / "b"))
def pathlib_exists(x): return x + pathlib.Path("/").exists()
def pathlib_name(x): return x + len(pathlib.Path("a/b.c").name)
def open_read(x):
    with open(os.devnull) as file: return x + len(file.read())
def open_write(x):
    file = open(os.devnull, "w"); file.write("a"); file.close()
    return x * 2
def sys_argv_ok(x): return x + (len(sys.argv) >= 0)
def sys_version_ok(x): return x + (sys.version_info >= (3, 8))
def sys_platform_ok(x): return x + (sys.platform == "linux")
def sys_modules_ok(x): return x + ("torch" in sys.modules)
def sys_getsizeof(x): return x + sys.getsizeof(3)
def sys_exc_info(x): return x + (sys.exc_info()[0] is None)
def sys_getframe(x): return x + len(sys._getframe().f_code.co_name)
def subprocess_run(x): subprocess.run(["true"]); return x * 2
def subprocess_output(x): return x + len(subprocess.check_output(["true"]))
def uuid_new(x): return x + len(uuid.uuid4().hex)
def json_dumps(x): return x + len(json.dumps({"a": 1}))
def json_loads(x): return x + json.loads("1")
def pickle_dumps(x): return x + len(pickle.dumps({"a": 1}))
def torch_save_buffer(x): torch.save(x, io.BytesIO()); return x * 2
def hashlib_digest(x):
    import hashlib
    return x + len(hashlib.sha256(b"a").hexdigest())
def inspect_signature(x): return x + len(inspect.signature(_quick).parameters)
def inspect_stack(x): return x + (len(inspect.stack()) > 0)
def inspect_isfunction(x): return x + inspect.isfunction(_quick)
def inspect_getsource(x): return x + (len(inspect.getsource(_verbose_print)) > 0)
def gc_collect(x): gc.collect(); return x * 2
def gc_disable(x): gc.disable(); return x * 2
def weakref_new_ok(x): return weakref.ref(x)() * 2
def weakref_set(x):
    seen = weakref.WeakSet()
    return x + len(seen)
def ctypes_sizeof(x): return x + ctypes.sizeof(ctypes.c_int)
def ctypes_value(x): return x + ctypes.c_int(3).value
def thread_local_storage(x):
    local = threading.local()
    local.a = 2
    return x * local.a
def thread_ident(x): return x + (threading.get_ident() > 0)
def thread_current_name(x): return x + len(threading.current_thread().name)
def thread_event(x):
    event = threading.Event()
    event.set()
    return x * 2
def id_of_module_global_ok(x): return x + (id(_METER) > 0)
def meter_update_number_ok(x): _METER.update(1.0); return x * 2
def meter_update_item(x): _METER.update(x.mean().item()); return x * 2
def meter_update_tensor_ok(x): _METER.update(x.mean().detach()); return x * 2
def traceback_format(x): return x + len(traceback.format_stack())
def import_in_function_ok(x):
    import math
    return x * math.pi
def import_torch_in_function_ok(x):
    from torch.nn import functional
    return functional.relu(x)
def import_missing_in_try(x):
    try: import probe_missing_package
    except ImportError: probe_missing_package = None
    return x * 2 if probe_missing_package is None else x
def importlib_import(x):
    import importlib
    return x + importlib.import_module("math").pi
def eval_string(x): return x + eval("1 + 2")
def exec_string(x): exec("z = 1"); return x * 2
def globals_read(x): return x + ("_METER" in globals())
def globals_write(x): globals()["_PROBE_FLAG"] = 1; return x * 2
def cuda_available_ok(x): return x * 2 if torch.cuda.is_available() else x * 3
def cuda_device_count(x): return x + torch.cuda.device_count()
def num_threads(x): return x + (torch.get_num_threads() > 0)
def set_num_threads(x): torch.set_num_threads(1); return x * 2
def default_dtype_ok(x): return x.to(torch.get_default_dtype())
def set_default_dtype(x): torch.set_default_dtype(torch.float32); return x * 2
def torch_version_ok(x): return x + (torch.__version__ > "1")
def deterministic_mode(x): torch.use_deterministic_algorithms(False); return x * 2
def deterministic_query_ok(x): return x + torch.are_deterministic_algorithms_enabled()
def matmul_precision_set(x): torch.set_float32_matmul_precision("high"); return x * 2
def backend_flag_read_ok(x): return x + torch.backends.cudnn.enabled
def backend_flag_set(x): torch.backends.cudnn.benchmark = False; return x * 2
def printoptions(x): torch.set_printoptions(precision=3); return x * 2

# -- in modules ---
class module_print_shape(_Net):
    def forward(self, x): y = self.lin(x); print(y.shape); return y * 2
class module_print_verbose_ok(_Net):
    def forward(self, x):
        y = self.lin(x)
        if self.verbose: print(y.shape)
        return y * 2
class module_print_training(_Net):
    def forward(self, x):
        y = self.lin(x)
        if self.training: print(y.shape)
        return y * 2
class module_own_logger(_Net):
    def forward(self, x): y = self.lin(x); self.logger.info("a"); return y * 2
class module_own_logger_guarded_ok(_Net):
    def forward(self, x):
        y = self.lin(x)
        if self.verbose: self.logger.info("a")
        return y * 2
class module_warns(_Net):
    def forward(self, x):
        if x.shape[-1] == 4: warnings.warn("four")
        return self.lin(x)
class module_warns_ok(_Net):
    def forward(self, x):
        if x is None: warnings.warn("none")
        return self.lin(x)
class module_clock(_Net):
    def forward(self, x):
        self.last_call = time.time()
        return self.lin(x) + 1
class module_counts_calls_ok(_Net):
    def forward(self, x):
        self.calls += 1
        return self.lin(x) + 1
class module_layer_drop(_Net):
    def forward(self, x):
        if random.random() < self.layer_drop: return x
        return self.lin(x)
class module_layer_drop_uniform(_Net):
    def forward(self, x):
        if random.uniform(0, 1) < self.layer_drop: return x
        return self.lin(x)
class module_layer_drop_numpy(_Net):
    def forward(self, x):
        if np.random.uniform(0, 1) < self.layer_drop: return x
        return self.lin(x)
class module_own_generator(_Net):
    def forward(self, x): return self.lin(x) * torch.rand(4, generator=self.generator)
class module_own_numpy_generator(_Net):
    def forward(self, x): return self.lin(x) * self.rng.rand()
class module_noise_ok(_Net):
    def forward(self, x): return self.lin(x) + torch.randn_like(x) * 0.1
class module_reads_environment_ok(_Net):
    def forward(self, x): return self.lin(x) * 2 if os.environ.get("PROBE_NONE") else self.lin(x)
