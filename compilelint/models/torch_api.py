"""Calls of functions outside the project: torch's, Python's builtins and library, NumPy's.

A handler is registered under the canonical name and gives the result; what no handler knows is judged by the release's
table (tensor, number, tuple, …) or is Unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from compilelint.engine.values import (
    DRAWN,
    LOADER,
    MADE_ON_HOST,
    NONE,
    UNKNOWN,
    Class,
    Compiled,
    Const,
    Device,
    External,
    Flow,
    Instance,
    Map,
    Namespace,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    join,
    join_all,
    options,
    tensor_of,
    walk,
)
from compilelint.models import containers, nn, objects, operators, sparse, tensors
from compilelint.models.names import is_optimizer
from compilelint.models.operators import device_of
from compilelint.source.module import ClassInfo

if TYPE_CHECKING:
    from compilelint.engine.calls import Arguments, Calls

Handler = Callable[["Calls", str, "Arguments", ast.AST], Value]
_HANDLERS: dict[str, Handler] = {}
OPS = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special", "torch.sparse")


def handles(*names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for name in names:
            _HANDLERS[name] = handler
        return handler

    return register


def call(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """The result of calling the outside function `name`."""
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(run, name, arguments, node)
    head, _, last = name.rpartition(".")
    if head in OPS:
        return sparse.function(last, arguments, _operator(run, head, last, arguments, node))
    if name.startswith("torch.ops."):
        return _custom(run, arguments, node)
    if head == "math":
        return _math(run, arguments, node)
    if head.startswith("numpy"):
        return _numpy(run, head, last, arguments, node)
    if head == "torch.Tensor" and arguments.args:
        receiver = tensor_of(arguments.args[0])
        if receiver is not None:
            return tensors.call(run, receiver, last, _shift(arguments), node)
        return UNKNOWN
    if (head == "torch.nn.init" and last.endswith("_")) or (head == "torch.nn.utils" and last.endswith("_grad_norm_")):
        return _first(run, name, arguments, node)
    if last[:1].isupper() and head:
        return _construct(run, name, arguments, node)
    run._callbacks(arguments, node)
    return UNKNOWN


# -- torch operators -------------------------------------------------------------------------------------------------

FACTORIES = frozenset(
    """zeros ones empty full arange linspace logspace eye rand randn randint randperm tensor as_tensor
    asarray scalar_tensor range hann_window hamming_window blackman_window kaiser_window bartlett_window
    tril_indices triu_indices empty_strided sparse_coo_tensor from_numpy frombuffer""".split()
)
NOT_TENSORS = frozenset(
    """is_tensor is_floating_point is_complex numel is_grad_enabled is_autocast_enabled get_default_dtype
    device finfo iinfo set_default_dtype manual_seed seed initial_seed get_rng_state set_rng_state save load
    no_grad enable_grad inference_mode set_grad_enabled compile broadcast_shapes result_type promote_types
    can_cast typename get_num_threads set_num_threads is_storage set_printoptions
    use_deterministic_algorithms are_deterministic_algorithms_enabled vmap cond is_inference_mode_enabled
    get_autocast_dtype set_float32_matmul_precision""".split()
)
AT_LEAST = ("atleast_1d", "atleast_2d", "atleast_3d")  # one tensor for one, a tuple for several
INT_FACTORIES = frozenset("arange randint randperm tril_indices triu_indices".split())


def _operator(run: Calls, head: str, last: str, arguments: Arguments, node: ast.AST) -> Value:
    if last in NOT_TENSORS:
        return _not_tensor(run, last, arguments, node)
    if last[:1].isupper():
        return _construct(run, f"{head}.{last}", arguments, node)
    if last in FACTORIES:
        return _factory(run, last, arguments, node)
    base = last.removesuffix("_like")
    first = arguments.args[0] if arguments.args else arguments.kwargs.get("input")
    if last.endswith("_like") and base in ("zeros", "ones", "empty", "full", "rand", "randn", "randint"):
        return _like(run, first, arguments, node)
    receiver = tensor_of(first) if first is not None else None
    if receiver is not None and last in AT_LEAST and len(arguments.args) == 1:
        return tensors._like(run, receiver, node)
    if last == "where":
        return _where(run, arguments, node)
    if last in ("cat", "stack", "concat", "concatenate", "hstack", "vstack", "dstack", "column_stack", "block_diag"):
        return _joined(run, last, first, node)
    if last in ("broadcast_tensors", "meshgrid", "align_tensors") or last in AT_LEAST:
        return Seq("tuple", None, Tensor(device_of(*arguments.args), origin=run.origin(node, "is a tensor", receiver)))
    if receiver is not None and head in ("torch", "torch.special"):
        result = tensors.call(run, receiver, last, _shift(arguments), node)
        declared = run.engine.tables.function_returns(f"{head}.{last}")
        if not isinstance(result, Unknown) or declared is None or "tensor" not in declared.split("|"):
            return result  # else no method: torch.isin, torch.cartesian_prod
    if last in ("equal", "allclose", "is_nonzero"):
        return Scalar("bool", Flow.DATA, origin=run.origin(node, "compares on the device"))
    if head == "torch.linalg" and last in (
        "svd",
        "qr",
        "eigh",
        "eig",
        "lu",
        "slogdet",
        "lstsq",
        "inv_ex",
        "cholesky_ex",
        "solve_ex",
    ):
        return Seq(
            "tuple", None, Tensor(device_of(*arguments.args), "float", origin=run.origin(node, "is a tensor", receiver))
        )
    known = run.engine.tables.function_returns(f"{head}.{last}")
    if known is None and last.startswith(("is_", "get_", "set_", "_")):
        return UNKNOWN
    if known is None or "tensor" in known.split("|"):
        return _result(run, last, first, receiver, arguments, node)
    if known in ("bool", "int", "float", "str"):
        return Scalar(known)
    if known.startswith(("tuple", "list")):
        return Seq("tuple", None, Tensor(device_of(*arguments.args), origin=run.origin(node, "is a tensor", receiver)))
    return NONE if known == "none" else UNKNOWN


def _shift(arguments: Arguments) -> Arguments:
    shifted = type(arguments)(arguments.args[1:], dict(arguments.kwargs), arguments.starred, arguments.node)
    shifted.kwargs.pop("input", None)
    return shifted


def _result(
    run: Calls, last: str, first: Value | None, receiver: Tensor | None, arguments: Arguments, node: ast.AST
) -> Value:
    dtype = None
    if last in tensors.BOOL_TENSORS:
        dtype = "bool"
    elif last in tensors.INT_TENSORS or last == "one_hot":
        dtype = "int"
    elif last in tensors.FLOAT_TENSORS or last.endswith(("_loss", "entropy", "norm")):
        dtype = "float"
    elif receiver is not None:
        dtype = receiver.dtype
    rank = 0 if last in tensors.REDUCTIONS and len(arguments.args) == 1 and "dim" not in arguments.kwargs else None
    if last.endswith("_loss") or last in ("cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits"):
        reduction = arguments.kwargs.get("reduction")
        rank = 0 if reduction is None or (isinstance(reduction, Const) and reduction.value in ("mean", "sum")) else None
    pairs = last in ("max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin")
    if pairs and (len(arguments.args) > 1 or "dim" in arguments.kwargs):
        other = tensor_of(arguments.args[1]) if last in ("max", "min") and len(arguments.args) > 1 else None
        if last in ("max", "min") and len(arguments.args) > 1 and not tensors.may_be_dim(arguments.args[1], arguments):
            return UNKNOWN
        if other is None:
            part = Tensor(device_of(*arguments.args), dtype, origin=run.origin(node, "is a tensor", first))
            return Seq("tuple", None, part)
    if last in ("chunk", "split", "unbind", "tensor_split"):
        return Seq(
            "tuple", None, Tensor(device_of(*arguments.args), dtype, origin=run.origin(node, "is a tensor", first))
        )
    given = (*arguments.args, *arguments.kwargs.values())
    device = device_of(*given)
    if given and not arguments.starred and all(isinstance(v, (Const, Scalar)) for v in given):
        device = Device.CPU  # torch.div(n, 2, rounding_mode="trunc")
    if last == "normal" and "size" in arguments.kwargs:  # of numbers
        device = tensors.device_from(arguments.kwargs.get("device"))
    dynamic = last in tensors.DYNAMIC or (
        last == "one_hot" and len(arguments.args) < 2 and "num_classes" not in arguments.kwargs
    )
    return Tensor(
        device, dtype, rank, dynamic=dynamic,
        constant=bool(arguments.args) and all(isinstance(v, (Const, Scalar, Unknown)) for v in arguments.args),
        origin=run.origin(node, "is a tensor", first),
    )  # fmt: skip


def _factory(run: Calls, last: str, arguments: Arguments, node: ast.AST) -> Value:
    device = tensors.device_from(arguments.kwargs.get("device"))
    if "device" in arguments.kwargs and isinstance(arguments.kwargs["device"], Unknown):
        device = Device.UNKNOWN
    dtype = tensors.dtype_of(arguments.kwargs.get("dtype"))
    source = arguments.args[0] if arguments.args else None
    made = tensor_of(source) if source is not None else None
    rank: int | None = None
    constant = not last.startswith("rand") and all(isinstance(v, Const) for v in arguments.args)
    if last in ("as_tensor", "asarray", "from_numpy") and made is not None and "device" not in arguments.kwargs:
        return Tensor(
            Device.CPU if made.kind == "numpy" else made.device, dtype or made.dtype, made.rank,
            origin=run.origin(node, "is made from it", made),
        )  # fmt: skip
    if dtype is None and "dtype" not in arguments.kwargs:
        if last in ("tensor", "as_tensor", "scalar_tensor", "full"):
            sample = source if last != "full" else (arguments.args[1] if len(arguments.args) > 1 else None)
            dtype = _python_dtype(sample)
        elif last == "arange":
            dtype = "int" if all(_python_dtype(v) == "int" for v in arguments.args) else None
        elif last in INT_FACTORIES:
            dtype = "int"
        elif last in ("zeros", "ones", "empty", "rand", "randn", "eye", "linspace"):
            dtype = "float"
    if last in ("arange", "linspace", "randperm", "logspace"):
        rank = 1
    elif last in ("tensor", "scalar_tensor") and isinstance(source, (Const, Scalar)):
        rank = 0
    elif last in ("tensor", "as_tensor") and isinstance(source, Seq):
        rank = _nesting(source)
        constant = source.items is not None and all(
            isinstance(v, Const) for v in walk(source) if not isinstance(v, Seq)
        )
    elif last in ("zeros", "ones", "empty", "rand", "randn"):
        rank = tensors.rank_of_size(arguments)
    elif last in ("full", "randint"):
        rank = _rank_in(arguments, 0 if last == "full" else max(0, len(arguments.args) - 1))
    pinned = arguments.kwargs.get("pin_memory")
    return Tensor(
        device, dtype, rank, constant=constant, pinned=isinstance(pinned, Const) and bool(pinned.value),
        origin=run.origin(node, MADE_ON_HOST if device is Device.CPU else "is created"),
    )  # fmt: skip


def _nesting(value: Value) -> int | None:
    """How deep lists of numbers are nested: the rank of the tensor made from them."""
    if isinstance(value, (Const, Scalar)):
        return 0
    if isinstance(value, Seq):
        inner = _nesting(value.items[0] if value.items else value.element)
        return inner + 1 if inner is not None else None
    return None


def _rank_in(arguments: Arguments, place: int) -> int | None:
    """The rank of a tensor whose size is one argument, a tuple."""
    size = arguments.get(place, "size")
    return len(size.items) if isinstance(size, Seq) and size.items is not None and not arguments.starred else None


def _python_dtype(value: Value | None) -> str | None:
    if isinstance(value, Const):
        return {bool: "bool", int: "int", float: "float"}.get(type(value.value))
    if isinstance(value, Scalar):
        return value.type if value.type in ("bool", "int", "float") else None
    if isinstance(value, Seq):
        return _python_dtype(value.items[0] if value.items else value.element)
    if isinstance(value, Tensor):
        return value.dtype
    return None


def _like(run: Calls, first: Value | None, arguments: Arguments, node: ast.AST) -> Value:
    source = tensor_of(first) if first is not None else None
    device = source.device if source is not None else Device.UNKNOWN
    if "device" in arguments.kwargs:
        device = tensors.device_from(arguments.kwargs["device"])
    dtype = source.dtype if source is not None else None
    if "dtype" in arguments.kwargs:
        dtype = tensors.dtype_of(arguments.kwargs["dtype"])
    return Tensor(
        device, dtype, source.rank if source else None, origin=run.origin(node, "is created like a tensor", source)
    )


def _where(run: Calls, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) == 1 and not arguments.kwargs:
        source = arguments.args[0]
        device = device_of(source)
        return Seq(
            "tuple", None,
            Tensor(device, "int", 1, dynamic=True, origin=run.origin(node, "has a shape that depends on data", source)),
        )  # fmt: skip
    parts = [v for v in (arguments.get(1, "input"), arguments.get(2, "other")) if v is not None]
    dtypes = {(_python_dtype(p) if not isinstance(p, Tensor) else p.dtype) for p in parts}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return Tensor(
        device_of(*arguments.args), dtype, origin=run.origin(node, "is a tensor", arguments.get(0, "condition"))
    )


def _joined(run: Calls, last: str, first: Value | None, node: ast.AST) -> Value:
    element: Value = UNKNOWN
    if isinstance(first, Seq):
        element = first.any_item()
    tensor = tensor_of(element)
    rank = None
    if tensor is not None and tensor.rank is not None:
        rank = tensor.rank + 1 if last == "stack" else tensor.rank
    return Tensor(
        tensor.device if tensor is not None else Device.UNKNOWN, tensor.dtype if tensor is not None else None, rank,
        dynamic=first is not None and last != "stack" and any(isinstance(v, Tensor) and v.dynamic for v in walk(first)),
        origin=run.origin(node, "is a tensor", tensor),
    )  # fmt: skip


def _not_tensor(run: Calls, last: str, arguments: Arguments, node: ast.AST) -> Value:
    if last in ("is_tensor", "is_floating_point", "is_complex", "is_grad_enabled", "is_autocast_enabled"):
        if last == "is_tensor" and arguments.args:
            value = arguments.args[0]
            if isinstance(value, Tensor):
                return Const(value.kind != "numpy")
            if isinstance(value, (Const, Scalar, Seq, Map)):
                return Const(False)
        return Scalar("bool")
    if last == "numel":
        return Scalar("int", Flow.SYMBOLIC)
    if last == "device":
        kind = arguments.args[0] if arguments.args else arguments.kwargs.get("type")
        return Instance(None, "torch.device", attrs={"type": kind} if isinstance(kind, Const) else {})
    if last in ("finfo", "iinfo"):
        return Instance(None, f"torch.{last}")
    if last == "compile":
        return _compile(run, arguments, node)
    if last == "vmap" and arguments.args:
        return arguments.args[0]
    if last in ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled"):
        return Instance(None, f"torch.{last}")
    if last == "manual_seed":
        return Instance(None, "torch.Generator")
    if last in ("seed", "initial_seed"):
        return Scalar("int")
    if last == "get_rng_state":
        return Tensor(Device.CPU, "int", 1, origin=run.origin(node, "is a generator's state"))
    run._callbacks(arguments, node)
    return UNKNOWN


def _compile(run: Calls, arguments: Arguments, node: ast.AST) -> Value:
    target = arguments.args[0] if arguments.args else arguments.kwargs.get("model")
    if target is None:
        return Partial(External("torch.compile"), (), dict(arguments.kwargs))
    given = arguments.kwargs.get("fullgraph")
    fullgraph = isinstance(given, Const) and given.value is True
    dropped = isinstance(run.statement, ast.Expr) and run.statement.value is node
    if not dropped and (not run.silent or run.summary.info is None):
        run.engine.add_compile_root(target, fullgraph)
    return Compiled(target, fullgraph, origin=run.origin(node, "is compiled"))


def _custom(run: Calls, arguments: Arguments, node: ast.AST) -> Value:
    return (
        Tensor(device_of(*arguments.args), origin=run.origin(node, "is the result of a custom operator"))
        if (any(isinstance(v, Tensor) for v in arguments.args))
        else UNKNOWN
    )


# -- classes ---------------------------------------------------------------------------------------------------------


def _construct(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """An instance of an outside class."""
    last = name.rpartition(".")[2]
    if name in ("torch.nn.Parameter", "torch.nn.Buffer"):
        source = tensor_of(arguments.args[0]) if arguments.args else None
        return Tensor(
            Device.UNKNOWN, source.dtype if source else "float", source.rank if source else None, kind=last.lower(),
            origin=run.origin(node, "is a parameter" if last == "Parameter" else "is a buffer"),
        )  # fmt: skip
    if name in ("torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.BoolTensor", "torch.IntTensor"):
        dtype = {"torch.LongTensor": "int", "torch.IntTensor": "int", "torch.BoolTensor": "bool"}.get(name, "float")
        empty = (Const(0),) if not arguments.args and not arguments.starred else None
        rank = 1 if empty else None
        return Tensor(Device.CPU, dtype, rank, dims=empty, origin=run.origin(node, MADE_ON_HOST))
    if name == "torch.cuda.FloatTensor":
        return Tensor(Device.DEVICE, "float", origin=run.origin(node, "is created"))
    if name in nn.CONTAINERS:
        return nn.container(run, name, arguments, node)
    if name == "torch.utils.data.DataLoader":
        pinned = arguments.kwargs.get("pin_memory", Const(False))
        return Instance(None, name, attrs={"pin_memory": pinned}, origin=run.origin(node, LOADER))
    if is_optimizer(name):
        return Instance(None, name, ("torch.optim.Optimizer",), origin=run.origin(node, "is an optimizer"))
    if nn.is_module(name):
        return Instance(None, name, ("torch.nn.Module",), origin=run.origin(node, "is a module"))
    if name.startswith("torch.distributions."):
        numbers = all(isinstance(v, (Const, Scalar)) for v in (*arguments.args, *arguments.kwargs.values()))
        device = Device.CPU if numbers and not arguments.starred else Device.UNKNOWN
        drawn = Tensor(device, "float", origin=run.origin(node, "is a distribution"))
        return Instance(None, name, attrs={"*drawn": drawn}, origin=run.origin(node, "is constructed"))
    if last == "GradScaler":
        return Instance(None, "torch.amp.GradScaler")
    if name == "collections.Counter":
        return Map(None)
    run._callbacks(arguments, node)
    return Instance(None, name, origin=run.origin(node, "is constructed"))


# -- Python's builtins ----------------------------------------------------------------------------------------------


@handles("len")
def _len(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if arguments.args else UNKNOWN
    tensor = tensor_of(value)
    if tensor is not None:
        return tensors._int_result(run, tensor, "__len__", node)
    if isinstance(value, Seq):
        return Const(len(value.items)) if value.items is not None and value.kind in ("tuple", "size") else Scalar("int")
    return Scalar("int")


@handles("int", "float", "bool", "complex")
def _number(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.args:
        return Const({"int": 0, "float": 0.0, "bool": False}.get(name, 0))
    value = arguments.args[0]
    run.convert(node, value, name)
    kind = name if name != "complex" else "number"
    if tensor_of(value) is not None:
        tensor = tensor_of(value)
        if tensor is not None and tensor.kind == "numpy":
            return Scalar(kind)
        return Scalar(kind, Flow.DATA, origin=run.origin(node, "is read from a tensor", value))
    if isinstance(value, Scalar):
        return Scalar(kind, value.flow, origin=value.origin)
    if isinstance(value, Const) and isinstance(value.value, (int, float)) and name in ("int", "float", "bool"):
        try:
            return Const({"int": int, "float": float, "bool": bool}[name](value.value))
        except (ValueError, OverflowError):
            return Scalar(kind)
    return Scalar(kind)


@handles("str", "repr", "format", "ascii")
def _text(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if arguments.args:
        run.convert(node, arguments.args[0], "str" if name in ("str", "repr", "ascii") else "format")
    return Scalar("str")


@handles("round", "abs", "divmod", "pow")
def _rounding(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if arguments.args else UNKNOWN
    tensor = tensor_of(value)
    if tensor is not None:
        return tensors._like(run, tensor, node, rank=tensor.rank)
    if isinstance(value, Scalar):
        return Scalar(
            "int" if name == "round" and len(arguments.args) == 1 else value.type, value.flow, origin=value.origin
        )
    if isinstance(value, Const):
        return Scalar("number")
    return UNKNOWN


@handles("operator.index")
def _index(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if arguments.args:
        run.convert(node, arguments.args[0], "int")
    return Scalar("int")


_COMPARISONS = {"eq": ast.Eq, "ne": ast.NotEq, "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE}


@handles(*(f"operator.{name}" for name in _COMPARISONS))
def _compared(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) != 2:
        return UNKNOWN
    return operators.compare(run, node, _COMPARISONS[name.rpartition(".")[2]], *arguments.args)


@handles("range")
def _range(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    for value in arguments.args:
        run.convert(node, value, "range")
    # the elements are plain counters, however many there are
    return Seq("range", None, Scalar("int", Flow.STATIC))


@handles("any", "all")
def _any(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if arguments.args else UNKNOWN
    element = run.element_of(value, node)
    if tensor_of(element) is not None or (isinstance(element, Scalar) and element.flow is Flow.DATA):
        return Scalar("bool", Flow.DATA, origin=run.origin(node, "tests tensors", element))
    return Scalar("bool")


@handles("max", "min")
def _extreme(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    values = arguments.args
    if arguments.kwargs and values:
        element = run.element_of(values[0], node) if len(values) == 1 else join_all(values)
        if "key" in arguments.kwargs:
            run.call_back(arguments.kwargs["key"], [element], node)
        containers.ordered(run, element, None, node)  # Dynamo takes no `key=` or `default=` for tensors
    if len(values) == 1:
        element = run.element_of(values[0], node)
        tensor = tensor_of(element)
        if tensor is not None:
            return tensors._like(run, tensor, node, rank=tensor.rank)
        return _widened(element)
    found = [v for v in values if isinstance(v, Tensor)]
    if found:
        return tensors._like(run, found[0], node, rank=found[0].rank)
    return _widened(join_all(values)) if values else UNKNOWN


def _widened(value: Value) -> Value:
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return Scalar(type(value.value).__name__)
    return value if isinstance(value, Scalar) else UNKNOWN


@handles("sum")
def _sum(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if arguments.args else UNKNOWN
    element = run.element_of(value, node)
    tensor = tensor_of(element)
    if tensor is not None:
        return tensors._like(run, tensor, node, rank=tensor.rank)
    if isinstance(element, Scalar):
        return Scalar(element.type, element.flow, origin=element.origin)
    return _widened(element) if isinstance(element, Const) else UNKNOWN


@handles("sorted", "reversed", "list", "tuple", "set", "frozenset", "iter", "collections.deque")
def _sequence(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    kind = {
        "sorted": "list",
        "reversed": "list",
        "iter": "generator",
        "frozenset": "set",
        "collections.deque": "list",
    }.get(name, name)
    if not arguments.args:
        return Seq(kind, ())
    value = arguments.args[0]
    if name == "sorted":
        containers.ordered(run, run.element_of(value, node), arguments.kwargs.get("key"), node)
    if isinstance(value, Seq) and value.items is not None:
        items = value.items[::-1] if name == "reversed" else value.items
        if name == "sorted":
            return Seq(kind, None, join_all(items)) if items else Seq(kind, ())
        return Seq(kind, items)
    element = run.iterate(value, node, "call") if name in ("list", "tuple", "set") else run.element_of(value, node)
    return Seq(kind, None, element)


@handles("enumerate")
def _enumerate(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if arguments.args else UNKNOWN
    if run.is_loader(value):
        run.iterate(value, node, "for")
    if isinstance(value, Seq) and value.items is not None and len(value.items) <= 8:
        return Seq("generator", tuple(Seq("tuple", (Scalar("int"), item)) for item in value.items))
    inner = Seq("tuple", (Scalar("int"), run.element_of(value, node)))
    return Seq("loader" if run.is_loader(value) else "generator", None, inner)


@handles("tqdm.tqdm", "tqdm.trange", "rich.progress.track")
def _progress(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name.endswith("trange"):
        return Seq("range", None, Scalar("int"))
    return arguments.args[0] if arguments.args else arguments.kwargs.get("iterable", UNKNOWN)


@handles("zip", "itertools.product", "itertools.zip_longest")
def _zip(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if arguments.starred:
        return UNKNOWN
    columns = [v.items if isinstance(v, Seq) else None for v in arguments.args]
    if name == "zip" and columns and all(c is not None and len(c) <= 8 for c in columns):
        known = [c for c in columns if c is not None]
        return Seq("generator", tuple(Seq("tuple", tuple(row)) for row in zip(*known, strict=False)))
    return Seq("generator", None, Seq("tuple", tuple(run.element_of(v, node) for v in arguments.args)))


@handles("map")
def _map(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.args:
        return UNKNOWN
    function, *rest = arguments.args
    values = [run.element_of(v, node) for v in rest]
    result = run.call(function, type(arguments)(values, {}, False, None), node)
    return Seq("generator", None, result)


@handles("filter", "itertools.filterfalse", "itertools.takewhile", "itertools.dropwhile")
def _filter(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) < 2:
        return UNKNOWN
    function, iterable = arguments.args[:2]
    element = run.element_of(iterable, node)
    by_itself = isinstance(function, Const) and function.value is None
    run.tested(element if by_itself else run.call_back(function, [element], node), node, "filter", node)
    return Seq("generator", None, element)


@handles("itertools.compress")
def _compress(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) < 2:
        return UNKNOWN
    run.tested(run.element_of(arguments.args[1], node), node, "filter", node)
    return Seq("generator", None, run.element_of(arguments.args[0], node))


@handles("next")
def _next(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if arguments.args else UNKNOWN
    return run.element_of(value, node)


@handles("itertools.chain", "itertools.chain.from_iterable")
def _chain(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name.endswith("from_iterable"):
        inner = run.element_of(arguments.args[0], node) if arguments.args else UNKNOWN
        return Seq("generator", None, run.element_of(inner, node))
    return (
        Seq("generator", None, join_all(run.element_of(v, node) for v in arguments.args)) if arguments.args else UNKNOWN
    )


@handles("itertools.cycle", "itertools.islice", "copy.copy", "copy.deepcopy")
def _same(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return arguments.args[0] if arguments.args else UNKNOWN


@handles("dict", "collections.OrderedDict", "collections.defaultdict", "types.SimpleNamespace")
def _dict(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name == "types.SimpleNamespace":
        return Instance(None, name, attrs=dict(arguments.kwargs))
    if arguments.args and name != "collections.defaultdict":
        source = arguments.args[0]
        if isinstance(source, Map):
            return Map({**source.items, **arguments.kwargs}) if source.items is not None else source
        pair = run.element_of(source, node)
        if isinstance(pair, Seq) and pair.items is not None and len(pair.items) == 2:
            return Map(None, pair.items[0], pair.items[1])
        return Map(None)
    if name == "collections.defaultdict":
        return Map({} if not arguments.args else None)
    return Map(dict(arguments.kwargs)) if not arguments.starred else Map(None)


@handles("isinstance")
def _isinstance(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    from compilelint.engine.narrow import is_a

    if len(arguments.args) == 2:
        kinds = arguments.args[1]
        listed = list(kinds.items) if isinstance(kinds, Seq) and kinds.items is not None else [kinds]
        listed = [choice for kind in listed for choice in options(kind)]
        answers = {is_a(run, v, listed) for v in options(arguments.args[0])}  # type: ignore[arg-type]
        if len(answers) == 1 and (answer := answers.pop()) is not None:
            return Const(answer)
    return Scalar("bool")


@handles("hasattr", "callable", "issubclass")
def _hasattr(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Scalar("bool")


@handles("getattr")
def _getattr(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) >= 2 and isinstance(arguments.args[1], Const) and isinstance(arguments.args[1].value, str):
        found = run.attribute(arguments.args[0], arguments.args[1].value, node)
        if len(arguments.args) == 3 and not isinstance(found, Unknown):
            return found if not isinstance(arguments.args[0], (Instance, External)) else join(found, arguments.args[2])
        return found
    owner = arguments.args[0] if len(arguments.args) == 2 else UNKNOWN
    of_torch = isinstance(owner, (Namespace, External)) and owner.name == "torch.nn"
    return External(nn.ANY) if of_torch else UNKNOWN


@handles(nn.ANY)
def _chosen(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return nn.chosen(run, arguments, node)


@handles("type")
def _type(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if len(arguments.args) == 1 else UNKNOWN
    if isinstance(value, Instance) and value.info is not None:
        return Class(value.info)
    return UNKNOWN


@handles(
    "print", "input", "open", "setattr", "delattr", "logging.info", "logging.warning", "logging.debug", "logging.error",
    "warnings.warn",
)  # fmt: skip
def _side_effect(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return UNKNOWN if name in ("input", "open") else NONE


@handles("id", "hash", "ord", "sys.getsizeof", "os.getpid")
def _int(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Scalar("int")


@handles("functools.partial")
def _partial(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.args:
        return UNKNOWN
    if isinstance(arguments.args[0], External) and arguments.args[0].name == "torch.compile":
        return arguments.args[0]
    return Partial(arguments.args[0], tuple(arguments.args[1:]), dict(arguments.kwargs))


@handles("collections.namedtuple")
def _namedtuple(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A class with these fields, as `class … (NamedTuple)` makes one."""
    title, names = arguments.get(0, "typename"), arguments.get(1, "field_names")
    match names:
        case Const(value=str(text)):
            fields = text.replace(",", " ").split()
        case Seq(items=items) if items:
            fields = [str(item.value) for item in items if isinstance(item, Const)]
        case _:
            return UNKNOWN
    info = run.module.class_of.get(node)
    if info is None:
        text = title.value if isinstance(title, Const) else "tuple"
        written = ast.ClassDef(str(text), [node.func] if isinstance(node, ast.Call) else [], [], [ast.Pass()], [])
        info = ClassInfo(run.module, str(text), ast.copy_location(written, node))
        info.annotations.update({field: ast.Name("Any", ast.Load()) for field in fields})
        run.module.class_of[node] = info
    return Class(info)


@handles("functools.reduce")
def _reduce(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) < 2:
        return UNKNOWN
    element = run.element_of(arguments.args[1], node)
    result = run.call_back(arguments.args[0], [element, element], node)
    tensor = tensor_of(element)
    return tensors._like(run, tensor, node) if tensor is not None else result


# -- library ---------------------------------------------------------------------------------------------------------


def _math(run: Calls, arguments: Arguments, node: ast.AST) -> Value:
    flow = Flow.STATIC
    source: Value = UNKNOWN
    for value in arguments.args:
        run.convert(node, value, "math")
        if tensor_of(value) is not None:
            flow, source = Flow.DATA, value
        elif isinstance(value, Scalar) and value.flow > flow:
            flow, source = value.flow, value
    return Scalar(
        "float", flow, origin=run.origin(node, "is read from a tensor", source) if flow is Flow.DATA else None
    )


@handles(
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "time.process_time",
    "random.random",
    "random.gauss",
)
def _float(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Scalar("float", Flow.STATIC)


@handles("random.uniform", "random.randint", "random.randrange")
def _drawn(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Dynamo traces these draws to an input of the graph: a number that is not known while tracing."""
    kind = "float" if name == "random.uniform" else "int"
    return Scalar(kind, Flow.DATA, origin=run.origin(node, DRAWN))


@handles("importlib.import_module", "__import__")
def _import(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    module = arguments.args[0] if arguments.args else UNKNOWN
    if not isinstance(module, Const) or not isinstance(module.value, str) or module.value.startswith("."):
        return UNKNOWN
    return run.engine.namespace(module.value.partition(".")[0] if name == "__import__" else module.value)


@handles(*(f"compilelint.ops.{name}" for name in ("sum_each", "mean_each", "max_abs_each", "squared_norm_each")))
def _each_reduced(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Tensor(Device.UNKNOWN, "float", 1, origin=run.origin(node, "is a number for each tensor"))


@handles("compilelint.ops.sum_tensors")
def _all_summed(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Tensor(Device.UNKNOWN, "float", 0, origin=run.origin(node, "is the sum of all tensors"))


@handles("torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline")
def _extension(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Instance(None, "torch.utils.cpp_extension.load", origin=run.origin(node, "is compiled from C++"))


@handles("logging.getLogger")
def _logger(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Instance(None, "logging.Logger")


@handles("threading.Lock", "threading.RLock", "threading.Semaphore", "threading.Condition")
def _lock(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Instance(None, name)


@handles("numpy.random.default_rng")
def _rng(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Instance(None, "numpy.random.Generator")


@handles("re.compile")
def _pattern(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Instance(None, "re.Pattern")


@handles("re.match", "re.search", "re.fullmatch")
def _match(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return objects.MATCH


NUMPY_MAKERS = frozenset("arange zeros ones linspace full array asarray empty eye identity tri".split())
NUMPY_TYPES = frozenset("int8 int16 int32 int64 uint8 float16 float32 float64 bool_".split())
NUMPY_TESTS = frozenset("isnan isinf isfinite isclose any all logical_and logical_or logical_not".split())


def _numpy(run: Calls, head: str, last: str, arguments: Arguments, node: ast.AST) -> Value:
    if head == "numpy" and last in ("isscalar", "issubdtype", "iterable"):
        return Scalar("bool")
    if head == "numpy.random":
        if last[:1].isupper():  # SeedSequence, Generator, …
            return Instance(None, f"{head}.{last}", origin=run.origin(node, "is constructed"))
        return run.numpy_array(node) if _is_sized(last, arguments) else Scalar("float")
    if last == "dtype":
        return Instance(None, "torch.dtype")
    array = run.numpy_array(node)
    given = (*arguments.args, *arguments.kwargs.values())
    source = arguments.args[0] if arguments.args else None
    if last in ("array", "asarray") and isinstance(source, Seq) and source.items:
        flags = all(isinstance(item, Const) and type(item.value) is bool for item in source.items)
        return replace(array, dtype="bool" if flags else None)
    if last in NUMPY_MAKERS or not arguments.args:
        return array
    if not all(isinstance(v, (Const, Scalar)) for v in given):
        return replace(array, constant=_may_be_one(arguments.args[0]))
    if any(isinstance(v, Scalar) and v.flow is Flow.DATA for v in given):
        return Scalar("float", Flow.DATA)
    # a number to Python, to Dynamo a 0-d array whose value it mostly knows
    dtype = tensors.DTYPES.get(last.rstrip("_")) if last in NUMPY_TYPES else "bool" if last in NUMPY_TESTS else None
    return replace(array, dtype=dtype, rank=0, constant=True)


def _may_be_one(value: Value) -> bool:
    """Whether what a NumPy function is given may be a single number, or hold but one."""
    if isinstance(value, Seq):
        return value.items is not None and len(value.items) < 2
    return value.constant if isinstance(value, Tensor) else not isinstance(value, Map)


def _is_sized(draw: str, arguments: Arguments) -> bool:
    """Whether a function of numpy.random gives an array: it is told a size, or what it permutes."""
    if draw in ("rand", "randn", "random", "random_sample", "permutation"):
        return bool(arguments.args or arguments.kwargs) or arguments.starred
    sizes = [arguments.get(1 if draw == "choice" else 2, "size")]
    return arguments.starred or any(v is not None and not (isinstance(v, Const) and v.value is None) for v in sizes)


@handles("einops.rearrange", "einops.repeat", "einops.reduce", "einops.einsum", "einops.pack")
def _einops(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    source = arguments.args[0] if arguments.args else None
    tensor = tensor_of(source) if source is not None else None
    if name == "einops.pack":
        return UNKNOWN
    if tensor is None and name != "einops.einsum" and isinstance(source, Seq):
        tensor = tensor_of(source.any_item())
    if tensor is not None:
        return tensors._like(run, tensor, node)
    return UNKNOWN


@handles("torch.utils._pytree.tree_map", "torch.utils._pytree.tree_map_only")
def _tree_map(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """The function is called with each leaf."""
    given = arguments.args[1:] if name.endswith("only") else arguments.args
    if len(given) < 2:
        return UNKNOWN
    leaves = [value for value in walk(given[1]) if not isinstance(value, (Seq, Map, Union))]
    run.call_back(given[0], [join_all(leaves)], node)
    return UNKNOWN


@handles("torch.cond")
def _cond(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Both branches are traced, with the operands."""
    operands = arguments.get(3, "operands")
    values = list(operands.items) if isinstance(operands, Seq) and operands.items is not None else []
    branches = [arguments.get(1, "true_fn"), arguments.get(2, "false_fn")]
    return join_all(run.call_back(branch, values, node) for branch in branches if branch is not None)


@handles("torch.utils.checkpoint.checkpoint", "torch.func.vmap", "torch.vmap")
def _checkpoint(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.args:
        return UNKNOWN
    if name.endswith("vmap"):
        return arguments.args[0]
    function, *rest = arguments.args
    extra = {
        k: v for k, v in arguments.kwargs.items() if k not in ("use_reentrant", "preserve_rng_state", "context_fn")
    }
    return run.call(function, type(arguments)(rest, extra, arguments.starred, None), node)


@handles(
    "torch.jit.is_scripting",
    "torch.jit.is_tracing",
    "torch.compiler.is_exporting",
    "torch.onnx.is_in_onnx_export",
    "torch._C._get_tracing_state",
)
def _tracing(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return NONE if name.startswith("torch._C") else Const(False)


@handles(
    "torch.compiler.is_compiling",
    "torch.cuda.is_available",
    "torch.distributed.is_initialized",
    "torch.distributed.is_available",
)
def _flag(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Scalar("bool")


@handles(
    "torch.compiler.disable", "torch.compiler.allow_in_graph", "torch.jit.script", "torch.jit.ignore", "functools.wraps"
)
def _wrapper(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    target = arguments.args[0] if arguments.args else UNKNOWN
    return UNKNOWN if name in ("torch.jit.script", "functools.wraps", "torch.compiler.disable") else target


def _first(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name.endswith("_grad_norm_"):
        return Tensor(Device.UNKNOWN, "float", 0, origin=run.origin(node, "is the gradients' norm"))
    return arguments.args[0] if arguments.args else UNKNOWN


@handles("torch.nn.utils.get_total_norm")
def _total_norm(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Tensor(Device.UNKNOWN, "float", 0, origin=run.origin(node, "is a norm"))


@handles("torch.autograd.grad")
def _grad(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Seq("tuple", None, Tensor(Device.UNKNOWN, origin=run.origin(node, "is a gradient")))


@handles("torch.nn.utils.rnn.pad_sequence", "torch.nn.utils.pad_sequence")
def _padded(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return _joined(run, "pad_sequence", arguments.args[0] if arguments.args else None, node)


@handles("torch.nn.utils.rnn.pad_packed_sequence", "torch.nn.utils.pad_packed_sequence")
def _unpacked(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Seq(
        "tuple",
        (
            Tensor(origin=run.origin(node, "is a tensor")),
            Tensor(Device.CPU, "int", origin=run.origin(node, "is a tensor")),
        ),
    )


@handles(
    "torch.distributed.get_rank",
    "torch.distributed.get_world_size",
    "torch.cuda.device_count",
    "torch.cuda.current_device",
)
def _count(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    return Scalar("int")
