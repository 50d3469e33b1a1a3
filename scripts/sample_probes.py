"""Print the verdicts of a sample of the probes on the installed torch, as JSON (tests/test_tables.py compares them)."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import warnings

import probe_worker
from probes import calls, constructs


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr
    os.environ["COMPILELINT_PROBE_DIR"] = folder
    chosen = random.Random(20)
    numbers = chosen.sample(range(len(calls.entries())), 30)
    found = {calls.entries()[n][0]: probe_worker.handle(["call", n]) for n in numbers}
    for name in chosen.sample(constructs.names(), 20):
        found[f"construct:{name}"] = probe_worker.handle(["construct", name])
    verdicts = {
        name: {"gb_type": v["gb_type"], "effect": v["effect"]} if "gb_type" in v else {}
        for name, v in found.items()
        if "invalid" not in v
    }
    json.dump(verdicts, out)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch)
