"""torch.Tensor as the engine knows it: attributes, methods and indexing, by result type, dtype and device.

Source: https://docs.pytorch.org/docs/stable/tensors.html; what is not listed here comes from the release's table.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from compilelint.engine.values import (
    DEVICE_OF,
    NONE,
    OUTPUT,
    UNKNOWN,
    Const,
    Device,
    External,
    Flow,
    Instance,
    Method,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    tensor_of,
)
from compilelint.models import sparse

if TYPE_CHECKING:
    from compilelint.engine.calls import Arguments, Calls

# reads of a device value: the result is a Python number
READS = {"item": None, "__bool__": "bool", "__int__": "int", "__float__": "float", "__index__": "int"}
BOOL_RESULTS = frozenset(
    """is_floating_point is_complex is_contiguous is_signed is_pinned is_shared is_inference is_set_to
    is_coalesced is_conj is_neg has_names is_same_size""".split()
)
INT_RESULTS = frozenset(
    "dim ndimension numel nelement element_size get_device storage_offset sparse_dim dense_dim data_ptr __len__".split()
)
HOST_BOOL = frozenset("equal allclose is_nonzero".split())  # compare on the device, answer on the host
BOOL_TENSORS = frozenset(
    """eq ne lt le gt ge greater less greater_equal less_equal not_equal isnan isinf isfinite isposinf
    isneginf isreal isclose logical_and logical_or logical_xor logical_not any all bool signbit isin __eq__
    __ne__ __lt__ __le__ __gt__ __ge__""".split()
)
INT_TENSORS = frozenset(
    """argmax argmin argsort nonzero argwhere bincount long int short char byte count_nonzero searchsorted
    bucketize nonzero_static arange multinomial""".split()
)
FLOAT_TENSORS = frozenset(
    """float half double bfloat16 softmax log_softmax sigmoid tanh exp log log2 log10 log1p sqrt rsqrt mean
    std var norm sin cos logsumexp reciprocal erf expm1 atan acos asin tan""".split()
)
# keep the dtype and where possible the shape of their receiver
SHAPE_PRESERVING = frozenset(
    """clone detach contiguous abs neg clamp clip clamp_min clamp_max masked_fill relu round floor ceil trunc
    sign flip roll requires_grad_ cumsum cumprod tril triu zero_ fill_ copy_ add_ sub_ mul_ div_ clamp_
    masked_fill_ scatter_add_ index_add_ scatter scatter_add scatter_ index_copy_ index_fill_ index_fill
    uniform_ normal_ bernoulli_ random_ detach_ pin_memory share_memory_ bitwise_not logical_not_ frac
    nan_to_num retain_grad lerp lerp_ addcmul addcdiv sort_""".split()
)
# views and moves of elements: the table has no dtype for some of them
KEEPS_DTYPE = SHAPE_PRESERVING | frozenset(
    """view reshape transpose permute unsqueeze squeeze expand flatten unflatten t swapaxes movedim narrow
    select index_select gather repeat tile take diagonal unfold contiguous sum max min amax amin any all
    cumsum prod item where masked_scatter scatter_reduce repeat_interleave take_along_dim rot90 fliplr flipud
    ravel expand_as view_as""".split()
)
SIZED = frozenset("view reshape expand repeat".split())  # to as many dimensions as there are sizes
REDUCTIONS = frozenset(
    """sum mean prod max min amax amin any all std var norm argmax argmin median count_nonzero logsumexp
    nansum nanmean aminmax""".split()
)
PAIRS = frozenset(
    "max min median mode kthvalue cummax cummin sort topk aminmax".split()
)  # values and indices, given a dim
TUPLES = frozenset("unbind chunk split split_with_sizes tensor_split hsplit vsplit dsplit".split())
DYNAMIC = frozenset("nonzero argwhere masked_select unique unique_consecutive".split())
CASTS = {
    "bool": "bool", "long": "int", "int": "int", "short": "int", "char": "int", "byte": "int", "float": "float",
    "half": "float", "double": "float", "bfloat16": "float", "cfloat": "complex", "cdouble": "complex",
}  # fmt: skip
DTYPES = {
    **dict.fromkeys("float16 float32 float64 bfloat16 float half double float8_e4m3fn float8_e5m2".split(), "float"),
    **dict.fromkeys("int8 int16 int32 int64 int long short uint8 uint16 uint32 uint64".split(), "int"),
    **dict.fromkeys("complex64 complex128 cfloat cdouble".split(), "complex"),
    "bool": "bool",
}  # fmt: skip


def attribute(run: Calls, tensor: Tensor, name: str, node: ast.AST) -> Value:
    return sparse.method(tensor, name, _attribute(run, tensor, name, node))


def _attribute(run: Calls, tensor: Tensor, name: str, node: ast.AST) -> Value:
    match name:
        case "shape":
            flow = Flow.DATA if tensor.dynamic else Flow.SYMBOLIC
            origin = run.origin(node, "is a shape that depends on data", tensor) if tensor.dynamic else None
            size = Scalar("int", flow, origin=origin)
            return Seq("size", (size,) * tensor.rank if tensor.rank is not None and tensor.rank <= 8 else None, size)
        case "ndim":
            return Const(tensor.rank) if tensor.rank is not None else Scalar("int")
        case (
            "is_cuda"
            | "is_cpu"
            | "is_mps"
            | "is_leaf"
            | "requires_grad"
            | "is_sparse"
            | "is_quantized"
            | "is_nested"
            | "is_meta"
        ):
            return Scalar("bool")
        case "itemsize" | "nbytes" | "output_nr":
            return Scalar("int", Flow.SYMBOLIC)
        case "device":
            kind = {Device.CPU: Const("cpu"), Device.DEVICE: Const("cuda")}.get(tensor.device)
            attrs = {"type": kind} if kind is not None else {"of": tensor}
            return Instance(None, "torch.device", attrs=attrs, origin=run.origin(node, DEVICE_OF, tensor))
        case "dtype":
            return Instance(None, "torch.dtype", attrs={"kind": Const(tensor.dtype)})
        case "T" | "mT" | "H" | "mH" | "data" | "real" | "imag":
            return _like(run, tensor, node, rank=tensor.rank)
        case "grad":
            # before the first backward it is None; code that reads it counts on a tensor
            return _like(run, tensor, node, kind="", rank=tensor.rank)
        case "grad_fn":
            return Instance(None, "torch.autograd.graph.Node")
    return Method(name, tensor)


def _like(run: Calls, tensor: Tensor, node: ast.AST, **changes: Any) -> Tensor:
    fields: dict[str, Any] = {
        "device": tensor.device, "dtype": tensor.dtype, "rank": None, "kind": "numpy" if tensor.kind == "numpy" else "",
        "dynamic": tensor.dynamic, "constant": False,
    }  # fmt: skip
    fields.update(changes)
    return Tensor(**fields, origin=run.origin(node, "is a tensor", tensor))


def dtype_of(value: Value | None) -> str | None:
    """The kind of a dtype argument: torch.bool → "bool"."""
    if isinstance(value, External):
        head, _, last = value.name.rpartition(".")
        if head in ("torch", "numpy", ""):
            return DTYPES.get(last)
    if isinstance(value, Instance) and value.external == "torch.dtype":
        kind = value.attrs.get("kind")
        return kind.value if isinstance(kind, Const) else None
    return None


def is_dtype(value: Value) -> bool:
    return dtype_of(value) is not None or (isinstance(value, Instance) and value.external == "torch.dtype")


def device_from(value: Value | None, default: Device = Device.UNKNOWN) -> Device:
    """The device that a `device=` argument means; None and "not given" mean the default device: the CPU."""
    if value is None or (isinstance(value, Const) and value.value is None):
        return Device.CPU if value is None else default
    if isinstance(value, Const) and isinstance(value.value, str):
        return Device.CPU if value.value.startswith("cpu") else Device.DEVICE
    if isinstance(value, Const) and isinstance(value.value, int):
        return Device.DEVICE
    if isinstance(value, Instance) and value.external == "torch.device":
        kind = value.attrs.get("type")
        if isinstance(kind, Const) and isinstance(kind.value, str):
            return Device.CPU if kind.value.startswith("cpu") else Device.DEVICE
        return Device.UNKNOWN
    if isinstance(value, Union):
        found = {device_from(v, default) for v in value.options}
        return found.pop() if len(found) == 1 else Device.UNKNOWN
    return default


def rank_of_size(arguments: Arguments) -> int | None:
    """The rank that sizes make: `zeros(2, 3)`, `zeros((2, 3))`, `view(-1)`."""
    if arguments.starred:
        return None
    if len(arguments.args) == 1:
        size = arguments.args[0]
        if isinstance(size, Seq):
            return len(size.items) if size.items is not None else None
        return 1 if isinstance(size, (Const, Scalar)) else None
    return len(arguments.args) or None


def may_be_dim(value: Value, arguments: Arguments) -> bool:
    """Whether the last positional argument may be a dimension: of what is unknown, what is called so."""
    node = arguments.node.args[-1] if arguments.node is not None and arguments.node.args else None
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return not isinstance(value, Unknown) or "dim" in name or "axis" in name


def _has_dim(arguments: Arguments) -> bool:
    if "dim" in arguments.kwargs or "axis" in arguments.kwargs:
        dim = arguments.kwargs.get("dim", arguments.kwargs.get("axis"))
        return not (isinstance(dim, Const) and dim.value is None)
    return bool(arguments.args)


def call(run: Calls, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """The result of `tensor.name(…)`."""
    return sparse.method(tensor, name, _call(run, tensor, name, arguments, node))


def _call(run: Calls, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if tensor.kind == "numpy":
        return _numpy_call(run, tensor, name, arguments, node)
    if name in READS:
        kind = READS[name] or (tensor.dtype if tensor.dtype in ("bool", "int", "float") else "number")
        return Scalar(kind, Flow.DATA, origin=run.origin(node, "is read from a tensor", tensor))
    if name == "tolist":
        return Seq("list", None, Scalar("number", Flow.DATA, origin=run.origin(node, "is read from a tensor", tensor)))
    if name in HOST_BOOL:
        return Scalar("bool", Flow.DATA, origin=run.origin(node, "compares on the device", tensor))
    if name in BOOL_RESULTS:
        return Scalar("bool")
    if name in INT_RESULTS:
        return _int_result(run, tensor, name, node)
    if name in ("size", "stride"):
        shape = attribute(run, tensor, "shape", node)
        assert isinstance(shape, Seq)
        return shape.element if arguments.args or arguments.kwargs else shape
    if name in ("backward", "register_hook", "record_stream", "register_post_accumulate_grad_hook"):
        return NONE
    if name in ("storage", "untyped_storage", "type") and not arguments.args:
        return Instance(None, "torch.UntypedStorage") if name != "type" else Scalar("str")
    if name == "numpy":
        return Tensor(
            Device.CPU,
            tensor.dtype,
            tensor.rank,
            kind="numpy",
            origin=run.origin(node, "is copied to the host", tensor),
        )
    if name == "cpu":
        return _like(run, tensor, node, device=Device.CPU, rank=tensor.rank, dtype=tensor.dtype)
    if name in ("cuda", "xpu", "mps"):
        return _like(run, tensor, node, device=Device.DEVICE, rank=tensor.rank)
    if name == "to":
        return _to(run, tensor, arguments, node)
    if name == "pin_memory":
        return _like(run, tensor, node, pinned=True, rank=tensor.rank)
    if name in CASTS:
        return _like(run, tensor, node, dtype=CASTS[name], rank=tensor.rank)
    if name in ("type", "type_as", "view_as", "expand_as", "reshape_as"):
        other = tensor_of(arguments.args[0]) if arguments.args else None
        dtype = (other.dtype if other else dtype_of(arguments.args[0])) if name in ("type", "type_as") else tensor.dtype
        return _like(run, tensor, node, dtype=dtype)
    if name in ("view", "reshape") and arguments.args and is_dtype(arguments.args[0]):
        return _like(run, tensor, node, dtype=dtype_of(arguments.args[0]))
    if name.startswith("new_") or name == "new":
        return _new(run, tensor, name, arguments, node)
    if name in PAIRS and (
        _has_dim(arguments) or name in ("sort", "topk", "mode", "kthvalue", "cummax", "cummin", "aminmax")
    ):
        if name in ("max", "min") and arguments.args and tensor_of(arguments.args[0]) is not None:
            return _like(run, tensor, node)
        if name in ("max", "min") and arguments.args and not may_be_dim(arguments.args[0], arguments):
            return UNKNOWN
        values = _like(run, tensor, node)
        indices = values if name == "aminmax" else _like(run, tensor, node, dtype="int")
        return Seq("tuple", (values, indices))
    if name in TUPLES:
        return Seq("tuple", None, _like(run, tensor, node))
    if name in DYNAMIC:
        return _dynamic(run, tensor, name, arguments, node)
    if name in ("register_parameter", "requires_grad_", "retain_grad", "detach_"):
        return _like(run, tensor, node, rank=tensor.rank, kind=tensor.kind)
    return _general(run, tensor, name, arguments, node)


def _int_result(run: Calls, tensor: Tensor, name: str, node: ast.AST) -> Value:
    if name in ("dim", "ndimension"):
        return Const(tensor.rank) if tensor.rank is not None else Scalar("int")
    flow = Flow.DATA if tensor.dynamic and name in ("numel", "nelement", "__len__") else Flow.SYMBOLIC
    return Scalar(
        "int", flow, origin=run.origin(node, "is a size that depends on data", tensor) if flow is Flow.DATA else None
    )


def _general(run: Calls, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    bare = name.rstrip("_") if name.endswith("_") and not name.endswith("__") else name
    dtype = tensor.dtype
    if bare in BOOL_TENSORS:
        dtype = "bool"
    elif bare in INT_TENSORS:
        dtype = "int"
    elif bare in FLOAT_TENSORS:
        dtype = "float"
    rank: int | None = None
    if bare in REDUCTIONS and not _has_dim(arguments) and not (name == "norm" and arguments.args):
        rank = 0
        if bare in ("sum", "prod", "cumsum") and dtype == "bool":
            dtype = "int"
    elif name in SHAPE_PRESERVING or (bare in FLOAT_TENSORS and bare not in REDUCTIONS):
        rank = tensor.rank
    elif bare in ("sum", "cumsum") and dtype == "bool":
        dtype = "int"
    elif bare in ("unsqueeze",) and tensor.rank is not None:
        rank = tensor.rank + 1
    elif name in SIZED:
        rank = rank_of_size(arguments)
    says = run.engine.tables.method(f"Tensor.{name}")
    known = says.get("returns")
    if known is None and name not in SHAPE_PRESERVING:
        return UNKNOWN
    if known is not None and "tensor" not in known.split("|"):
        return _from_table(run, tensor, known, node)
    if dtype is tensor.dtype and says.get("dtype") not in (None, "same"):
        dtype = says["dtype"]
    elif "dtype" not in says and bare not in KEEPS_DTYPE:
        dtype = None
    device = tensor.device
    for value in arguments.args:
        other = tensor_of(value)
        if other is not None and device is Device.CPU and other.device is not Device.CPU:
            device = Device.UNKNOWN
    dynamic = tensor.dynamic and rank != 0
    return Tensor(device, dtype, rank, kind="", dynamic=dynamic, origin=run.origin(node, "is a tensor", tensor))


def _from_table(run: Calls, tensor: Tensor, kind: str, node: ast.AST) -> Value:
    match kind:
        case "bool" | "int" | "float" | "str":
            return Scalar(kind, Flow.STATIC)
        case "none":
            return NONE
        case "size":
            return attribute(run, tensor, "shape", node)
    if kind.startswith(("tuple", "list")):
        return Seq(kind.partition(":")[0], None, _like(run, tensor, node))
    return UNKNOWN


def _to(run: Calls, tensor: Tensor, arguments: Arguments, node: ast.AST) -> Value:
    device, dtype, rank = tensor.device, tensor.dtype, tensor.rank
    target = arguments.kwargs.get("device")
    first = arguments.args[0] if arguments.args else arguments.kwargs.get("other")
    if first is not None and target is None:
        other = tensor_of(first)
        if other is not None:
            device, dtype = other.device, other.dtype
        elif is_dtype(first):
            dtype = dtype_of(first)
        else:
            target = first
            if isinstance(first, Unknown) and device is Device.CPU:
                device = Device.UNKNOWN  # a device or a dtype
    if target is not None and not isinstance(target, Unknown):
        device = device_from(target)
    elif "device" in arguments.kwargs:
        device = Device.UNKNOWN
    for value in [*arguments.args[1:], *([arguments.kwargs["dtype"]] if "dtype" in arguments.kwargs else [])]:
        if is_dtype(value):
            dtype = dtype_of(value)
    return _like(run, tensor, node, device=device, dtype=dtype, rank=rank)


def _new(run: Calls, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    device = device_from(arguments.kwargs["device"]) if "device" in arguments.kwargs else tensor.device
    dtype = dtype_of(arguments.kwargs["dtype"]) if "dtype" in arguments.kwargs else tensor.dtype
    rank = rank_of_size(arguments) if name in ("new_zeros", "new_ones", "new_empty") else None
    return Tensor(device, dtype, rank, origin=run.origin(node, "is created like a tensor", tensor))


def _dynamic(run: Calls, tensor: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    dtype = "int" if name in ("nonzero", "argwhere") else tensor.dtype
    whole = not arguments.args and "dim" not in arguments.kwargs  # of all values, not along a dimension
    flat = name == "masked_select" or (name.startswith("unique") and whole)
    rank = 2 if name in ("nonzero", "argwhere") else 1 if flat and not arguments.starred else None
    result = Tensor(
        tensor.device, dtype, rank, dynamic=True, origin=run.origin(node, "has a shape that depends on data", tensor)
    )
    as_tuple = arguments.kwargs.get("as_tuple")
    if name == "nonzero" and isinstance(as_tuple, Const) and as_tuple.value:
        return Seq("tuple", None, Tensor(tensor.device, "int", 1, dynamic=True, origin=result.origin))
    if name.startswith("unique") and any(
        isinstance(v, Const) and v.value
        for k, v in arguments.kwargs.items()
        if k in ("return_inverse", "return_counts")
    ):
        return Seq("tuple", None, replace(result, rank=None))  # the inverse has the input's shape
    return result


def mask_in(index: Value) -> Tensor | None:
    """The boolean mask among the indices of a read or write, if there certainly is one."""
    for value in index.items or () if isinstance(index, Seq) and index.kind in ("tuple", "list") else (index,):
        tensor = tensor_of(value)
        if tensor is not None and tensor.dtype == "bool":
            return tensor
    return None


def indexed(base: Value, index: Value) -> bool:
    """Whether an index shows a base nobody knows to be a tensor: it has a tensor of the device in it.

    Beside that must stand another part, or it is a mask: `names[number]` may be a list's item. What a module returned
    is no array, so that `boxes[:, 2:]` is enough.
    """
    several = isinstance(index, Seq) and index.kind == "tuple" and index.items is not None
    parts = index.items or () if isinstance(index, Seq) and several else (index,)
    found = [t for part in parts if (t := tensor_of(part)) is not None and t.device is not Device.CPU]
    if isinstance(base, Unknown):
        return any(t.dtype == "bool" or several for t in found)
    cut = any(isinstance(part, External) and part.name == "slice" for part in parts)
    return isinstance(base, Instance) and base.external == OUTPUT and several and (cut or bool(found))


def read(run: Calls, tensor: Tensor, index: Value, node: ast.AST) -> Value:
    """`tensor[index]`."""
    mask = mask_in(index)
    parts = index.items if isinstance(index, Seq) and index.kind == "tuple" and index.items is not None else (index,)
    rank = _rank_after(tensor, parts) if mask is None else None
    device = tensor.device
    kind = "numpy" if tensor.kind == "numpy" else ""
    dynamic = mask is not None or any((t := tensor_of(p)) is not None and t.dynamic for p in parts)
    if tensor.dynamic and all(isinstance(p, (Const, External)) for p in parts):
        dynamic = not any(isinstance(p, Const) and type(p.value) is int for p in parts[:1])
    why = "is a boolean-mask read" if mask is not None else "is read from a tensor"
    return Tensor(device, tensor.dtype, rank, kind=kind, dynamic=dynamic, origin=run.origin(node, why, tensor))


def _rank_after(tensor: Tensor, parts: tuple[Value, ...]) -> int | None:
    if tensor.rank is None:
        return None
    rank = tensor.rank
    for part in parts:
        if isinstance(part, Const):
            if part.value is None:
                rank += 1
            elif type(part.value) is int:
                rank -= 1
            else:
                return None
        elif isinstance(part, Scalar) and part.type == "int":
            rank -= 1
        elif not (isinstance(part, External) and part.name == "slice"):
            return None
    return max(rank, 0)


def _numpy_call(run: Calls, array: Tensor, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name == "item":
        return Scalar("number")
    if name in BOOL_RESULTS:
        return Scalar("bool")
    if name == "tolist":
        return Seq("list", None, Scalar("number"))
    if name in ("min", "max", "sum", "mean", "std", "any", "all") and not _has_dim(arguments):
        origin = run.origin(node, "is a NumPy number", array)
        return Tensor(Device.CPU, array.dtype, 0, kind="numpy", constant=array.constant, origin=origin)
    origin = run.origin(node, "is a NumPy array", array)
    return Tensor(Device.CPU, None, None, kind="numpy", constant=array.constant, origin=origin)
