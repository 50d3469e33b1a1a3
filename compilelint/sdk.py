"""The one module that rules import: a rule's declaration, the events it reads, and what it reports.

A rule is one file under `rules/`. Its module docstring is its documentation, its `rule` the declaration, and its checks
are generators that subscribe to events:

    rule = Rule("CL101", "branch-on-tensor", effects=("graph-break", "sync"), gb_types=("Data-dependent branching",))

    @rule.on(Branch)
    def check(event: Branch, ctx: Context) -> Iterator[Report]:
        if (tensor := tensor_of(event.test)) is not None:
            yield Report(event.node, f"`{ctx.source(event.node)}` …", because=tensor)

A check says what a site does in full (`effects`); the caller drops the effects that don't matter in the region the site
stands in (a break where nothing compiles, a sync in cold code), and the report when none is left.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from compilelint.breaks import (
    branch_effects,
    branch_node,
    break_effects,
    constant,
    cost,
    is_exceptional,
    is_given,
    is_input,
    made_by,
    output_report,
    tensor_in,
    words,
)
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
    Loop,
    LoopEnd,
    Raise,
    Read,
    Site,
    Store,
    Touch,
    Write,
)
from compilelint.engine.values import (
    BATCH,
    ITERATED,
    LOADED,
    LOADER,
    MADE_ON_HOST,
    NONE,
    OF_LOADED,
    UNKNOWN,
    Class,
    Const,
    Device,
    External,
    Flow,
    Function,
    Instance,
    Map,
    Method,
    Namespace,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    data_dependent,
    is_drawn,
    is_fallback,
    is_tokenized,
    on_device,
    options,
    tensor_of,
    walk,
    without_none,
)
from compilelint.finding import Applicability, Effect, Region, Severity
from compilelint.idioms import (
    alike,
    copied_from,
    enclosing,
    flag,
    in_step,
    index_parts,
    is_detached,
    is_host_number,
    is_made_here,
    is_non_blocking,
    is_number,
    is_passed_otherwise,
    is_reported,
    made_on_device,
    masks,
    moves_to_device,
    names_in,
    on_host,
    read_kind,
    target_names,
    top_level,
    used_outside,
)
from compilelint.models.sparse import holds_sparse
from compilelint.rewrites.asked import any_of_list, compare_on_device, select_row
from compilelint.rewrites.attention import pass_mask_always
from compilelint.rewrites.branches import (
    assert_on_device,
    index_instead,
    keep_tensor,
    reduce_on_device,
    run_all_rounds,
    select_instead,
    skip_while_compiling,
    stop_later,
)
from compilelint.rewrites.class_counts import known_classes
from compilelint.rewrites.collected import collect_in_loop, read_schedule, stack_items, stack_literal
from compilelint.rewrites.deferred import read_after_loop, sum_after_loop
from compilelint.rewrites.dense import dense_rows
from compilelint.rewrites.finite import ask_all, check_all_first, is_asked_of_all
from compilelint.rewrites.finite_guards import guard_steps
from compilelint.rewrites.flow import changed_in, used_after
from compilelint.rewrites.hoisted import ask_once, copy_once, seed_before_call, trace_autograd, traces_autograd
from compilelint.rewrites.hosted import take_from_host
from compilelint.rewrites.kept import kept_as_tensor, read_before
from compilelint.rewrites.masked import first_match, keep_shape
from compilelint.rewrites.pertensor import (
    Each,
    Lists,
    are_distinct,
    comprehension_of,
    is_tensor_place,
    loop_of,
    overlap,
)
from compilelint.rewrites.stopped import over_the_mask
from compilelint.rewrites.twins import (
    argument,
    ask_the_list,
    counted_by_list,
    pass_the_list,
    read_the_list,
    written_calls,
)
from compilelint.rewrites.unconditional import run_always
from compilelint.rewrites.wrapped import wrap_around, wrap_extension

if TYPE_CHECKING:
    from compilelint.fix.rewriter import Rewriter

__all__ = [  # noqa: RUF022  # by what they are for, as docs/events.md lists them
    # A rule and its reports
    "Applicability",
    "Context",
    "Effect",
    "Fix",
    "Region",
    "Report",
    "Rule",
    "Severity",
    # Events
    "Accumulate",
    "Branch",
    "Call",
    "Compare",
    "Convert",
    "Define",
    "Enter",
    "Event",
    "Import",
    "Iterate",
    "Load",
    "Loop",
    "LoopEnd",
    "Raise",
    "Read",
    "Site",
    "Store",
    "Touch",
    "Write",
    # Values
    "BATCH",
    "ITERATED",
    "LOADED",
    "LOADER",
    "MADE_ON_HOST",
    "NONE",
    "OF_LOADED",
    "UNKNOWN",
    "Class",
    "Const",
    "Device",
    "External",
    "Flow",
    "Function",
    "Instance",
    "Map",
    "Method",
    "Namespace",
    "Scalar",
    "Seq",
    "Tensor",
    "Union",
    "Unknown",
    "Value",
    # Questions about a value
    "break_effects",
    "constant",
    "data_dependent",
    "flag",
    "holds_sparse",
    "index_parts",
    "is_drawn",
    "is_fallback",
    "is_given",
    "is_host_number",
    "is_input",
    "is_number",
    "is_tokenized",
    "made_by",
    "masks",
    "on_device",
    "on_host",
    "options",
    "tensor_in",
    "tensor_of",
    "walk",
    "without_none",
    # Questions about a place
    "Each",
    "Lists",
    "alike",
    "are_distinct",
    "argument",
    "branch_effects",
    "branch_node",
    "changed_in",
    "comprehension_of",
    "copied_from",
    "cost",
    "enclosing",
    "in_step",
    "is_asked_of_all",
    "is_detached",
    "is_exceptional",
    "is_made_here",
    "is_non_blocking",
    "is_passed_otherwise",
    "is_reported",
    "is_tensor_place",
    "loop_of",
    "moves_to_device",
    "names_in",
    "output_report",
    "overlap",
    "read_kind",
    "target_names",
    "top_level",
    "traces_autograd",
    "used_after",
    "used_outside",
    "words",
    "written_calls",
    # Fixes that rules share
    "any_of_list",
    "ask_all",
    "ask_once",
    "ask_the_list",
    "assert_on_device",
    "check_all_first",
    "collect_in_loop",
    "compare_on_device",
    "copy_once",
    "counted_by_list",
    "dense_rows",
    "first_match",
    "guard_steps",
    "index_instead",
    "keep_shape",
    "keep_tensor",
    "kept_as_tensor",
    "known_classes",
    "made_on_device",
    "over_the_mask",
    "pass_mask_always",
    "pass_the_list",
    "read_after_loop",
    "read_before",
    "read_schedule",
    "read_the_list",
    "reduce_on_device",
    "run_all_rounds",
    "run_always",
    "seed_before_call",
    "select_instead",
    "select_row",
    "skip_while_compiling",
    "stack_items",
    "stack_literal",
    "stop_later",
    "sum_after_loop",
    "take_from_host",
    "trace_autograd",
    "wrap_around",
    "wrap_extension",
]

Version = tuple[int, int]


class Frame(Protocol):
    """A function as it was interpreted with certain arguments."""

    @property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
        """The function; None at module level."""

    def value(self, node: ast.AST) -> Value:
        """What the engine believes of any expression of this function, in this context (UNKNOWN if not evaluated)."""

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The syntactic parent of a node."""

    def calls(self) -> Sequence[tuple[Frame, ast.Call]]:
        """All calls of this function that the run saw, each with the frame it stands in."""

    def passed(self, name: str) -> Sequence[Value]:
        """What a parameter is in each context that a call of this function was seen to make."""

    def is_here(self, frame: Frame) -> bool:
        """Whether a frame's code stands in the file of this one."""


class Context(Frame, Protocol):
    """What a check may ask about the place an event happened at."""

    @property
    def region(self) -> Region:
        """Where the site stands: compiled code, a forward pass, a step loop, library or cold code."""

    @property
    def torch(self) -> Version:
        """The torch release in question: (2, 13)."""

    @property
    def python(self) -> Version:
        """The Python release in question: (3, 11)."""

    @property
    def compiled(self) -> bool:
        """Whether Dynamo traces this site, as far as is known (compiled and forward; library: `--compiled all`)."""

    def source(self, node: ast.AST) -> str:
        """The source text of a node on one line, shortened to 60 characters."""

    def feeds_device(self, node: ast.AST) -> bool:
        """Whether batches of the DataLoader that the call `node` makes are copied to a device, as far as calls tell."""

    def torch_says(self, target: str) -> dict[str, Any]:
        """What this torch release's tables say of a function or method (`torch.nonzero`, `Tensor.item`), or {}."""

    def consequence(self, site: Site) -> str:
        """What a graph break at this site costs, for the message: the graph is split, the frame is skipped, …"""


@dataclass(slots=True, frozen=True)
class Fix:
    """A rewrite of one finding. `build` is called only when fixing; it edits through the Rewriter (see
    fix/rewriter.py), and may raise `compilelint.fix.rewriter.CannotFix` when the code at hand is not of a form it can
    rewrite."""

    title: str
    applicability: Applicability
    build: Callable[[Rewriter], None]
    why: str = ""

    def __post_init__(self) -> None:
        _require("title", self.title, str)
        _require("applicability", self.applicability, Applicability)


@dataclass(slots=True)
class Report:
    """One site. `because`: the value whose history is the reason; `effects`, `gb_types` default to the rule's.

    `number`: the break reads the number in the 0-d tensor `because`, which is known where another break lies between.
    """

    node: ast.AST
    message: str
    because: Value | None = None
    effects: Sequence[Effect] | None = None
    gb_types: Sequence[str] | None = None
    hint: str = ""
    severity: Severity | None = None
    fix: Fix | None = None
    number: bool = False

    def __post_init__(self) -> None:  # here the fault is that of the rule alone
        _require("node", self.node, ast.AST)
        _require("message", self.message, str)
        _require("hint", self.hint, str)
        _require("severity", self.severity, Severity, type(None))
        _require("fix", self.fix, Fix, type(None))


def _require(name: str, value: object, *types: type) -> None:
    if not isinstance(value, types):
        raise TypeError(f"`{name}` is {type(value).__name__}, not {types[0].__name__}")


Check = Callable[[Any, Context], Iterator[Report]]
C = TypeVar("C", bound=Check)


@dataclass(slots=True, frozen=True)
class Subscription:
    """`targets` narrows events that have one: exact names, or a prefix that ends in `*` (`logging.Logger.*`)."""

    event: type[Event]
    targets: tuple[str, ...]
    check: Check


@dataclass(slots=True)
class Rule:
    """The declaration of a rule.

    `fixable` is how far the least safe of its fixes may be applied. `in_setup`: its effects matter in cold code too,
    since a setting or a misuse stands where things are set up.
    """

    code: str
    name: str
    effects: tuple[Effect, ...]
    gb_types: tuple[str, ...] = ()
    fixable: Applicability | None = None
    in_setup: bool = False
    subscriptions: list[Subscription] = field(default_factory=list)
    documentation: str = ""  # the module docstring, set by the registry

    @property
    def versions(self) -> str:
        """In which torch releases its construct breaks or syncs: the first sentence of the documentation on that."""
        _, _, section = self.documentation.partition("\n## Versions\n")
        first, _, _ = " ".join(section.partition("\n## ")[0].split()).partition(". ")
        return first.rstrip(".")

    def on(self, event: type[Event], *targets: str) -> Callable[[C], C]:
        """Subscribe the decorated generator to events of a type, or to those of them with certain targets."""

        def subscribe(check: C) -> C:
            yields: bool = inspect.isgeneratorfunction(check)
            if not yields:
                name = getattr(check, "__name__", repr(check))
                raise TypeError(f"`{name}` is not a generator function: a check yields its reports, or nothing")
            self.subscriptions.append(Subscription(event, targets, check))
            return check

        return subscribe
