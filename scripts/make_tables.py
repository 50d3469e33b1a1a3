"""Write the table of the installed torch: what its functions return, which break Dynamo's graph, which sync, and why.

    python3 scripts/make_tables.py [--out compilelint/models/tables/torch-2.13.json] [--jobs 2]

Nothing in a table is guessed: it holds what torch's stubs and schemas declare, and what running each operator and each
probe (scripts/probes) showed. `--raw FILE --only calls,constructs` measures those again and keeps the rest;
`--constructs` measures the constructs alone and keeps the rest of the shipped table. What syncs is measured apart, on a
GPU: `--syncs FILE` writes compilelint/models/tables/syncs.json from measure_syncs.py's output.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import opinfos
import signatures
import workers
from probes import calls, suite

SCRIPTS = Path(__file__).resolve().parent
TABLES = SCRIPTS.parent / "compilelint" / "models" / "tables"
CONFIG = (
    "capture_scalar_outputs",
    "capture_dynamic_output_shape_ops",
    "capture_autograd_function",
    "trace_numpy",
    "trace_autograd_ops",
    "ignore_logger_methods",
    "ignore_logging_functions",
    "reorderable_logging_functions",
    "recompile_limit",
    "accumulated_recompile_limit",
    "assume_static_by_default",
    "automatic_dynamic_shapes",
    "specialize_int",
    "specialize_float",
    "allow_rnn",
    "enable_faithful_generator_behavior",
    "install_free_tensors",
    "allow_unspec_int_on_nn_module",
    "allow_unspec_int_on_fsdp_module",
    "guard_nn_modules",
    "suppress_errors",
    "rewrite_assert_with_torch_assert",
    "optimize_ddp",
    "skip_nnmodule_hook_guards",
    "skip_fsdp_hooks",
    "nested_graph_breaks",
    "allow_complex_guards_as_runtime_asserts",
    "prefer_deferred_runtime_asserts_over_guards",
    "use_numpy_random_stream",
    "graph_break_on_nn_param_ctor",
    "enable_aot_compile",
    "wrap_top_frame",
    "error_on_recompile",
    "allow_empty_graphs",
    "enable_trace_contextlib",
    "enable_trace_unittest",
    "skip_torchrec",
    "force_nn_module_property_static_shapes",
    "force_parameter_static_shapes",
    "force_unspec_int_unbacked_size_like_on_torchrec_kjt",
    "trace_distributed",
)

Json = dict[str, Any]
RESHAPING = ("as_strided_", "resize_", "resize_as_", "resize_as_sparse_", "set_", "squeeze_", "unsqueeze_")


# -- what comes back ---


def relations(seen: list[Json]) -> Json:
    """How dtype and rank of the result follow from the operands', where all observations agree."""
    entry: Json = {}
    pairs = {tuple(s["dtype"]) for s in seen if "dtype" in s}
    out = {b for _, b in pairs}
    if len(out) == 1:
        entry["dtype"] = "same" if pairs == {(*out, *out)} else out.pop()
    elif pairs and all(a == b for a, b in pairs):
        entry["dtype"] = "same"
    elif pairs and all(b == "float" for a, b in pairs):
        entry["dtype"] = "float"
    ranks = {tuple(s["rank"]) for s in seen if "rank" in s}
    outs = {b for _, b in ranks}
    if ranks and all(a == b for a, b in ranks):
        if len(ranks) > 1:
            entry["rank"] = "same"
    elif len(outs) == 1 and (len(ranks) > 1 or 0 in outs):
        entry["rank"] = outs.pop()
    elif ranks and all(b <= a for a, b in ranks) and any(s.get("dims") for s in seen):
        entry["rank"] = "reduce"
    return entry


def describe(overloads: list[signatures.Overload], seen: list[Json]) -> Json:
    """A function's entry: declared returns, confirmed or completed by what was seen."""
    declared = {kind for _, returns in overloads for kind in returns.split("|")}
    observed = {s["returns"] for s in seen}
    measured = {
        "tuple:tensor" if kind.startswith("tuple") and "tuple:tensor" in declared else kind for kind in observed
    }
    kinds = sorted(declared | measured if not declared <= {"number"} else measured)
    entry: Json = {"returns": "|".join(kinds)}
    if len({returns for _, returns in overloads}) > 1:
        entry["overloads"] = sorted(f"({shown}) -> {returns}" for shown, returns in overloads)
    if names := next((s["fields"] for s in seen if s.get("fields")), None):
        entry["fields"] = names
    if any("tensor" in kind for kind in kinds):
        entry.update(relations(seen))
    return entry


def in_place(name: str, entry: Json) -> Json:
    """`add_` returns its receiver."""
    plain = name.rpartition(".")[2]
    if plain.endswith("_") and not plain.startswith("_") and entry["returns"] == "tensor":
        entry = {**entry, "dtype": "same"}
        if plain not in RESHAPING:
            entry["rank"] = "same"
    return entry


def results(measured: list[Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """`functions` and `methods`: every name that is declared or was run."""
    functions, methods = signatures.collect()
    seen: dict[str, list[Json]] = {}
    for entry in measured:
        seen.setdefault(entry["target"], []).extend(entry["seen"])
    tables: list[dict[str, Json]] = []
    for declared, prefix in ((functions, "torch."), (methods, "Tensor.")):
        names = {*declared, *(n for n in seen if n.startswith(prefix) and seen[n])}
        tables.append({n: in_place(n, describe(declared.get(n, []), seen.get(n, []))) for n in sorted(names)})
    named = signatures.fields()
    for table in tables:
        for name, entry in table.items():
            plain = name.rpartition(".")[2]
            if (
                "tuple:tensor" in entry["returns"]
                and "fields" not in entry
                and (known := named.get(plain) or named.get(f"linalg_{plain}"))
            ):
                entry["fields"] = known
    return tables[0], tables[1]


# -- what breaks ---


def verdict(found: Json) -> Json:
    return {"gb_type": found["gb_type"], "effect": found["effect"]}


def operator_breaks(measured: list[Json]) -> tuple[dict[str, Json], set[str], dict[str, list[str]]]:
    """`breaks`, `traces` and `tags` from the operator database; where samples differ, by signature."""
    breaks: dict[str, Json] = {}
    traces: set[str] = set()
    tags: dict[str, set[str]] = {}
    grouped: dict[str, list[Json]] = {}
    for entry in measured:
        grouped.setdefault(entry["target"], []).extend(entry["calls"])
    for target, found in sorted(grouped.items()):
        for call in found:
            tags.setdefault(target, set()).update(call["tags"])
        broken = {call["signature"]: call for call in found if "gb_type" in call}
        whole = sorted({call["signature"] for call in found if "gb_type" not in call} - set(broken))
        if not broken:
            if found:
                traces.add(target)
            continue
        breaks[target] = verdict(next(iter(broken.values())))
        if whole:
            breaks[target]["when"] = sorted(broken)
            breaks[target]["traces_when"] = whole
    return breaks, traces, {name: sorted(found) for name, found in sorted(tags.items()) if found}


def curated_breaks(found: list[Json], breaks: dict[str, Json], traces: set[str]) -> dict[str, str]:
    """Adds the verdicts of probes/calls.py, which outrank the database's; returns the probes that could not run."""
    invalid: dict[str, str] = {}
    for (target, _, _), result in zip(calls.entries(), found, strict=True):
        if "error" in result or "invalid" in result:
            invalid[target] = result.get("invalid") or result["error"]
            continue
        breaks.pop(target, None)
        traces.discard(target)
        if "gb_type" in result:
            breaks[target] = verdict(result)
            continue
        traces.add(target)
        if "gb_type" in result.get("returned", {}):
            breaks[with_circumstance(target, "returned")] = verdict(result["returned"])
    return invalid


def with_circumstance(target: str, more: str) -> str:
    return f"{target[:-1]},{more}]" if target.endswith("]") else f"{target}[{more}]"


# -- what Dynamo says of itself ---


def trace_rules() -> Json:
    """Which modules Dynamo skips and inlines, and what it does with torch's own functions."""
    from torch._dynamo import trace_rules as rules

    def module_names(*names: str) -> list[str]:
        found: set[str] = set()
        for name in names:
            for item in getattr(rules, name, ()):
                found.add(item if isinstance(item, str) else getattr(item, "__name__", str(item)))
        return sorted(found)

    kinds: dict[str, str] = {}
    for table in getattr(rules, "torch_name_rule_map", [rules.manual_torch_name_rule_map]):
        for name, variable in table.items():
            kinds[name] = {
                "TorchInGraphFunctionVariable": "graph",
                "SkipFunctionVariable": "skip",
                "UserFunctionVariable": "inline",
                "TorchHigherOrderOperatorVariable": "higher-order",
            }.get(variable.__name__, variable.__name__)
    counted = Counter(kinds.values())
    return {
        "modules": module_rules(),
        "skipped_modules": module_names("BUILTIN_SKIPLIST", "THIRDPARTY_SKIPLIST", "MOD_SKIPLIST"),
        "inlined_modules": module_names("LEGACY_MOD_INLINELIST", "MOD_INLINELIST"),
        "functions": {
            name: kind for name, kind in sorted(kinds.items()) if kind != "graph" and not name.startswith("torch._C.")
        },
        "in_graph": sorted(
            name for name, kind in kinds.items() if kind == "graph" and not name.startswith(("torch._", "torch.ops"))
        ),
        "counts": dict(sorted(counted.items())),
        "constant_functions": sorted(constant_functions()),
    }


def module_rules() -> dict[str, bool]:
    """Whether Dynamo inlines the functions of a module: of the standard library, of torch, of the skipped packages.

    A submodule is listed where it differs from the package above it; a module written in C has no say.
    """
    import torch
    from torch._dynamo import trace_rules as rules

    def inlined(path: Path) -> bool:
        return not rules.check_file(str(path), is_inlined_call=True).skipped

    found: dict[str, bool] = dict.fromkeys(rules.THIRDPARTY_SKIPLIST, False)
    for name in sorted(sys.stdlib_module_names):
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            found[name] = inlined(Path(spec.origin))
            for inner in Path(spec.origin).parent.glob("*.py") if spec.submodule_search_locations else ():
                if inner.stem != "__init__" and inlined(inner) != found[name]:
                    found[f"{name}.{inner.stem}"] = not found[name]
    root = Path(torch.__file__).parent
    for path in sorted(root.rglob("*.py"), key=lambda p: (len(p.parts) - (p.name == "__init__.py"), p)):
        parts = path.relative_to(root.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        above, value = name.rpartition(".")[0], inlined(path)
        while above and above not in found:
            above = above.rpartition(".")[0]
        if not above or found[above] != value:
            found[name] = value
    return found


def constant_functions() -> set[str]:
    """Functions that Dynamo runs while tracing, given constants."""
    from torch._dynamo.variables import torch as variables

    found = set()
    for function in getattr(variables, "constant_fold_functions", ()):
        module, name = getattr(function, "__module__", None) or "torch", getattr(function, "__qualname__", "")
        if name and "pybind11" not in name:
            found.add(f"{module}.{name}".replace("_VariableFunctionsClass.", ""))
    return found


def registry() -> dict[str, Json]:
    """Graph breaks by id."""
    import torch._dynamo

    path = Path(torch._dynamo.__file__).with_name("graph_break_registry.json")
    entries = json.loads(path.read_text()) if path.exists() else {}
    return {
        key: {"type": e[0]["Gb_type"], "explanation": e[0]["Explanation"][:160]} for key, e in sorted(entries.items())
    }


def config() -> Json:
    import torch._dynamo.config as settings

    found: Json = {}
    for name in CONFIG:
        value = getattr(settings, name, None)
        if isinstance(value, (bool, int, float, str)):
            found[name] = value
        elif isinstance(value, (set, frozenset, list, tuple)):
            found[name] = sorted(map(str, value))
    return found


def aten_tags() -> dict[str, list[str]]:
    """Tags of aten operators, under the Python names that are theirs."""
    import torch
    from probe_worker import TAGS

    found: dict[str, set[str]] = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace != "aten" or schema.overload_name.endswith("out"):
            continue
        try:
            operator = getattr(getattr(torch.ops.aten, name), schema.overload_name or "default")
        except (AttributeError, RuntimeError):
            continue
        tags = {tag.name for tag in operator.tags if tag.name in TAGS}
        if not tags or name == "index":
            continue
        prefix, _, rest = name.partition("_")
        places = [f"torch.{name}"] if callable(getattr(torch, name, None)) else []
        if prefix in ("linalg", "special", "fft") and hasattr(getattr(torch, prefix), rest):
            places.append(f"torch.{prefix}.{rest}")
        if hasattr(torch.Tensor, name):
            places.append(f"Tensor.{name}")
        if hasattr(torch.nn.functional, name):
            places.append(f"torch.nn.functional.{name}")
        for place in places:
            found.setdefault(place, set()).update(tags)
    return {name: sorted(tags) for name, tags in found.items()}


# -- putting it together ---


def run(kind: str, which: list[Any], jobs: int) -> list[Any]:
    print(f"{kind}: {len(which)}", file=sys.stderr)
    command = [sys.executable, str(SCRIPTS / "probe_worker.py")]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COMPILELINT_PROBE_DIR"] = folder  # probes of file calls write here
        if kind != "call_alone":
            os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a process that has seen a GPU can't be forked
        return workers.run(command, [[kind, w] for w in which], processes=jobs, timeout=120, start_timeout=300)


def operators(jobs: int) -> tuple[list[Json], dict[str, str]]:
    ops = opinfos.op_db()
    found, lost = [], {}
    for op, result in zip(ops, run("op", list(range(len(ops))), jobs), strict=True):
        if isinstance(result, dict):
            lost[op.name] = result["error"]
        else:
            found += result
    return found, lost


def undocumented(measured: list[Json], jobs: int) -> list[Json]:
    """The same of the public functions and methods that are declared but have no samples in the database."""
    functions, methods = signatures.collect()
    done = {entry["target"] for entry in measured if entry["calls"]}
    places = (
        "torch",
        "torch.nn.functional",
        "torch.linalg",
        "torch.fft",
        "torch.special",
        "torch.signal.windows",
        "Tensor",
    )
    names = [
        name for name in sorted({*functions, *methods, *tensor_names()} - done) if name.rpartition(".")[0] in places
    ]
    names = [name for name in names if not name.rpartition(".")[2].startswith("_")]
    return [found for found in run("declared", names, jobs) if "target" in found]


def tensor_names() -> set[str]:
    """Public methods and attributes of Tensor."""
    import torch

    return {f"Tensor.{name}" for name in dir(torch.Tensor) if not name.startswith("_")}


def make(old: Json, parts: set[str], jobs: int) -> Json:
    """The table, of which `parts` are measured and the rest kept from `old`."""
    import torch

    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    table: Json = {"torch": torch.__version__.partition("+")[0], "python": platform.python_version()}
    if "operators" in parts:
        measured, lost = operators(jobs)
        measured += undocumented(measured, jobs)
        functions, methods = results(measured)
        breaks, traces, tags = operator_breaks(measured)
        for name, found in aten_tags().items():
            tags[name] = sorted({*tags.get(name, []), *found})
        table |= {
            "functions": functions,
            "methods": methods,
            "tags": dict(sorted(tags.items())),
            "operators_lost": lost,
        }
        table["operator_breaks"], table["operator_traces"] = breaks, sorted(traces)
    if "calls" in parts:
        table["calls"] = measure_calls(jobs, visible)
    if "constructs" in parts:
        table["constructs"], table["constructs_invalid"] = constructs(jobs)
    if "rules" in parts:
        table |= {"trace_rules": trace_rules(), "gb_registry": registry(), "config": config()}
    return {**old, **table}


def measure_calls(jobs: int, visible: str | None) -> list[Any]:
    """The verdicts on probes/calls.py; those that need a GPU, where there is one, each in a process of its own."""
    found = run("call", list(range(len(calls.entries()))), jobs)
    needy = [n for n, (target, _, _) in enumerate(calls.entries()) if "cuda" in target and "invalid" in found[n]]
    os.environ.pop("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible
    for number, result in zip(needy, run("call_alone", needy, min(jobs, 4)), strict=True):
        found[number] = result
    return found


def constructs(jobs: int) -> tuple[Json, dict[str, str]]:
    """The verdicts on the constructs, and why those that have none could not run."""
    names = suite.names()
    found = dict(zip(names, run("construct", names, jobs), strict=True))
    invalid = {n: v.get("invalid") or v["error"] for n, v in found.items() if {"invalid", "error"} & set(v)}
    return {n: v for n, v in found.items() if n not in invalid}, invalid


def with_constructs(table: Json, jobs: int) -> Json:
    """A shipped table with its constructs measured again."""
    verdicts, invalid = constructs(jobs)
    known = {*table["constructs"], *suite.names()}
    kept = {name: why for name, why in table["invalid"].items() if name not in known}
    return {**table, "python": platform.python_version(), "constructs": verdicts, "invalid": kept | invalid}


def elementwise() -> set[str]:
    """Operators that torch's database knows to be elementwise: the rank is that of the operands."""
    from torch.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo

    ops = [op for op in opinfos.op_db() if isinstance(op, (BinaryUfuncInfo, UnaryUfuncInfo))]
    return {target for op in ops for target, _ in opinfos.targets(op)}


def finish(table: Json) -> Json:
    """The shipped form: one verdict a target."""
    for name in elementwise():
        for part in ("functions", "methods"):
            if table[part].get(name, {}).get("returns") == "tensor":
                table[part][name].setdefault("rank", "same")
    breaks = {name: dict(entry) for name, entry in table.pop("operator_breaks").items()}
    traces = set(table.pop("operator_traces"))
    table["invalid"] = curated_breaks(table.pop("calls"), breaks, traces) | table.pop("constructs_invalid")
    table["invalid"] |= {f"op {name}": text for name, text in table.pop("operators_lost").items()}
    table["breaks"] = breaks
    table["traces"] = sorted(traces)
    return table


def tidy_syncs(report: Json) -> Json:
    """The output of measure_syncs.py without what differs from run to run."""
    found = {}
    for name, entry in report["syncs"].items():
        name = f"numpy.{name[3:]}" if name.startswith("np.") else name
        found[name] = {key: value for key, value in entry.items() if key != "ms"}
    return {"torch": report["torch"], "python": report["python"], "device": report["device"], "syncs": found}


def dump(table: Json) -> str:
    """JSON with one entry a line, sorted: small, and readable in a diff."""

    def line(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)

    def block(value: Any) -> str:
        text = line(value)
        if len(text) < 600 or not isinstance(value, (dict, list)):
            return text
        if isinstance(value, list):
            return "[\n" + ",\n".join(line(v) for v in value) + "\n]"
        return "{\n" + ",\n".join(f"{line(k)}:{block(v)}" for k, v in sorted(value.items())) + "\n}"

    return block(table) + "\n"


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    version = ".".join(torch.__version__.split(".")[:2])
    parser.add_argument("--out", type=Path, default=TABLES / f"torch-{version}.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--syncs", type=Path, help="only tidy the output of measure_syncs.py into syncs.json")
    parser.add_argument(
        "--raw", type=Path, help="keep what was measured here, and start from it where --only leaves parts out"
    )
    parser.add_argument("--only", default="operators,calls,constructs,rules")
    parser.add_argument("--constructs", action="store_true", help="measure the constructs, keep the rest of the table")
    args = parser.parse_args()
    if args.syncs:
        (TABLES / "syncs.json").write_text(dump(tidy_syncs(json.loads(args.syncs.read_text()))))
        return
    started = time.monotonic()
    if args.constructs:
        table = with_constructs(json.loads((TABLES / f"torch-{version}.json").read_text()), args.jobs)
    else:
        raw: Json = json.loads(args.raw.read_text()) if args.raw and args.raw.exists() else {}
        raw = make(raw, set(args.only.split(",")), args.jobs)
        if args.raw:
            args.raw.write_text(json.dumps(raw))
        table = finish(raw)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(dump(table))
    sizes = {key: len(value) for key, value in table.items() if isinstance(value, (dict, list))}
    print(f"{args.out} {args.out.stat().st_size / 1e6:.2f} MB in {time.monotonic() - started:.0f} s: {sizes}")


if __name__ == "__main__":
    main()
