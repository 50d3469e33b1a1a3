"""Every construct that is compiled alone, by name, and the same as a file of its own, for the static check.

A construct is a public function of one of `MODULES`, or a public `nn.Module`. Its parameters name the tensors it wants
(`probes.calls.operands`). `NAME_ok`, or what `TWINS` names, is the near twin of `NAME` that Dynamo traces.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from probes import calls

MODULES = ("constructs", "branches", "reads", "shapes", "effects", "control", "grads", "objects")
HERE = Path(__file__).parent
# near twins that have a name of their own
TWINS = {
    "tolist_loop": "tensor_loop_ok",
    "tolist_sum": "tensor_sum_ok",
    "alpha_from_tensor": "alpha_number_ok",
    "new_full_from_tensor": "new_full_number_ok",
    "dim_from_tensor": "dim_from_shape_ok",
    "logger_warning": "logger_if_not_compiling_ok",
    "logger_debug": "logger_in_dead_branch_ok",
    "torch_manual_seed": "torch_rand_ok",
    "torch_generator_global": "torch_generator_none_ok",
    "module_own_generator": "module_noise_ok",
    "warn_message": "warn_in_if_ok",
    "lock_with": "lock_absent_ok",
    "torch_device_manager": "torch_device_keyword_ok",
    "manager_redirect_stdout": "manager_null_ok",
    "grad_function": "grad_by_func_ok",
    "requires_grad_keyword": "requires_grad_keyword_false_ok",
    "copy_deep_tensor": "copy_clone_ok",
    "copy_deep_dataclass": "copy_shallow_dataclass_ok",
    "module_made_linear": "module_made_functional_ok",
    "module_register_buffer_in_forward": "module_buffer_write_ok",
    "hook_module_forward": "module_hook_registered_before_ok",
    "storage_data_ptr": "storage_element_size_ok",
    "storage_untyped": "storage_nbytes_attribute_ok",
    "sorted_by_key": "sorted_by_python_ok",
    "sorted_tensor": "sorted_torch_ok",
    "numpy_polyfit": "numpy_where_three_ok",
    "numpy_interp": "numpy_astype_ok",
    "class_defined_inside": "class_instance_ok",
    "dataclass_defined_inside": "dataclass_made_ok",
    "sparse_from_dense": "sparse_layout_ok",
    "sparse_coo_new": "sparse_layout_ok",
    "recurrent_gru": "recurrent_cell_ok",
    "recurrent_lstm": "recurrent_lstm_cell_ok",
    "shape_as_tensor": "shape_as_tensor_ok",
}


@dataclass(frozen=True)
class Standalone:
    """A probe's source without the other probes. Lines count from 1; `first` to `last` are the probe's own."""

    text: str
    first: int
    last: int


class _Source:
    """A file's lines, its top-level statements, and which of them bind a name."""

    def __init__(self, text: str, head: _Source | None = None) -> None:
        """`head` stands before `text`."""
        lines = text.splitlines()
        self.lines = [*head.lines, *lines] if head else lines
        added = [ast.increment_lineno(node, len(self.lines) - len(lines)) for node in ast.parse(text).body]
        self.body = [*head.body, *added] if head else added
        self.binds = {name: list(found) for name, found in head.binds.items()} if head else {}
        for statement in added:
            for name in _bound(statement):
                self.binds.setdefault(name, []).append(statement)


@cache
def _source(module: str) -> _Source:
    return _Source((HERE / f"{module}.py").read_text(encoding="utf-8"))


@cache
def _helpers() -> _Source:
    return _Source(calls.HELPERS.strip())


@cache
def _definitions(module: str) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """The constructs of a module."""
    return {
        node.name: node
        for node in _source(module).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0].islower()
    }


@cache
def _modules() -> dict[str, str]:
    """The module of each construct, in the files' order."""
    found: dict[str, str] = {}
    for module in MODULES:
        for name in _definitions(module):
            if name in found:
                raise ValueError(f"two constructs are called {name}: in {found[name]} and {module}")
            found[name] = module
    return found


def names() -> list[str]:
    """Every construct."""
    return list(_modules())


def build(name: str) -> tuple[Callable[..., Any], Callable[[], list[Any]]]:
    """The construct's function (a module for a class) and a maker of its arguments."""
    thing = getattr(importlib.import_module(f"probes.{_modules()[name]}"), name)
    function: Any = thing() if isinstance(thing, type) else thing
    signature = inspect.signature(function.forward if isinstance(thing, type) else function)
    parameters = [p.name for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]

    def make() -> list[Any]:
        fresh = calls.operands()
        return [fresh[p] for p in parameters]

    return function, make


def place(name: str) -> tuple[str, int, int]:
    """The file of a construct, its first and its last line."""
    module = _modules()[name]
    node = _definitions(module)[name]
    return str(HERE / f"{module}.py"), node.lineno, node.end_lineno or node.lineno


def standalone(name: str) -> Standalone:
    """A construct with what it needs of its module: compiled, its parameters annotated, and a call of it."""
    module = _modules()[name]
    return _cut(_source(module), _definitions(module)[name])


def standalone_call(index: int) -> Standalone:
    """A line of calls.py as a function in a file of its own."""
    _, setup, _ = calls.entries()[index]
    source = _Source(f"{setup}\n{calls.text(index)}", _helpers())
    node = source.body[-1]
    assert isinstance(node, ast.FunctionDef)
    return _cut(source, node)


def _parameters(node: ast.FunctionDef | ast.ClassDef) -> list[ast.arg]:
    """The tensors that a probe takes."""
    function: ast.stmt = node
    if isinstance(node, ast.ClassDef):
        function = next(n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "forward")
    assert isinstance(function, ast.FunctionDef)
    return [argument for argument in function.args.args if argument.arg != "self"]


def _cut(source: _Source, node: ast.FunctionDef | ast.ClassDef) -> Standalone:
    """The top-level statements that `node` needs, `node` with annotations, and a caller."""
    lines = source.lines
    own = lines[node.lineno - 1 : node.end_lineno]
    parameters = _parameters(node)
    for argument in reversed(parameters):
        at, column = argument.lineno - node.lineno, argument.end_col_offset
        own[at] = f"{own[at][:column]}: torch.Tensor{own[at][column:]}"
    before = [line for n in _needed(source, node) for line in lines[_first(n) - 1 : n.end_lineno]]
    if "import torch" not in before:
        before.append("import torch")
    arguments = ", ".join(calls.OPERANDS[argument.arg] for argument in parameters)
    called = node.name
    if isinstance(node, ast.FunctionDef):
        before += ["", "", "@torch.compile"]
    else:
        before += ["", ""]
        called = f"torch.compile({node.name}())"
    after = ["", "", "def main():", f"    return {called}({arguments})"]
    return Standalone("\n".join([*before, *own, *after]) + "\n", len(before) + 1, len(before) + len(own))


def _first(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _needed(source: _Source, node: ast.stmt) -> list[ast.stmt]:
    """The statements that bind what `node` names, what those name, and so on."""
    needed: set[int] = set()
    todo: list[ast.AST] = [node]
    while todo:
        for name in _loaded(todo.pop()):
            for statement in source.binds.get(name, ()):
                if id(statement) not in needed and statement.lineno != node.lineno:
                    needed.add(id(statement))
                    todo.append(statement)
    future = [s for s in source.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    return future + [s for s in source.body if id(s) in needed and s not in future]


def _loaded(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement binds, or whose object it changes."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        registers = {n for d in statement.decorator_list for n in _loaded(d)} if statement.name == "_" else set()
        return {statement.name} | registers
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.Expr):  # LOG.addHandler(...)
        return _loaded(statement) - {"torch", "logging", "nn"}
    targets = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    attributes = statement.targets if isinstance(statement, ast.Assign) else []
    changed = {n.id for t in attributes if isinstance(t, ast.Attribute) for n in ast.walk(t) if isinstance(n, ast.Name)}
    return {n.id for n in targets} | changed
