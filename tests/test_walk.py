"""Walking trees: the same nodes as Python's own walk, in the same order, but for operators and contexts."""

from __future__ import annotations

import ast
import inspect

from compilelint.source.walk import children, parents, walk

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


def test_several_roots() -> None:
    one, two = ast.parse("a\nb").body
    assert [node.id for node in walk(one, two) if isinstance(node, ast.Name)] == ["a", "b"]
