"""What the interpreter tells the rules: one event for each thing that happens to a value that may matter.

Events are emitted once a site and context, on the final pass over a loop, with the operand values of that context.
Which exist is decided by the rules' subscriptions (`Interest`): nothing is built that nobody asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compilelint.engine.values import UNKNOWN, Value

PERIODIC = frozenset(("every-n", "once", "nonfinite"))
RARE = PERIODIC | {"main"}


@dataclass(slots=True, eq=False, kw_only=True)
class Rounds:
    """What happens in a loop, or in a function's body outside its loops; filled in while that is interpreted.

    `trains`: backward, an optimizer's step; `calls_module`: an nn.Module or model is called; `loads`: iterates a
    DataLoader.
    """

    trains: bool = False
    calls_module: bool = False
    loads: bool = False

    @property
    def is_step(self) -> bool:
        return self.trains or self.calls_module or self.loads


@dataclass(slots=True, eq=False)
class Loop(Rounds):
    """A loop around a site. `kind` is "for", "while" or "comprehension"; `iterated` what a `for` runs over."""

    node: ast.AST
    kind: str
    iterated: Value = UNKNOWN


def own_loop(loops: Sequence[Loop]) -> Loop | None:
    """The loop whose rounds are the steps: the innermost one. A loop of epochs around it runs seldom."""
    return next((loop for loop in reversed(loops) if loop.kind != "comprehension"), None)


@dataclass(slots=True, frozen=True)
class Site:
    """The surroundings of an event within its function.

    `loops` outermost first. `gates` are conditions that hold here: "not-compiling", "compiling", "not-tracing",
    "every-n" (under `step % n == 0` and the like), "once" (runs the first time only), "nonfinite" (where a tensor has
    NaN or infinity in it), "waited" (behind a branch that read the device), "eval", "training", "handler" (an except
    block), "raises" (the block ends in raise), "half" (only for half precision), "main" (`__name__ == "__main__"`),
    "elsewhere" (on an accelerator that is no CUDA device).
    `protected`: inside try or with, where Dynamo can't resume after a break.
    """

    loops: tuple[Loop, ...] = ()
    gates: frozenset[str] = frozenset()
    protected: bool = False

    @property
    def in_step(self) -> bool:
        return any(loop.is_step for loop in self.loops)


@dataclass(slots=True, eq=False)
class Event:
    """`node` is where the finding will stand; `statement` the statement it belongs to."""

    node: ast.AST
    site: Site
    statement: ast.stmt


@dataclass(slots=True, eq=False)
class Call(Event):
    """A call of something outside the project, or of a method that the models know.

    `target` is canonical: `torch.nonzero`, `torch.nn.functional.one_hot`, `Tensor.item`, `Module.eval` (methods of
    torch.nn.Module), `time.time`, `print`, `logging.Logger.info`, `torch.optim.Optimizer.step`. `receiver` is the value
    a method is called on. `discarded`: the result is thrown away (an expression statement).
    """

    target: str
    args: Sequence[Value]
    kwargs: Mapping[str, Value]
    receiver: Value | None
    result: Value
    discarded: bool = False
    starred: bool = False  # *args or **kwargs of unknown content were passed

    def argument(self, position: int, name: str) -> Value | None:
        """The argument at `position` (the receiver not counted) or named `name`; None when it was not given."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if position < len(self.args) else None


@dataclass(slots=True, eq=False)
class Branch(Event):
    """A Python truth test of a value: `kind` is if, while, ifexp, assert, not, and, or, filter (a comprehension's if,
    or the function given to `filter`).

    `node` is the tested expression, `owner` the statement or expression that tests it. For `a and b` tested by an `if`,
    one event is emitted for each operand, with `owner` the `if`.
    """

    test: Value
    kind: str
    owner: ast.AST


@dataclass(slots=True, eq=False)
class Convert(Event):
    """A value turned into a Python number or text: `kind` is int, float, bool, complex, str, format, %, index (list or
    range index), slice (a tensor's slice bound), range, math, round, len-arg (a size argument of a torch function),
    order (a key that Python sorts by)."""

    value: Value
    kind: str


@dataclass(slots=True, eq=False)
class Read(Event):
    """`base[index]` read, base a tensor or a container."""

    base: Value
    index: Value
    result: Value


@dataclass(slots=True, eq=False)
class Write(Event):
    """`base[index] = value`; `augmented` is the operator of `base[index] += value`, else ""."""

    base: Value
    index: Value
    value: Value
    augmented: str = ""


@dataclass(slots=True, eq=False)
class Load(Event):
    """`value.name` read, value a tensor or an object the models know; `target`: `Tensor.name`, `torch.nn.LSTM.name`."""

    value: Value
    name: str
    target: str


@dataclass(slots=True, eq=False)
class Touch(Event):
    """A name or an attribute is read that holds a sparse tensor, or a list of them: kinds that no graph can take in.

    `made_here`: by this function, for a name that it assigned.
    """

    value: Value
    made_here: bool


@dataclass(slots=True, eq=False)
class Store(Event):
    """`object.name = value`, object a tensor, a module or an object the models know; `target` as for Load."""

    object: Value
    name: str
    value: Value
    target: str


@dataclass(slots=True, eq=False)
class Iterate(Event):
    """A Python iteration over a tensor or a loader: `kind` is for, comprehension, unpack, star, call (list(t))."""

    value: Value
    kind: str


@dataclass(slots=True, eq=False)
class Compare(Event):
    """A comparison or membership test with a tensor operand; `operator` is "==", "in", "not in", "is", …"""

    left: Value
    right: Value
    operator: str


@dataclass(slots=True, eq=False)
class Enter(Event):
    """`with value:`; `target` as for Call where the context manager is a call outside the project, else "".

    `kept`: an object of a class of the project that was made before the code at hand runs: an attribute of a module,
    a variable of the file, or what a caller that nobody saw passes.
    """

    value: Value
    target: str
    kept: bool = False


@dataclass(slots=True, eq=False)
class Raise(Event):
    """A raise statement, or an `assert` whose test is not a tensor (`kind` assert); `message` its message or None."""

    kind: str
    message: Value | None
    message_node: ast.AST | None


@dataclass(slots=True, eq=False)
class Accumulate(Event):
    """A loop-carried update `name = name + value` or `name += value`, or `name.append(value)`, with a tensor `value`.

    `operator` is "+", "*", "append", …; `total` the value before; `loop` the innermost loop.
    """

    name: str
    operator: str
    total: Value
    value: Value
    loop: Loop


@dataclass(slots=True, eq=False)
class LoopEnd(Event):
    """A loop is done: what it ran over and what its body did (see Loop)."""

    loop: Loop


@dataclass(slots=True, eq=False)
class Define(Event):
    """A class or function defined inside a function (`kind` class or def), or at module level with decorators.

    `decorators` are the decorators' values (External names for what is outside the project)."""

    kind: str
    name: str
    decorators: Sequence[Value] = field(default_factory=tuple)


@dataclass(slots=True, eq=False)
class Import(Event):
    """An import statement inside a function: the names it imports."""

    names: Sequence[str]
