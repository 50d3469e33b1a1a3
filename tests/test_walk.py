"""Walking trees: the same nodes as Python's own walk, in the same order, but for operators and contexts."""

from __future__ import annotations

import ast
import inspect

from compilelint.source.parents import Parents
from compilelint.source.walk import children, parents, targets, walk

LEFT_OUT = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.TypeIgnore)
TEXTS = [
    inspect.getsource(ast),
    inspect.getsource(inspect),
    "match x:\n case {'a': [1, *r], **rest} | C(y, z=None) as q if q: pass\n case _: pass\n",
    "async def f(a, /, b: int = 1, *c, d=2, **e) -> int:\n  async with x as y: yield {**a, 1: [i async for i in a]}\n",
    "try: pass\nexcept E as e: raise A from e\nfinally: global g; del x[1:2, ...]\n",
    "lambda a=1: (b := f'{a!r:>{w}}')\n",
]


def test_as_pythons_own() -> None:
    for text in TEXTS:
        tree = ast.parse(text)
        assert list(walk(tree)) == [node for node in ast.walk(tree) if not isinstance(node, LEFT_OUT)]
        for node in walk(tree):
            assert children(node) == [each for each in ast.iter_child_nodes(node) if not isinstance(each, LEFT_OUT)]


def test_parents() -> None:
    tree = ast.parse(TEXTS[0])
    table = parents(tree)
    assert set(table) == set(walk(tree)) - {tree}
    assert all(child in children(parent) for child, parent in table.items())


SPREAD = """
@f(1)
class A(B, metaclass=C, d=[1]):
    @property
    @g(lambda: 1)
    def h(self): return 1

    class D: x = 1; y = 2
a = 1; b = (2,
 3); c = lambda: [i for i in b]
if a:
    def k(): pass
"""


def test_parents_found_when_asked() -> None:
    for text in (*TEXTS, SPREAD):
        tree = ast.parse(text)
        table = parents(tree)
        if text not in TEXTS[:2]:  # each from a fresh start, then all in one
            assert all(Parents(tree).get(node) is parent for node, parent in table.items())
        found = Parents(tree)
        assert all(found[node] is parent for node, parent in table.items())
        assert found.get(tree) is None
        assert found.get(ast.Name("a")) is None


def test_targets() -> None:
    text = """
def f(self):
    self.a, (b, *self.c) = self.d[0] = x.y
    self.e: int = 1
    self.f += 1
    for self.g in z:
        with q() as (r, self.h[1]): pass
    try: pass
    except E:
        while a:
            def g(): self.i = 1
    match a:
        case 1: self.j = 2
"""
    found = sorted(ast.unparse(target) for target in targets(ast.parse(text).body[0]))
    assert found == sorted("self.a b self.c self.d[0] self.e self.f self.g r self.h[1] self.i self.j".split())


def test_several_roots() -> None:
    one, two = ast.parse("a\nb").body
    assert [node.id for node in walk(one, two) if isinstance(node, ast.Name)] == ["a", "b"]
