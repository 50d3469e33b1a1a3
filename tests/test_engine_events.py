"""What the interpreter tells the rules: which events, where, with which values, and each once."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
from interpreted import Interpreted, interpret, shown

from compilelint.engine.events import (
    Accumulate,
    Branch,
    Call,
    Compare,
    Convert,
    Define,
    Enter,
    Event,
    Import,
    Iterate,
    Load,
    LoopEnd,
    Raise,
    Read,
    Store,
    Write,
)


def events(text: str, kind: type[Event], function: str = "f") -> list[Event]:
    """The events of one kind in a function, its first context."""
    found = interpret(text)
    return [event for event in _first(found, function) if isinstance(event, kind)]


def _first(found: Interpreted, function: str) -> list[Event]:
    return found.of(function)[0].events


def told(text: str, kind: type[Event]) -> list[str]:
    """The source text of the places where events of a kind stand."""
    return [ast.unparse(event.node) for event in events(text, kind)]


def branches(text: str) -> list[tuple[str, str, str]]:
    found = []
    for event in events(text, Branch):
        assert isinstance(event, Branch)
        found.append((ast.unparse(event.node), event.kind, shown(event.test)))
    return found


def test_calls_name_their_target() -> None:
    text = """
    from torch.nn.functional import relu as r
    import logging
    log = logging.getLogger(__name__)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(1, 1)

        def forward(self, x: Tensor, opt: torch.optim.Adam, loader: torch.utils.data.DataLoader):
            r(x)
            x.item()
            torch.Tensor.item(x)
            self.eval()
            self.linear(x)
            opt.step()
            print(x)
            time.time()
            [1].append(2)
            {}.get(1)
            "a".upper()
            log.info("x")
            np.zeros(3)
            torch.compiler.disable(r)
            x.numpy().sum()
    """
    targets = [e.target for e in events(text, Call, "Net.forward") if isinstance(e, Call)]
    assert targets == [
        "torch.nn.functional.relu", "Tensor.item", "torch.Tensor.item", "Module.eval", "torch.nn.Linear.__call__",
        "torch.optim.Optimizer.step", "print", "time.time", "list.append", "dict.get", "str.upper",
        "logging.Logger.info", "numpy.zeros", "torch.compiler.disable", "Tensor.numpy", "numpy.ndarray.sum",
    ]  # fmt: skip


def test_a_call_has_its_values() -> None:
    [event] = events("def f(x: Tensor):\n    y = torch.sum(x, dim=1, keepdim=True)\n", Call)
    assert isinstance(event, Call)
    assert event.receiver is None and not event.discarded and not event.starred
    assert (dim := event.argument(1, "dim")) is not None and shown(dim) == "1"
    assert (first := event.argument(0, "input")) is not None and shown(first) == "tensor"
    assert event.argument(5, "nothing") is None
    assert shown(event.result) == "tensor"
    assert isinstance(event.statement, ast.Assign)


def test_discarded_and_starred_calls() -> None:
    found = events("def f(x: Tensor, a, k):\n    x.item()\n    x.view(*a)\n    y = x.sum(**k)\n", Call)
    assert [(e.discarded, e.starred) for e in found if isinstance(e, Call)] == [
        (True, False), (True, True), (False, True),
    ]  # fmt: skip


def test_calls_into_the_project_are_no_events() -> None:
    assert told("def g(x):\n    return x\n\ndef f(x: Tensor):\n    return g(x)\n", Call) == []


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("if x > 0: pass", [("x > 0", "if", "tensor bool")]),
        ("if not x.any(): pass", [("x.any()", "if", "tensor bool 0d")]),
        ("while x.sum() > 0: x = x - 1", [("x.sum() > 0", "while", "tensor bool 0d")]),
        ("y = 1 if x.any() else 2", [("x.any()", "ifexp", "tensor bool 0d")]),
        ("assert x.all(), 'm'", [("x.all()", "assert", "tensor bool 0d")]),
        ("y = not x", [("x", "not", "tensor")]),
        ("y = x and 1", [("x", "and", "tensor")]),
        ("y = x or 1", [("x", "or", "tensor")]),
        ("if n > 3 and x.any(): pass", [("x.any()", "if", "tensor bool 0d")]),
        ("if x.any() or x.all(): pass", [("x.any()", "if", "tensor bool 0d"), ("x.all()", "if", "tensor bool 0d")]),
        ("y = [n for n in ns if x > n]", [("x > n", "filter", "tensor bool")]),
        ("if x.item() > 0: pass", [("x.item() > 0", "if", "bool data")]),
        ("if 0 < x < 1: pass", [("0 < x < 1", "and", "tensor bool"), ("0 < x < 1", "if", "tensor bool")]),
        ("if (y := x.sum()) > 0: pass", [("(y := x.sum()) > 0", "if", "tensor bool 0d")]),
        ("if x is None: pass", []),
        ("if n > 3: pass", []),
        ("if x.shape[0] > 3: pass", []),
        ("if x.dim() == 2 and x.is_cuda: pass", []),
        ("if isinstance(x, Tensor): pass", []),
        ("if n and m: pass", []),
        ("match n:\n        case int() if x > 0: pass", [("x > 0", "if", "tensor bool")]),
    ],
)
def test_branches(code: str, wanted: list[tuple[str, str, str]]) -> None:
    assert branches(f"def f(x: Tensor, n: int, m, ns: list[int]):\n    {code}\n") == wanted


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("int(x)", "int"),
        ("float(x)", "float"),
        ("bool(x)", "bool"),
        ("complex(x)", "complex"),
        ("str(x)", "str"),
        ("repr(x)", "str"),
        ("f'{x}'", "format"),
        ("f'{x.sum():.2f}'", "format"),
        ("'%s' % x", "%"),
        ("'%s %s' % (1, x)", "%"),
        ("'{}'.format(x)", "format"),
        ("[1, 2][x]", "index"),
        ("x[:x]", "slice"),
        ("range(x)", "range"),
        ("math.sqrt(x)", "math"),
    ],
)
def test_conversions(code: str, kind: str) -> None:
    found = events(f"def f(x: Tensor):\n    y = {code}\n", Convert)
    assert [e.kind for e in found if isinstance(e, Convert)] == [kind]


@pytest.mark.parametrize("code", ["int(n)", "f'{n}'", "range(n)", "[1][n]", "x[:n]", "float(x.shape[0])", "str(ns)"])
def test_no_conversions(code: str) -> None:
    assert told(f"def f(x: Tensor, n: int, ns: list[int]):\n    y = {code}\n", Convert) == []


def test_reads_and_writes() -> None:
    text = """
    def f(x: Tensor, m: torch.BoolTensor, xs: list[Tensor], i: int):
        a = x[m]
        b = xs[0]
        x[i] = 1
        x[m] = 0.0
        x[0] += 1
        xs[0] = x
        c = {"k": x}["k"]
    """
    reads = [e for e in events(text, Read) if isinstance(e, Read)]
    assert [(ast.unparse(e.node), shown(e.index), shown(e.result)) for e in reads] == [
        ("x[m]", "tensor bool", "tensor dynamic")
    ]
    writes = [e for e in events(text, Write) if isinstance(e, Write)]
    assert [(ast.unparse(e.node), shown(e.index), shown(e.value), e.augmented) for e in writes] == [
        ("x[i]", "int", "1", ""), ("x[m]", "tensor bool", "0.0", ""), ("x[0]", "0", "1", "+"),
    ]  # fmt: skip


def test_attributes() -> None:
    text = """
    class Net(nn.Module):
        def forward(self, x: Tensor):
            y = x.grad
            x.data = y
            self.seen = x
            np.pi
    """
    assert [(ast.unparse(e.node), e.name) for e in events(text, Load, "Net.forward") if isinstance(e, Load)] == [
        ("x.grad", "grad")
    ]
    stores = [e for e in events(text, Store, "Net.forward") if isinstance(e, Store)]
    assert [(e.name, shown(e.object), shown(e.value)) for e in stores] == [
        ("data", "tensor", "tensor"), ("seen", "Net", "tensor"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("for row in x: pass", ["for"]),
        ("y = [r for r in x]", ["comprehension"]),
        ("a, b = x", ["unpack"]),
        ("y = list(x)", ["call"]),
        ("for b in loader: pass", ["for"]),
        ("for i, b in enumerate(loader): pass", ["for"]),
        ("for i in range(3): pass", []),
        ("for y in xs: pass", []),
        ("a, b = x.shape", []),
        ("a, b = x.max(dim=1)", []),
    ],
)
def test_iterations(code: str, kinds: list[str]) -> None:
    text = f"def f(x: Tensor, xs: list[Tensor], loader: torch.utils.data.DataLoader):\n    {code}\n"
    assert [e.kind for e in events(text, Iterate) if isinstance(e, Iterate)] == kinds


def test_comparisons() -> None:
    text = """
    def f(x: Tensor, y, xs: list[Tensor], n: int):
        x == y
        x in xs
        n < 3
        n == n
        [x] == [x]
        x is not None
    """
    assert [e.operator for e in events(text, Compare) if isinstance(e, Compare)] == ["==", "in", "==", "is not"]


def test_contexts() -> None:
    text = """
    def f(x, mine):
        with torch.no_grad(), torch.autocast("cuda"):
            pass
        with mine as m:
            pass
        with open(x) as file:
            pass
    """
    assert [e.target for e in events(text, Enter) if isinstance(e, Enter)] == [
        "torch.no_grad", "torch.autocast", "", "open",
    ]  # fmt: skip


def test_raises() -> None:
    text = """
    def f(x: Tensor, n: int):
        assert n, f"bad {n}"
        if n:
            raise ValueError("bad", x)
        raise
    """
    found = [e for e in events(text, Raise) if isinstance(e, Raise)]
    assert [(e.kind, e.message and shown(e.message)) for e in found] == [
        ("assert", "str"), ("raise", "'bad'"), ("raise", None),
    ]  # fmt: skip
    assert all("raises" in e.site.gates for e in found if e.kind == "raise")


def test_accumulations() -> None:
    text = """
    def f(xs: list[Tensor], n: int):
        total, names, count = 0, [], 0
        for x in xs:
            total = total + x
            total += x.sum()
            names.append(x)
            count += 1
        total = total + xs[0]
    """
    found = [e for e in events(text, Accumulate) if isinstance(e, Accumulate)]
    assert [(e.name, e.operator, shown(e.value)) for e in found] == [
        ("total", "+", "tensor"), ("total", "+", "tensor 0d"), ("names", "append", "tensor"),
    ]  # fmt: skip
    assert len({id(e.loop) for e in found}) == 1


def test_loops_know_what_happens_in_them() -> None:
    text = """
    def f(model: nn.Module, loader: torch.utils.data.DataLoader, opt: torch.optim.Adam, n: int):
        for x in loader:
            pass
        for _ in range(n):
            model(n)
        while n:
            opt.step()
        for _ in range(n):
            n -= 1
    """
    loops = [e.loop for e in events(text, LoopEnd) if isinstance(e, LoopEnd)]
    assert [(loop.kind, loop.loads, loop.calls_module, loop.trains) for loop in loops] == [
        ("for", True, False, False), ("for", False, True, False), ("while", False, False, True),
        ("for", False, False, False),
    ]  # fmt: skip
    assert [loop.is_step for loop in loops] == [True, True, True, False]


def test_loops_around_a_site() -> None:
    text = """
    def f(xs: list[Tensor]):
        for x in xs:
            y = [x.item() for _ in range(3)]
        x.item()
    """
    found = [e for e in events(text, Call) if isinstance(e, Call) and e.target == "Tensor.item"]
    assert [[loop.kind for loop in e.site.loops] for e in found] == [["for", "comprehension"], []]


def test_definitions_and_imports() -> None:
    text = """
    def f(x):
        import json, os.path as p
        from math import pi as q
        def g(): pass
        class C: pass
        @torch.no_grad()
        def h(): pass
    """
    assert [tuple(e.names) for e in events(text, Import) if isinstance(e, Import)] == [("json", "p"), ("q",)]
    found = [e for e in events(text, Define) if isinstance(e, Define)]
    assert [(e.kind, e.name, [shown(d) for d in e.decorators]) for e in found] == [
        ("def", "g", []), ("class", "C", []), ("def", "h", ["torch.no_grad"]),
    ]  # fmt: skip


def test_an_event_is_told_once() -> None:
    """Loops are interpreted until nothing changes, operands are looked at again: no event may come twice."""
    text = """
    class Net(nn.Module):
        def forward(self, x: Tensor, n: int, xs: list[Tensor]):
            total = 0
            for i in range(n):
                total = total + x.item()
                while x.sum() > 0:
                    x = x - x.max().item()
                    for a in xs:
                        for b in xs:
                            y = a if b.any() else a.item()
            if x.any() and x.item() > 0 or not x.all():
                total += x.item()
            z = [x.item() for _ in (1, 2, 3)]
            w = {k: v.item() for k, v in zip("ab", xs)}
            try:
                x.tolist()
            finally:
                x.numpy()
            q = (x.item() if x.any() else 0) or x.item()
            assert x.item(), f"{x}"
            return lambda: x.item()
    """
    found = interpret(text)
    for summary in found.summaries:
        kinds = Counter((type(e), e.node, getattr(e, "target", ""), getattr(e, "kind", "")) for e in summary.events)
        twice = [(kind.__name__, ast.unparse(node)) for (kind, node, *_), count in kinds.items() if count > 1]
        assert not twice


def test_unreachable_code_tells_nothing() -> None:
    text = """
    def f(x: Tensor):
        if x is None:
            x.item()
        return x
        x.item()
    """
    assert told(text, Call) == []


def test_events_have_places() -> None:
    text = """
    def f(x: Tensor):
        for i in range(3):
            if x.any():
                y = x.item() + float(x)
            elif x.all():
                x.item()
        while x.sum() > 0:
            y = 1
        match i:
            case 1:
                y = 2
            case int() if x.any():
                y = 3
        try:
            y = 4
        except ValueError:
            y = 5
        else:
            x.item()
        with torch.no_grad():
            x.item()
        return [
            a.item() for a in x
            if a.any()
        ]
    """
    for event in events(text, Event):
        assert hasattr(event.node, "lineno")
        assert isinstance(event.statement, ast.stmt)
        assert event.statement.lineno <= event.node.lineno <= (event.statement.end_lineno or 0)


SET_UP = """
class Base(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.size = self.checked(size)

    def checked(self, size: int):
        return size

    def finish(self):
        self.register()
        self.started = True

    def register(self):
        self.names = [name for name, _ in self.named_children()]

    def act(self, x: Tensor):
        return self.scale(x)

    def scale(self, x: Tensor):
        return x * 2

class First(Base):
    def __init__(self, size: int):
        super().__init__(size)
        self.finish()

    def forward(self, x: Tensor):
        return self.act(x)

class Second(Base):
    def __init__(self, size: int):
        super().__init__(size)
        self.finish()

    def forward(self, x: Tensor):
        return self.act(x)
"""


def test_what_set_up_code_inherits_is_interpreted_once_for_all_classes() -> None:
    found = interpret(SET_UP)
    assert len(found.of("Base.register")) == 2  # on its own, and called by a `finish` on its own
    assert len(found.of("Base.checked")) == 2
    assert len(found.of("Base.finish")) == 1  # on its own
    assert len(found.of("Base.scale")) == 4  # what is given tensors is followed for each class


def test_what_set_up_code_passes_on_is_followed() -> None:
    text = """
        class Base(nn.Module):
            def start(self, act):
                self.wrap(act)

            def wrap(self, act):
                return act(torch.ones(2))

        class Net(Base):
            def __init__(self):
                super().__init__()
                self.start(gate)

        def gate(x):
            reveal(x.sum())
            return x
        """
    assert any(s.arguments and not s.generic for s in interpret(text).of("Base.wrap"))
