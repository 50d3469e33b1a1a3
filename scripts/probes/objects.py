"""Python objects in a graph: containers, classes, mutation, the standard library; `_ok` marks a near twin."""

from __future__ import annotations

import abc
import array
import bisect
import collections
import dataclasses
import decimal
import enum
import fractions
import functools
import heapq
import itertools
import operator
import queue
import re
import string
import struct
import textwrap
import types
import typing

import torch
import torch.nn.functional as F
from torch import nn

# fmt: off


class _Point(typing.NamedTuple):
    a: torch.Tensor
    b: int = 1


_Pair = collections.namedtuple("_Pair", "a b")


@dataclasses.dataclass
class _Output:
    loss: torch.Tensor
    extra: typing.Any = None


@dataclasses.dataclass(frozen=True)
class _Options:
    size: int = 2
    name: str = "a"


class _Color(enum.Enum):
    RED = 1
    BLUE = 2


class _Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class _Base(abc.ABC):
    @abc.abstractmethod
    def run(self, t): ...


class _Impl(_Base):
    def run(self, t): return t * 2


class _Counter:
    total = 0

    def __init__(self): self.n = 0
    def add(self): self.n += 1; return self.n
    @classmethod
    def count(cls): cls.total += 1; return cls.total


class _Vector:
    def __init__(self, t): self.t = t
    def __add__(self, other): return _Vector(self.t + other.t)
    def __getitem__(self, key): return self.t[key]
    def __len__(self): return 4
    def __iter__(self): return iter([self.t, self.t])
    def __bool__(self): return bool(self.t.sum() > 0)
    def __eq__(self, other): return self is other
    def __hash__(self): return 1
    def __lt__(self, other): return self.t.shape[0] < other.t.shape[0]
    def __call__(self, t): return self.t * t
    def __str__(self): return "vector"
    def __float__(self): return 2.0


class _Plain:
    pass


class _Descriptor:
    def __get__(self, instance, owner): return 2
    def __set__(self, instance, value): pass


class _Described:
    size = _Descriptor()


_REGISTRY = {"relu": F.relu, "gelu": F.gelu}
_SETTINGS = {"scale": 2.0, "names": ["a", "b"]}
_STORE = {}
_ROWS = []
_PLAIN = _Plain()
_OPTIONS = _Options()
_COUNT = 0
_CACHE_TENSOR = torch.ones(4)
_PATTERN = re.compile(r"a(\d)")
_SHARED_COUNTER = _Counter()
_VECTOR = _Vector(torch.ones(4))


@functools.singledispatch
def _convert(value): return value * 2
@_convert.register
def _(value: int): return value * 3
@functools.lru_cache(maxsize=None)
def _cached_tensor(n): return torch.arange(n)
@functools.cache
def _cached_number(n): return n + 1
@functools.lru_cache(maxsize=2)
def _cached_of_tensor(t): return t * 2
@typing.overload
def _overloaded(t: int) -> int: ...
@typing.overload
def _overloaded(t: torch.Tensor) -> torch.Tensor: ...
def _overloaded(t): return t * 2


# -- containers ---
def list_append_extend_ok(x):
    rows = []
    rows.append(x); rows.extend([x + 1]); rows += [x + 2]
    return torch.stack(rows)
def list_insert_pop_ok(x):
    rows = [x, x + 1]
    rows.insert(0, x + 2); rows.pop()
    return torch.stack(rows)
def list_sort_by_index_ok(x):
    rows = [(1, x), (0, x + 1)]
    rows.sort(key=lambda pair: pair[0])
    return rows[0][1]
def list_global_append_ok(x): _ROWS.append(x.detach()); return x * 2
def list_of_item_append(x): _ROWS.append(x.mean().item()); return x * 2
def list_equality_of_tensors(x): return x + 1 if [x] == [x] else x
def list_in_identity(x): return x + 1 if x in [x] else x
def list_index_identity(x, y): return x + [x, y].index(x)
def list_remove_identity(x, y):
    rows = [x, y]
    rows.remove(x)
    return rows[0] + 1
def list_is_identity_ok(x, y): return x + 1 if any(t is x for t in (x, y)) else x
def list_reverse_copy_ok(x):
    rows = [x, x + 1]
    rows.reverse()
    return rows.copy()[0]
def list_multiply_ok(x): return torch.stack([x] * 2)
def list_of_shape_ok(x): return x.reshape([*x.shape, 1])
def dict_update_ok(x):
    d = {"a": x}
    d.update(b=x + 1); d |= {"c": x}
    return d["b"] + d["c"]
def dict_setdefault_ok(x):
    d = {}
    d.setdefault("a", []).append(x)
    return d["a"][0] * 2
def dict_pop_default_ok(x): return x + {"a": 1}.pop("b", 2)
def dict_iterate_ok(x):
    for key, value in {"a": 1, "b": 2}.items(): x = x + value * len(key)
    return x
def dict_sorted_ok(x): return x + len(sorted({"b": 1, "a": 2}))
def dict_global_tensor_ok(x): _STORE["a"] = x.detach(); return x * 2
def dict_global_item(x): _STORE["a"] = x.mean().item(); return x * 2
def dict_key_of_tensor_id_ok(x): return x + {id(x): 2}[id(x)]
def dict_key_of_shape_ok(x): return x + {tuple(x.shape): 2}[(4, 4)]
def dict_key_of_dtype_ok(x): return x + {torch.float32: 2}[x.dtype]
def dict_key_of_device_ok(x): return x + {"cpu": 2}[x.device.type]
def dict_tensor_keys(x, y): return {x: 1, y: 2}[x] + x
def dict_comprehension_tensors_ok(x): return {k: r * 2 for k, r in enumerate(x)}[1]
def dict_missing_get_ok(x): return x if {"a": x}.get("b") is None else x * 2
def dict_equality_ok(x): return x * 2 if {"a": 1} == {"a": 1} else x
def set_of_strings_ok(x): return x + len({"a", "b"} | {"c"})
def set_of_tensor_ids_ok(x, y): return x + len({id(x), id(y)})
def set_of_tensors_length(x, y): return x + len({x, y})
def set_frozen_ok(x): return x + len(frozenset([1, 2]))
def tuple_unpack_star_ok(x):
    a, *rest = (x, x + 1, x + 2)
    return a + rest[0]
def tuple_nested_unpack_ok(x):
    (a, b), c = (x, x + 1), x + 2
    return a + b + c
def namedtuple_typed_ok(x): return _Point(x).a + _Point(x, 2).b
def namedtuple_classic_ok(x): return _Pair(x, 1).a + _Pair(x, 2)._replace(b=3).b
def namedtuple_asdict_ok(x): return _Pair(x, 1)._asdict()["a"] * 2
def namedtuple_fields_ok(x): return x + len(_Point._fields)
def namedtuple_returned_ok(x): return _Point(x * 2, 2)
def namedtuple_defined_inside(x):
    pair = collections.namedtuple("pair", "a b")
    return pair(x, 1).a * 2
def dataclass_made_ok(x): return _Output(x * 2).loss + 1
def dataclass_returned_ok(x): return _Output(x * 2, {"n": 1})
def dataclass_changed_ok(x):
    out = _Output(x)
    out.loss = out.loss * 2
    return out.loss
def dataclass_frozen_ok(x): return x * _Options(3).size + len(_OPTIONS.name)
def dataclass_asdict_numbers_ok(x): return x * dataclasses.asdict(_OPTIONS)["size"]
def dataclass_asdict_tensor(x): return dataclasses.asdict(_Output(x))["loss"] * 2
def dataclass_fields_ok(x): return x * len(dataclasses.fields(_OPTIONS))
def dataclass_defined_inside(x):
    @dataclasses.dataclass
    class Local:
        size: int = 2
    return x * Local().size
def dataclass_is_ok(x): return x * 2 if dataclasses.is_dataclass(_OPTIONS) else x
def enum_identity_ok(x): return x * 2 if _Color.RED is _Color.RED else x
def enum_value_number_ok(x): return x * _Color.BLUE.value
def enum_name_ok(x): return x * len(_Color.BLUE.name)
def enum_from_value_ok(x): return x * _Color(2).value
def enum_from_item(x, k): return x * _Color(k[0].item()).value
def enum_iterate_ok(x): return x * sum(c.value for c in _Color)
def enum_int_ok(x): return x * _Level.HIGH
def enum_dict_key_ok(x): return x * {_Color.RED: 2}[_Color.RED]
def enum_defined_inside(x):
    class Mode(enum.Enum):
        A = 1
    return x * Mode.A.value
def default_dict_ok(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    return torch.stack(d["a"])
def default_dict_lambda_ok(x):
    d = collections.defaultdict(lambda: 0)
    d["a"] += 2
    return x * d["a"]
def ordered_dict_ok(x):
    d = collections.OrderedDict([("a", x), ("b", x + 1)])
    d.move_to_end("a")
    return list(d.values())[0] * 2
def deque_ok(x):
    q = collections.deque([x], maxlen=2)
    q.append(x + 1); q.appendleft(x)
    return q[0] + q[-1]
def counter_strings_ok(x): return x * collections.Counter(["a", "b", "a"])["a"]
def counter_most_common(x): return x * collections.Counter("aab").most_common(1)[0][1]
def chain_map(x): return x * collections.ChainMap({"a": 2}, {"b": 3})["b"]
def heap_push_pop(x):
    heap = []
    heapq.heappush(heap, 2); heapq.heappush(heap, 1)
    return x * heapq.heappop(heap)
def heap_nlargest(x): return x * heapq.nlargest(1, [1, 3, 2])[0]
def heap_of_tensors(x):
    heap = [x.mean(), x.max()]
    heapq.heapify(heap)
    return x * heap[0]
def bisect_numbers(x): return x * bisect.bisect([1, 2, 3], 2)
def bisect_insort(x):
    rows = [1, 3]
    bisect.insort(rows, 2)
    return x * rows[1]
def queue_put_get(x):
    q = queue.Queue()
    q.put(2)
    return x * q.get()
def array_numbers(x): return x * array.array("i", [1, 2])[1]
def struct_pack(x): return x * len(struct.pack("i", 2))
def struct_calcsize(x): return x * struct.calcsize("i")
def mapping_proxy(x): return x * types.MappingProxyType({"a": 2})["a"]
def simple_namespace_made(x): return x * types.SimpleNamespace(a=2).a
def memoryview_of_bytes(x): return x * len(memoryview(b"ab"))

# -- iteration tools ---
def itertools_chain_ok(x): return torch.stack(list(itertools.chain([x], [x + 1])))
def itertools_chain_iterable_ok(x): return torch.stack(list(itertools.chain.from_iterable([[x], [x + 1]])))
def itertools_product_ok(x): return sum(a * b for a, b in itertools.product([1, 2], [3])) * x
def itertools_combinations_ok(x): return x * len(list(itertools.combinations([1, 2, 3], 2)))
def itertools_permutations_ok(x): return x * len(list(itertools.permutations([1, 2, 3])))
def itertools_accumulate_ok(x): return list(itertools.accumulate([x, x, x]))[-1]
def itertools_repeat_ok(x): return sum(itertools.repeat(2, 3)) * x
def itertools_cycle_ok(x): return sum(a * b for a, b in zip([1, 2, 3], itertools.cycle([1, 2]))) * x
def itertools_islice_ok(x): return torch.stack(list(itertools.islice(x, 2)))
def itertools_groupby_ok(x): return x * len(list(itertools.groupby([1, 1, 2])))
def itertools_groupby_key(x): return x * len([k for k, _ in itertools.groupby(x, key=lambda r: r.mean() > 0)])
def itertools_starmap_ok(x): return x * sum(itertools.starmap(pow, [(2, 2), (3, 1)]))
def itertools_compress_ok(x): return torch.stack(list(itertools.compress([x, x + 1], [1, 0])))
def itertools_compress_mask(x, w): return torch.stack(list(itertools.compress(x, w)))
def itertools_tee(x):
    a, b = itertools.tee([1, 2])
    return x * (sum(a) + sum(b))
def itertools_pairwise_ok(x): return x * sum(a * b for a, b in itertools.pairwise([1, 2, 3]))
def itertools_zip_longest_ok(x): return x * sum(a for a, _ in itertools.zip_longest([1, 2], [3], fillvalue=0))
def itertools_filterfalse(x): return torch.stack(list(itertools.filterfalse(lambda r: r.mean() > 99, x)))
def itertools_dropwhile(x): return torch.stack(list(itertools.dropwhile(lambda r: r.mean() > 99, x)))
def itertools_count_ok(x): return x * next(itertools.count(2))
def zip_strict_ok(x, y): return torch.stack([a + b for a, b in zip(x, y, strict=True)])
def reversed_tensor_rows(x): return torch.stack(list(reversed(x)))
def reversed_list_ok(x): return torch.stack(list(reversed([x, x + 1])))
def enumerate_zip_ok(x, y): return sum(k * a * b for k, (a, b) in enumerate(zip(x, y)))
def map_two_ok(x, y): return torch.stack(list(map(torch.add, x, y)))
def iter_sentinel(x):
    rows = [3, 2, 1]
    return x * sum(iter(rows.pop, 1))

# -- functions ---
def reduce_ok(x): return functools.reduce(torch.mul, [x, x, x])
def reduce_initial_ok(x): return functools.reduce(lambda a, b: a + b, [1, 2], x)
def reduce_item(x): return functools.reduce(lambda a, b: a * b.mean().item(), list(x), x)
def partial_keywords_ok(x): return functools.partial(F.leaky_relu, negative_slope=0.2)(x)
def partial_attribute_ok(x):
    p = functools.partial(torch.add, x)
    return p.func(x, x) + p(x)
def partialmethod_like_ok(x): return functools.partial(_Impl().run)(x)
def singledispatch_tensor(x): return _convert(x) + 1
def singledispatch_number(x): return x * _convert(2)
def lru_cache_tensor_made(x): return x + _cached_tensor(4)
def lru_cache_number_ok(x): return x + _cached_number(4)
def lru_cache_of_tensor(x): return _cached_of_tensor(x) + 1
def lru_cache_clear(x): _cached_number.cache_clear(); return x * 2
def lru_cache_made_inside(x):
    @functools.lru_cache(maxsize=None)
    def double(n): return n * 2
    return x * double(2)
def wraps_inside_ok(x):
    def twice(f):
        @functools.wraps(f)
        def inner(t): return f(f(t))
        return inner
    return twice(torch.sin)(x)
def cmp_to_key(x): return x * sorted([2, 1], key=functools.cmp_to_key(lambda a, b: a - b))[0]
def operator_functions_ok(x): return operator.add(operator.neg(x), operator.itemgetter(0)([x]))
def operator_attrgetter_ok(x): return x * operator.attrgetter("size")(_OPTIONS)
def operator_methodcaller_ok(x): return operator.methodcaller("sum")(x) + x
def overload_ok(x): return _overloaded(x)
def typing_cast_ok(x): return typing.cast(torch.Tensor, x) * 2
def function_from_dict_ok(x): return _REGISTRY["relu"](x)
def function_attribute_read_ok(x): return x * len(_overloaded.__name__)
def function_closure_counter_ok(x):
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    return x * step() + step()
def function_kwargs_ok(x):
    def scaled(t, *, factor=1.0, **rest): return t * factor * len(rest)
    return scaled(x, factor=2.0, a=1)
def function_positional_only_ok(x):
    def scaled(t, /, factor=2.0): return t * factor
    return scaled(x)
def function_mutable_default_ok(x):
    def keep(t, seen=[]):
        seen.append(1)
        return t * len(seen)
    return keep(x)

# -- classes ---
def class_instance_ok(x): return _Impl().run(x)
def class_abstract_isinstance_ok(x): return x * 2 if isinstance(_Impl(), _Base) else x
def class_counter_ok(x): return x * _Counter().add()
def class_global_counter_ok(x): return x * _SHARED_COUNTER.add()
def class_attribute_counter(x): return x * _Counter.count()
def class_add_operator_ok(x): return (_Vector(x) + _Vector(x)).t
def class_bool_tensor(x): return x + 1 if _Vector(x) else x
def class_bool_tensor_ok(x): return x + 1 if _Vector(x) is not None else x
def class_len_ok(x): return x * len(_VECTOR)
def class_getitem_ok(x): return _Vector(x)[0] + 1
def class_iterate_ok(x): return sum(_Vector(x))
def class_call_ok(x): return _VECTOR(x)
def class_compare_ok(x): return x * (_Vector(x) < _Vector(x))
def class_hash_ok(x): return x * {_VECTOR: 2}[_VECTOR]
def class_str(x): return x * len(str(_VECTOR))
def class_float(x): return x * float(_VECTOR)
def class_descriptor_ok(x): return x * _Described().size
def class_defined_inside(x):
    class Local:
        size = 2
    return x * Local.size
def class_defined_inside_method(x):
    class Local:
        def run(self, t): return t * 2
    return Local().run(x)
def class_defined_module(x):
    class Local(nn.Module):
        def forward(self, t): return t * 2
    return Local()(x)
def class_super_ok(x):
    return _Sub(x).t * 2
def class_type_call_ok(x): return type(_Impl())().run(x)
def class_type_made(x): return x * type("Local", (), {"size": 2}).size
def class_isinstance_union_ok(x): return x * 2 if isinstance(x, (torch.Tensor, int)) else x
def class_isinstance_generic(x): return x * 2 if isinstance([x], collections.abc.Iterable) else x
def class_issubclass_ok(x): return x * 2 if issubclass(_Impl, _Base) else x
def class_hasattr_ok(x): return x * 2 if hasattr(_PLAIN, "nothing") else x * 3
def class_getattr_default_ok(x): return x * getattr(_PLAIN, "nothing", 2)
def class_dict_read_ok(x): return x * len(_Impl().__dict__) + x
def class_name_ok(x): return x * len(_Impl.__name__)
def class_mro(x): return x * len(_Impl.__mro__)
def class_doc_ok(x): return x * 2 if _Impl.__doc__ is None else x
def class_subclasses(x): return x * len(_Base.__subclasses__())
def class_slots_ok(x): return _Slotted(x).t * 2
def class_property_item(x): return x * _Measured(x).mean
def class_property_ok(x): return x * _Measured(x).rows
def class_cached_property(x): return x * _Measured(x).columns
def class_weak_method(x):
    import weakref
    return x * 2 if weakref.WeakMethod(_SHARED_COUNTER.add)() is not None else x

# -- mutation ---
def mutate_global_number_ok(x):
    global _COUNT
    _COUNT += 1
    return x * 2
def mutate_global_object_ok(x): _PLAIN.last = 2; return x * _PLAIN.last
def mutate_global_object_tensor_ok(x): _PLAIN.tensor = x * 2; return _PLAIN.tensor + 1
def mutate_setattr_ok(x): setattr(_PLAIN, "late", 2); return x * _PLAIN.late
def mutate_setattr_name_ok(x):
    for name in ("left", "right"): setattr(_PLAIN, name, len(name))
    return x * _PLAIN.left
def mutate_delattr(x):
    thing = _Plain()
    thing.a = 1
    delattr(thing, "a")
    return x * 2
def mutate_del_global_attribute(x):
    _PLAIN.temporary = 1
    del _PLAIN.temporary
    return x * 2
def mutate_del_item_ok(x):
    d = {"a": 1, "b": 2}
    del d["a"]
    return x * len(d)
def mutate_dict_of_object(x): _PLAIN.__dict__["late"] = 2; return x * 2
def mutate_vars(x): vars(_PLAIN)["late"] = 2; return x * 2
def mutate_class_attribute(x): _Plain.shared = 2; return x * _Plain.shared
def mutate_function_attribute_ok(x):
    def local(t): return t * 2
    local.calls = 1
    return local(x) * local.calls
def mutate_global_tensor_ok(x): _CACHE_TENSOR.mul_(1.0); return x * _CACHE_TENSOR
def mutate_settings_ok(x): _SETTINGS["scale"] = 3.0; return x * _SETTINGS["scale"]
def mutate_settings_list_ok(x): _SETTINGS["names"].append("c"); return x * 2
def mutate_tensor_attribute_ok(x):
    y = x * 2
    y.tag = 3
    return y * y.tag
def mutate_tensor_method(x):
    y = x * 2
    y.forward = lambda: None
    return y + 1
def mutate_module_function(x): F.probe_marker = 1; return x * 2
def mutate_builtin_len_ok(x):
    len_ = len
    return x * len_(x)
def mutate_locals(x): locals()["z"] = 2; return x * 2
def mutate_globals_item(x): globals()["_PROBE_LATE"] = 2; return x * 2

# -- strings and numbers ---
def string_methods_ok(x): return x * len("a-b_c".replace("-", "_").split("_")[0].upper())
def string_startswith_ok(x): return x * 2 if "layer.0".startswith("layer") else x
def string_format_number_ok(x): return x * len(f"{2.5:.1f}{3:>4}")
def string_join_ok(x): return x * len(".".join(["a", "b"]))
def string_partition_ok(x): return x * len("a.b".partition(".")[2])
def string_isdigit_ok(x): return x * 2 if "3".isdigit() else x
def string_int_ok(x): return x * int("3")
def string_encode(x): return x * len("ab".encode())
def string_maketrans(x): return x * len("ab".translate(str.maketrans("a", "c")))
def string_template(x): return x * len(string.Template("$a").substitute(a="b"))
def string_ascii_letters_ok(x): return x * len(string.ascii_lowercase)
def string_wrap(x): return x * len(textwrap.dedent("  a"))
def string_eval_format_map(x): return x * len("{a}".format_map({"a": 1}))
def string_count_ok(x): return x * "aab".count("a")
def string_einsum_made_ok(x): return torch.einsum(",".join(["ij", "jk"]) + "->ik", x, x)
def regex_match(x): return x * len(re.match(r"a(\d)", "a3").group(1))
def regex_compiled(x): return x * 2 if _PATTERN.match("a3") else x
def regex_sub(x): return x * len(re.sub("a", "b", "aa"))
def regex_split(x): return x * len(re.split(",", "a,b"))
def decimal_number(x): return x * float(decimal.Decimal("1.5"))
def fraction_number(x): return x * float(fractions.Fraction(1, 2))
def complex_number_ok(x): return x * (1 + 2j).real
def float_hex(x): return x * float.fromhex("0x1p1")
def float_is_integer_ok(x): return x * 2 if (2.0).is_integer() else x
def int_bit_count_ok(x): return x * (5).bit_length()
def int_to_bytes(x): return x * len((5).to_bytes(2, "big"))
def hex_string_ok(x): return x * len(hex(255))
def bytes_index_ok(x): return x * b"ab"[0]
def bytearray_change(x):
    data = bytearray(2)
    data[0] = 3
    return x * data[0]
def dtype_tables_ok(x): return x.to({"float": torch.float64}["float"])
def dtype_getattr_ok(x): return x.to(getattr(torch, "float64"))
def dtype_finfo_ok(x): return x.clamp(max=torch.finfo(x.dtype).max)
def dtype_iinfo_ok(x): return x.clamp(max=torch.iinfo(torch.int32).max)
def dtype_is_floating_ok(x): return x * 2 if x.dtype.is_floating_point else x
def dtype_itemsize_ok(x): return x * x.dtype.itemsize
def dtype_as_string(x): return x * len(str(x.dtype))
def device_string(x): return x * len(str(x.device))
def device_made_ok(x): return x.to(torch.device("cpu"))
def device_index_none_ok(x): return x * 2 if x.device.index is None else x
def size_numel_ok(x): return x * x.shape.numel()
def size_slice_ok(x): return x.reshape(x.shape[:1] + (2, 2))
def tensor_type_string(x): return x * len(x.type())
def tensor_type_call_ok(x): return x.type(torch.float64)
def tensor_type_name_call(x): return x.type("torch.DoubleTensor")
def tensor_is_tensor_ok(x): return x * 2 if torch.is_tensor(x) else x
def tensor_class_compare_ok(x): return x * 2 if type(x) is torch.Tensor else x
def tensor_hash_compare_ok(x): return x * 2 if hash(x) == hash(x) else x
def tensor_dir(x): return x * (len(dir(x)) > 0)
def tensor_format_spec(x): return x * len(f"{x.shape!s:>20}")
def tensor_list_method_sum_ok(x): return sum(x.unbind()) + 1
def legacy_float_tensor(x): return x + torch.FloatTensor([1.0, 2.0, 3.0, 4.0])
def legacy_tensor_sizes(x): return torch.Tensor(4, 4).fill_(1.0) + x
def legacy_new_tensor_ok(x): return x.new_tensor([1.0, 2.0, 3.0, 4.0]) + x


class _Sub(_Vector):
    def __init__(self, t): super().__init__(t * 2)


class _Slotted:
    __slots__ = ("t",)

    def __init__(self, t): self.t = t


class _Measured:
    def __init__(self, t): self.t = t
    @property
    def mean(self): return self.t.mean().item()
    @property
    def rows(self): return self.t.shape[0]
    @functools.cached_property
    def columns(self): return self.t.shape[1]
