"""Runs a program as Python itself would: `python FILE`, `python -m MODULE`; or TARGET, whose name makes a callable."""

from __future__ import annotations

import builtins
import os
import pkgutil
import runpy
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

_RUNPY: Any = runpy
_OWN = str(Path(__file__).parent) + os.sep
_kept: list[ModuleType] = []


def run(kind: str, name: str, arguments: list[str]) -> None:
    """`kind` is "file" or "module". What the program raises comes out; who prints it, see `clean_tracebacks`."""
    _fresh_main()
    if kind == "module":
        sys.argv = ["-m", *arguments]
        _import_from(os.getcwd())  # noqa: PTH109  # as Python does
        _RUNPY._run_module_as_main(name)  # what `python -m` calls
    elif pkgutil.get_importer(name) is not None:  # a folder or a zip file with a __main__.py
        sys.argv = [name, *arguments]
        sys.path.insert(0, os.path.abspath(name))
        _RUNPY._run_module_as_main("__main__", False)
    else:
        sys.argv = [name, *arguments]
        _import_from(os.path.dirname(os.path.realpath(name)))  # noqa: PTH120
        _run_file(str(Path.cwd() / name))


def _import_from(folder: str) -> None:
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, folder)


def _fresh_main() -> None:
    ours = sys.modules["__main__"]
    _kept.append(ours)  # or its globals would be cleared
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    if "__annotations__" in vars(ours):  # up to Python 3.13 it is there from the start
        main.__annotations__ = {}


def _run_file(name: str) -> None:
    main = sys.modules["__main__"]
    loader = SourceFileLoader("__main__", name)
    main.__dict__.update(__file__=name, __loader__=loader, __package__=None, __spec__=None, __cached__=None)
    code = compile(Path(name).read_bytes(), name, "exec", dont_inherit=True)
    exec(code, main.__dict__)


def clean_tracebacks() -> None:
    """From now on an uncaught exception is shown without the frames that are ours: call it when the program is over."""
    hook = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OWN):
            trace = trace.tb_next
        hook(kind, error.with_traceback(trace), trace)

    sys.excepthook = excepthook
