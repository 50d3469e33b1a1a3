"""What a site is about, beyond its event: the questions that several rules ask, answered once and the same for all.

Rules of one family must agree on who owns a site, so that it gets one finding: `read_kind` decides for host reads,
`moves_to_device` for copies. Part of `compilelint.sdk`, which is where rules import it from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal

from compilelint.engine.values import (
    NONE,
    Const,
    Device,
    External,
    Instance,
    Scalar,
    Seq,
    Tensor,
    Value,
    data_dependent,
    on_device,
    tensor_of,
)
from compilelint.source.walk import named, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from compilelint.engine.events import Call, Event
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

ReadKind = Literal["per-key", "metric", "plain"]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
STATE = ("no_grad", "inference_mode")


def in_step(event: Event, ctx: Context) -> bool:
    """Whether the site runs once a step: in a loop that trains, evaluates or decodes, or in what such a loop calls."""
    return ctx.region.kind == "step" or event.site.in_step


def enclosing(event: Event, ctx: Context, *kinds: type[ast.AST]) -> ast.AST | None:
    """The nearest node of one of `kinds` around the event, within its statement."""
    node: ast.AST | None = event.node
    while node is not None and node is not event.statement:
        node = ctx.parent(node)
        if isinstance(node, kinds):
            return node
    return None


def is_passed_otherwise(node: ast.AST, ctx: Context, kind: Callable[[Value], bool]) -> bool:
    """Whether what makes an expression special is a parameter of that kind, and other calls pass another kind.

    A function for both kinds is most often compiled with the common one.
    """
    passed = [[kind(value) for value in ctx.passed(name)] for name in names_in(node)]
    return any(any(special) and not all(special) for special in passed)


def target_names(target: ast.AST) -> set[str]:
    """The names that a target, or anything in a statement, binds."""
    return {n.id for n in walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def block_of(statement: ast.stmt, ctx: Context) -> list[ast.stmt]:
    """The block that a statement stands in, itself included; none where that is another kind of block."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(ctx.parent(statement), field, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def names_in(node: ast.AST) -> set[str]:
    """The names that an expression reads."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def top_level(node: ast.AST, ctx: Context) -> ast.stmt | None:
    """The statement of the module that a node stands in."""
    parent = ctx.parent(node)
    while parent is not None and not isinstance(parent, ast.Module):
        node, parent = parent, ctx.parent(parent)
    return node if isinstance(node, ast.stmt) and parent is not None else None


def used_outside(name: str, statement: ast.AST, function: ast.AST | None) -> bool:
    """Whether a name stands elsewhere in its function than in a statement; taken for granted as above."""
    inside = set(map(id, walk(statement)))
    return function is None or any(id(n) not in inside for n in named(function, name))


def is_elif(owner: ast.If, ctx: Context) -> bool:
    parent = ctx.parent(owner)
    return isinstance(parent, ast.If) and parent.orelse == [owner] and parent.col_offset == owner.col_offset


def is_tried(node: ast.AST, ctx: Context) -> bool:
    """Whether an exception raised here could be caught in the function."""
    child, parent = node, ctx.parent(node)
    while parent is not None and child is not ctx.function:
        if isinstance(parent, ast.Try) and parent.handlers and child in parent.body:
            return True
        child, parent = parent, ctx.parent(parent)
    return False


def is_detached(node: ast.expr) -> bool:
    """`t.detach()`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach"


def read_kind(event: Event, ctx: Context) -> ReadKind:
    """Whose a host read of a device value is: one of many in a comprehension or over a dict, a metric, or neither."""
    comprehension = enclosing(event, ctx, *COMPREHENSIONS)
    if isinstance(comprehension, COMPREHENSIONS):
        bound: set[str] = set()
        for generator in comprehension.generators:
            bound |= target_names(generator.target)
        element = (
            [comprehension.key, comprehension.value] if isinstance(comprehension, ast.DictComp) else [comprehension.elt]
        )
        inside = any(event.node is n for part in element for n in walk(part))
        if inside and bound & names_in(event.node):
            return "per-key"
    loop = _loop(event, ctx)
    if isinstance(loop, ast.For) and _over_items(loop) and target_names(loop.target) & names_in(event.node):
        return "per-key"
    return "metric" if in_step(event, ctx) and _is_metric(event, ctx) else "plain"


def _loop(event: Event, ctx: Context) -> ast.AST | None:
    node = ctx.parent(event.statement) if event.site.loops else None
    while node is not None and not isinstance(node, (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)):
        node = ctx.parent(node)
    return node


def _over_items(loop: ast.For) -> bool:
    """`for k, v in losses.items()` and `for v in losses.values()`: one pass over what a step made."""
    call = loop.iter
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("items", "values")


def _is_metric(event: Event, ctx: Context) -> bool:
    """A number read to be summed up, kept or shown, and not to compute with: the statement's only use of it."""
    statement = event.statement
    match statement:
        case ast.AugAssign(op=ast.Add()):
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add()) as value):
            return name in names_in(value)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="min" | "max"), args=[_, _])):
            return name in names_in(statement.value)
        case ast.Expr(value=ast.Call(func=func)):
            receiver = ctx.value(func.value) if isinstance(func, ast.Attribute) else NONE
            return tensor_of(receiver) is None
    return False


def is_reported(event: Event, ctx: Context) -> bool:
    """A deliberate metric: a `no_grad` function that returns numbers, read once outside any loop."""
    function = ctx.function
    if event.site.loops or not isinstance(event.statement, ast.Return) or function is None:
        return False
    if isinstance(function, ast.Lambda):
        return False
    for decorator in function.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (
            isinstance(name, (ast.Attribute, ast.Name))
            and (name.attr if isinstance(name, ast.Attribute) else name.id) in STATE
        ):
            return True
    return False


def masks(index: Value) -> Iterator[Tensor]:
    """The boolean masks in an index: reading through one makes a shape that depends on data."""
    for part in index_parts(index):
        tensor = tensor_of(part)
        if tensor is not None and tensor.dtype == "bool" and tensor.rank != 0:
            yield tensor
        elif (
            isinstance(part, Seq)
            and part.items
            and all(isinstance(item, Const) and type(item.value) is bool for item in part.items)
        ):
            yield Tensor(Device.CPU, "bool", 1, origin=part.origin)


def index_parts(index: Value) -> tuple[Value, ...]:
    """The components of an index: those of a tuple, else the index itself."""
    if isinstance(index, Seq) and index.kind == "tuple":
        return index.items if index.items is not None else (index.element,)
    return (index,)


def is_number(value: Value) -> bool:
    """Whether `value` is certainly a Python number."""
    if isinstance(value, Const):
        return isinstance(value.value, (bool, int, float, complex))
    return isinstance(value, Scalar) and value.type != "str"


def is_host_number(value: Value) -> bool:
    """A Python number that didn't come from a tensor."""
    return is_number(value) and not data_dependent(value)


def flag(value: Value | None) -> bool | None:
    """The constant truth of an argument: None where it is not given or not known."""
    return value.value if isinstance(value, Const) and isinstance(value.value, bool) else None


def on_host(value: Value) -> bool:
    """Whether `value` is certainly a tensor in host memory."""
    tensor = tensor_of(value)
    return tensor is not None and (tensor.device is Device.CPU or tensor.kind == "numpy")


def copied_from(event: Call) -> ast.expr | None:
    """The expression that `x.to(…)` or `x.cuda()` copies."""
    call = event.node
    return call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def is_non_blocking(event: Call) -> bool:
    """Whether a copy is told not to block: `x.cuda(d, True)`, `x.to(other, True)`, `x.to(d, dtype, True)`."""
    told = flag(event.argument(1, "non_blocking"))
    if told is None and event.target.endswith(".to"):
        told = flag(event.argument(2, "non_blocking"))
    return told is True


def moves_to_device(event: Call, ctx: Context) -> bool:
    """Whether a `Tensor.to`, `Tensor.cuda` or `Tensor.type_as` names a place that is not known to be the host."""
    if event.target.endswith((".cuda", ".xpu", ".mps")):
        return True
    call = event.node
    if not isinstance(call, ast.Call):
        return False
    named = next((k.value for k in call.keywords if k.arg in ("device", "other")), None)
    where = named if named is not None else call.args[0] if call.args else None
    if where is None:
        return False
    value = ctx.value(where)
    if isinstance(value, Const):
        return isinstance(value.value, str) and not value.value.startswith("cpu")
    if (tensor := tensor_of(value)) is not None:
        return tensor.device is not Device.CPU
    is_device = isinstance(value, Instance) and value.external == "torch.device"
    return (named is not None or is_device or _device_named(where)) and on_device(event.result)


def _device_named(node: ast.expr) -> bool:
    """`x.device`, `device`, `self.device`, `dev`: an argument of unknown value that must be a device, not a dtype."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return "device" in name.lower() or name in ("dev", "gpu")


EXACT = ("zeros", "ones", "full", "eye", "empty")  # the same values on any device
ROUNDED = ("linspace", "rand", "randn", "randint", "randperm")
FACTORIES = (*EXACT, *ROUNDED, "arange", "tensor")


def is_made_here(source: ast.expr) -> bool:
    """`torch.arange(n)`: a call of a function that makes a tensor, by its name."""
    return isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr in FACTORIES


def made_on_device(event: Call, source: ast.expr, ctx: Context) -> Fix | None:
    """`torch.arange(n).to(d)` as `torch.arange(n, device=d)`: safe where the values can't depend on the device."""
    from compilelint.sdk import Applicability, Fix

    call, factory = event.node, ctx.value(source.func) if isinstance(source, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(source, ast.Call) or not isinstance(factory, External):
        return None
    owner, _, name = factory.name.rpartition(".")
    given = {k.arg for k in source.keywords}
    if owner != "torch" or name not in (*EXACT, *ROUNDED, "arange"):
        return None
    if given & {None, "device", "pin_memory", "requires_grad", "generator", "out"}:
        return None
    if any(isinstance(a, ast.Starred) for a in source.args):
        return None
    where = _where(event, call, ctx)
    if where is None:
        return None
    whole = name in EXACT or (name == "arange" and all(_is_int(ctx.value(a)) for a in source.args))

    def build(rw: Rewriter) -> None:
        device = where if isinstance(where, str) else rw.code(where)
        arguments = [rw.code(a) for a in (*source.args, *source.keywords)]
        rw.replace(call, f"{rw.code(source.func)}({', '.join([*arguments, f'device={device}'])})")

    applicability = Applicability.SAFE if whole else Applicability.UNSAFE
    why = (
        "the same values, made where they are used" if whole else "another generator or another rounding on the device"
    )
    return Fix("Make it on the device", applicability, build, why)


def _where(event: Call, call: ast.Call, ctx: Context) -> ast.expr | str | None:
    """The device that a copy names, where it names nothing else."""
    keywords = [k for k in call.keywords if k.arg != "non_blocking"]
    if event.target.endswith(".cuda"):
        return None if call.args or keywords else '"cuda"'
    if not event.target.endswith(".to") or len(call.args) + len(keywords) != 1:
        return None
    where = call.args[0] if call.args else keywords[0].value
    return None if tensor_of(ctx.value(where)) is not None or isinstance(where, ast.Starred) else where


def _is_int(value: Value) -> bool:
    return type(value.value) is int if isinstance(value, Const) else isinstance(value, Scalar) and value.type == "int"


def alike(one: ast.AST, other: ast.AST) -> bool:
    """Whether two trees are the same but for places; an int of more digits than Python writes is like no other."""
    try:
        return ast.dump(one) == ast.dump(other)
    except ValueError:
        return False
