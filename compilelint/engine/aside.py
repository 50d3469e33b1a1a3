"""Code that is never hot, whatever it does with tensors: tests, figures, data sets; and what runs once, or seldom."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from compilelint.source.module import FunctionInfo, Module
from compilelint.source.walk import walk

TEST_FOLDERS = frozenset(("tests", "test_utils"))
TEST_FILE = re.compile(r"test_\w+|\w+_test|conftest")
TESTS = re.compile(r"^\s*def test|\b(?:import|from) (?:pytest|unittest)\b", re.MULTILINE)
DRAWING = frozenset("matplotlib seaborn plotly bokeh altair".split())
FIGURE = re.compile(r"_*(plot|visuali[sz]e)(_\w+)?")
# hooks of Lightning's modules and callbacks (lightning/pytorch/core/hooks.py) but those of each batch; what saves
EPOCH = re.compile(
    r"on_(train|validation|test|predict|fit|sanity_check)_(epoch_)?(start|end)|on_(save|load)_checkpoint|on_exception"
    r"|_*save(_\w+)?"
)
# what loads, exports, logs, prints, tries out, or makes one model of another
ONCE = re.compile(
    r"_*(export|dump|print|serialize|deserialize|summarize|debug|benchmark|profile|lr_find|probe|warm_?up)(_\w+)?|init_hook"
    r"|from_(config|dict|file|path)|_*(get|to)_config(_dict)?|to_(dict|json|yaml)|_*find_\w*(batch_size|lr)"
    r"|_*load_\w*(model|module|weights|params|parameters|config|file|image)"
    r"|_*(replace|init|initialize|fuse|convert|copy|compare|reset)_\w*(weights?|bn|batch_?norm|params|parameters|buffers)"
    r"|_*log_(metrics?|hyperparams|images?|tables?|scalars?|histograms?|norms?)"
    r"|\w*(checkpoint|state_dict|pretrained|onnx|dummy|for_conversion|for_export|same_weights|importances?|early_stop"
    r"|calibrat|complexity|flops|sanity_check|memory_(usage|stats|statistics|summary|footprint|snapshot))\w*"
    r"|_*diagnos\w*|_*(count|get_num)_\w*(macs|params|parameters)"
)
# files, folders and classes that do nothing else
APART = re.compile(
    r"_*(\w+_)?(export(er)?|onnx|serialization|checkpoint(s|ing|_utils)?|early_stop(ping)?|debug|benchmark(s|ing)?"
    r"|profil(er|ing)|visuali[sz](e|ers?|ation)|colou?r_?maps?|plot(s|ting)?|demos?|loggers?|tuner|testing|cli"
    r"|flops?(_count(er|ing)?|_utils)?|complexity|analy[sz]ers?|diagnostics?)"
)
OWNER = re.compile(r"_*EarlyStop\w*|\w*(Exporter|Logger|Visualizer|Checkpoint|Calibrator|Analy[sz]er|Profiler|Monitor)")
# calls that read or write files, or make tables or pictures of what they get
FILES = frozenset("open savez imwrite imsave save_image fromarray to_csv to_json to_parquet DataFrame dump".split())
SCALARS = frozenset("add_scalar add_scalars add_histogram".split())
DATA = ("torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.utils.data.Sampler")
COLLATE = re.compile(r"(\w*_)?collate(_fn|_batch|_function)?")
MAKES = frozenset("__init__ __post_init__".split())
# the parts of the nn.Module protocol that run when a model is built, loaded or shown
SETUP = frozenset(
    """__init__ __new__ __init_subclass__ __post_init__ __repr__ __str__ __getstate__ __setstate__ __reduce__ __del__
    extra_repr reset_parameters _reset_parameters init_weights _init_weights state_dict load_state_dict
    _load_from_state_dict _save_to_state_dict get_extra_state set_extra_state setup configure_optimizers""".split()
)


def is_test(module: Module) -> bool:
    """Whether a module belongs to a test suite: it lies in a folder of such, or is named and looks like a test."""
    if module.of_tests is None:
        module.of_tests = _is_test(module)
    return module.of_tests


def _is_test(module: Module) -> bool:
    if TEST_FOLDERS & {*module.name.split(".")[:-1], module.path.parent.name}:
        return True
    return TEST_FILE.fullmatch(module.path.stem) is not None and TESTS.search(module.text) is not None


def feeds_loader(info: FunctionInfo, bases: Collection[str]) -> bool:
    """Whether a function makes batches, as a DataLoader's workers do on the host; `bases` are its class's."""
    return COLLATE.fullmatch(info.name) is not None or not set(DATA).isdisjoint(bases)


def draws(info: FunctionInfo) -> bool:
    """Whether a function makes a figure: it says so, or uses a plotting library."""
    if info.draws is None:
        info.draws = _draws(info)
    return info.draws


def _draws(info: FunctionInfo) -> bool:
    if FIGURE.fullmatch(info.name):
        return True
    if not info.module.wording.says(DRAWING):
        return False
    names = {name for name, bound in info.module.bindings.items() if any(map(_imports_drawing, bound))}
    return any(_imports_drawing(node) or (isinstance(node, ast.Name) and node.id in names) for node in walk(info.node))


def _imports_drawing(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] in DRAWING for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] in DRAWING
    return False


def runs_seldom(info: FunctionInfo) -> bool:
    """Whether a function runs once an epoch or less, or works with files; a loop of steps in it is hot all the same."""
    return EPOCH.fullmatch(info.name) is not None or _uses_files(info) or runs_once(info)


def runs_once(info: FunctionInfo) -> bool:
    """Whether a function is no part of training or inference, or its result is kept for good: a property's for each
    object, that of a function without parameters for all."""
    if info.once is None:
        info.once = _runs_once(info)
    return info.once


def _runs_once(info: FunctionInfo) -> bool:
    names = re.sub(r"\.<locals>", "", info.qualname).split(".")  # with those of the functions around
    parts = info.module.name.split(".")
    if any(map(ONCE.fullmatch, names)) or any(map(APART.fullmatch, parts[-2:])) or "datasets" in parts[1:]:
        return True
    if info.cls is not None and OWNER.fullmatch(info.cls.name):
        return True
    args = info.node.args
    given = args.posonlyargs + args.args + args.kwonlyargs or args.vararg or args.kwarg
    return _wrapped_by(info, "cached_property") or (is_cached(info) and not given)


def _uses_files(info: FunctionInfo) -> bool:
    if info.uses_files is None:
        near = info.mentions(FILES)
        calls = (n.func for n in walk(info.node) if isinstance(n, ast.Call)) if near else ()
        info.uses_files = any(getattr(func, "attr", getattr(func, "id", "")) in FILES for func in calls)
    return info.uses_files


def is_cached(info: FunctionInfo) -> bool:
    """Whether a function is wrapped by functools.lru_cache or cache."""
    return _wrapped_by(info, "lru_cache", "cache")


def logs(info: FunctionInfo) -> bool:
    """Whether a function writes what it is given to a log for TensorBoard."""
    return info.mentions(SCALARS)


def is_property(info: FunctionInfo) -> bool:
    """Whether a method is asked for without a call."""
    return _wrapped_by(info, "property", "cached_property", "lazy_property")


def is_kept(info: FunctionInfo) -> bool:
    """Whether an object puts a cache in place of its method: `self.pattern = lru_cache(100)(self.pattern)`."""
    writers = info.cls.stores.get(info.name, ()) if info.cls is not None else ()
    for writer in writers:
        for node in walk(writer.node):
            match node:
                case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Call(func=func)) if name == info.name:
                    called = func.func if isinstance(func, ast.Call) else func
                    if getattr(called, "attr", getattr(called, "id", "")) in ("lru_cache", "cache"):
                        return True
    return False


def _wrapped_by(info: FunctionInfo, *names: str) -> bool:
    return any(decorator.rpartition(".")[2] in names for decorator in info.decorators)
