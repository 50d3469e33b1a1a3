"""Names: what a name means in a module, found when first asked for, so that import cycles do no harm."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from mypy_extensions import mypyc_attr

from compilelint.engine.values import UNKNOWN, Class, External, Function, Namespace, Seq, Value, join
from compilelint.models.names import canonical
from compilelint.source.module import Module, bound_names

if TYPE_CHECKING:
    from compilelint.engine.engine import Engine

BUILTINS = frozenset(dir(builtins))


def _is_overload(statement: ast.AST) -> bool:
    """Whether a function is a signature alone: `@overload`, `@torch.jit._overload`."""
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return any(ast.unparse(d).rpartition(".")[2] in ("overload", "_overload") for d in statement.decorator_list)


def _unpacked(target: ast.Tuple, name: str, value: Value) -> Value:
    """What `name` is given by `target = value`, `a, b = f()`."""
    names = [element.id if isinstance(element, ast.Name) else None for element in target.elts]
    if not isinstance(value, Seq) or any(isinstance(element, ast.Starred) for element in target.elts):
        return UNKNOWN
    if value.items is None or len(value.items) != len(names) or name not in names:
        return UNKNOWN
    return value.items[names.index(name)]


@mypyc_attr(allow_interpreted_subclasses=True)
class Scope:
    """The top level of one module, as seen by the code in it."""

    def __init__(self, engine: Engine, module: Module) -> None:
        self.engine = engine
        self.module = module
        self.known: dict[str, Value] = {}
        self.pending: set[str] = set()
        self._starred_modules: list[Module] | None = None
        self.stars = [statement for statement in module.bindings.get("*", []) if isinstance(statement, ast.ImportFrom)]

    def lookup(self, name: str) -> Value:
        """The value of a module-level name, a builtin, or Unknown."""
        found = self.known.get(name)
        if found is not None:
            return found
        if name in self.pending:
            return UNKNOWN
        statements = self.module.bindings.get(name)
        if statements is None:
            value = self._starred(name)
            if value is None:
                value = External(name) if name in BUILTINS else UNKNOWN
            self.known[name] = value
            return value
        if name in self.module.shared:
            return UNKNOWN
        statements = [s for s in statements if not _is_overload(s)] or statements
        self.pending.add(name)
        try:
            value = self._bind(statements[-1], name)
            # the last binding wins, but `try: import x / except: x = None` and `if …: def f / else: def f` keep both
            for statement in statements[-4:-1]:
                value = join(self._bind(statement, name), value)
        finally:
            self.pending.discard(name)
        self.known[name] = value
        return value

    def own(self, name: str) -> Value | None:
        """The value of a name that this module binds, itself or by a star; None where it binds none of that name.

        None too where it is just about to: `from . import layers` in a package means the submodule.
        """
        if name in self.pending:
            return None
        return self.lookup(name) if name in self.module.bindings else self._starred(name)

    def _starred(self, name: str) -> Value | None:
        """The value of a name that some `from … import *` binds; None where none does."""
        for module in self.starred:
            if name in module.bindings and (not name.startswith("_") or "__all__" in module.bindings):
                self.pending.add(name)  # stars may import each other
                try:
                    return self.engine.scope(module).lookup(name)
                finally:
                    self.pending.discard(name)
        return None

    @property
    def starred(self) -> list[Module]:
        """The modules whose names stars bring in, through any number of stars: of two, the later import wins."""
        if self._starred_modules is None:
            self._starred_modules = self._find_starred()
        return self._starred_modules

    def _find_starred(self) -> list[Module]:
        found = {self.module.path: self.module}
        waiting = [self]
        while waiting:
            scope = waiting.pop()
            found[scope.module.path] = scope.module
            sources = [source for star in scope.stars if (source := scope._imported(star)) is not None]
            waiting += [self.engine.scope(source) for source in sources if source.path not in found]
        return list(found.values())[1:]

    def static(self, node: ast.expr) -> Value:
        """The value of a dotted name, without interpreting anything."""
        if isinstance(node, ast.Name):
            return self.lookup(node.id)
        if isinstance(node, ast.Attribute):
            return self.engine.member(self.static(node.value), node.attr)
        return UNKNOWN

    def alias(self, node: ast.expr, depth: int = 0) -> tuple[Scope, ast.expr] | None:
        """What a dotted name was given once, at the top of a module (`OptTensor = Optional[Tensor]`), and which one."""
        if isinstance(node, ast.Attribute):
            owner = self.static(node.value)
            module = self.engine.project.find(owner.name) if isinstance(owner, Namespace) else None
            return self.engine.scope(module).alias(ast.Name(node.attr), depth) if module is not None else None
        statements = self.module.bindings.get(node.id, ()) if isinstance(node, ast.Name) and depth < 8 else ()
        match statements:
            case [ast.Assign(targets=[ast.Name()], value=value)]:
                return self, value
            case [ast.AnnAssign(value=value)] if value is not None:
                return self, value
            case [ast.ImportFrom() as statement]:
                source = self._imported(statement)
                names = [a.name for a in statement.names if (a.asname or a.name) == node.id]  # type: ignore[attr-defined]
                if source is not None and names:
                    return self.engine.scope(source).alias(ast.Name(names[0]), depth + 1)
        return None

    def _bind(self, statement: ast.AST, name: str) -> Value:
        match statement:
            case ast.Import() | ast.ImportFrom():
                return dict(self.imports(statement, name)).get(name, UNKNOWN)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                info = self.module.function_of.get(statement)
                return self.engine.decorated(Function(info), info, self) if info is not None else UNKNOWN
            case ast.ClassDef():
                klass = self.module.class_of.get(statement)
                return Class(klass) if klass is not None else UNKNOWN
            case ast.Assign(targets=[ast.Name()], value=value):
                return self.engine.evaluate(value, self.module)
            case ast.AnnAssign(value=value) if value is not None:
                return self.engine.evaluate(value, self.module)
            case ast.Assign(value=value):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and target.id == name:
                        return self.engine.evaluate(value, self.module)
                    if isinstance(target, ast.Tuple):
                        return _unpacked(target, name, self.engine.evaluate(value, self.module))
        return UNKNOWN

    def is_sole(self, statement: ast.Import | ast.ImportFrom) -> bool:
        """Whether nothing else at the top of the module, or by `global`, binds the names that a statement does."""
        bindings, shared = self.module.bindings, self.module.shared
        return all(len(bindings.get(name, ())) == 1 and name not in shared for name in bound_names(statement))

    def imports(self, statement: ast.Import | ast.ImportFrom, only: str = "") -> list[tuple[str, Value]]:
        """The names an import statement binds, or `only` one of them, with their values."""
        bound: list[tuple[str, Value]] = []
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                full = alias.name if alias.asname else alias.name.partition(".")[0]
                if only and only != (alias.asname or full):
                    continue
                bound.append((alias.asname or full, self.engine.namespace(full)))
            return bound
        source = self.source_name(statement)
        module = self.engine.project.find(source) if source else None
        for alias in statement.names:
            if alias.name == "*" or (only and only != (alias.asname or alias.name)):
                continue
            if module is not None:
                value = self.engine.member(Namespace(source), alias.name)
            elif source and not self.engine.project.owns(source):
                value = External(canonical(f"{source}.{alias.name}"))
            else:
                value = self.engine.submodule(source, alias.name)
            bound.append((alias.asname or alias.name, value))
        return bound

    def source_name(self, statement: ast.ImportFrom) -> str:
        """The absolute name of the module that `from … import` names."""
        if not statement.level:
            return statement.module or ""
        package = self.module.package.split(".") if self.module.package else []
        package = package[: len(package) - (statement.level - 1)] if statement.level > 1 else package
        return ".".join([*package, *([statement.module] if statement.module else [])])

    def _imported(self, statement: ast.ImportFrom) -> Module | None:
        return self.engine.project.find(self.source_name(statement))
