"""From an annotation to the values it admits. Unknown names give Unknown, which never fires."""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from compilelint.engine.values import (
    NONE,
    UNKNOWN,
    Class,
    Device,
    External,
    Flow,
    Instance,
    Map,
    Origin,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    declared,
    join_all,
    options,
)
from compilelint.models.names import is_optimizer
from compilelint.source.module import ClassInfo

if TYPE_CHECKING:
    from compilelint.engine.surroundings import Names

TENSOR_TYPES: dict[str, str | None] = {
    "torch.Tensor": None,
    "torch.nn.Parameter": None,
    "torch.FloatTensor": "float",
    "torch.HalfTensor": "float",
    "torch.DoubleTensor": "float",
    "torch.BFloat16Tensor": "float",
    "torch.LongTensor": "int",
    "torch.IntTensor": "int",
    "torch.ShortTensor": "int",
    "torch.ByteTensor": "int",
    "torch.BoolTensor": "bool",
    "torch.cuda.FloatTensor": "float",
    "torch.cuda.LongTensor": "int",
    "torch.autograd.Variable": None,
    "torch.types.Tensor": None,
}
SCALARS = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "complex": "number",
    "torch.types.Number": "number",
}
SEQUENCES = {
    "list", "typing.List", "typing.Sequence", "collections.abc.Sequence", "typing.Iterable", "collections.abc.Iterable",
    "typing.Iterator", "collections.abc.Iterator", "typing.MutableSequence", "collections.abc.MutableSequence",
    "typing.Generator", "collections.abc.Generator", "typing.Collection", "collections.abc.Collection",
    "set", "typing.Set", "frozenset", "collections.deque", "typing.Deque",
}  # fmt: skip
TUPLES = {"tuple", "typing.Tuple"}
MAPS = {
    "dict", "typing.Dict", "typing.Mapping", "collections.abc.Mapping", "typing.MutableMapping",
    "collections.abc.MutableMapping", "typing.OrderedDict", "collections.OrderedDict", "collections.defaultdict",
    "typing.DefaultDict",
}  # fmt: skip
JAXTYPING = {
    "Float": "float",
    "Int": "int",
    "Bool": "bool",
    "Integer": "int",
    "Shaped": None,
    "Num": None,
    "UInt8": "int",
}


def annotated(
    node: ast.expr | None, scope: Names, path: str, at: ast.AST | None = None, why: str = "is annotated as a tensor"
) -> Value:
    """The value that an annotation stands for, names looked up in `scope`; `at` is what it annotates."""
    if node is None:
        return UNKNOWN
    return declared(_Reader(scope, path, why).read(node, at if at is not None else node))


def as_named(value: Value, name: str) -> Value:
    """The value as the name it goes by has it: the tensor `lengths_cpu` is the host's."""
    if not name.endswith("_cpu"):
        return value
    held = [
        replace(v, device=Device.CPU) if isinstance(v, Tensor) and v.device is Device.UNKNOWN else v
        for v in options(value)
    ]
    return Union(tuple(held), value.declared, origin=value.origin) if isinstance(value, Union) else held[0]


def _parsed(text: str) -> ast.expr | None:
    """The expression that a string holds; None where it holds none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Reader:
    def __init__(self, scope: Names, path: str, why: str) -> None:
        self.scope = scope
        self.path = path
        self.why = why

    def read(self, node: ast.expr, at: ast.AST, depth: int = 0) -> Value:
        if depth > 8:
            return UNKNOWN
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=str(text)):
                written = _parsed(text)
                return self.read(written, at, depth + 1) if written is not None else UNKNOWN
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return join_all((self.read(left, at, depth + 1), self.read(right, at, depth + 1)))
            case ast.Subscript(value=base, slice=index):
                return self.subscript(base, index, at, depth)
            case ast.Name() | ast.Attribute():
                value = self.scope.static(node)
                if isinstance(value, (Class, External, Union)):
                    return self.named(value, at, depth)
                meant = self.scope.alias(node)
                return _Reader(meant[0], self.path, self.why).read(meant[1], at, depth + 1) if meant else UNKNOWN
        return UNKNOWN

    def named(self, value: Value, at: ast.AST, depth: int) -> Value:
        if isinstance(value, Class):
            if self.scope.engine.is_typed_dict(value.info):
                return self.typed_dict(value, at, depth)
            return self.scope.engine.instance(value.info, Origin(self.path, at, "is annotated"))
        if isinstance(value, Union):  # `try: from a import T`, `except ImportError: class T`
            return join_all(self.named(option, at, depth) for option in value.options)
        if not isinstance(value, External):
            return UNKNOWN
        name = value.name
        if name in TENSOR_TYPES:
            kind = "parameter" if name.endswith("Parameter") else ""
            return Tensor(dtype=TENSOR_TYPES[name], kind=kind, origin=Origin(self.path, at, self.why))
        if name in SCALARS:
            return Scalar(SCALARS[name], Flow.STATIC, origin=Origin(self.path, at, "is annotated"))
        if name in SEQUENCES:
            return Seq("list", None)
        if name in TUPLES:
            return Seq("tuple", None)
        if name in MAPS:
            return Map(None)
        if name == "numpy.ndarray":
            return Tensor(Device.CPU, kind="numpy", origin=Origin(self.path, at, "is annotated as a NumPy array"))
        if name == "torch.Size":
            return Seq("size", None, Scalar("int", Flow.SYMBOLIC))
        last = name.rpartition(".")[2]
        if (
            "." in name
            and last[:1].isupper()
            and not name.startswith(("typing.", "collections.abc.", "typing_extensions."))
        ):
            bases = ("torch.optim.Optimizer",) if is_optimizer(name) else ()
            return Instance(None, name, bases, origin=Origin(self.path, at, "is annotated"))
        if name in ("torch.device", "torch.dtype"):
            return Instance(None, name)
        return UNKNOWN

    def typed_dict(self, value: Class, at: ast.AST, depth: int) -> Value:
        """A dict with the keys that a TypedDict and its bases name."""
        items: dict[str, Value] = {}
        for base in self.scope.engine.mro(value.info):
            if isinstance(base, ClassInfo):
                inner = _Reader(self.scope.engine.scope(base.module), self.path, self.why)
                items |= {k: inner.read(v, at, depth + 1) for k, v in base.annotations.items() if k not in items}
        return Map(items)

    def subscript(self, base: ast.expr, index: ast.expr, at: ast.AST, depth: int) -> Value:
        value = self.scope.static(base)
        name = value.name if isinstance(value, External) else ""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        last = name.rpartition(".")[2]
        if name.startswith(("typing.", "typing_extensions.")) and last in ("Optional",):
            return join_all((NONE, self.read(parts[0], at, depth + 1)))
        if name == "typing.Union":
            return join_all(self.read(part, at, depth + 1) for part in parts)
        if last in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
            return self.read(parts[0], at, depth + 1)
        if name.startswith("jaxtyping.") and last in JAXTYPING:
            inner = self.read(parts[0], at, depth + 1)
            if isinstance(inner, Tensor):
                return Tensor(inner.device, JAXTYPING[last], kind=inner.kind, origin=inner.origin)
            return inner
        if name in TUPLES:
            if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
                return Seq("tuple", None, self.read(parts[0], at, depth + 1))
            return Seq("tuple", tuple(self.read(part, at, depth + 1) for part in parts))
        if name in SEQUENCES:
            return Seq("list", None, self.read(parts[0], at, depth + 1))
        if name in MAPS and len(parts) == 2:
            return Map(None, self.read(parts[0], at, depth + 1), self.read(parts[1], at, depth + 1))
        if isinstance(value, Class):
            return self.named(value, at, depth)
        return UNKNOWN
