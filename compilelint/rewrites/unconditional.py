"""Branches on a tensor that need not be: what they guard changes nothing where the test fails, or can be made so.

Each returns a Fix, or None when the code at hand is not of the form for which the rewrite is right. Part of
`compilelint.sdk`, which is where rules import them from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import Const, Device, External, Namespace, Tensor, tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import alike, is_elif, is_number, names_in, target_names
from compilelint.source.walk import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compilelint.engine.events import Branch
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix

CASTS = frozenset(words("double float half bfloat16 int long to type_as"))
# Of zeros they make zeros.
LINEAR = CASTS.union(
    words(
        "sum mean unsqueeze squeeze view reshape expand expand_as flatten transpose permute movedim contiguous clone"
        " detach neg cumsum repeat"
    )
)
# Where they are evaluated always, they draw random numbers, read on the host, or may give what zero times isn't zero.
FRAGILE = frozenset(
    words(
        "acos asin atanh backward bernoulli cpu div dropout exp expm1 item log log2 log10 log1p masked_select"
        " multinomial nonzero norm normal numpy pow rand rand_like randint randn randn_like randperm reciprocal rsqrt"
        " sqrt tolist unique"
    )
)
NAN_CHECKS = frozenset(words("isnan isinf isneginf isposinf"))
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
Gate = tuple[bool, ast.expr]  # whether the test is "some are set" or "none is", and the mask


def run_always(event: Branch, ctx: Context) -> Fix | None:
    """The first rewrite of this module that is right for a branch."""
    owner = event.owner
    if isinstance(owner, ast.IfExp):
        return divide_always(owner, ctx)
    if not isinstance(owner, ast.If) or event.statement is not owner or ctx.function is None or is_elif(owner, ctx):
        return None
    return scale_always(owner, ctx) or add_always(owner, ctx) or divide_always(owner, ctx) or mask_always(owner, ctx)


# -- a factor of at most one -------------------------------------------------------------------------------------------


def scale_always(owner: ast.If, ctx: Context) -> Fix | None:
    """`if c < 1: x.mul_(c)` → `x.mul_(c.clamp(max=1))`: a factor of one changes nothing."""
    from compilelint.sdk import Fix

    match owner.test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt() | ast.LtE()], comparators=[ast.Constant(value=one)]):
            pass
        case ast.Compare(left=ast.Constant(value=one), ops=[ast.Gt() | ast.GtE()], comparators=[ast.Name(id=name)]):
            pass
        case _:
            return None
    tested = owner.test.left if isinstance(owner.test.left, ast.Name) else owner.test.comparators[0]
    factor = tensor_of(ctx.value(tested))
    if isinstance(one, bool) or one != 1 or factor is None or factor.dtype not in ("float", None):
        return None
    if owner.orelse or not all(_scales(statement, name, ctx) for statement in owner.body):
        return None
    inside = {id(n) for n in ast.walk(owner)}
    assert ctx.function is not None
    elsewhere = [n for n in _uses(name, ctx.function) if id(n) not in inside]
    made = _statement_before(owner, ctx)
    folded = (
        isinstance(made, ast.Assign)
        and [ast.dump(t) for t in made.targets] == [ast.dump(ast.Name(name, ast.Store()))]
        and elsewhere == made.targets
    )

    def build(rw: Rewriter) -> None:
        body = [rw.code(statement) for statement in owner.body]
        if folded:
            assert isinstance(made, ast.Assign)
            rw.replace(made.value, f"{rw.operand(made.value)}.clamp(max=1.0)")
        elif any(isinstance(n.ctx, ast.Load) for n in elsewhere):
            scale = rw.fresh_name("scale", within=ctx.function)
            body = [f"{scale} = {name}.clamp(max=1.0)", *(_renamed(code, name, scale) for code in body)]
        else:
            body = [f"{name} = {name}.clamp(max=1.0)", *body]
        rw.replace_statement(owner, "\n".join(body))

    why = "all is multiplied by one where nothing was done, and by NaN where the factor is NaN"
    return Fix("scale always, by one at most", Applicability.UNSAFE, build, why)


def _scales(statement: ast.stmt, name: str, ctx: Context) -> bool:
    """Whether all that a statement does is multiply tensors by a factor, in place, or in a loop over them."""
    match statement:
        case ast.For(target=ast.Name(id=each), body=body, orelse=[]):
            quiet = each != name and name not in names_in(statement.iter) and _is_quiet(statement.iter, ctx)
            return quiet and all(_scales(inner, name, ctx) for inner in body)
        case ast.If(test=test, body=body, orelse=[]):
            return name not in names_in(test) and all(_scales(inner, name, ctx) for inner in body)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=scaled, attr="mul_"), args=[by], keywords=[])):
            return _is_factor(by, name) and name not in names_in(scaled)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="_foreach_mul_"), args=[scaled, by], keywords=[])):
            return _is_factor(by, name) and name not in names_in(scaled)
        case ast.AugAssign(op=ast.Mult(), target=scaled, value=by):
            tensor = tensor_of(ctx.value(scaled))
            floating = tensor is not None and tensor.dtype in ("float", "complex")
            return floating and _is_factor(by, name) and name not in names_in(scaled)
    return False


def _is_factor(node: ast.expr, name: str) -> bool:
    """`c` or `c.to(device)`."""
    match node:
        case ast.Name(id=found):
            return found == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="to" | "type_as")):
            return found == name
    return False


def _is_quiet(node: ast.expr, ctx: Context) -> bool:
    """Whether an iterable can be gone through always: a name, an attribute, or `model.parameters()`."""
    match node:
        case ast.Name() | ast.Attribute():
            return True
        case ast.Call(func=ast.Attribute(attr="parameters" | "buffers"), args=[], keywords=[]):
            return True
    return False


def _renamed(code: str, name: str, new: str) -> str:
    """The code with each use of a name as another, checked on the tree."""
    import re

    from compilelint.fix.errors import CannotFix

    text = re.sub(rf"(?<![\w.]){re.escape(name)}\b(?!\s*=[^=])", new, code)
    wanted = ast.parse(code)
    for node in ast.walk(wanted):
        if isinstance(node, ast.Name) and node.id == name:
            node.id = new
    if not alike(ast.parse(text), wanted):
        raise CannotFix(f"`{name}` can't be renamed here")
    return text


# -- a summand of zero -------------------------------------------------------------------------------------------------


def add_always(owner: ast.If, ctx: Context) -> Fix | None:
    """`if m.any(): s = s + (x * m).sum()` → always: where no element of `m` is set, what is added is zero."""
    from compilelint.sdk import Fix

    gate = _gate(owner.test, ctx)
    if gate is None or not gate[0] or owner.orelse:
        return None
    for statement in owner.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BinOp(left=ast.Name(id=old), op=ast.Add() | ast.Sub(), right=added),
            ) if name == old:
                total: ast.expr = statement.targets[0]
                before = statement.value.left if isinstance(statement.value, ast.BinOp) else total
            case ast.AugAssign(
                target=ast.Name() | ast.Attribute(value=ast.Name()) as total, op=ast.Add() | ast.Sub(), value=added
            ):
                before = total
            case _:
                return None
        old_value, new_value = tensor_of(ctx.value(before)), tensor_of(ctx.value(added))
        if old_value is None or new_value is None or not _same_type(old_value, new_value):
            return None
        if not vanishes(added, gate[1], ctx) or names_in(gate[1]) & target_names(total):
            return None

    why = "where nothing is selected zero is added; an infinity or NaN there becomes NaN"
    body = owner.body
    return Fix(
        "do it always: where nothing is selected zero is added",
        Applicability.UNSAFE,
        lambda rw: rw.replace_statement(owner, "\n".join(map(rw.code, body))),
        why,
    )


def _same_type(total: Tensor, added: Tensor) -> bool:
    """Whether adding doesn't change the dtype or the shape of the sum, as far as is known."""
    if total.dtype is not None and added.dtype is not None and total.dtype != added.dtype:
        return False
    return total.rank is None or added.rank is None or added.rank <= total.rank


# -- a count of zero ---------------------------------------------------------------------------------------------------


def divide_always(owner: ast.If | ast.IfExp, ctx: Context) -> Fix | None:
    """`if n == 0: return x.sum() * 0` before `return (x * m).sum() / n` → `return (x * m).sum() / n.clamp(min=1)`."""
    from compilelint.sdk import Fix

    gate, arms = _gate(owner.test, ctx), _arms(owner, ctx)
    if gate is None or arms is None:
        return None
    some, mask = gate
    full, empty = arms if some else (arms[1], arms[0])
    if not isinstance(full, ast.BinOp) or not isinstance(full.op, ast.Div):
        return None
    divisor = full.right
    counted = _count_of(divisor, ctx)
    if counted is None or not alike(counted, mask) or not _is_zero(empty, ctx):
        return None
    whole, zero, top = (tensor_of(ctx.value(node)) for node in (full, empty, full.left))
    if whole is None or zero is None or top is None or len({zero.dtype, whole.dtype, None}) > 2:
        return None
    if not vanishes(full.left, mask, ctx) or top.rank != zero.rank or zero.rank is None:
        return None

    def build(rw: Rewriter) -> None:
        rw_divisor = f"{rw.operand(divisor)}.clamp(min=1)"
        value = f"{rw.operand(full.left)} / {rw_divisor}"
        if isinstance(owner, ast.IfExp):
            rw.replace(owner, value)
            return
        first = owner.body[0]
        following = None if owner.orelse else _statement_after(owner, ctx)
        if isinstance(first, ast.Return):
            rw.replace_statement(owner, f"return {value}")
            if following is not None:
                rw.delete_statement(following)
        else:
            assert isinstance(first, ast.Assign)
            rw.replace_statement(owner, f"{rw.code(first.targets[0])} = {value}")

    why = "the sum is zero where nothing is selected, unless an infinity or NaN is multiplied by zero there"
    return Fix("divide by one at least", Applicability.UNSAFE, build, why)


def _arms(owner: ast.If | ast.IfExp, ctx: Context) -> tuple[ast.expr, ast.expr] | None:
    """What is returned, or assigned to one name, where the test holds and where it doesn't."""
    if isinstance(owner, ast.IfExp):
        return owner.body, owner.orelse
    if len(owner.body) != 1 or len(owner.orelse) > 1:
        return None
    other = owner.orelse[0] if owner.orelse else _statement_after(owner, ctx)
    match owner.body[0], other:
        case ast.Return(value=ast.expr() as first), ast.Return(value=ast.expr() as second):
            return first, second
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=first),
            ast.Assign(targets=[ast.Name(id=same)], value=second),
        ) if name == same and owner.orelse:
            return first, second
    return None


def _is_zero(node: ast.expr, ctx: Context) -> bool:
    """`x.sum() * 0.0`, `torch.zeros(…)`, `x.new_zeros(…)`, `torch.tensor(0.0)`."""
    match node:
        case ast.BinOp(op=ast.Mult()):
            for zero, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(zero, ast.Constant) and type(zero.value) in (int, float) and zero.value == 0:
                    return _is_harmless(other, ctx)
            return False
        case ast.Call(func=ast.Attribute(attr="zeros" | "new_zeros" | "zeros_like")):
            return _is_harmless(node, ctx)
        case ast.Call(func=ast.Attribute(attr="tensor" | "new_tensor"), args=[ast.Constant(value=value)]):
            return type(value) in (int, float) and value == 0 and _is_harmless(node, ctx)
    return False


# -- a filter before a sum ---------------------------------------------------------------------------------------------


def mask_always(owner: ast.If, ctx: Context) -> Fix | None:
    """`if bad.any(): v = v[~bad]` → `v = v.masked_fill(bad, 0)`, where only sums, means and counts of `v` follow."""
    from compilelint.sdk import Fix

    match owner:
        case ast.If(
            test=test,
            body=[
                ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id=base), slice=kept) as filtered
                )
            ],
            orelse=[],
        ) if name == base:
            pass
        case _:
            return None
    bad = _dropped(test, kept)
    function = ctx.function
    if bad is None or function is None or tensor_of(ctx.value(filtered.value)) is None:
        return None
    if not _covers(bad, name, owner, ctx) or _in_loop(owner, ctx):
        return None
    later = [n for n in _uses(name, function) if n.lineno > (owner.end_lineno or owner.lineno)]
    uses = [_statistic(use, ctx) for use in later]
    if not uses or not all(uses):
        return None

    def build(rw: Rewriter) -> None:
        rw.replace_statement(owner, f"{name} = {name}.masked_fill({rw.code(bad)}, 0)")
        for use in uses:
            assert use is not None
            node, kind = use
            if kind == "count":
                rw.replace(node, f"(~{rw.operand(bad)}).sum()")
            elif kind == "mean":
                rw.replace(node, f"{name}.sum() / (~{rw.operand(bad)}).sum()")

    why = "zeros are summed in place of what is left out; the count is a tensor"
    return Fix("fill with zeros, and count on the device", Applicability.UNSAFE, build, why)


def _dropped(test: ast.expr, kept: ast.expr) -> ast.expr | None:
    """The mask `bad` of `if bad.any(): v = v[~bad]`."""
    match test, kept:
        case (
            ast.Call(func=ast.Attribute(value=bad, attr="any"), args=[], keywords=[]),
            ast.UnaryOp(op=ast.Invert(), operand=ast.Name() as inverted),
        ) if alike(bad, inverted):
            return inverted
    return None


def _covers(mask: ast.expr, name: str, owner: ast.stmt, ctx: Context) -> bool:
    """Whether a mask was made element by element of a tensor that hasn't changed since: it has the same shape."""
    if not isinstance(mask, ast.Name) or ctx.function is None:
        return False
    stores = [n for n in _uses(mask.id, ctx.function) if isinstance(n.ctx, ast.Store)]
    made = ctx.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(made, ast.Assign) or len(made.targets) != 1 or made.lineno > owner.lineno:
        return False
    between = [
        n
        for n in _uses(name, ctx.function)
        if isinstance(n.ctx, ast.Store) and n.lineno >= made.lineno and not owner.lineno <= n.lineno
    ]
    outside = [
        n
        for n in _uses(name, ctx.function)
        if isinstance(n.ctx, ast.Store) and n.lineno > (owner.end_lineno or owner.lineno)
    ]
    match made.value:
        case ast.Call(func=ast.Attribute(attr=check), args=[ast.Name(id=of)], keywords=[]) if check in NAN_CHECKS:
            torch_function = isinstance(ctx.value(made.value.func), External)
            return of == name and torch_function and not between and not outside
        case ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr=check), args=[], keywords=[]):
            return of == name and check in NAN_CHECKS and not between and not outside
        case ast.Compare(left=ast.Name(id=of), ops=[op], comparators=[number]):
            compared = isinstance(op, COMPARISONS) and is_number(ctx.value(number))
            return of == name and compared and not between and not outside
    return False


def _statistic(use: ast.Name, ctx: Context) -> tuple[ast.expr, str] | None:
    """`v.sum()`, `v.mean()`, or `v.numel()` and `len(v)` where a tensor can stand for the number."""
    parent = ctx.parent(use)
    call = ctx.parent(parent) if isinstance(parent, ast.Attribute) else parent
    if not isinstance(call, ast.Call) or call.keywords:
        return None
    if isinstance(parent, ast.Attribute) and call.func is parent and not call.args:
        if parent.attr == "sum":
            return call, "sum"
        if parent.attr == "mean":
            return call, "mean"
        if parent.attr in ("numel", "nelement") and _takes_tensor(call, ctx):
            return call, "count"
    return None


def _takes_tensor(node: ast.expr, ctx: Context) -> bool:
    """Whether a number meets a tensor of the device in arithmetic, or is added to one."""
    parent = ctx.parent(node)
    other: ast.expr | None = None
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        other = parent.right if parent.left is node else parent.left
    elif isinstance(parent, ast.AugAssign) and parent.value is node:
        other = parent.target
    tensor = tensor_of(ctx.value(other)) if other is not None else None
    return tensor is not None and tensor.device is not Device.CPU and tensor.kind != "numpy"


# -- masks and counts --------------------------------------------------------------------------------------------------


def _gate(test: ast.expr, ctx: Context) -> Gate | None:
    """A test of whether any element of a mask is set, or none is: `m.any()`, `n == 0` with `n = m.sum()`."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            found = _gate(inner, ctx)
            return (not found[0], found[1]) if found is not None else None
        case ast.Call(func=ast.Attribute(value=owner, attr="any"), args=args, keywords=[]):
            if args and not _is_torch(owner, ctx):
                return None
            mask = args[0] if len(args) == 1 else owner if not args else None
            return (True, mask) if mask is not None and _is_mask(mask, ctx) else None
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=bound)]) if type(bound) in (int, float):
            mask = _count_of(left, ctx)
            if mask is None:
                return None
            if (isinstance(op, (ast.Gt, ast.NotEq)) and bound == 0) or (isinstance(op, ast.GtE) and bound == 1):
                return True, mask
            if (isinstance(op, (ast.Eq, ast.LtE)) and bound == 0) or (isinstance(op, ast.Lt) and bound == 1):
                return False, mask
    return None


def _count_of(node: ast.expr, ctx: Context) -> ast.expr | None:
    """The boolean mask that `m.sum()`, or a name that was given that once, counts; a cast of either counts the same."""
    if isinstance(node, ast.Name) and ctx.function is not None:
        stores = [n for n in _uses(node.id, ctx.function) if isinstance(n.ctx, ast.Store)]
        made = ctx.parent(stores[0]) if len(stores) == 1 else None
        if not isinstance(made, ast.Assign) or len(made.targets) != 1 or made.targets[0] is not stores[0]:
            return None
        mask = None if isinstance(made.value, ast.Name) else _count_of(made.value, ctx)
        return mask if mask is not None and _unchanged(mask, made, node, ctx) else None
    match _uncast(node):
        case ast.Call(func=ast.Attribute(value=owner, attr="sum" | "count_nonzero"), args=args, keywords=[]):
            torch_function = _is_torch(owner, ctx)
            if len(args) != (1 if torch_function else 0):
                return None
            counted = _uncast(args[0] if torch_function else owner)
            return counted if _is_mask(counted, ctx) else None
    return None


def _uncast(node: ast.expr) -> ast.expr:
    """What a chain of `.float()`, `.to(…)` casts."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CASTS:
        node = node.func.value
    return node


def _unchanged(mask: ast.expr, made: ast.stmt, use: ast.expr, ctx: Context) -> bool:
    """Whether the names of a mask were given once, before it was counted."""
    assert ctx.function is not None
    stores = [n for name in names_in(mask) for n in _uses(name, ctx.function) if isinstance(n.ctx, ast.Store)]
    return len({n.id for n in stores}) == len(stores) and all(n.lineno <= made.lineno for n in stores)


def _is_mask(node: ast.expr, ctx: Context) -> bool:
    """A name, or a comparison of names, that is a boolean tensor."""
    tensor = tensor_of(ctx.value(node))
    return isinstance(node, (ast.Name, ast.Compare, ast.Attribute)) and tensor is not None and tensor.dtype == "bool"


def vanishes(node: ast.expr, mask: ast.expr, ctx: Context) -> bool:
    """Whether an expression is zero where no element of a mask is set, given that what it multiplies is finite."""
    if alike(node, mask):
        return True
    match node:
        case ast.BinOp(op=ast.Mult() | ast.MatMult()):
            left, right = vanishes(node.left, mask, ctx), vanishes(node.right, mask, ctx)
            return (left and (right or _is_harmless(node.right, ctx))) or (right and _is_harmless(node.left, ctx))
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return vanishes(node.left, mask, ctx) and vanishes(node.right, mask, ctx)
        case ast.BinOp(op=ast.Div(), right=divisor):
            value = ctx.value(divisor)
            return isinstance(value, Const) and bool(value.value) and vanishes(node.left, mask, ctx)
        case ast.UnaryOp(op=ast.USub()):
            return vanishes(node.operand, mask, ctx)
        case ast.Subscript():
            return _keeps_all(node.slice) and vanishes(node.value, mask, ctx)
        case ast.Call(func=ast.Attribute(value=owner, attr="where"), args=[condition, value, other]):
            zero = isinstance(other, ast.Constant) and type(other.value) in (int, float) and other.value == 0
            selects = vanishes(condition, mask, ctx)
            return zero and selects and _is_torch(owner, ctx) and _is_harmless(value, ctx)
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args, keywords=keywords):
            given = [*args, *(keyword.value for keyword in keywords)]
            if method not in LINEAR or not all(_is_harmless(a, ctx) for a in given):
                return False
            if _is_torch(owner, ctx):
                return bool(args) and vanishes(args[0], mask, ctx)
            return vanishes(owner, mask, ctx)
    return False


def _keeps_all(index: ast.expr) -> bool:
    """`[:, None]`, `[..., None]`: no element is left out, and none can be missing."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(
        (isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None)
        or (isinstance(part, ast.Constant) and part.value in (None, ...))
        for part in parts
    )


def _is_harmless(node: ast.expr, ctx: Context) -> bool:
    """Whether an expression can be evaluated always: no effect, no random number, no read, no new infinity."""
    for part in ast.walk(node):
        match part:
            case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr() | ast.Lambda() | ast.Starred():
                return False
            case ast.BinOp(op=ast.Div() | ast.Pow() | ast.FloorDiv() | ast.Mod(), right=right):
                value = ctx.value(right)
                if not isinstance(value, Const) or not value.value:
                    return False
            case ast.Subscript():
                if not _keeps_all(part.slice) and not _is_size(part, ctx) and not _is_part(part.slice, ctx):
                    return False
            case ast.Call(func=ast.Attribute(value=owner, attr=method)):
                if method in FRAGILE or method.endswith("_"):
                    return False
                if not _is_torch(owner, ctx) and tensor_of(ctx.value(owner)) is None:
                    return False
            case ast.Call():
                return False
    return True


def _is_part(index: ast.expr, ctx: Context) -> bool:
    """`[a:b]` with numbers for bounds: a slice that goes too far stops there."""
    if not isinstance(index, ast.Slice) or index.step is not None:
        return False
    return all(bound is None or is_number(ctx.value(bound)) for bound in (index.lower, index.upper))


def _is_size(node: ast.Subscript, ctx: Context) -> bool:
    """`x.shape[0]`."""
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and is_number(ctx.value(node))


def _is_torch(node: ast.expr, ctx: Context) -> bool:
    owner = ctx.value(node)
    return isinstance(owner, (Namespace, External)) and owner.name.split(".")[0] == "torch"


# -- places ------------------------------------------------------------------------------------------------------------


def _uses(name: str, function: ast.AST) -> list[ast.Name]:
    return list(named(function, name))


def _in_loop(node: ast.AST, ctx: Context) -> bool:
    parent = ctx.parent(node)
    while parent is not None and parent is not ctx.function:
        if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
            return True
        parent = ctx.parent(parent)
    return False


def _block(statement: ast.stmt, ctx: Context) -> Sequence[ast.stmt]:
    parent = ctx.parent(statement)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


def _statement_after(statement: ast.stmt, ctx: Context) -> ast.stmt | None:
    block = _block(statement, ctx)
    index = block.index(statement) + 1
    return block[index] if index < len(block) else None


def _statement_before(statement: ast.stmt, ctx: Context) -> ast.stmt | None:
    block = _block(statement, ctx)
    index = block.index(statement)
    return block[index - 1] if index else None
