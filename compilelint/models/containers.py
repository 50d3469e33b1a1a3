"""Methods of Python's lists, dicts, strings and numbers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.values import (
    NONE,
    UNKNOWN,
    Const,
    Flow,
    Map,
    Scalar,
    Seq,
    Value,
    join,
    join_all,
    tensor_of,
)

if TYPE_CHECKING:
    from compilelint.engine.calls import Arguments, Calls

MAX_ITEMS = 16
STRINGS = frozenset("split rsplit splitlines partition rpartition".split())


def owner(value: Value) -> str:
    match value:
        case Seq(kind=kind):
            return kind
        case Map():
            return "dict"
        case Const(value=str()) | Scalar(type="str"):
            return "str"
        case Scalar(type=kind):
            return kind
        case Const(value=v):
            return type(v).__name__
    return "object"


def method(run: Calls, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    match receiver:
        case Seq():
            return _sequence(run, receiver, name, arguments, node)
        case Map():
            return _mapping(run, receiver, name, arguments)
        case Const(value=str()) | Scalar(type="str"):
            if name == "format":
                for value in (*arguments.args, *arguments.kwargs.values()):
                    run.convert(node, value, "format")
                return Scalar("str")
            if name in STRINGS:
                return Seq("list", None, Scalar("str"))
            if name.startswith(("is", "starts", "ends")):
                return Scalar("bool")
            return Scalar("int") if name in ("find", "index", "count", "rfind") else Scalar("str")
        case Scalar():
            return Scalar(receiver.type, receiver.flow) if name in ("bit_length", "conjugate") else UNKNOWN
    return UNKNOWN


def _sequence(run: Calls, seq: Seq, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name in (
        "append",
        "extend",
        "insert",
        "remove",
        "clear",
        "sort",
        "reverse",
        "add",
        "update",
        "discard",
        "appendleft",
    ):
        if name == "remove" and arguments.args:
            _searched(run, seq, arguments.args[0], node)
        if name == "sort":
            ordered(run, seq.any_item(), arguments.kwargs.get("key"), node)
        return NONE
    if name in ("pop", "popleft", "popitem", "__getitem__"):
        return seq.any_item()
    if name in ("index", "count"):
        if name == "index" and arguments.args:
            _searched(run, seq, arguments.args[0], node)
        return Scalar("int")
    if name == "numel":
        return Scalar("int", Flow.SYMBOLIC)
    if name == "copy":
        return seq
    if name == "_replace":
        return seq
    return UNKNOWN


def _searched(run: Calls, seq: Seq, value: Value, node: ast.AST) -> None:
    """A tensor is compared with one number after the other."""
    if tensor_of(value) is not None and seq.items and all(isinstance(item, Const) for item in seq.items):
        run.tested(value, node, "if", node)


def ordered(run: Calls, element: Value, key: Value | None, node: ast.AST) -> None:
    """Python puts such elements into an order, by a key where one is given: tell of tensors that it compares."""
    by = element if key is None else run.call_back(key, [element], node)
    first = by.items[0] if isinstance(by, Seq) and by.items else by
    if tensor_of(first) is not None:
        run.convert(node, first, "order")


def _mapping(run: Calls, mapping: Map, name: str, arguments: Arguments) -> Value:
    match name:
        case "items":
            if mapping.items is not None and len(mapping.items) <= MAX_ITEMS:
                return Seq("list", tuple(Seq("tuple", (Const(k), v)) for k, v in mapping.items.items()))
            return Seq("list", None, Seq("tuple", (mapping.key, mapping.any_item())))
        case "values":
            if mapping.items is not None and len(mapping.items) <= MAX_ITEMS:
                return Seq("list", tuple(mapping.items.values()))
            return Seq("list", None, mapping.any_item())
        case "keys":
            return Seq("list", None, mapping.key)
        case "get" | "pop" | "setdefault":
            key = arguments.args[0] if arguments.args else UNKNOWN
            default = arguments.args[1] if len(arguments.args) > 1 else (NONE if name == "get" else UNKNOWN)
            if mapping.items is not None and isinstance(key, Const):
                found = mapping.items.get(key.value)
                return found if found is not None else default
            known = mapping.any_item()
            return join(known, default) if name == "get" else known
        case "copy":
            return mapping
        case "update" | "clear":
            return NONE
    return UNKNOWN


def mutated(receiver: Seq | Map, name: str, arguments: Arguments) -> Value | None:
    """The container after a method changed it; None for one that changes nothing."""
    if isinstance(receiver, Seq):
        if name in ("append", "add", "appendleft") and arguments.args:
            return _with(receiver, arguments.args[0])
        if name in ("extend", "update") and arguments.args:
            other = arguments.args[0]
            if isinstance(other, Seq):
                if (
                    receiver.items is not None
                    and other.items is not None
                    and len(receiver.items) + len(other.items) <= MAX_ITEMS
                ):
                    return Seq(receiver.kind, receiver.items + other.items)
                element = other.any_item()
                return Seq(receiver.kind, None, element if receiver.items == () else join(receiver.any_item(), element))
            return Seq(receiver.kind, None, UNKNOWN)
        if name == "insert" and len(arguments.args) == 2:
            return Seq(receiver.kind, None, _with(receiver, arguments.args[1]).any_item())
        if name in ("pop", "remove", "clear", "sort", "reverse", "popleft", "discard"):
            return Seq(receiver.kind, None, receiver.any_item()) if receiver.items != () else receiver
        return None
    if name == "update":
        other = arguments.args[0] if arguments.args else Map(dict(arguments.kwargs))
        if isinstance(other, Map):
            if receiver.items is not None and other.items is not None:
                return Map({**receiver.items, **other.items})
            return Map(None, join(receiver.key, other.key), join_all([receiver.any_item(), other.any_item()]))
        return Map(None)
    if name == "pop" and receiver.items is not None and arguments.args and isinstance(arguments.args[0], Const):
        return Map({k: v for k, v in receiver.items.items() if k != arguments.args[0].value})
    if (
        name == "setdefault"
        and receiver.items is not None
        and len(arguments.args) == 2
        and isinstance(arguments.args[0], Const)
    ):
        return Map({arguments.args[0].value: arguments.args[1], **receiver.items})
    return None


def _with(receiver: Seq, value: Value) -> Seq:
    if receiver.items is not None and len(receiver.items) < MAX_ITEMS:
        return Seq(receiver.kind, (*receiver.items, value))
    return Seq(receiver.kind, None, join(receiver.any_item(), value))
