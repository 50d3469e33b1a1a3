"""One source file: text, syntax tree, and an index of what its top level binds."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from compilelint.source import walk
from compilelint.source.lines import lines_of
from compilelint.source.parents import Parents

# bytes that part words, as spaces; what is beyond ASCII is part of one
_APART = bytes(each if chr(each).isalnum() or each == 95 or each > 127 else 32 for each in range(256))
_QUOTED = re.compile(
    rb'"""[\s\S]*?"""'
    rb"|'''[\s\S]*?'''"
    rb'|"(?:[^"\\\n]|\\.)*"'
    rb"|'(?:[^'\\\n]|\\.)*'"
    rb"|#.*"
)
_GLOBAL = re.compile(r"(?:^|[\n\r:;])[ \t\f]*global[ \t\f\\]")

# a constant that something is set to, and the end of what stands before it on its line
_SET = re.compile(r"=\s*(?:(True|False)\b|[\"']([^\"'\n]*)[\"'])")
_NAMED = re.compile(r"(^\s*|\.\s*)?\b(\w+)\s*(?::[^=\n]+)?$", re.MULTILINE)

_FILLS = frozenset("append extend insert add update setdefault".split())

Def = ast.FunctionDef | ast.AsyncFunctionDef
# statements that hold others and make no scope; TryStar came with Python 3.11
BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.AsyncWith, ast.AsyncFor, getattr(ast, "TryStar", ast.Try))


class Setting(NamedTuple):
    """`name = True`, `f(name="text")` in a text; `outside`: not of `self`, and not among others in its line."""

    value: bool | str
    outside: bool


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

    @property
    def name(self) -> str:
        return self.node.name if not isinstance(self.node, ast.Lambda) else "<lambda>"

    @property
    def id(self) -> str:
        return f"{self.module.name}:{self.qualname}"

    @property
    def me(self) -> str | None:
        """The name of a method's `self` or `cls`."""
        args = self.node.args.posonlyargs + self.node.args.args
        return args[0].arg if args and self.cls is not None and "staticmethod" not in self.decorators else None

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
    attributes: dict[str, ast.AST] = field(
        default_factory=dict
    )  # class-level assignments: name → value or annotation node
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
                written = _self_writes(info.node, calls=self.module.mentions(_FILLS, info.node))
                for writers, names in zip(self._writers, written, strict=True):
                    for name in names:
                        writers.setdefault(name, []).append(info)
        return self._writers


class Module:
    """A parsed file. `name`: its import name as far as its packages tell; `package`: where relative imports start."""

    def __init__(self, path: Path, name: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.name = name
        self.text = text
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
        self._mentioned: dict[frozenset[str], list[int]] = {}
        self._said: dict[frozenset[str], bool] = {}
        self._index(tree.body, "", None)
        for statement in _top_level(tree.body):
            for bound in bound_names(statement):
                self.bindings.setdefault(bound, []).append(statement)

    def release(self) -> None:
        """Takes the module apart, so that its tree goes at once."""
        for klass in self.classes:
            for info in klass.bodies:
                info.cls = None
        vars(self).clear()

    def follow(self, text: str) -> None:
        """Takes another text, whose change the tree has already: what was read of the old one is forgotten."""
        self.text, self.of_tests = text, None
        self._mentioned.clear()
        self._said.clear()
        for name in "encoded words quoted has_nonlocal has_walrus lines parents settings shared".split():
            vars(self).pop(name, None)

    def _index(self, body: list[ast.stmt], prefix: str, cls: ClassInfo | None) -> None:
        for statement in body:
            self._index_statement(statement, prefix, cls)

    def _index_statement(self, node: ast.AST, prefix: str, cls: ClassInfo | None) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
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

    @cached_property
    def parents(self) -> Parents:
        """Child → parent for the nodes of the file."""
        return Parents(self.tree)

    @cached_property
    def lines(self) -> list[str]:
        """The lines as Python counts them: a form feed ends none."""
        return lines_of(self.text)

    @cached_property
    def encoded(self) -> bytes:
        """The text in UTF-8: of a text with a character like an emoji, it is found in at a quarter of the cost."""
        return self.text.encode("utf-8", "surrogatepass")

    def mentions(self, words: frozenset[str], node: ast.stmt | ast.expr) -> bool:
        """Whether one of the words stands where a node does: what else is looked for there can't be."""
        lines = self._mentioned.get(words)
        if lines is None:
            lines = self._mentioned[words] = self._lines_with(words)
        place = bisect_left(lines, node.lineno)
        return place < len(lines) and lines[place] <= (node.end_lineno or node.lineno)

    def says(self, phrases: frozenset[str]) -> bool:
        """Whether one of the phrases stands anywhere in the text, as part of a word too."""
        known = self._said.get(phrases)
        if known is None:
            known = self._said[phrases] = any(phrase.encode() in self.encoded for phrase in phrases)
        return known

    @cached_property
    def words(self) -> frozenset[bytes]:
        """The names and other words of the text, whatever they stand in."""
        return frozenset(self.encoded.translate(_APART).split())

    @cached_property
    def quoted(self) -> tuple[list[int], list[int]]:
        """Where in the encoded text strings and comments start, and where they end."""
        spans = [match.span() for match in _QUOTED.finditer(self.encoded)]
        return [start for start, _ in spans], [end for _, end in spans]

    def places(self, word: str) -> Iterator[int]:
        """Where in the encoded text a word stands, but in strings and comments."""
        encoded = word.encode()
        if encoded not in self.words:
            return
        for place in _places(encoded, self.encoded):
            starts, ends = self.quoted
            before = bisect_right(starts, place) - 1
            if before < 0 or ends[before] <= place:
                yield place

    def _lines_with(self, words: frozenset[str]) -> list[int]:
        present = [encoded for word in words if (encoded := word.encode()) in self.words]
        if not present:
            return []
        if "\r" in self.text:
            here = [word.decode() for word in present]
            return [number for number, line in enumerate(self.lines, 1) if any(word in line for word in here)]
        found, line, last = [], 1, 0
        for place in sorted(place for word in present for place in _places(word, self.encoded)):
            line += self.encoded.count(b"\n", last, place)
            last = place
            found.append(line)
        return found

    @cached_property
    def settings(self) -> dict[str, set[Setting]]:
        """The truths and texts that names are set to, wherever in the text that stands."""
        found: dict[str, set[Setting]] = {}
        for match in _SET.finditer(self.text):
            line = self.text.rfind("\n", 0, match.start()) + 1
            named = _NAMED.search(self.text, line, match.start())
            if named is not None:
                before = named[1]
                of_self = self.text.endswith("self", line, named.start()) if before else False
                value = match[2] if match[1] is None else match[1] == "True"
                found.setdefault(named[2], set()).add(Setting(value, before is not None and not of_self))
        return found

    @cached_property
    def shared(self) -> frozenset[str]:
        """Top-level names that functions bind anew, by `global`."""
        if b"global" not in self.encoded or _GLOBAL.search(self.text) is None:
            return frozenset()
        return frozenset(name for n in walk.walk(self.tree) if isinstance(n, ast.Global) for name in n.names)

    @cached_property
    def class_named(self) -> dict[str, ClassInfo]:
        """By qualified name, the first class of that name."""
        return {klass.qualname: klass for klass in reversed(self.classes)}

    @cached_property
    def has_nonlocal(self) -> bool:
        return b"nonlocal " in self.encoded

    @cached_property
    def has_walrus(self) -> bool:
        return b":=" in self.encoded


def _places(word: bytes, text: bytes) -> Iterator[int]:
    """Where a word stands, a whole one."""
    place = text.find(word)
    while place >= 0:
        after = place + len(word)
        if not (_is_part(text[place - 1 : place]) or _is_part(text[after : after + 1])):
            yield place
        place = text.find(word, after)


def _is_part(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or not character.isascii()


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
