"""compilelint.ops on a GPU: the launches, streams, CUDA graphs, copies. Skipped without CUDA."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs CUDA", allow_module_level=True)

from compilelint import ops  # noqa: E402
from compilelint.ops import native, pointers, register  # noqa: E402

HOWS = {"sum": ops.sum_each, "mean": ops.mean_each, "max": ops.max_abs_each, "square": ops.squared_norm_each}
DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.fixture(params=["python", "native"])
def scans(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With either scan of the list."""
    if request.param == "native":
        ops.build_native()
    else:
        monkeypatch.setattr(native, "loaded", [])


def ragged(count: int = 50, dtypes: list[Any] | None = None, longest: int = 20_000) -> list[Any]:
    generator = torch.Generator(device="cuda").manual_seed(count)
    sizes = torch.randint(0, longest, (count,), generator=torch.Generator().manual_seed(count)).tolist()
    dtypes = dtypes or [torch.float32]
    return [
        torch.randn(size, generator=generator, device="cuda").to(dtypes[place % len(dtypes)])
        for place, size in enumerate(sizes)
    ]


def kernels_of(work: Any) -> list[str]:
    """The names of the kernels that a call launches, copies left out."""
    from torch.profiler import ProfilerActivity, profile

    work()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiler:
        work()
        torch.cuda.synchronize()
    cuda = torch.autograd.DeviceType.CUDA
    names = [event.name for event in profiler.events() if event.device_type == cuda]
    return [name for name in names if not name.startswith(("Memcpy", "Memset"))]


@pytest.mark.usefixtures("scans")
@pytest.mark.parametrize("dtypes", [*([dtype] for dtype in DTYPES), DTYPES, [torch.float64, torch.float32]], ids=str)
@pytest.mark.parametrize("longest", [3_000, 3_000_000])
def test_values(dtypes: list[Any], longest: int) -> None:
    tensors = ragged(12, dtypes, longest)
    wide = [tensor.double() for tensor in tensors]
    sums = torch.stack([tensor.sum() for tensor in wide])
    scale = max(tensor.abs().sum().item() for tensor in wide)
    for how, function in HOWS.items():
        ours = function(tensors)
        assert ours.dtype == register.accumulator(tensors)
        wanted = register.reduce_each(wide, how).to(ours.dtype)
        torch.testing.assert_close(ours, wanted, rtol=1e-5, atol=1e-6 * scale, equal_nan=True)
    total = ops.sum_tensors(tensors)
    torch.testing.assert_close(total, sums.sum().to(total.dtype), rtol=1e-5, atol=1e-6 * scale)
    assert torch.equal(ops.sum_tensors(tensors), total), "the same each time"
    assert bool(ops.all_finite(tensors))


@pytest.mark.usefixtures("scans")
def test_views_and_copies() -> None:
    base = torch.randn(1000, 70, device="cuda")
    tensors = [base[1:, 3:], base.mT, base[::7], base.expand(2, 1000, 70), base[5], base[3, 1:], base[0, :0]]
    wide = [tensor.double() for tensor in tensors]
    close = {"rtol": 1e-5, "atol": 1e-6 * max(tensor.abs().sum().item() for tensor in wide), "equal_nan": True}
    for how, function in HOWS.items():
        torch.testing.assert_close(function(tensors), register.reduce_each(wide, how).float(), **close)
    torch.testing.assert_close(ops.sum_tensors(ops.TensorTable(tensors)), register.reduce_all(wide).float(), **close)


@pytest.mark.parametrize("how", HOWS)
def test_gradients(how: str) -> None:
    tensors = [tensor.requires_grad_() for tensor in ragged(9, DTYPES, 100_000)]
    tensors[4] = torch.randn(50, 300, device="cuda").mT.requires_grad_()
    copies = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    weights = torch.rand(len(tensors), device="cuda")
    (HOWS[how](tensors) * weights).nansum().backward()
    (register.reduce_each(copies, how) * weights).nansum().backward()
    for tensor, copy in zip(tensors, copies, strict=True):
        torch.testing.assert_close(tensor.grad, copy.grad, equal_nan=True)


def test_opcheck() -> None:
    tensors = [torch.randn(5, 7, device="cuda", requires_grad=True), torch.randn(3, device="cuda", requires_grad=True)]
    for how in HOWS:
        torch.library.opcheck(torch.ops.compilelint.reduce_each.default, (tensors, how))
    torch.library.opcheck(torch.ops.compilelint.reduce_all.default, (tensors,))
    torch.library.opcheck(torch.ops.compilelint.all_finite.default, (tensors,))


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_compiled(mode: str) -> None:
    def work(tensors: list[Any]) -> Any:
        return ops.squared_norm_each([tensor * 2 for tensor in tensors]).sum().sqrt()

    tensors = ragged(6)
    compiled = torch.compile(work, fullgraph=True, mode=mode)
    for _ in range(4):
        for tensor in tensors:
            tensor.mul_(1.5)
        torch.testing.assert_close(compiled(tensors), work(tensors))


def test_several_devices() -> None:
    tensors = [torch.ones(2, device="cuda"), torch.ones(2)]
    for function in (ops.sum_tensors, ops.all_finite, *HOWS.values()):
        with pytest.raises(ValueError, match="several devices: tensor 0 is on cuda:0, tensor 1 on cpu"):
            function(tensors)


@pytest.mark.usefixtures("scans")
def test_kernels_and_syncs() -> None:
    for longest, kernels in ((4_000, 1), (20_000, 2)):  # long ones are cut, and a kernel combines their chunks
        tensors = ragged(400, longest=longest)
        table = ops.TensorTable(tensors)
        for given in (tensors, table):
            assert len(kernels_of(lambda given=given: ops.sum_each(given))) == kernels
            assert len(kernels_of(lambda given=given: ops.sum_tensors(given))) == 2
            assert len(kernels_of(lambda given=given: ops.all_finite(given))) <= 2
    torch.cuda.set_sync_debug_mode("error")
    try:
        fresh = [tensor[:-1] for tensor in tensors if len(tensor)]
        ops.all_finite(fresh), ops.sum_tensors(fresh), ops.all_finite(table)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_finite(bad: float, dtype: Any) -> None:
    tensors = ragged(30, [dtype])
    assert bool(ops.all_finite(tensors))
    for tensor in (tensors[0], tensors[17], tensors[29]):
        kept = tensor[-1].clone()
        tensor[-1] = bad
        assert not bool(ops.all_finite(tensors))
        tensor[-1] = kept


@pytest.mark.usefixtures("scans")
def test_tables_notice_moves_and_hold_nothing() -> None:
    parameter = torch.nn.Parameter(torch.ones(1000, device="cuda"))
    table = ops.TensorTable([parameter, torch.ones(10, device="cuda")])
    with torch.no_grad():
        assert ops.sum_tensors(table).item() == 1010
        parameter.data = torch.full((1000,), 2.0, device="cuda")
        assert ops.sum_tensors(table).item() == 2010
        parameter.data = parameter.data[:5]
        assert ops.sum_tensors(table).item() == 20
        other = torch.nn.Parameter(torch.full((5,), 3.0, device="cuda"))
        torch.utils.swap_tensors(parameter, other)
        assert ops.sum_tensors(table).item() == 25
        parameter.untyped_storage().resize_(0), parameter.untyped_storage().resize_(20)
        parameter.fill_(4.0)
        assert ops.sum_tensors(table).item() == 30
        table.tensors.append(torch.ones(7, device="cuda"))
        assert ops.sum_tensors(table).item() == 37
    tensors = [torch.ones(100, device="cuda") for _ in range(10)]
    alive = [weakref.ref(tensor) for tensor in tensors]
    ops.sum_tensors(tensors)
    del tensors
    gc.collect()
    assert not any(ref() is not None for ref in alive)


@pytest.mark.usefixtures("scans")
def test_a_fixed_table() -> None:
    tensors = [torch.ones(1000, device="cuda") for _ in range(200)]
    table = ops.TensorTable(tensors, fixed=True)
    for _ in range(5):
        assert ops.sum_tensors(table).item() == 200_000
        for tensor in tensors:
            tensor.add_(1)
        assert ops.sum_tensors(table).item() == 400_000 and bool(ops.all_finite(table))
        for tensor in tensors:
            tensor.sub_(1)
    tensors[70].set_(torch.full((5,), 2.0, device="cuda"))
    torch.cuda.empty_cache()
    with pytest.raises(RuntimeError, match="one of tensors 64 to 127 moved"):
        for _ in range(4):
            assert ops.sum_tensors(table).item() == 200_000
    table.refresh()
    assert ops.sum_tensors(table).item() == 199_010


def test_other_streams() -> None:
    tensors = ragged(100)
    wanted = ops.sum_tensors(tensors)
    results = []
    for _ in range(4):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            results.append(ops.sum_tensors(tensors))
        torch.cuda.current_stream().wait_stream(stream)
    assert all(torch.equal(result, wanted) for result in results)


@pytest.mark.parametrize("prepared", [True, False])
def test_cuda_graph(prepared: bool) -> None:
    """A table made before, or in the capture; replayed on other values, after the list and its plan are forgotten."""
    tensors = ragged(200)
    given = ops.TensorTable(tensors) if prepared else tensors
    ops.sum_each(given), ops.all_finite(given), ops.sum_tensors([torch.ones(1, device="cuda")])  # compiles
    if not prepared:
        pointers._recent.clear()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        each, finite = ops.sum_each(given), ops.all_finite(given)
        inside = [tensor * 2 for tensor in tensors]
        doubled = ops.sum_tensors(inside)
    del given
    pointers._recent.clear()
    for factor in (1.0, -3.0, math.inf):
        for tensor in tensors:
            tensor.mul_(factor)
        spoil = [torch.full((4096,), 7, device="cuda") for _ in range(100)]
        graph.replay()
        torch.cuda.synchronize()
        del spoil
        torch.testing.assert_close(each, register.reduce_each(tensors, "sum"), equal_nan=True, rtol=1e-4, atol=1e-2)
        torch.testing.assert_close(doubled, 2 * register.reduce_all(tensors), equal_nan=True, rtol=1e-4, atol=1e-1)
        assert bool(finite) is (factor != math.inf)


def test_guard() -> None:
    guard = ops.FiniteGuard()
    tensors = {f"p{place}": tensor for place, tensor in enumerate(ragged(40))}
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(5):
            guard.check(tensors)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    tensors["p7"][0] = math.nan
    with pytest.raises(ops.NonFiniteError, match=r"step 5: not finite: p7$"):
        guard.check(tensors)
        torch.cuda.synchronize()
        guard.raise_arrived()
    with pytest.raises(ops.NonFiniteError, match="step 6"):
        guard.check(tensors)
        guard.flush()


def test_metrics_and_to_host() -> None:
    metrics = ops.DeviceMetrics()
    losses = torch.rand(20, device="cuda")
    torch.cuda.set_sync_debug_mode("error")
    try:
        for loss in losses.unbind():
            metrics.mean("loss", loss, weight=2)
            metrics.sum("count", 3)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    read = metrics.read()
    assert read["loss"] == pytest.approx(losses.mean().item()) and read["count"] == 60
    values = {place: torch.tensor(place, device="cuda", dtype=torch.int64) for place in range(100)}
    assert ops.to_host(values) == {place: place for place in range(100)}


@pytest.mark.parametrize("pinned", [True, False])
def test_prefetch(pinned: bool) -> None:
    """Right also where the loader writes each batch into the same memory."""
    buffer = torch.empty(1 << 20, pin_memory=pinned)

    def loader() -> Iterator[dict[str, Any]]:
        for step in range(10):
            buffer.fill_(step)
            yield {"x": buffer, "pair": (torch.tensor([step]), "name"), "step": step}
        raise KeyError("end")

    seen = []
    with pytest.raises(KeyError, match="end"):
        for batch in ops.prefetch(loader(), "cuda"):
            assert batch["x"].is_cuda and batch["pair"][0].is_cuda and batch["pair"][1] == "name"
            torch.cuda._sleep(1_000_000)
            seen.append((batch["x"].mean(), batch["pair"][0].sum(), batch["step"]))
    assert [(mean.item(), pair.item(), step) for mean, pair, step in seen] == [(n, n, n) for n in range(10)]


def test_prefetch_of_a_loader() -> None:
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.arange(1000.0).view(100, 10), torch.arange(100))
    loader = DataLoader(data, batch_size=7, pin_memory=True)
    got = list(ops.prefetch(loader, torch.device("cuda")))
    assert len(got) == len(loader)
    torch.testing.assert_close(torch.cat([x for x, _ in got]).cpu(), data.tensors[0])
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(1, 2)])
    (moved,) = ops.prefetch([packed], "cuda")
    assert moved.data.is_cuda
