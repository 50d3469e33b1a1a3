"""Foreign calls in compiled code: an operator of `torch.library` around them, made above the function.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from compilelint.engine.values import Const, Scalar, Value, tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import names_in, target_names, top_level
from compilelint.source.walk import nodes_of

if TYPE_CHECKING:
    from compilelint.engine.events import Call
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

TITLE = "Wrap it in an operator with a fake implementation"
_OWN_SCOPE = (
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Await, ast.Yield,
    ast.YieldFrom,
)  # fmt: skip


def wrap_extension(event: Call, ctx: Context) -> Fix | None:
    """`ext.scan(x, 3)`, `ext` a name of the module, all arguments tensors and numbers."""
    from compilelint.sdk import Fix

    match event.node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attr), args=args, keywords=[]) as call:
            pass
        case _:
            return None
    if event.starred or ctx.function is None:
        return None
    types = [type_of(value) for value in event.args]
    top = top_level(call, ctx)
    known = [kind for kind in types if kind is not None]
    if len(known) < len(types) or "Tensor" not in known or top is None or owner in _locals(ctx.function):
        return None
    parameters = [f"a{n}" for n in range(len(types))]

    def build(rw: Rewriter) -> None:
        body = f"return {rw.code(call.func)}({', '.join(parameters)})"
        name = _operator(rw, top, f"{owner}_{attr}", parameters, known, body)
        rw.replace(call, f"{name}({', '.join(rw.code(a) for a in args)})")

    why = f"taken to be a new tensor like argument {types.index('Tensor')}, with no argument written to and no gradient"
    return Fix(TITLE, Applicability.UNSAFE, build, why)


def wrap_around(event: Call, ctx: Context) -> Fix | None:
    """`torch.from_numpy(clip(x.numpy()))`: the least expression around the call that is a tensor again.

    A call whose result nobody takes, as through ctypes, is wrapped alone, and taken to write to all tensors.
    """
    from compilelint.sdk import Fix

    call, function = event.node, ctx.function
    top = top_level(call, ctx)
    if top is None or not isinstance(call, ast.Call) or not _is_outermost(function, ctx):
        return None
    whole = call if event.discarded else _tensor_around(call, ctx)
    if whole is None or any(isinstance(node, _OWN_SCOPE) for node in ast.walk(whole)):
        return None
    places = _reads(whole, _locals(function))
    types = [type_of(ctx.value(place)) for place in places.values()]
    known = [kind for kind in types if kind is not None]
    names = list(places)
    given = {name for name, kind in zip(names, types, strict=True) if kind == "Tensor"}
    if len(known) < len(types) or not given & names_in(call):
        return None

    def build(rw: Rewriter) -> None:
        stem = ast.unparse(call.func).rpartition(".")[2]
        if not stem.isidentifier():
            stem = "foreign"
        code = rw.code(whole)
        body = code if event.discarded else f"return {code}"
        name = _operator(rw, top, f"{stem}_operator", names, known, body, returns=not event.discarded)
        rw.replace(whole, f"{name}({', '.join(names)})")

    like = names[known.index("Tensor")]
    why = (
        "taken to write to every tensor that it is given; there is no gradient"
        if event.discarded
        else f"taken to be a new tensor like `{like}`, with no tensor written to and no gradient"
    )
    return Fix(TITLE, Applicability.UNSAFE, build, why)


def _operator(
    rw: Rewriter,
    top: ast.stmt,
    wanted: str,
    names: Sequence[str],
    types: Sequence[str],
    body: str,
    *,
    returns: bool = True,
) -> str:
    """Writes the operator above a statement of the module, and gives its name."""
    tensor, custom_op = rw.name_for("torch.Tensor", at=top), rw.name_for("torch.library.custom_op", at=top)
    name = rw.fresh_name(wanted)
    stem = rw.file.path.replace("\\", "/").rpartition("/")[2].partition(".")[0]
    space = "".join(c if c.isalnum() else "_" for c in stem)
    pairs = zip(names, types, strict=True)
    typed = ", ".join(f"{each}: {tensor if kind == 'Tensor' else kind}" for each, kind in pairs)
    head = f"({typed}) -> {tensor if returns else None}:"
    written = "()" if returns else '"unknown"'
    lines = [
        f'@{custom_op}("{space}::{name}", mutates_args={written})',
        f"def {name}{head}",
        rw.indent(body),
    ]
    if returns:  # where nothing is returned, torch makes the fake implementation itself
        like = names[list(types).index("Tensor")]
        made = rw.indent(f"return {rw.name_for('torch.empty_like', at=top)}({like})")
        lines += ["", "", f"@{name}.register_fake", f"def _{head}", made]
    rw.insert_before(top, "\n".join(lines))
    return name


def type_of(value: Value) -> str | None:
    """As an operator's schema has it."""
    tensor = tensor_of(value)
    if tensor is not None:
        return "Tensor" if tensor.kind != "numpy" else None
    if isinstance(value, Const):
        kind = type(value.value)
        return kind.__name__ if kind in (int, float, bool, str) else None
    return value.type if isinstance(value, Scalar) and value.type in ("int", "float", "bool", "str") else None


def _tensor_around(node: ast.expr, ctx: Context) -> ast.expr | None:
    whole: ast.AST | None = node
    while isinstance(whole, (ast.expr, ast.keyword)):
        if isinstance(whole, ast.expr) and type_of(ctx.value(whole)) == "Tensor":
            return whole
        whole = ctx.parent(whole)
    return None


def _reads(whole: ast.expr, local: set[str]) -> dict[str, ast.Name]:
    """The function's own names that an expression reads, in their order, each with a place."""
    found = [n for n in ast.walk(whole) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in local]
    places: dict[str, ast.Name] = {}
    for name in sorted(found, key=lambda n: (n.lineno, n.col_offset)):
        places.setdefault(name.id, name)
    return places


def _locals(function: ast.AST | None) -> set[str]:
    if function is None:
        return set()
    return {each.arg for each in nodes_of(function, ast.arg)} | target_names(function)


def _is_outermost(function: ast.AST | None, ctx: Context) -> bool:
    """Whether no function stands around this one, whose names an operator of the module would not see."""
    node = ctx.parent(function) if function is not None else None
    while isinstance(node, (ast.ClassDef, ast.If, ast.Try)):
        node = ctx.parent(node)
    return isinstance(node, ast.Module)
