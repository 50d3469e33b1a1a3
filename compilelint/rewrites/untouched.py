"""Whether a list, or the tensor made of it, is only read in a function: under one name, with nothing that could write.

A tensor and the list that it was made of have the same numbers only as long as nobody writes into either.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from compilelint.breaks import words
from compilelint.engine.values import External, Namespace, tensor_of
from compilelint.source.walk import named, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compilelint.sdk import Frame

# What reads a tensor and gives no view of it, as a method or as a function of torch; of lists these, too.
READS = frozenset(words("repeat_interleave sum max min amax amin tolist item cumsum mean prod size dim numel"))
LIST_READS = READS | frozenset(
    words("tensor as_tensor LongTensor IntTensor new_tensor split split_with_sizes index count copy")
)
BUILTINS = frozenset(words("len int float"))
LIST_BUILTINS = BUILTINS | frozenset(words("sum max min list tuple sorted enumerate zip range any all"))
FACTS = frozenset(words("shape dtype device ndim"))
GROWS = frozenset(words("append extend insert"))
AGAIN = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)  # what runs it later


def is_untouched(name: str, made: ast.stmt, frame: Frame) -> bool:
    """Whether all that a function does with a name is bind it once and read it; a list may grow before `made`.

    `made`: the statement that makes the tensor of the list."""
    function = frame.function
    if function is None:
        return False
    uses = named(function, name)
    return sum(not isinstance(n.ctx, ast.Load) for n in uses) <= 1 and all(
        isinstance(n.ctx, ast.Store) or _is_read(n, frame) or _is_grown_before(n, made, frame) for n in uses
    )


def is_made_here(name: str, made: ast.stmt, frame: Frame) -> bool:
    """Whether a name is bound to a list written out in the function, outside loops, before `made`."""
    stores = stored(frame.function, name) if frame.function else ()
    statement = frame.parent(stores[0]) if len(stores) == 1 else None
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.List() | ast.Tuple()):
            return statement.lineno < made.lineno and not _runs_again(statement, frame)
    return False


def _is_read(node: ast.Name, frame: Frame) -> bool:
    parent, is_list = frame.parent(node), tensor_of(frame.value(node)) is None
    match parent:
        case ast.BinOp() | ast.Compare() | ast.Return():
            return True
        case ast.For() | ast.comprehension():
            return is_list  # the rows of a tensor are views
        case ast.Tuple():
            return isinstance(frame.parent(parent), ast.Return)
        case ast.Subscript(value=base, ctx=ast.Load()) if base is node:
            return is_list or isinstance(frame.parent(parent), (ast.BinOp, ast.Compare))
        case ast.Attribute(attr=attr):
            call = frame.parent(parent)
            called = isinstance(call, ast.Call) and call.func is parent
            return attr in (LIST_READS if is_list else READS) if called else attr in FACTS
        case ast.keyword():
            call = frame.parent(parent)
            return isinstance(call, ast.Call) and parent.arg != "out" and _only_reads(call, is_list, frame)
        case ast.Call():
            return node in parent.args and _only_reads(parent, is_list, frame)
    return False


def _only_reads(call: ast.Call, is_list: bool, frame: Frame) -> bool:
    """Whether a call does nothing to a list, or to a tensor, that it is given."""
    reads, function = LIST_READS if is_list else READS, frame.value(call.func)
    match call.func:
        case ast.Name(id=name) if name in (LIST_BUILTINS if is_list else BUILTINS):
            return True
        case ast.Attribute(value=owner, attr=attr) if attr in reads and tensor_of(frame.value(owner)) is not None:
            return True
    if not isinstance(function, (External, Namespace)) or not function.name.startswith("torch."):
        return False
    return function.name.rpartition(".")[2] in reads


def _is_grown_before(node: ast.Name, made: ast.stmt, frame: Frame) -> bool:
    """`sizes.append(n)` ahead of the statement that makes the tensor, which no loop runs twice."""
    match frame.parent(node):
        case ast.Attribute(attr=attr) if attr in GROWS:
            return node.lineno < made.lineno and not _runs_again(made, frame) and not _is_in_function(node, frame)
    return False


def _runs_again(node: ast.AST, frame: Frame) -> bool:
    return any(isinstance(each, AGAIN) for each in _above(node, frame))


def _is_in_function(node: ast.AST, frame: Frame) -> bool:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return any(isinstance(each, functions) for each in _above(node, frame))


def _above(node: ast.AST, frame: Frame) -> Iterator[ast.AST]:
    """The nodes around one within the function."""
    above = frame.parent(node)
    while above is not None and above is not frame.function:
        yield above
        above = frame.parent(above)
