"""Numbers that the host has as well: tensors made of a Python list that whoever calls can pass in their place.

Part of `compilelint.sdk`, which is where rules import from.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import Const, External, Namespace, Scalar, Seq, tensor_of
from compilelint.finding import Applicability
from compilelint.idioms import is_host_number, is_number, target_names
from compilelint.rewrites.untouched import is_made_here, is_untouched
from compilelint.source.walk import loaded, named, nodes_of, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compilelint.engine.events import Branch, Call, Convert, Event
    from compilelint.engine.values import Value
    from compilelint.fix.rewriter import Rewriter
    from compilelint.sdk import Context, Fix, Frame

COPIES = ("torch.tensor", "torch.as_tensor", "torch.LongTensor", "torch.IntTensor")
MOVES = ("to", "cuda", "contiguous", "pin_memory")
# What takes a Python number where it takes a 0-d tensor.
TAKES_NUMBERS = frozenset(
    words(
        "linspace arange zeros ones full empty view reshape expand new_zeros new_ones new_full split range min max int"
    )
)
CHANGES = frozenset(words("append extend insert pop remove clear sort reverse"))
OVER_ALL = {"sum": "sum", "max": "max", "min": "min", "amax": "max", "amin": "min"}
DEPTH = 6  # calls looked through


def pass_the_list(event: Event, ctx: Context) -> Fix | None:
    """`for h, w in shapes:` over a tensor, `h` and `w` needed as numbers → callers pass the list it was made of."""
    from compilelint.sdk import Fix

    function = ctx.function
    found = next(((each, rows) for each in _loops(event.node, ctx) if (rows := _rows(each, ctx)) is not None), None)
    if function is None or isinstance(function, ast.Lambda) or found is None:
        return None
    loop, (parameter, numbers) = found
    uses = list(named(function, parameter))
    over = [r for each in nodes_of(function, ast.For) if (r := _rows(each, ctx)) is not None]
    if sum(name == parameter for name, _ in over) != len(uses) or not _are_numbers(numbers, loop, ctx):
        return None
    if not _depends(event.node, numbers, loop):
        return None
    places = _places(parameter, function, ctx)
    if not places:
        return None

    def build(rw: Rewriter) -> None:
        for given, twin in places.items():
            rw.replace(given, twin)

    why = f"`{parameter}` is a list then; its numbers are those the tensor was made of"
    return Fix("pass the list that the tensor was made of", Applicability.UNSAFE, build, why)


def _places(
    parameter: str, function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context
) -> dict[ast.expr, str] | None:
    """Where calls pass tensors for a parameter, and the lists these were made of; None where one has no list."""
    places: dict[ast.expr, str] = {}
    for frame, call in written_calls(ctx):
        given = argument(call, parameter, function, ctx)
        tensor = tensor_of(frame.value(given)) if given is not None else None
        if given is None or not isinstance(given, ast.Name):
            return None
        if tensor is None:
            continue  # another caller passes a list already
        twin = host_twin(given.id, frame)
        if twin is None or tensor.dtype not in ("int", None) or not ctx.is_here(frame):
            return None
        places[given] = twin
    return places


def read_the_list(event: Call | Convert, ctx: Context) -> Fix | None:
    """`lengths.max().item()` → `max(sizes)`, where `lengths` was made of the list `sizes`, here or by who calls."""
    from compilelint.sdk import Fix

    function, read = ctx.function, _read_of_list(event.node)
    if function is None or isinstance(function, ast.Lambda) or read is None:
        return None
    name, how = read
    tensor = tensor_of(ctx.value(name))
    if tensor is None or tensor.dtype not in ("int", None):
        return None
    twin = host_twin(name.id, ctx)
    if twin is not None:
        safety = _trust(name.id, twin, function, ctx)
        if safety is None:
            return None

        def build(rw: Rewriter) -> None:
            rw.replace(event.node, f"{how}({twin})")

        here = safety is Applicability.SAFE and tensor.dtype == "int"
        why = "the list has the same numbers" + ("" if here else ", as far as this function and calls in sight tell")
        return Fix("read the list", Applicability.SAFE if here else Applicability.UNSAFE, build, why)
    return _read_what_is_passed(name.id, function, ctx)


def _read_what_is_passed(parameter: str, function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context) -> Fix | None:
    """All that a function does with a parameter is such reads: callers pass the list."""
    from compilelint.sdk import Fix

    declared = next((a for a in ast.walk(function.args) if isinstance(a, ast.arg) and a.arg == parameter), None)
    if declared is None or declared.annotation is not None or not (places := _places(parameter, function, ctx)):
        return None
    reads = {}
    for use in named(function, parameter):
        whole = ctx.parent(use)
        while isinstance(whole, ast.expr) and _read_of_list(whole) is None:
            whole = ctx.parent(whole)
        found = _read_of_list(whole) if isinstance(whole, ast.expr) else None
        if found is None or found[0] is not use or not isinstance(whole, ast.expr):
            return None
        reads[whole] = found[1]
    if not reads:
        return None
    for frame, call in written_calls(ctx):
        given = argument(call, parameter, function, ctx)
        if given in places and (frame.function is None or not is_flat(places[given], frame.function, frame)):
            return None
    unused = [store for frame, _ in written_calls(ctx) for store in _used_up(places, frame)]

    def build(rw: Rewriter) -> None:
        for read, how in reads.items():
            rw.replace(read, f"{how}({parameter})")
        for given, twin in places.items():
            rw.replace(given, twin)
        for statement in dict.fromkeys(unused):
            rw.delete_statement(statement)

    why = f"`{parameter}` is a list then; its numbers are those the tensor was made of"
    return Fix("pass the list that the tensor was made of", Applicability.UNSAFE, build, why)


def _read_of_list(node: ast.AST) -> tuple[ast.Name, str] | None:
    """The tensor in `t.max().item()`, `int(t.sum())`, `t.tolist()`, and what to call on its list."""
    match node:
        case ast.Call(func=ast.Attribute(value=reduced, attr="item"), args=[], keywords=[]):
            pass
        case ast.Call(func=ast.Name(id="int"), args=[reduced], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="tolist"), args=[], keywords=[]):
            return name, "list"
        case _:
            return None
    match reduced:
        case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=how), args=[], keywords=[]) if how in OVER_ALL:
            return name, OVER_ALL[how]
    return None


def is_flat(name: str, function: ast.AST, frame: Frame) -> bool:
    """Whether a list, as far as the function that has it tells, holds numbers and no lists."""
    for node in nodes_of(function, ast.AST):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            value = frame.value(node)
            if isinstance(value, Seq):
                items = value.items if value.items is not None else (value.element,)
                return bool(items) and all(is_number(item) for item in items)
    return False


def _used_up(places: dict[ast.expr, str], frame: Frame) -> Iterator[ast.stmt]:
    """The assignments of a function to names that nothing else reads than the arguments that are exchanged."""
    if frame.function is None:
        return
    for given in places:
        uses = [
            n
            for n in ast.walk(frame.function)
            if isinstance(n, ast.Name) and isinstance(given, ast.Name) and n.id == given.id
        ]
        if given in uses and all(n in places or isinstance(n.ctx, ast.Store) for n in uses):
            for n in uses:
                made = frame.parent(n)
                if isinstance(n.ctx, ast.Store) and isinstance(made, ast.Assign) and made.targets == [n]:
                    yield made


def ask_the_list(event: Branch, ctx: Context) -> Fix | None:
    """`if (shapes[:, 0] * shapes[:, 1]).sum() != n:` where the list that `shapes` was made of is at hand, too."""
    from compilelint.sdk import Fix

    reduced: dict[ast.expr, tuple[str, str]] = {}  # a number, how Python takes it of all rows, and what of each row
    tensors = set()
    for node in ast.walk(event.node):
        match node:
            case ast.Call(func=ast.Attribute(value=rows, attr=how), args=[], keywords=[]) if how in OVER_ALL:
                each = _of_row(rows, ctx)
                if each is not None:
                    tensors.add(each[1])
                    reduced[node] = (OVER_ALL[how], each[0])
    if len(tensors) != 1 or not isinstance(event.node, ast.Compare):
        return None
    tensor = tensors.pop()
    if not all(_is_host(side, reduced, ctx) for side in (event.node.left, *event.node.comparators)):
        return None
    twin = host_twin(tensor, ctx)
    if twin is None:
        return None

    def build(rw: Rewriter) -> None:
        taken = {n.id for n in nodes_of(ctx.function, ast.Name)} if ctx.function else set()
        row = "row" if "row" not in taken else rw.fresh_name("row", within=ctx.function)
        for node, (how, each) in reduced.items():
            rw.replace(node, f"{how}({each.format(row=row)} for {row} in {twin})")

    why = f"`{twin}` has the numbers that `{tensor}` was made of, as far as calls in sight tell"
    return Fix("test the list that the tensor was made of", Applicability.UNSAFE, build, why)


def counted_by_list(event: Call, ctx: Context) -> Fix | None:
    """`repeat_interleave(x, counts)` with `counts` made of the list `sizes` → `output_size=sum(sizes)`."""
    from compilelint.sdk import Fix

    call, function = event.node, ctx.function
    if not isinstance(call, ast.Call) or function is None or isinstance(function, ast.Lambda):
        return None
    place = 0 if event.target.startswith("Tensor.") or len(call.args) == 1 else 1
    counts = call.args[place] if place < len(call.args) else None
    counts = next((k.value for k in call.keywords if k.arg == "repeats"), counts)
    if not isinstance(counts, ast.Name):
        return None
    if (total := _total_of(counts.id, function, ctx)) is not None:
        whole = total
        return Fix(
            "tell it the size of the result",
            Applicability.UNSAFE,
            lambda rw: rw.add_argument(call, f"output_size={whole}"),
            "the counts are those of all elements; what else `scatter_add_` adds up would be wrong",
        )
    twin = host_twin(counts.id, ctx)
    safety = _trust(counts.id, twin, function, ctx) if twin is not None else None
    if safety is None:
        return None
    why = "the same number, which the operator would add up itself"
    if safety is not Applicability.SAFE:
        why += ", as far as this function and calls in sight tell"
    return Fix(
        "tell it the size of the result",
        safety,
        lambda rw: rw.add_argument(call, f"output_size=sum({twin})"),
        why,
    )


def _trust(
    name: str, twin: str, function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context
) -> Applicability | None:
    """How safe it is to take a list for the tensor that was made of it; None where something may write into either."""
    bound = next((ctx.parent(n) for n in stored(function, name)), None)
    made = bound if isinstance(bound, ast.Assign) else function.body[0]
    if not is_flat(twin, function, ctx) or not all(is_untouched(each, made, ctx) for each in (name, twin)):
        return None
    written = bound is made and is_made_here(twin, made, ctx) and _keeps_dtype(bound) and _are_integers(twin, ctx)
    return Applicability.SAFE if written else Applicability.UNSAFE


def _keeps_dtype(made: ast.AST) -> bool:
    """Whether what was made of a list was moved to devices alone: `.to(torch.uint8)` could wrap its numbers."""
    calls = [n for n in ast.walk(made) if isinstance(n, ast.Call)]
    to = [n for n in calls if isinstance(n.func, ast.Attribute) and n.func.attr == "to"]
    given = [*(a for n in to for a in n.args), *(k.value for n in to for k in n.keywords if k.arg != "non_blocking")]
    return all(isinstance(a, (ast.Name, ast.Attribute)) and ast.unparse(a).endswith("device") for a in given)


def _are_integers(twin: str, frame: Frame) -> bool:
    """Whether all elements of a list are known to be integers, and no bools, wherever the function reads it."""
    values = [frame.value(n) for n in loaded(frame.function, twin)] if frame.function else []
    lists = [value.items for value in values if isinstance(value, Seq)]
    return bool(lists) and all(items and all(_is_integer(item) for item in items) for items in lists)


def _is_integer(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) is int
    return isinstance(value, Scalar) and value.type == "int"


def _total_of(counts: str, function: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context) -> str | None:
    """How many elements were counted: `counts = torch.bincount(batch)`, `batch.bincount()`, `one_hot(batch).sum(0)`."""
    made = [ctx.parent(n) for n in stored(function, counts)]
    if len(made) != 1 or not isinstance(made[0], ast.Assign) or len(made[0].targets) != 1:
        return None
    match made[0].value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=counted) as of, attr="bincount"), args=[]):
            pass
        case ast.Call(func=ast.Attribute(attr="bincount"), args=[ast.Name(id=counted) as of]):
            pass
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Attribute(attr="one_hot") | ast.Name(id="one_hot"), args=[of, *_]), attr="sum"
            ),
            args=[ast.Constant(value=0)],
        ) if isinstance(of, ast.Name):
            counted = of.id
        case ast.Call(
            func=ast.Attribute(attr="scatter_add_" | "scatter_add" | "index_add_" | "index_add"),
            args=[ast.Constant(value=0), ast.Name(id=counted) as of, ones],
        ) if _are_ones(ones, counted, function, ctx):
            pass
        case _:
            return None
    changed = any(n.lineno >= made[0].lineno for n in named(function, counted) if not isinstance(n.ctx, ast.Load))
    if tensor_of(ctx.value(of)) is None or changed:
        return None
    return f"{counted}.shape[0]"


def _are_ones(node: ast.expr, counted: str, function: ast.AST, ctx: Context) -> bool:
    """`torch.ones_like(batch)`, there or under the only name that was given to it."""
    if isinstance(node, ast.Name):
        made = [ctx.parent(n) for n in stored(function, node.id)]
        return len(made) == 1 and isinstance(made[0], ast.Assign) and _are_ones(made[0].value, counted, function, ctx)
    match node:
        case ast.Call(func=ast.Attribute(attr="ones_like"), args=[ast.Name(id=found), *_]):
            return found == counted
    return False


def _of_row(node: ast.expr, ctx: Context) -> tuple[str, str] | None:
    """What an expression over the rows of a tensor is for one, `{row}[0] * {row}[1]`, and the tensor's name."""
    match node:
        case ast.Subscript(
            value=ast.Name(id=name),
            slice=ast.Tuple(elts=[ast.Slice(None, None, None), ast.Constant(value=int(column))]),
        ):
            tensor = tensor_of(ctx.value(node.value))
            return ("{row}" + f"[{column}]", name) if tensor is not None and tensor.dtype in ("int", None) else None
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operator, right=right):
            one, other = _of_row(left, ctx), _of_row(right, ctx)
            if one is None or other is None or one[1] != other[1]:
                return None
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(operator)]
            plain = all(isinstance(side, ast.Subscript) for side in (left, right))
            return (f"{one[0]} {sign} {other[0]}" if plain else f"({one[0]}) {sign} ({other[0]})", one[1])
    return None


def _is_host(node: ast.expr, reduced: dict[ast.expr, tuple[str, str]], ctx: Context) -> bool:
    """Whether one side of a comparison is a number that the host has, once the reductions are."""
    return node in reduced or is_host_number(ctx.value(node))


def host_twin(name: str, frame: Frame, depth: int = 0) -> str | None:
    """The name, in the same function, of the list that holds what the tensor `name` does."""
    function = frame.function
    if function is None or isinstance(function, ast.Lambda) or depth > DEPTH:
        return None
    stores = stored(function, name)
    parameters = _parameters(function)
    if stores:
        made = frame.parent(stores[0])
        if len(stores) > 1 or name in parameters or not isinstance(made, ast.Assign) or len(made.targets) != 1:
            return None
        return _copied_list(made.value, made, frame)
    if name not in parameters:
        return None
    found: str | None = None
    for caller, call in written_calls(frame):
        given = argument(call, name, function, frame)
        twin = host_twin(given.id, caller, depth + 1) if isinstance(given, ast.Name) else None
        if twin is None:
            return None
        both = [p for p in parameters if _is_name(argument(call, p, function, frame), twin) and p != name]
        if len(both) != 1 or (found is not None and found != both[0]):
            return None
        found = both[0]
    return None if found is None or _changed(found, function, 0) else found


def written_calls(callee: Frame) -> Iterator[tuple[Frame, ast.Call]]:
    """The calls of a function that write out what they pass; not `f(*args)`, nor those that another makes for them."""
    for frame, call in callee.calls():
        through = isinstance(frame.value(call.func), External)
        if not through and not any(isinstance(a, ast.Starred) for a in call.args):
            yield frame, call


def _copied_list(made: ast.expr, statement: ast.Assign, frame: Frame) -> str | None:
    """The `sizes` of `torch.as_tensor(sizes, …)`, where nothing changes it afterwards."""
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in MOVES:
        made = made.func.value
    if not isinstance(made, ast.Call) or not made.args or not isinstance(made.args[0], ast.Name):
        return None
    function, name = frame.value(made.func), made.args[0].id
    if not isinstance(function, (External, Namespace)) or function.name not in COPIES or frame.function is None:
        return None
    if tensor_of(frame.value(made.args[0])) is not None or _changed(name, frame.function, statement.lineno):
        return None
    return name


def _changed(name: str, function: ast.AST, line: int) -> bool:
    """Whether a list is changed or bound anew behind a line."""
    for node in nodes_of(function, ast.AST):
        if getattr(node, "lineno", 0) < line:
            continue
        match node:
            case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr=method)) if found == name:
                if method in CHANGES:
                    return True
            case ast.Subscript(value=ast.Name(id=found), ctx=ast.Store() | ast.Del()) if found == name:
                return True
    return False


def _rows(loop: ast.For, ctx: Context) -> tuple[str, set[str]] | None:
    """The parameter whose rows a loop takes apart and the names of their numbers: `for i, (h, w) in enumerate(p)`."""
    over, target = loop.iter, loop.target
    match over:
        case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name() as inner], keywords=[]):
            if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                return None
            over, target = inner, target.elts[1]
    if not isinstance(over, ast.Name) or ctx.function is None or isinstance(ctx.function, ast.Lambda):
        return None
    if over.id not in _parameters(ctx.function) or tensor_of(ctx.value(over)) is None:
        return None
    return (over.id, target_names(target)) if isinstance(target, ast.Tuple) else None


def _are_numbers(names: set[str], loop: ast.For, ctx: Context) -> bool:
    """Whether all uses of the names in a loop take Python numbers: arithmetic, sizes, bounds."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            parent = ctx.parent(node)
            if isinstance(parent, (ast.keyword, ast.Tuple, ast.List)):
                parent = ctx.parent(parent)
            match parent:
                case ast.BinOp() | ast.Compare() | ast.AugAssign() | ast.UnaryOp() | ast.Slice():
                    continue
                case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in TAKES_NUMBERS:
                    continue
            return False
    return True


def _depends(node: ast.AST, names: set[str], loop: ast.For) -> bool:
    """Whether an expression in a loop has to do with names that the loop binds, or with what is made of them."""
    tainted = set(names)
    while True:
        new = set(tainted)
        for statement in ast.walk(loop):
            if isinstance(statement, (ast.Assign, ast.AugAssign)) and _names(statement.value) & tainted:
                for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                    new |= target_names(target)
        if new == tainted:
            return bool(_names(node) & tainted)
        tainted = new


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _loops(node: ast.AST, ctx: Context) -> Iterator[ast.For]:
    parent = ctx.parent(node)
    while parent is not None and parent is not ctx.function:
        if isinstance(parent, ast.For):
            yield parent
        parent = ctx.parent(parent)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = function.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def argument(
    call: ast.Call, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame
) -> ast.expr | None:
    """What a call passes for a parameter, as far as it is written there."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(frame.parent(function), ast.ClassDef) and not _is_static(function):
        positional = positional[1:]
    if name not in positional or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    place = positional.index(name)
    return call.args[place] if place < len(call.args) else None


def _is_static(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)


def _is_name(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
