"""Seeding, or a generator object, in compiled code breaks the graph.

## What it does
Reports `torch.manual_seed`, `get_rng_state`, `initial_seed`, making a `torch.Generator`, its methods, and passing one
as `generator=`, in code that Dynamo traces; the `numpy.random` functions that it can't map, and the objects of
`numpy.random`; and a branch on a number that Python's `random`, or a `random.Random`, draws.

## Why it costs
The state of a random generator isn't part of a graph: it ends before the call.

## Example
    g = torch.Generator(device=x.device).manual_seed(0)
    noise = torch.randn(x.shape, generator=g, device=x.device)

## Use instead
Seed before the compiled call, or draw the numbers outside and pass them in. Functions without `generator=` are traced.

## Fix safety
Unsafe where a constant seed is set: it moves before the calls of the function in the same file. Elsewhere manual: the
order in which numbers are drawn changes the results.

## Versions
From the table of the chosen release: `torch.cuda.manual_seed` breaks since 2.13. `generator=None` is traced.

## References
https://docs.pytorch.org/docs/stable/notes/randomness.html
"""

from __future__ import annotations

from collections.abc import Iterator

from compilelint.sdk import (
    Applicability,
    Branch,
    Call,
    Const,
    Context,
    Instance,
    Report,
    Rule,
    Scalar,
    cost,
    is_drawn,
    is_passed_otherwise,
    seed_before_call,
    words,
)

rule = Rule(
    "CL114",
    "rng-in-graph",
    effects=("graph-break",),
    gb_types=(
        "Attempted to call function marked as skipped",
        "torch.Generator method",
        "Failed to convert args/kwargs to proxy",
    ),
    fixable=Applicability.UNSAFE,
)

SEEDS = words(
    "torch.manual_seed torch.initial_seed torch.get_rng_state torch.set_rng_state"
    " torch.random.manual_seed torch.random.initial_seed torch.random.get_rng_state"
    " torch.random.set_rng_state torch.cuda.manual_seed torch.cuda.manual_seed_all"
    " torch.cuda.get_rng_state torch.cuda.set_rng_state torch.cuda.initial_seed torch.Generator"
    " torch.Generator.*"
)
NUMPY = words("permutation shuffle beta choice default_rng gamma poisson binomial multinomial dirichlet exponential")
STATES = words("SeedSequence MT19937 PCG64 PCG64DXSM Philox SFC64 Generator RandomState")
SCALAR_DRAWS = words("rand randn randint uniform normal random random_sample")  # with a size they are traced


@rule.on(
    Call,
    *SEEDS,
    *(f"numpy.random.{name}" for name in (*NUMPY, *STATES)),
    *(f"numpy.random.{name}.*" for name in STATES),
)
def state(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.compiled and ctx.torch_says(event.target).get("breaks") is not False:
        message = f"`{ctx.source(event.node)}` touches the state of a random generator: {cost(event, ctx)}"
        yield Report(
            event.node, message, hint="seed or draw before the compiled call", fix=seed_before_call(event, ctx)
        )


@rule.on(Call, *(f"numpy.random.{name}" for name in SCALAR_DRAWS))
def scalar_draw(event: Call, ctx: Context) -> Iterator[Report]:
    place = 2 if event.target.endswith((".uniform", ".normal", ".randint")) else 0
    size = event.argument(place, "size")
    unsized = size is None or (isinstance(size, Const) and size.value is None)
    given = (*event.args, *event.kwargs.values())  # `normal(means)` of an array has a size
    if ctx.compiled and not event.starred and unsized and all(isinstance(v, (Const, Scalar)) for v in given):
        message = f"`{ctx.source(event.node)}` gives one Python number: {cost(event, ctx)}"
        yield Report(
            event.node,
            message,
            gb_types=("Data dependent operator",),
            hint="draw it before the compiled call, or with torch",
        )


@rule.on(Call, "torch.*", "Tensor.*")
def passed(event: Call, ctx: Context) -> Iterator[Report]:
    generator = event.kwargs.get("generator")
    if not ctx.compiled or generator is None or isinstance(generator, Const) or event.target in SEEDS:
        return
    if isinstance(generator, Instance) and generator.external == "torch.Generator":
        message = f"`{ctx.source(event.node)}` draws from a generator object: {cost(event, ctx)}"
        yield Report(
            event.node,
            message,
            because=generator,
            hint="draw outside the compiled region, or from the default generator",
        )


@rule.on(Branch)
def drawn(event: Branch, ctx: Context) -> Iterator[Report]:
    """What `random.uniform` and `random.randint` give is an input of the graph: a branch on it needs its value."""
    if (
        ctx.compiled
        and isinstance(event.test, Scalar)
        and is_drawn(event.test)
        and not is_passed_otherwise(event.node, ctx, is_drawn)
    ):
        message = f"a branch on the random number `{ctx.source(event.node)}`: {cost(event, ctx)}"
        yield Report(
            event.node,
            message,
            because=event.test,
            gb_types=("Data-dependent branching",),
            hint="draw it before the compiled call",
        )
