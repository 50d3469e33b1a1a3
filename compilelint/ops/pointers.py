"""From a list of tensors to the table of chunks that the kernels read.

A **scan** says where each tensor lies and how long it is. A **plan** is what is made of it on the device: long
tensors cut into chunks, so that one of 100 million elements keeps as many programs busy as 10,000 short ones. Plans
are kept by what the scan says, byte for byte, never by the tensors: a plan holds no tensor alive, and one that was
found is right by construction.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import torch
from torch import Tensor

from compilelint.ops import native

KINDS = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2, torch.float64: 3}
DTYPES = tuple(KINDS)
KIND_SHIFT = 40  # as in kernels.py
PLAIN = frozenset({Tensor, torch.nn.Parameter})
PROGRAMS = 2048  # chunks to aim at: some for each multiprocessor of any GPU; fixed, so that results are the same on all
SHORTEST, LONGEST = 4096, 65536  # elements of a chunk
KEPT = 8  # plans
LOOKED_AT = 64  # tensors of a fixed table that a call looks at

_dtype_of = attrgetter("dtype")
_device_of = attrgetter("device")
_wants_grad = attrgetter("requires_grad")


@dataclass(frozen=True)
class Scan:
    """Where tensors lie: an (address, elements | dtype code << 40) pair of int64 for each, one after the other."""

    rows: bytearray
    count: int
    kinds: int  # a bit for each dtype code
    device: torch.device

    @property
    def kind(self) -> int:
        """The one dtype's code, -1 where there are several."""
        return self.kinds.bit_length() - 1 if self.kinds.bit_count() == 1 else -1

    @property
    def accumulator(self) -> torch.dtype:
        return torch.float64 if self.kinds >> KINDS[torch.float64] else torch.float32


def scan(tensors: list[Tensor], want_grad: bool = False) -> Scan | None:
    """None where something isn't plain: a subclass, several devices, gaps between elements, another dtype.

    With `want_grad`, a tensor that requires gradients isn't plain either.
    """
    if native.loaded:
        found = native.loaded[0].scan(tensors, want_grad)
        return None if found is None else Scan(found[0], len(tensors), found[1], tensors[0].device)
    if not PLAIN.issuperset(map(type, tensors)):
        return None
    codes = {dtype: KINDS.get(dtype, -1) for dtype in set(map(_dtype_of, tensors))}
    if -1 in codes.values() or len(set(map(_device_of, tensors))) != 1:
        return None
    if not all(map(Tensor.is_contiguous, tensors)) or any(map(Tensor.is_neg, tensors)):
        return None
    if want_grad and any(map(_wants_grad, tensors)):
        return None
    rows = array("q", bytes(16 * len(tensors)))
    rows[0::2] = array("q", map(Tensor.data_ptr, tensors))
    sizes = array("q", map(Tensor.numel, tensors))
    if len(codes) > 1:
        words = zip(sizes, map(_dtype_of, tensors), strict=True)
        sizes = array("q", (size | codes[dtype] << KIND_SHIFT for size, dtype in words))
    elif code := next(iter(codes.values())):
        sizes = array("q", [size | code << KIND_SHIFT for size in sizes])
    rows[1::2] = sizes
    return Scan(bytearray(rows), len(tensors), sum(1 << code for code in codes.values()), tensors[0].device)


@dataclass(frozen=True)
class Chunks:
    """How tensors are cut. On the host, int64."""

    table: Tensor  # [chunks, 2], as the rows of a scan
    owners: Tensor  # [chunks]: of which tensor
    bounds: Tensor  # [tensors + 1]: where each one's chunks begin
    offsets: Tensor  # [chunks]: elements of the list before
    counts: Tensor  # [tensors]: elements


def cut(scan: Scan) -> Chunks:
    rows = rows_of(scan)
    counts, kinds = rows[:, 1] & ((1 << KIND_SHIFT) - 1), rows[:, 1] >> KIND_SHIFT
    longest = longest_chunk(int(counts.sum()))
    chunks = ((counts + longest - 1) // longest).clamp_(min=1)
    bounds = torch.zeros(scan.count + 1, dtype=torch.int64)
    torch.cumsum(chunks, 0, out=bounds[1:])
    owners = torch.repeat_interleave(chunks)
    inside = (torch.arange(len(owners)) - bounds[owners]) * longest  # elements of the tensor before the chunk
    itemsizes = torch.tensor([dtype.itemsize for dtype in DTYPES])[kinds[owners]]
    sizes = (counts[owners] - inside).clamp_(max=longest)
    table = torch.stack((rows[owners, 0] + inside * itemsizes, sizes | kinds[owners] << KIND_SHIFT), 1)
    offsets = counts.cumsum(0)[owners] - counts[owners] + inside
    return Chunks(table, owners, bounds, offsets, counts)


def rows_of(scan: Scan) -> Tensor:
    return torch.frombuffer(scan.rows, dtype=torch.int64).view(-1, 2)


def longest_chunk(total: int) -> int:
    return max(SHORTEST, min(LONGEST, 1 << (total // PROGRAMS).bit_length()))


class Plan:
    """What a scan becomes on its device."""

    def __init__(self, scan: Scan, capturing: bool) -> None:
        self.scan = scan
        self.kind, self.dtype = scan.kind, scan.accumulator
        self.capturing = capturing
        self.stream = stream_of(scan.device)
        rows = rows_of(scan)
        counts = rows[:, 1] & ((1 << KIND_SHIFT) - 1)
        self.single = int(counts.max()) <= longest_chunk(int(counts.sum()))  # no tensor is cut
        if self.single:
            self.rows = scan.count
            (self.table,) = self.upload([rows])
            self.bounds = self.counts = self.table  # not read
        else:
            self.rows = len(self.chunks.owners)
            self.table, self.bounds, self.counts = self.upload([self.chunks.table, self.chunks.bounds, counts])
        self.uploaded = None if scan.device.type != "cuda" or capturing else torch.cuda.Event()
        if self.uploaded is not None:
            self.uploaded.record()

    @cached_property
    def chunks(self) -> Chunks:
        return cut(self.scan)

    def upload(self, parts: list[Tensor]) -> list[Tensor]:
        """Flat, each aligned to 16 bytes, in one copy that nobody waits for."""
        device, even = self.scan.device, [part.numel() + part.numel() % 2 for part in parts]
        host = torch.empty(sum(even), dtype=torch.int64, pin_memory=device.type == "cuda")
        for part, place in zip(parts, host.split(even), strict=True):
            place[: part.numel()] = part.flatten()
        there = host
        if device.type == "cuda":
            there = torch.empty(len(host), dtype=torch.int64, device=device).copy_(host, non_blocking=True)
            if self.capturing:  # the graph copies again at each replay: memory of its own pool need not be kept
                _captured[id(host)] = host
        return list(there.split(even))

    def used_here(self) -> None:
        """Before a kernel reads it: on another stream than the one that uploaded, or in a CUDA graph."""
        if self.uploaded is None:
            return
        if torch.cuda.is_current_stream_capturing():
            _captured[id(self)] = self
        elif stream_of(self.scan.device) != self.stream:
            current = torch.cuda.current_stream(self.scan.device)
            current.wait_event(self.uploaded)
            self.table.record_stream(current)


# What CUDA graphs refer to stays, since nothing tells when a graph is gone: some bytes for each tensor of a captured
# call.
_captured: dict[int, Plan | Tensor] = {}
_recent: list[Plan] = []


def stream_of(device: torch.device) -> int:
    return int(torch._C._cuda_getCurrentRawStream(device.index)) if device.type == "cuda" else 0


def plan(scan: Scan, keep: bool = True) -> Plan:
    """The plan of a scan: one of the last that were made, or a new one.

    One is not to be kept where its table may be allocated in a pool that is not ours: Inductor runs operators in the
    pool of a CUDA graph before it captures them, and takes no memory that outlives the run.
    """
    for place, known in enumerate(_recent):
        if known.scan == scan:
            if place:
                _recent.insert(0, _recent.pop(place))
            known.used_here()
            return known
    capturing = scan.device.type == "cuda" and torch.cuda.is_current_stream_capturing()
    made = Plan(scan, capturing)
    if keep and not capturing:  # one that was made in a capture is filled at replay only
        _recent.insert(0, made)
        del _recent[KEPT:]
    return made


class TensorTable:
    """A list of tensors that is reduced again and again, such as a model's parameters, with its pointer table on the
    device.

    Takes the place of the list in `sum_tensors` and its relatives, and in `all_finite`. Each call looks where the
    tensors lie, and makes the table again when a storage moved, or size or dtype changed. It holds `tensors` as a
    list would.

    With `fixed`, the caller promises that none of this happens, nor that one comes to require gradients, before
    `refresh` is called. A call then looks at 64 of the tensors, in turn, and raises RuntimeError where one moved all
    the same; up to then it read the memory that they had before, which the table holds.
    """

    def __init__(self, tensors: Iterable[Tensor], *, fixed: bool = False) -> None:
        self.tensors = list(tensors)
        self.fixed = fixed
        self._plan: Plan | None = None
        self._storages: list[torch.UntypedStorage] = []  # of a fixed table
        self._trained = False  # some require gradients
        self._next = 0  # to be looked at

    def __len__(self) -> int:
        return len(self.tensors)

    def refresh(self) -> None:
        """The next call of a fixed table looks at all tensors."""
        self._plan = None

    def scan(self, want_grad: bool = False) -> Scan | None:
        """As `scan` of its tensors; the last one itself where nothing changed, which is seen without a new one."""
        if self._plan is not None and self.fixed:
            known = self._plan.scan
            self._look(known, want_grad and not self._trained)
            return None if want_grad and self._trained else known
        if self._plan is not None and native.loaded:
            known = self._plan.scan
            if native.loaded[0].same(self.tensors, want_grad, known.rows, known.device):
                return known
        return scan(self.tensors, want_grad)

    def plan(self, scan: Scan) -> Plan:
        """For a scan of its tensors made just now."""
        if self._plan is not None and self._plan.scan == scan:
            self._plan.used_here()
            return self._plan
        made = plan(scan)
        if not made.capturing:
            self._plan = made
            if self.fixed:
                self._storages = [tensor.untyped_storage() for tensor in self.tensors]
                self._trained = any(map(_wants_grad, self.tensors))
        return made

    def _look(self, known: Scan, want_grad: bool) -> None:
        first, self._next = self._next, self._next + LOOKED_AT
        if self._next >= len(self.tensors):
            self._next = 0
        here = self.tensors[first : first + LOOKED_AT]
        found = scan(here, want_grad)
        if found is None or len(self.tensors) != known.count or found.rows != _part(known, first, len(here)):
            last = first + len(here) - 1
            raise RuntimeError(f"in a fixed TensorTable: one of tensors {first} to {last} moved or changed; `refresh`")


def _part(scan: Scan, first: int, count: int) -> bytearray:
    return scan.rows[16 * first : 16 * (first + count)]
