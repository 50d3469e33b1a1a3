"""What doesn't depend on where it stands, moved out of it: of a compiled function, or of a loop.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import External
from compilelint.finding import Applicability
from compilelint.idioms import names_in, top_level

if TYPE_CHECKING:
    from compilelint.engine.events import Call
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

# What a process finds the same whenever it asks, or nearly so.
STEADY = frozenset(
    words(
        "os.cpu_count os.path.exists os.path.isfile os.path.isdir platform.node"
        " platform.release platform.version socket.gethostname torch.cuda.device_count torch.get_num_threads"
        " torch.get_float32_matmul_precision torch.backends.cudnn.is_available torch.backends.mps.is_available"
        " pathlib.Path.exists pathlib.Path.read_text"
    )
)
SEEDS = frozenset(
    words("torch.manual_seed torch.random.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all random.seed")
)
COPIES = ("to", "cuda")
FACTS = ("shape", "device", "dtype", "size", "dim", "numel")
SWITCH = "trace_autograd_ops"
SWITCHED_SINCE = (2, 13)


def ask_once(event: Call, ctx: Context) -> Fix | None:
    """`os.cpu_count()` in a function → a constant of the module, where the arguments are constants."""
    from compilelint.sdk import Fix

    call, top = event.node, top_level(event.statement, ctx)
    if event.target not in STEADY or not isinstance(call, ast.Call) or event.discarded or top is None:
        return None
    if not all(isinstance(a, ast.Constant) for a in (*call.args, *(k.value for k in call.keywords))):
        return None
    module = ctx.parent(top)
    if not isinstance(module, ast.Module) or not names_in(call.func) <= _imported(module, top):
        return None

    def build(rw: Rewriter) -> None:
        name = rw.fresh_name("_" + event.target.rpartition(".")[2].upper())
        rw.insert_after(_last_import(module, top), f"\n{name} = {rw.code(call)}")
        rw.replace(call, name)

    why = "the answer is that of the time when the module is imported"
    return Fix("ask once, when the module is imported", Applicability.UNSAFE, build, why)


def seed_before_call(event: Call, ctx: Context) -> Fix | None:
    """`torch.manual_seed(0)`, a statement of a compiled function → before each call of it in this file."""
    from compilelint.sdk import Fix

    call, statement, function = event.node, event.statement, ctx.function
    if event.target not in SEEDS or not isinstance(call, ast.Call) or not isinstance(statement, ast.Expr):
        return None
    if function is None or isinstance(function, ast.Lambda) or statement not in function.body:
        return None
    if not all(isinstance(a, ast.Constant) for a in call.args) or call.keywords:
        return None
    frames = list(ctx.calls())
    if not frames or not all(ctx.is_here(frame) and frame.function is not function for frame, _ in frames):
        return None
    if ctx.compiled and any(_in_class(frame.function, ctx) for frame, _ in frames if frame.function is not None):
        return None  # another method of a compiled module calls it

    def build(rw: Rewriter) -> None:
        for before in {rw.statement(each) for _, each in frames}:
            rw.insert_before(before, rw.code(statement))
        rw.delete_statement(statement)

    why = "calls that are not in sight must do it, too; what draws before it in the function sees the seed"
    return Fix("seed before the call", Applicability.UNSAFE, build, why)


def copy_once(event: Call, ctx: Context) -> Fix | None:
    """`weights.to(device)` in a loop that changes neither → copied once, before the loop."""
    from compilelint.sdk import Fix

    call = event.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not isinstance(call.func.value, ast.Name) or not all(_is_steady(each) for each in given):
        return None
    copied, names = call.func.value.id, names_in(call)
    outer, node = None, ctx.parent(call)
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
        if isinstance(node, (ast.For, ast.While)):
            if not _leaves_alone(node, copied, names, call, ctx):
                break
            outer = node
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return None
        node = ctx.parent(node)
    if outer is None:
        return None
    loop = outer

    def build(rw: Rewriter) -> None:
        name = rw.fresh_name(f"{copied}_there", within=ctx.function)
        rw.insert_before(loop, f"{name} = {rw.code(call)}")
        rw.replace(call, name)

    why = "one copy serves all rounds: nothing may write into it, or into the tensor on the host meanwhile"
    return Fix("copy it once, before the loop", Applicability.UNSAFE, build, why)


def _is_steady(node: ast.expr) -> bool:
    return all(isinstance(n, (ast.Name, ast.Attribute, ast.Constant, ast.expr_context)) for n in ast.walk(node))


def _leaves_alone(loop: ast.For | ast.While, copied: str, names: set[str], call: ast.Call, ctx: Context) -> bool:
    """Whether a loop binds none of the names, passes the tensor to nobody, and the copy only to functions of torch."""
    for node in ast.walk(loop):
        if not isinstance(node, ast.Name) or node.id not in names:
            continue
        if not isinstance(node.ctx, ast.Load):
            return False
        parent = ctx.parent(node)
        if node.id == copied and not (isinstance(parent, ast.Attribute) and parent.attr in (*COPIES, *FACTS)):
            return False
    user = ctx.parent(call)
    while isinstance(user, (ast.keyword, ast.BinOp, ast.Compare, ast.UnaryOp)):
        if not isinstance(user, ast.keyword):
            return True  # a new tensor
        user = ctx.parent(user)
    called = ctx.value(user.func) if isinstance(user, ast.Call) else None
    return isinstance(called, External) and called.name.startswith("torch.") and not called.name.endswith("_")


def trace_autograd(event: Call, ctx: Context) -> Fix | None:
    """`torch.autograd.grad` in compiled code: Dynamo traces it where it is told to, from torch 2.13."""
    from compilelint.sdk import Fix

    top = top_level(event.statement, ctx)
    if event.target != "torch.autograd.grad" or ctx.torch < SWITCHED_SINCE or top is None:
        return None
    module = ctx.parent(top)
    if not isinstance(module, ast.Module) or "torch" not in _imported(module, top):
        return None

    def build(rw: Rewriter) -> None:
        rw.insert_after(_last_import(module, top), f"\ntorch._dynamo.config.{SWITCH} = True")

    why = "a switch of Dynamo's own, set for the whole process"
    return Fix("let Dynamo trace it", Applicability.UNSAFE, build, why)


def traces_autograd(ctx: Context, node: ast.AST) -> bool:
    """Whether the file of a node sets Dynamo's switch for it."""
    top: ast.AST = node
    while (parent := ctx.parent(top)) is not None:
        top = parent
    for each in ast.walk(top):
        match each:
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Constant(value=True)) if name == SWITCH:
                return True
    return False


def _imports(module: ast.Module, before: ast.stmt) -> list[ast.Import | ast.ImportFrom]:
    """The imports at the top of a module that stand before a statement."""
    above = module.body[: module.body.index(before)]
    return [statement for statement in above if isinstance(statement, (ast.Import, ast.ImportFrom))]


def _imported(module: ast.Module, before: ast.stmt) -> set[str]:
    """The names that they bind."""
    aliases = [alias for statement in _imports(module, before) for alias in statement.names]
    return {(alias.asname or alias.name).partition(".")[0] for alias in aliases}


def _last_import(module: ast.Module, before: ast.stmt) -> ast.stmt:
    return _imports(module, before)[-1]


def _in_class(function: ast.AST | None, ctx: Context) -> bool:
    return function is not None and isinstance(ctx.parent(function), ast.ClassDef)
