"""TARGET and `--input`, as the command line spells them. Nothing here imports torch: a typing error is told at once."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from compilelint.errors import UsageProblem, did_you_mean

DTYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "bool": "bool",
    "c64": "complex64",
}
_TENSOR = re.compile(r"(?P<dtype>[a-z]+\d*)\[(?P<shape>[\d,\s]*)\](?:<(?P<below>\d+))?(?P<grad>\+grad)?$")


@dataclass(frozen=True)
class Target:
    """`file` or `module` is set, not both. `name` may be dotted (`Trainer.make`)."""

    text: str
    name: str
    file: str | None = None
    module: str | None = None


@dataclass(frozen=True)
class TensorInput:
    """`f32[8,128]`; integers are drawn from 0 up to `below`; `+grad` asks for the gradient of this input too."""

    dtype: str
    shape: tuple[int, ...]
    below: int = 10
    grad: bool = False


@dataclass(frozen=True)
class LiteralInput:
    value: object


Input = TensorInput | LiteralInput


def parse_target(text: str) -> Target:
    """`path/to/file.py:name` or `package.module:name`; raises UsageProblem."""
    place, colon, name = text.rpartition(":")
    if not colon or not place or not all(part.isidentifier() for part in name.split(".")):
        raise UsageProblem(f"TARGET {text!r}: expected path/to/file.py:name or package.module:name")
    if place.endswith(".py") or "/" in place or "\\" in place:
        if not place.endswith(".py"):
            raise UsageProblem(f"TARGET {text!r}: {place} is no .py file")
        return Target(text, name, file=Path(place).as_posix())
    if not all(part.isidentifier() for part in place.split(".")):
        raise UsageProblem(f"TARGET {text!r}: {place} is neither a .py file nor the name of a module")
    return Target(text, name, module=place)


def parse_input(text: str) -> Input:
    """One `--input`: a tensor (`f32[8,128]`, `i64[4,16]<1000`, `f32[8]+grad`) or a literal; raises UsageProblem."""
    if match := _TENSOR.match(text.strip()):
        if match["dtype"] not in DTYPES:
            raise UsageProblem(
                f"--input {text!r}: unknown dtype {match['dtype']!r}{did_you_mean(match['dtype'], DTYPES)}"
            )
        dtype = DTYPES[match["dtype"]]
        if match["grad"] and not dtype.startswith(("float", "bfloat", "complex")):
            raise UsageProblem(f"--input {text!r}: only a floating-point tensor has a gradient")
        try:
            shape = tuple(int(size) for size in match["shape"].split(",")) if match["shape"].strip() else ()
        except ValueError:
            raise UsageProblem(f"--input {text!r}: the shape must be whole numbers, such as [8,128]") from None
        return TensorInput(dtype, shape, int(match["below"] or 10), bool(match["grad"]))
    try:
        return LiteralInput(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError):
        raise UsageProblem(
            f'--input {text!r}: expected a tensor ("f32[8,128]", "i64[4,16]<1000", "f32[8]+grad") or a Python literal'
        ) from None
