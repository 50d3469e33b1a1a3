"""What the engine infers of values: each snippet asks with `reveal(…)`, and its comment says what must be believed."""

from __future__ import annotations

from pathlib import Path

import pytest
from interpreted import check

from compilelint import api

CASES = {
    # -- alternatives ------------------------------------------------------------------------------------------------
    "unpacking a tuple or something else": """
        def both(x: Tensor, lengths: list[int], pair: bool):
            return (x, lengths) if pair else x

        def f(x: Tensor, n: list[int], pair: bool):
            a, b = both(x, n, pair)
            reveal(b)  # list[int, ...]
        """,
    "a test for a class that nobody knows": """
        from elsewhere import Listy

        def f(t: list[Tensor], u: list[Tensor]):
            if isinstance(t, (Tensor, Missing)):
                reveal(t)  # ?
            if isinstance(u, (list, Missing)):
                reveal(u)  # list[tensor, ...]
        """,
    "a kind of number that NumPy is asked for": """
        def f(x: Tensor, a: np.ndarray):
            reveal(a.dtype == np.dtype("bool"))  # bool
            reveal(x.numpy().dtype == np.dtype("bool"))  # bool
        """,
    "what a method writes that may be left out": """
        class Noise(nn.Module):
            def __init__(self, rng: Optional[torch.Generator] = None):
                super().__init__()
                self.rng = rng

            def seed(self, number: int):
                if self.rng is not None:
                    self.rng = self.rng.manual_seed(number)

            def forward(self, x: Tensor, number: int):
                reveal(self.rng is None)  # bool
                self.seed(number)
                reveal(self.rng is None)  # bool
        """,
    "what is left of a tensor's values": """
        def f(x: Tensor, mask: Tensor):
            reveal(torch.masked_select(x, mask))  # tensor 1d dynamic
            for one in torch.unique(x):
                reveal(one)  # tensor 0d
            values, inverse = torch.unique(x, return_inverse=True)
            reveal(inverse)  # tensor dynamic
            reveal(x.unique(True, False, False, 0))  # tensor dynamic
        """,
    "the larger of two": """
        def f(x: Tensor, y, dim, some):
            reveal(torch.max(x, y))  # ?
            reveal(torch.max(x, x))  # tensor
            reveal(torch.max(x, dim))  # tuple[tensor, tensor int]
            reveal(x.max(1))  # tuple[tensor, tensor int]
            reveal(x.max(some["y"]))  # ?
        """,
    # -- hooks -------------------------------------------------------------------------------------------------------
    "what hooks are given": """
        def plain(module, args, output):
            reveal(output.abs())  # ? / tensor

        def pre(module, args, kwargs):
            reveal("mask" in kwargs)  # bool

        def backward(module, grad_in, grad_out):
            reveal(grad_out[0])  # ? / tensor

        def whole(module, args, kwargs, output):
            reveal(output)  # ? / tensor float

        class Net(nn.Module):
            def __init__(self, other: nn.Module):
                super().__init__()
                other.register_forward_hook(plain)
                other.register_forward_pre_hook(pre, with_kwargs=True)
                other.register_full_backward_hook(backward)
                self.layer = nn.Linear(1, 1)
                self.layer.register_forward_hook(whole, with_kwargs=True)
        """,
    # -- annotations -------------------------------------------------------------------------------------------------
    "annotated tensors": """
        def f(a: torch.Tensor, b: Tensor, c: "torch.Tensor", d: torch.LongTensor, e: torch.nn.Parameter, g: "Tensor"):
            reveal(a)  # tensor
            reveal(b)  # tensor
            reveal(c)  # tensor
            reveal(d)  # tensor int
            reveal(e)  # tensor parameter
            reveal(g)  # tensor
        """,
    "documented tensors": """
        def google(x, y, z, w, n, shape, eps=1e-5, mask=None):
            \"\"\"Args:
                x (torch.Tensor): the input
                y (`torch.LongTensor` of shape `(batch, n)`, *optional*): labels
                z (Tensor or list): either
                w (list[Tensor]): weights
                n: Tensor names that are kept
                shape (Tensor): of what is drawn
                eps (Tensor): a number by its default
                mask (BoolTensor): which to keep
            \"\"\"
            reveal(x)  # tensor
            reveal(y)  # None | tensor int
            reveal(z)  # ?
            reveal(w)  # list[tensor, ...]
            reveal(n)  # ?
            reveal(shape)  # ?
            reveal(eps)  # float
            reveal(mask)  # None | tensor bool

        def numpy_style(x, y, z):
            \"\"\"Parameters
            ----------
            x : torch.Tensor
                The input.
            y : torch.Tensor, np.ndarray
                Either.
            z : list of torch.Tensor
            \"\"\"
            reveal(x)  # tensor
            reveal(y)  # ?
            reveal(z)  # list[tensor, ...]

        def sphinx(x, y, z: int):
            \"\"\":param torch.Tensor x: the input
            :param y: the target
            :type y: torch.Tensor
            :type z: torch.Tensor
            \"\"\"
            reveal(x)  # tensor
            reveal(y)  # tensor
            reveal(z)  # int

        def prose(x, y, z):
            \"\"\"x: N-D Tensor giving the state
            y: a tensor of shape [n, m]
            z: where tensors are put
            \"\"\"
            reveal(x)  # tensor
            reveal(y)  # tensor
            reveal(z)  # ?

        class Loss:
            \"\"\"Args:
                weight (Tensor, optional): one weight a class
            \"\"\"

            def __init__(self, weight=None):
                reveal(weight)  # None | tensor
        """,
    "what is documented to be returned": """
        def google(a):
            \"\"\"Returns:
                torch.Tensor: the output
            \"\"\"
            return a.output

        def numpy_style(a):
            \"\"\"Returns
            -------
            out : torch.Tensor
                The output.
            \"\"\"
            return a.output

        def two(a):
            \"\"\"Returns
            -------
            torch.Tensor
                One.
            int
                Two.
            \"\"\"
            return a.output

        def known(a):
            \"\"\":rtype: torch.Tensor\"\"\"
            return a.output if a else 3

        def is_known(a):
            \"\"\":rtype: torch.Tensor\"\"\"
            return 3

        def f(a):
            reveal(google(a))  # tensor
            reveal(numpy_style(a))  # tensor
            reveal(two(a))  # ?
            reveal(known(a))  # tensor
            reveal(is_known(a))  # 3
        """,
    "named tuples are tuples with names": """
        from collections import namedtuple

        State = namedtuple("State", "y t k")

        class Sub(namedtuple("Sub", ["a", "b"])):
            pass

        class Typed(NamedTuple):
            y: Tensor
            n: int

        def f(x: Tensor, n: int, typed: Typed):
            s = State(x, n, k=x)
            reveal(s.y)  # tensor
            y, t, k = s
            reveal(t)  # int
            reveal(s[-1])  # tensor
            reveal(s._replace(t=x).t)  # tensor
            reveal(Sub(x, 1).a)  # tensor
            for part in State(x, x, x):
                reveal(part)  # tensor
            a, b = typed
            reveal(a)  # tensor
            reveal(typed[1])  # int
        """,
    "a table of many classes, and what their objects are given": """
        class Solver:
            def __init__(self, func, y0, **options):
                self.y0 = y0

            def go(self, t):
                return self.y0 if t is None else t

        class A(Solver): ...
        class B(Solver): ...
        class C(Solver): ...
        class D(Solver): ...
        class E(Solver): ...
        class G(Solver): ...

        SOLVERS = {"a": A, "b": B, "c": C, "d": D, "e": E, "g": G}

        def run(y: Tensor, t: Tensor, name: str, **options):
            solver = SOLVERS[name](func=None, y0=y, **options)
            reveal(solver.y0)  # tensor
            reveal(solver.go(t))  # tensor
        """,
    "a shape and a device": """
        def f(x, y, z):
            torch.zeros(x.shape, device=x.device)
            a = y.device, y.dtype
            b = z.shape
            z = a
            c = z.device
            reveal(x)  # tensor
            reveal(y)  # ?
            reveal(z)  # tuple[?, ?]
        """,
    "annotated numbers": """
        def f(a: int, b: float, c: bool, d: str, e: "int", g: Any, h: object):
            reveal(a)  # int
            reveal(b)  # float
            reveal(c)  # bool
            reveal(d)  # str
            reveal(e)  # int
            reveal(g)  # ?
            reveal(h)  # ?
        """,
    "annotated optionals and unions": """
        def f(
            a: Optional[Tensor], b: Tensor | None, c: Union[Tensor, int], d: "Optional[Tensor]",
            e: Tensor | float | None, g: typing.Optional[int], h: Union[Tensor, Any],
        ):
            reveal(a)  # None | tensor
            reveal(b)  # None | tensor
            reveal(c)  # int | tensor
            reveal(d)  # None | tensor
            reveal(e)  # None | float | tensor
            reveal(g)  # None | int
            reveal(h)  # ?
        """,
    "typed dicts": """
        class Base(typing.TypedDict, total=False):
            x: Tensor

        class Batch(Base):
            names: typing.NotRequired[list[str]]

        def f(batch: Batch, more: Optional[Batch]):
            reveal(batch["x"])  # tensor
            reveal(batch.get("names"))  # list[str, ...]
            reveal(batch["others"])  # ?
            reveal(more["x"])  # tensor
            made = Batch(x=torch.zeros(2), names=[])
            reveal(made["x"])  # tensor cpu float 1d constant
        """,
    "annotated by an alias": """
        OptTensor = Optional[Tensor]
        Pair: typing.TypeAlias = Tuple[OptTensor, int]
        changed = Tensor
        changed = int | str

        def f(a: OptTensor, b: "OptTensor", c: Pair, d: changed):
            reveal(a)  # None | tensor
            reveal(b)  # None | tensor
            reveal(c[0])  # None | tensor
            reveal(d)  # ?
        """,
    "shown by an index": """
        def f(a, b, c, d, rows: torch.LongTensor, frame):
            mask = rows > 1
            reveal(a[rows, rows])  # tensor
            reveal(a)  # tensor
            reveal(b[mask])  # tensor dynamic
            b[mask] = 1
            reveal(b)  # tensor
            reveal(c[rows])  # ?
            reveal(c[mask.cpu()])  # tensor cpu dynamic
            reveal(c)  # ?
            d[:, rows] = 0
            reveal(d)  # tensor
            reveal(frame[:, 2:])  # ?
        """,
    "an index that is called a mask": """
        def f(x: Tensor, mask: Tensor, row_mask: Tensor, mask_ids: Tensor, counts: torch.LongTensor):
            reveal(x[mask])  # tensor dynamic
            reveal(x[0, row_mask])  # tensor dynamic
            reveal(x[mask_ids])  # tensor
            mask = counts
            reveal(x[mask])  # tensor
        """,
    "an index of what a module returned": """
        class Net(nn.Module):
            def forward(self, x):
                boxes = self.head(x)
                reveal(boxes[:, 2:] <= boxes[:, :2])  # tensor bool

            def __init__(self, head: nn.Module):
                super().__init__()
                self.head = head
        """,
    "ranks by sizes": """
        def f(x: Tensor, n: int, size: list[int]):
            reveal(x.new_empty(n + 1))  # tensor 1d
            reveal(x.new_zeros((n, 2)))  # tensor 2d
            reveal(x.new_ones(size))  # tensor
            reveal(x.view(-1))  # tensor 1d
            reveal(x.reshape(n, -1, 2))  # tensor 3d
            reveal(x.repeat(*size))  # tensor
            reveal(torch.randint(0, n, (n,)))  # tensor cpu int 1d
            reveal(torch.full((n, n), 0.5, device=x.device))  # tensor float 2d
            reveal(torch.full(size, 0.5))  # tensor cpu float
        """,
    "functions that are no methods, and of numbers alone": """
        def f(x: Tensor, n: int):
            reveal(torch.isin(x, x))  # tensor bool
            reveal(torch.div(n, 2, rounding_mode="trunc"))  # tensor cpu constant
        """,
    "places told by a test": """
        def f(a: Tensor, b: Tensor, c: Tensor, d: Tensor):
            if a.device.type == "cpu":
                reveal(a)  # tensor cpu
            else:
                reveal(a)  # tensor device
            if b.is_cuda:
                reveal(b)  # tensor device
            else:
                reveal(b)  # tensor
            if c.device != torch.device("cpu"):
                reveal(c)  # tensor device
                return
            reveal(c)  # tensor cpu
            if d.device.type != "cuda":
                reveal(d)  # tensor
            else:
                reveal(d)  # tensor device
        """,
    "lists of numbers, by annotation": """
        def first(sizes: list[int]):
            return sizes[0]

        def second(sizes: list[int] | None):
            return sizes[1]

        def third(sizes: list[Tensor]):
            return sizes[2]

        def f(x: Tensor, data):
            for batch in torch.utils.data.DataLoader(data):
                reveal(first(batch["sizes"]))  # int
            reveal(first(list(x)))  # int
            reveal(second(list(x)))  # int
            reveal(third(list(x)))  # tensor
        """,
    "places that a name tells": """
        @dataclasses.dataclass
        class Lengths:
            rows_cpu: Tensor
            starts_cpu: Tensor | None = None
            rows: Tensor | None = None

            @property
            def ends_cpu(self) -> Tensor:
                return self.find()

        def f(lengths: Lengths, mask_cpu: Tensor | None, n_cpu: int):
            reveal(lengths.rows_cpu)  # tensor cpu
            reveal(lengths.ends_cpu)  # tensor cpu
            reveal(lengths.rows.abs())  # tensor
            reveal(mask_cpu.bool())  # tensor cpu bool
            reveal(n_cpu)  # int
            if lengths.starts_cpu is not None:
                reveal(lengths.starts_cpu)  # tensor cpu

        def g(lengths: Lengths, x: Tensor, n: int):
            f(lengths, x, n)
        """,
    "places that are asserted": """
        def f(a: Tensor, b: Tensor, c: Tensor, d: Tensor, e: Tensor):
            a, b, c, d, e = a.cuda(), b.cuda(), c.cuda(), d.cuda(), e.cuda()
            assert a.device.type == "cpu", "a is read"
            reveal(a)  # tensor cpu
            assert b.is_cpu and c.device == torch.device("cpu")
            reveal(b)  # tensor cpu
            reveal(c)  # tensor cpu
            assert not d.is_cuda
            reveal(d)  # tensor cpu
            if not e.is_cuda:
                reveal(e)  # tensor device
        """,
    "shown by a function of tensors": """
        def f(make, names):
            a = make(1)
            reveal(torch.where(a > 0))  # tuple[tensor int 1d dynamic, ...]
            b = make(2)
            reveal(torch.exp(b))  # tensor float
            reveal(b)  # tensor
            c = make(3)
            reveal(torch.stack(c))  # tensor
            reveal(c)  # ?
            torch.where(names, 1, 2)
            reveal(names)  # ?
        """,
    "shown by dim": """
        def f(a, b, c, make, x: Tensor):
            reveal(make(x).sum(dim=-1))  # tensor
            reveal(make(x).unsqueeze(0))  # tensor
            y = a.mean(dim=0)
            reveal(a)  # tensor
            z = b.mean(axis=0)
            reveal(b)  # ?
            z = c.mean(dim="time")
            reveal(c)  # ?
        """,
    "what one operand of or told": """
        def f(low=None, high=None):
            assert low is not None or high is not None
            reveal(low)  # ?
            reveal(high)  # ?
        """,
    "annotated containers": """
        def f(
            a: list[Tensor], b: List[Tensor], c: tuple[Tensor, int], d: Tuple[Tensor, ...], e: dict[str, Tensor],
            g: Sequence[int], h: Dict[str, List[Tensor]], i: list, j: tuple[()],
        ):
            reveal(a)  # list[tensor, ...]
            reveal(b[0])  # tensor
            reveal(c)  # tuple[tensor, int]
            reveal(d)  # tuple[tensor, ...]
            reveal(e)  # dict[str: tensor, ...]
            reveal(e["k"])  # tensor
            reveal(g[3])  # int
            reveal(h["k"][1])  # tensor
            reveal(i[0])  # ?
        """,
    "annotated wrappers": """
        def f(a: typing.Annotated[Tensor, "batch"], b: typing.Final[int] = 3):
            reveal(a)  # tensor
            reveal(b)  # int
        """,
    "annotated classes": """
        class Config:
            width: int = 3

        def f(c: Config, m: nn.Linear, o: torch.optim.Adam, d: torch.device, s: torch.Size, a: np.ndarray, u: Missing):
            reveal(c)  # Config
            reveal(c.width)  # int
            reveal(m)  # torch.nn.Linear
            reveal(o)  # torch.optim.Adam
            reveal(d)  # torch.device
            reveal(s[0])  # int symbolic
            reveal(a)  # tensor numpy cpu
            reveal(u)  # ?
        """,
    "an annotation that is no Python": """
        def f(a: "not python [", b: 3, c: "Tensor["):
            reveal(a)  # ?
            reveal(b)  # ?
            reveal(c)  # ?
        """,
    "star parameters": """
        def f(*xs: Tensor, **kw: int):
            reveal(xs)  # tuple[tensor, ...]
            reveal(kw)  # dict[str: int, ...]
            reveal(kw["k"])  # int
        """,
    "annotated locals": """
        def f(xs):
            x: Tensor = xs[0]
            y: int
            reveal(x)  # tensor
        """,
    # -- defaults ----------------------------------------------------------------------------------------------------
    "defaults": """
        def f(a=1, b=2.0, c=True, d="x", e=None, g=(), *, h=3, i):
            reveal(a)  # int
            reveal(b)  # float
            reveal(c)  # bool
            reveal(d)  # str
            reveal(e)  # ?
            reveal(h)  # int
            reveal(i)  # ?
        """,
    "a default of None makes optional": """
        def f(a: Tensor = None, b: int = None):
            reveal(a)  # None | tensor
            reveal(b)  # None | int
        """,
    # -- use ---------------------------------------------------------------------------------------------------------
    "used as a tensor": """
        def f(x, y, z, w=None):
            y.unsqueeze(0)
            torch.relu(z)
            reveal(x)  # ?
            reveal(y)  # tensor
            reveal(z)  # tensor
            if w is not None:
                reveal(w)  # tensor
                w.masked_fill(w > 0, 0)
        """,
    "use has its limits": """
        def f(tested, rebound, listed, reshaped, sized, numpy, compared):
            if isinstance(tested, Tensor):
                tested.unsqueeze(0)
            reveal(tested)  # ?
            rebound = load()
            reveal(rebound)  # ?
            rebound.unsqueeze(0)
            torch.cat(listed)
            reveal(listed)  # ?
            reshaped.reshape(3)
            reveal(reshaped)  # ?
            reveal(sized)  # ?
            sized.sum()
            reveal(numpy)  # ?
            torch.from_numpy(numpy)
            reveal(compared)  # ?
        """,
    "use in an inner function with a parameter of the same name": """
        def f(x):
            def g(x):
                return x.unsqueeze(0)
            h = lambda x: x.unsqueeze(0)
            reveal(x)  # ?
        """,
    "a call proves its receiver from there on": """
        def f(load):
            x = load()
            reveal(x)  # ?
            x.unsqueeze(0)
            reveal(x)  # tensor
            y = load()
            y.reshape(1)
            reveal(y)  # ?
        """,
    "use before a rebinding counts": """
        def f(x):
            reveal(x)  # tensor
            x = x.unsqueeze(0)
            reveal(x)  # tensor
        """,
    # -- attributes --------------------------------------------------------------------------------------------------
    "attributes of __init__": """
        class Net(nn.Module):
            def __init__(self, width: int, path):
                super().__init__()
                self.width = width
                self.depth = 3
                self.path = path
                self.linear = nn.Linear(width, width)
                self.weight = nn.Parameter(torch.zeros(3))
                self.register_buffer("mask", torch.ones(3, dtype=torch.bool))
                self.table = torch.zeros(2, 2)
                self.pair = (1, torch.ones(1))

            def forward(self, x):
                reveal(self.width)  # int
                reveal(self.depth)  # 3
                reveal(self.path)  # ?
                reveal(self.linear)  # torch.nn.Linear
                reveal(self.weight)  # tensor parameter float 1d
                reveal(self.mask)  # tensor buffer bool 1d
                reveal(self.table)  # tensor cpu float 2d constant
                reveal(self.pair[1])  # tensor cpu float 1d constant
                reveal(self.training)  # bool
                reveal(self.nothing)  # ?
                reveal(self.linear(x))  # tensor float
        """,
    "attributes set in other methods": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cache = None
                self.count = 0

            def reset(self):
                self.cache = torch.zeros(3)
                self.late = torch.ones(3)

            def step(self):
                self.count += 1

            def forward(self, x: Tensor):
                reveal(self.cache)  # None | tensor cpu float 1d constant
                reveal(self.late)  # tensor cpu float 1d constant
                reveal(self.count)  # int
        """,
    "containers filled in other methods": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.states = []
                self.cache = {}
                self.heads = nn.ModuleDict({})
                self.names = []
                self.texts = {}

            def add(self, name: str, x: Tensor):
                self.states.append(x)
                self.cache[name] = x
                self.heads[name] = nn.Linear(2, 2)
                self.names.append(name)
                self.texts.update(unknown())

            def forward(self, name: str):
                reveal(self.states)  # list[tensor, ...]
                reveal(self.cache[name])  # tensor
                reveal(self.heads[name])  # torch.nn.Linear
                reveal(self.names[0])  # str
                reveal(self.texts[name])  # ?
        """,
    "attributes set by a helper of __init__": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self._build()

            def _build(self):
                self.linear = nn.Linear(2, 2)

            def forward(self, x):
                reveal(self.linear)  # torch.nn.Linear
        """,
    "attributes set here are known from there on": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.state = None

            def forward(self, x: Tensor):
                reveal(self.state)  # None | tensor
                if self.state is None:
                    self.state = x
                reveal(self.state)  # tensor
                self.helper()
                reveal(self.state)  # tensor

            def helper(self):
                pass
        """,
    "attributes as a method leaves them": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.cleared = None
                self.left = None

            def forward(self, x: Tensor, n: int):
                reveal(self.cleared)  # None
                reveal(self.left)  # None | tensor
                self.cleared = x
                reveal(self.cleared)  # tensor
                self.cleared = None
                self.left = x
                if n:
                    return
                self.left = None
                reveal(self.left)  # None
        """,
    "class variables as a default": """
        class Net(nn.Module):
            cache = None
            limit: Optional[int] = None

            def fill(self, x: Tensor):
                self.cache = x

            def forward(self, x: Tensor):
                reveal(self.cache)  # None | tensor
                reveal(self.limit)  # None | int
        """,
    "setattr": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                setattr(self, "linear", nn.Linear(2, 2))

            def forward(self, x):
                reveal(self.linear)  # torch.nn.Linear
        """,
    "class variables": """
        class Net(nn.Module):
            scale = 2.0
            limit: int = 3
            hint: Tensor
            names = ("a", "b")

            def forward(self, x):
                reveal(self.scale)  # 2.0
                reveal(self.limit)  # int
                reveal(Net.limit)  # 3
                reveal(self.hint)  # tensor
                reveal(Net.scale)  # 2.0
                reveal(self.names)  # tuple['a', 'b']
        """,
    "inheritance": """
        class Base(nn.Module):
            def __init__(self, width: int):
                super().__init__()
                self.linear = nn.Linear(width, width)

            def project(self, x: Tensor):
                return self.linear(x)

            def kind(self):
                return 1

        class Net(Base):
            def __init__(self):
                super().__init__(3)
                self.norm = nn.LayerNorm(3)

            def kind(self):
                reveal(super().kind())  # 1
                return "net"

            def forward(self, x: Tensor):
                reveal(self.linear)  # torch.nn.Linear
                reveal(self.norm)  # torch.nn.LayerNorm
                reveal(self.project(x))  # tensor float
                reveal(self.kind())  # 'net'
                reveal(isinstance(self, Base))  # True
        """,
    "an unknown base of a class with forward is a module": """
        from elsewhere import Model

        class Net(Model):
            def forward(self, x):
                reveal(self.training)  # bool
        """,
    "buffers": """
        class Net(nn.Module):
            def __init__(self, table):
                super().__init__()
                self.register_buffer("table", table)
                self.register_buffer("steps", torch.zeros((), dtype=torch.long))
                self.register_buffer("maybe", None)

            def forward(self, x):
                reveal(self.table)  # tensor buffer
                reveal(self.steps)  # tensor buffer int 0d
                reveal(self.maybe)  # None
                for name, buffer in self.named_buffers():
                    reveal(buffer)  # tensor buffer
        """,
    "module containers": """
        class Net(nn.Module):
            def __init__(self, depth: int):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(depth)])
                self.grown = nn.ModuleList()
                for _ in range(depth):
                    self.grown.append(nn.Conv2d(1, 1, 1))
                self.named = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.ReLU()})
                self.chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
                self.weights = nn.ParameterList([torch.zeros(1)])

            def forward(self, x: Tensor):
                for layer in self.layers:
                    reveal(layer)  # torch.nn.Linear
                    x = layer(x)
                reveal(x)  # tensor
                for i, layer in enumerate(self.grown):
                    reveal(i)  # int
                    reveal(layer)  # torch.nn.Conv2d
                reveal(self.layers[0])  # torch.nn.Linear
                reveal(self.named["b"])  # torch.nn.ReLU
                reveal(self.chain(x))  # tensor float
                reveal(self.chain[1])  # torch.nn.ReLU
                for weight in self.weights:
                    reveal(weight)  # tensor parameter
                reveal(len(self.layers))  # int
        """,
    "modules of the project in containers": """
        class Block(nn.Module):
            def forward(self, x):
                reveal(x)  # ? / tensor float
                return x > 0

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stem = nn.Linear(1, 1)
                self.blocks = nn.Sequential(Block())

            def forward(self, x: Tensor):
                reveal(self.blocks(self.stem(x)))  # tensor bool
        """,
    "parameters": """
        def f(model: nn.Module):
            for p in model.parameters():
                reveal(p)  # tensor parameter
                reveal(p.grad)  # tensor
            reveal(model.state_dict()["w"])  # tensor
            reveal(model.eval())  # torch.nn.Module
        """,
    "properties": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.zeros(3))

            @property
            def device(self):
                return self.weight.device

            @functools.cached_property
            def total(self):
                return self.weight.sum()

            @staticmethod
            def half(x: Tensor):
                return x > 0

            @classmethod
            def make(cls):
                return cls()

            def forward(self, x: Tensor):
                reveal(self.device)  # torch.device
                reveal(self.total)  # tensor float 0d
                reveal(self.half(x))  # tensor bool
                reveal(Net.half(x))  # tensor bool
                reveal(Net.make())  # Net
        """,
    "parameters by name": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scales = nn.ParameterDict({})

            def add(self, name: str):
                self.scales[name] = nn.Parameter(torch.zeros(2))

            def forward(self, name: str):
                reveal(self.scales[name])  # tensor parameter
                reveal(self.scales["a"])  # tensor parameter
        """,
    # -- containers --------------------------------------------------------------------------------------------------
    "lists": """
        def f(x: Tensor):
            xs = []
            reveal(xs)  # list[]
            xs.append(x)
            reveal(xs)  # list[tensor]
            xs.append(1)
            reveal(xs)  # list[tensor, 1]
            xs.extend([2, "a"])
            reveal(xs[3])  # 'a'
            reveal(xs[-1])  # 'a'
            reveal(xs[:2])  # list[tensor, 1]
            reveal(xs.pop())  # 'a' | int | tensor
            reveal([x] * 3)  # list[tensor, ...]
            reveal([x] + [x])  # list[tensor, tensor]
            reveal([*[x, 1], 2])  # list[tensor, 1, 2]
        """,
    "lists filled in a loop": """
        def f(batch: list[Tensor], n: int):
            xs = []
            for b in batch:
                xs.append(b > 0)
            reveal(xs)  # list[tensor bool, ...]
            ys = [0] * n
            for i in range(n):
                ys[i] = i
            reveal(ys)  # list[int, ...]
            zs = []
            for i in range(n):
                zs += [i]
            reveal(zs)  # list[int, ...]
        """,
    "dicts": """
        def f(x: Tensor, name: str):
            d = {"a": x, "b": 1}
            reveal(d["a"])  # tensor
            reveal(d["b"])  # 1
            d["c"] = x > 0
            reveal(d["c"])  # tensor bool
            for k, v in {"a": x, "b": x}.items():
                reveal(k)  # str
                reveal(v)  # tensor
            reveal(d.get("z"))  # None
            reveal(d.get("a", 3))  # tensor
            reveal({**{"a": x}, "b": 2})  # dict['a': tensor, 'b': 2]
            reveal(dict(a=x))  # dict['a': tensor]
            e = {}
            e[name] = x
            reveal(e["q"])  # tensor
            for v in {"a": x}.values():
                reveal(v)  # tensor
            for k in {"a": x}:
                reveal(k)  # 'a'
        """,
    "unpacking": """
        def f(x: Tensor, pair: tuple[Tensor, int], many: list[int]):
            a, b = pair
            reveal(a)  # tensor
            reveal(b)  # int
            c, *d = (x, 1, "s")
            reveal(c)  # tensor
            reveal(d)  # list[1, 's']
            *e, g = many
            reveal(e)  # list[int, ...]
            reveal(g)  # int
            (h, i), j = (1, x), 2
            reveal(h)  # 1
            reveal(i)  # tensor
            k, m = x
            reveal(k)  # tensor
            n, o = x.shape
            reveal(n)  # int symbolic
            p = q = 3
            reveal(q)  # 3
            [r, s] = x, 2
            reveal(r)  # tensor
        """,
    "builtins over containers": """
        def f(xs: list[Tensor], ns: list[int]):
            for i, x in enumerate(xs):
                reveal(i)  # int
                reveal(x)  # tensor
            for x, n in zip(xs, ns):
                reveal(x)  # tensor
                reveal(n)  # int
            reveal(sum(xs))  # tensor
            reveal(sum(ns))  # int
            reveal(max(ns))  # int
            reveal(sorted(ns))  # list[int, ...]
            reveal(list(xs))  # list[tensor, ...]
            reveal(next(iter(xs)))  # tensor
            reveal(list(map(lambda t: t > 0, xs)))  # list[tensor bool, ...]
            reveal(list(reversed((1, 2))))  # list[2, 1]
            reveal(range(3)[0])  # int
            reveal(len(xs))  # int
            reveal(len((1, 2)))  # 2
            reveal(any(x > 0 for x in xs))  # bool data
            reveal(any(n > 0 for n in ns))  # bool
        """,
    "named tuples and dataclasses": """
        class Pair(NamedTuple):
            left: Tensor
            right: int

        @dataclasses.dataclass
        class Out:
            logits: Tensor
            loss: Optional[Tensor] = None
            extra: Any = None

        def f(p: Pair, o: Out, x: Tensor):
            reveal(p.left)  # tensor
            reveal(p.right)  # int
            reveal(o.logits)  # tensor
            reveal(o.loss)  # None | tensor
            made = Out(x > 0, extra=3)
            reveal(made.logits)  # tensor bool
            reveal(made.extra)  # 3
            reveal(made.loss)  # None
            reveal(Pair(x, 2).right)  # 2
        """,
    "what a regular expression finds": """
        import re

        NUMBER = re.compile("[0-9]")

        def f(text: str):
            reveal(NUMBER.match(text))  # None | re.Match
            reveal(re.search("a", text))  # None | re.Match
        """,
    "numbers drawn by an object": """
        import random

        def f():
            draw = random.Random(3)
            reveal(draw.randrange(4))  # int data
            reveal(draw.random())  # float data
            reveal(draw.choice([1, 2]))  # ?
        """,
    # -- functions ---------------------------------------------------------------------------------------------------
    "calls are followed": """
        def double(v):
            reveal(v)  # 3 / ? / tensor
            return v * 2

        def f(x: Tensor):
            reveal(double(3))  # 6
            reveal(double(x))  # tensor
        """,
    "defaults of a call": """
        def g(x, scale=2, flag=True):
            return scale

        def f(x: Tensor):
            reveal(g(x))  # 2
            reveal(g(x, 3))  # 3
            reveal(g(x, scale="s"))  # 's'
            reveal(g(*x))  # int
        """,
    "star arguments": """
        def g(first, *rest, key=None, **more):
            return first, rest, key, more

        def f(x: Tensor):
            reveal(g(1, x, 2))  # tuple[1, tuple[tensor, 2], None, dict[]]
            reveal(g(1, key=x, z=3))  # tuple[1, tuple[], tensor, dict['z': 3]]
            args = (1, x)
            reveal(g(*args))  # tuple[1, tuple[tensor], None, dict[]]
            reveal(g(**{"first": x}))  # tuple[tensor, tuple[], None, dict[]]
        """,
    "closures": """
        def f(x: Tensor, n: int):
            scale = 3
            def inner(y):
                reveal(scale)  # 3
                reveal(x)  # tensor
                return y + scale
            reveal(inner(x))  # tensor
            reveal(inner(1))  # 4
            def outer():
                def deepest():
                    return x > 0
                return deepest
            reveal(outer()())  # tensor bool
        """,
    "lambdas": """
        def f(x: Tensor):
            g = lambda v: v > 0
            reveal(g(x))  # tensor bool
            reveal((lambda a, b=2: b)(x))  # 2
            h = lambda *a, **k: a
            reveal(h(x, 1))  # tuple[tensor, 1]
        """,
    "partial": """
        def g(a, b, c=0):
            return a, b, c

        def f(x: Tensor):
            h = functools.partial(g, 1, c=x)
            reveal(h(2))  # tuple[1, 2, tensor]
            reveal(functools.partial(torch.zeros, 2)())  # tensor cpu float 1d constant
            p, q = functools.partial(g, 1), functools.partial(g, "s")
            reveal(apply(p))  # tuple[1, 2, 0]
            reveal(apply(q))  # tuple['s', 2, 0]

        def apply(h):
            return h(2)
        """,
    "functions as arguments": """
        def apply(fn, v):
            return fn(v)

        def positive(v):
            return v > 0

        def f(x: Tensor):
            reveal(apply(positive, x))  # tensor bool
            reveal(apply(lambda t: 3, x))  # 3
            table = {"p": positive}
            reveal(table["p"](x))  # tensor bool
            reveal(apply(torch.relu, x))  # tensor
        """,
    "decorated functions": """
        def noop(fn):
            return fn

        @torch.no_grad()
        def g(x: Tensor):
            return x > 0

        @functools.lru_cache(maxsize=None)
        def h(n: int):
            return n

        @torch.compile
        def c(x: Tensor):
            return x > 0

        def f(x: Tensor):
            reveal(g(x))  # tensor bool
            reveal(h(2))  # 2
            reveal(c(x))  # tensor bool
        """,
    "compiled values": """
        class Net(nn.Module):
            def forward(self, x: Tensor):
                return x > 0

        def f(x: Tensor):
            model = torch.compile(Net())
            reveal(model)  # compiled(Net)
            reveal(model(x))  # tensor bool
            reveal(torch.compile(lambda v: v + 1)(1))  # 2
        """,
    "comprehensions": """
        def f(xs: list[Tensor], n: int):
            x = 3
            ys = [x > 0 for x in xs]
            reveal(ys)  # list[tensor bool, ...]
            reveal(x)  # 3
            reveal({k: v for k, v in zip("ab", xs)})  # dict[str: tensor, ...]
            reveal([i for i in (1, 2)])  # list[1, 2]
            reveal([a + b for a in xs for b in range(n)])  # list[tensor, ...]
            reveal({i for i in range(n)})  # set[int, ...]
            reveal([t for t in [None, xs[0]] if t is not None])  # list[tensor, ...]
            reveal(list(i for i in range(n)))  # list[int, ...]
            reveal([y := 5 for _ in range(n)])  # list[5, ...]
        """,
    "recursion ends": """
        def fact(n: int):
            return 1 if n == 0 else n * fact(n - 1)

        def count(n):
            if n == 0:
                return 0
            return count(n - 1)

        def even(n: int):
            return True if n == 0 else odd(n - 1)

        def odd(n: int):
            return False if n == 0 else even(n - 1)

        def walk(tree):
            for child in tree:
                walk([child, tree])
            return 1

        def f(tree):
            reveal(walk(tree))  # 1
        """,
    "generators": """
        def gen(xs: list[Tensor]):
            for x in xs:
                yield x > 0

        def chain(xs: list[Tensor]):
            yield from gen(xs)
            yield 1

        def f(xs: list[Tensor]):
            for g in gen(xs):
                reveal(g)  # tensor bool
            reveal(next(gen(xs)))  # tensor bool
            reveal(list(chain(xs)))  # list[1 | tensor bool, ...]
        """,
    "context managers": """
        import contextlib

        class Timer:
            def __enter__(self):
                return 3

            def __exit__(self, *exc):
                return None

        @contextlib.contextmanager
        def opened(x: Tensor):
            yield x > 0

        def f(x: Tensor):
            with Timer() as t:
                reveal(t)  # 3
            with opened(x) as y:
                reveal(y)  # tensor bool
            with torch.no_grad():
                z = x + 1
            reveal(z)  # tensor
        """,
    "autograd functions": """
        class Sign(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x: Tensor):
                return x > 0

            @staticmethod
            def backward(ctx, grad):
                return grad

        def f(x: Tensor):
            reveal(Sign.apply(x))  # tensor bool
        """,
    "objects with protocols": """
        class Bag:
            def __init__(self, x: Tensor):
                self.x = x

            def __getitem__(self, i):
                return self.x > 0

            def __iter__(self):
                yield self.x

            def __call__(self, y):
                return y

        def f(x: Tensor):
            bag = Bag(x)
            reveal(bag[0])  # tensor bool
            reveal(bag(3))  # 3
            for item in bag:
                reveal(item)  # tensor
            reveal(bag.x)  # tensor
        """,
    # -- control flow ------------------------------------------------------------------------------------------------
    "branches join": """
        def f(x: Tensor, n: int):
            if n > 3:
                y = 1
            elif n > 2:
                y = "s"
            else:
                y = x
            reveal(y)  # 's' | 1 | tensor
            z = 1 if n else 2
            reveal(z)  # int
            w = x if n else None
            reveal(w)  # None | tensor
        """,
    "early returns": """
        def g(x: Tensor, n: int):
            if n == 0:
                return None
            if n == 1:
                return x > 0
            raise ValueError(n)

        def h(x: Optional[Tensor]):
            if x is None:
                return 0
            reveal(x)  # tensor
            return 1

        def f(x: Tensor, n: int):
            reveal(g(x, n))  # None | tensor bool
            reveal(h(None))  # 0
            reveal(h(x))  # 1
            return
            reveal(x)  # never
        """,
    "narrowing by None": """
        def f(x: Optional[Tensor], y: Optional[int] = None):
            if x is None:
                reveal(x)  # None
            else:
                reveal(x)  # tensor
            if x is not None and x.dim() > 1:
                reveal(x)  # tensor
            if x is None or y is None:
                return
            reveal(x)  # tensor
            reveal(y)  # int
        """,
    "narrowing by truth": """
        def f(x: Optional[list[int]], y: Optional[Tensor]):
            if x:
                reveal(x)  # list[int, ...]
            if not x:
                return
            reveal(x)  # list[int, ...]
            z = y or 3
            w = y if y is not None else 0
            reveal(w)  # 0 | tensor
            assert y is not None
            reveal(y)  # tensor
        """,
    "narrowing by walrus": """
        def g(n: int) -> Optional[Tensor]:
            return torch.zeros(n) if n else None

        def f(n: int):
            if (x := g(n)) is not None:
                reveal(x)  # tensor cpu float 1d
            reveal(x)  # None | tensor cpu float 1d
        """,
    "narrowing by isinstance": """
        def f(x: Union[Tensor, int, list], y, z: Union[Tensor, int, None], w: Union[Tensor, str]):
            if isinstance(x, Tensor):
                reveal(x)  # tensor
            elif isinstance(x, int):
                reveal(x)  # int
            else:
                reveal(x)  # list[?, ...]
            if isinstance(y, torch.Tensor):
                reveal(y)  # tensor
            else:
                reveal(y)  # ?
            if isinstance(z, (int, float)):
                reveal(z)  # int
            if not isinstance(w, str):
                reveal(w)  # tensor
            if torch.is_tensor(w):
                reveal(w)  # tensor
            else:
                reveal(w)  # str
            if isinstance(y, str | int):
                reveal(y)  # ?
        """,
    "narrowing by type": """
        def f(x: Union[Tensor, int, list], y: Union[Tensor, float], z: Union[Tensor, int]):
            if type(x) is int:
                reveal(x)  # int
            elif type(x) != list:
                reveal(x)  # tensor
            if type(y) == torch.Tensor:
                reveal(y)  # tensor
            else:
                reveal(y)  # float | tensor
            if type(y) not in (int, float):
                reveal(y)  # tensor
            assert type(z) == int
            reveal(z)  # int
        """,
    "narrowing of attributes and items": """
        class Net(nn.Module):
            def __init__(self, bias: Optional[Tensor] = None):
                super().__init__()
                self.bias = bias

            def forward(self, batch: dict[str, Optional[Tensor]]):
                if self.bias is not None:
                    reveal(self.bias)  # tensor
                reveal(self.bias)  # None | tensor
                if batch["mask"] is not None:
                    reveal(batch["mask"])  # tensor
        """,
    "impossible branches": """
        def f(x: Tensor, n: int = 3):
            if False:
                reveal(x)  # never
            if isinstance(x, int):
                reveal(x)  # never
            if torch.jit.is_scripting():
                reveal(x)  # never
            if x is None:
                reveal(x)  # never
            while False:
                reveal(x)  # never
            if torch.compiler.is_compiling():
                reveal(n)  # int
            DEBUG = False
            if DEBUG and n:
                reveal(n)  # never
        """,
    "try": """
        def f(x: Tensor):
            y = None
            try:
                y = x > 0
                z = 1
            except ValueError as e:
                reveal(y)  # None | tensor bool
                z = "s"
            except (KeyError, TypeError):
                raise
            else:
                reveal(y)  # tensor bool
            finally:
                w = 3
            reveal(z)  # 's' | 1
            reveal(w)  # 3
        """,
    "loops reach a fixpoint": """
        def f(x: Tensor, n: int):
            y = None
            total = 0
            for i in range(n):
                reveal(y)  # None | tensor bool
                y = x > 0
                total = total + i
            reveal(y)  # None | tensor bool
            reveal(total)  # int
            prev = None
            cur = None
            for i in range(n):
                prev = cur
                cur = x
            reveal(prev)  # None | tensor
            while n > 0:
                n -= 1
                if n == 3:
                    z = x
                    break
                if n == 2:
                    continue
            else:
                z = 1
            reveal(z)  # 1 | tensor
        """,
    "while true": """
        def f(x: Tensor, n: int):
            while True:
                y = x
                if n > 2:
                    break
                y = 1
            reveal(y)  # tensor

        def g(x: Tensor):
            while True:
                x = x + 1
            reveal(x)  # never
        """,
    "counters of a loop": """
        def f(n: int):
            i = 0
            while i < n:
                reveal(i)  # int
                i += 1
            reveal(i)  # int
        """,
    "match": """
        def f(x: Tensor, kind: str):
            match kind:
                case "a":
                    y = x
                case str(other) if other:
                    y = 1
                case [first, *rest]:
                    reveal(first)  # ?
                    y = 1
                case _:
                    y = None
            reveal(y)  # 1 | None | tensor
        """,
    "boolean operators": """
        def f(x: Optional[Tensor], n: int, xs: list[int]):
            reveal(x is None or n)  # number
            reveal(n and "s")  # 's' | int
            reveal(not n)  # bool
            reveal(not None)  # True
            reveal(None or 3)  # 3
            reveal(1 < n < 3)  # bool
            reveal(n in xs)  # bool
            reveal("a" in ("a", "b"))  # True
        """,
    "assertions": """
        def f(x: Optional[Tensor], y: Union[Tensor, int]):
            assert isinstance(y, Tensor), "no tensor"
            reveal(y)  # tensor
            assert x is not None
            reveal(x)  # tensor
        """,
    "deleted and global names": """
        COUNT = 0
        TABLE = torch.zeros(3)

        def f(x: Tensor):
            global COUNT
            COUNT = x
            reveal(COUNT)  # ?
            reveal(TABLE)  # tensor cpu float 1d constant
            y = 1
            del y
            reveal(undefined)  # ?
        """,
    "names bound anew elsewhere": """
        DEBUG = False
        LIMIT = 3

        def enable():
            global DEBUG
            DEBUG = True

        def f(x: Tensor, run):
            reveal(DEBUG)  # ?
            reveal(LIMIT)  # 3
            if DEBUG:
                reveal(x)  # tensor
            done = False
            def finish():
                nonlocal done
                done = True
            run(finish)
            reveal(done)  # ?
        """,
    # -- tensors -----------------------------------------------------------------------------------------------------
    "devices of factories": """
        def f(x: Tensor, device, dev: torch.device, name: str):
            reveal(torch.zeros(2, 3))  # tensor cpu float 2d constant
            reveal(torch.zeros(2, device="cuda"))  # tensor device float 1d constant
            reveal(torch.zeros(2, device="cuda:1"))  # tensor device float 1d constant
            reveal(torch.zeros(2, device="cpu"))  # tensor cpu float 1d constant
            reveal(torch.zeros(2, device=device))  # tensor float 1d constant
            reveal(torch.zeros(2, device=dev))  # tensor float 1d constant
            reveal(torch.zeros(2, device=name))  # tensor float 1d constant
            reveal(torch.zeros(2, device=x.device))  # tensor float 1d constant
            reveal(torch.zeros_like(x))  # tensor
            reveal(torch.tensor([1, 2]))  # tensor cpu int 1d constant
            reveal(torch.tensor([[1.0]]))  # tensor cpu float 2d constant
            reveal(torch.tensor(True))  # tensor cpu bool 0d constant
            reveal(torch.arange(3))  # tensor cpu int 1d constant
            reveal(torch.from_numpy(np.zeros(3)))  # tensor cpu
            reveal(x.new_zeros(3))  # tensor 1d
            cuda = torch.device("cuda")
            reveal(torch.ones(1, device=cuda))  # tensor device float 1d constant
            reveal(torch.ones(1, device=torch.device("cuda" if name else "cpu")))  # tensor float 1d constant
        """,
    "devices of moves": """
        def f(x: Tensor, device, n: Tensor, c: Tensor = None):
            c = torch.zeros(2)
            reveal(x.cpu())  # tensor cpu
            reveal(x.cuda())  # tensor device
            reveal(x.to("cuda"))  # tensor device
            reveal(x.to("cpu", non_blocking=True))  # tensor cpu
            reveal(x.to(device))  # tensor
            reveal(c.to(device))  # tensor float 1d
            reveal(c.to(x.device))  # tensor float 1d
            reveal(c.to(x))  # tensor 1d
            reveal(c.to(torch.int64))  # tensor cpu int 1d
            reveal(x.to("cuda", torch.float16))  # tensor device float
            reveal(x.to(dtype=torch.bool))  # tensor bool
            reveal(c.pin_memory())  # tensor cpu float 1d pinned
            reveal(n.numpy())  # tensor numpy cpu
            reveal(x.cpu().numpy())  # tensor numpy cpu
            reveal(x.detach().cpu())  # tensor cpu
            reveal(c + x)  # tensor cpu float
            reveal(torch.tensor(1.0) + x)  # tensor float
            reveal(c * 2)  # tensor cpu float 1d constant
        """,
    "dtypes": """
        def f(x: Tensor, n: torch.LongTensor, b: torch.BoolTensor):
            reveal(x > 0)  # tensor bool
            reveal((x > 0) & (x < 1))  # tensor bool
            reveal(~(x > 0))  # tensor bool
            reveal(x == x)  # tensor bool
            reveal(x.isnan())  # tensor bool
            reveal(torch.isnan(x).any())  # tensor bool 0d
            reveal(x.ne(0))  # tensor bool
            reveal(torch.logical_not(x))  # tensor bool
            reveal(x.bool())  # tensor bool
            reveal(b.sum())  # tensor int 0d
            reveal(n / 2)  # tensor float
            reveal(n * 2)  # tensor int
            reveal(n * 2.0)  # tensor float
            reveal(b.float())  # tensor float
            reveal(b & b)  # tensor bool
            reveal(x.argmax(-1))  # tensor int
            reveal(x.max(dim=1)[1])  # tensor int
            reveal(x.topk(2).indices)  # tensor int
            reveal(x.softmax(-1))  # tensor float
            reveal(x.dtype)  # torch.dtype
            reveal(torch.zeros(1, dtype=n.dtype))  # tensor cpu int 1d constant
            reveal(b[..., None])  # tensor bool
            reveal(b.view(-1))  # tensor bool 1d
        """,
    "ranks": """
        def f(x: Tensor):
            t = torch.zeros(2, 3)
            reveal(t.sum())  # tensor cpu float 0d
            reveal(t[0])  # tensor cpu float 1d
            reveal(t[0, 1])  # tensor cpu float 0d
            reveal(t[:, None])  # tensor cpu float 3d
            reveal(t[1:])  # tensor cpu float 2d
            reveal(t.unsqueeze(0))  # tensor cpu float 3d
            reveal(t.dim())  # 2
            reveal(t.shape)  # size[int symbolic, int symbolic]
            reveal(x.ndim)  # int
            reveal(F.cross_entropy(x, x))  # tensor float 0d
        """,
    "flow of numbers": """
        def f(x: Tensor, m: torch.BoolTensor, xs: list[Tensor]):
            reveal(x.item())  # number data
            reveal(m.item())  # bool data
            reveal(int(x))  # int data
            reveal(float(x.sum()))  # float data
            reveal(bool(x))  # bool data
            reveal(x.item() + 1)  # number data
            reveal(x.item() > 0)  # bool data
            reveal(x.tolist()[0])  # number data
            reveal(x.shape[0])  # int symbolic
            reveal(x.size(0) // 2)  # int symbolic
            reveal(x.numel())  # int symbolic
            reveal(len(x))  # int symbolic
            reveal(x.dim())  # int
            reveal(len(xs))  # int
            reveal(len(x.nonzero()))  # int data
            reveal(x.nonzero().shape[0])  # int data
            reveal(x[m].shape[0])  # int data
            reveal(x[m].sum())  # tensor 0d
            reveal(x.masked_select(m))  # tensor 1d dynamic
            reveal(torch.where(m)[0])  # tensor int 1d dynamic
            reveal(x.unique().numel())  # int data
            reveal(torch.equal(x, x))  # bool data
            reveal(x in xs)  # tensor bool 0d
            reveal(math.sqrt(x))  # float data
            reveal(round(x.item()))  # int data
            reveal(x.is_contiguous())  # bool
            reveal(max(x.shape[0], 3))  # int symbolic
            reveal(f"{x.item()}")  # str data
            reveal(int(x.shape[0]))  # int symbolic
            reveal(min(int(x), 3))  # int data
        """,
    "numbers of the CPU are data all the same": """
        def f():
            reveal(torch.zeros(1).item())  # float data
        """,
    "numpy": """
        def f(x: Tensor, a: np.ndarray):
            reveal(a + 1)  # tensor numpy cpu
            reveal(a > 0)  # tensor numpy cpu bool
            reveal(a.sum())  # tensor numpy cpu 0d
            reveal(float(a[0]))  # float
            reveal(torch.from_numpy(a))  # tensor cpu
            reveal(np.zeros(3))  # tensor numpy cpu
        """,
    "loops over tensors": """
        def f(x: Tensor, m: torch.BoolTensor):
            for row in x:
                reveal(row)  # tensor
            for i in range(x.shape[0]):
                reveal(i)  # int
            for part in x.chunk(2):
                reveal(part)  # tensor
            for a, b in zip(x, m):
                reveal(b)  # tensor bool
        """,
    "loaders": """
        def f(dataset, model: nn.Module):
            loader = torch.utils.data.DataLoader(dataset, pin_memory=True)
            for x, y in loader:
                reveal(x.to("cuda"))  # tensor device
                reveal(y.cuda())  # tensor device
            for i, batch in enumerate(loader):
                reveal(i)  # int
                reveal(batch["x"].cuda())  # tensor device
        """,
    "chained operations keep their device": """
        def f(device):
            x = torch.zeros(3, device="cuda")
            y = torch.relu(x).view(1, -1)
            reveal(y)  # tensor device float 2d
            reveal(torch.cat([x, x]))  # tensor device float 1d
            reveal(torch.stack([x, x]))  # tensor device float 2d
            reveal(torch.where(x > 0, x, 0.0))  # tensor device float
            reveal(F.softmax(x, -1))  # tensor device float
            reveal(x @ x)  # tensor device float 0d constant
        """,
    "aliases of types": """
        OptTensor = Optional[Tensor]
        Adjacency = Union[Tensor, "Sparse"]
        Nested = List[OptTensor]

        class Sparse:
            pass

        def f(a: OptTensor, b: Nested, c: Adjacency):
            reveal(a)  # None | tensor
            reveal(b)  # list[None | tensor, ...]
            if isinstance(c, Sparse):
                return
            reveal(c)  # tensor
        """,
    "a class that an import or the module gives": """
        try:
            from sparse import Matrix
        except ImportError:
            class Matrix:
                pass

        def f(x: Union[Tensor, Matrix]):
            if isinstance(x, Matrix):
                return
            reveal(x)  # tensor
        """,
    "overloads are signatures alone": """
        @typing.overload
        def pair(x: Tensor) -> Tuple[Tensor, None]: ...

        @typing.overload
        def pair(x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor]: ...

        def pair(x, y=None):
            return x, x

        def f(x: Tensor):
            reveal(pair(x))  # tuple[tensor, tensor]
        """,
    "what a test told ends with it": """
        def f(x: Optional[Tensor], n: Optional[int], ready: bool):
            if x is not None and n is not None and ready:
                return
            reveal(x)  # None | tensor
            y = x is not None and ready
            reveal(n)  # None | int
        """,
    "attributes as their defaults build them": """
        class Cosine(nn.Module):
            def forward(self, a, b):
                return a @ b.t()

        class Base(nn.Module):
            def __init__(self, distance=None, **kwargs):
                super().__init__()
                self.distance = self.make() if distance is None else distance

        class Loss(Base):
            def __init__(self, margin, **kwargs):
                super().__init__(**kwargs)
                self.margin = margin

            def make(self):
                return Cosine()

            def forward(self, x: Tensor):
                reveal(self.distance(x, x))  # tensor
                reveal(self.margin)  # ?
        """,
    "an inherited forward runs on the class that completes it": """
        class Base(nn.Module):
            def forward(self, x: Tensor):
                return self.compute(x, x > 0)

            def compute(self, x, mask):
                raise NotImplementedError

        class Loss(Base):
            def compute(self, x, mask):
                reveal(mask)  # ? / tensor bool
                return x
        """,
    "outputs and unknowns that are used as tensors are": """
        def f(model: nn.Module, other, i: Tensor, mask: torch.BoolTensor):
            y, z = model(i), model(i)
            reveal(y - z)  # tensor
            reveal(y / other)  # tensor
            reveal(y + other)  # ?
            reveal(other[i, i])  # tensor
            reveal(other[mask])  # tensor dynamic
        """,
    "imports by name": """
        import importlib

        class Missing:
            def __call__(self, *args):
                raise ImportError

            def __getattr__(self, name):
                raise ImportError(name)

        def optional(module, name=""):
            try:
                found = importlib.import_module(module)
                if name:
                    found = getattr(found, name)
            except ImportError:
                return Missing(), False
            return found, True

        functional, known = optional("torch.nn.functional")
        softplus, _ = optional("torch.nn.functional", name="softplus")
        others = [optional(name) for name in "abcdefghi"]
        late, _ = optional("torch.linalg", name="inv")
        dynamic, _ = optional(str(others))

        def f(x: Tensor, unknown):
            reveal(functional.relu(x))  # tensor
            reveal(softplus(x))  # tensor
            reveal(late(x))  # tensor
            reveal(dynamic(x))  # ?
            reveal(importlib.import_module(unknown))  # ?
            reveal(__import__("torch.nn").nn.functional.relu(x))  # tensor
        """,
    "what unknown functions make of tensors": """
        def f(x: Tensor, norm, other, n: int):
            d = norm(x / 2)
            reveal(d)  # ?
            reveal(d.mean())  # ?
            reveal(d.abs())  # tensor
            reveal(norm(x).clamp(min=0))  # tensor
            reveal(norm(n).abs())  # ?
            reveal(other.abs())  # ?
            y = norm(x)
            y = norm(n)
            reveal(y.abs())  # ?
        """,
    "numbers that NumPy makes of Python's": """
        def f(n: int, x: Tensor, unknown):
            reveal(np.sqrt(n))  # tensor numpy cpu 0d constant
            reveal(np.isfinite(2.5))  # tensor numpy cpu bool 0d constant
            reveal(np.float32(n))  # tensor numpy cpu float 0d constant
            reveal(np.ceil(n / 2) * n)  # tensor numpy cpu 0d constant
            reveal(int(np.ceil(n)))  # int
            reveal(np.prod(x.shape))  # tensor numpy cpu
            reveal(np.prod((n,)))  # tensor numpy cpu constant
            reveal(np.ceil(unknown))  # tensor numpy cpu constant
            reveal(x * np.sqrt(n))  # tensor
            reveal(np.sqrt(x.sum().item()))  # float data
        """,
    "NumPy's draws": """
        def f():
            reveal(np.random.rand(1))  # tensor numpy cpu
            reveal(np.random.rand())  # float
            reveal(np.random.uniform(0, 1))  # float
            reveal(np.random.uniform(0, 1, 4))  # tensor numpy cpu
            reveal(np.random.choice([1, 2], size=2))  # tensor numpy cpu
            reveal(np.random.permutation(4))  # tensor numpy cpu
            reveal(torch.atleast_1d(torch.zeros(2)))  # tensor cpu float
        """,
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_inference(text: str) -> None:
    check(text)


def test_reductions_of_our_own_operators_are_tensors(tmp_path: Path) -> None:
    """A read of what a fix made is seen as any other."""
    source = (
        "import torch\nfrom compilelint.ops import squared_norm_each, sum_tensors\n\n\n"
        "def norm(grads: list[torch.Tensor]) -> float:\n"
        "    return squared_norm_each(grads).sum().sqrt().item() + sum_tensors(grads).item()\n"
    )
    path = tmp_path / "norm.py"
    path.write_text(source, encoding="utf-8")
    found = api.check([path], api.load_settings(isolated=True)).findings
    assert [(each.code, each.span.line) for each in found] == [("CL201", 6), ("CL201", 6)]
