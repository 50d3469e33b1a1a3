"""What the rules about graph breaks ask of values. Re-exported by the sdk."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.engine.events import Branch
from compilelint.engine.values import READ, Const, Flow, Map, Scalar, Seq, Tensor, Value, on_device, tensor_of, walk
from compilelint.finding import Effect, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compilelint.engine.events import Call, Event
    from compilelint.sdk import Context, Report

BREAK: tuple[Effect, ...] = ("graph-break",)
BREAK_AND_SYNC: tuple[Effect, ...] = ("graph-break", "sync")
WARNINGS = frozenset("warn warning warning_once error critical exception".split())


def break_effects(value: Value) -> tuple[Effect, ...]:
    """Breaking the graph on a value reads it on the host: a sync too, unless it is known to be there already.

    What nothing tells of but its read may be an array; where a graph breaks on it, it is rather a tensor.
    """
    only_read = value.origin is not None and value.origin.why == READ
    return BREAK_AND_SYNC if only_read or on_device(value) else BREAK


def branch_effects(event: Branch, tensor: Tensor, ctx: Context) -> tuple[Effect, ...]:
    """What a truth test of a tensor does: an assertion that Dynamo traces costs nothing in compiled code."""
    if event.kind != "assert" or not _is_traced(event):
        return break_effects(tensor)
    return ("sync",) if on_device(tensor) and ctx.region.kind != "compiled" else ()


def _is_traced(event: Branch) -> bool:
    """Whether Dynamo makes an assertion on the device: a constant message, and the tensor decides alone or last."""
    owner = event.owner
    if not isinstance(owner, ast.Assert) or not _is_constant_text(owner.msg):
        return False
    last = owner.test.values[-1] if isinstance(owner.test, ast.BoolOp) else owner.test
    return last is event.node and not (isinstance(last, ast.Compare) and len(last.ops) > 1)


def _is_constant_text(message: ast.expr | None) -> bool:
    if isinstance(message, ast.JoinedStr):
        return all(isinstance(part, ast.Constant) for part in message.values)
    if isinstance(message, ast.BinOp) and isinstance(message.op, ast.Add):
        return _is_constant_text(message.left) and _is_constant_text(message.right)
    return message is None or isinstance(message, ast.Constant)


def branch_node(event: Branch) -> ast.AST:
    """Where a branch is reported: the whole test, so that `a or b` of one statement is one finding."""
    owner = event.owner
    if isinstance(owner, (ast.If, ast.While, ast.IfExp, ast.Assert)) and isinstance(owner.test, ast.BoolOp):
        return owner.test
    return owner if isinstance(owner, ast.BoolOp) else event.node


def cost(event: Event, ctx: Context) -> str:
    """What a break at this event costs where Dynamo traces it, and what it costs elsewhere: a wait for the device."""
    return ctx.consequence(event.site) if ctx.compiled else "the CPU waits for the device"


def output_report(event: Call, ctx: Context, does: str, hint: str) -> Iterator[Report]:
    """A call in compiled code that prints or logs; a device tensor that it is given is copied to the host."""
    from compilelint.sdk import Report, skip_while_compiling

    if not ctx.compiled:
        return
    tensor = next((value for value in event.args if on_device(value)), None)
    effects = break_effects(tensor) if tensor is not None else BREAK
    message = f"`{ctx.source(event.node)}` {does}: {cost(event, ctx)}"
    severity = Severity.NOTE if _is_about_input(event, ctx) and is_exceptional(event, ctx) else None
    fix = skip_while_compiling(event)
    yield Report(event.node, message, because=tensor, effects=effects, severity=severity, hint=hint, fix=fix)


def _is_about_input(event: Call, ctx: Context) -> bool:
    """Whether a call logs a warning, or worse, where a size is odd, or an argument isn't there."""
    around = ctx.parent(event.statement)
    if event.target.rpartition(".")[2] not in WARNINGS or not isinstance(around, ast.If):
        return False
    match around.test:
        case ast.Compare(left=ast.Name(), ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
            return event.statement in (around.body if isinstance(op, ast.Is) else around.orelse)
    asked = (ctx.value(node) for node in ast.walk(around.test))
    return any(isinstance(value, Scalar) and value.flow is Flow.SYMBOLIC for value in asked)


def is_exceptional(event: Call, ctx: Context) -> bool:
    """Whether a warning stands under an `if` that holds in unusual cases alone: not where an argument is left out."""
    node: ast.AST = event.statement
    while (around := ctx.parent(node)) is not None and around is not ctx.function:
        if isinstance(around, ast.If) and not isinstance(ctx.value(around.test), Const):
            return not (node in around.body and _is_default(around.test, ctx))
        node = around
    return False


def _is_default(test: ast.expr, ctx: Context) -> bool:
    """`group is None`, of a parameter that is None where none is given."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            args = getattr(ctx.function, "args", None)
            if not isinstance(args, ast.arguments):
                return False
            plain = (args.posonlyargs + args.args)[::-1]
            pairs = [
                *zip(plain, args.defaults[::-1], strict=False),
                *zip(args.kwonlyargs, args.kw_defaults, strict=True),
            ]
            return any(arg.arg == name and isinstance(given, ast.Constant) for arg, given in pairs)
    return False


def is_input(value: Value) -> bool:
    """Whether a tensor is a parameter of the function as it came: Dynamo knows the number in a 0-d host input."""
    tensor = tensor_of(value)
    return tensor is not None and tensor.origin is not None and isinstance(tensor.origin.node, ast.arg)


def is_given(value: Value) -> bool:
    """Whether a tensor is an input, a parameter or a buffer: not made in the region."""
    tensor = tensor_of(value)
    return tensor is not None and (tensor.kind in ("parameter", "buffer") or is_input(value))


def made_by(value: Value, *names: str) -> bool:
    """Whether a call of one of these names (`isnan`) stands in the history of a value."""
    link = value.origin
    for _ in range(20):
        if link is None:
            return False
        if isinstance(link.node, ast.Call):
            function = link.node.func
            if getattr(function, "attr", getattr(function, "id", "")) in names:
                return True
        link = link.parent
    return False


def tensor_in(value: Value | None) -> Tensor | None:
    """The tensor a value certainly is or certainly contains (in a list, tuple, dict), else None."""
    if value is None:
        return None
    if (tensor := tensor_of(value)) is not None:
        return tensor
    if isinstance(value, (Seq, Map)):
        return next((v for v in walk(value) if isinstance(v, Tensor)), None)
    return None


def constant(value: Value | None) -> object:
    """The Python value of a constant, else None."""
    return value.value if isinstance(value, Const) else None


def words(text: str) -> tuple[str, ...]:
    """The names in a text, for tables too long for one name a line."""
    return tuple(text.split())
