"""Sparse tensors: what makes them, and which operations on them give sparse ones again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from compilelint.engine.values import Seq, Tensor, Union, Value, tensor_of

if TYPE_CHECKING:
    from compilelint.engine.calls import Arguments

LAYOUTS = "coo csr csc bsr bsc compressed".split()
FACTORIES = frozenset(f"sparse_{layout}_tensor" for layout in LAYOUTS)
MAKERS = frozenset(("to_sparse", "sparse_mask", *(f"to_sparse_{layout}" for layout in LAYOUTS)))
KEEPS = frozenset(
    """coalesce t transpose to cuda cpu float double half bfloat16 clone detach neg requires_grad_ T mT data
    sparse_resize_ sparse_resize_and_clear_ index_select contiguous""".split()
)
OF_ALL = frozenset("mm matmul add sub mul cat stack".split())  # sparse where all that they are given is


def is_sparse(value: Value) -> bool:
    if not isinstance(value, (Tensor, Union)):
        return False
    tensor = tensor_of(value)
    return tensor is not None and tensor.kind == "sparse"


def holds_sparse(value: Value) -> bool:
    """Whether a value is a sparse tensor or a list of such."""
    return is_sparse(value.any_item() if isinstance(value, Seq) else value)


def method(receiver: Tensor, name: str, result: Value) -> Value:
    """The result of a method or an attribute of a tensor."""
    return _sparse(result, name in MAKERS or (receiver.kind == "sparse" and name in KEEPS))


def function(name: str, arguments: Arguments, result: Value) -> Value:
    """The result of a function of torch or torch.sparse."""
    given = [v for v in arguments.args if holds_sparse(v) or tensor_of(v) is not None]
    return _sparse(result, name in FACTORIES or (name in OF_ALL and bool(given) and all(map(holds_sparse, given))))


def _sparse(result: Value, sparse: bool) -> Value:
    return replace(result, kind="sparse") if sparse and isinstance(result, Tensor) else result
