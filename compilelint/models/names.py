"""Canonical dotted names: one spelling for what torch and others export under several."""

from __future__ import annotations

import re
from functools import lru_cache

_EXACT = {
    "torch.functional": "torch",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.parameter.Buffer": "torch.nn.Buffer",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.types.Tensor": "torch.Tensor",
    "torch.cuda.amp.GradScaler": "torch.amp.GradScaler",
    "torch.amp.grad_scaler.GradScaler": "torch.amp.GradScaler",
    "torch.cuda.amp.autocast": "torch.autocast",
    "torch.amp.autocast": "torch.autocast",
    "torch._dynamo.disable": "torch.compiler.disable",
    "torch._dynamo.decorators.disable": "torch.compiler.disable",
    "torch._dynamo.is_compiling": "torch.compiler.is_compiling",
    "torch._utils.is_compiling": "torch.compiler.is_compiling",
    "torch._dynamo.external_utils.is_compiling": "torch.compiler.is_compiling",
    "torch.compiler.is_dynamo_compiling": "torch.compiler.is_compiling",
    "torch.utils.checkpoint": "torch.utils.checkpoint",
    "typing_extensions.Optional": "typing.Optional",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.jit._script.script": "torch.jit.script",
    "torch.device": "torch.device",
    "builtins.print": "print",
}
_PATTERNS = (
    (re.compile(r"^torch\.nn\.modules\.\w+\.(\w+)$"), r"torch.nn.\1"),
    (re.compile(r"^torch\.utils\.data\.(?:dataloader|dataset|sampler|distributed)\.(\w+)$"), r"torch.utils.data.\1"),
    (re.compile(r"^torch\.distributions\.[a-z_]+\.([A-Z]\w*)$"), r"torch.distributions.\1"),
    (re.compile(r"^torch\.optim\.(?!lr_scheduler\.)[a-z_0-9]+\.([A-Z]\w*)$"), r"torch.optim.\1"),
    (re.compile(r"^torch\.(?:functional|_C\._nn|_C\._VariableFunctions|_refs)\.(\w+)$"), r"torch.\1"),
    (re.compile(r"^torch\.nn\.utils\.(?:clip_grad|convert_parameters)\.(\w+)$"), r"torch.nn.utils.\1"),
    (re.compile(r"^torchvision\.ops\.\w+\.(\w+)$"), r"torchvision.ops.\1"),
    (re.compile(r"^torch\.cuda\.(?:random|memory|streams|graphs)\.(\w+)$"), r"torch.cuda.\1"),
    (re.compile(r"^torch\.random\.(\w+)$"), r"torch.random.\1"),
    (re.compile(r"^(?:numpy)\.(?:core|_core|lib)\.\w+\.(\w+)$"), r"numpy.\1"),
    (re.compile(r"^tqdm\.\w+\.(\w+)$"), r"tqdm.\1"),
    (re.compile(r"^builtins\.(\w+)$"), r"\1"),
)


def is_optimizer(name: str) -> bool:
    """Whether a canonical name is a class of optimizers."""
    head, _, last = name.rpartition(".")
    return head == "torch.optim" and last[:1].isupper()


@lru_cache(maxsize=20_000)
def canonical(name: str) -> str:
    """`torch.nn.modules.linear.Linear` → `torch.nn.Linear`; a name known under one spelling stays as it is."""
    exact = _EXACT.get(name)
    if exact is not None:
        return exact
    for pattern, replacement in _PATTERNS:
        if (match := pattern.match(name)) is not None and (replaced := match.expand(replacement)) != name:
            return _EXACT.get(replaced, replaced)
    return name


def told_as(target: str) -> str:
    """How a call of a method is told that `target` names by its class: `torch.optim.SGD.step` →
    `torch.optim.Optimizer.step`, `torch.Tensor.item` → `Tensor.item`; any other target in its canonical spelling."""
    name = canonical(target)
    head, _, method = name.rpartition(".")
    owner = canonical(head)
    if owner in ("torch.Tensor", "torch.nn.Parameter", "torch.nn.Buffer"):
        return f"Tensor.{method}"
    if owner == "torch.nn.Module" and method != "__call__":
        return f"Module.{method}"
    if is_optimizer(owner):
        return f"torch.optim.Optimizer.{method}"
    first, _, rest = name.partition(".")
    return f"{_SHORT[first]}.{rest}" if first in _SHORT else name


_SHORT = {"np": "numpy", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim"}
