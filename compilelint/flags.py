"""Code that only a flag leads to that is off by default, and that no call which was seen turns on."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compilelint.engine.aside import is_test
from compilelint.engine.engine import Engine
from compilelint.engine.summary import Summary
from compilelint.engine.values import Const, Instance, Value
from compilelint.source.module import ClassInfo, FunctionInfo, Module
from compilelint.source.walk import walk

MAX_DEPTH = 12  # of what is followed from flag to flag
# modes that are as common as their opposite
MODES = re.compile(
    r"_*(is_)?(train(ing)?|eval(uat\w+)?|infer\w*|test(ing)?|deterministic|stochastic|sample|do_sample|use_cache)"
)
# of settings that nobody knows: for more output, by Python's and by transformers' names, and what that leaves off
LEFT_OFF = re.compile(
    r"verbose|debug|output_(\w+_)?(attentions?|hidden_states|scores|logits)|torchscript|model_parallel"
    r"|gradient_checkpointing"
)
# methods that are for a user to call
SWITCHES = re.compile(
    r"(set|enable|disable|use|toggle|turn|switch|activate|(de)?parallelize|merge)(_\w+)?|\w+_(enable|disable|on|off)"
)
# what a command line's options and settings are called
ARGUMENTS = re.compile(r"_?(\w+_)?(args?|arguments|opts?|options|flags)")
SETTINGS = re.compile(r"\w*(config|cfg|args?|opts?|options|params|settings)\w*")
ADDED = re.compile(r"add_argument\(([^()]*)")
OPTION = re.compile(r"""["']--([\w-]+)["']""")
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
Held = bool | str | None  # the truth of a flag, or the text of a mode; None for what nobody can say
Calls = Callable[[FunctionInfo], list[tuple[Summary, ast.Call]]]


@dataclass(frozen=True, slots=True)
class Flag:
    """A parameter, or an attribute of a class's objects."""

    owner: FunctionInfo | ClassInfo
    name: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of a module, and how it comes out where a node is reached."""

    module: Module
    test: ast.expr
    truth: bool


class Flags:
    """For when all is interpreted."""

    def __init__(self, engine: Engine, calls: Calls) -> None:
        self.engine = engine
        self._calls = calls
        self._known: dict[Flag, Held] = {}
        self._reached: dict[tuple[FunctionInfo, ast.AST], Condition | None] = {}
        self._behind: dict[FunctionInfo, Condition | None] = {}
        self._called: dict[FunctionInfo, list[tuple[Summary, ast.Call]]] = {}
        self._loose: set[tuple[str, bool | str]] | None = None
        self._loose_names: set[str] | None = None
        self._owners: dict[str, list[ClassInfo]] | None = None
        self._options: set[str] | None = None
        self._depth = 0
        self._modules = dict.fromkeys(summary.module for summary in engine.summaries())

    def release(self) -> None:
        """Gives up what finds callers, which leads back to who asks."""
        self._calls = _uncalled

    def before(self, node: ast.AST, module: Module, info: FunctionInfo | None) -> Condition | None:
        """The test that must come out otherwise than by default for a node of a function to be reached."""
        if info is None:
            return None
        return self._on_the_way(node, module, info) or self.before_calls(info)

    def _on_the_way(self, node: ast.AST, module: Module, info: FunctionInfo) -> Condition | None:
        """The same of the function's own tests. What leads to a node is what leads to the one before, and one test."""
        passed: list[tuple[FunctionInfo, ast.AST]] = []
        here: ast.AST | None = node
        found: Condition | None = None
        while here is not None and found is None:
            if (info, here) in self._reached:
                found = self._reached[info, here]
                break
            passed.append((info, here))
            tests, here = leading(here, module)
            found = next((each for each in tests if self._holds(each.test, info) is (not each.truth)), None)
        self._reached.update(dict.fromkeys(passed, found))
        return found

    def before_calls(self, info: FunctionInfo) -> Condition | None:
        """The same of all calls of a function; what nobody is seen to call, or a module's forward, may run."""
        if info in self._behind:
            return self._behind[info]
        self._behind[info] = None
        found: Condition | None = None
        calls = [(by, node) for by, node in self.in_use(info) if by.info is not info]
        if info.name != "forward" and not (info.name.startswith("__") and info.name.endswith("__")):
            for by, node in calls:
                found = self.before(node, by.module, by.info)
                if found is None:
                    break
        self._behind[info] = found
        return found

    def in_use(self, info: FunctionInfo) -> list[tuple[Summary, ast.Call]]:
        """The calls of a function that others than tests make, each once."""
        found = self._called.get(info)
        if found is None:
            each = {node: (by, node) for by, node in self._calls(info) if not is_test(by.module)}
            found = self._called[info] = list(each.values())
        return found

    # -- what is known of a value's truth ------------------------------------------------------------------------------

    def _holds(self, node: ast.expr, info: FunctionInfo) -> Held:
        """What an expression comes to as long as no flag is turned."""
        if self._depth >= MAX_DEPTH:
            return None
        self._depth += 1
        try:
            return self._found(node, info)
        finally:
            self._depth -= 1

    def _found(self, node: ast.expr, info: FunctionInfo) -> Held:
        match node:
            case ast.Constant():
                return _constant(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                held = self._holds(operand, info)
                return not held if isinstance(held, bool) else None
            case ast.BoolOp(op=op, values=values):
                decides = isinstance(op, ast.Or)
                found = [self._holds(value, info) for value in values]
                if decides in found:
                    return decides
                return not decides if all(isinstance(held, bool) for held in found) else None
            case ast.IfExp(body=body, orelse=orelse):
                held = self._holds(body, info)
                return held if held == self._holds(orelse, info) else None
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
                left_out = self._is_left_out(left, info) or (
                    self._is_setting(left, info) and self._holds(left, info) is False
                )
                return isinstance(op, ast.Is) if left_out else None
            case ast.Compare(
                left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[ast.Constant(value=str(text))]
            ):
                mode = self._holds(left, info)
                return (mode == text) is isinstance(op, ast.Eq) if isinstance(mode, str) else None
            case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
                return False if self._holds(left, info) is False else None
            case ast.Call(func=ast.Name(id="bool"), args=[value]):
                return self._holds(value, info)
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), given]):
                return self._left(name, self._holds(given, info))
            case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant(value=str(name)), given]):
                return self._left(name, self._holds(given, info))
            case ast.Name(id=name):
                return self._of_name(name, info)
            case ast.Attribute(value=owner, attr=name):
                return self._of_attribute(owner, name, info)
        return None

    def _is_setting(self, node: ast.expr, info: FunctionInfo) -> bool:
        """Whether an attribute is asked for that is made of a number or a text that is None by default."""
        match node:
            case ast.Attribute(value=ast.Name() as owner, attr=name):
                value = self._object(owner, info)
                cls = value.info if isinstance(value, Instance) else None
                made = self.engine.method(cls, "__init__") if cls is not None else None
                return made is not None and _is_optional(name.lstrip("_"), made)
        return False

    def _is_left_out(self, node: ast.expr, info: FunctionInfo) -> bool:
        """Whether a parameter is asked for that is None by default, and that no call in sight passes.

        Modules are called by whoever uses a library, with masks and the like.
        """
        if not isinstance(node, ast.Name) or MODES.fullmatch(node.id) or info.name in ("forward", "__call__"):
            return False
        name, default = node.id, info.default(node.id)
        calls = [call for _, call in self.in_use(info)]
        if not calls or not isinstance(default, ast.Constant) or default.value is not None:
            return False
        if any(True for _ in _set_to(name, info)) or name in self._named_loosely():
            return False
        return all(_argument(call, info, name) is None and not _is_spread(call) for call in calls)

    def _named_loosely(self) -> set[str]:
        """What methods of objects which nobody knows are given by name."""
        if self._loose_names is None:
            self._loose_names = {name for name, _ in self._loosely()}
        return self._loose_names

    def _of_name(self, name: str, info: FunctionInfo) -> Held:
        """What a parameter or local variable is given, and set to, alike."""
        args = info.node.args
        is_parameter = any(a.arg == name for a in args.posonlyargs + args.args + args.kwonlyargs)
        if MODES.fullmatch(name):
            return None
        flag = Flag(info, name)
        if flag not in self._known:
            default = info.default(name)
            self._known[flag] = self._holds(default, info) if default is not None else None
            found = {self._holds(value, info) if value is not None else None for value in _set_to(name, info)}
            if is_parameter:
                found |= self._given(info, name)
            elif not found and (outer := _around(info)) is not None:
                found.add(self._of_name(name, outer))
            self._known[flag] = found.pop() if len(found) == 1 else None
        return self._known[flag]

    def _given(self, info: FunctionInfo, name: str) -> set[Held]:
        """What a parameter is given: its default, and what calls pass."""
        default = info.default(name)
        found: set[Held] = set()
        if default is not None:
            held = _constant(default)
            if held is None or any(other == name and value != held for other, value in self._passed_loosely()):
                return {None}
            found.add(held)
        for by, call in self.in_use(info):
            passed = _argument(call, info, name)
            if passed is None or (by.info is not None and self._is_foreign(passed, name, by.info)):
                continue
            found.add(self._holds(passed, by.info) if by.info is not None else None)
        return found or {None}

    def _is_foreign(self, passed: ast.expr, name: str, info: FunctionInfo) -> bool:
        """Whether an attribute of the same name is passed that a base sets which nobody knows."""
        match passed:
            case ast.Attribute(value=ast.Name() as owner, attr=attr) if attr == name and info.cls is not None:
                value = self._object(owner, info)
                cls = value.info if isinstance(value, Instance) else None
                return cls is info.cls and self.engine.attribute(cls, name) is None
        return False

    def _passed_loosely(self) -> set[tuple[str, bool | str]]:
        """The constants that methods of objects which nobody knows are given by name."""
        if self._loose is None:
            self._loose = {
                (name, value.value)
                for name, value in self._loosely()
                if isinstance(value, Const) and isinstance(value.value, (bool, str))
            }
        return self._loose

    def _loosely(self) -> Iterator[tuple[str, Value]]:
        """What methods of objects which nobody knows are given by name, but by tests."""
        for summary in self.engine.summaries():
            for _, _, kwargs in summary.unresolved if not is_test(summary.module) else ():
                yield from kwargs.items()

    def _of_attribute(self, owner: ast.expr, name: str, info: FunctionInfo) -> Held:
        if MODES.fullmatch(name):
            return None
        value = self._object(owner, info)
        if isinstance(value, Instance) and value.info is not None:
            return self._of_class(value.info, name)
        if LEFT_OFF.fullmatch(name):
            return False
        match owner:
            case ast.Name(id=given) if ARGUMENTS.fullmatch(given):
                return self._left(name, False) if name in self._switched_on() else None
            case ast.Attribute(attr=part) | ast.Name(id=part) if not SETTINGS.fullmatch(part):
                return self._of_modules(name)
        return None

    def _of_modules(self, name: str) -> Held:
        """What is off in all classes of modules that have such an attribute, whichever of them an object is."""
        if self._owners is None:
            self._owners = {}
            for module in self._modules:
                for cls in module.classes:
                    for stored in cls.stores if "torch.nn.Module" in self.engine.bases(cls) else ():
                        self._owners.setdefault(stored, []).append(cls)
        found = {self._of_class(cls, name) for cls in self._owners.get(name, ())}
        return False if found == {False} else None

    def _switched_on(self) -> set[str]:
        """The options of the command lines that are off unless they are given: `action="store_true"`."""
        if self._options is None:
            off: set[str] = set()
            others: set[str] = set()
            for module in self._modules:
                for text in ADDED.findall(module.text):
                    for option in OPTION.findall(text):
                        (off if "store_true" in text else others).add(option.replace("-", "_"))
            self._options = off - others
        return self._options

    def _object(self, node: ast.expr, info: FunctionInfo) -> Value | None:
        """The object that `self`, `self.config` or a parameter `config` is."""
        match node:
            case ast.Name(id=name):
                if name == info.me:
                    return self.engine.receiver(info)
                return self.engine.parameters(info).get(name)
            case ast.Attribute(value=owner, attr=name):
                value = self._object(owner, info)
                if isinstance(value, Instance) and value.info is not None:
                    return self.engine.attribute(value.info, name)
        return None

    def _of_class(self, info: ClassInfo, name: str) -> Held:
        flag = Flag(info, name)
        if flag not in self._known:
            self._known[flag] = None
            asked = self.engine.method(info, name)
            answer = _answer(asked) if asked is not None else None
            held = self._stored(info, name) if answer is None or asked is None else self._holds(answer, asked)
            self._known[flag] = held
        return self._known[flag]

    def _stored(self, info: ClassInfo, name: str) -> Held:
        """What an attribute is set to, alike, but by methods that are for a user to call."""
        bases = [base for base in self.engine.mro(info) if isinstance(base, ClassInfo)]
        writers = [writer for base in bases for writer in base.stores.get(name, ())]
        fillers = [filler for base in bases for filler in base.fills.get(name, ())]
        filled = bool(fillers) and all(map(self._switches, fillers))  # what is empty is, then, until a user calls them
        found: set[Held] = set()
        for writer in writers:
            if not self._switches(writer):
                values = _set_to(name, writer, own=True)
                found |= {
                    None if v is None else False if filled and _is_empty(v) else self._holds(v, writer) for v in values
                }
        given = next((base.attributes[name] for base in bases if name in base.attributes), None)
        if filled and given is not None and _is_empty(given):
            found.add(False)
        if isinstance(given, ast.Constant):
            found.add(_constant(given))
        elif not found and LEFT_OFF.fullmatch(name):
            return False
        held = found.pop() if len(found) == 1 else None
        return self._left(name, held, from_outside=True)

    def _switches(self, info: FunctionInfo) -> bool:
        """Whether a method is for a user to call, and nothing else does."""
        return SWITCHES.fullmatch(info.name) is not None and not self.in_use(info)

    def _left(self, name: str, held: Held, *, from_outside: bool = False) -> Held:
        """What stays so, unless another value is written anywhere: `x.name = True`, `f(name=True)`."""
        if held is None:
            return None
        for module in self._modules:
            for value, outside in module.wording.settings.get(name, ()):
                other = value is (not held) if isinstance(held, bool) else isinstance(value, str) and value != held
                if other and (outside or not from_outside) and not is_test(module):
                    return None
        return held


def _answer(info: FunctionInfo) -> ast.expr | None:
    """What a property is that does nothing but return an expression."""
    body = info.node.body if "property" in info.decorators and isinstance(info.node.body, list) else []
    match [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]:
        case [ast.Return(value=ast.expr() as answer)]:
            return answer
    return None


def _is_empty(node: ast.AST) -> bool:
    """Whether an expression makes an empty list, set or dictionary."""
    match node:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id="list" | "set" | "dict"), args=[], keywords=[]):
            return True
    return False


def _constant(node: ast.expr) -> Held:
    """A flag's or a mode's value as written."""
    match node:
        case ast.Constant(value=value) if value is True or not value:
            return bool(value)
        case ast.Constant(value=str(text)):
            return text
    return None


def leading(node: ast.AST, module: Module) -> tuple[list[Condition], ast.AST | None]:
    """What a node is reached from, the statement before it or what is around it, and how tests on the way come out."""
    around = module.parents.get(node)
    if isinstance(node, ast.stmt) and around is not None and (place := (block := _block(node, around)).index(node)):
        return _left(block[place - 1], module), block[place - 1]
    found: list[Condition] = []
    match around:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            for side, truth in ((around.body, True), (around.orelse, False)):
                if node is side or (isinstance(side, list) and node in side):
                    found.append(Condition(module, test, truth))
        case ast.BoolOp(op=op, values=values):
            earlier = values[: values.index(node)] if node in values else []
            found = [Condition(module, value, isinstance(op, ast.And)) for value in earlier]
    return found, None if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) else around


def _block(statement: ast.stmt, around: ast.AST) -> list[ast.stmt]:
    """The statements that one stands among."""
    return next(block for _, block in ast.iter_fields(around) if isinstance(block, list) and statement in block)


def _left(statement: ast.stmt, module: Module) -> list[Condition]:
    """The test of an `if`, one side of which leaves the block, where what follows is reached."""
    match statement:
        case ast.If(test=test, body=[*_, last]) if isinstance(last, LEAVES):
            return [Condition(module, test, False)]
        case ast.If(test=test, orelse=[*_, last]) if isinstance(last, LEAVES):
            return [Condition(module, test, True)]
    return []


def _is_optional(name: str, info: FunctionInfo) -> bool:
    """Whether a parameter is annotated as a number or a text, and None by default."""
    default = info.default(name)
    args = info.node.args
    noted = next((a.annotation for a in args.posonlyargs + args.args + args.kwonlyargs if a.arg == name), None)
    if noted is None or not isinstance(default, ast.Constant) or default.value is not None:
        return False
    names = {n.id for n in ast.walk(noted) if isinstance(n, ast.Name)} - {"Optional", "Union"}
    return bool(names) and names <= {"bool", "int", "float", "str"}


def _around(info: FunctionInfo) -> FunctionInfo | None:
    """The function that a function is defined in."""
    node: ast.AST | None = info.node if "<locals>" in info.qualname else None
    while node is not None:
        node = info.module.parents.get(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return info.module.function_of.get(node)
    return None


def _set_to(name: str, info: FunctionInfo, own: bool = False) -> Iterator[ast.expr | None]:
    """What a function sets a name to, or an attribute of its own object; None for what no expression says."""
    args = info.node.args.posonlyargs + info.node.args.args
    me = args[0].arg if args else ""

    def is_it(target: ast.AST) -> bool:
        if own:
            return isinstance(target, ast.Attribute) and target.attr == name and getattr(target.value, "id", "") == me
        return isinstance(target, ast.Name) and target.id == name

    for node in walk(info.node):
        match node:
            case ast.Assign(targets=targets, value=value):
                if any(map(is_it, targets)):
                    yield value
                elif any(is_it(part) for target in targets for part in ast.walk(target)):
                    yield None
            case ast.AnnAssign(target=target, value=ast.expr() as value) if is_it(target):
                yield value
            case ast.NamedExpr(target=target, value=value) if is_it(target):
                yield value
            case ast.AugAssign(target=target) if is_it(target):
                yield None
            case ast.For(target=target) | ast.comprehension(target=target):
                if any(map(is_it, ast.walk(target))):
                    yield None
            case ast.withitem(optional_vars=ast.expr() as target) if any(map(is_it, ast.walk(target))):
                yield None


def _argument(call: ast.Call, info: FunctionInfo, name: str) -> ast.expr | None:
    """What a call passes for a parameter, as written; None where it leaves that out, or nobody can tell."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [a.arg for a in info.node.args.posonlyargs + info.node.args.args]
    if info.me is not None and not _names_class(call.func, info):
        names = names[1:]
    if name not in names or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    place = names.index(name)
    return call.args[place] if place < len(call.args) else None


def _is_spread(call: ast.Call) -> bool:
    """Whether a call passes what is in a list or dictionary: `f(*args)`, `f(**kwargs)`."""
    return any(isinstance(arg, ast.Starred) for arg in call.args) or any(k.arg is None for k in call.keywords)


def _names_class(func: ast.expr, info: FunctionInfo) -> bool:
    """`Base.__init__(self, …)`: the object is passed as an argument."""
    match func:
        case ast.Attribute(value=ast.Name(id=owner), attr=attr):
            return attr == info.name == "__init__" and owner[:1].isupper()
    return False


def _uncalled(_: FunctionInfo) -> list[tuple[Summary, ast.Call]]:
    return []
