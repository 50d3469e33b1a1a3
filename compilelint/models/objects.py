"""Objects of outside classes: optimizers, loaders, generators, distributions, loggers and the base nn.Module."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from compilelint.engine.values import (
    BATCH,
    DRAWN,
    NONE,
    OUTPUT,
    UNKNOWN,
    Const,
    Device,
    Flow,
    Function,
    Instance,
    Map,
    Method,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    tensor_of,
)
from compilelint.models import nn, tensors

if TYPE_CHECKING:
    from compilelint.engine.calls import Arguments, Calls

FORWARD_HOOKS = frozenset("register_forward_hook register_forward_pre_hook".split())
BACKWARD_HOOKS = frozenset("register_full_backward_hook register_full_backward_pre_hook register_backward_hook".split())
MODULE_HOOKS = FORWARD_HOOKS | BACKWARD_HOOKS
TENSOR_HOOKS = frozenset("register_hook register_post_accumulate_grad_hook".split())
MODULE_SELF = frozenset(
    "to cuda cpu half float double bfloat16 train eval requires_grad_ apply type to_empty share_memory xpu".split()
)


MATCH = Union((NONE, Instance(None, "re.Match")), declared=True)  # of a regular expression
DRAWS = {"random": "float", "uniform": "float", "randint": "int", "randrange": "int"}  # that Dynamo makes inputs


def owner(instance: Instance) -> str:
    """The class name that a method's call target starts with."""
    if instance.isa("torch.nn.Module") or nn.is_module(instance.external):
        return "Module"
    if instance.isa("torch.optim.Optimizer"):
        return "torch.optim.Optimizer"
    if instance.external == BATCH:
        return "Tensor"
    if instance.external.startswith("torch.distributions."):
        return "torch.distributions.Distribution"
    if instance.external.startswith("torch.optim.lr_scheduler."):
        return "torch.optim.lr_scheduler.LRScheduler"
    if instance.external == "<loader>":
        return "torch.utils.data.DataLoader"
    if instance.info is not None:
        for base in instance.bases:
            if base.startswith("torch.distributions."):
                return "torch.distributions.Distribution"
        return instance.bases[0] if instance.bases else instance.info.name
    return instance.external


def attribute(run: Calls, instance: Instance, name: str, node: ast.AST) -> Value:
    known = instance.attrs.get(name)
    if known is not None:
        return known
    if instance.external == BATCH:
        if name in ("shape", "dtype", "device", "ndim"):
            return tensors.attribute(run, batch_tensor(instance), name, node)
        is_method = name in NOT_TELLING or run.engine.tables.method_returns(name) is not None
        return Method(name, instance) if is_method else instance  # what it holds is where it is
    if instance.external == OUTPUT:
        return _output_attribute(run, instance, name, node)
    if instance.external == "torch.device":
        if name == "type":
            return instance.attrs.get("type", Scalar("str"))
        return Scalar("int") if name == "index" else Method(name, instance)
    if instance.external in ("torch.finfo", "torch.iinfo"):
        return Scalar("float" if instance.external == "torch.finfo" else "int")
    if instance.isa("torch.nn.Module") or nn.is_module(instance.external):
        return _module_attribute(run, instance, name, node)
    if instance.isa("torch.optim.Optimizer"):
        if name == "param_groups":
            parameter = Tensor(kind="parameter", origin=run.origin(node, "holds the optimizer's parameters"))
            return Seq("list", None, Map({"params": Seq("list", None, parameter)}))
        return UNKNOWN if name in ("state", "defaults") else Method(name, instance)
    if instance.external.startswith("torch.distributions."):
        if name in ("mean", "stddev", "variance", "mode", "loc", "scale", "probs", "logits"):
            return Tensor(dtype="float", origin=run.origin(node, "is a distribution's parameter"))
        return Method(name, instance)
    if name[:1] == "_" or not instance.external:
        return UNKNOWN
    return Method(name, instance)


# methods of tensors that the containers which models return may have too
NOT_TELLING = frozenset("values items keys get pop update copy index count to type data real imag name names".split())


def _output_attribute(run: Calls, instance: Instance, name: str, node: ast.AST) -> Value:
    """A module's output is a tensor where a tensor's method is called on it, else what holds some."""
    if name not in NOT_TELLING and run.engine.tables.method_returns(name) is not None:
        tensor = Tensor(origin=run.origin(node, "is an operation of tensors", instance))
        return tensors.attribute(run, tensor, name, node)
    return instance if name not in NOT_TELLING else UNKNOWN


def batch_tensor(instance: Instance) -> Tensor:
    """What a loader yields, once it is known to be a tensor."""
    pinned = instance.attrs.get("pin_memory")
    unpinned = isinstance(pinned, Const) and not pinned.value
    return Tensor(Device.CPU, pinned=not unpinned, origin=instance.origin)


MODULE_METHODS = frozenset(
    """to cuda cpu half float double bfloat16 train eval requires_grad_ apply type to_empty share_memory
    parameters named_parameters buffers named_buffers modules named_modules children named_children
    state_dict load_state_dict register_buffer register_parameter add_module register_module zero_grad compile
    get_parameter get_submodule get_buffer forward extra_repr xpu __init__ append extend insert keys values
    items pop flatten_parameters reset_parameters update""".split()
)


def _module_attribute(run: Calls, instance: Instance, name: str, node: ast.AST) -> Value:
    if name == "training":
        return Scalar("bool")
    if name in MODULE_METHODS or name in MODULE_HOOKS:
        return Method(name, instance)
    if name in (
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "in_proj_weight",
        "out_proj_weight",
        "weight_ih_l0",
    ) and nn.is_module(instance.external):
        return Tensor(dtype="float", kind="parameter", origin=run.origin(node, "is a module's parameter"))
    if name in (
        "in_features",
        "out_features",
        "num_embeddings",
        "embedding_dim",
        "in_channels",
        "out_channels",
        "num_heads",
        "eps",
    ):
        return Scalar("number")
    return UNKNOWN


def method(run: Calls, instance: Instance, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if instance.external == BATCH:
        if name in ("items", "keys", "values"):
            return Seq("list", None, Seq("tuple", (Scalar("str"), instance)) if name == "items" else instance)
        if name in (
            "to",
            "cuda",
            "cpu",
            "pin_memory",
            "clone",
            "float",
            "long",
            "item",
            "size",
            "dim",
            "contiguous",
            "numel",
            "numpy",
            "tolist",
        ):
            return tensors.call(run, batch_tensor(instance), name, arguments, node)
        return instance if name in ("get", "pop") else UNKNOWN
    if name == "_replace":  # of a named tuple
        return replace(instance, attrs={**instance.attrs, **arguments.kwargs})
    if instance.isa("torch.nn.Module") or nn.is_module(instance.external):
        return _module_method(run, instance, name, arguments, node)
    if instance.isa("torch.optim.Optimizer"):
        return NONE if name in ("step", "zero_grad") else UNKNOWN
    if instance.external.startswith("torch.distributions."):
        if name in ("sample", "rsample", "log_prob", "entropy", "cdf", "icdf", "enumerate_support"):
            drawn = instance.attrs.get("*drawn")
            device = drawn.device if isinstance(drawn, Tensor) else Device.UNKNOWN
            return Tensor(device, origin=run.origin(node, "is a distribution's sample or probability"))
        return UNKNOWN
    if instance.external == "logging.Logger":
        return Scalar("bool") if name == "isEnabledFor" else NONE
    if instance.external == "torch.Generator":
        return instance if name == "manual_seed" else UNKNOWN
    if instance.external == "torch.amp.GradScaler":
        return arguments.args[0] if name == "scale" and arguments.args else UNKNOWN
    if instance.external == "re.Pattern" and name in ("match", "search", "fullmatch"):
        return MATCH
    if instance.external == "random.Random" and name in DRAWS:
        return Scalar(DRAWS[name], Flow.DATA, origin=run.origin(node, DRAWN))
    if instance.external.startswith("numpy.random"):
        return Tensor(Device.CPU, kind="numpy", origin=run.origin(node, "is a NumPy array"))
    run._callbacks(arguments, node)
    return UNKNOWN


def _module_method(run: Calls, instance: Instance, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if name in MODULE_SELF:
        origin = instance.attrs.get("")
        return origin if origin is not None else instance
    if name == "parameters" or name == "buffers":
        return Seq("generator", None, Tensor(kind=name[:-1], origin=run.origin(node, f"yields {name}")))
    if name in ("named_parameters", "named_buffers"):
        return Seq(
            "generator", None,
            Seq("tuple", (Scalar("str"), Tensor(kind=name[6:-1], origin=run.origin(node, f"yields {name[6:]}")))),
        )  # fmt: skip
    if name == "state_dict":
        return Map(None, Scalar("str"), Tensor(origin=run.origin(node, "is in a state dict")))
    if name in ("register_buffer", "register_parameter", "add_module", "register_module"):
        return _register(run, instance, name, arguments, node)
    if name in MODULE_HOOKS:
        hook(run, instance, name, arguments, node)
        return Instance(None, "torch.utils.hooks.RemovableHandle")
    if name == "compile":
        run.engine.add_compile_root(instance)
        return NONE
    if name in ("append", "extend", "insert"):
        return _grow(run, instance, name, arguments, node)
    if name == "values":
        return Seq("list", None, nn.element(instance))
    if name == "items":
        return Seq("list", None, Seq("tuple", (Scalar("str"), nn.element(instance))))
    if name == "keys":
        return Seq("list", None, Scalar("str"))
    if name in ("forward", "__call__"):
        receiver = instance.attrs.get("")
        if isinstance(receiver, Instance) and instance.external:
            return nn.call(run, instance.external, instance, arguments, node)
        return (
            run.call(instance, arguments, node)
            if name == "__call__"
            else nn.call(run, instance.external, instance, arguments, node)
        )
    if name in ("children", "modules", "named_children", "named_modules"):
        child = Instance(None, "torch.nn.Module", origin=run.origin(node, "yields modules"))
        return Seq("generator", None, Seq("tuple", (Scalar("str"), child)) if name.startswith("named") else child)
    return UNKNOWN


def _register(run: Calls, instance: Instance, name: str, arguments: Arguments, node: ast.AST) -> Value:
    key = arguments.get(0, "name")
    value = arguments.get(1, "tensor" if name == "register_buffer" else "param")
    if run.me is None or not isinstance(key, Const) or not isinstance(key.value, str) or value is None:
        return NONE
    stored: Value = value
    tensor = tensor_of(value)
    if tensor is not None:
        kind = "buffer" if name == "register_buffer" else "parameter"
        if tensor.kind == "sparse":
            kind = tensor.kind
        stored = Tensor(
            Device.UNKNOWN, tensor.dtype, tensor.rank, kind=kind, origin=run.origin(node, f"registers a {kind}", tensor)
        )
    elif isinstance(value, Unknown) and name == "register_buffer":
        stored = Tensor(kind="buffer", origin=run.origin(node, "registers a buffer"))
    receiver = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if isinstance(receiver, ast.Name) and receiver.id == run.me:
        run.bind(f"{run.me}.{key.value}", stored)
        run.note_write(key.value, stored)
    return NONE


def _grow(run: Calls, instance: Instance, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`self.layers.append(module)`: the container holds it from now on."""
    if not arguments.args or not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return NONE
    added = arguments.args[-1]
    if name == "extend":
        added = run.element_of(added, node)
    grown = nn.grown(instance, added)
    path = run.dotted(node.func.value)
    if path is not None and run.env is not None:
        run.put(path, grown)
        if run.me is not None and path.startswith(run.me + ".") and path.count(".") == 1:
            run.note_write(path[len(run.me) + 1 :], grown)
    return NONE


def hook(run: Calls, owner: Instance | Tensor, name: str, arguments: Arguments, node: ast.AST) -> None:
    """`owner.register_…_hook(function)`: the hook runs whenever the module does, or the backward pass gets there."""
    function = arguments.get(0, "hook")
    bound: tuple[Value, ...] = ()
    if isinstance(function, Partial):
        bound, function = function.args, function.func
    if not isinstance(function, Function):
        return
    if isinstance(owner, Tensor):
        grad = Tensor(owner.device, owner.dtype, owner.rank, origin=run.origin(node, "is given a gradient", owner))
        given: list[Value] = [grad if name == "register_hook" else owner]
    else:
        given = _hook_arguments(run, owner, name, arguments, node)
    summary = run.engine.call(function, _parameters(run, function, [*bound, *given]))
    if isinstance(owner, Instance) and name in FORWARD_HOOKS:
        run.engine.hooks.append((owner, summary))
    else:
        run.engine.backward_hooks.append(summary)


def _hook_arguments(run: Calls, instance: Instance, name: str, arguments: Arguments, node: ast.AST) -> list[Value]:
    """What a module's hook is given: the module, its arguments, its output."""
    if name in BACKWARD_HOOKS:
        gradients = Seq("tuple", None, Tensor(origin=run.origin(node, "is given gradients")))
        return [instance, gradients, gradients]
    given: list[Value] = [instance, UNKNOWN]
    if "with_kwargs" in arguments.kwargs:
        given.append(Map(None, Scalar("str"), UNKNOWN))
    if name == "register_forward_hook":
        module = instance.external or "torch.nn.Module"
        given.append(nn.call(run, module, instance, arguments.none(), node))
    return given


def _parameters(run: Calls, function: Function, given: list[Value]) -> dict[str, Value]:
    """A hook's parameters: what its annotations say, else what it is given, by place."""
    plain = [a.arg for a in function.info.node.args.posonlyargs + function.info.node.args.args]
    if function.bound is not None:
        del plain[:1]
    known = dict(run.engine.parameters(function.info))
    result = {name: value for name, value in known.items() if function.bound is None or name in plain}
    result |= {n: value for n, value in zip(plain, given, strict=False) if isinstance(result.get(n), Unknown)}
    return result


def call(run: Calls, instance: Instance, arguments: Arguments, node: ast.AST) -> Value:
    """Calling an object of an outside class."""
    if instance.external in ("torch.no_grad", "torch.enable_grad", "torch.inference_mode") and arguments.args:
        return arguments.args[0]  # used as a decorator
    run._callbacks(arguments, node)
    return UNKNOWN
