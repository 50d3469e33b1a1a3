"""With COMPILELINT_MYPYC=1 a wheel's engine is compiled by mypyc: two fifths less time for a check.

All else is in pyproject.toml. See "Compiled" in CONTRIBUTING.md.
"""

from __future__ import annotations

import os
import sys

from setuptools import setup

ENGINE = """annotations aside calls engine events expressions facts frame narrow rarity regions run scope steps summary
surroundings usage values"""
MODELS = "containers names nn objects operators sparse tensors torch_api"
JUDGING = "allowance analysis context dispatch flags hostside reached"
COMPILED = [
    *(f"compilelint/engine/{name}.py" for name in ENGINE.split()),
    *(f"compilelint/models/{name}.py" for name in MODELS.split()),
    *(f"compilelint/{name}.py" for name in JUDGING.split()),
    "compilelint/source/module.py",
    "compilelint/source/parents.py",
    "compilelint/source/walk.py",
]
OPTIONS = ["--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]

wanted = os.environ.get("COMPILELINT_MYPYC") == "1"
extensions = []
if wanted and {"bdist_wheel", "build_ext"} & set(sys.argv):  # not for a checkout that is worked on
    from mypyc.build import mypycify

    level = os.environ.get("MYPYC_OPT_LEVEL", "3")
    extensions = mypycify([*OPTIONS, *COMPILED], opt_level=level, debug_level="0", group_name="compilelint")

setup(setup_requires=["mypy==2.4.1"] if wanted else [], ext_modules=extensions)
