"""What torch's own stubs, hints and operator schemas say that its functions return (needs torch; never shipped)."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULES = (
    "torch",
    "torch.nn.functional",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.sparse",
    "torch.masked",
    "torch.nested",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.parametrizations",
    "torch.nn.init",
    "torch.random",
    "torch.cuda",
    "torch.cuda.nvtx",
    "torch.cuda.random",
    "torch.cuda.memory",
    "torch.accelerator",
    "torch.cpu",
    "torch.mps",
    "torch.xpu",
    "torch.amp",
    "torch.autograd",
    "torch.autograd.functional",
    "torch.autograd.graph",
    "torch.autograd.forward_ad",
    "torch.func",
    "torch.distributed",
    "torch.distributed.nn.functional",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.utils.dlpack",
    "torch.utils._pytree",
    "torch.jit",
    "torch.compiler",
    "torch.signal.windows",
    "torch.overrides",
    "torch.testing",
    "torch.hub",
    "torch.onnx",
    "torch.profiler",
    "torch.library",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.backends.mps",
    "torch.backends.mkldnn",
    "torch.nn.attention",
    "torch.nn.attention.flex_attention",
    "torch.distributions.kl",
    "torch.serialization",
)

NAMES = {
    "Tensor": "tensor",
    "torch.Tensor": "tensor",
    "Parameter": "tensor",
    "Self": "tensor",
    "_TensorOrTensors": "tensor|tuple:tensor",
    "bool": "bool",
    "_bool": "bool",
    "int": "int",
    "_int": "int",
    "SymInt": "int",
    "float": "float",
    "_float": "float",
    "complex": "complex",
    "_complex": "complex",
    "Number": "number",
    "builtins.int": "int",
    "builtins.bool": "bool",
    "builtins.float": "float",
    "str": "str",
    "None": "none",
    "Size": "size",
    "torch.Size": "size",
    "_size": "size",
    "dtype": "dtype",
    "_dtype": "dtype",
    "torch.dtype": "dtype",
    "device": "device",
    "_device": "device",
    "torch.device": "device",
    "Device": "device",
    "DeviceLikeType": "device",
    "layout": "layout",
    "_layout": "layout",
    "torch.layout": "layout",
    "memory_format": "memory_format",
    "Generator": "generator",
    "torch.Generator": "generator",
    "_C.Generator": "generator",
    "Storage": "storage",
    "UntypedStorage": "storage",
    "torch.UntypedStorage": "storage",
    "list": "list",
    "dict": "dict",
    "tuple": "tuple",
    "set": "set",
    "bytes": "bytes",
    "PackedSequence": "packedsequence",
    "type": "type",
    "Callable": "function",
}

Overload = tuple[str, str]  # parameters, returns


def returns_of(node: ast.expr | None) -> str:
    """An annotation in the table's words, "" where it says nothing that the table has a word for."""
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        if node.value is None:
            return "none"
        return returns_of(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else ""
    if isinstance(node, ast.BinOp):
        return union([returns_of(node.left), returns_of(node.right)])
    if isinstance(node, ast.Subscript):
        base = ast.unparse(node.value).rpartition(".")[2].lower()
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [p for p in parts if not (isinstance(p, ast.Constant) and p.value is ...)]
        kinds = [returns_of(p) for p in parts]
        if base == "optional":
            return union([*kinds, "none"])
        if base == "union":
            return union(kinds)
        if base in ("list", "sequence"):
            return f"list:{kinds[0]}" if kinds and kinds[0] and "|" not in kinds[0] else "list"
        if base == "tuple":
            return (
                f"tuple:{kinds[0]}" if kinds and kinds[0] and "|" not in kinds[0] and len(set(kinds)) == 1 else "tuple"
            )
        if base.strip("_") in ("typeis", "typeguard"):
            return "bool"
        return {"dict": "dict", "type": "type", "callable": "function"}.get(base, "")
    text = ast.unparse(node)
    if "return_types." in text:
        return "tuple:tensor"
    return NAMES.get(text) or NAMES.get(text.rpartition(".")[2], "")


def union(kinds: list[str]) -> str:
    parts = [p for kind in kinds for p in kind.split("|")]
    return "|".join(dict.fromkeys(parts)) if all(parts) else ""


def parameters(node: ast.FunctionDef, method: bool) -> str:
    """`input, dim, keepdim=` from a definition: names, those with a default marked."""
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    first_default = len(plain) - len(args.defaults)
    shown = [a.arg + ("=" if n >= first_default else "") for n, a in enumerate(plain)]
    if method and shown:
        shown = shown[1:]
    if args.vararg:
        shown.append("*" + args.vararg.arg)
    elif args.kwonlyargs:
        shown.append("*")
    shown += [a.arg + ("=" if d is not None else "") for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return ", ".join(shown)


def definitions(body: list[ast.stmt], method: bool) -> Iterator[tuple[str, Overload]]:
    """(name, overload) of the functions and properties in a class or module body."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found = returns_of(node.returns)
            if found:
                is_property = any(ast.unparse(d).endswith("property") for d in node.decorator_list)
                yield node.name, ("property" if is_property else parameters(node, method), found)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found = returns_of(node.annotation)
            if found:
                yield node.target.id, ("property", found)
        elif isinstance(node, ast.If):
            yield from definitions(node.body, method)


def read(relative: str) -> ast.Module:
    import torch

    path = Path(torch.__file__).parent / relative
    return ast.parse(path.read_text()) if path.exists() else ast.Module([], [])


def classes(tree: ast.Module, name: str) -> list[ast.stmt]:
    return next((node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name), [])


def collect() -> tuple[dict[str, list[Overload]], dict[str, list[Overload]]]:
    """Overloads of functions by dotted name, and of Tensor's methods and properties."""
    import torch

    functions: dict[str, list[Overload]] = {}
    methods: dict[str, list[Overload]] = {}

    def add(table: dict[str, list[Overload]], name: str, overload: Overload) -> None:
        overloads = table.setdefault(name, [])
        if overload not in overloads:
            overloads.append(overload)

    core = read("_C/__init__.pyi")
    for body in (classes(core, "TensorBase"), classes(read("_tensor.py"), "Tensor")):
        for name, overload in definitions(body, method=True):
            if hasattr(torch.Tensor, name):
                add(methods, f"Tensor.{name}", overload)
    for source in ("_C/_VariableFunctions.pyi", "_C/__init__.pyi", "functional.py", "__init__.py", "random.py"):
        for name, overload in definitions(read(source).body, method=False):
            if callable(getattr(torch, name, None)) and not name.startswith("__"):
                add(functions, f"torch.{name}", overload)
    for source in ("nn/functional.py", "nn/functional.pyi", "_C/_nn.pyi"):
        for name, overload in definitions(read(source).body, method=False):
            if callable(getattr(torch.nn.functional, name, None)):
                add(functions, f"torch.nn.functional.{name}", overload)
    for name, overload in schemas():
        if name not in functions:
            add(functions, name, overload)
    for module in MODULES:
        for name, overload in hinted(module):
            if name not in functions:
                add(functions, name, overload)
    return functions, methods


def schemas() -> Iterator[tuple[str, Overload]]:
    """What aten says of functions that have no stub: torch.linalg, torch.fft, torch.special."""
    import torch

    words = {
        "Tensor": "tensor",
        "bool": "bool",
        "int": "int",
        "float": "float",
        "number": "number",
        "List[Tensor]": "list:tensor",
    }
    for schema in torch._C._jit_get_all_schemas():
        match = re.fullmatch(r"aten::(linalg|fft|special|sparse)_(\w+)", schema.name)
        if not match or schema.overload_name.endswith("out") or not hasattr(getattr(torch, match[1]), match[2]):
            continue
        kinds = [words.get(str(r.type), "") for r in schema.returns]
        if kinds and all(kinds):
            returns = kinds[0] if len(kinds) == 1 else f"tuple:{kinds[0]}" if len(set(kinds)) == 1 else "tuple"
            shown = ", ".join(a.name + ("=" if a.has_default_value() else "") for a in schema.arguments)
            yield f"torch.{match[1]}.{match[2]}", (shown, returns)


def hinted(module_name: str) -> Iterator[tuple[str, Overload]]:
    """Functions of a module that are written in Python with a return annotation."""
    try:
        module: Any = importlib.import_module(module_name)
    except Exception:
        return
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or not inspect.isfunction(value) or not value.__module__.startswith("torch"):
            continue
        try:
            node = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(value)))).body[0]
        except (OSError, TypeError, SyntaxError):
            continue
        if isinstance(node, ast.FunctionDef) and (found := returns_of(node.returns)):
            yield f"{module_name}.{name}", (parameters(node, method=False), found)


def fields() -> dict[str, list[str]]:
    """Field names of the named tuples that operators return (torch.return_types)."""
    import torch

    result = {}
    for name, value in vars(torch.return_types).items():
        match_args = getattr(value, "__match_args__", None)
        if match_args:
            result[name] = list(match_args)
    return result
