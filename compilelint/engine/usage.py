"""What an unannotated parameter must be, judged by its uses: only those that nothing but a tensor admits."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from compilelint.engine.values import External
from compilelint.source.walk import children, walk

# methods and attributes that tensors have and that arrays, modules, lists, numbers and strings have not
TENSOR_ONLY = frozenset(
    """abs_ add_ addcdiv_ addcmul_ addmm bmm clamp clamp_ clamp_min contiguous masked_fill masked_fill_
    masked_scatter masked_select unsqueeze unsqueeze_ permute expand expand_as view_as index_select
    index_add_ index_copy_ index_fill_ scatter_ scatter_add scatter_add_ scatter_reduce gather new_zeros
    new_ones new_full new_tensor new_empty logsumexp softmax log_softmax sigmoid tanh relu matmul detach
    detach_ backward is_cuda repeat_interleave type_as unbind chunk narrow cumprod div_ mul_ sub_ lerp lerp_
    bernoulli_ normal_ uniform_ zero_ fill_ copy_ topk element_size is_floating_point is_contiguous
    nonzero_static index_put_ index_put grad_fn is_leaf requires_grad new log_ exp_ sqrt_ rsqrt reciprocal
    true_divide pin_memory register_hook retain_grad data_ptr storage untyped_storage adjoint mT logical_and
    logical_or logical_not bool long addbmm baddbmm amax amin erf erfinv isnan isinf isfinite movedim unfold
    tensor_split""".split()
)
# calls that show a value to be a tensor even where it may be a namespace (`ops.relu(x)` would not)
PROOF = frozenset(
    """backward detach unsqueeze masked_fill contiguous view_as type_as expand_as new_zeros new_ones new_tensor new_full
    new_empty index_select bool long element_size is_floating_point""".split()
) | frozenset(name for name in TENSOR_ONLY if name.endswith("_"))
# … of what an unknown function made of a tensor: no array has these methods
OF_TENSORS = TENSOR_ONLY - frozenset("storage new unfold".split()) | frozenset(
    ("abs", "exp", "sqrt", "square", "pow", "neg")
)
# methods that take `dim`, which arrays and data frames call `axis`
REDUCED = frozenset(
    """sum mean max min amax amin any all std var prod norm argmax argmin median cumsum softmax sort argsort""".split()
)
# attributes that only together show a tensor: modules may have a device, arrays have a shape
ARRAYS = frozenset(("numpy", "array", "asarray"))  # what `made_arrays` looks for
TOGETHER = frozenset(("shape", "device"))
# … as calls of what is a tensor or, if not, an array: Dynamo reads both alike
READS = frozenset("item tolist nonzero".split())
# … as calls only: arrays have an attribute of that name, or numbers a method
CALLED_ON_TENSORS = frozenset("size dim numel t".split())
# torch functions whose first argument may be something else than a tensor
NOT_TENSOR_FIRST = frozenset(
    """tensor as_tensor from_numpy zeros ones empty full arange linspace logspace eye rand randn randint
    randperm cat stack concat concatenate hstack vstack dstack column_stack block_diag meshgrid
    cartesian_prod broadcast_tensors einsum compile manual_seed is_tensor save load device finfo iinfo
    no_grad set_grad_enabled Size Generator where normal pad_sequence device_count get_default_dtype
    set_default_dtype tensordot broadcast_shapes result_type can_cast promote_types is_storage autocast
    enable_grad inference_mode typename numel to_dlpack from_dlpack sparse_coo_tensor complex polar
    scalar_tensor hann_window hamming_window blackman_window kaiser_window bartlett_window tril_indices
    triu_indices empty_strided asarray range set_num_threads set_printoptions cond vmap jit chain_matmul
    is_grad_enabled is_autocast_enabled get_autocast_dtype export interpolate_shape empty_like_shape
    multi_head_attention_forward""".split()
)


def shows_tensor(call: ast.Call, method: ast.Attribute) -> bool:
    """Whether a method call shows its receiver to be a tensor: by its name, or by `dim=` (a text is xarray's)."""
    return method.attr in PROOF or (method.attr in REDUCED and any(map(_is_dim, call.keywords)))


def takes_tensor(function: str) -> bool:
    """Whether nothing but a tensor can be the first argument of a function, named by its dotted name."""
    owner, _, name = function.rpartition(".")
    return (
        owner in ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")
        and name not in NOT_TENSOR_FIRST
        and name[:1].islower()
        and not name.startswith(("is_", "set_", "get_", "_"))
    )


def _is_dim(keyword: ast.keyword) -> bool:
    value = keyword.value.operand if isinstance(keyword.value, ast.UnaryOp) else keyword.value
    return keyword.arg == "dim" and isinstance(value, ast.Constant) and type(value.value) is int


@dataclass(slots=True)
class Uses:
    """Per parameter name: the first node that shows it to be a tensor."""

    tensors: dict[str, ast.AST] = field(default_factory=dict)


class _Scan:
    def __init__(self, names: set[str], resolve: object) -> None:
        self.names = names
        self.resolve = resolve
        self.uses = Uses()
        self.tested: set[str] = set()  # names under an isinstance test: they may be other things too
        self.rebound: set[str] = set()
        self.read: dict[str, frozenset[str]] = {}  # which of the attributes in TOGETHER, by name

    def visit(self, node: ast.AST) -> None:
        handler = _VISITS.get(node.__class__)
        if handler is None:
            self.inside(node)
        else:
            handler(self, node)

    def inside(self, node: ast.AST) -> None:
        for child in children(node):
            self.visit(child)

    def _constant(self, node: ast.Constant) -> None: ...

    def _attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in self.names:
            name = node.value.id
            if node.attr in TOGETHER and name not in self.rebound:
                self.read[name] = self.read.get(name, frozenset()) | {node.attr}
            if node.attr in TENSOR_ONLY or self.read.get(name, frozenset()) >= TOGETHER:
                self._note(name, node)
        self.inside(node)

    def _call(self, node: ast.Call) -> None:
        func = node.func
        if (
            isinstance(func, ast.Attribute)
            and isinstance(func.value, ast.Name)
            and func.value.id in self.names
            and (func.attr in CALLED_ON_TENSORS or shows_tensor(node, func))
        ):
            self._note(func.value.id, func)
        if isinstance(func, ast.Name) and func.id in ("isinstance", "hasattr", "callable") and node.args:
            if isinstance(node.args[0], ast.Name):
                self.tested.add(node.args[0].id)
        elif node.args and isinstance(node.args[0], ast.Name) and node.args[0].id in self.names:
            target = self.resolve(func)  # type: ignore[operator]
            if isinstance(target, External) and takes_tensor(target.name):
                self._note(node.args[0].id, node)
        self.inside(node)

    def _assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def _for(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        for statement in node.body + node.orelse:
            self.visit(statement)

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.rebound.add(node.id)

    def _function(self, node: ast.FunctionDef) -> None:
        inner = {a.arg for a in node.args.args + node.args.kwonlyargs + node.args.posonlyargs}
        hidden = self.names & inner
        self.names -= hidden
        self.inside(node)
        self.names |= hidden

    def _lambda(self, node: ast.Lambda) -> None:
        inner = {a.arg for a in node.args.args}
        hidden = self.names & inner
        self.names -= hidden
        self.inside(node)
        self.names |= hidden

    def _note(self, name: str, node: ast.AST) -> None:
        # once rebound, the name may stand for something else than the parameter
        if name not in self.uses.tensors and name not in self.rebound:
            self.uses.tensors[name] = node


_VISITS: dict[type[ast.AST], Callable[[_Scan, Any], None]] = {
    ast.Constant: _Scan._constant,
    ast.Attribute: _Scan._attribute,
    ast.Call: _Scan._call,
    ast.Assign: _Scan._assign,
    ast.For: _Scan._for,
    ast.Name: _Scan._name,
    ast.FunctionDef: _Scan._function,
    ast.Lambda: _Scan._lambda,
}


def scan(node: ast.AST, names: set[str], resolve: object) -> Uses:
    """Which of the parameters `names` of a function are tensors by use. `resolve(expr) -> Value` names a callee."""
    scanner = _Scan(set(names), resolve)
    body = node.body if isinstance(node.body, list) else [node.body]  # type: ignore[attr-defined]
    for child in body:
        scanner.visit(child)
    for name in scanner.tested:
        scanner.uses.tensors.pop(name, None)
    return scanner.uses


def made_arrays(node: ast.AST, resolve: object) -> set[str]:
    """The names of what a function makes arrays of on every way: `x.numpy()` and `np.asarray(x)` fail on a device."""
    body = getattr(node, "body", [])
    return _made_arrays(body, resolve, set()) if isinstance(body, list) else set()


def _made_arrays(body: list[ast.stmt], resolve: object, rebound: set[str]) -> set[str]:
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.With):
            found |= _made_arrays(statement.body, resolve, rebound)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)):
            nodes = list(walk(statement))
            if not any(isinstance(n, (ast.IfExp, ast.BoolOp, ast.Lambda)) for n in nodes):
                found |= {name for n in nodes if (name := _array_of(n, resolve)) is not None} - rebound
        if isinstance(statement, (ast.Return, ast.Raise)):
            break
        rebound |= {n.id for n in walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if any(isinstance(n, (ast.Return, ast.Raise)) for n in walk(statement)):
            break  # what stands below may not be for all that is passed
    return found


def _array_of(node: ast.AST, resolve: object) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="numpy"), args=[], keywords=[]):
            return name
        case ast.Call(func=func, args=[ast.Name(id=name), *_]):
            target = resolve(func)  # type: ignore[operator]
            if isinstance(target, External) and target.name in ("numpy.asarray", "numpy.array"):
                return name
    return None
