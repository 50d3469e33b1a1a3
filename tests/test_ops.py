"""compilelint.ops on a CPU: values, gradients, registration, torch.compile. On a GPU: tests/test_ops_gpu.py."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from compilelint import ops  # noqa: E402
from compilelint.ops import native, pointers, register  # noqa: E402

EACH: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (ops.sum_each, lambda t: t.double().sum()),
    "mean": (ops.mean_each, lambda t: t.double().mean()),
    "max": (ops.max_abs_each, lambda t: t.double().abs().max() if t.numel() else t.double().sum()),
    "square": (ops.squared_norm_each, lambda t: t.double().square().sum()),
}
REDUCTIONS = [ops.sum_tensors, *(function for function, _ in EACH.values())]
FLOATS = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
SHAPES = st.lists(st.lists(st.integers(0, 5), max_size=3).map(tuple), min_size=1, max_size=8)


def drawn(shapes: list[tuple[int, ...]], dtypes: list[Any], transposed: bool = False) -> list[Any]:
    generator = torch.Generator().manual_seed(len(shapes))
    made = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    tensors = [tensor.to(dtypes[place % len(dtypes)]) for place, tensor in enumerate(made)]
    return [tensor.mT if transposed and tensor.dim() > 1 else tensor for tensor in tensors]


@settings(max_examples=40, deadline=None)
@given(
    shapes=SHAPES,
    dtypes=st.lists(st.sampled_from(FLOATS), min_size=1, max_size=4),
    transposed=st.booleans(),
    name=st.sampled_from(sorted(EACH)),
)
def test_values(shapes: list[tuple[int, ...]], dtypes: list[Any], transposed: bool, name: str) -> None:
    tensors = drawn(shapes, dtypes, transposed)
    wide = torch.float64 if any(t.dtype == torch.float64 for t in tensors) else torch.float32
    function, reference = EACH[name]
    wanted = torch.stack([reference(tensor) for tensor in tensors]).to(wide)
    torch.testing.assert_close(function(tensors), wanted, equal_nan=True)
    total = torch.stack([tensor.double().sum() for tensor in tensors]).sum().to(wide)
    torch.testing.assert_close(ops.sum_tensors(tensors), total)
    torch.testing.assert_close(function(ops.TensorTable(tensors)), wanted, equal_nan=True)
    torch.testing.assert_close(function(iter(tensors)), wanted, equal_nan=True)


def test_half_precision_is_added_up_in_float32() -> None:
    ones = torch.ones(70_000, dtype=torch.float16)
    assert ops.sum_tensors([ones]).item() == 70_000  # float16 ends at 65,504


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda function: function.__name__)
def test_gradients(function: Any) -> None:
    tensors = [
        tensor.requires_grad_() for tensor in drawn([(3, 4), (), (2, 3), (5,)], [torch.float64], transposed=True)
    ]
    assert torch.autograd.gradcheck(lambda *given: function(list(given)), tensors)


def test_gradients_of_some_and_of_several_dtypes() -> None:
    half, single, other = drawn([(4,), (2, 3), (3,)], [torch.float16, torch.float32])
    half.requires_grad_(), single.requires_grad_()
    weights = torch.tensor([1.0, 2.0, 3.0])
    (ops.squared_norm_each([half, single, other]) * weights).sum().backward()
    assert half.grad.dtype == torch.float16 and single.grad.shape == (2, 3)
    torch.testing.assert_close(half.grad, 2 * half.detach())
    torch.testing.assert_close(single.grad, 4 * single.detach())


def test_gradient_is_shared_among_equals() -> None:
    tensor = torch.tensor([1.0, -3.0, 3.0, 0.0], requires_grad=True)
    ops.max_abs_each([tensor]).sum().backward()
    torch.testing.assert_close(tensor.grad, torch.tensor([0.0, -0.5, 0.5, 0.0]))


def test_sum_lets_its_inputs_be_written_before_backward() -> None:
    """As a loop of sums does: no values are kept."""
    tensor = torch.ones(3, requires_grad=True)
    part = tensor * 2
    total = ops.sum_tensors([part])
    part.mul_(3)
    total.backward()
    torch.testing.assert_close(tensor.grad, torch.full((3,), 2.0))


@pytest.mark.parametrize("how", ["sum", "mean", "max", "square"])
def test_opcheck(how: str) -> None:
    tensors = [tensor.requires_grad_() for tensor in drawn([(3, 4), (2,)], [torch.float32])]
    torch.library.opcheck(torch.ops.compilelint.reduce_each.default, (tensors, how))
    torch.library.opcheck(torch.ops.compilelint.reduce_all.default, (tensors,))
    torch.library.opcheck(torch.ops.compilelint.all_finite.default, (tensors,))
    if how != "max":
        values = [tensor.detach() for tensor in tensors] if how == "square" else []
        arguments = (torch.ones(2), values, [12, 2], torch.float32, how)
        torch.library.opcheck(torch.ops.compilelint.spread.default, arguments)


@pytest.mark.slow
@pytest.mark.parametrize("function", [*REDUCTIONS, ops.all_finite], ids=lambda function: function.__name__)
def test_no_break_under_compile(function: Any) -> None:
    def work(tensors: list[Any]) -> Any:
        return function([tensor * 2 for tensor in tensors]) * 1

    tensors = drawn([(3, 4), (2, 3), (5,)], [torch.float32], transposed=True)
    compiled = torch.compile(work, fullgraph=True)
    torch.testing.assert_close(compiled(tensors), work(tensors))
    table = ops.TensorTable(tensors)
    torch.testing.assert_close(torch.compile(function, fullgraph=True, backend="aot_eager")(table), function(tensors))


@pytest.mark.slow
def test_gradients_under_compile() -> None:
    tensors = [tensor.requires_grad_() for tensor in drawn([(3, 4), (5,)], [torch.float32])]
    torch.compile(ops.squared_norm_each, fullgraph=True)(tensors).sum().backward()
    torch.testing.assert_close([tensor.grad for tensor in tensors], [2 * tensor.detach() for tensor in tensors])


def test_no_tensors() -> None:
    assert ops.sum_tensors([]).item() == 0 and ops.sum_tensors([]).shape == ()
    assert ops.mean_each([]).shape == (0,) and bool(ops.all_finite([]))


@pytest.mark.parametrize("function", [*REDUCTIONS, ops.all_finite], ids=lambda function: function.__name__)
def test_what_is_refused(function: Any) -> None:
    good = torch.ones(2)
    with pytest.raises(TypeError, match=r"tensor 1 is NoneType, not a tensor"):
        function([good, None])
    with pytest.raises(TypeError, match=r"tensor 1 is torch\.int64: only torch\.float32"):
        function([good, torch.arange(3)])
    with pytest.raises(ValueError, match="several devices: tensor 0 is on cpu, tensor 1 on meta"):
        function([good, torch.ones(2, device="meta")])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_all_finite(bad: float, dtype: Any) -> None:
    tensors = [torch.ones(3, dtype=dtype), torch.ones(0, dtype=dtype), torch.full((2, 2), 6e4, dtype=dtype)]
    assert bool(ops.all_finite(tensors))
    tensors[2][1, 0] = bad
    result = ops.all_finite(tensors)
    assert result.dtype == torch.bool and result.shape == () and not bool(result)


# The pointer table


@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(st.integers(0, 300), min_size=1, max_size=12), longest=st.integers(1, 64))
def test_cut(sizes: list[int], longest: int) -> None:
    """Chunks cover each tensor, once, in order."""
    tensors = drawn([(size,) for size in sizes], FLOATS)
    found = pointers.scan(tensors)
    assert found is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pointers, "SHORTEST", longest)
        patch.setattr(pointers, "LONGEST", longest)
        chunks = pointers.cut(found)
    assert chunks.counts.tolist() == sizes
    seen = 0
    for place, tensor in enumerate(tensors):
        rows = range(int(chunks.bounds[place]), int(chunks.bounds[place + 1]))
        address = tensor.data_ptr()
        for row in rows:
            assert chunks.owners[row] == place and chunks.offsets[row] == seen
            at, word = chunks.table[row].tolist()
            size = word & ((1 << 40) - 1)
            assert at == address and word >> 40 == pointers.KINDS[tensor.dtype] and size <= longest
            seen, address = seen + size, address + size * tensor.itemsize
        assert address == tensor.data_ptr() + tensor.numel() * tensor.itemsize
    assert seen == sum(sizes)


def test_a_table_notices_moves() -> None:
    parameter = torch.nn.Parameter(torch.ones(4))
    table = ops.TensorTable([parameter, torch.zeros(3)])

    def found() -> Any:
        result = table.scan()
        assert result is not None
        return table.plan(result)

    first = found()
    assert found() is first and len(table) == 2
    parameter.data = torch.ones(4)
    moved = found()
    assert moved is not first
    parameter.data = parameter.data[:2]  # the same address, shorter
    assert found() is not moved
    for change in (
        lambda: torch.utils.swap_tensors(parameter, torch.nn.Parameter(torch.ones(2))),
        lambda: parameter.untyped_storage().resize_(1 << 20),
        lambda: table.tensors.append(torch.ones(1)),
        lambda: table.tensors.pop(0),
    ):
        before = found()
        assert found() is before
        change()
        assert found() is not before
    assert table.scan(want_grad=True) is not None
    table.tensors.append(parameter)
    assert table.scan(want_grad=True) is None and found() is found()
    assert table.scan(want_grad=True) is None


def planned(table: Any) -> Any:
    found = table.scan()
    assert found is not None
    return table.plan(found)


@pytest.mark.parametrize(
    "move",
    [
        lambda tensor: tensor.set_(torch.ones(1)),
        lambda tensor: tensor.resize_(3000),
        lambda tensor: setattr(tensor, "data", tensor.data[:1]),
        lambda tensor: torch.utils.swap_tensors(tensor, torch.ones(1)),
    ],
)
def test_a_fixed_table_looks_at_all_in_turn(move: Callable[[Any], object]) -> None:
    """And reads memory that is still there until it has noticed."""
    table = ops.TensorTable([torch.ones(2) for _ in range(3 * pointers.LOOKED_AT - 5)], fixed=True)
    first = planned(table)
    for _ in range(7):
        assert planned(table) is first
    storage = weakref.ref(table.tensors[100].untyped_storage())
    move(table.tensors[100])
    gc.collect()
    assert storage() is not None
    with pytest.raises(RuntimeError, match="one of tensors 64 to 127 moved"):
        [planned(table) for _ in range(3)]
    table.refresh()
    second = planned(table)
    assert second is not first and second.scan == pointers.scan(table.tensors)
    for _ in range(7):
        assert planned(table) is second


def test_a_fixed_table_of_another_length() -> None:
    table = ops.TensorTable([torch.ones(2)], fixed=True)
    planned(table)
    table.tensors.append(torch.ones(1))
    with pytest.raises(RuntimeError, match="refresh"):
        planned(table)


def test_a_fixed_table_and_gradients() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    table = ops.TensorTable([weight, torch.ones(3)], fixed=True)
    planned(table)
    assert table.scan(want_grad=True) is None and table.scan() is not None
    weight.requires_grad_(False)
    table.refresh()
    planned(table)
    assert table.scan(want_grad=True) is not None
    table.tensors[1].requires_grad_()
    with pytest.raises(RuntimeError, match="changed"):
        table.scan(want_grad=True)


def test_operators_look_once_at_plain_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at each in Python takes longer than all the rest of a compiled call."""
    plain = [torch.ones(3), torch.ones(2, 2)]
    wanted = pointers.scan(plain)
    monkeypatch.setattr(register, "check", None)
    assert register._scanned(plain) == (wanted, [])
    monkeypatch.undo()
    found, alive = register._scanned([plain[0], torch.ones(2, 3).mT])
    assert found.count == 2 and alive[1].is_contiguous()


def test_plans_are_found_again_and_hold_no_tensor() -> None:
    tensors = [torch.ones(10) for _ in range(5)]
    alive = [weakref.ref(tensor) for tensor in tensors]
    first = pointers.scan(tensors)
    assert first is not None
    plan = pointers.plan(first)
    again = pointers.scan(list(tensors))
    assert again is not None and pointers.plan(again) is plan
    for size in range(2 * pointers.KEPT):
        other = pointers.scan([torch.ones(size)])
        assert other is not None
        pointers.plan(other)
    assert len(pointers._recent) == pointers.KEPT
    del tensors
    gc.collect()
    assert [ref() for ref in alive] == [None] * 5


@pytest.mark.parametrize(
    "odd",
    [
        lambda: torch.ones(3, 4).mT,
        lambda: torch.arange(3),
        lambda: torch.ones(2, device="meta"),
        lambda: torch.ones(1, dtype=torch.complex64).conj().imag,
        lambda: torch.ones(2).as_subclass(type("Sub", (torch.Tensor,), {})),
        lambda: 3,
    ],
)
def test_what_is_not_scanned(odd: Callable[[], Any]) -> None:
    assert pointers.scan([torch.ones(2), odd()]) is None


def test_scan_asked_for_gradients() -> None:
    tensors = [torch.ones(2), torch.ones(2, requires_grad=True)]
    assert pointers.scan(tensors, True) is None and pointers.scan(tensors, False) is not None


@pytest.mark.slow
def test_the_native_scan_agrees(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(native, "loaded", [])
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    lists = [drawn([(3, 4), (0,), ()], FLOATS[:count]) for count in (1, 2, 4)]
    wanted = [pointers.scan(tensors) for tensors in lists]
    try:
        ops.build_native()
    except (OSError, RuntimeError) as problem:
        pytest.skip(f"no compiler: {problem}")
    assert native.loaded and [pointers.scan(tensors) for tensors in lists] == wanted
    many = [torch.ones(place % 3) for place in range(100)]
    table = ops.TensorTable(many)
    first = table.scan()
    assert first is not None
    table.plan(first)
    assert table.scan() is first, "seen without a new one"
    for place in (0, 50, 99):
        many[place].set_(torch.ones(5))
        table.tensors[place] = many[place]
        found = table.scan()
        assert found is not None and found != first
        table.plan(found)
        first = found
    test_a_table_notices_moves()
    odd: Any
    for odd in (torch.ones(3, 4).mT, torch.arange(3), torch.ones(1, dtype=torch.complex64).conj().imag, 3):
        assert pointers.scan([torch.ones(2), odd]) is None
    sparse = torch.eye(2)
    for odd in (sparse.to_sparse(), sparse.to_sparse_csr(), torch.ones(2).as_subclass(type("S", (torch.Tensor,), {}))):
        assert pointers.scan([torch.ones(2), odd]) is None
    seen = []

    def look(tensor: Any) -> Any:
        seen.append(native.loaded[0].scan([tensor], False))
        return tensor.sum()

    torch.func.vmap(look)(torch.ones(3, 2)), torch.func.grad(look)(torch.ones(3))
    assert seen == [None, None]
    test_scan_asked_for_gradients()


def test_ops_are_lazy() -> None:
    script = (
        "import sys, compilelint.ops\n"
        "assert 'torch' not in sys.modules\n"
        "from compilelint.ops import sum_tensors\n"
        "assert 'triton.language' not in sys.modules or 'torch' in sys.modules\n"
        "assert sorted(compilelint.ops.__all__) == sorted(compilelint.ops._HOME)\n"
        "try:\n    compilelint.ops.nothing\nexcept AttributeError:\n    print('fine')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stderr
