"""The custom operators that a module defines, and whether each has a fake implementation.

Source: https://docs.pytorch.org/docs/stable/library.html: `custom_op`, `define`, `register_fake`
(once `impl_abstract`).
"""

from __future__ import annotations

import ast

from compilelint.source.module import Module
from compilelint.source.walk import walk

REGISTERS_FAKE = frozenset(("register_fake", "impl_abstract", "register_meta"))
# methods of an operator, and functions of torch.library, that take what is run for it
REGISTERS = REGISTERS_FAKE | {"register_kernel", "register_autograd", "register_vmap", "register_torch_dispatch"}
COMPOSITE = frozenset(("Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd"))


def operators(module: Module) -> dict[str, bool]:
    """Qualified name (`ns::name`) → whether Dynamo can run it on fake tensors. Empty for a module that defines none."""
    if "torch.library" not in module.text and "from torch import library" not in module.text:
        return {}
    found: dict[str, bool] = {}
    names: dict[str, str] = {}  # the Python name of a custom_op function → its qualified name
    faked: set[str] = set()
    for node in walk(module.tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and _last(decorator.func) in ("custom_op", "triton_op"):
                    if (name := _text(decorator)) is not None:
                        found.setdefault(name, _last(decorator.func) == "triton_op" or _only_writes(node, decorator))
                        names[node.name] = name
                elif isinstance(decorator, ast.Attribute) and decorator.attr in REGISTERS_FAKE:
                    faked.add(_last(decorator.value))
        if isinstance(node, ast.Call):
            last = _last(node.func)
            name = _text(node)
            if last == "define" and name is not None and "::" in name.partition("(")[0]:
                found.setdefault(name.partition("(")[0].strip(), False)
            elif last in REGISTERS_FAKE:
                faked.add(name if name is not None else _last(getattr(node.func, "value", node.func)))
            elif last == "impl" and name is not None and any(_is_composite(arg) for arg in node.args[1:]):
                faked.add(name)
    for python, name in names.items():
        if python in faked:
            found[name] = True
    return {name: known or name in faked for name, known in found.items()}


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _text(call: ast.Call) -> str | None:
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _is_composite(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in COMPOSITE


def _only_writes(function: ast.FunctionDef, decorator: ast.Call) -> bool:
    """Whether an operator writes to arguments and returns nothing: torch makes its fake implementation
    (`can_generate_trivial_fake_impl` in torch/_library/utils.py)."""
    written = next((k.value for k in decorator.keywords if k.arg == "mutates_args"), None)
    returns = function.returns
    return (
        isinstance(returns, ast.Constant) and returns.value is None and written is not None and not _is_empty(written)
    )


def _is_empty(node: ast.expr) -> bool:
    match node:
        case ast.Tuple(elts=[]) | ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Constant(value=""):
            return True
        case ast.Call(func=ast.Name(id="set" | "tuple" | "list"), args=[]):
            return True
    return False
