"""Whatever code it is given, the engine ends, soon, and without an error of its own; one such error ends one function."""

# ruff: noqa: E501 - one snippet a line

from __future__ import annotations

import ast
import gc
import sys
import sysconfig
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from interpreted import Everything, check, interpret

from compilelint import allowance, api
from compilelint.analysis import Analyser, Analysis, analyse
from compilelint.checking import cut_short
from compilelint.config import Settings
from compilelint.engine.events import Call, Site
from compilelint.engine.regions import Regions, Standing
from compilelint.engine.summary import Summary
from compilelint.engine.values import UNKNOWN
from compilelint.models import torch_api
from compilelint.sdk import Context, Report, Rule
from compilelint.source.layout import Layout

STDLIB = Path(sysconfig.get_paths()["stdlib"])
OWN_TESTS = sorted((STDLIB / "test").glob("test_*.py"))
BIG = sorted(path for path in OWN_TESTS or STDLIB.glob("*.py") if path.stat().st_size < 120_000)
SAMPLE = BIG[:: max(1, len(BIG) // 60)][:60]
SETTINGS = Settings()

STATEMENTS = """
from __future__ import annotations
import os, sys as system
import os.path
from collections import (OrderedDict as OD, deque)
from . import sibling
from .. import parent
from .sibling import *
x: int
y: int = 3
z = w = (a, b) = [1, 2]
[c, *d], e = (1, 2, 3), 4
x += 1
x @= 2; x //= 3; x **= 2; x <<= 1; x >>= 1; x |= 1; x &= 1; x ^= 1; x %= 2
del x, y[0], z.attribute, (w, a)
os.environ["k"] = "v"
d[1:2, ..., None] = b[::2]
pass
assert x, "message"
assert (x, y)
if x: pass
elif y: pass
else: pass
for i, (j, k) in enumerate(zip([1], [(2)])): continue
else: pass
for os.path in (): break
for d[0], *rest in (): ...
while x:
    break
else: pass
with open("f") as f, open("g"): pass
with (open("f") as (p, q), open("g") as r.s): pass
try: pass
except: pass
try: pass
except (ValueError, TypeError) as error: raise
except OSError: raise ValueError() from None
else: pass
finally: pass
try: pass
finally: del f
def f(a, b: int = 1, /, c=2, *args: int, d, e: str = "s", **kw: dict) -> None:
    global G, H
    nonlocal_ = 1
    def inner():
        nonlocal nonlocal_
        nonlocal_ = yield
        yield 1
        x = yield from f()
        return x
    return lambda a, *b, c=1, **d: (a, b, c, d)
    unreachable()
async def g():
    async with x as y, z: pass
    async for i in y: pass
    else: pass
    await x
    return [i async for i in y if await i]
@staticmethod
@x.y(1)
@(lambda f: f)
class C(Base, metaclass=Meta, **kw):
    "doc"
    attribute: int
    value: str = "v"
    __slots__ = ("a",)
    if x:
        def method(self): return super().method()
    class Nested:
        def method(self): return __class__
    for i in range(3): exec("x")
    @property
    def p(self): return self._p
    @p.setter
    def p(self, v): self._p = v
    def __getattr__(self, name): return getattr(self, name)
class D(D): pass
class E(F): pass
class F(E): pass
match x:
    case 1 | -1 | 1 + 2j | "s" | None | True: pass
    case [a, *_, b]: pass
    case {"k": v, **rest}: pass
    case C(a, b=c): pass
    case os.path as q if q: pass
    case (1, (2, 3)): pass
    case _: pass
raise
raise x
return_ = (yield_ := 3)
"""
EXPRESSIONS = """
1, 1.5, 2j, "s", b"b", ..., None, True
f"{x!r:>{width}} {y=} {'n' + f'{z}'}"
"a" "b" f"c{1}"
x if y else z
x or y and not z
x < y <= z != 1 is not None in w not in v
-x + ~y ** +z @ w // 2 % 3 << 1 >> 2 & 3 | 4 ^ 5
"%s %(k)s" % x
[*a, 1, *b], (*a,), {*a, 1}, {**a, "k": 1, **b}
[i for i in x if i if not i for j in i]
{i: j for i, j in x.items()}
{i for i in x}
(i for i in x)
[[j for j in i] for i in x]
lambda: (yield)
lambda x=1, /, y=2, *, z: x
f(*a, *b, k=1, **c, **d)
f(i for i in x)
f(x)(y)[z].w
x[1], x[1:], x[:1], x[::1], x[1:2, 3], x[...], x[*a], x[()]
(x := 1)
x.y.z[0].w()
super().x, super(C, x).y
__name__, __file__, __debug__
print(*x, sep="")
isinstance(x, (int, (str, float))), isinstance(x, int | str), isinstance(), len(), range(), zip(), sum(), max(), int()
getattr(x, "y"), getattr(x, y, z), setattr(x, "y", z), hasattr(x), type(x)(y), type("N", (), {}), map(f), filter(f)
1 / 0, 1 % 0, 2 ** 1000, "a" * 10 ** 9, 10 ** 10 ** 2, "x" + 1, [] + 1, {} | {}, -"s", not x, ~1.5, 1 << 10 ** 6
torch.tensor([[]]), torch.zeros(*x), torch.cat(), torch.where(), torch.stack(x), torch.einsum("ii", x), torch.compile()
torch.zeros(3)[0, 1, 2, 3], torch.zeros(3).max(), torch.zeros(3)[None][..., None], torch.zeros(()).item(), torch.max()
nn.Sequential(*x), nn.ModuleList(x), nn.ModuleDict(x)[y], nn.Linear()(x), nn.Module()(), nn.ParameterList()[0]
functools.partial(), functools.partial(f)(), functools.reduce(f, x), np.zeros(3)[0], np.array([x]).item(), math.sqrt()
"""


def every(kind: type[ast.AST]) -> set[type[ast.AST]]:
    return {sub for sub in kind.__subclasses__() if sub.__module__ in ("ast", "_ast") and not sub.__subclasses__()}


def inside(text: str, parameters: str = "x, y, z, w, a, b, c, d, f") -> str:
    return f"def function({parameters}):\n" + textwrap.indent(text, "    ")


def test_every_statement_is_read() -> None:
    source = STATEMENTS.replace("from __future__ import annotations\n", "")
    kinds = {type(node) for node in ast.walk(ast.parse(source))}
    newer = {
        getattr(ast, name) for name in ("TryStar", "TypeAlias", "TemplateStr", "Interpolation") if hasattr(ast, name)
    }
    assert every(ast.stmt) - newer - kinds == {ast.Return, ast.Nonlocal} - kinds
    interpret(source, header="")


def test_every_expression_is_read() -> None:
    lines = [line for line in EXPRESSIONS.splitlines() if line and (sys.version_info >= (3, 11) or "[*a]" not in line)]
    text = "\n".join(f"v{number} = {line}" for number, line in enumerate(lines))
    newer = {getattr(ast, name) for name in ("TemplateStr", "Interpolation") if hasattr(ast, name)}
    kinds = {type(node) for node in ast.walk(ast.parse(inside(text)))}
    assert every(ast.expr) - newer - kinds <= {ast.Await, ast.YieldFrom}
    interpret(text)
    interpret(inside(text))
    interpret(inside(text, "x: Tensor, y: list[Tensor], z: dict[str, Tensor], w: int, a: str, b: nn.Module, c=None"))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="except* came with Python 3.11")
def test_try_star() -> None:
    check(
        """
        def f(x: Tensor):
            y = None
            try:
                y = x
            except* ValueError as e:
                reveal(y)  # None | tensor
            reveal(y)  # None | tensor
        """
    )


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements came with Python 3.12")
def test_type_statements() -> None:
    check(
        """
        type Pair[T] = tuple[T, T]

        def f[T](x: Tensor, y: T) -> T:
            reveal(x)  # tensor
            return y
        """
    )


HARD = {
    "empty": "",
    "a comment": "# nothing",
    "names that hide builtins": "def f(len, range, print, int):\n    for i in range(len(int)): print(i)",
    "self-reference": "xs = []\nxs.append(xs)\nd = {}\nd['d'] = d\nx = x\n\ndef f(a=xs):\n    a.append(a)\n    return a",
    "class cycles": "class A(B): pass\nclass B(C): pass\nclass C(A):\n    x = A.x\n    def f(self): return self.f().f()",
    "name cycles": "a = b\nb = c\nc = a\n\ndef f(x=a): return f(x=b)",
    "attribute cycles": "class A:\n    def f(self):\n        self.x = self.y\n    def g(self):\n        self.y = self.x\n"
    "    def h(self):\n        return self.x.y.x",
    "decorator cycles": "@f\ndef f(): pass\n\n@g.h\ndef g(): pass",
    "property cycles": "class A:\n    @property\n    def p(self): return self.q\n    @property\n    def q(self): return self.p",
    "constructors that construct": "class A:\n    def __init__(self): self.a = A()\n    def f(self): return self.a.a.a.a.f()",
    "growing arguments": "def f(x): return f([x])\n\ndef g(x): return g((x, x))\n\ndef h(x): return h({'k': x})\nf(1)\ng(1)\nh(1)",
    "growing closures": "def f(g): return f(lambda: g)\n\ndef h(n):\n    def k(): return h(k)\n    return k\nf(1)\nh(1)",
    "growing values": "def f(n):\n    x = []\n    y = ()\n    z = 0\n    while n:\n        x = [x]\n        y = (y, y)\n        z = z + 1",
    "growing texts": "def f(n):\n    s = 'a'\n    for _ in range(n):\n        s = s + s\n        s += s\n    return s",
    "mutual recursion": "\n".join(f"def f{i}(x): return f{(i * 7 + 3) % 40}([x]) + f{(i * 11) % 40}(x)" for i in range(40)),
    "a fan of calls": "\n".join(f"def f{i}(x): return f{i + 1}((x, {i})) or f{i + 1}([x]) or f{i + 1}(x)" for i in range(25)),
    "many contexts": "def f(x): return x\n" + "\n".join(f"f({i})\nf('{i}')\nf([{i}])" for i in range(200)),
    "callbacks of callbacks": "def f(g): return g(g)\n\ndef h(x): return x(f)\nf(f)\nf(h)\nh(h)",
    "generators of generators": "def f(x):\n    yield from f(x)\n    yield f\n    for y in f(x): yield y",
    "unions of many": "def f(n):\n" + "\n".join(f"    if n == {i}: x = {i}, '{i}', f{i}" for i in range(50)) + "\n    return x",
    "unreachable": "def f():\n    return\n    while True:\n        break\n    else:\n        x = [y for y in z]\n    return lambda: x",
    "nothing but raise": "def f(x):\n    try:\n        raise x\n    except:\n        raise\n    finally:\n        raise",
    "loops left at once": "def f(x):\n    for i in x:\n        return i\n    while True:\n        break\n    while x:\n        raise i",
    "loops in loops": "def f(n):\n" + "".join("    " * (i + 1) + f"for v{i} in range(n):\n" for i in range(15)) + "    " * 16 + "n += v3",
    "branches in sequence": "def f(n, x):\n" + "\n".join(f"    if n == {i}:\n        x = (x, {i})" for i in range(200)),
    "self replaced": "class A:\n    def f(self):\n        self = 3\n        self.x = 1\n        del self\n        return self.x",
    "no parameters": "class A:\n    def f(): return self\n    @classmethod\n    def g(): return cls\n    @staticmethod\n    def h(): pass\n"
    "a = A()\na.f()\na.g()\nA.h(1, 2)",
    "wrong calls": "def f(a, /, b, *, c): return a\nf()\nf(1, 2, 3, 4)\nf(a=1)\nf(x=1, **{'a': 2})\nf(*f, **f)",
    "odd unpacking": "a, b = 1\na, b = 'ab'\n*a, = {}\n(a, *b), = [[1, 2]]\na, b = b, a = (1, 2)\nfor a, b in 3: pass\n",
    "odd targets": "f().x = 1\nf()[0] = 1\n[1][0] = 2\n(lambda: 0).x = 1\n'a'.b = 2\nx[x[0]] = x[x]\nx.y[z.w].v += 1",
    "annotations that are none": f"def f(x: '{'(' * 5000}', y: '{'not ' * 30000}z', z: '\\x00', w: '\\\\d'): return x",
    "form feed and odd newlines": "def f(x):\n\x0c    return x\n\n\x0cclass A:\n    pass\n",
}  # fmt: skip


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_code_is_read_soon(text: str) -> None:
    before = time.process_time()
    interpret(text)
    assert time.process_time() - before < 10


DEEP = {
    "sums": "x = " + " + ".join(["y"] * 900),
    "parentheses": "x = " + "(" * 90 + "1" + ")" * 90,
    "lists": "x = " + "[" * 90 + "]" * 90,
    "calls in calls": "x = " + "f(" * 90 + "1" + ")" * 90,
    "chained calls": "x = y" + ".a(1)" * 500,
    "attributes": "x = y" + ".a" * 900,
    "subscripts": "x = y" + "[0]" * 900,
    "comparisons": "x = " + " < ".join(["y"] * 1000),
    "booleans": "x = " + " and ".join(["y"] * 1000),
    "nots": "x = " + "not " * 500 + "y",
    "conditionals": "x = " + "".join(f"{i} if y == {i} else " for i in range(80)) + "0",
    "lambdas": "x = " + "lambda: " * 80 + "y",
    "elif": "if y == 0: x = 0\n" + "\n".join(f"elif y == {i}: x = {i}" for i in range(1, 300)),
    "ifs": "".join("    " * i + f"if y > {i}:\n" for i in range(80)) + "    " * 80 + "x = 1",
    "functions": "".join("    " * i + f"def g{i}(x):\n" for i in range(18)) + "    " * 18 + "return y",
    "classes": "".join("    " * i + f"class C{i}:\n" for i in range(18)) + "    " * 18 + "x = 1",
    "tries": "".join("    " * i + "try:\n" for i in range(18)) + "    " * 18 + "x = 1\n"
    + "".join("    " * i + "except E:\n" + "    " * (i + 1) + "pass\n" for i in reversed(range(18))),
    "withs": "".join("    " * i + f"with f() as x{i}:\n" for i in range(18)) + "    " * 18 + "x = 1",
    "a long dict": "x = {" + ", ".join(f"'k{i}': {i}" for i in range(5000)) + "}",
    "a long list": "x = [" + ", ".join("(1, 'a')" for _ in range(5000)) + "]",
    "many statements": "\n".join(f"x{i} = x{i - 1} + {i}" for i in range(1, 3000)),
    "many functions": "\n".join(f"def f{i}(x):\n    return f{i - 1}(x)" for i in range(1, 1000)),
}  # fmt: skip


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_deep_and_long_code_is_read_soon(text: str) -> None:
    before = time.process_time()
    for source in (text, inside(text)):
        result = analyse_text(source)
        assert not result.errors, result.errors[0].traceback
    assert time.process_time() - before < 20


def test_code_too_deep_for_python_is_a_finding_of_its_own() -> None:
    result = analyse_text("x = " + "(" * 5_000 + ")" * 5_000)
    assert not result.errors
    assert len(result.unreadable) == 1


def analyse_text(text: str) -> Analysis:
    path = Path("/nowhere/snippet.py")
    return analyse([path], SETTINGS, rules=[], texts={str(path): text})


# -- several files ---------------------------------------------------------------------------------------------------


def analysed(folder: Path, files: dict[str, str], rules: list[Rule] | None = None) -> Analysis:
    paths = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        paths.append(path)
    return analyse(paths, SETTINGS, rules=rules or [])


IMPORTS = {
    "a cycle": {"a.py": "from b import y\nx = y\n", "b.py": "from a import x\ny = x\n"},
    "a cycle of modules": {"a.py": "import b\nx = b.y\n", "b.py": "import a\ny = a.x\n"},
    "itself": {"a.py": "import a\nfrom a import *\nfrom a import x\nx = a.x\n"},
    "stars in a cycle": {"a.py": "from b import *\nx = z\n", "b.py": "from c import *\n", "c.py": "from a import *\ny = x\n"},
    "a package and its parts": {
        "p/__init__.py": "from .a import *\nfrom . import b, missing\n",
        "p/a.py": "from . import b\nfrom .b import f as g\n__all__ = ['g']\n",
        "p/b.py": "from .. import outside\nfrom ... import further\nfrom . import a\n\ndef f(): return a.g()\n",
    },
    "a module that can't be parsed": {"a.py": "import b\nfrom b import *\nb.f(b.g)\n", "b.py": "def (:\n"},
    "a class across files": {
        "a.py": "import b\nclass A(b.B): pass\n",
        "b.py": "import a\nclass B(a.A):\n    def f(self): return super().f()\n",
    },
    "a name that is a module and a variable": {"p/__init__.py": "from .x import x\n", "p/x.py": "from p import x\nx = x\n"},
    "a file named as a library": {"torch.py": "import torch\nx = torch.compile\n", "math.py": "import math\n"},
}  # fmt: skip


@pytest.mark.parametrize("files", IMPORTS.values(), ids=IMPORTS.keys())
def test_imports_of_all_kinds(tmp_path: Path, files: dict[str, str]) -> None:
    result = analysed(tmp_path, files)
    assert not result.errors, result.errors[0].traceback


def test_many_stars_are_read_soon(tmp_path: Path) -> None:
    """Ten layers of four modules, each of which imports all names of the four below: a million ways to the bottom."""
    files = {f"m0_{i}.py": f"import torch\ny{i} = torch.ones(2)\n" for i in range(4)}
    for layer in range(1, 10):
        stars = "".join(f"from m{layer - 1}_{i} import *\n" for i in range(4))
        files |= {f"m{layer}_{i}.py": f"{stars}a = absent{i}\n" for i in range(4)}
    files["top.py"] = "from m9_3 import *\n\n\ndef f():\n    for _ in y2:\n        y2.item()\n        absent()\n"
    start = time.perf_counter()
    found = analysed(tmp_path, files)
    assert not found.errors
    assert time.perf_counter() - start < 20


def test_the_later_star_wins(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import torch\nx = torch.ones(2)\n_hidden = torch.ones(2)\n")
    (tmp_path / "two.py").write_text("x = 1\n")
    check(
        """
        from one import *
        from two import *

        def f():
            reveal(x)  # 1
            reveal(_hidden)  # ?
        """,
        path=tmp_path / "main.py",
    )


def test_imports_are_followed(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").write_text("from .layers import *\nfrom .layers import Block as Renamed\n")
    (tmp_path / "p" / "layers.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef positive(x):\n    return x > 0\n\n\n"
        "class Block(nn.Module):\n    def forward(self, x):\n        return positive(x)\n"
    )
    check(
        """
        import p
        import p.layers as layers
        from p import Renamed, positive as pos

        def f(x: Tensor):
            reveal(p.positive(x))  # tensor bool
            reveal(p.layers.positive(x))  # tensor bool
            reveal(layers.Block()(x))  # tensor bool
            reveal(pos(x))  # tensor bool
            reveal(Renamed()(x))  # tensor bool
            reveal(p.missing)  # ?
            from p.layers import positive as local
            reveal(local(x))  # tensor bool
        """,
        path=tmp_path / "main.py",
    )


# -- errors of our own ------------------------------------------------------------------------------------------------


def test_an_error_ends_one_function_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("ours")

    monkeypatch.setitem(torch_api._HANDLERS, "time.monotonic", broken)
    seen: list[str] = []
    rule = Rule("CL999", "mark", effects=(), in_setup=True)

    @rule.on(Call, "time.time")
    def mark(event: Call, ctx: Context) -> Iterator[Report]:
        seen.append(getattr(ctx.function, "name", "<module>"))
        yield from ()

    text = """
    import time

    def before():
        time.time()

    def bad():
        return time.monotonic()

    def calls_bad():
        return bad()

    def after():
        time.time()
    """
    result = analysed(tmp_path, {"a.py": text, "b.py": "import time\n\n\ndef other():\n    time.time()\n"}, [rule])
    assert {"before", "after", "other"} <= set(seen)
    error = result.errors[0]
    assert (error.function, error.rule, error.message) == ("bad", "", "RuntimeError: ours")
    assert error.line == 7 and error.path.endswith("a.py") and "broken" in error.traceback
    assert {e.function for e in result.errors} <= {"bad", "calls_bad"}


def test_an_error_of_a_rule_is_reported_and_hides_nothing(tmp_path: Path) -> None:
    bad, good = Rule("CL998", "bad", effects=("sync",)), Rule("CL999", "good", effects=("sync",))

    @bad.on(Call, "torch.nonzero")
    def fails(event: Call, ctx: Context) -> Iterator[Report]:
        missing: dict[str, list[Report]] = {}
        yield from missing["ours"]

    @good.on(Call, "torch.nonzero")
    def reports(event: Call, ctx: Context) -> Iterator[Report]:
        yield Report(event.node, "found")

    result = analysed(
        tmp_path, {"a.py": "import torch\n\n\ndef f(x: torch.Tensor):\n    torch.nonzero(x)\n"}, [bad, good]
    )
    assert [e.rule for e in result.errors] == ["CL998"]
    assert [f.code for f in result.findings] == ["CL999"]


def test_an_error_where_a_functions_findings_are_put_together_ends_these_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Regions.standing

    def standing(self: Regions, summary: Summary, site: Site) -> Standing:
        if summary.name == "a:bad":
            raise RuntimeError("ours")
        return whole(self, summary, site)

    monkeypatch.setattr(Regions, "standing", standing)
    text = "".join(f"def {name}(x: torch.Tensor):\n    return x.item()\n\n\n" for name in ("before", "bad", "after"))
    (tmp_path / "a.py").write_text(f"import torch\n\n\n{text}", encoding="utf-8")
    result = api.check([tmp_path / "a.py"], replace(SETTINGS, select=("CL201",)))
    assert [f.span.line for f in result.findings] == [5, 13]
    assert [(e.function, e.rule, e.line, e.message) for e in result.errors] == [("bad", "", 8, "RuntimeError: ours")]


@pytest.mark.parametrize("what", ["engine", "rule"])
def test_what_takes_too_long_is_cut_short_and_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """One function that takes for ever, in the engine or in a rule, costs its own findings alone."""

    def burn(*_: Any) -> Any:
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass
        return UNKNOWN

    slow, rule = Rule("CL998", "slow", effects=()), Rule("CL999", "mark", effects=("sync",))

    @slow.on(Call, "torch.nonzero")
    def burns(event: Call, ctx: Context) -> Iterator[Report]:
        burn()
        yield from ()

    @rule.on(Call, "torch.nonzero")
    def mark(event: Call, ctx: Context) -> Iterator[Report]:
        yield Report(event.node, "found")

    monkeypatch.setattr(allowance, "FUNCTION_SECONDS", 0.5)
    call = "torch.nonzero(x)"
    if what == "engine":
        monkeypatch.setitem(torch_api._HANDLERS, "time.monotonic", burn)
        call = "torch.nonzero(x); time.monotonic()"
    after = "\n\ndef after(x: torch.Tensor):\n    torch.nonzero(x)\n"
    text = f"import time\nimport torch\n\n\ndef f(x: torch.Tensor):\n{f'    {call}{chr(10)}' * 200}{after}"
    start = time.process_time()
    result = analysed(tmp_path, {"a.py": text}, [slow, rule] if what == "rule" else [rule])
    assert time.process_time() - start < 10
    assert result.stats.bounds["time for a:f"]
    lines = [f.span.line for f in result.findings]
    assert lines[-1] == text.count("\n") and 1 < len(lines) < 200
    assert cut_short(result.stats) == [
        "a:f takes too much time to be followed to its end: findings may be missing there"
    ]


def test_joining_many_branches_takes_no_longer_than_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "FUNCTION_SECONDS", 0.5)
    sets = "".join(f"        elif k == {n}:\n            self.a{n} = k\n" for n in range(1500))
    text = f"class A:\n    def f(self, k):\n        if k < 0:\n            pass\n{sets}"
    start = time.process_time()
    result = analysed(tmp_path, {"a.py": f"import torch\n\n\n{text}"}, [])
    assert time.process_time() - start < 4
    assert result.stats.bounds["time for a:A.f"]


def test_a_file_has_a_time_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "FILE_SECONDS", 0.0)
    monkeypatch.setattr(allowance, "SECONDS_A_LINE", 0.0)
    result = analysed(tmp_path, {"a.py": "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.item()\n"})
    assert set(result.stats.bounds) == {"time for a:<module>", "time for a:f"}
    assert not result.errors


def test_what_is_nested_too_deeply_is_noted(tmp_path: Path) -> None:
    text = f"def deep(x: torch.Tensor):\n    return x{' + x' * 8000}\n\n\ndef flat(x: torch.Tensor):\n    return x.item()\n"
    (tmp_path / "m.py").write_text(f"import torch\n\n\n{text}", encoding="utf-8")
    result = api.check([tmp_path / "m.py"], SETTINGS)
    assert not result.errors
    if [f.code for f in result.findings] == ["CL002"]:
        return  # this Python doesn't parse it either
    assert [f.span.line for f in result.findings] == [9]
    assert result.notices == ["m:deep is nested too deeply to be followed to its end: findings may be missing there"]


def test_bounds_are_counted() -> None:
    found = interpret(
        "def f(x): return x\n" + "\n".join(f"f({i})" for i in range(50)) + "\n\ndef g(x): return g([x])\n"
    )
    assert found.analyser.result.stats.bounds.get("contexts")
    assert found.analyser.result.stats.bounds.get("recursion")


# -- code of others ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(len(SAMPLE) < 40, reason="this Python comes without its library's source")
def test_many_findings_in_one_function_are_told_soon(tmp_path: Path) -> None:
    lines = [f"    if x.sum() > {i}:\n        y{i} = x.item()\n" for i in range(400)]
    (tmp_path / "m.py").write_text("import torch\n\n\ndef f(x: torch.Tensor):\n" + "".join(lines), encoding="utf-8")
    start = time.process_time()
    assert len(api.check([tmp_path / "m.py"], SETTINGS).findings) == 800
    assert time.process_time() - start < 8


@pytest.mark.parametrize("line", ["    x{0} = x + {0}\n", "    if x.sum() > {0}:\n        y{0} = x.item()\n"])
def test_a_function_without_end_is_cut_short_and_noted(line: str, tmp_path: Path) -> None:
    lines = "".join(line.format(number) for number in range(4000))
    (tmp_path / "m.py").write_text(f"import torch\ndef f(x: torch.Tensor):\n{lines}", encoding="utf-8")
    start = time.process_time()
    result = api.check([tmp_path / "m.py"], replace(SETTINGS, select=("CL502",)))
    assert time.process_time() - start < 20
    told = ["m:f is too long to be followed to its end: findings may be missing there"]
    assert result.notices == (told if "if" in line else [])


def test_nothing_is_left_to_the_collector() -> None:
    text = """
import torch
TABLE = {"relu": lambda x: TABLE["relu"](x)}
HELD = TABLE
class Base(torch.nn.Module):
    act = TABLE
    def __init__(self, n): super().__init__(); self.n = n; self.held = HELD
    def forward(self, x):
        def inner(y): return lambda z: inner(z) + y + self.n
        return inner(x)(x)
class Net(Base):
    def forward(self, x): return super().forward(x) if x.sum() > 0 else [f for f in (lambda: x,)]
    def tell(self, x: torch.Tensor, verbose=False):
        def wrap(g): return lambda: g(wrap)
        self.kept = wrap
        if verbose: print(x.item())
        return self.tell(x)
def f(net: Net): return net(torch.ones(2)), net.tell(torch.ones(2))
"""
    analyse_text(text)  # what is loaded on the first run is not ours
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(o, ast.AST | Summary) for o in gc.get_objects())
        analyse_text(text)
        after = sum(isinstance(o, ast.AST | Summary) for o in gc.get_objects())
    finally:
        gc.enable()
    assert after <= before


def test_the_standard_library_is_read_soon() -> None:
    before = time.process_time()
    lines = 0
    for path in SAMPLE:
        analyser = Analyser([path], SETTINGS, [], Layout.of([path]), {})
        analyser.engine.interest = Everything()
        result = analyser.run()
        assert not result.errors, f"{path}: {result.errors[0].traceback}"
        lines += len(path.read_bytes().splitlines())
    seconds = time.process_time() - before
    assert lines / seconds > 1_000, f"{lines} lines in {seconds:.1f} s"


def test_relative_paths_are_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is checked and imported is one module, whatever folder we were started in."""
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text(
        "import torch\nfrom pkg.b import g\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return g(x)\n"
    )
    (package / "b.py").write_text("import torch\n\n\ndef g(x):\n    return x if x.sum() > 0 else -x\n")
    monkeypatch.chdir(package)
    found = api.check([Path()], Settings()).findings
    assert [(f.span.path, f.span.line, f.region.kind) for f in found] == [("b.py", 5, "compiled")]


NAMESPACED = {
    "acme/vision/__init__.py": "",
    "acme/vision/ops.py": "import torch\n\n\ndef g(x):\n    return x if x.sum() > 0 else -x\n",
    "acme/model.py": ("import torch\nfrom acme.vision.ops import g\n\n\ndef f(x: torch.Tensor):\n    return g(x)\n"),
}


@pytest.mark.parametrize("named", ["acme", "."])
def test_folders_without_an_init_are_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    for name, text in NAMESPACED.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    found = api.check([Path(named)], replace(Settings(), roots=("acme.model:f",))).findings
    assert [(f.span.path, f.span.line, f.region.kind) for f in found] == [("acme/vision/ops.py", 5, "compiled")]


@pytest.mark.parametrize("call", ["randint(high=3, size=(2,))", "full(size=(2,), fill_value=1)", "randint()", "full()"])
def test_factories_by_keyword(call: str) -> None:
    assert not analyse_text(f"import torch\n\n\ndef f(x: torch.Tensor):\n    return x + torch.{call}\n").errors


def test_names_that_hang_together_cost_no_more_than_their_number(tmp_path: Path) -> None:
    body = "".join(
        f"    if x.sum() > {i}:\n        {'abc'[i % 3]} = {'abc'[(i + 1) % 3]} + {i}\n        x = a + b + c\n"
        for i in range(26)
    )
    text = f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    a = b = c = x\n{body}    return x\n"
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    started = time.process_time()
    assert api.check([tmp_path], api.load_settings(isolated=True)).findings
    assert time.process_time() - started < 20  # it took minutes
