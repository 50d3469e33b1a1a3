"""A distribution that validates its arguments reads each of them from the device.

## What it does
Reports `torch.distributions.X(…)` with device tensors and without `validate_args=False`, outside compiled code
(Dynamo skips the validation).

## Why it costs
Each parameter is checked against its constraint with `if not constraint.check(value).all()`: one wait for each
parameter, and another for each value given to `log_prob`.

## Example
    dist = Normal(mu, sd)

## Use instead
    dist = Normal(mu, sd, validate_args=False)

or `torch.distributions.Distribution.set_default_validate_args(False)` once.

## Fix safety
Unsafe: a parameter out of its range (a negative deviation, a NaN) no longer raises.

## Versions
All releases since 1.8, where validation became the default.

## References
https://docs.pytorch.org/docs/stable/distributions.html#distribution
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilelint.sdk import Applicability, Call, Context, Fix, Report, Rule, on_device

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

rule = Rule("CL208", "distribution-validation", effects=("sync",), fixable=Applicability.UNSAFE)

NAMES = (
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Exponential",
    "FisherSnedecor",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LowRankMultivariateNormal",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
)


@rule.on(Call, *(f"torch.distributions.{name}" for name in NAMES))
def check(event: Call, ctx: Context) -> Iterator[Report]:
    if ctx.region.kind == "compiled" or "validate_args" in event.kwargs or event.starred:
        return
    value = next((v for v in (*event.args, *event.kwargs.values()) if on_device(v)), None)
    call = event.node
    if value is None or not isinstance(call, ast.Call):
        return

    def build(rw: Rewriter) -> None:
        rw.add_argument(call, "validate_args=False")

    fix = Fix("Skip the validation", Applicability.UNSAFE, build, "arguments out of range no longer raise")
    message = f"`{ctx.source(call)}` validates its arguments on the host: the CPU waits for the device once for each"
    yield Report(call, message, because=value, hint="pass `validate_args=False`", fix=fix)
