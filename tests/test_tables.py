"""The tables of torch releases: they load without torch, say what is known, and agree with the installed torch."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest
from fixturefiles import ROOT, load

from compilelint.models import tables

SCRIPTS = ROOT / "scripts"
VERSIONS = tables.available()

if not VERSIONS:
    pytest.skip("no tables", allow_module_level=True)


def installed_torch() -> tuple[int, int] | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        major, minor = version("torch").split(".")[:2]
    except PackageNotFoundError:
        return None
    return int(major), int(minor)


def test_loading_needs_no_torch_and_is_quick() -> None:
    code = (
        "import sys, time; from compilelint.models import tables\n"
        "start = time.perf_counter(); table = tables.load(); elapsed = time.perf_counter() - start\n"
        "assert 'torch' not in sys.modules, 'torch was imported'\n"
        "assert tables.load() is table and tables.load(table.version) is table\n"
        "assert elapsed < 1, elapsed\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_files_are_small_sorted_and_readable(version: tables.Version) -> None:
    path = ROOT / "compilelint" / "models" / "tables" / f"torch-{version[0]}.{version[1]}.json"
    text = path.read_text(encoding="utf-8")
    assert len(text) < 1_500_000
    assert text.count("\n") > 3000, "one entry a line"
    data = json.loads(text)
    assert list(data["breaks"]) == sorted(data["breaks"])
    assert not set(data["breaks"]) & set(data["traces"])


def test_nearest_release_stands_for_one_without_a_table() -> None:
    assert tables.nearest((1, 0)) == VERSIONS[0]
    assert tables.nearest((99, 0)) == VERSIONS[-1]
    assert tables.load() is tables.load(VERSIONS[-1])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.isnan", {"returns": "tensor", "dtype": "bool", "rank": "same"}),
        ("torch.logical_and", {"returns": "tensor", "dtype": "bool"}),
        ("torch.argmax", {"returns": "tensor", "dtype": "int", "rank": "reduce"}),
        ("torch.nonzero", {"dtype": "int"}),
        ("torch.abs", {"returns": "tensor", "dtype": "same", "rank": "same"}),
        ("torch.relu", {"returns": "tensor", "dtype": "same"}),
        ("torch.is_tensor", {"returns": "bool"}),
        ("torch.get_default_dtype", {"returns": "dtype"}),
        ("torch.equal", {"returns": "bool"}),
        ("torch.linalg.inv", {"returns": "tensor"}),
        ("torch.linalg.svd", {"returns": "tuple:tensor", "fields": ["U", "S", "Vh"]}),
        ("torch.topk", {"returns": "tuple:tensor", "fields": ["values", "indices"]}),
        ("torch.split", {"returns": "tuple:tensor"}),
        ("torch.nn.functional.softmax", {"returns": "tensor", "rank": "same"}),
        ("torch.manual_seed", {"returns": "generator"}),
    ],
)
def test_known_functions(version: tables.Version, name: str, expected: dict[str, object]) -> None:
    entry = tables.load(version).function(name)
    assert {key: entry.get(key) for key in expected} == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_known_methods(version: tables.Version) -> None:
    table = tables.load(version)
    known = {"shape": "size", "dtype": "dtype", "device": "device", "is_cuda": "bool", "ndim": "int", "T": "tensor",
             "dim": "int", "numel": "int", "is_contiguous": "bool", "add_": "tensor", "nbytes": "int"}  # fmt: skip
    assert {name: table.method_returns(name) for name in known} == known
    assert table.method("Tensor.add_")["rank"] == "same"
    assert "tuple:tensor" in table.method("Tensor.max")["returns"]
    assert table.method("Tensor.no_such_method") == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_known_breaks(version: tables.Version) -> None:
    table = tables.load(version)
    item = table.breaks("Tensor.item")
    assert item is not None
    assert "item" in item["gb_type"]
    assert item["effect"] == "split"
    for target in ("time.time", "print", "logging.Logger.info", "torch.manual_seed", "torch.masked_select", "open",
                   "Tensor.__getitem__[mask]", "torch.repeat_interleave[tensor]"):  # fmt: skip
        assert table.verdict(target) == "breaks", target
    for target in ("torch.relu", "math.sqrt", "os.path.join", "torch.where", "Tensor.__setitem__[mask,scalar]", "len",
                   "torch.repeat_interleave[tensor,output_size]", "torch.full[tensor]"):  # fmt: skip
        assert table.verdict(target) == "traces", target
        assert table.breaks(target) is None
    assert table.verdict("no.such.call") is None
    assert table.says("torch.isnan")["breaks"] is False


@pytest.mark.parametrize("version", VERSIONS)
def test_tags_constructs_rules(version: tables.Version) -> None:
    table = tables.load(version)
    assert "dynamic_output_shape" in table.tags("torch.nonzero")
    assert "dynamic_output_shape" in table.tags("Tensor.nonzero")
    assert "data_dependent_output" in table.tags("Tensor.item")
    assert table.tags("torch.add") == ()
    branch = table.construct("if_tensor")
    assert branch is not None
    assert branch["gb_type"] == "Data-dependent branching"
    assert table.construct("dict_comprehension") == {}
    assert table.construct("no_such_construct") is None
    assert table.inlines("torch.nn.functional") is True
    assert table.inlines("numpy") is False
    assert table.config("capture_scalar_outputs") is False
    assert table.gb_id("Data-dependent branching").startswith("GB")


def test_syncs() -> None:
    table = tables.load()
    for target in ("Tensor.item", "torch.nonzero", "torch.cuda.synchronize", "Tensor.__getitem__[mask]"):
        assert table.syncs(target) is True, target
    for target in ("torch.add", "torch.where", "Tensor.__setitem__[mask,scalar]", "Tensor.to[pinned,non_blocking]"):
        assert table.syncs(target) is False, target
    assert table.syncs("no.such.call") is None


@pytest.mark.slow
@pytest.mark.skipif(installed_torch() not in VERSIONS, reason="no table of the installed torch")
def test_probes_agree_with_the_installed_torch() -> None:
    """One probe in twelve, or in COMPILELINT_PROBES_EVERY, is run again."""
    version = installed_torch()
    assert version is not None
    if sys.version_info[:2] != tables.load(version).python:
        pytest.skip("the table was measured on another Python")
    every = os.environ.get("COMPILELINT_PROBES_EVERY", "12")
    command = [sys.executable, str(SCRIPTS / "compare_probes.py"), "--every", every]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_probe_is_python() -> None:
    """Names are unique and code parses, also where torch is not installed."""
    entries = load(SCRIPTS / "probes" / "calls.py").entries()
    assert len(entries) > 1500
    assert len({target for target, _, _ in entries}) == len(entries)
    for _, setup, code in random.Random(0).sample(entries, 300):
        compile(setup, "<setup>", "exec")
        compile(code, "<code>", "exec")
