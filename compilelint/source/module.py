"""One source file: text, syntax tree, its functions and classes, and what its top level binds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from compilelint.source import walk
from compilelint.source.parents import Parents
from compilelint.source.wording import Wording

_GLOBAL = re.compile(r"(?:^|[\n\r:;])[ \t\f]*global[ \t\f\\]")

_FILLS = frozenset("append extend insert add update setdefault".split())

Def = ast.FunctionDef | ast.AsyncFunctionDef
# statements that hold others and make no scope; TryStar came with Python 3.11
BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.AsyncWith, ast.AsyncFor, getattr(ast, "TryStar", ast.Try))


@dataclass(slots=True, eq=False)
class FunctionInfo:
    """A function or lambda of the project. `qualname` is `Class.method` or `outer.<locals>.inner`."""

    module: Module
    qualname: str
    node: Def | ast.Lambda
    cls: ClassInfo | None = None
    decorators: tuple[str, ...] = ()  # dotted source text, calls stripped; resolved by the engine
    generator: bool | None = None  # whether it yields; found by the engine when first asked
    uses_files: bool | None = None  # likewise
    once: bool | None = None  # whether it runs once; found when first asked
    draws: bool | None = None  # likewise, whether it makes a figure
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.qualname.rpartition(".")[2]

    @property
    def id(self) -> str:
        return f"{self.module.name}:{self.qualname}"

    @property
    def me(self) -> str | None:
        """The name of a method's `self` or `cls`."""
        args = self.node.args.posonlyargs + self.node.args.args
        return args[0].arg if args and self.cls is not None and "staticmethod" not in self.decorators else None

    def mentions(self, words: frozenset[str]) -> bool:
        """Whether one of the words stands in it: what else is looked for there can't be."""
        return self.module.wording.mentions(words, self.node)

    def default(self, parameter: str) -> ast.expr | None:
        """The default value of a parameter, as written; None where it has none."""
        args = self.node.args
        plain = args.posonlyargs + args.args
        for arg, default in zip(reversed(plain), reversed(args.defaults), strict=False):
            if arg.arg == parameter:
                return default
        for arg, maybe in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if arg.arg == parameter:
                return maybe
        return None


Writers = dict[str, list[FunctionInfo]]  # by attribute of `self`, the methods that write it


@dataclass(slots=True, eq=False)
class ClassInfo:
    module: Module
    qualname: str
    node: ast.ClassDef
    methods: dict[str, FunctionInfo] = field(default_factory=dict)
    attributes: dict[str, ast.expr] = field(default_factory=dict)  # what variables of the class are set to
    annotations: dict[str, ast.expr] = field(default_factory=dict)
    bodies: list[FunctionInfo] = field(default_factory=list)  # every function defined in it, overridden definitions too
    _writers: tuple[Writers, Writers] | None = None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def id(self) -> str:
        return f"{self.module.name}:{self.qualname}"

    @property
    def stores(self) -> dict[str, list[FunctionInfo]]:
        """`self.<name> = …`: by name, the methods that do it."""
        return self._written_by()[0]

    @property
    def fills(self) -> dict[str, list[FunctionInfo]]:
        """`self.<name>.append(…)`, `self.<name>[…] = …`: by name, the methods that put something into a container."""
        return self._written_by()[1]

    def _written_by(self) -> tuple[Writers, Writers]:
        if self._writers is None:
            self._writers = {}, {}
            for info in self.bodies:
                assert not isinstance(info.node, ast.Lambda)
                written = _self_writes(info.node, calls=info.mentions(_FILLS))
                for writers, names in zip(self._writers, written, strict=True):
                    for name in names:
                        writers.setdefault(name, []).append(info)
        return self._writers


class Module:
    """A parsed file. `name`: its import name as far as its packages tell; `package`: where relative imports start."""

    def __init__(self, path: Path, name: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.name = name
        self.wording = Wording(text)
        self.tree = tree
        self.installed = False  # of a package that imports are followed into: read for its values, never reported on
        self.is_package = path.name == "__init__.py"
        self.package = name if self.is_package else name.rpartition(".")[0]
        self.functions: list[FunctionInfo] = []
        self.classes: list[ClassInfo] = []
        self.function_of: dict[ast.AST, FunctionInfo] = {}
        self.class_of: dict[ast.AST, ClassInfo] = {}
        self.bindings: dict[str, list[ast.AST]] = {}  # top-level name → statements or definitions that bind it
        self.of_tests: bool | None = None  # whether it belongs to a test suite; found when first asked
        self._parents: Parents | None = None
        self._shared: frozenset[str] | None = None
        self._class_named: dict[str, ClassInfo] | None = None
        self._index(tree.body, "", None)
        for statement in _top_level(tree.body):
            for bound in bound_names(statement):
                self.bindings.setdefault(bound, []).append(statement)

    def release(self) -> None:
        """Takes the module apart, so that its tree goes at once."""
        for klass in self.classes:
            for info in klass.bodies:
                info.cls = None
        self.functions, self.classes, self.function_of, self.class_of, self.bindings = [], [], {}, {}, {}
        self._parents = self._shared = self._class_named = None
        self.tree = ast.Module([], [])

    def follow(self, text: str) -> None:
        """Takes another text, whose change the tree has already: what was read of the old one is forgotten."""
        self.wording, self.of_tests = Wording(text), None
        self._parents = self._shared = None

    @property
    def text(self) -> str:
        return self.wording.text

    @property
    def lines(self) -> list[str]:
        """The lines as Python counts them: a form feed ends none."""
        return self.wording.lines

    @property
    def parents(self) -> Parents:
        """Child → parent for the nodes of the file."""
        if self._parents is None:
            self._parents = Parents(self.tree)
        return self._parents

    @property
    def shared(self) -> frozenset[str]:
        """Top-level names that functions bind anew, by `global`."""
        if self._shared is None:
            spoken = b"global" in self.wording.encoded and _GLOBAL.search(self.text) is not None
            found = walk.walk(self.tree) if spoken else ()
            self._shared = frozenset(name for n in found if isinstance(n, ast.Global) for name in n.names)
        return self._shared

    @property
    def class_named(self) -> dict[str, ClassInfo]:
        """By qualified name, the first class of that name."""
        if self._class_named is None:
            self._class_named = {klass.qualname: klass for klass in reversed(self.classes)}
        return self._class_named

    def _index(self, body: list[ast.stmt], prefix: str, cls: ClassInfo | None) -> None:
        for statement in body:
            self._index_statement(statement, prefix, cls)

    def _index_statement(self, node: ast.AST, prefix: str, cls: ClassInfo | None) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = tuple(_dotted(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list)
            info = FunctionInfo(self, prefix + node.name, node, cls, names)
            self.functions.append(info)
            self.function_of[node] = info
            if cls is not None:
                if node.name not in cls.methods or not {"overload", "typing.overload"} & set(names):
                    previous = cls.methods.get(node.name)
                    if previous is None or not any(n.endswith((".setter", ".deleter")) for n in names):
                        cls.methods[node.name] = info
                cls.bodies.append(info)
            self._index(node.body, f"{prefix}{node.name}.<locals>.", None)
        elif isinstance(node, ast.ClassDef):
            klass = ClassInfo(self, prefix + node.name, node)
            self.classes.append(klass)
            self.class_of[node] = klass
            self._index(node.body, f"{prefix}{node.name}.", klass)
        elif isinstance(node, ast.Assign) and cls is not None:
            for target in node.targets:
                if isinstance(target, ast.Name):
                    cls.attributes[target.id] = node.value
        elif isinstance(node, ast.AnnAssign) and cls is not None and isinstance(node.target, ast.Name):
            cls.annotations[node.target.id] = node.annotation
            if node.value is not None:
                cls.attributes[node.target.id] = node.value
        elif isinstance(node, BLOCKS):
            for field_name in ("body", "orelse", "finalbody"):
                self._index(getattr(node, field_name, []), prefix, cls)
            for handler in getattr(node, "handlers", []):
                self._index(handler.body, prefix, cls)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self._index(case.body, prefix, cls)


def _self_writes(node: Def, calls: bool = True) -> tuple[dict[str, None], dict[str, None]]:
    """The attributes of its first parameter that a method sets, and those that it puts something into.

    `calls`: whether it may call what does the latter."""
    args = node.args.posonlyargs + node.args.args
    stored: dict[str, None] = {}
    filled: dict[str, None] = {}
    if not args:
        return stored, filled
    for target in walk.targets(node):
        match target:
            case ast.Attribute(value=ast.Name(id=me), attr=name) if me == args[0].arg:
                stored[name] = None
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=me), attr=name)) if me == args[0].arg:
                filled[name] = None
    for child in walk.walk(node) if calls else ():
        match child:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=me), attr=name), attr=method)):
                if me == args[0].arg and method in _FILLS:
                    filled[name] = None
    return stored, filled


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return "?"


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements run at module level, those inside if, try, with and loops too; not what only type checkers read."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If) and _dotted(statement.test).rpartition(".")[2] == "TYPE_CHECKING":
            # names are worth knowing, but a star there would have whole packages parsed
            yield from (s for s in statement.body if not (isinstance(s, ast.ImportFrom) and s.names[0].name == "*"))
            yield from _top_level(statement.orelse)
            continue
        if isinstance(statement, BLOCKS):
            for name in ("body", "orelse", "finalbody"):
                yield from _top_level(getattr(statement, name, []))
            for handler in getattr(statement, "handlers", []):
                yield from _top_level(handler.body)


def bound_names(statement: ast.AST) -> Iterator[str]:
    """The names that one statement binds in its own scope."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Import():
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0]
        case ast.ImportFrom():
            for alias in statement.names:
                yield alias.asname or alias.name
        case ast.AnnAssign(value=None):
            return  # `x: int` says what `x` will be
        case _:
            yield from (target.id for target in walk.bound(statement) if isinstance(target, ast.Name))
