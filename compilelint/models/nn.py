"""torch.nn modules: what calling one gives, and the containers that hold others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import (
    OUTPUT,
    UNKNOWN,
    Const,
    Instance,
    Map,
    Seq,
    Tensor,
    Value,
    join,
    join_all,
    tensor_of,
)
from compilelint.models.operators import device_of

if TYPE_CHECKING:
    from compilelint.engine.calls import Arguments, Calls

CONTAINERS = frozenset(
    (
        "torch.nn.ModuleList",
        "torch.nn.ModuleDict",
        "torch.nn.Sequential",
        "torch.nn.ParameterList",
        "torch.nn.ParameterDict",
    )
)
RECURRENT = frozenset(("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"))
PAIRS = frozenset(("torch.nn.MultiheadAttention", "torch.nn.LSTMCell", *RECURRENT))
ANY = "torch.nn.*"  # a class of torch.nn chosen by a name that isn't known: `getattr(nn, kind)`
_NOT_MODULES = frozenset("Parameter Buffer UninitializedParameter UninitializedBuffer".split())
_SAME_DTYPE = frozenset("Identity Flatten Unflatten Dropout Dropout2d".split())


def is_module(name: str) -> bool:
    """Whether a canonical name is a class of torch.nn modules."""
    head, _, last = name.rpartition(".")
    return head == "torch.nn" and last[:1].isupper() and last not in _NOT_MODULES


def recurrent(value: Value) -> str | None:
    """The recurrent class of torch that a module is of, or is derived from."""
    names = (value.external, *value.bases) if isinstance(value, Instance) else ()
    return next((name for name in names if name in RECURRENT), None)


def chosen(run: Calls, arguments: Arguments, node: ast.AST) -> Value:
    """A module of a class chosen by name: the recurrent ones alone can be `bidirectional`."""
    if "bidirectional" in arguments.kwargs:
        return Instance(None, "torch.nn.RNN", ("torch.nn.Module",), origin=run.origin(node, "is a recurrent module"))
    run._callbacks(arguments, node)
    return UNKNOWN


def call(run: Calls, name: str, instance: Instance, arguments: Arguments, node: ast.AST) -> Value:
    """`module(x)` for a torch.nn module."""
    if name == "torch.nn.Sequential":
        return _sequential(run, instance, arguments, node)
    if name == "torch.nn.Module":
        return Instance(None, OUTPUT, origin=run.origin(node, "is a module's output"))
    if not is_module(name) or name in CONTAINERS:
        return UNKNOWN
    first = arguments.args[0] if arguments.args else arguments.kwargs.get("input", UNKNOWN)
    device = device_of(*arguments.args)
    source = tensor_of(first)
    last = name.rpartition(".")[2]
    dtype = source.dtype if source is not None and last in _SAME_DTYPE else "float"
    rank = (
        source.rank
        if source is not None and last in ("Linear", "ReLU", "GELU", "LayerNorm", "Dropout", "Identity", "Sigmoid")
        else None
    )
    if last.endswith("Loss"):
        rank = 0
    result = Tensor(device, dtype, rank, origin=run.origin(node, "is a module's output", first))
    if name in PAIRS:
        return Seq("tuple", (result, result))
    return result


def _sequential(run: Calls, instance: Instance, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if arguments.args else UNKNOWN
    items = instance.attrs.get("*items")
    if isinstance(items, Seq) and items.items is not None:
        for module in items.items:
            value = run.call(module, type(arguments)([value], {}, False, None), node)
        return value
    module = element(instance)
    if isinstance(module, Instance):
        return run.call(module, type(arguments)([value], {}, False, None), node)
    return Tensor(device_of(value), origin=run.origin(node, "is a module's output", value))


def container(run: Calls, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A ModuleList, ModuleDict, Sequential, … with what it holds."""
    source = arguments.args[0] if arguments.args else None
    items: Value = Seq("list", ())
    if name == "torch.nn.Sequential":
        if arguments.starred:
            items = Seq("list", None, UNKNOWN)
        elif isinstance(source, Map):
            items = (
                Seq("list", tuple(source.items.values()))
                if source.items is not None
                else Seq("list", None, source.element)
            )
        else:
            items = Seq("list", tuple(arguments.args))
    elif isinstance(source, Seq):
        items = Seq("list", source.items, source.element)
    elif isinstance(source, Map) and source.items != {}:
        items = Map(source.items, source.key, source.element)
    elif source is not None and not isinstance(source, Map):
        items = Seq("list", None, run.element_of(source, node))
    return Instance(
        None, name, ("torch.nn.Module",), {"*items": items}, origin=run.origin(node, "is a module container")
    )


def grown(instance: Instance, added: Value) -> Instance:
    """The container with one more module in it."""
    items = instance.attrs.get("*items")
    before = added if isinstance(items, Seq) and items.items == () else element(instance)
    attrs = {**instance.attrs, "*items": Seq("list", None, join(before, added))}
    return Instance(instance.info, instance.external, instance.bases, attrs, origin=instance.origin)


def element(instance: Instance) -> Value:
    items = instance.attrs.get("*items", UNKNOWN)
    if instance.external in ("torch.nn.ParameterList", "torch.nn.ParameterDict"):
        return Tensor(kind="parameter", origin=instance.origin)
    if isinstance(items, Seq):
        return items.any_item() if items.items != () else UNKNOWN
    return items.any_item() if isinstance(items, Map) else UNKNOWN


def item(instance: Instance, index: Value) -> Value:
    if instance.external == "torch.nn.ParameterDict":
        return element(instance)
    items = instance.attrs.get("*items", UNKNOWN)
    position = index.value if isinstance(index, Const) else None
    if isinstance(items, Seq) and items.items is not None and type(position) is int:
        return items.items[position] if -len(items.items) <= position < len(items.items) else element(instance)
    if isinstance(items, Map) and items.items is not None and isinstance(index, Const):
        return items.items.get(index.value, join_all(items.items.values()) if items.items else UNKNOWN)
    return element(instance)
