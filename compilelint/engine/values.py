"""The lattice of abstract values.

    Bottom ⊑ Const | Scalar(static ⊑ symbolic ⊑ data) | Tensor | Instance | Function | Class | Seq | Map | Namespace
           ⊑ Unknown

Values are immutable by convention (slots, no setters used after construction) and every one knows its `origin`: the
chain of source spans that made it what it is. `Unknown` says nothing, and no rule fires on it. Of those that are made
by the million `__init__` is written out, since what dataclasses generate is not compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from compilelint.source.module import ClassInfo, FunctionInfo


class Flow(IntEnum):
    """How the host got a Python number: the axis that separates a harmless `if` from a graph break."""

    STATIC = 0  # a constant of the program: len(layers), x.dim(), config.hidden_size
    SYMBOLIC = 1  # a shape: Dynamo guards on it or makes it a SymInt
    DATA = 2  # read from a tensor: x.item(), int(t), x.nonzero().shape[0]


class Device(IntEnum):
    """Where a tensor lives. UNKNOWN may be the accelerator; CPU is known to be on the host."""

    CPU = 0
    DEVICE = 1
    UNKNOWN = 2


@dataclass(slots=True, eq=False, init=False)
class Origin:
    """One link of a value's history: `node` in file `path`, and in words why (`why` follows the node's source text)."""

    path: str
    node: ast.AST
    why: str
    parent: Origin | None

    def __init__(self, path: str, node: ast.AST, why: str, parent: Origin | None = None) -> None:
        self.path = path
        self.node = node
        self.why = why
        self.parent = parent

    def chain(self, limit: int = 6) -> list[Origin]:
        """From the first cause to this link, at most `limit` links, those nearest to the cause and to the use kept."""
        links: list[Origin] = []
        link: Origin | None = self
        while link is not None and len(links) < 50:
            links.append(link)
            link = link.parent
        links.reverse()
        if len(links) > limit:
            links = links[: limit // 2] + links[-(limit - limit // 2) :]
        return links


@dataclass(slots=True, eq=False)
class Value:
    """What an expression may be, as one of the kinds below; `origin` is its history."""

    origin: Origin | None = field(default=None, kw_only=True)


@dataclass(slots=True, eq=False)
class Unknown(Value):
    """Top: could be anything."""


UNKNOWN = Unknown()
NEVER = Unknown()  # what a call gives that always raises


@dataclass(slots=True, eq=False, init=False)
class Const(Value):
    """A Python constant (None, bool, int, float, str, bytes, Ellipsis, torch.dtype as `External`)."""

    value: Any

    def __init__(self, value: Any = None, *, origin: Origin | None = None) -> None:
        self.value = value
        self.origin = origin


@dataclass(slots=True, eq=False, init=False)
class Scalar(Value):
    """A Python number or string whose value is not known: `type` is "int", "float", "bool", "str" or "number"."""

    type: str
    flow: Flow

    def __init__(self, type: str = "number", flow: Flow = Flow.STATIC, *, origin: Origin | None = None) -> None:  # noqa: A002
        self.type = type
        self.flow = flow
        self.origin = origin


@dataclass(slots=True, eq=False, init=False)
class Tensor(Value):
    """A torch.Tensor. `dtype` is "bool", "int", "float", "complex" or None; `rank` None where unknown.

    `pinned`: may be page-locked host memory. `kind`: "" or "parameter" or "buffer" or "sparse" or "numpy" (an ndarray
    made from a tensor or by numpy: lives on the CPU). `dynamic`: its shape depends on data (nonzero, a mask's read).
    `constant`: built from constants of the program alone (torch.tensor(2.0), torch.arange(4)).
    `dims`: the sizes where known, as values (Const, Scalar) or None each; None where the rank is unknown.
    """

    device: Device
    dtype: str | None
    rank: int | None
    pinned: bool
    kind: str
    dynamic: bool
    constant: bool
    dims: tuple[Value | None, ...] | None

    def __init__(
        self,
        device: Device = Device.UNKNOWN,
        dtype: str | None = None,
        rank: int | None = None,
        pinned: bool = False,
        kind: str = "",
        dynamic: bool = False,
        constant: bool = False,
        dims: tuple[Value | None, ...] | None = None,
        *,
        origin: Origin | None = None,
    ) -> None:
        self.device = device
        self.dtype = dtype
        self.rank = rank
        self.pinned = pinned
        self.kind = kind
        self.dynamic = dynamic
        self.constant = constant
        self.dims = dims
        self.origin = origin


@dataclass(slots=True, eq=False)
class Namespace(Value):
    """A module, in the project or outside: `torch.nn.functional`."""

    name: str = ""


@dataclass(slots=True, eq=False, init=False)
class External(Value):
    """Anything named in a module outside the project, by its canonical dotted name: `torch.relu`, `time.time`."""

    name: str

    def __init__(self, name: str = "", *, origin: Origin | None = None) -> None:
        self.name = name
        self.origin = origin


@dataclass(slots=True, eq=False, init=False)
class Function(Value):
    """A function of the project; `bound` is its `self` or `cls`; `closure` the scope it was made in (engine's own)."""

    info: FunctionInfo
    bound: Value | None
    closure: Any

    def __init__(
        self,
        info: FunctionInfo,
        bound: Value | None = None,
        closure: Any = None,
        *,
        origin: Origin | None = None,
    ) -> None:
        self.info = info
        self.bound = bound
        self.closure = closure
        self.origin = origin


@dataclass(slots=True, eq=False, init=False)
class Method(Value):
    """A method of a value that the models know: `name` on `receiver` (`Tensor.item`, `list.append`)."""

    name: str
    receiver: Value

    def __init__(self, name: str, receiver: Value, *, origin: Origin | None = None) -> None:
        self.name = name
        self.receiver = receiver
        self.origin = origin


@dataclass(slots=True, eq=False)
class Class(Value):
    """A class of the project."""

    info: ClassInfo = None  # type: ignore[assignment]


@dataclass(slots=True, eq=False, init=False)
class Instance(Value):
    """An instance of a project class (`info`) or of an external one (`external`, its canonical dotted name).

    `bases` holds the external base names of a project class, nearest first (`torch.nn.Module`, …).
    `attrs` are attributes known for this very instance, beyond what its class says.
    """

    info: ClassInfo | None
    external: str
    bases: tuple[str, ...]
    attrs: Mapping[str, Value]

    def __init__(
        self,
        info: ClassInfo | None = None,
        external: str = "",
        bases: tuple[str, ...] = (),
        attrs: Mapping[str, Value] | None = None,
        *,
        origin: Origin | None = None,
    ) -> None:
        self.info = info
        self.external = external
        self.bases = bases
        self.attrs = attrs if attrs is not None else {}
        self.origin = origin

    def isa(self, *names: str) -> bool:
        return self.external in names or any(base in names for base in self.bases)

    @property
    def kind(self) -> str:
        """What it is outside the project: the first of its classes there that is more than a module, or ""."""
        return self.external or next((b for b in self.bases if b != "torch.nn.Module"), "")


@dataclass(slots=True, eq=False, init=False)
class Seq(Value):
    """A list, tuple, set, generator, range, torch.Size…: `items` where each is known, else `element` stands for all."""

    kind: str
    items: tuple[Value, ...] | None
    element: Value

    def __init__(
        self,
        kind: str = "list",
        items: tuple[Value, ...] | None = None,
        element: Value = UNKNOWN,
        *,
        origin: Origin | None = None,
    ) -> None:
        self.kind = kind
        self.items = items
        self.element = element
        self.origin = origin

    def any_item(self) -> Value:
        return self.element if self.items is None else join_all(self.items)


@dataclass(slots=True, eq=False, init=False)
class Map(Value):
    """A dict: `items` by constant key where known, else `element` stands for all values, `key` for all keys."""

    items: Mapping[Any, Value] | None
    key: Value
    element: Value

    def __init__(
        self,
        items: Mapping[Any, Value] | None = None,
        key: Value = UNKNOWN,
        element: Value = UNKNOWN,
        *,
        origin: Origin | None = None,
    ) -> None:
        self.items = items
        self.key = key
        self.element = element
        self.origin = origin

    def any_item(self) -> Value:
        return self.element if self.items is None else join_all(self.items.values())


@dataclass(slots=True, eq=False)
class Partial(Value):
    """functools.partial, or any callable with some arguments bound."""

    func: Value = UNKNOWN
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Compiled(Value):
    """What `torch.compile(inner)` gives: calling it enters a compiled region."""

    inner: Value = UNKNOWN
    fullgraph: bool = False


@dataclass(slots=True, eq=False, init=False)
class Union(Value):
    """One of a few different values: `Optional[Tensor]` is Union(Const(None), Tensor). Never nested, never Unknown.

    `declared`: by an annotation or a call's result, so that some of the options may never come; else each option was
    assigned on some path of the function at hand.
    """

    options: tuple[Value, ...]
    declared: bool

    def __init__(
        self,
        options: tuple[Value, ...] = (),
        declared: bool = False,
        *,
        origin: Origin | None = None,
    ) -> None:
        self.options = options
        self.declared = declared
        self.origin = origin


OUTPUT = "<output>"  # the external name of what a module nobody knows returns: a tensor or a container of tensors
BATCH = "<batch>"  # the external name of what a DataLoader yields: tensors or containers of tensors, on the CPU

DRAWN = "is drawn when the graph runs"  # why of the origin of Python's random numbers: Dynamo makes them inputs
LOADER = "is a DataLoader"  # why of the origin of every DataLoader
LOADED = "is loaded"  # why of the origin of every batch of a DataLoader
OF_LOADED = "comes from a loader"  # why of the origin of what is computed from a batch
MADE_ON_HOST = "is created on the CPU"  # why of the origin of what a function of torch makes there
DEFAULT = "is the default"  # why of the origin of a parameter's default that a call leaves as it is
TOKENIZED = "is tokenized"  # why of the origin of what a tokenizer makes
DEVICE_OF = "is the device of a tensor"  # why of the origin of such a device
READ = "is read as tensors and arrays are"  # why of the origin of what only a read such as `.item()` tells of
ITERATED = "is iterated over"  # why of the origin of a tensor's row or number in a loop

NONE = Const(None)
MAX_OPTIONS = 5
MAX_REGISTERED = 16  # … where all are classes or objects of the project, or their methods: a table of them by name
MAX_DEPTH = 4


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value: itself, unless it is a Union."""
    return value.options if isinstance(value, Union) else (value,)


def without_none(value: Value) -> Value:
    """The value once it is known not to be None."""
    if not isinstance(value, Union):
        return value
    rest = tuple(v for v in value.options if not (isinstance(v, Const) and v.value is None))
    return rest[0] if len(rest) == 1 else Union(rest, value.declared, origin=value.origin)


def declared(value: Value) -> Value:
    """The value as one of which some options may never come."""
    return Union(value.options, True, origin=value.origin) if isinstance(value, Union) else value


def is_fallback(device: Value | None) -> bool:
    """Whether a device is that of another tensor, or the default of a parameter: where things are already, mostly."""
    return device is not None and device.origin is not None and device.origin.why in (DEFAULT, DEVICE_OF)


def is_tokenized(value: Value) -> bool:
    """Whether a value is, or comes from, what a tokenizer made of a text."""
    return value.origin is not None and any(link.why == TOKENIZED for link in value.origin.chain())


def is_drawn(value: Value) -> bool:
    """Whether a number comes from Python's generator: a graph can take it as an input."""
    return value.origin is not None and any(link.why == DRAWN for link in value.origin.chain())


def owner(value: Value) -> str:
    """The class that an attribute is looked up in, as events name it: `Tensor` for all that may be one."""
    if isinstance(value, (Tensor, Union)):
        return "Tensor"
    return value.kind if isinstance(value, Instance) else ""


def tensor_of(value: Value) -> Tensor | None:
    """The tensor that `value` certainly is, else None.

    None aside: an operation on None would raise. A number that only another path of the same function assigned counts
    for nothing either: the path with the tensor exists (`skip = False`, then `if …: skip = torch.rand([]) < p`).
    """
    if value.__class__ is Union:  # asked of every name: no more is done for the others than this
        value = without_none(value)
    if value.__class__ is Tensor:
        return value
    if isinstance(value, Union):
        tensors = [v for v in value.options if isinstance(v, Tensor)]
        others = [v for v in value.options if not isinstance(v, Tensor)]
        if tensors and (not others or (not value.declared and all(isinstance(v, (Const, Scalar)) for v in others))):
            return tensors[0]
    return None


def on_device(value: Value) -> bool:
    """Whether `value` is certainly a tensor that may live on an accelerator (not known to be on the CPU)."""
    tensor = tensor_of(value)
    return tensor is not None and tensor.device is not Device.CPU and tensor.kind != "numpy"


def data_dependent(value: Value) -> bool:
    """Whether `value` is certainly a Python number that was read from a tensor."""
    return isinstance(value, Scalar) and value.flow is Flow.DATA


def same(a: Value, b: Value) -> bool:
    return a is b or key(a) == key(b)


def key(value: Value, depth: int = 0) -> Any:
    """A hashable summary of what `value` is, blind to its origin: context of a call, and test for a fixpoint."""
    make = _KEYS.get(value.__class__)
    return ("?",) if make is None else make(value, depth)


def _const_key(value: Const, depth: int) -> Any:
    v = value.value
    return ("c", v.__class__.__name__, v if v.__class__ is not str or len(v) < 40 else "…")


def _tensor_key(value: Tensor, depth: int) -> Any:
    return ("t", value.device, value.dtype, value.rank, value.pinned, value.kind, value.dynamic, value.constant)


def _function_key(value: Function, depth: int) -> Any:
    bound = None if value.bound is None else key(value.bound, depth + 1)
    return ("f", id(value.info), id(value.closure), bound)


def _instance_key(value: Instance, depth: int) -> Any:
    if depth >= MAX_DEPTH:
        return ("i", id(value.info), value.external)
    attrs = tuple(sorted((name, key(v, depth + 1)) for name, v in value.attrs.items())) if value.attrs else ()
    return ("i", id(value.info), value.external, attrs)


def _seq_key(value: Seq, depth: int) -> Any:
    if depth >= MAX_DEPTH:
        return ("l", value.kind)
    if value.items is None:
        return ("l", value.kind, key(value.element, depth + 1))
    return ("L", value.kind, tuple([key(v, depth + 1) for v in value.items]))


def _map_key(value: Map, depth: int) -> Any:
    if depth >= MAX_DEPTH:
        return ("d",)
    if value.items is None:
        return ("d", key(value.element, depth + 1))
    return ("D", tuple([(k, key(v, depth + 1)) for k, v in value.items.items()]))


def _partial_key(value: Partial, depth: int) -> Any:
    args = tuple(key(v, depth + 1) for v in value.args)
    named = tuple((name, key(v, depth + 1)) for name, v in value.kwargs.items())
    return ("p", key(value.func, depth + 1), args, named)


_KEYS: dict[type[Value], Callable[[Any, int], Any]] = {
    Const: _const_key,
    Tensor: _tensor_key,
    Scalar: lambda value, depth: ("s", value.type, value.flow),
    External: lambda value, depth: ("x", value.name),
    Namespace: lambda value, depth: ("x", value.name),
    Function: _function_key,
    Method: lambda value, depth: ("m", value.name, key(value.receiver, depth + 1)),
    Class: lambda value, depth: ("k", id(value.info)),
    Instance: _instance_key,
    Seq: _seq_key,
    Map: _map_key,
    Partial: _partial_key,
    Compiled: lambda value, depth: ("o", value.fullgraph, key(value.inner, depth + 1)),
    Union: lambda value, depth: ("u", value.declared, frozenset([key(v, depth + 1) for v in value.options])),
}


def join_all(values: Any) -> Value:
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
        if isinstance(result, Unknown):
            return result
    return UNKNOWN if result is None else result


def join(a: Value, b: Value, depth: int = 0) -> Value:
    """The least value of the lattice that stands for both, widened to Unknown where that would grow without bound."""
    if a is b:
        return a
    if isinstance(a, Unknown):
        return a
    if isinstance(b, Unknown):
        return b
    if isinstance(a, Union) or isinstance(b, Union):
        union = _union((*options(a), *options(b)), depth)
        return declared(union) if any(isinstance(v, Union) and v.declared for v in (a, b)) else union
    merged = _merge(a, b, depth)
    return merged if merged is not None else _union((a, b), depth)


def _union(values: tuple[Value, ...], depth: int) -> Value:
    kept: list[Value] = []
    for value in values:
        place, i = len(kept), 0
        while i < len(kept):
            merged = _merge(kept[i], value, depth)
            if merged is None:
                i += 1
            else:  # may merge with the others, too: 1 | 1.0 with an int
                value, place = merged, min(place, i)
                del kept[i]
                i = 0
        kept.insert(place, value)
    if len(kept) == 1:
        return kept[0]
    most = MAX_REGISTERED if all(map(_is_registered, kept)) else MAX_OPTIONS
    if len(kept) > most or any(isinstance(v, Unknown) for v in kept):
        return UNKNOWN
    return Union(tuple(kept), origin=next((v.origin for v in kept if v.origin), None))


def _is_registered(value: Value) -> bool:
    match value:
        case Class():
            return True
        case Function():
            return value.bound is not None
        case Instance():
            return value.info is not None
    return False


def _merge(a: Value, b: Value, depth: int) -> Value | None:
    """One value of the same kind for two, or None where they are of different kinds."""
    if a.__class__ is not b.__class__:
        return _merge_scalars(a, b) if isinstance(a, (Const, Scalar)) and isinstance(b, (Const, Scalar)) else None
    match a:
        case Const():
            assert isinstance(b, Const)
            if type(a.value) is type(b.value) and a.value == b.value:
                return a
            if a.value is None or b.value is None:
                return None
            kind = scalar_type(a.value)
            alike = kind is not None and kind == scalar_type(b.value)
            return Scalar(kind, Flow.STATIC, origin=a.origin) if kind is not None and alike else None
        case Tensor():
            assert isinstance(b, Tensor)
            return join_tensors(a, b)
        case Scalar():
            return _merge_scalars(a, b)
        case Instance():
            assert isinstance(b, Instance)
            if a.info is b.info and a.external == b.external:
                if depth >= MAX_DEPTH or not (a.attrs or b.attrs):
                    return Instance(a.info, a.external, a.bases, origin=a.origin)
                shared = {n: join(v, b.attrs[n], depth + 1) for n, v in a.attrs.items() if n in b.attrs}
                return Instance(a.info, a.external, a.bases, shared, origin=a.origin)
            return None
        case Seq():
            assert isinstance(b, Seq)
            return _merge_seqs(a, b, depth)
        case Map():
            assert isinstance(b, Map)
            return _merge_maps(a, b, depth)
        case Function() | Class() | External() | Namespace() | Method() | Partial() | Compiled():
            return a if key(a) == key(b) else None
    return None


def join_tensors(a: Tensor, b: Tensor) -> Tensor:
    dims = a.dims if a.dims is not None and b.dims is not None and _same_dims(a.dims, b.dims) else None
    return Tensor(
        device=a.device if a.device is b.device else Device.UNKNOWN,
        dtype=a.dtype if a.dtype == b.dtype else None,
        rank=a.rank if a.rank == b.rank else None,
        pinned=a.pinned or b.pinned,
        kind=a.kind if a.kind == b.kind else "",
        dynamic=a.dynamic or b.dynamic,
        constant=a.constant and b.constant,
        dims=dims,
        origin=a.origin if a.device >= b.device else b.origin,
    )


def _same_dims(a: tuple[Value | None, ...], b: tuple[Value | None, ...]) -> bool:
    return len(a) == len(b) and all(
        isinstance(x, Const) and isinstance(y, Const) and x.value == y.value for x, y in zip(a, b, strict=True)
    )


def scalar_type(value: Any) -> str | None:
    for kind in (bool, int, float, str):
        if type(value) is kind:
            return kind.__name__
    return None


def _merge_scalars(a: Value, b: Value) -> Value | None:
    kinds, flow = [], Flow.STATIC
    for v in (a, b):
        if isinstance(v, Scalar):
            kinds.append(v.type)
            flow = max(flow, v.flow)
        elif isinstance(v, Const):
            kind = scalar_type(v.value)
            if kind is None:
                return None
            kinds.append(kind)
    if "str" in kinds and kinds[0] != kinds[1]:
        return None
    origin = next((v.origin for v in (a, b) if isinstance(v, Scalar) and v.flow is flow), a.origin)
    return Scalar(kinds[0] if kinds[0] == kinds[1] else "number", flow, origin=origin)


def _merge_seqs(a: Seq, b: Seq, depth: int) -> Value:
    kind = a.kind if a.kind == b.kind else "list"
    if depth >= MAX_DEPTH:
        return Seq(kind, None, UNKNOWN, origin=a.origin)
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        return Seq(kind, tuple(join(x, y, depth + 1) for x, y in zip(a.items, b.items, strict=True)), origin=a.origin)
    if a.items == ():
        return Seq(kind, None, b.any_item(), origin=b.origin)
    if b.items == ():
        return Seq(kind, None, a.any_item(), origin=a.origin)
    return Seq(kind, None, join(a.any_item(), b.any_item(), depth + 1), origin=a.origin)


def _merge_maps(a: Map, b: Map, depth: int) -> Value:
    if depth >= MAX_DEPTH:
        return Map(None, origin=a.origin)
    if a.items is not None and b.items is not None:
        items = dict(a.items)
        for name, v in b.items.items():
            items[name] = join(items[name], v, depth + 1) if name in items else v
        return Map(items, origin=a.origin)
    if a.items is not None and not a.items:
        return b
    if b.items is not None and not b.items:
        return a
    return Map(None, join(a.key, b.key, depth + 1), join(a.any_item(), b.any_item(), depth + 1), origin=a.origin)


def widened(value: Value, depth: int = 0) -> Value:
    """The value with its numbers and texts forgotten, and containers by their element: a step towards a fixpoint."""
    match value:
        case Const():
            kind = scalar_type(value.value)
            return value if kind in (None, "bool") else Scalar(str(kind), Flow.STATIC)
        case Seq() if depth < MAX_DEPTH:
            return Seq(value.kind, None, widened(value.any_item(), depth + 1), origin=value.origin)
        case Map() if depth < MAX_DEPTH:
            return Map(None, value.key, widened(value.any_item(), depth + 1), origin=value.origin)
        case Tensor():
            return replace(value, rank=None, dims=None)
    return value


def walk(value: Value, depth: int = 0) -> Iterator[Value]:
    """The value and what it contains, containers opened to a bounded depth."""
    yield value
    if depth >= MAX_DEPTH:
        return
    match value:
        case Union():
            inner: Any = value.options
        case Seq():
            inner = value.items if value.items is not None else (value.element,)
        case Map():
            inner = value.items.values() if value.items is not None else (value.element,)
        case _:
            return
    for v in inner:
        yield from walk(v, depth + 1)
