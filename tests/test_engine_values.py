"""The lattice of values: joins, widening, keys."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreted import shown

from compilelint.engine.values import (
    MAX_DEPTH,
    MAX_OPTIONS,
    NONE,
    UNKNOWN,
    Compiled,
    Const,
    Device,
    External,
    Flow,
    Instance,
    Map,
    Method,
    Namespace,
    Origin,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    data_dependent,
    declared,
    join,
    join_all,
    key,
    on_device,
    options,
    same,
    tensor_of,
    walk,
    widened,
    without_none,
)

CONSTANTS = st.sampled_from([None, True, False, 0, 1, 2, 0.5, 1.0, "a", "b", b"x", ...])
TENSORS = st.builds(
    Tensor,
    device=st.sampled_from(Device),
    dtype=st.sampled_from([None, "bool", "int", "float"]),
    rank=st.sampled_from([None, 0, 1, 2]),
    pinned=st.booleans(),
    kind=st.sampled_from(["", "parameter", "numpy"]),
    dynamic=st.booleans(),
    constant=st.booleans(),
)
SCALARS = st.builds(Scalar, type=st.sampled_from(["int", "float", "bool", "str", "number"]), flow=st.sampled_from(Flow))
NAMES = st.sampled_from(["torch.relu", "time.time", "print"])
LEAVES = st.one_of(
    st.just(UNKNOWN),
    st.builds(Const, CONSTANTS),
    TENSORS,
    SCALARS,
    st.builds(External, NAMES),
    st.builds(Namespace, st.sampled_from(["a", "b"])),
)


def _containers(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    known = st.lists(inner, max_size=3).map(tuple)
    kinds = st.sampled_from(["list", "tuple"])
    return st.one_of(
        st.builds(Seq, kind=kinds, items=known),
        st.builds(Seq, kind=kinds, items=st.none(), element=inner),
        st.builds(Map, items=st.dictionaries(st.sampled_from("abc"), inner, max_size=2)),
        st.builds(Map, items=st.none(), key=st.just(Scalar("str")), element=inner),
        st.builds(Instance, external=NAMES, attrs=st.dictionaries(st.sampled_from("xy"), inner, max_size=2)),
        st.builds(Compiled, inner),
        st.builds(Method, st.sampled_from(["item", "sum"]), inner),
        st.builds(Partial, inner, st.lists(inner, max_size=2).map(tuple)),
        st.builds(join, inner, inner),
        st.builds(join, inner, inner).map(declared),
    )


VALUES = st.recursive(LEAVES, _containers, max_leaves=6)


def essence(value: Value) -> Any:
    """The key, blind to the order of a dict's items."""
    return _sorted(key(value))


def _sorted(part: Any) -> Any:
    if isinstance(part, frozenset):
        return frozenset(_sorted(p) for p in part)
    if isinstance(part, tuple):
        if part[:1] == ("D",):
            return ("D", frozenset((k, _sorted(v)) for k, v in part[1]))
        return tuple(_sorted(p) for p in part)
    return part


@given(VALUES, VALUES)
@settings(max_examples=100, deadline=None)
def test_join_is_commutative(a: Value, b: Value) -> None:
    assert essence(join(a, b)) == essence(join(b, a))


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_join_is_idempotent(a: Value) -> None:
    assert essence(join(a, a)) == essence(a)


@given(VALUES, VALUES)
@settings(max_examples=100, deadline=None)
def test_a_join_is_above_both(a: Value, b: Value) -> None:
    top = join(a, b)
    assert essence(join(a, top)) == essence(top)
    assert essence(join(top, b)) == essence(top)


@given(VALUES, VALUES, VALUES)
@settings(max_examples=100, deadline=None)
def test_join_is_monotone(a: Value, x: Value, c: Value) -> None:
    b = join(a, x)  # a ⊑ b
    low, high = join(a, c), join(b, c)
    assert essence(join(low, high)) == essence(high)


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_unknown_is_the_top(a: Value) -> None:
    assert isinstance(join(a, UNKNOWN), Unknown)
    assert isinstance(join(UNKNOWN, a), Unknown)


@given(st.lists(VALUES, max_size=8))
@settings(max_examples=100, deadline=None)
def test_a_union_is_flat_and_small(values: list[Value]) -> None:
    joined = join_all(values)
    if isinstance(joined, Union):
        assert 2 <= len(joined.options) <= MAX_OPTIONS
        assert not any(isinstance(v, Union | Unknown) for v in joined.options)


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_widening_goes_up_and_ends(a: Value) -> None:
    wide = widened(a)
    assert essence(widened(wide)) == essence(wide)
    assert essence(join(a, wide)) == essence(wide)


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_keys_are_hashable_and_deterministic(a: Value) -> None:
    assert hash(key(a)) == hash(key(a))
    assert same(a, a)


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_walk_is_bounded(a: Value) -> None:
    assert len(list(walk(a))) < 2_000


def test_widening_of_chains_ends() -> None:
    """A value that grows at each pass of a loop becomes stable."""
    value: Value = Seq("list", ())
    seen = []
    for _ in range(2 * MAX_DEPTH + 2):
        grown = join(value, Seq("list", (value,)))
        seen.append(same(grown, value))
        value = grown
    assert seen[-1]


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (Const(1), Const(1), Const(1)),
        (Const(1), Const(2), Scalar("int")),
        (Const("a"), Const("b"), Scalar("str")),
        (Const(None), Const(1), Union((NONE, Const(1)))),
        (Const(1), Scalar("int", Flow.DATA), Scalar("int", Flow.DATA)),
        (Scalar("int"), Scalar("float", Flow.SYMBOLIC), Scalar("number", Flow.SYMBOLIC)),
        (Scalar("str"), Scalar("int"), Union((Scalar("str"), Scalar("int")))),
        (Tensor(Device.CPU), Tensor(Device.CPU), Tensor(Device.CPU)),
        (Tensor(Device.CPU), Tensor(Device.DEVICE), Tensor(Device.UNKNOWN)),
        (Tensor(dtype="int", rank=1), Tensor(dtype="float", rank=1), Tensor(rank=1)),
        (Tensor(dynamic=True), Tensor(), Tensor(dynamic=True)),
        (Tensor(constant=True), Tensor(), Tensor()),
        (Tensor(kind="parameter"), Tensor(), Tensor()),
        (Tensor(), NONE, Union((NONE, Tensor()))),
        (Seq("list", (Tensor(),)), Seq("list", (NONE,)), Seq("list", (Union((NONE, Tensor())),))),
        (Seq("list", ()), Seq("list", (Tensor(), Tensor())), Seq("list", None, Tensor())),
        (Seq("list", ()), Seq("tuple", ()), Seq("list", ())),
        (Map({"a": NONE}), Map({"b": NONE}), Map({"a": NONE, "b": NONE})),
        (Map({}), Map(None, Scalar("str"), Tensor()), Map(None, Scalar("str"), Tensor())),
        (External("a.b"), External("a.b"), External("a.b")),
        (External("a.b"), External("a.c"), Union((External("a.b"), External("a.c")))),
        (Instance(None, "x.Y"), Instance(None, "x.Y"), Instance(None, "x.Y")),
        (
            Instance(None, "x.Y", attrs={"a": Const(1), "b": NONE}),
            Instance(None, "x.Y", attrs={"a": Const(2)}),
            Instance(None, "x.Y", attrs={"a": Scalar("int")}),
        ),
        (
            Partial(External("f"), (Const(1),)),
            Partial(External("f"), (Const("a"),)),
            Union((Partial(External("f"), (Const(1),)), Partial(External("f"), (Const("a"),)))),
        ),
    ],
    ids=shown,
)
def test_join(a: Value, b: Value, wanted: Value) -> None:
    assert essence(join(a, b)) == essence(wanted)
    assert essence(join(b, a)) == essence(wanted)


def test_a_union_that_grows_too_large_is_unknown() -> None:
    names = [External(f"a.f{i}") for i in range(MAX_OPTIONS + 1)]
    assert isinstance(join_all(names[:MAX_OPTIONS]), Union)
    assert isinstance(join_all(names), Unknown)
    assert isinstance(join_all([]), Unknown)


def test_numbers_of_a_union_are_merged_in_any_order() -> None:
    mixed = join(Const(1), Const(1.0))
    assert essence(join(mixed, Scalar("int"))) == essence(join(Scalar("int"), mixed))


def test_without_none() -> None:
    maybe = join(NONE, Tensor(dtype="int"))
    assert isinstance(without_none(maybe), Tensor)
    assert without_none(NONE) is NONE
    assert options(NONE) == (NONE,)
    assert len(options(maybe)) == 2


def test_tensor_of_says_only_what_is_certain() -> None:
    assert tensor_of(Tensor()) is not None
    assert tensor_of(join(NONE, Tensor())) is not None  # an operation on None would raise
    assert tensor_of(join(Const(1), Tensor())) is not None  # assigned here on one path
    assert tensor_of(declared(join(Const(1), Tensor()))) is None  # may always be the number
    assert tensor_of(declared(join(NONE, Tensor()))) is not None
    assert tensor_of(join(External("a.b"), Tensor())) is None
    assert tensor_of(UNKNOWN) is None
    assert tensor_of(Scalar("float", Flow.DATA)) is None


def test_on_device() -> None:
    assert on_device(Tensor(Device.DEVICE))
    assert on_device(Tensor(Device.UNKNOWN))
    assert not on_device(Tensor(Device.CPU))
    assert not on_device(Tensor(kind="numpy"))
    assert not on_device(UNKNOWN)


def test_data_dependent() -> None:
    assert data_dependent(Scalar("int", Flow.DATA))
    assert not data_dependent(Scalar("int", Flow.SYMBOLIC))
    assert not data_dependent(join(NONE, Scalar("int", Flow.DATA)))


def test_flow_takes_the_graver_origin() -> None:
    read = Scalar("int", Flow.DATA, origin=Origin("f.py", ast.Pass(), "is read"))
    joined = join(Const(1), read)
    assert joined.origin is read.origin


def test_a_history_keeps_both_ends() -> None:
    origin: Origin | None = None
    for number in range(20):
        origin = Origin("f.py", ast.Pass(), str(number), origin)
    assert origin is not None
    assert [link.why for link in origin.chain(4)] == ["0", "1", "18", "19"]
    assert [link.why for link in origin.chain(50)] == [str(n) for n in range(20)]
