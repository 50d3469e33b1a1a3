"""What the engine believes of every expression of a file: python scripts/believe.py FILE [FUNCTION]

One block for each context that a function was interpreted in; FUNCTION is a qualified name, such as `Net.forward`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from compilelint.analysis import Analyser, shortened
from compilelint.config import Settings
from compilelint.engine.regions import Regions
from compilelint.engine.values import Const, External, Instance, Map, Method, Scalar, Seq, Tensor, Union, Value


def shown(value: Value) -> str:
    """A value in a few words; its history is left out."""
    match value:
        case Const():
            return f"constant {value.value!r}"
        case Scalar():
            return f"{value.flow.name.lower()} {value.type}"
        case Tensor():
            rank = "" if value.rank is None else f", rank {value.rank}"
            kind = f"{value.kind} " if value.kind else ""
            return f"{kind}tensor, device {value.device.name.lower()}, dtype {value.dtype or 'unknown'}{rank}"
        case External():
            return value.name
        case Method():
            return f"method `{value.name}` of {shown(value.receiver)}"
        case Instance():
            return f"instance of {value.external or (value.info.qualname if value.info else '?')}"
        case Seq() | Map():
            return value.kind if isinstance(value, Seq) else "dict"
        case Union():
            return " or ".join(shown(option) for option in value.options)
        case _:
            return type(value).__name__.lower()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("function", nargs="?", help="only this one")
    options = parser.parse_args()
    analyser = Analyser([options.file], Settings(), [], [options.file], {})
    analyser.run()
    regions = Regions(analyser.engine)
    for summary in list(analyser.engine.summaries()):
        name = summary.info.qualname if summary.info is not None else "<module>"
        if summary.module.path != options.file or options.function not in (None, name):
            continue
        region = regions.of(summary)
        print(f"{name}: {region.kind} ({region.why})")
        for node, value in analyser.values(summary).items():
            print(f"  {getattr(node, 'lineno', 0):>4}  {shortened(node, 40):<40}  {shown(value)}")


if __name__ == "__main__":
    main()
