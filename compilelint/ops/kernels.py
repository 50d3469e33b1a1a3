"""Triton kernels over a table of chunks: what a list of tensors holds is read where it lies, with no copy.

A row of the table is two int64: the address of a chunk, and its elements with the code of its dtype from bit 40 on. A
program reads one chunk. Addresses need no alignment beyond the dtype's: the elements before the first 16-byte boundary
and behind the last are read apart, all between in loads of 16 bytes.

The largest magnitude is found on bit patterns: without the sign, floats order as integers do, infinity above all
numbers and NaN above infinity, so that a NaN is never lost.
"""

import triton
import triton.language as tl

KIND_SHIFT = tl.constexpr(40)
COUNT_BITS = tl.constexpr((1 << 40) - 1)


@triton.jit
def magnitude(x):
    """The bits of a float32 or float64 without the sign, as an integer."""
    if x.dtype == tl.float64:
        return x.to(tl.int64, bitcast=True) & 0x7FFFFFFFFFFFFFFF
    else:
        return x.to(tl.int32, bitcast=True) & 0x7FFFFFFF


@triton.jit
def as_float(bits):
    if bits.dtype == tl.int64:
        return bits.to(tl.float64, bitcast=True)
    else:
        return bits.to(tl.float32, bitcast=True)


@triton.jit
def term(x, HOW: tl.constexpr, ACC: tl.constexpr):
    """What an element adds to the result: itself, its square, or the bits of its magnitude."""
    x = x.to(ACC)
    if HOW == "max":
        return magnitude(x)
    elif HOW == "square":
        return x * x
    else:
        return x


@triton.jit
def join(a, b, HOW: tl.constexpr):
    if HOW == "max":
        return tl.maximum(a, b)
    else:
        return a + b


@triton.jit
def reduced(x, HOW: tl.constexpr):
    """A block to one number; the order is that of the tree, always the same."""
    if HOW == "max":
        return tl.max(x, 0)
    else:
        return tl.sum(x, 0)


@triton.jit
def chunk(address, n, DTYPE: tl.constexpr, HOW: tl.constexpr, ACC: tl.constexpr, BLOCK: tl.constexpr):
    """The terms of `n` elements from an address, reduced, as a float."""
    SIZE: tl.constexpr = DTYPE.primitive_bitwidth // 8
    WIDE: tl.constexpr = 16 // SIZE
    start = address.to(tl.pointer_type(DTYPE))
    head = tl.minimum((16 - address % 16) % 16 // SIZE, n).to(tl.int32)
    body = (n - head) // WIDE * WIDE
    middle = tl.multiple_of((address + head.to(tl.int64) * SIZE).to(tl.pointer_type(DTYPE)), 16)
    lanes = tl.arange(0, BLOCK)
    total = term(tl.zeros((BLOCK,), ACC), HOW, ACC)
    for first in range(0, body, BLOCK):
        at = first + lanes
        total = join(total, term(tl.load(middle + at, mask=at < body, other=0.0), HOW, ACC), HOW)
    lane = tl.arange(0, 2 * WIDE)
    edge = tl.where(lane < WIDE, lane, head + body + lane - WIDE)
    inside = tl.where(lane < WIDE, lane < head, edge < n)
    edges = reduced(term(tl.load(start + edge, mask=inside, other=0.0), HOW, ACC), HOW)
    total = join(reduced(total, HOW), edges, HOW)
    if HOW == "max":
        return as_float(total)
    else:
        return total


@triton.jit(do_not_specialize=["rows"])
def reduce_chunks(
    table,
    out,
    rows,
    KIND: tl.constexpr,
    HOW: tl.constexpr,
    MEAN: tl.constexpr,
    ACC: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """One number for each chunk. KIND: float32 0, float16 1, bfloat16 2, float64 3, -1 where the rows say it."""
    row = tl.program_id(0)
    address = tl.load(table + 2 * row)
    word = tl.load(table + 2 * row + 1)
    n = (word & COUNT_BITS).to(tl.int32)
    if KIND == 0:
        value = chunk(address, n, tl.float32, HOW, ACC, BLOCK)
    elif KIND == 1:
        value = chunk(address, n, tl.float16, HOW, ACC, BLOCK)
    elif KIND == 2:
        value = chunk(address, n, tl.bfloat16, HOW, ACC, BLOCK)
    elif KIND == 3:
        value = chunk(address, n, tl.float64, HOW, ACC, BLOCK)
    else:
        kind = word >> KIND_SHIFT
        if kind == 0:
            value = chunk(address, n, tl.float32, HOW, ACC, BLOCK)
        elif kind == 1:
            value = chunk(address, n, tl.float16, HOW, ACC, BLOCK)
        elif kind == 2:
            value = chunk(address, n, tl.bfloat16, HOW, ACC, BLOCK)
        else:
            value = chunk(address, n, tl.float64, HOW, ACC, BLOCK)
    if MEAN:
        value = value / n.to(ACC)
    tl.store(out + row, value)


@triton.jit(do_not_specialize=["rows"])
def combine(
    partials,
    bounds,
    counts,
    out,
    rows,
    HOW: tl.constexpr,
    FINISH: tl.constexpr,
    WHOLE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Chunks to tensors (a program for each, `bounds` say where its chunks lie), or all to one number (WHOLE)."""
    i = tl.program_id(0)
    if WHOLE:
        begin = 0
        end = rows
    else:
        begin = tl.load(bounds + i).to(tl.int32)
        end = tl.load(bounds + i + 1).to(tl.int32)
    lanes = tl.arange(0, BLOCK)
    total = term(tl.zeros((BLOCK,), partials.dtype.element_ty), HOW, partials.dtype.element_ty)
    for first in range(begin, end, BLOCK):
        at = first + lanes
        value = tl.load(partials + at, mask=at < end, other=0.0)
        total = join(total, term(value, HOW, partials.dtype.element_ty), HOW)
    value = reduced(total, HOW)
    if HOW == "max":
        value = as_float(value)
    if FINISH == "mean":
        value = value / tl.load(counts + i).to(value.dtype)
    if FINISH == "finite":
        tl.store(out + i, value < float("inf"))
    else:
        tl.store(out + i, value)


@triton.jit(do_not_specialize=["step"])
def spread_chunks(
    table,
    owners,
    offsets,
    counts,
    grads,
    flat,
    step,
    HOW: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """The gradients of all elements of a chunk, into a flat buffer of the tensors' dtype.

    `step` is 1 where each tensor has a gradient of its own, 0 where all share one.
    """
    row = tl.program_id(0)
    owner = tl.load(owners + row)
    grad = tl.load(grads + owner * step)
    if HOW == "mean":
        grad = grad / tl.load(counts + owner).to(grad.dtype)
    start = tl.load(table + 2 * row).to(tl.pointer_type(flat.dtype.element_ty))
    n = (tl.load(table + 2 * row + 1) & COUNT_BITS).to(tl.int32)
    target = flat + tl.load(offsets + row)
    lanes = tl.arange(0, BLOCK)
    for first in range(0, n, BLOCK):
        at = first + lanes
        if HOW == "square":
            value = 2 * grad * tl.load(start + at, mask=at < n, other=0.0).to(grad.dtype)
        else:
            value = tl.zeros((BLOCK,), grad.dtype) + grad
        tl.store(target + at, value.to(flat.dtype.element_ty), mask=at < n)
