"""Before against after, value by value: equal up to a tolerance that follows the dtype."""

from __future__ import annotations

import re
from typing import Any

import torch

from compilelint.runtime.results import MODES, Check, Mode, ModeName, Side
from compilelint.runtime.values import Values

# relative, and absolute in units of the larger of 1 and the tensor's largest value: a rewrite may sum in another order
TOLERANCE: dict[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-8, 1e-9),
    torch.complex128: (1e-8, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.complex64: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (3e-2, 8e-3),
}
NOISE_TIMES, NOISE_MOST = 8.0, 0.01
NUMBER = TOLERANCE[torch.float32]  # Python floats come from float32 tensors, as a rule

GROUPS = (
    ("outputs", re.compile(r"call \d+ output")),
    ("gradients", re.compile(r"call \d+ gradient")),
    ("inputs changed", re.compile(r"call \d+ changed")),
    ("state", re.compile(r"state ")),
)


def compare(
    before: Side, after: Side, left: dict[ModeName, Values], right: dict[ModeName, Values], nudged: Values
) -> list[Check]:
    """Every check of both modes; in the end whether compiled code agrees with eager code on each side.

    `nudged` holds the old version's eager values when its inputs are off by a rounding error.
    """
    noise = Noise(left["eager"], nudged)
    checks: list[Check] = []
    for mode in MODES:
        one, two = before.mode(mode), after.mode(mode)
        if one is None or two is None:
            continue
        checks += [_group(mode, what, pattern, left[mode], right[mode], noise) for what, pattern in GROUPS]
        checks.append(_exceptions(mode, one, two))
        if mode == "eager":
            checks.append(_printed(one, two))
    checks.append(_as_eager(left, right, before, after, noise))
    return checks


class Noise:
    """How far rounding alone moves a value: from the eager values, and those of a run that was nudged."""

    def __init__(self, exact: Values, nudged: Values) -> None:
        self._exact, self._nudged = exact, nudged

    def of(self, name: str) -> float:
        one, two = (_wide(values.get(name)) for values in (self._exact, self._nudged))
        if one is None or two is None or one.shape != two.shape:
            return 0.0
        apart = (one - two).abs()
        apart = apart[torch.isfinite(apart)]
        return float(apart.max()) if apart.numel() else 0.0


def _wide(value: Any) -> torch.Tensor | None:
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64)
    if isinstance(value, torch.Tensor) and (value.dtype.is_floating_point or value.dtype.is_complex):
        return value.to(torch.complex128 if value.dtype.is_complex else torch.float64)
    return None


def _group(mode: ModeName, what: str, pattern: re.Pattern[str], left: Values, right: Values, noise: Noise) -> Check:
    one = {name: value for name, value in left.items() if pattern.match(name)}
    two = {name: value for name, value in right.items() if pattern.match(name)}
    problems = [f"{name}: only before" for name in one if name not in two]
    problems += [f"{name}: only after" for name in two if name not in one]
    for name, value in one.items():
        if name in two and (problem := difference(value, two[name], noise.of(name))):
            problems.append(f"{name}: {problem}")
    detail = problems[0] + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else "") if problems else ""
    return Check(mode, what, not problems, len(two), detail)


def _exceptions(mode: ModeName, one: Mode, two: Mode) -> Check:
    raised = int(bool(one.exception or two.exception))
    if one.exception.partition(":")[0] != two.exception.partition(":")[0] or one.calls != two.calls:
        text = f"before: {_told(one)}; after: {_told(two)}"
        return Check(mode, "exceptions", False, raised, text)
    if one.exception != two.exception:
        return Check(
            mode, "exceptions", False, raised, f"other message: {one.exception!r}, {two.exception!r}", fatal=False
        )
    return Check(mode, "exceptions", True, raised, one.exception)


def _told(mode: Mode) -> str:
    if not mode.exception:
        return "none"
    return mode.exception + (
        f" (call {mode.calls}, at {mode.exception_at})" if mode.exception_at else f" (call {mode.calls})"
    )


def _printed(one: Mode, two: Mode) -> Check:
    """Printed text is shown, not judged, and without its digits: it holds times and addresses."""
    same = re.sub(r"\d+", "0", one.printed) == re.sub(r"\d+", "0", two.printed)
    detail = "" if same else f"{len(one.printed.splitlines())} lines before, {len(two.printed.splitlines())} after"
    return Check("eager", "printed text", same, len(two.printed.splitlines()), detail, fatal=False)


def _as_eager(
    left: dict[ModeName, Values], right: dict[ModeName, Values], before: Side, after: Side, noise: Noise
) -> Check:
    """Whether compiling changes what the new version computes; it counts only where it didn't in the old version."""

    def disagreement(values: dict[ModeName, Values], side: Side) -> str:
        if side.compiled is None or side.eager is None or bool(side.eager.exception) != bool(side.compiled.exception):
            return (
                ""
                if side.compiled is None or side.eager is None
                else f"{_told(side.compiled)}; eager: {_told(side.eager)}"
            )
        for name, value in values["eager"].items():
            if name in values["compiled"] and (problem := difference(value, values["compiled"][name], noise.of(name))):
                return f"{name}: {problem}"
        return ""

    now = disagreement(right, after)
    then = disagreement(left, before)
    return Check(
        "compiled",
        "values as eager",
        not now,
        len(right["compiled"]),
        now + (" (so before)" if now and then else ""),
        not then,
    )


def difference(left: Any, right: Any, noise: float = 0.0) -> str:
    """ "" when equal, else what differs, in a few words. A number and a tensor without dimensions compare by value.

    `noise` is what rounding alone does to this value: some times that passes, up to a hundredth of the value's size.
    """
    if isinstance(left, torch.Tensor) != isinstance(right, torch.Tensor):
        tensor, other = (left, right) if isinstance(left, torch.Tensor) else (right, left)
        if tensor.dim() == 0 and isinstance(other, bool | int | float | complex):
            number = tensor.item()
            return difference(number, other, noise) if tensor is left else difference(other, number, noise)
        return f"a {_kind(left)} became a {_kind(right)}"
    if isinstance(left, torch.Tensor):
        return _tensors(left, right, TOLERANCE.get(left.dtype, (0.0, 0.0)), noise)
    if isinstance(left, float | complex) or isinstance(right, float | complex):
        if not isinstance(left, int | float | complex) or not isinstance(right, int | float | complex):
            return f"{left!r} became {right!r}"
        one, two = (torch.tensor(each, dtype=torch.complex128) for each in (left, right))
        return f"{left!r} became {right!r}" if _tensors(one, two, NUMBER, noise) else ""
    return "" if left == right else f"{_short(left)} became {_short(right)}"


def _tensors(left: torch.Tensor, right: torch.Tensor, tolerance: tuple[float, float], noise: float) -> str:
    if left.shape != right.shape:
        return f"shape {list(left.shape)} became {list(right.shape)}"
    if left.dtype != right.dtype:
        return f"dtype {left.dtype} became {right.dtype}".replace("torch.", "")
    if left.numel() == 0:
        return ""
    one, two = _wide(left), _wide(right)
    if one is None or two is None:
        wrong = int((left != right).sum())
        return f"{wrong} of {left.numel()} values differ" if wrong else ""
    relative, absolute = tolerance
    finite = torch.isfinite(one) & torch.isfinite(two)
    scale = max(1.0, float(one[finite].abs().max())) if bool(finite.any()) else 1.0
    floor = max(absolute * scale, min(NOISE_TIMES * noise, NOISE_MOST * scale))
    exact = (one == two) | (one.isnan() & two.isnan())
    zero = torch.zeros((), dtype=torch.float64)
    apart = torch.where(finite, (one - two).abs(), zero)
    allowed = floor + relative * torch.where(finite, one.abs(), zero)
    wrong = int((~(exact | (finite & (apart <= allowed)))).sum())
    if not wrong:
        return ""
    largest = f", by up to {float(apart.max()):.3g}" if bool(apart.any()) else " (nan or inf)"
    return f"{wrong} of {left.numel()} values differ{largest}"


def _kind(value: Any) -> str:
    return f"tensor {list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
