"""The sample project before and after `compilelint fix`, verified on a GPU; writes the table that the README shows.

    python benchmarks/verify_gpu.py                                   # copies and fixes the sample, then verifies
    python benchmarks/verify_gpu.py --before DIR --after DIR          # two copies made before (needs torch alone)
    python benchmarks/verify_gpu.py --render                          # the table again, from the figures written before

The copies can be made on another machine: `compilelint demo --no-verify --keep DIR` leaves DIR/before and DIR/after.
Run it from the root of the repository, with the project installed or with PYTHONPATH=. set.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from compilelint import __version__
from compilelint.errors import UsageProblem
from compilelint.runtime import VerifyResult, verify
from compilelint.runtime.results import result_from_json
from compilelint.runtime.table import markdown

ROOT = Path(__file__).resolve().parent.parent
TARGET = "train.py:verify_target"


def copies(folder: Path) -> tuple[Path, Path]:
    """The sample twice, the second fixed, by the command users run."""
    command = [sys.executable, "-m", "compilelint", "demo", "--no-verify", "--keep", str(folder)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return folder / "before", folder / "after"


def driver() -> str:
    """The version of the NVIDIA driver, "" where nvidia-smi doesn't tell."""
    try:
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0].strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def report(result: VerifyResult, versions: dict[str, str]) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in versions.items() if value)
    return (
        "# The sample before and after `compilelint fix --unsafe-fixes`\n\n"
        f"Made by `python benchmarks/verify_gpu.py` on {result.before.device_name or result.device}: {facts}.\n"
        "One steady call is an epoch of four training steps; kernels and host waits as CUPTI saw them.\n\n"
        + markdown(result)
    )


def rendered(path: Path) -> str:
    """The report of figures that were written before."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return report(result_from_json(data), data["versions"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the sample as it is")
    parser.add_argument("--after", type=Path, help="the sample fixed")
    parser.add_argument("--target", default=TARGET)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="inductor", choices=["inductor", "aot_eager", "eager"])
    parser.add_argument("--timeout", type=float, default=280, help="seconds for each side")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--name", default="verify_h200", help="of the two files written")
    parser.add_argument("--render", action="store_true", help="measure nothing: write the table of the figures again")
    options = parser.parse_args()
    if options.render:
        text = rendered(options.out / f"{options.name}.json")
        (options.out / f"{options.name}.md").write_text(text, encoding="utf-8")
        return 0
    if (options.before is None) != (options.after is None):
        parser.error("--before and --after go together")
    with tempfile.TemporaryDirectory() as folder:
        pair = (options.before, options.after) if options.before else copies(Path(folder))
        try:
            result = verify(
                options.target,
                str(pair[0].resolve()),
                str(pair[1].resolve()),
                device=options.device,
                backend=options.backend,
                timeout=options.timeout,
                progress=lambda text: print(text, flush=True),
            )
        except UsageProblem as problem:
            print(f"error: {problem}", file=sys.stderr)
            return 2
    result.before.label, result.after.label = "before", "after"
    versions = {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "compilelint": __version__,
        "torch": result.before.torch,
        "python": result.before.python,
        "driver": driver(),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    data = {"versions": versions, **result.to_json()}
    (options.out / f"{options.name}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    text = report(result, versions)
    (options.out / f"{options.name}.md").write_text(text, encoding="utf-8")
    print(text)
    return 0 if result.ok else 1


if __name__ == "__main__":
    sys.exit(main())
