"""What the engine believes, in words."""

from __future__ import annotations

from compilelint.engine.values import (
    BATCH,
    OUTPUT,
    Class,
    Compiled,
    Const,
    Device,
    External,
    Flow,
    Function,
    Instance,
    Map,
    Method,
    Namespace,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    options,
)

MAX_ITEMS = 4  # of a container that are shown
MAX_DEPTH = 2
_FLOWS = {Flow.STATIC: "known to Dynamo as a constant", Flow.SYMBOLIC: "of a shape", Flow.DATA: "read from a tensor"}
_DEVICES = {Device.CPU: "on the CPU", Device.DEVICE: "on a device", Device.UNKNOWN: "may be on a device"}
_OUTSIDE = {
    BATCH: "a batch of a loader: tensors, or what holds some",
    OUTPUT: "a module's output: a tensor, or what holds some",
}


def words(value: Value, depth: int = 0) -> str:
    """A value in a few words; its history is left out."""
    match value:
        case Unknown():
            return "unknown"
        case Const():
            return f"constant {value.value!r}"
        case Scalar():
            return f"{'a number' if value.type == 'number' else value.type}, {_FLOWS[value.flow]}"
        case Tensor():
            return _tensor(value)
        case External():
            return f"`{value.name}`"
        case Namespace():
            return f"module `{value.name}`"
        case Function():
            return f"function `{value.info.id}`" + ("" if value.bound is None else ", bound")
        case Method():
            return f"method `{value.name}` of {_inner(value.receiver, depth)}"
        case Class():
            return f"class `{value.info.id}`"
        case Instance() if value.external in _OUTSIDE:
            return _OUTSIDE[value.external]
        case Instance():
            return f"an instance of `{value.info.id if value.info is not None else value.external}`"
        case Seq():
            return _container(value.kind, None if value.items is None else list(value.items), value.element, depth)
        case Map():
            items = None if value.items is None else list(value.items.values())
            return _container("dict", items, value.element, depth)
        case Partial():
            return f"{_inner(value.func, depth)} with arguments bound"
        case Compiled():
            return f"compiled: {_inner(value.inner, depth)}"
        case Union():
            return " or ".join(words(option, depth) for option in options(value))
    return "nothing"


def _inner(value: Value, depth: int) -> str:
    return words(value, depth + 1) if depth < MAX_DEPTH else "…"


def _tensor(value: Tensor) -> str:
    if value.kind == "numpy":
        return "a NumPy array"
    parts = [f"a {value.kind} tensor" if value.kind == "sparse" else "a tensor", _DEVICES[value.device]]
    if value.kind in ("parameter", "buffer"):
        parts[0] = f"a {value.kind}"
    parts.append(f"dtype {value.dtype or 'unknown'}")
    if value.rank is not None:
        parts.append(f"rank {value.rank}")
    said = {"pinned": "may be pinned", "dynamic": "of a shape that depends on data", "constant": "made of constants"}
    return ", ".join([*parts, *(text for name, text in said.items() if getattr(value, name))])


def _container(kind: str, items: list[Value] | None, element: Value, depth: int) -> str:
    if items is None:
        return f"{kind}, of each: {_inner(element, depth)}"
    if not items:
        return f"{kind}, empty"
    shown = [_inner(item, depth) for item in items[:MAX_ITEMS]]
    return f"{kind} of {len(items)}: [{'; '.join([*shown, *(['…'] if len(items) > MAX_ITEMS else [])])}]"
