"""Fix a copy of `transformers` and count graph breaks: the rows of a published table, before and after.

    python benchmarks/model_table.py TABLE [--python PYTHON] [--safe] [--json OUT]

TABLE is a folder with `overlay.py DEST`, which copies the package, and `table.py [--overlay DEST] [--against BASE]`,
which measures it: tiny models with random weights, their graphs under torch.compile, and outputs on inputs that take
each side of the branches. PYTHON has the package and torch. The exit status is 1 where a row differs or fails, or keeps
more breaks than the tool of the table's authors left.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from compilelint import api
from compilelint.config import Settings


def measure(options: argparse.Namespace, folder: Path, name: str, *more: str) -> dict[str, Any]:
    """What table.py finds, by row."""
    out = folder / f"{name}.json"
    command = [options.python, "table.py", "--state", str(folder / "state"), "--json", str(out), *more]
    subprocess.run(command, cwd=options.table, check=False)  # its status tells of differences, as the results do
    rows: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))["rows"]
    return rows


def outcomes(row: dict[str, Any]) -> set[str]:
    """How each comparison of a row came out: of its compiled calls and variants, with themselves and the original."""
    if "error" in row or "error" in row.get("against", {}):
        return {str(row.get("error") or row["against"]["error"]).strip().splitlines()[-1]}
    against = row["against"]
    both = [entry[kind] for entry in (against, *against["variants"].values()) for kind in ("eager", "compiled")]
    return {entry["equal"] for entry in (row, *row.get("variants", {}).values(), *both)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--safe", action="store_true", help="safe fixes only")
    parser.add_argument("--json", type=Path, help="write the table here too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = measure(options, folder, "before")
        subprocess.run([options.python, "overlay.py", str(folder / "fixed")], cwd=options.table, check=True)
        settings = dataclasses.replace(Settings(), unsafe_fixes=not options.safe)
        run = api.fix([folder / "fixed" / "transformers"], settings, apply=True)
        problems = [*run.result.problems, *map(api.describe_error, run.errors)]
        print(f"{run.result.applied} fixes in {len(run.result.changed)} of {run.files} files", flush=True)
        against = ["--overlay", str(folder / "fixed"), "--against", str(folder / "before.json")]
        after = measure(options, folder, "after", *against)
    rows = []
    print("\n| row | breaks | after fix | left by the table's tool | outputs |\n| --- | ---: | ---: | ---: | --- |")
    for name, old in before.items():
        new, left = after[name], after[name]["paper"]["after"]
        found = outcomes(new)
        rows.append({"row": name, "before": old["breaks_graphs"], "after": new.get("breaks_graphs"), "tool": left})
        print(f"| {name} | {old['breaks_graphs']} | {new.get('breaks_graphs', '-')} | {left} | {', '.join(found)} |")
        problems += [f"{name}: {how}" for how in found - {"same", "close"}]
        if new.get("breaks_graphs", 99) > left:
            problems.append(f"{name}: more breaks than the table's tool leaves")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for problem in problems:
        print(f"    {problem}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
