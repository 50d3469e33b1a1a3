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
# the double-precision run is believed where the old version is no further from it than this, times the largest value
REFERENCE_TIMES = 2.0
REFERENCE_MOST = {torch.float16: 0.1, torch.bfloat16: 0.1}
NUMBER = TOLERANCE[torch.float32]  # Python floats come from float32 tensors, as a rule

GROUPS = (
    ("outputs", re.compile(r"call \d+ output")),
    ("gradients", re.compile(r"call \d+ gradient")),
    ("inputs changed", re.compile(r"call \d+ changed")),
    ("state", re.compile(r"state ")),
    ("in inference", re.compile(r"inference ")),
    ("in training", re.compile(r"training ")),
)


def compare(
    before: Side,
    after: Side,
    left: dict[ModeName, Values],
    right: dict[ModeName, Values],
    nudged: Values,
    exact: Values,
) -> list[Check]:
    """Every check of both modes; in the end whether compiled code agrees with eager code on each side.

    `nudged` holds the old version's eager values when its inputs are off by a rounding error, `exact` those in double
    precision.
    """
    noise = Noise(left["eager"], nudged, exact)
    checks: list[Check] = []
    for mode in MODES:
        one, two = before.mode(mode), after.mode(mode)
        if one is None or two is None:
            continue
        checks += [_group(mode, what, pattern, left[mode], right[mode], noise) for what, pattern in GROUPS]
        checks.append(_exceptions(mode, one, two))
        if mode == "eager":
            checks += [_random(one, two), _printed(one, two)]
    checks.append(_as_eager(left, right, before, after, noise))
    return checks


class Noise:
    """What rounding alone does to the old version's eager values: from a run that was nudged, and one in double
    precision."""

    def __init__(self, eager: Values, nudged: Values, exact: Values) -> None:
        self._eager, self._nudged, self._exact = eager, nudged, exact

    def difference(self, name: str, left: Any, right: Any) -> str:
        """`difference`, but "" too where `right` is about as near to what it would be without rounding as `left`."""
        problem = difference(left, right, self.of(name))
        return "" if problem and self._as_near(name, left, right) else problem

    def of(self, name: str) -> float:
        """How far it moves a value."""
        one, two = (_wide(values.get(name)) for values in (self._eager, self._nudged))
        if one is None or two is None or one.shape != two.shape:
            return 0.0
        apart = (one - two).abs()
        apart = apart[torch.isfinite(apart)]
        return float(apart.max()) if apart.numel() else 0.0

    def _as_near(self, name: str, left: Any, right: Any) -> bool:
        exact = self._exact.get(name)
        if not all(isinstance(each, torch.Tensor) for each in (left, right, exact)) or left.dtype != right.dtype:
            return False
        true, one, two = _wide(exact), _wide(left), _wide(right)
        if true is None or one is None or two is None or not one.shape == two.shape == true.shape:
            return False
        finite = torch.isfinite(one)
        if not bool(finite.any()) or not bool((finite == torch.isfinite(two)).all()):
            return False
        if bool(((one != two) & ~(one.isnan() & two.isnan()) & ~finite).any()):
            return False
        true, one, two = true[finite], one[finite], two[finite]
        off, scale = float((one - true).abs().max()), max(1.0, float(true.abs().max()))
        return off <= REFERENCE_MOST.get(left.dtype, NOISE_MOST) * scale and (
            float((two - true).abs().max()) <= REFERENCE_TIMES * off
        )


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
        if name in two and (problem := noise.difference(name, value, two[name])):
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


def _random(one: Mode, two: Mode) -> Check:
    """Whether as many random numbers were drawn: what the program draws next depends on it."""
    names = sorted({*one.random, *two.random})
    other = [name for name in names if one.random.get(name) != two.random.get(name)]
    return Check("eager", "random state", not other, len(two.random), f"after {other[0]}" if other else "")


def _printed(one: Mode, two: Mode) -> Check:
    """Printed text is shown, not judged, and without its digits: it holds times and addresses."""
    old, new = (re.sub(r"\d+", "0", mode.printed).splitlines() for mode in (one, two))
    detail = f"{len(old)} lines before, {len(new)} after" if old != new else ""
    first = next((pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]), None)
    detail += f": {_short(first[0])} became {_short(first[1])}" if first else ""
    return Check("eager", "printed text", old == new, len(new), detail, fatal=False)


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
            if name in values["compiled"] and (problem := noise.difference(name, value, values["compiled"][name])):
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
        if tensor.dim() == 0 and isinstance(other, (bool, int, float, complex)):
            number = tensor.item()
            return difference(number, other, noise) if tensor is left else difference(other, number, noise)
        return f"a {_kind(left)} became a {_kind(right)}"
    if isinstance(left, torch.Tensor):
        return _tensors(left, right, TOLERANCE.get(left.dtype, (0.0, 0.0)), noise)
    if isinstance(left, (float, complex)) or isinstance(right, (float, complex)):
        if not isinstance(left, (int, float, complex)) or not isinstance(right, (int, float, complex)):
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
