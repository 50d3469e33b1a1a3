"""Names at a place: what imports bind, what shadows them, which are free, and where a new import belongs."""

from __future__ import annotations

import ast
import builtins
import keyword
import sys
from collections.abc import Iterator
from functools import lru_cache

from compilelint.finding import Edit
from compilelint.fix.cst import CstFile
from compilelint.fix.errors import CannotFix

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp  # fmt: skip # noqa: E501
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)
_ALIASES = {"numpy": "np", "pandas": "pd"}
_PACKAGES = frozenset({"torch"})  # `import torch` makes what lies in it reachable by attribute


class Names:
    """The names of one file as one fix sees them: asks add imports, once each."""

    def __init__(self, file: CstFile, at: ast.AST | None = None) -> None:
        self.file = file
        self.at = at  # the place of the fix: fixes of one place are alternatives
        self._wanted: dict[str, tuple[str, str]] = {}  # import statement → (bound name, module)
        self._fresh: dict[ast.AST, set[str]] = {}

    # Spelling

    def name_for(self, target: str, at: ast.AST | None) -> str:
        """How a dotted name is spelled at a node (None: anywhere in the file)."""
        scopes = self._scopes(at)
        found = [
            (len(rest), bound + "".join(f".{part}" for part in rest))
            for bound, module, statement in self._imports(scopes, at)
            if (rest := _rest(target, module)) is not None and self._visible(bound, scopes, statement)
        ]
        for bound, module in self._wanted.values():
            if (rest := _rest(target, module)) is not None and self._visible(bound, scopes, None):
                found.append((len(rest), ".".join([bound, *rest])))
        if target.rpartition(".")[0] in ("", "builtins"):
            name = target.rpartition(".")[2]
            if hasattr(builtins, name) and self._visible(name, scopes, None):
                return name
        if found:
            return min(found)[1]
        return self._add(target, scopes)

    def _add(self, target: str, scopes: list[Scope]) -> str:
        head, _, name = target.rpartition(".")
        if not head:
            raise CannotFix(f"`{target}` is no module's name")
        top = target.partition(".")[0]
        if top in _PACKAGES or "." not in head:
            module = top
            bound = self._free(_ALIASES.get(module, module), scopes)
            statement = f"import {module}" if bound == module else f"import {module} as {bound}"
            spelled = bound + target[len(module) :]
        else:
            module = target
            bound = spelled = self._free(name, scopes)
            statement = f"from {head} import {name}" + ("" if bound == name else f" as {bound}")
        self._wanted[statement] = (bound, module)
        return spelled

    def _free(self, name: str, scopes: list[Scope]) -> str:
        """The name an import may bind: one that nothing else in the module, and nothing around the place, binds."""
        taken = set(self._bound(self.file.tree)) | {bound for bound, _ in self._wanted.values()}
        for scope in scopes:
            taken |= set(self._bound(scope))
        if name not in taken:
            return name
        return next(each for n in range(1, 1000) if (each := "_" * n + name) not in taken)

    def _scopes(self, at: ast.AST | None) -> list[Scope]:
        """The scopes whose names are seen at a node, innermost first, the module left out. Without a node: all."""
        if at is None:
            return [node for node in ast.walk(self.file.tree) if isinstance(node, _SCOPES)]
        found: list[Scope] = []
        child = at
        direct = True  # class scopes are seen from their own statements only
        for node in self.file.ancestors(at):
            if isinstance(node, _SCOPES) and not _outside(node, child):
                if not isinstance(node, ast.ClassDef) or direct:
                    found.append(node)
                direct = False
            child = node
        return found

    def _imports(self, scopes: list[Scope], at: ast.AST | None) -> Iterator[tuple[str, str, ast.stmt]]:
        """(bound name, what it is, statement) of the imports that surely ran before the place."""
        for statement in _top_imports(self.file.tree):
            if scopes or at is None or statement.lineno < getattr(at, "lineno", 0):
                for bound, module in _bindings(statement):
                    yield bound, module, statement
        if at is None:
            return
        read = {each.id for each in ast.walk(self.file.statement(at)) if isinstance(each, ast.Name)}
        for statement in _optional_imports(self.file.tree):
            for bound, module in _bindings(statement):
                if bound in read:  # `if is_available(): import torch`, and the code at hand counts on it
                    yield bound, module, statement
        for scope in scopes:
            if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for local in scope.body:
                    if isinstance(local, (ast.Import, ast.ImportFrom)) and local.lineno < getattr(at, "lineno", 0):
                        for bound, module in _bindings(local):
                            yield bound, module, local

    def _visible(self, name: str, scopes: list[Scope], statement: ast.stmt | None) -> bool:
        """Whether a name means what `statement` binds (None: a new import) in the innermost of these scopes."""
        for scope in scopes:
            binders = self._bound(scope).get(name)
            if binders is not None:
                return statement in binders and len(binders) == 1
        binders = self._bound(self.file.tree).get(name, [])
        if statement is None:
            return not binders
        return statement in binders and all(
            _same_binding(name, statement, each) or self._fallback(statement, each) for each in binders
        )

    def _fallback(self, statement: ast.stmt, other: ast.AST) -> bool:
        """Whether `other` binds only where the import failed: `except ImportError: torch = None`."""
        attempt = self.file.parents.get(statement)
        return isinstance(attempt, ast.Try) and any(
            isinstance(each, ast.ExceptHandler) and each in attempt.handlers for each in self.file.ancestors(other)
        )

    def _bound(self, scope: ast.AST) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] | None = self.file.bound.get(scope)
        if found is None:
            found = self.file.bound[scope] = bound_in(scope)
        return found

    # Fresh names

    def fresh(self, name: str, within: ast.AST | None) -> str:
        """`name` with a number where it is used already, by the code or by another fix."""
        within = within if within is not None else self.file.tree
        mine = self._fresh.setdefault(within, set())
        taken = _identifiers(within) | set(self._bound(self.file.tree)) | mine
        taken |= {each for each, at in self.file.taken.get(within, {}).items() if at is None or at is not self.at}
        taken |= {bound for bound, _ in self._wanted.values()} | set(dir(builtins))
        n, each = 1, name
        while each in taken or keyword.iskeyword(each):
            n += 1
            each = f"{name}_{n}"
        mine.add(each)
        return each

    def keep(self) -> None:
        """The fix stands: no fix of another place in this file may be given its names."""
        for scope, names in self._fresh.items():
            self.file.taken.setdefault(scope, {}).update(dict.fromkeys(names, self.at))

    # New imports

    def imports(self) -> list[Edit]:
        """The insertions for the imports asked for, one for each place."""
        by_place: dict[int, list[tuple[str, str, str]]] = {}
        for statement in sorted(self._wanted, key=_import_key):
            place, before, after = self._place(statement)
            by_place.setdefault(place, []).append((before, statement, after))
        edits = []
        for place, group in by_place.items():
            newline = self.file.index.newline_near(place)
            text = group[0][0] + "".join(f"{statement}\n" for _, statement, _ in group) + group[-1][2]
            if place == len(self.file.text) and self.file.text and not self.file.text.endswith(("\n", "\r")):
                text = "\n" + text.rstrip("\n")
            edits.append(Edit(place, place, text.replace("\n", newline)))
        return edits

    def _place(self, statement: str) -> tuple[int, str, str]:
        """(offset, blank lines before, blank lines after) of a new import: by its like, else after the docstring."""
        file = self.file
        run = self._leading_imports()
        key = _import_key(statement)
        if run:
            keys = [_import_key(ast.unparse(each)) for each in run]
            at_most = [n for n, each in enumerate(keys) if each <= key and each[0] == key[0]]
            if at_most:
                return file.index.next_line(file.span(run[at_most[-1]])[1]), "", ""
            same_group = [n for n, each in enumerate(keys) if each[0] == key[0]]
            if same_group:
                return file.index.line_start(file.span(run[same_group[0]])[0]), "", ""
            earlier = [n for n, each in enumerate(keys) if each[0] < key[0]]
            if earlier:
                return file.index.next_line(file.span(run[earlier[-1]])[1]), "\n", ""
            return file.index.line_start(file.span(run[0])[0]), "", "\n"
        body = file.tree.body
        head = [each for n, each in enumerate(body) if _is_future(each) or (n == 0 and _is_docstring(each))]
        if head:
            end = file.span(head[-1])[1]
            if file.own_end(head[-1]):
                following = body[len(head)] if len(body) > len(head) else None
                place = file.index.next_line(end)
                blank = following is not None and not file.text[place : file.index.next_line(place)].strip()
                return place, "\n", "" if blank or following is None else "\n"
            raise CannotFix("there is no line of its own for an import")
        if not body:
            return len(file.text), "", ""
        return (
            self._first_line(body[0]),
            "",
            "\n\n" if isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else "\n",
        )

    def _leading_imports(self) -> list[ast.stmt]:
        """The first run of imports that own their lines, `from __future__` aside."""
        run: list[ast.stmt] = []
        for each in self.file.tree.body:
            if isinstance(each, (ast.Import, ast.ImportFrom)):
                if not _is_future(each) and self.file.own_start(each) and self.file.own_end(each):
                    run.append(each)
            elif run:
                break
        return run

    def _first_line(self, statement: ast.stmt) -> int:
        """The line of the module's first statement, or of the comment right above it that doesn't open the file."""
        index = self.file.index
        start = place = index.line_start(self.file.span(statement)[0])
        while place:
            above = index.line_start(place - 1)
            if not self.file.text[above:place].lstrip("\ufeff").startswith("#"):
                return place
            place = above
        return start


@lru_cache(maxsize=8)
def _top_imports(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """Imports of the top level and of its `try` bodies, which what follows counts on; not those for typing."""
    found = []
    stack: list[ast.stmt] = list(reversed(tree.body))
    while stack:
        statement = stack.pop()
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            found.append(statement)
        elif isinstance(statement, (ast.Try, ast.With)):
            stack += reversed(statement.body)
    return found


@lru_cache(maxsize=8)
def _optional_imports(tree: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """Imports under an `if` of the top level; not those for typing."""
    return [
        each
        for outer in tree.body
        if isinstance(outer, ast.If) and "TYPE_CHECKING" not in ast.unparse(outer.test)
        for each in outer.body
        if isinstance(each, (ast.Import, ast.ImportFrom))
    ]


def _rest(target: str, module: str) -> list[str] | None:
    """The parts of `target` below `module`."""
    if target == module:
        return []
    return target[len(module) + 1 :].split(".") if target.startswith(module + ".") else None


def _bindings(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """(bound name, what it is) for an import; relative ones can't be told."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.asname:
                yield alias.asname, alias.name
            else:
                top = alias.name.partition(".")[0]
                if top in _PACKAGES or "." not in alias.name:
                    yield top, top
    elif not statement.level and statement.module:
        for alias in statement.names:
            yield alias.asname or alias.name, f"{statement.module}.{alias.name}"


def _same_binding(name: str, one: ast.AST, other: ast.AST) -> bool:
    """Whether two statements make a name the same thing: `import torch` and `import torch.nn` do."""
    if one is other:
        return True
    if not isinstance(one, (ast.Import, ast.ImportFrom)) or not isinstance(other, (ast.Import, ast.ImportFrom)):
        return False
    return dict(_bindings(one)).get(name) is not None and dict(_bindings(one)).get(name) == dict(_bindings(other)).get(
        name
    )


def bound_in(scope: ast.AST) -> dict[str, list[ast.AST]]:
    """The names a scope binds itself → the nodes that do (global and nonlocal names are not its own)."""
    found: dict[str, list[ast.AST]] = {}
    foreign: set[str] = set()

    def bind(name: str | None, node: ast.AST) -> None:
        if name:
            found.setdefault(name, []).append(node)

    def visit(node: ast.AST, comprehension: bool = False) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if not comprehension:
                bind(name, node)
            case ast.NamedExpr(target=ast.Name(id=name)):
                bind(name, node)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    bind(alias.asname or alias.name.partition(".")[0], node)
            case ast.Global() | ast.Nonlocal():
                foreign.update(node.names)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                bind(node.name, node)
            case ast.MatchMapping():
                bind(node.rest, node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                bind(node.name, node)
                for outside in _evaluated_outside(node):
                    visit(outside, comprehension)
                return
            case ast.Lambda():
                for outside in _evaluated_outside(node):
                    visit(outside, comprehension)
                return
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for child in ast.iter_child_nodes(node):
                    visit(child, True)  # only a walrus inside binds here
                return
        for child in ast.iter_child_nodes(node):
            visit(child, comprehension)

    match scope:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            arguments = scope.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            for argument in every:
                bind(argument.arg if argument else None, scope)
            for statement in scope.body if isinstance(scope.body, list) else [scope.body]:
                visit(statement)
        case ast.Module() | ast.ClassDef():
            for statement in scope.body:
                visit(statement)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for generator in scope.generators:
                visit(generator.target)
    for parameter in getattr(scope, "type_params", []):
        bind(parameter.name, scope)
    return {name: nodes for name, nodes in found.items() if name not in foreign}


def _evaluated_outside(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a definition that belong to the scope around it."""
    yield from getattr(node, "decorator_list", [])
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from node.keywords
    elif isinstance(node, _FUNCTIONS):
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)


def _outside(scope: ast.AST, child: ast.AST) -> bool:
    """Whether a direct child of a scope's node is evaluated in the scope around it."""
    if isinstance(scope, _COMPREHENSIONS):
        return False
    body = getattr(scope, "body", [])
    return child not in body if isinstance(body, list) else child is not body


def _identifiers(node: ast.AST) -> set[str]:
    """Every name that occurs below a node."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.arg):
            found.add(each.arg)
        elif isinstance(each, (ast.Global, ast.Nonlocal)):
            found.update(each.names)
        elif isinstance(each, ast.alias):
            found.add(each.asname or each.name.partition(".")[0])
        elif isinstance(each, ast.MatchMapping):
            found.add(each.rest or "")
        elif isinstance(
            each,
            (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
        ):
            found.add(each.name or "")
    return found


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


@lru_cache(maxsize=512)
def _import_key(statement: str) -> tuple[int, bool, str]:
    """Where isort would put an import: standard library, others, relative; `import` before `from`; by name."""
    module = statement.split()[1]
    if module.startswith("."):
        group = 2
    else:
        group = 0 if module.partition(".")[0] in sys.stdlib_module_names else 1
    return group, statement.startswith("from"), module.lower()
