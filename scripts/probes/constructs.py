"""Syntactic constructs, each a function or a module's forward compiled alone by Dynamo. The name is the construct's.

Parameters are the tensors of `probes.calls.operands`. A function returns something that depends on them.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import inspect
import io
import itertools
import logging
import math
import os
import random
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# fmt: off
# The probes are written the way user code is, not the way this project is.

LOG = logging.getLogger("probe.constructs")
LOG.addHandler(logging.NullHandler())
LOG.propagate = False
COUNT = 0
LIST: list[Any] = []
DICT: dict[Any, Any] = {}
CACHE: dict[Any, Any] = {}
LOCK = threading.Lock()
LINEAR = nn.Linear(4, 4)
TABLE = torch.arange(16.0).reshape(4, 4)
NP_TABLE = np.ones((4, 4), dtype=np.float32)
PLAIN: Any = types.SimpleNamespace(a=1)
Pair = collections.namedtuple("Pair", "a b")
T = TypeVar("T")


class Named(NamedTuple):
    a: torch.Tensor
    b: int = 1


class Mode(enum.Enum):
    A = "a"
    B = "b"


class Flag(enum.Flag):
    A = 1
    B = 2


@dataclasses.dataclass
class Data:
    a: Any
    b: int = 1
    c: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    b: int = 1


@dataclasses.dataclass
class PostInit:
    a: Any

    def __post_init__(self) -> None:
        self.double = self.a * 2


class Slots:
    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a


class Box(Generic[T]):
    def __init__(self, a: Any) -> None:
        self.a = a

    @property
    def doubled(self) -> Any:
        return self.a * 2

    @doubled.setter
    def doubled(self, value: Any) -> None:
        self.a = value / 2

    @functools.cached_property
    def cached(self) -> Any:
        return self.a * 3

    @staticmethod
    def static(a: Any) -> Any:
        return a + 1

    @classmethod
    def make(cls, a: Any) -> Any:
        return cls(a)

    def __len__(self) -> int:
        return 3

    def __getitem__(self, key: Any) -> Any:
        return self.a[key]

    def __call__(self, a: Any) -> Any:
        return self.a + a

    def __add__(self, other: Any) -> Any:
        return Box(self.a + other.a)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box)

    def __hash__(self) -> int:
        return 3

    def __iter__(self) -> Any:
        yield self.a
        yield self.a + 1

    def __contains__(self, key: Any) -> bool:
        return key == 3

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "Box"


class Dynamic:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return 3


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        return super().__call__(*args)


class WithMeta(metaclass=Meta):
    def __init__(self, a: Any) -> None:
        self.a = a


class Singleton:
    _instance = None

    def __new__(cls) -> Any:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance


class Manager:
    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: object) -> bool:
        return False


class PrintingManager:
    def __enter__(self) -> Any:
        print("enter")
        return self

    def __exit__(self, *args: object) -> bool:
        return False


class Timer:
    def __enter__(self) -> Any:
        self.start = time.perf_counter()
        return self

    def __exit__(self, *args: object) -> None:
        self.elapsed = time.perf_counter() - self.start


@contextlib.contextmanager
def _manager() -> Any:
    yield 1


@contextlib.contextmanager
def _finally_manager() -> Any:
    try:
        yield 1
    finally:
        pass


@contextlib.contextmanager
def _attribute_manager() -> Any:
    old = PLAIN.a
    PLAIN.a = 2
    try:
        yield
    finally:
        PLAIN.a = old


@contextlib.contextmanager
def _timing_manager() -> Any:
    start = time.time()
    yield
    LOG.debug("%s", time.time() - start)


class Tracked(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_function__(func, types, args, kwargs or {})


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)})
        self.scale = nn.Parameter(torch.ones(4))
        self.n = 0
        self.hist: list[Any] = []
        self.reg: dict[str, Any] = {}
        self.cache: Any = None
        self.gate = 0.5
        self.config = types.SimpleNamespace(eps=1e-5, mode="a", sizes=[1, 2])
        self.register_buffer("buf", torch.zeros(4))
        self.register_buffer("step", torch.tensor(0))


# -- branches and loops on tensors ---------------------------------------------------------------------------------------
def if_tensor(x):
    if x.sum() > 0: return x + 1
    return x - 1
def if_tensor_assigns(x):
    y = x + 1
    if x.sum() > 0: y = y * 2
    return y + 1
def if_tensor_else(x):
    if x.sum() > 0: y = x + 1
    else: y = x - 1
    return y * 2
def if_any_raises(x):
    if torch.any(x > 100): raise ValueError("bad")
    return x + 1
def if_nan_raises(x):
    if torch.isnan(x).any(): raise ValueError("nan")
    return x + 1
def if_nan_method(x):
    if x.isnan().any(): x = torch.nan_to_num(x)
    return x + 1
def if_not_tensor(x):
    if not (x > 0).all(): x = x + 1
    return x * 2
def if_tensor_and_python(x):
    if x.shape[0] > 2 and x.sum() > 0: x = x + 1
    return x * 2
def if_python_false_and_tensor(x):
    if x.shape[0] > 100 and x.sum() > 0: x = x + 1
    return x * 2
def if_python_true_or_tensor(x):
    if x.shape[0] == 4 or x.sum() > 0: x = x + 1
    return x * 2
def if_isfinite_all(x):
    if not torch.isfinite(x).all(): return x * 0
    return x + 1
def if_elif_tensors(x):
    if x.sum() > 100: return x + 1
    elif x.sum() > 50: return x + 2
    return x - 1
def if_two_scalars_equal(x):
    if x[0, 0] == x[0, 1]: return x + 1
    return x - 1
def if_tensor_in_list(x, s):
    if s in [1, 2]: return x + 1
    return x - 1
def if_item(x):
    if x.sum().item() > 0: return x + 1
    return x - 1
def if_walrus_tensor(x):
    if (t := x.sum()) > 0: return x + t
    return x
def if_numel_of_nonzero(x, m):
    if m.nonzero().numel() > 0: return x + 1
    return x
def if_len_of_masked(x, m):
    if len(x[m]) > 0: return x + 1
    return x
def if_mask_sum_zero(x, m):
    if m.sum() == 0: return x.sum() * 0
    return x[0] + 1
def if_tensor_in_dict(x, s):
    if s in {1: 2}: return x + 1
    return x
def if_allclose(x, y):
    if torch.allclose(x, y): return x + 1
    return x
def if_equal(x, y):
    if torch.equal(x, y): return x + 1
    return x
def if_constant_tensor(x):
    if torch.tensor(1.0) > 0: return x + 1
    return x
def if_shape(x):
    if x.shape[0] > 2: return x + 1
    return x
def if_dim(x):
    if x.dim() == 2 and x.ndim == 2: return x + 1
    return x
def if_numel(x):
    if x.numel() == 0: return x
    return x + 1
def if_dtype(x):
    if x.dtype == torch.float32 and x.is_floating_point(): return x + 1
    return x
def if_device(x):
    if x.device.type == "cpu" and not x.is_cuda: return x + 1
    return x
def if_requires_grad(x):
    if x.requires_grad: return x + 1
    return x * 2
def if_is_none(x):
    m = None
    return x + 1 if m is None and x is not None else x
def if_is(x):
    y = x
    return x + 1 if x is y else x
def if_tensor_truth_of_list(x):
    l = [x]
    return x + 1 if l else x
def if_isinstance(x): return x + 1 if isinstance(x, torch.Tensor) else x
def if_string_equal(x):
    mode = "sum"
    return x.sum() if mode == "sum" else x
def if_global_flag(x): return x + 1 if COUNT == 0 else x
def if_environment(x): return x + 1 if os.environ.get("A", "0") == "0" else x
def if_random(x): return x + 1 if random.random() > 0.5 else x
def if_torch_rand(x):
    if torch.rand(1) > 0.5: return x + 1
    return x
def if_torch_rand_item(x):
    if torch.rand(1).item() > 0.5: return x + 1
    return x
def if_np_random(x): return x + 1 if np.random.rand() > 0.5 else x
def if_time(x): return x + 1 if time.time() > 0 else x
def if_contiguous(x): return x + 1 if x.is_contiguous() else x.contiguous()
def if_compiling(x):
    if torch.compiler.is_compiling(): return x + 1
    return x + x.sum().item()
def if_not_compiling(x):
    if not torch.compiler.is_compiling(): print("eager")
    return x + 1
def if_debug_level(x):
    if LOG.isEnabledFor(logging.DEBUG): LOG.debug("%s", x)
    return x + 1
def if_logger_level(x):
    if LOG.level == logging.DEBUG: LOG.debug("%s", x)
    return x + 1
def ternary_tensor(x): return x + 1 if x.sum() > 0 else x - 1
def and_tensor(x): return (x.sum() > 0) and x + 1
def or_tensor(x): return (x.sum() > 0) or x + 1
def not_tensor(x): return x + (not x.sum() > 0)
def bitwise_and_tensors(x): return x * ((x > 0) & (x < 1))
def chained_comparison(x): return x + (0 < x.sum() < 1)
def while_tensor(x):
    while x.sum() < 100: x = x.abs() + 1
    return x
def while_tensor_bound(x):
    for _ in range(10):
        if x.norm() < 1: break
        x = x / 2
    return x
def while_python(x):
    n = 0
    while n < 3: x = x + 1; n += 1
    return x
def while_true_break_tensor(x):
    n = 0
    while True:
        x = x.abs() + 1; n += 1
        if x.sum() > 100 or n > 3: break
    return x
def for_break_tensor(x):
    for _ in range(3):
        x = x + 1
        if x.sum() > 1000: break
    return x
def for_continue_tensor(x):
    for _ in range(3):
        if x.sum() > 1000: continue
        x = x + 1
    return x
def for_range_tensor(x, n):
    for _ in range(n): x = x + 1
    return x
def for_range_item(x, n):
    for _ in range(n.item()): x = x + 1
    return x
def for_range_int(x, n):
    for _ in range(int(n)): x = x + 1
    return x
def for_range_shape(x):
    for k in range(x.shape[0]): x = x + k
    return x
def for_row(x):
    o = 0
    for r in x: o = o + r
    return o
def for_row_enumerate(x):
    o = []
    for k, (a, b) in enumerate(zip(x, x + 1)): o.append(a * b * k)
    return torch.stack(o)
def for_nonzero(x, m):
    o = x
    for k in m.nonzero(): o = o + k[0]
    return o
def for_tolist(x, i):
    o = x
    for k in i.tolist(): o = o + k
    return o
def for_unique(x, i):
    o = x
    for k in i.unique(): o = o + k
    return o
def for_item_in_body(x):
    for _ in range(3): x = x * x.sum().item()
    return x
def for_print_in_body(x):
    for k in range(3): x = x + 1; print(k)
    return x
def for_log_in_body(x):
    for k in range(3): x = x + 1; LOG.info("%d", k)
    return x
def for_else(x):
    for _ in range(2): x = x + 1
    else: x = x * 2
    return x
def for_nested(x):
    for a in range(2):
        for b in range(2): x = x + a * b
    return x
def for_dict_items(x):
    for k, v in {"a": x, "b": x + 1}.items(): x = x + v
    return x
def for_zip(x, y):
    for a, b in zip(x, y): x = x + a * b
    return x
def for_reversed(x):
    for r in reversed(range(3)): x = x + r
    return x
def for_if_tensor(x):
    for r in range(3):
        if x[r].sum() > 0: x = x + 1
    return x
def for_sum_list(x):
    total = 0
    for t in [x, x + 1, x + 2]: total = total + t.sum()
    return total
def match_python(x):
    match x.dim():
        case 2: return x + 1
        case _: return x
def match_tensor(x, s):
    match s:
        case 1: return x + 1
        case _: return x
def match_class(x):
    match Data(x):
        case Data(a=t): return t + 1
        case _: return x

# -- asserting and raising -----------------------------------------------------------------------------------------------
def assert_tensor(x):
    assert (x < 100).all()
    return x + 1
def assert_tensor_constant_message(x):
    assert x.max() < 100, "too big"
    return x + 1
def assert_tensor_fstring_message(x):
    assert x.max() < 100, f"too big {x.shape}"
    return x + 1
def assert_tensor_format_message(x):
    assert x.max() < 100, "too big {}".format(x.shape)
    return x + 1
def assert_tensor_percent_message(x):
    assert x.max() < 100, "too big %s" % 3
    return x + 1
def assert_tensor_variable_message(x):
    message = "too big"
    assert x.max() < 100, message
    return x + 1
def assert_tensor_value_message(x):
    assert x.max() < 100, x
    return x + 1
def assert_not_nan(x):
    assert not torch.isnan(x).any()
    return x + 1
def assert_not_nan_message(x):
    assert not torch.isnan(x).any(), "nan"
    return x + 1
def assert_and_tensor(x):
    assert x.shape[0] == 4 and (x < 100).all()
    return x + 1
def assert_equal_tensors(x):
    assert torch.equal(x, x)
    return x + 1
def assert_item(x):
    assert x.sum().item() < 1e9
    return x + 1
def assert_shape(x):
    assert x.shape[0] == 4, f"bad {x.shape}"
    return x + 1
def assert_isinstance(x):
    assert isinstance(x, torch.Tensor), type(x)
    return x + 1
def raise_never(x):
    if x.shape[0] == 5: raise ValueError(f"bad {x.shape}")
    return x + 1
def raise_caught(x):
    try: raise ValueError("a")
    except ValueError: return x + 1
def raise_custom_caught(x):
    class E(Exception): pass
    try: raise KeyError("a")
    except (KeyError, IndexError) as e: return x + len(e.args)
def raise_from(x):
    try:
        try: raise ValueError("a")
        except ValueError as e: raise TypeError("b") from e
    except TypeError: return x + 1
def try_except_item(x):
    try: y = x * x.sum().item()
    except RuntimeError: y = x
    return y * 2
def try_finally(x):
    try: y = x + 1
    finally: x = x + 2
    return y * x
def try_except_else(x):
    try: y = x + 1
    except ValueError: y = x
    else: y = y * 2
    return y
def try_print(x):
    try: y = x + 1; print("a"); y = y * 2
    except ValueError: y = x
    return y
def try_missing_import(x):
    try: import missing_module_x
    except ImportError: y = x
    return y * 2
def try_import(x):
    try: import json
    except ImportError: json = None
    return x + 1
def try_missing_from_import(x):
    try: from math import missing_name_x
    except ImportError: y = x
    return y * 2
def try_missing_key(x):
    try: y = {"a": x}["b"]
    except KeyError: y = x
    return y * 2
def try_missing_attribute(x):
    try: y = x.missing
    except AttributeError: y = x
    return y * 2
def try_index_error(x):
    try: y = [x][3]
    except IndexError: y = x
    return y * 2
def try_stop_iteration(x):
    it = iter([])
    try: y = next(it)
    except StopIteration: y = x
    return y * 2
def try_zero_division(x):
    try: y = 1 / 0
    except ZeroDivisionError: y = x
    return y * 2
def try_operator_error(x):
    try: y = x @ torch.ones(3, 3)
    except RuntimeError: y = x
    return y * 2
def import_inside(x):
    from math import pi

    import torch.nn.functional as FF
    return FF.relu(x) * pi
def import_inside_new(x):
    import colorsys
    return x + colorsys.rgb_to_hsv(0.0, 0.0, 0.0)[0]
def import_star_args(x):
    import itertools as it
    return x + len(list(it.chain([1], [2])))

# -- scalars read from tensors --------------------------------------------------------------------------------------------
def item_factor(x): return x * x.sum().item()
def item_alpha(x, s): return torch.add(x, x, alpha=s.item())
def item_fstring(x):
    y = x + 1
    s = f"{y.sum().item():.2f}"
    return y * 2
def item_list_index(x, n):
    l = [x, x + 1, x, x]
    return l[n.item()] * 2
def tensor_list_index(x, n):
    l = [x, x + 1, x, x]
    return l[n] * 2
def item_tensor_index(x, n): return x[n.item()] + 1
def tensor_tensor_index(x, n): return x[n] + 1
def item_slice(x, n): return x[: n.item()] + 1
def tensor_slice(x, n): return x[:n] + 1
def tensor_slice_max(x, i): return x[:, : i.max()] + 1
def item_returned(x): return x.sum().item()
def item_dict_value(x): return {"loss": x.sum().item()}
def item_dict_comprehension(x): return {k: t.item() for k, t in {"a": x.sum(), "b": x.mean()}.items()}
def item_list_comprehension(x): return x + sum([r.sum().item() for r in x])
def item_generator(x): return x + sum(r.sum().item() for r in x)
def item_stored(x): LIST.append(x.sum().item()); return x + 1
def item_float_call(x): return x * float(x.sum())
def item_int_call(x): return x * int(x.sum())
def item_bool_call(x): return x * bool(x.sum() > 0)
def item_round(x): return x * round(x.sum().item())
def item_max_with_python(x): return x * max(1.0, x.sum().item())
def item_size_argument(x, n): return torch.zeros(n.item()) + 1
def item_reshape(x, n): return x.reshape(n.item() + 1, -1)
def item_math(x, s): return x * math.sqrt(s.item())
def tensor_math(x, s): return x * math.sqrt(s)
def item_of_shape_tensor(x): return x * torch.tensor(x.shape[0]).item()
def tolist_split(x, k): return x.split(k.tolist())[1] + 1
def tolist_returned(v): return v.tolist()
def tolist_tensor(i): return torch.tensor(i.tolist()) + 1
def tolist_max(x, k): return x + max(k.tolist())
def int_of_shape(x): return x * int(x.shape[0])
def float_of_shape(x): return x * float(x.shape[0])
def shape_arithmetic(x): return x.view(x.size(0) * x.size(1)) + 1
def shape_in_tensor(x): return x + torch.tensor(x.shape).sum()
def shape_star(x):
    a, *b = x.shape
    return x + a + len(b)
def shape_tuple_concat(x): return x.reshape(x.shape[:-1] + (2, 2))
def len_in_python(x): return x * (len(x) + x.ndim + x.numel() // 2)
def builtin_max_shapes(x): return x * max(x.shape)
def builtin_sum_tensor(v): return sum(v)
def builtin_max_tensor(v): return max(v) + 1
def builtin_min_number_tensor(x, s): return x / min(1.0, s)
def builtin_any_tensor(x, w): return x + 1 if any(w) else x
def builtin_all_tensor(x, w): return x + 1 if all(w) else x
def builtin_any_list(x): return x + 1 if any([x.sum() > 0]) else x
def builtin_any_shapes(x): return x + 1 if any(d > 3 for d in x.shape) else x
def builtin_sorted_tensors(x): return sorted([x[0, 0], x[0, 1]])[0] + x
def builtin_sorted_items(x): return sorted([x[0, 0].item(), x[0, 1].item()])[0] + x
def sort_tensor_keys(x):
    l = [x[0], x[1]]
    l.sort(key=lambda t: t.sum())
    return l[0] + 1
def sort_python_keys(x):
    l = [(2, x), (1, x + 1)]
    l.sort(key=lambda t: t[0])
    return l[0][1]
def min_of_tensors_key(x): return min([x[0], x[1]], key=lambda t: t.sum()) + 1

# -- strings, printing, clocks ----------------------------------------------------------------------------------------------
def print_middle(x):
    y = x + 1
    print("hello")
    return y * 2
def print_end(x):
    y = x + 1
    print(y.shape)
    return y
def print_tensor(x):
    y = x + 1
    print(y)
    return y * 2
def print_in_manager(x):
    with _manager():
        y = x + 1; print(""); y = y + 1
    return y
def print_in_callee(x):
    def helper(t): print("a"); return t + 1
    return helper(x) * 2
def print_in_comprehension(x): return torch.stack([print(k) or r + 1 for k, r in enumerate(x)])
def log_middle(x):
    y = x + 1
    LOG.info("a %s", 3)
    return y * 2
def log_module_level(x):
    y = x + 1
    logging.info("a")
    return y * 2
def log_warning_once(x):
    y = x + 1
    _warning_once("a")
    return y * 2
def warn_middle(x):
    y = x + 1
    warnings.warn("a")
    return y * 2
def warn_dead(x):
    if x.shape[0] == 5: warnings.warn("a")
    return x + 1
def clock_pair(x):
    t = time.time()
    y = x + 1
    return y, time.time() - t
def clock_manager(x):
    with Timer() as t: y = x + 1
    return y
def fstring_shape(x): return x * len(f"{x.shape[0]}")
def fstring_tensor(x): return x * len(f"{x}")
def fstring_dtype(x): return x * len(f"{x.dtype}")
def fstring_number(x): return x * len(f"{3:04d} {2.5:.1f} {'a'!r}")
def percent_shape(x): return x * len("%d" % x.shape[0])
def str_tensor(x): return x * len(str(x))
def string_methods(x): return x + len("a,b".split(",")[0].strip().upper())
def string_join_generator(x): return x + len(",".join(str(d) for d in x.shape))
def name_dispatch(x): return getattr(F, "re" + "lu")(x)
def torch_name_dispatch(x): return getattr(torch, "relu")(x) + getattr(F, "gelu")(x)

# -- Python data --------------------------------------------------------------------------------------------------------------
def list_comprehension(x): return torch.stack([r + 1 for r in x])
def dict_comprehension(x): return {k: r + 1 for k, r in enumerate(x)}[0]
def set_comprehension(x): return x + len({k for k in range(3)})
def nested_comprehension(x): return torch.stack([a + b for a in x for b in x])
def comprehension_condition(x): return torch.stack([r for k, r in enumerate(x) if k % 2])
def comprehension_tensor_condition(x): return torch.stack([r for r in x if r.sum() > -100])
def generator_expression(x): return sum(r for r in x)
def generator_to_list(x): return torch.stack(list(r + 1 for r in x))
def generator_to_tuple(x): return torch.stack(tuple(r + 1 for r in x))
def generator_any_all(x): return x + 1 if all(isinstance(r, torch.Tensor) for r in x) else x
def generator_next(x): return next(r for r in x) + 1
def generator_function(x):
    def rows():
        for r in x: yield r + 1
    return torch.stack(list(rows()))
def generator_send(x):
    def gen():
        a = yield x
        yield a + 1
    h = gen(); next(h)
    return h.send(x)
def generator_returned(x):
    def rows():
        for r in x: yield r + 1
    return rows()
def generator_return_value(x):
    def gen():
        yield x
        return x + 1
    def outer():
        r = yield from gen()
        yield r
    return list(outer())[1]
def generator_with_print(x):
    def rows():
        for r in x: print("a"); yield r + 1
    return torch.stack(list(rows()))
def generator_early_exit(x):
    def rows():
        for r in x: yield r + 1
    for r in rows(): return r * 2
def yield_from(x):
    def rows(): yield from x
    return torch.stack(list(rows()))
def lambda_closure(x):
    f = lambda *a, **k: a[0] + k["b"]
    return f(x, b=1)
def closure_nonlocal(x):
    n = 0
    def f():
        nonlocal n
        n += 1
    f()
    return x + n
def closure_tensor(x):
    y = x * 2
    def f(t): return t + y
    return f(x)
def star_args(x):
    def f(*a, **k): return a[0] + k["b"]
    return f(*[x], **{"b": 1})
def default_arguments(x):
    def f(t, n=3, l=[]): return t + n + len(l)
    return f(x)
def recursion(x): return _recurse(x, 3)
def decorator(x): return _decorated(x)
def lru_cached_call(x): return x + _cached(3)
def lru_cached_tensor(x): return _cached(x)
def functools_partial(x): return functools.partial(torch.add, other=x)(x)
def functools_reduce(x): return functools.reduce(torch.add, [x, x, x])
def single_dispatch(x): return _dispatch(x)
def namedtuple_construct(x): return Pair(x, 1).a + 1
def namedtuple_replace(x): return Pair(x, 1)._replace(b=2).b + x
def namedtuple_returned(x): return Pair(x + 1, 1)
def namedtuple_unpack(x):
    a, b = Pair(x, 1)
    return a + b
def typing_namedtuple(x): return Named(x).a + Named(x).b
def dataclass_construct(x): return Data(x + 1).a * 2
def dataclass_returned(x): return Data(x + 1)
def dataclass_replace(x): return dataclasses.replace(Data(x), b=2).b + x
def dataclass_asdict(x): return dataclasses.asdict(Data(x))["a"] + 1
def dataclass_astuple(x): return dataclasses.astuple(Data(x))[0] + 1
def dataclass_fields(x): return x + len(dataclasses.fields(Data(x)))
def dataclass_fields_loop(x):
    d = Data(x)
    return sum(getattr(d, f.name) for f in dataclasses.fields(d) if f.name != "c")
def dataclass_frozen(x): return Frozen(x).a + Frozen(x).b
def dataclass_post_init(x): return PostInit(x).double
def dataclass_eq(x): return x + 1 if Data(1) == Data(1) else x
def dataclass_mutated(x):
    d = Data(x); d.b += 1; d.c.append(x)
    return d.a + d.b
def slots_class(x): return Slots(x).a + 1
def property_get(x): return Box(x).doubled
def property_set(x):
    b = Box(x); b.doubled = x
    return b.a
def cached_property(x): return Box(x).cached
def static_method(x): return Box.static(x)
def class_method(x): return Box.make(x).a
def special_len(x): return x + len(Box(x))
def special_getitem(x): return Box(x)[0] + 1
def special_call(x): return Box(x)(x)
def special_add(x): return (Box(x) + Box(x)).a
def special_eq(x): return x + 1 if Box(x) == Box(x) else x
def special_iter(x): return sum(Box(x))
def special_contains(x): return x + 1 if 3 in Box(x) else x
def special_bool(x): return x + 1 if Box(x) else x
def special_hash(x): return x + {Box(x): 1}[Box(x)]
def special_repr(x): return x + len(repr(Box(x)))
def getattr_class(x): return x + Dynamic().foo
def metaclass_call(x): return WithMeta(x).a + 1
def singleton_new(x): return x + 1 if Singleton() is Singleton() else x
def generic_class(x): return Box[int](x).a + 1
def enum_compare(x): return x + 1 if Mode.A == Mode.A and Mode("a") is Mode.A else x
def enum_value(x): return x + len(Mode.A.value)
def enum_flag(x): return x + 1 if Flag.A | Flag.B else x
def class_definition(x):
    class K:
        a = 1
    return x + K.a
def class_definition_base(x):
    class K(Box): pass
    return K(x).a + 1
def type_three_arguments(x): return x + type("K", (), {"a": 1}).a
def dataclass_definition(x):
    @dataclasses.dataclass
    class K:
        a: int = 1
    return x + K().a
def function_definition(x):
    def f(t): return t + 1
    return f(x)
def function_attribute(x):
    def f(t): return t + 1
    f.flag = True
    return f(x)
def defaultdict_append(x):
    d = collections.defaultdict(list); d["a"].append(x)
    return d["a"][0] + 1
def ordered_dict(x): return collections.OrderedDict(a=x)["a"] + 1
def deque_rotate(x):
    q = collections.deque([x], maxlen=3); q.append(x + 1)
    return q.popleft() + q.pop()
def counter(x): return x + collections.Counter("aab")["a"]
def dict_merge(x): return {**{"a": x}, **{"b": x}}["b"] + 1
def dict_tensor_key(x):
    d = {x: 1}
    return x + d[x]
def dict_union(x): return ({"a": x} | {"b": x})["a"]
def set_of_tensors(x):
    s = {x}; s.add(x + 1)
    return x + len(s)
def set_operations(x): return x + len({1, 2} & {2, 3})
def list_methods(x):
    l = [3, 1, 2]; l.sort(); l.remove(1); l.reverse()
    return x + l.index(3)
def list_contains_tensor(x): return x + 1 if x in [x] else x
def list_of_tensors_equal(x): return x + 1 if [1, 2] == [1, 2] else x
def list_slice_assign(x):
    l = [1, 2, 3]; l[0:2] = [5]
    return x + l[0]
def list_delete(x):
    l = [x, x]; del l[0]
    return l[0] + 1
def tuple_swap(x, y):
    x, y = y, x
    return x - y
def star_unpack_tensor(x):
    a, *b = x
    return a + b[0]
def unpack_tensor(x):
    a, b, d, e = x
    return a + e
def list_of_tensor(x): return list(x)[0] + 1
def walrus(x): return (y := x + 1) * y
def delete_local(x):
    y = x + 1
    del x
    return y
def chained_methods(x): return x.abs().sqrt().sum(-1, keepdim=True).clamp(min=1e-6)
def global_list_append(x): LIST.append(x); return x + 1
def global_dict_set(x): DICT["a"] = x; return x + 1
def global_dict_cache(x):
    k = (x.shape[0], str(x.device))
    if k not in CACHE: CACHE[k] = torch.arange(x.shape[0])
    return x + CACHE[k]
def global_dict_tensor_id(x): DICT[id(x)] = 1; return x + 1
def global_increment(x):
    global COUNT
    COUNT += 1
    return x + 1
def global_tensor(x): return x + TABLE
def global_tensor_mutated(x): TABLE.add_(1); return x + TABLE
def global_numpy(x): return x + torch.from_numpy(NP_TABLE)
def global_numpy_operator(x): return x + torch.tensor(NP_TABLE)
def global_module(x): return LINEAR(x)
def object_setattr(x):
    o = types.SimpleNamespace(); o.z = x
    return o.z + 1
def object_setattr_builtin(x):
    b = Box(x); setattr(b, "z", x)
    return b.z + 1 if hasattr(b, "z") and getattr(b, "q", None) is None else x
def object_delattr(x):
    b = Box(x); b.z = 1; del b.z
    return x + 1
def global_object_setattr(x): PLAIN.a = 5; return x + PLAIN.a
def global_object_tensor(x): PLAIN.t = x * 2; return x + PLAIN.t
def object_dict(x): return x + len(Box(x).__dict__)
def object_vars(x): return x + len(vars(PLAIN))
def object_class_name(x): return x + len(type(Box(x)).__name__)
def class_attribute_set(x): Box.count = 3; return x + Box.count
def monkeypatch_module(x): PLAIN.f = torch.relu; return PLAIN.f(x)
def locals_call(x): return x + len([k for k in locals()])
def globals_call(x): return x + 1 if "COUNT" in globals() else x
def exec_call(x): exec("a = 1"); return x + 1
def eval_call(x): return x + eval("1 + 1")
def type_of_tensor(x): return x + len(type(x).__name__)
def isinstance_protocol(x): return x + 1 if isinstance([x], collections.abc.Sequence) else x
def iter_next(x):
    it = iter([x, x + 1])
    return next(it) + next(it)
def iter_custom(x):
    class It:
        def __init__(s): s.n = 0
        def __iter__(s): return s
        def __next__(s):
            s.n += 1
            if s.n > 2: raise StopIteration
            return s.n
    return x + sum(It())
def zip_longest(x): return x + sum(a or 0 for a, _ in itertools.zip_longest([1], [2, 3]))
def itertools_product(x): return sum(a * b for a, b in itertools.product([x, x], [x]))
def enumerate_start(x): return x + sum(k for k, _ in enumerate([x, x], start=1))
def map_lambda(x): return torch.stack(list(map(lambda r: r + 1, x)))
def filter_lambda(x): return torch.stack(list(filter(lambda r: r is not None, [x, None, x])))
def filter_tensor(x): return torch.stack(list(filter(lambda r: r.sum() > -100, x)))
def copy_tensor(x): return copy.copy(x) + 1
def deepcopy_tensor(x): return copy.deepcopy(x) + 1
def deepcopy_module(x): return copy.deepcopy(LINEAR)(x)
def deepcopy_dict(x): return x + len(copy.deepcopy({"a": [1]}))
def copy_list(x): return copy.copy([x])[0] + 1
def bytes_literal(x): return x + len(b"abc")
def slice_object(x): return x[slice(0, 2)] + 1
def ellipsis_index(x): return x[..., None] + 1
def complex_python(x): return x * (1 + 2j)
def big_int(x): return x + (10**20 % 7)
def integer_division(x): return x + x.shape[0] // 3 + x.shape[0] % 3
def power_operator(x): return x ** 2 + 2 ** x.shape[0]
def bit_operations(x): return x + ((x.shape[0] << 1) | 1)
def float_methods(x): return x + (2.0).is_integer()
def int_bit_length(x): return x + x.shape[0].bit_length()
def async_function_called(x):
    async def f(): return x + 1
    return asyncio.run(f())
def coroutine_created(x):
    async def f(): return 1
    h = f(); h.close()
    return x + 1
def thread_lock(x):
    with LOCK: x = x + 1
    return x
def thread_lock_acquire(x):
    LOCK.acquire(); y = x + 1; LOCK.release()
    return y
def thread_start(x):
    t = threading.Thread(target=lambda: None); t.start(); t.join()
    return x + 1
def inspect_frame(x): return x + len(inspect.currentframe().f_code.co_name)
def frame_locals(x): return x + len(sys._getframe(0).f_locals)

# -- context managers --------------------------------------------------------------------------------------------------------
def with_nullcontext(x):
    with contextlib.nullcontext(): y = x + 1
    return y
def with_exit_stack(x):
    with contextlib.ExitStack() as st: y = x + 1
    return y
def with_exit_stack_enter(x):
    with contextlib.ExitStack() as st:
        st.enter_context(torch.no_grad()); y = x + 1
    return y
def with_class(x):
    with Manager(): y = x + 1
    return y
def with_class_global(x):
    with MANAGER: y = x + 1
    return y
def with_class_print(x):
    with PrintingManager(): y = x + 1
    return y
def with_contextmanager(x):
    with _manager(): y = x + 1
    return y
def with_contextmanager_finally(x):
    with _finally_manager(): y = x + 1
    return y
def with_contextmanager_attribute(x):
    with _attribute_manager(): y = x + PLAIN.a
    return y
def with_contextmanager_time(x):
    with _timing_manager(): y = x + 1
    return y
def with_contextmanager_local(x):
    @contextlib.contextmanager
    def cm(): yield
    with cm(): y = x + 1
    return y
def with_conditional(x):
    with torch.no_grad() if x.shape[0] > 2 else contextlib.nullcontext(): y = x + 1
    return y
def with_two(x):
    with torch.no_grad(), torch.autocast("cpu", enabled=False): y = x + 1
    return y
def with_variable(x):
    ctx = torch.no_grad()
    with ctx: y = x + 1
    return y
def with_raises(x):
    with contextlib.suppress(ValueError): raise ValueError
    return x + 1
def with_return_inside(x):
    with torch.no_grad(): return x + 1
def with_item_inside(x):
    with torch.no_grad(): y = x * x.sum().item()
    return y + 1
def with_item_inside_custom(x):
    with Manager(): y = x * x.sum().item()
    return y + 1
def with_branch_inside(x):
    with torch.no_grad():
        if x.sum() > 0: x = x + 1
    return x * 2
def with_no_grad(x):
    with torch.no_grad(): y = x + 1
    return y * 2 + x
def with_inference_mode(x):
    with torch.inference_mode(): y = x + 1
    return y * 2
def with_autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16): y = x @ x
    return y
def with_record_function(x):
    with torch.profiler.record_function("a"): y = x + 1
    return y
def with_profiler(x):
    with torch.profiler.profile(): y = x + 1
    return y
def with_device(x):
    with torch.device("cpu"): y = torch.zeros(4)
    return x + y
def with_sdpa_kernel(x):
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        y = F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])
    return y
def with_cudnn_flags(x):
    with torch.backends.cudnn.flags(enabled=False): y = x + 1
    return y
def with_catch_warnings(x):
    with warnings.catch_warnings(): warnings.simplefilter("ignore"); y = x + 1
    return y
def with_open(x):
    with open(os.devnull) as f: f.read()
    return x + 1
def with_redirect_stdout(x):
    with contextlib.redirect_stdout(io.StringIO()): y = x + 1
    return y
def with_fork_rng(x):
    with torch.random.fork_rng(devices=[]): y = torch.rand(4)
    return x + y
def with_detect_anomaly(x):
    with torch.autograd.set_detect_anomaly(True): y = x + 1
    return y
def with_saved_tensors_hooks(g):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): y = g * 2
    return y
def with_errstate(x):
    with np.errstate(all="ignore"): y = x + 1
    return y
def with_decimal_context(x):
    import decimal
    with decimal.localcontext(): y = x + 1
    return y
def with_tempfile(x):
    import tempfile
    with tempfile.TemporaryDirectory() as d: y = x + 1
    return y
def no_grad_decorated(x): return _no_grad(x) + x
def inference_decorated(x): return _inference(x) + x
def disabled_callee(x): return _disabled(x) * 2
def set_grad_enabled_call(x):
    torch.set_grad_enabled(False); y = x + 1; torch.set_grad_enabled(True)
    return y + x

# -- shapes that depend on data ---------------------------------------------------------------------------------------------------
def mask_read(x): return x[x > 0] + 1
def mask_read_mean(x): return x[x > 0].mean()
def mask_read_count(x, m): return x + x[m].shape[0]
def mask_write_scalar(x):
    y = x.clone(); y[y > 0] = 0.0
    return y
def mask_write_tensor(x):
    y = x.clone(); y[y > 0] = y[y > 0] * 2
    return y
def mask_write_zero_dim(x, s):
    y = x.clone(); y[y > 0] = s
    return y
def mask_write_item(x, s):
    y = x.clone(); y[y > 0] = s.item()
    return y
def mask_iadd(x):
    y = x.clone(); y[y > 0] += 1
    return y
def mask_write_row(x, w, v):
    y = x.clone(); y[w] = v
    return y
def mask_write_input(x): x[x > 0] = 0.0; return x * 2
def index_read(x, i): return x[i] + 1
def index_write(x, i):
    y = x.clone(); y[i] = x
    return y
def index_list(x): return x[[0, 2]] + 1
def index_bool_list(x): return x[[True, False, True, False]] + 1
def index_numpy_constant(x): return x[np.array([0, 1])] + 1
def where_three(x): return torch.where(x > 0, x, -x)
def where_one(x): return torch.where(x > 0)[0] + 1
def nonzero_tuple(x):
    a, b = (x > 0).nonzero(as_tuple=True)
    return a + b
def nonzero_shape_branch(x, m):
    idx = m.nonzero()
    if idx.shape[0] > 0: return x + 1
    return x
def unique_counts(x): return torch.unique(x, return_counts=True)[1]
def pad_to_longest(x, k): return x.new_zeros(int(k.max()), 4) + x[0]
def arange_max(x, k): return torch.arange(k.max())[None] < k[:, None]
def arange_shape_mask(x, k): return torch.arange(x.shape[0])[None] < k[:, None]
def expert_loop(x):
    ids = x.argmax(-1) % 3
    out = torch.zeros_like(x)
    for e in range(3):
        idx = torch.where(ids == e)[0]
        out.index_add_(0, idx, x[idx])
    return out
def expert_loop_hit(x):
    hot = F.one_hot(x.argmax(-1) % 3, 3).T
    out = torch.zeros_like(x)
    for e in torch.greater(hot.sum(-1), 0).nonzero():
        idx = torch.where(hot[e].squeeze(0))[0]
        out.index_add_(0, idx, x[idx])
    return out
def one_hot_no_classes(i): return F.one_hot(i) + 1
def sparse_to_dense(x): return x.to_sparse().to_dense() + 1
def nested_jagged(x): return torch.nested.as_nested_tensor([x[:2], x], layout=torch.jagged).sin()
def pack_padded(x): return nn.utils.rnn.pack_padded_sequence(x[None], torch.tensor([4]), batch_first=True).data
def topk_k_tensor(x, n): return torch.topk(x, n)[0]
def cat_list(x): return torch.cat([r[None] for r in x])
def stack_loop(x):
    o = []
    for k in range(4): o.append(x[k] * k)
    return torch.stack(o)
def einsum_string(x): return torch.einsum("ij,kj->ik", x, x)

# -- numpy ---------------------------------------------------------------------------------------------------------------------------
def numpy_round_trip(x): return torch.from_numpy(x.numpy() + 1)
def numpy_detach_cpu(x): return torch.from_numpy(np.sin(x.detach().cpu().numpy())) + 1
def numpy_float_scalar(x): return x * np.float32(2.0)
def numpy_branch(x): return x + 1 if (x.numpy() > 0).any() else x
def numpy_item(x): return x * float(x.numpy().sum())
def numpy_loop(x):
    a = x.numpy()
    for k in range(4): x = x + a[k, 0]
    return x
def numpy_python_list(x): return x + torch.tensor(np.arange(4).tolist())
def numpy_object_array(x): return x + len(np.array(["a", "b"]))
def numpy_random_permutation(x): return x[torch.from_numpy(np.random.permutation(4))] + 1
def numpy_default_rng(x): return x + float(np.random.default_rng(0).random())
def numpy_string_dtype(x): return x + np.zeros(4, dtype="float32").sum()
def numpy_vectorize(x): return x + np.vectorize(lambda a: a + 1)(np.ones(4))[0]

# -- autograd ------------------------------------------------------------------------------------------------------------------------
def backward_call(g):
    y = g * 2
    y.sum().backward()
    return y + 1
def autograd_grad(g):
    y = (g * g).sum()
    return torch.autograd.grad(y, g)[0]
def gradient_penalty(x):
    t = x.detach().requires_grad_(True)
    return torch.autograd.grad((t * t).sum(), t, create_graph=True)[0].norm()
def requires_grad_assign(x):
    x.requires_grad = True
    return x * 2
def requires_grad_method(x): return x.requires_grad_() * 2
def requires_grad_new(x):
    y = torch.zeros(4, requires_grad=True)
    return x + y
def detach_clone(x): return x.detach().clone() + 1
def grad_is_none(x): return x + 1 if x.grad is None else x.grad
def grad_fn_test(g):
    y = g + 1
    return y + 1 if g.requires_grad and y.grad_fn is not None else g
def hook_on_input(g):
    g.register_hook(lambda t: t * 2)
    return g * 2
def hook_on_result(g):
    y = g * 2
    y.register_hook(lambda t: t * 2)
    return y + 1
def hook_prints(g):
    y = g * 2
    y.register_hook(lambda t: print("a"))
    return y + 1
def data_read(x): return x.data + 1
def data_assign(x):
    y = x.clone(); y.data = x * 2
    return y + 1
def data_in_place(x): x.data.add_(1); return x * 2
def retain_grad(g):
    y = g * 2
    y.retain_grad()
    return y + 1
def custom_function(x): return Double.apply(x) + 1
def custom_function_grad(g): return Double.apply(g) + 1
def custom_function_item(g): return DoubleItem.apply(g) + 1
def custom_function_print_backward(g): return DoublePrint.apply(g) + 1
def custom_function_setup_context(g): return DoubleSetup.apply(g) + 1
def custom_function_defined_inside(g):
    class K(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t): return t * 2
        @staticmethod
        def backward(ctx, d): return d * 2
    return K.apply(g) + 1
def checkpoint_call(x): return torch.utils.checkpoint.checkpoint(lambda t: t.sin(), x, use_reentrant=False)
def checkpoint_reentrant(g): return torch.utils.checkpoint.checkpoint(lambda t: t.sin(), g, use_reentrant=True)
def vmap_call(x): return torch.vmap(lambda t: t.sum())(x)
def func_grad(x): return torch.func.grad(lambda t: (t * t).sum())(x)
def functional_call(x): return torch.func.functional_call(LINEAR, dict(LINEAR.named_parameters()), (x,))
def in_place_input(x): x.add_(1); return x * 2
def in_place_view(x): x[0].add_(1); return x * 2
def out_argument(x):
    o = torch.empty(4, 4)
    torch.add(x, 1, out=o)
    return o
def out_argument_resized(x):
    o = torch.empty(0)
    torch.add(x, 1, out=o)
    return o
def tensor_attribute_set(x):
    y = x + 1; y.foo = 3
    return y * y.foo
def input_attribute_set(x): x.foo = 3; return x * 2
def tensor_subclass(x): return x.as_subclass(Tracked) + 1
def parameter_created(x): return x + nn.Parameter(torch.zeros(4))
def parameter_created_from_input(x): return nn.Parameter(x) + 1
def optimizer_created(x):
    o = torch.optim.SGD([torch.zeros(4, requires_grad=True)], lr=0.1)
    return x + 1
def module_created(x): return nn.Linear(4, 4)(x)
def module_created_no_parameters(x): return nn.ReLU()(x)
def sequential_created(x): return nn.Sequential(nn.ReLU(), nn.Identity())(x)
def loss_created(x, y): return nn.MSELoss()(x, y)
def generator_created(x):
    g = torch.Generator().manual_seed(0)
    return x + torch.rand(4, generator=g)
def manual_seed(x): torch.manual_seed(0); return x + torch.rand(4)
def compile_inside(x): return torch.compile(lambda t: t + 1, backend="eager")(x)
def script_function(x): return _scripted(x)
def graph_break_call(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y + 1
def cond_call(x): return torch.cond(x.sum() > 0, lambda t: t + 1, lambda t: t - 1, (x,))
def dtype_string(x): return x.to(getattr(torch, "float64"))
def dtype_dict(x): return x.to({"a": torch.float64}["a"])
def finfo_min(x): return x.masked_fill(x > 0, torch.finfo(x.dtype).min)
def view_as_complex(x): return torch.view_as_real(torch.view_as_complex(x.reshape(4, 2, 2)))
def list_multiply_tensor(x): return torch.stack([x] * 3)
def tensor_of_tensors(x): return torch.tensor([x[0, 0], x[0, 1]]) + 1
def tensor_of_items(x): return torch.tensor([x[0, 0].item(), x[0, 1].item()]) + 1
def tensor_of_lists(x): return torch.tensor([[1, 2], [3, 4]]) + 1
def tensor_from_shape(x): return torch.tensor([x.shape[0], x.shape[1]]) + 1
def legacy_constructor(x): return torch.Tensor([1.0, 2.0]) + torch.LongTensor([1, 2])
def legacy_new(x): return x.new(2, 3).fill_(1) + 1
def data_loader_iterate(x):
    for b in torch.utils.data.DataLoader([1, 2]): x = x + b
    return x
def tree_map(x): return torch.utils._pytree.tree_map(lambda t: t + 1, {"a": [x], "b": (x,)})["a"][0]
def dist_branch(x): return x + 1 if not torch.distributed.is_initialized() else x
def cuda_branch(x): return x + 1 if not torch.cuda.is_available() else x
def version_branch(x): return x + 1 if torch.__version__ >= "2.0" else x
def training_flag_tensor(x): return F.dropout(x, 0.5, training=True)
def returns_none(x): x.add_(1)
def returns_number(x): return x + 1, 3, "a", None
def returns_dict(x): return {"a": x + 1, "n": x.shape[0]}
def returns_nested(x): return {"a": [x + 1, (x, {"b": x})]}
def returns_function(x): return lambda: x + 1
def returns_module(x): return LINEAR, x + 1
def returns_object(x): return Box(x + 1)
def returns_size(x): return x.shape, x + 1
def returns_dtype(x): return x.dtype, x + 1
def returns_set(x): return {1, 2}, x + 1
def returns_range(x): return range(3), x + 1
def returns_generator(x): return (r for r in x + 1)


# -- modules ------------------------------------------------------------------------------------------------------------------------
class counter_increment(Net):
    def forward(self, x): self.n += 1; return self.lin(x)
class attribute_tensor(Net):
    def forward(self, x): self.cache = x + 1; return self.lin(x)
class attribute_new(Net):
    def forward(self, x): self.fresh = x + 1; return self.lin(x)
class attribute_setattr(Net):
    def forward(self, x): setattr(self, "fresh", x + 1); return self.lin(x)
class attribute_list_append(Net):
    def forward(self, x): self.hist.append(x); return self.lin(x)
class attribute_dict_set(Net):
    def forward(self, x): self.reg["a"] = x; return self.lin(x)
class attribute_cache_none(Net):
    def forward(self, x):
        if self.cache is None: self.cache = torch.arange(4)
        return self.lin(x) + self.cache
class attribute_cache_shape(Net):
    def forward(self, x):
        if self.cache is None or self.cache.shape[0] != x.shape[0]: self.cache = x.new_zeros(x.shape[0], 1)
        return self.lin(x) + self.cache
class attribute_item(Net):
    def forward(self, x): self.last = x.sum().item(); return self.lin(x)
class attribute_float(Net):
    def forward(self, x): self.gate = self.gate * 0.9; return self.lin(x) * self.gate
class buffer_in_place(Net):
    def forward(self, x): self.buf.add_(x.mean(0).detach()); self.buf.copy_(self.buf * 0.9); return self.lin(x) + self.buf
class buffer_assign(Net):
    def forward(self, x): self.buf = self.buf + x.mean(0).detach(); return self.lin(x)
class buffer_counter(Net):
    def forward(self, x): self.step += 1; return self.lin(x) / self.step
class buffer_branch(Net):
    def forward(self, x):
        if self.step == 0: self.step += 1
        return self.lin(x)
class buffer_item(Net):
    def forward(self, x): return self.lin(x) * self.step.item()
class buffer_register(Net):
    def forward(self, x): self.register_buffer("extra", x * 1); return self.lin(x)
class buffer_data_assign(Net):
    def forward(self, x): self.buf.data = self.buf.data * 2; return self.lin(x)
class parameter_clamp(Net):
    def forward(self, x):
        with torch.no_grad(): self.lin.weight.clamp_(-1, 1)
        return self.lin(x)
class parameter_data_in_place(Net):
    def forward(self, x): self.lin.weight.data.clamp_(-1, 1); return self.lin(x)
class parameter_data_assign(Net):
    def forward(self, x): self.lin.weight.data = self.lin.weight.data / 2; return self.lin(x)
class parameter_replace(Net):
    def forward(self, x): self.scale = nn.Parameter(torch.ones(4)); return self.lin(x) * self.scale
class parameter_freeze(Net):
    def forward(self, x):
        for p in self.lin.parameters(): p.requires_grad_(False)
        return self.lin(x)
class parameter_freeze_assign(Net):
    def forward(self, x): self.lin.weight.requires_grad = False; return self.lin(x)
class parameter_grad_read(Net):
    def forward(self, x): return self.lin(x) + (0 if self.lin.weight.grad is None else 1)
class parameter_iterate(Net):
    def forward(self, x): return self.lin(x) + sum(p.sum() for p in self.parameters())
class parameter_named_filter(Net):
    def forward(self, x): return self.lin(x) + sum(p.sum() for n, p in self.named_parameters() if "weight" in n)
class parameter_dtype(Net):
    def forward(self, x): return self.lin(x.to(next(self.parameters()).dtype))
class parameter_device(Net):
    def forward(self, x): return self.lin(x.to(next(self.parameters()).device))
class parameter_branch(Net):
    def forward(self, x):
        if self.scale.sum() > 0: x = x * self.scale
        return self.lin(x)
class state_dict_read(Net):
    def forward(self, x): return self.lin(x) + len(self.state_dict())
class module_list_iterate(Net):
    def forward(self, x):
        for layer in self.layers: x = layer(x)
        return x
class module_list_enumerate(Net):
    def forward(self, x):
        for k, layer in enumerate(self.layers): x = layer(x) + k
        return x
class module_list_index(Net):
    def forward(self, x): return self.layers[0](x) + self.layers[-1](x)
class module_list_slice(Net):
    def forward(self, x):
        for layer in self.layers[:2]: x = layer(x)
        return x
class module_list_reversed(Net):
    def forward(self, x):
        for layer in reversed(self.layers): x = layer(x)
        return x
class module_list_zip(Net):
    def forward(self, x): return sum(layer(r) for layer, r in zip(self.layers, [x, x, x]))
class module_list_index_item(Net):
    def forward(self, x): return self.layers[(x.sum() > 0).long().item()](x)
class module_list_index_tensor(Net):
    def forward(self, x): return self.layers[torch.tensor(1)](x)
class module_list_random(Net):
    def forward(self, x): return self.layers[random.randint(0, 2)](x)
class module_list_layerdrop(Net):
    def forward(self, x):
        for layer in self.layers:
            if self.training and random.random() < 0.1: continue
            x = layer(x)
        return x
class module_list_layerdrop_torch(Net):
    def forward(self, x):
        for layer in self.layers:
            if self.training and torch.rand([]) < 0.1: continue
            x = layer(x)
        return x
class module_list_branch(Net):
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if torch.isnan(x).any(): x = torch.nan_to_num(x)
        return x
class module_list_print(Net):
    def forward(self, x):
        for layer in self.layers: x = layer(x); print("a")
        return x
class module_dict_iterate(Net):
    def forward(self, x): return {k: self.heads[k](x) for k in self.heads}
class module_dict_items(Net):
    def forward(self, x): return {k: h(x) for k, h in self.heads.items()}
class module_dict_key(Net):
    def forward(self, x): return self.heads["a" if x.dim() == 2 else "b"](x)
class module_modules(Net):
    def forward(self, x): return self.lin(x) + len([m for m in self.modules() if isinstance(m, nn.Linear)])
class module_named_modules(Net):
    def forward(self, x): return self.lin(x) + len(dict(self.named_modules()))
class module_apply(Net):
    def forward(self, x): self.apply(lambda m: None); return self.lin(x)
class module_train_call(Net):
    def forward(self, x): self.lin.train(); return self.lin(x)
class module_eval_call(Net):
    def forward(self, x):
        if self.training: self.lin.eval()
        return self.lin(x)
class module_to_call(Net):
    def forward(self, x): return self.lin.to(x.device)(x)
class module_to_dtype(Net):
    def forward(self, x): return self.lin.to(x.dtype)(x)
class module_half(Net):
    def forward(self, x): self.lin.float(); return self.lin(x)
class module_training_branch(Net):
    def forward(self, x): return self.lin(x) if self.training else x
class module_getattr(Net):
    def forward(self, x): return getattr(self, "li" + "n")(x)
class module_hasattr(Net):
    def forward(self, x): return self.lin(x) if hasattr(self, "lin") else x
class module_dict_attribute(Net):
    def forward(self, x): return self.lin(x) + len(self.__dict__)
class module_super(Net):
    def helper(self, x): return self.lin(x)
    def forward(self, x): return super().__getattr__("lin")(x)
class module_class_name(Net):
    def forward(self, x): return self.lin(x) + len(self.__class__.__name__)
class module_config(Net):
    def forward(self, x): return self.lin(x) + self.config.eps if self.config.mode == "a" else x
class module_config_set(Net):
    def forward(self, x): self.config.eps = 2.0; return self.lin(x) + self.config.eps
class module_hook_register(Net):
    def forward(self, x):
        h = self.lin.register_forward_hook(lambda m, i, o: o + 1)
        y = self.lin(x)
        h.remove()
        return y
class module_hook_before(Net):
    def __init__(self): super().__init__(); self.lin.register_forward_hook(lambda m, i, o: o + 1)
    def forward(self, x): return self.lin(x)
class module_hook_pre(Net):
    def __init__(self): super().__init__(); self.lin.register_forward_pre_hook(lambda m, i: None)
    def forward(self, x): return self.lin(x)
class module_hook_print(Net):
    def __init__(self): super().__init__(); self.lin.register_forward_hook(lambda m, i, o: print("a"))
    def forward(self, x): return self.lin(x)
class module_hook_item(Net):
    def __init__(self): super().__init__(); self.lin.register_forward_hook(lambda m, i, o: o.sum().item())
    def forward(self, x): return self.lin(x)
class module_hook_store(Net):
    def __init__(self):
        super().__init__()
        self.lin.register_forward_hook(lambda m, i, o: self.hist.append(o))
    def forward(self, x): return self.lin(x)
class module_backward_hook(Net):
    def __init__(self): super().__init__(); self.lin.register_full_backward_hook(lambda m, i, o: None)
    def forward(self, x): return self.lin(x)
class module_lstm(Net):
    def __init__(self): super().__init__(); self.lstm = nn.LSTM(4, 4)
    def forward(self, x): return self.lstm(x[None])[0]
class module_gru(Net):
    def __init__(self): super().__init__(); self.gru = nn.GRU(4, 4)
    def forward(self, x): return self.gru(x[None])[0]
class module_lstm_cell(Net):
    def __init__(self): super().__init__(); self.cell = nn.LSTMCell(4, 4)
    def forward(self, x): return self.cell(x)[0]
class module_multihead(Net):
    def __init__(self): super().__init__(); self.mha = nn.MultiheadAttention(4, 2, batch_first=True)
    def forward(self, x): return self.mha(x[None], x[None], x[None])[0]
class module_transformer_layer(Net):
    def __init__(self): super().__init__(); self.enc = nn.TransformerEncoderLayer(4, 2, batch_first=True)
    def forward(self, x): return self.enc(x[None])
class module_weight_norm(Net):
    def __init__(self): super().__init__(); self.wn = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
    def forward(self, x): return self.wn(x)
class module_spectral_norm(Net):
    def __init__(self): super().__init__(); self.sn = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))
    def forward(self, x): return self.sn(x)
class module_spectral_norm_old(Net):
    def __init__(self): super().__init__(); self.sn = nn.utils.spectral_norm(nn.Linear(4, 4))
    def forward(self, x): return self.sn(x)
class module_batch_norm(Net):
    def __init__(self): super().__init__(); self.bn = nn.BatchNorm1d(4)
    def forward(self, x): return self.bn(x)
class module_lazy(Net):
    def __init__(self): super().__init__(); self.lazy = nn.LazyLinear(4)
    def forward(self, x): return self.lazy(x)
class module_parameter_list(Net):
    def __init__(self): super().__init__(); self.ps = nn.ParameterList([torch.ones(4) for _ in range(2)])
    def forward(self, x): return sum(p * x for p in self.ps)
class module_sequential_build(Net):
    def forward(self, x): return nn.Sequential(*self.layers)(x)
class module_linear_build(Net):
    def forward(self, x): return nn.Linear(4, 4)(x)
class module_method_cached(Net):
    @functools.lru_cache(None)
    def table(self, n): return n * 2
    def forward(self, x): return self.lin(x) + self.table(3)
class module_property(Net):
    @property
    def width(self): return self.lin.weight.shape[0]
    def forward(self, x): return self.lin(x) + self.width
class module_kwargs(Net):
    def forward(self, x, **kwargs): return self.lin(x) + len(kwargs)
class module_print(Net):
    def forward(self, x): y = self.lin(x); print(y.shape); return y * 2
class module_log(Net):
    def forward(self, x): y = self.lin(x); LOG.info("a"); return y * 2
class module_checkpoint(Net):
    def forward(self, x): return torch.utils.checkpoint.checkpoint(self.lin, x, use_reentrant=False)
class module_list_plain(Net):
    def __init__(self): super().__init__(); self.plain = [nn.Linear(4, 4)]
    def forward(self, x): return self.plain[0](x)
class module_call_forward(Net):
    def forward(self, x): return self.lin.forward(x)
class module_getattr_override(Net):
    def __getattr__(self, name):
        try: return super().__getattr__(name)
        except AttributeError: return 3
    def forward(self, x): return self.lin(x) + self.missing
class module_time(Net):
    def forward(self, x): t = time.perf_counter(); y = self.lin(x); self.elapsed = time.perf_counter() - t; return y
class module_deepcopy(Net):
    def forward(self, x): return copy.deepcopy(self.lin)(x)
class module_requires_grad_input(Net):
    def forward(self, x): x.requires_grad_(True); return self.lin(x)


MANAGER = Manager()


@functools.lru_cache(None)
def _warning_once(message: str) -> None:
    LOG.warning(message)


@functools.lru_cache(None)
def _cached(value: Any) -> Any:
    return value * 2


def _recurse(x: Any, n: int) -> Any:
    return x if n == 0 else _recurse(x + 1, n - 1)


def _wrap(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return inner


@_wrap
def _decorated(x: Any) -> Any:
    return x + 1


@functools.singledispatch
def _dispatch(x: Any) -> Any:
    return x + 1


@torch.no_grad()
def _no_grad(x: Any) -> Any:
    return x + 1


@torch.inference_mode()
def _inference(x: Any) -> Any:
    return x + 1


@torch.compiler.disable
def _disabled(x: Any) -> Any:
    return x + 1


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, t: Any) -> Any:
        ctx.save_for_backward(t)
        return t * 2

    @staticmethod
    def backward(ctx: Any, d: Any) -> Any:
        return d * 2


class DoubleItem(Double):
    @staticmethod
    def forward(ctx: Any, t: Any) -> Any:
        ctx.n = t.sum().item()
        return t * 2


class DoublePrint(Double):
    @staticmethod
    def backward(ctx: Any, d: Any) -> Any:
        print("a")
        return d * 2


class DoubleSetup(torch.autograd.Function):
    @staticmethod
    def forward(t: Any) -> Any:
        return t * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, d: Any) -> Any:
        return d * 2


def _plain(x):  # type: ignore[no-untyped-def]
    return x + 1


def _scripted(x: Any) -> Any:
    return _script()(x)


@functools.lru_cache(None)
def _script() -> Any:
    return torch.jit.script(_plain)
