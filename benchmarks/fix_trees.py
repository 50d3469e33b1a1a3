"""Fix copies of installed packages: files must still be Python, a second run change nothing, and models agree.

    python benchmarks/fix_trees.py torchvision kornia [--site DIR] [--safe] [--models 40] [--under models]

`--site` holds the packages (default: where they are installed). `--models N` runs N of torchvision's or timm's models,
forward and backward in float32 on the CPU, in a process with the original package and in one with the fixed copy, with
the same weights and inputs, and compares outputs and gradients. The exit status is 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from compilelint import api
from compilelint.config import Settings

TOLERANCE = 1e-4
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch
package, count = sys.argv[2], int(sys.argv[3])
module = __import__(package)
assert module.__file__.startswith(sys.argv[1]), module.__file__
if package == "torchvision":
    names = module.models.list_models(module=module.models)
    build = lambda name: module.models.get_model(name, weights=None)
    size = lambda model: 299 if "inception" in name else 224 if "vit" in name else 64
else:
    names = module.list_models(exclude_filters=["*giant*", "*huge*", "*large*", "*xlarge*"])
    build = lambda name: module.create_model(name, pretrained=False)
    size = lambda model: model.default_cfg["input_size"][-1]
step, found = max(1, len(names) // count), {}
for name in names[::step][:count]:
    torch.manual_seed(0)
    model = build(name).train()
    out = model(torch.randn(2, 3, size(model), size(model)))
    outputs = list(out.values()) if isinstance(out, dict) else list(out) if isinstance(out, (tuple, list)) else [out]
    total = sum(o.float().square().mean() for o in outputs if isinstance(o, torch.Tensor))
    total.backward()
    gradients = [p.grad.norm().item() for p in model.parameters() if p.grad is not None]
    found[name] = [o.flatten()[:50].tolist() for o in outputs if isinstance(o, torch.Tensor)] + [gradients]
print(json.dumps(found))
"""


def package_folder(name: str, site: Path | None) -> Path:
    if site is not None:
        return site / name
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed: use --site")
    return Path(spec.origin).parent


def wrong_files(root: Path) -> list[str]:
    """The files that Python does not compile any more."""
    wrong = []
    for path in sorted(root.rglob("*.py")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compile(path.read_bytes(), str(path), "exec")
            except (SyntaxError, ValueError) as error:
                wrong.append(f"{path}: {error}")
    return wrong


def fix_tree(root: Path, settings: Settings) -> tuple[int, int, list[str]]:
    """How many fixes in how many files, and what is wrong: files that are no Python any more, or change again."""
    before = set(wrong_files(root))
    run = api.fix([root], settings, apply=True)
    problems = [*run.result.problems, *(api.describe_error(error) for error in run.errors)]
    problems += [wrong for wrong in wrong_files(root) if wrong not in before]
    again = api.fix([root], settings, apply=False)
    problems += [f"{file.path}: changes in a second run\n{file.diff}" for file in again.result.changed]
    return run.result.applied, len(run.result.changed), problems


def run_models(package: str, site: Path, count: int) -> dict[str, list[list[float]]]:
    command = [sys.executable, "-c", RUN, str(site), package, str(count)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{package} of {site}: {done.stderr[-2000:]}")
    found: dict[str, list[list[float]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def close(one: float, other: float) -> bool:
    return one == other or (one != one and other != other) or abs(one - other) <= TOLERANCE * max(1.0, abs(one))


def disagreements(old: dict[str, list[list[float]]], new: dict[str, list[list[float]]]) -> list[str]:
    return [
        name
        for name, values in old.items()
        if [len(v) for v in values] != [len(v) for v in new.get(name, [])]
        or not all(close(a, b) for v, w in zip(values, new[name], strict=True) for a, b in zip(v, w, strict=True))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--site", type=Path)
    parser.add_argument("--safe", action="store_true", help="safe fixes only")
    parser.add_argument("--models", type=int, default=0, metavar="N", help="run N models before and after")
    parser.add_argument("--under", default="", help="fix this folder of the package only")
    options = parser.parse_args()
    settings = dataclasses.replace(Settings(), unsafe_fixes=not options.safe)
    failed = False
    for name in options.packages:
        source, began = package_folder(name, options.site), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / name
            shutil.copytree(source, tree, ignore=shutil.ignore_patterns("__pycache__"))
            applied, files, problems = fix_tree(tree / options.under, settings)
            print(f"{name}: {applied} fixes in {files} files, {time.monotonic() - began:.0f} s", flush=True)
            if options.models:
                old, new = (run_models(name, site, options.models) for site in (source.parent, Path(folder)))
                differ = disagreements(old, new)
                problems += [f"{each}: other outputs or gradients" for each in differ]
                print(f"{name}: {len(old) - len(differ)} of {len(old)} models agree", flush=True)
        for problem in problems:
            print(f"    {problem}")
        failed = failed or bool(problems)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
