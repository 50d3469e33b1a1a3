"""Score `compilelint check --compiled all` against a ground truth.

    python score.py TRUTH.json --install DIR              # once: its packages, pinned, without dependencies
    python score.py TRUTH.json --site DIR [--verbose]

Recall: the share of core break sites that lie within a finding. Core sites are those that are not secondary and whose
type is not Dynamo's own affair (INTERNAL). Precision: the share of findings that contain a break site, among those on a
line that was traced and none of whose lines names a half-precision type (the runs were in float32: such a guard was
never taken). Findings are those of severity warning or error with the truth's effect: `graph-break`, or `sync`.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# no source analysis should chase these
INTERNAL = {
    "Failed to convert args/kwargs to proxy",
    "Import failure",
    "NotImplementedError/UnsupportedFakeTensorException when running FX node",
    "Observed exception",
    "Reconstruction failure",
    "Unsupported function call",
    "failed to bind arguments when attempting to inline",
}
Finding = Mapping[str, Any]


@dataclass
class Score:
    """Counts by package; `missed` and `false` name the sites and findings behind them."""

    found: Counter[str] = field(default_factory=Counter)
    core: Counter[str] = field(default_factory=Counter)
    true: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)

    def line(self, package: str | None = None) -> str:
        """Recall and precision of one package, or of all."""
        counts = (self.found, self.core, self.true, self.judged)
        found, core, true, judged = (c.total() if package is None else c[package] for c in counts)
        return f"recall {_share(found, core)}   precision {_share(true, judged)}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part}/{whole})" if whole else "- (0/0)"


def relevant(findings: Iterable[Finding], effect: str) -> list[Finding]:
    return [f for f in findings if f["severity"] in ("warning", "error") and effect in f["effects"]]


def score(
    files: Mapping[str, Any], findings: Mapping[str, Sequence[Finding]], source: Callable[[str], Sequence[str]]
) -> Score:
    """`files` as in a truth, `findings` by the same paths, `source` the lines of a file."""
    total = Score()
    for path, file in files.items():
        package, here = file["package"], findings.get(path, ())
        spans = [range(f["line"], f.get("end_line", f["line"]) + 1) for f in here]
        for site in file["breaks"]:
            if site["secondary"] or site["gb_type"] in INTERNAL:
                continue
            total.core[package] += 1
            if any(site["line"] in span for span in spans):
                total.found[package] += 1
            else:
                total.missed.append(f"{path}:{site['line']} {site['gb_type']}")
        traced = {line for first, last in file["traced"] for line in range(first, last + 1)}
        broken = {site["line"] for site in file["breaks"]}
        for finding, span in zip(here, spans, strict=True):
            text = source(path)[span.start - 1 : span.stop - 1]
            if traced.isdisjoint(span) or any("float16" in line for line in text):
                continue
            total.judged[package] += 1
            if broken.isdisjoint(span):
                total.false.append(f"{path}:{finding['line']} {finding['code']} {finding['message']}")
            else:
                total.true[package] += 1
    return total


def check(truth: Mapping[str, Any], files: Iterable[str], site: Path, command: str) -> dict[str, list[Finding]]:
    """The relevant findings in the packages that these files are of, by path relative to `site`."""
    torch = ".".join(truth["torch"].split(".")[:2])
    argv = [*shlex.split(command), "check", "--compiled", "all", "--torch", torch, "--output-format", "json"]
    argv += sorted({str(site / Path(path).parts[0]) for path in files})
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"exit {done.returncode}\n{done.stderr}")
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in relevant(json.loads(done.stdout)["findings"], truth.get("effect", "graph-break")):
        by_path[Path(finding["path"]).resolve().relative_to(site).as_posix()].append(finding)
    return by_path


def install(versions: Mapping[str, str], site: Path) -> None:
    for package, release in versions.items():  # one by one: their own pins contradict each other
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
        subprocess.run([*pip, f"{package}=={release}"], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--install", type=Path, metavar="DIR")
    parser.add_argument("--site", type=Path, metavar="DIR", help="where the packages are installed")
    parser.add_argument("--command", default=f"{sys.executable} -m compilelint", help="how compilelint is started")
    parser.add_argument("--package", help="score this one alone")
    parser.add_argument("--verbose", action="store_true", help="each package, each miss and each false alarm")
    options = parser.parse_args()
    truth = json.loads(options.truth.read_text(encoding="utf-8"))
    if options.install:
        install(truth["versions"], options.install)
        return
    if options.site is None:
        parser.error("--site or --install is missing")
    site = options.site.resolve()
    files = {path: f for path, f in truth["files"].items() if options.package in (None, f["package"])}
    if absent := [path for path in files if not (site / path).is_file()]:
        sys.exit(f"{len(absent)} files are absent from {site}, among them {absent[0]}")

    def source(path: str) -> list[str]:
        return (site / path).read_text(encoding="utf-8", errors="replace").splitlines()

    total = score(files, check(truth, files, site, options.command), source)
    if options.verbose:
        print("\n".join([*(f"missed {text}" for text in total.missed), *(f"false  {text}" for text in total.false)]))
        for package in sorted(total.core | total.judged):
            print(f"{package}: {total.line(package)}")
    print(total.line())


if __name__ == "__main__":
    main()
