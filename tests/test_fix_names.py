"""Spelling names where other names may shadow them, adding imports, and fresh names."""

from __future__ import annotations

import ast

import pytest

from compilelint.fix.edits import apply_edits
from compilelint.fix.rewriter import CannotFix, Rewriter


def spelled(source: str, target: str, *, anywhere: bool = False) -> tuple[str, str]:
    """How a name is spelled where `here` stands, and the text with the imports that this takes."""
    rw = Rewriter("f.py", source, ast.parse(source))
    here = next(node for node in ast.walk(rw.file.tree) if isinstance(node, ast.Name) and node.id == "here")
    name = rw.name_for(target, None if anywhere else here)
    after = apply_edits(source, rw.edits())
    ast.parse(after)
    return name, after


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        ("import torch\nhere", "torch.where", "torch.where"),
        ("import torch as t\nhere", "torch.where", "t.where"),
        ("import torch.nn\nhere", "torch.where", "torch.where"),
        ("import torch\nimport torch.nn.functional as F\nhere", "torch.nn.functional.relu", "F.relu"),
        ("from torch.nn import functional as fn\nhere", "torch.nn.functional.relu", "fn.relu"),
        ("import torch\nfrom torch import nn\nhere", "torch.nn.Linear", "nn.Linear"),
        ("from torch import where as w\nhere", "torch.where", "w"),
        ("import torch\ndef f():\n    from torch import where\n    here", "torch.where", "where"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\ndef f():\n    here", "torch.x", "torch.x"),
        (
            "import torch\nimport torch.nn\nclass A:\n    torch = 1\n    def f(self):\n        here",
            "torch.x",
            "torch.x",
        ),
        ("import numpy as np\nhere", "numpy.array", "np.array"),
        ("import torch\n[here for torch_ in y]", "torch.where", "torch.where"),
        ("def f(x=here): pass\nimport torch", "builtins.int", "int"),
        ("import torch\ndef f(torch, y=here): pass", "torch.x", "torch.x"),
        ("import torch\ndef g():\n    torch = 1\ndef f():\n    global torch\n    here", "torch.x", "torch.x"),
    ],
)
def test_no_import_needed(source: str, target: str, name: str) -> None:
    assert spelled(source, target) == (name, source)


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(torch):\n    here",
        "import torch\ndef f():\n    here\n    for torch in x: pass",
        "import torch\ndef f():\n    torch = 1\n    def g():\n        return here",
        "import torch\ny = [here for torch in x]",
        "import torch\ny = lambda torch: here",
        "import torch\nclass A:\n    torch = 1\n    y = here",
        "import torch\ndef f():\n    match x:\n        case [*torch]: here",
        "import torch\ndef f():\n    try: pass\n    except E as torch: here",
        "import torch\ntorch = 1\nhere",
        "import torch\ndef f():\n    if (torch := 1): here",
        "import torch\ndef f():\n    import fake as torch\n    here",
    ],
)
def test_shadowed(source: str) -> None:
    name, after = spelled(source, "torch.where")
    assert name == "_torch.where" and "import torch as _torch\n" in after


def test_imports_of_type_checkers_and_later_ones_do_not_count() -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\nhere\n"
    assert spelled(source, "torch.x")[0] == "_torch.x"
    assert spelled("def f():\n    here\n    import torch\n", "torch.x")[0] == "_torch.x"
    assert spelled("here\nimport os\n", "os.path")[0] == "_os.path"


def test_an_import_under_an_if_counts_where_the_code_counts_on_it() -> None:
    source = "if ready():\n    import torch\ndef f():\n    torch.y(here)\n    return other\n"
    assert spelled(source, "torch.x")[0] == "torch.x"
    assert spelled(source.replace("torch.y(here)", "y(here)"), "torch.x")[0] == "_torch.x"
    assert spelled(source + "torch = None\n", "torch.x")[0] == "_torch.x"


def test_without_a_place_every_scope_counts() -> None:
    source = "import torch\nhere\ndef f(torch): pass\n"
    assert spelled(source, "torch.x")[0] == "torch.x"
    assert spelled(source, "torch.x", anywhere=True)[0] == "_torch.x"


@pytest.mark.parametrize(
    ("source", "target", "after"),
    [
        ("here\n", "torch.x", "import torch\n\nhere\n"),
        ("here", "torch.x", "import torch\n\nhere"),
        ("def f(): here\n", "torch.x", "import torch\n\n\ndef f(): here\n"),
        ('"""Doc."""\nhere\n', "torch.x", '"""Doc."""\n\nimport torch\n\nhere\n'),
        ('"""Doc."""\n\nhere\n', "torch.x", '"""Doc."""\n\nimport torch\n\nhere\n'),
        (
            '"""Doc."""\n\nfrom __future__ import annotations\n\nhere\n',
            "torch.x",
            '"""Doc."""\n\nfrom __future__ import annotations\n\nimport torch\n\nhere\n',
        ),
        ("import os\n\nhere\n", "torch.x", "import os\n\nimport torch\n\nhere\n"),
        ("import os\nimport sys\nhere\n", "re.sub", "import os\nimport re\nimport sys\nhere\n"),
        ("import a\nfrom b import c\nhere\n", "torch.x", "import a\nimport torch\nfrom b import c\nhere\n"),
        ("from . import a\nhere\n", "torch.x", "import torch\n\nfrom . import a\nhere\n"),
        ("import os\r\nhere\r\n", "re.sub", "import os\r\nimport re\r\nhere\r\n"),
        ("# licence\n\n# about\nhere\n", "torch.x", "# licence\n\nimport torch\n\n# about\nhere\n"),
        ("#!/bin/python\nhere\n", "torch.x", "#!/bin/python\nimport torch\n\nhere\n"),
        ("import torch\nhere\n", "compilelint.ops.fused", "import torch\nfrom compilelint.ops import fused\nhere\n"),
        ("here\n", "numpy.array", "import numpy as np\n\nhere\n"),
        ("from a import (\n    b,\n)\nhere\n", "torch.x", "import torch\nfrom a import (\n    b,\n)\nhere\n"),
    ],
)  # fmt: skip
def test_where_imports_go(source: str, target: str, after: str) -> None:
    assert spelled(source, target)[1] == after


def test_an_import_is_added_once() -> None:
    source = "x = 1\n"
    rw = Rewriter("f.py", source, ast.parse(source))
    names = [rw.name_for(each) for each in ("torch.where", "torch.stack", "math.pi", "torch.where")]
    assert names == ["torch.where", "torch.stack", "math.pi", "torch.where"]
    assert apply_edits(source, rw.edits()) == "import math\nimport torch\n\nx = 1\n"


def test_an_import_and_a_change_at_the_same_place() -> None:
    source = "x = old()\n"
    rw = Rewriter("f.py", source, ast.parse(source))
    statement = rw.file.tree.body[0]
    rw.insert_before(statement, f"y = {rw.name_for('torch.ones')}(1)")
    rw.replace_statement(statement, "x = y")
    assert apply_edits(source, rw.edits()) == "import torch\n\ny = torch.ones(1)\nx = y\n"


def test_no_room_for_an_import() -> None:
    with pytest.raises(CannotFix):
        spelled('"""Doc."""; here\n', "torch.x")


def test_fresh_names() -> None:
    source = "import os\ndef f(total):\n    total_2 = 1\n    def g(): other = 1\ndef h():\n    lone = 1\n"
    rw = Rewriter("f.py", source, ast.parse(source))
    f, h = rw.file.tree.body[1:]
    assert rw.fresh_name("total", within=f) == "total_3"
    assert rw.fresh_name("total", within=f) == "total_4"
    assert rw.fresh_name("other", within=f) == "other_2"
    assert rw.fresh_name("lone", within=f) == "lone"
    assert rw.fresh_name("lone", within=h) == "lone_2"
    assert rw.fresh_name("lone") == "lone_2"
    assert [rw.fresh_name(each, within=h) for each in ("os", "f", "sum", "for")] == ["os_2", "f_2", "sum_2", "for_2"]
