"""What a root reaches other than by a plain call: hooks, callbacks, partials, registries."""

from __future__ import annotations

from pathlib import Path

import pytest
from interpreted import check_regions

from compilelint.analysis import Analyser
from compilelint.config import Settings
from compilelint.engine.values import Instance
from compilelint.source.layout import Layout

SNIPPETS = {
    "backward hooks of a module": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(2, 2)
                self.layer.register_full_backward_hook(self.watch)
                self.layer.register_full_backward_pre_hook(pre)
                self.register_forward_pre_hook(lambda m, a: time.time())  # forward
            def watch(self, module, grad_input, grad_output):
                time.time()  # step
            def forward(self, x):
                return self.layer(x)
        def pre(module, grad):
            time.time()  # step
        """,
    "hooks of modules nobody knows": """
        def attach(model):
            model.backbone.register_full_backward_hook(pre)
            model.register_forward_hook(post, always_call=True)
            for m in model.modules():
                m.register_backward_hook(old)
        def pre(module, grad_in, grad):
            time.time()  # step
        def post(module, i, o):
            time.time()  # forward
        def old(module, i, o):
            time.time()  # step
        """,
    "hooks by keyword and partial": """
        def attach(model: nn.Module):
            model.register_forward_hook(hook=post)
            model.register_forward_hook(functools.partial(post2, "name"))
        def post(module, i, o):
            time.time()  # forward
        def post2(name, module, i, o):
            time.time()  # forward
        """,
    "hooks of tensors": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.ones(2))
                self.w.register_post_accumulate_grad_hook(done)
            def forward(self, x: Tensor):
                h = x * 2
                h.register_hook(seen)
                h.register_hook(lambda g: time.time())  # step
                return h
        def seen(grad):
            time.time()  # step
        def done(p):
            time.time()  # step
        """,
    "functions passed on, and to constructors": """
        def apply_to(x: Tensor, fn):
            return fn(x)
        def twice(x):
            time.time()  # compiled
            return x * 2
        def thrice(x):
            time.time()  # compiled
            return x * 3
        class Block(nn.Module):
            def __init__(self, act):
                super().__init__()
                self.act = act
            def forward(self, x):
                return self.act(x)
        @torch.compile
        def f(x: Tensor):
            y = apply_to(x, twice)
            y = apply_to(x, fn=thrice)
            return Block(fourth)(y)
        def fourth(x):
            time.time()  # compiled
            return x
        """,
    "functions passed to torch and Python": """
        def fn(x):
            time.time()  # compiled
            return x * 2
        def fn2(x):
            time.time()  # compiled
            return x * 2
        def fn3(x):
            time.time()  # compiled
            return x * 2
        @torch.compile
        def f(x: Tensor):
            a = torch.utils.checkpoint.checkpoint(fn, x, use_reentrant=False)
            b = torch.vmap(fn2)(x)
            c = torch.func.grad(fn3)(x)
            return list(map(fn4, [x]))
        def fn4(x):
            time.time()  # compiled
            return x
        """,
    "partials": """
        def g(a, b, c=None):
            time.time()  # compiled
            return b
        class N(nn.Module):
            def __init__(self, norm=functools.partial(nn.LayerNorm, eps=1e-6), act=None):
                super().__init__()
                self.f = functools.partial(g, 1)
                self.norm = norm(4)
            def forward(self, x):
                return self.f(self.norm(x))
        class Blk(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.n = n
            def forward(self, x):
                time.time()  # compiled
                return x
        m = torch.compile(N())
        make = functools.partial(Blk, n=3)
        m2 = torch.compile(make())
        """,
    "partials of methods": """
        class N(nn.Module):
            def inner(self, k, x):
                time.time()  # compiled
                return x
            def forward(self, x):
                f = functools.partial(self.inner, 3)
                return f(x)
        m = torch.compile(N())
        """,
    "dicts of classes and functions": """
        class A(nn.Module):
            def forward(self, x):
                time.time()  # compiled
                return x
        class B(nn.Module):
            def forward(self, x):
                time.time()  # compiled
                return x
        MODELS = {"a": A, "b": B}
        ACTS = {"r": lambda x: (time.time(), x)[1], "s": act}  # compiled
        def act(x):
            time.time()  # compiled
            return x
        class N(nn.Module):
            def __init__(self, name):
                super().__init__()
                self.m = MODELS[name]()
                self.act = ACTS[name]
            def forward(self, x):
                return self.act(self.m(x))
        m = torch.compile(N("a"))
        """,
    "a module in a module": """
        class Inner(nn.Module):
            def forward(self, x):
                time.time()  # compiled
                return x
        class Outer(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner
            def forward(self, x):
                return self.inner(x)
        class Swapped(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner
            def swap(self, other):
                self.inner = other
            def forward(self, x):
                return self.inner(x)
        class Unsure(nn.Module):
            def forward(self, x):
                time.time()  # forward
                return x
        model = torch.compile(Outer(inner=Inner()))
        other = torch.compile(Swapped(Unsure()))
        """,
    "decorators that register": """
        MODELS = {}
        def register(name):
            def wrap(function):
                MODELS[name] = function
                return function
            return wrap
        @register("a")
        class Net(nn.Module):
            def forward(self, x):
                time.time()  # compiled
                return x
        @register("b")
        def loss(x: Tensor):
            time.time()  # library
            return x
        model = torch.compile(Net())
        """,
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_reach(name: str) -> None:
    check_regions(SNIPPETS[name])


LIBRARY = """
from torch import nn

def place() -> str:
    return searched()

def searched() -> str:
    return "here"

def layer(width):
    return nn.Linear(width, 2)
"""
NET = """
import torch
from torch import nn
from library import layer, place

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = place()
        self.layer = layer(3)

    def forward(self, x: torch.Tensor):
        return self.layer(x){more}
"""


@pytest.mark.parametrize("called_when_hot", [False, True])
def test_another_file_is_followed_from_set_up_where_signatures_say_too_little(
    tmp_path: Path, called_when_hot: bool
) -> None:
    library, net = tmp_path / "library.py", tmp_path / "net.py"
    library.write_text(LIBRARY, encoding="utf-8")
    net.write_text(NET.replace("{more}", " if place() else None" if called_when_hot else ""), encoding="utf-8")
    analyser = Analyser([net], Settings(), [], Layout.of([library, net]), {})
    analyser.run()
    followed = [s.info.name for s in analyser.engine.summaries() if s.info is not None and s.module.path == library]
    assert sorted(followed) == (["layer", "place", "searched"] if called_when_hot else ["layer"])
    module = analyser.project.load(net)
    assert module is not None
    held = analyser.engine.attribute(module.classes[0], "layer")
    assert isinstance(held, Instance)
    assert held.external == "torch.nn.Linear"
