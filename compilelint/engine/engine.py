"""The analysis of a whole project: scopes, classes, and functions interpreted once for each context and remembered."""

from __future__ import annotations

import ast
import math
import sys
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mypy_extensions import mypyc_attr

from compilelint.engine import docs
from compilelint.engine.annotations import annotated, as_named
from compilelint.engine.aside import MAKES, SETUP, runs_once
from compilelint.engine.custom_ops import REGISTERS, operators
from compilelint.engine.events import Event, Site
from compilelint.engine.facts import YIELD, imports_by_name, is_generator
from compilelint.engine.scope import Scope
from compilelint.engine.summary import Edge, Entry, Summary
from compilelint.engine.surroundings import Names
from compilelint.engine.usage import ARRAYS, made_arrays, scan
from compilelint.engine.values import (
    NONE,
    UNKNOWN,
    Class,
    Compiled,
    Const,
    Device,
    External,
    Flow,
    Function,
    Instance,
    Map,
    Method,
    Namespace,
    Origin,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    declared,
    join,
    key,
    options,
    scalar_type,
    walk,
    widened,
)
from compilelint.finding import TOO_SLOW
from compilelint.models.names import canonical, is_optimizer
from compilelint.models.nn import CONTAINERS
from compilelint.models.tables import Table
from compilelint.source.module import ClassInfo, FunctionInfo, Module
from compilelint.source.project import Project
from compilelint.source.walk import walk as walk_tree

if TYPE_CHECKING:
    from compilelint.engine.frame import Frame

MAX_WRITERS = 4  # methods that set an attribute; with more, it could be anything
MAX_CONTEXTS = 8  # contexts kept of one function; then its generic one stands for the rest
MAX_INHERITED_CONTEXTS = 24  # the same over all classes that inherit it, MAX_CONTEXTS for each
MAX_IMPORT_CONTEXTS = 400  # the same for a function that imports what it is given the name of
MAX_CLOSURE_CONTEXTS = 40  # the same for nested functions, over all calls of the outer one
MAX_RECURSION = 3  # times that one function may stand on the stack of calls
MAX_CALL_DEPTH = 14  # nested interpretation of calls
MAX_FOLLOWED = 2000  # contexts of functions in installed packages
# packages whose classes are no modules of torch, whatever a class that inherits from them calls its methods
PLAIN = sys.stdlib_module_names | {"numpy", "pandas", "scipy", "sklearn", "pydantic", "typing_extensions"}
# decorators that make machine code of a function, which Dynamo can't look into
COMPILES_APART = frozenset(
    ("numba.njit", "numba.jit", "numba.vectorize", "numba.guvectorize", "numba.cuda.jit", "cupy.fuse")
)
KERNELS = COMPILES_APART | {"triton.jit"}
KEPT_OUT = frozenset(("torch.compiler.disable", "torch.library.custom_op", "torch.library.impl"))
_MATTERS = (Tensor, Function, Class, Partial, Compiled, Method)


class Interest(Protocol):
    """Which events anybody wants, so that the others are never built."""

    def wants(self, event: type[Event], target: str = "") -> bool: ...


@mypyc_attr(allow_interpreted_subclasses=True)
class Engine:
    def __init__(self, project: Project, interest: Interest, tables: Table, files: Collection[Path]) -> None:
        """`files`: those whose findings are wanted; others are interpreted as far as these need their values."""
        self.project = project
        self._files = files
        self.interest = interest
        self.tables = tables
        self.bounds: dict[str, int] = {}
        self.depth = 0
        self.deadline = math.inf  # by time.thread_time(): what is being interpreted then is cut short
        self.references: dict[FunctionInfo, set[FunctionInfo | None]] = {}  # method → the functions that speak of it
        self.fed_loaders: set[ast.AST] = set()  # DataLoader(…) calls whose batches are copied to a device
        self.compile_roots: list[tuple[Summary, bool]] = []  # and whether with fullgraph=True
        self.hooks: list[tuple[Instance, Summary]] = []  # of the forward pass
        self.backward_hooks: list[Summary] = []
        self.enclosing: list[Frame] = []  # those that functions were defined in
        self._scopes: dict[str, Scope] = {}
        self._contexts: dict[FunctionInfo, dict[Any, Summary]] = {}
        self._generic: dict[FunctionInfo, Summary] = {}
        self._cold: dict[FunctionInfo, Summary] = {}  # the generic ones of which cold code alone asked
        self._signatures: dict[FunctionInfo, str] = {}  # what their signatures say they give
        self._modules: dict[str, Summary] = {}
        self._defaults: dict[FunctionInfo, dict[str, Value]] = {}
        self._mro: dict[ClassInfo, list[ClassInfo | str]] = {}
        self._ordering = 0  # orders of classes that are being found: what is asked of them meanwhile is not remembered
        self._bases: dict[ClassInfo, tuple[str, ...]] = {}
        self._methods: dict[tuple[ClassInfo, str, ClassInfo | None], FunctionInfo | None] = {}
        self._unset: set[tuple[ClassInfo, str]] = set()  # attributes of which no class says anything
        self._attrs: dict[ClassInfo, dict[str, Value]] = {}
        self._attr_pending: dict[tuple[ClassInfo, str], Value] = {}
        self._lazy_attrs: dict[tuple[ClassInfo, str], Value] = {}
        self._active: dict[FunctionInfo, int] = {}
        self._asks: dict[FunctionInfo, bool] = {}
        self._operators: dict[Module, dict[str, bool]] = {}
        self._probes: dict[FunctionInfo, Summary] = {}
        self._followed = 0
        self._stores: dict[ClassInfo, Mapping[str, list[FunctionInfo]]] = {}
        self._built: dict[ClassInfo, Mapping[str, Value]] = {}

    def home(self, module: Module) -> bool:
        """Whether a module's findings are wanted."""
        return module.path in self._files

    # -- names -----------------------------------------------------------------------------------------------------

    def scope(self, module: Module) -> Scope:
        found = self._scopes.get(module.name)
        if found is None or found.module is not module:
            found = self._scopes[module.name] = Scope(self, module)
        return found

    def namespace(self, name: str) -> Value:
        """What `import name` binds: a module of the project or a followed one, or a name outside."""
        if self.project.has(name):
            return Namespace(name)
        return UNKNOWN if self.project.owns(name) else External(canonical(name))

    def submodule(self, package: str, name: str) -> Value:
        full = f"{package}.{name}" if package else name
        if package and not self.project.owns(package):
            return self.namespace(full)
        return Namespace(full) if self.project.has(full) else UNKNOWN

    def member(self, value: Value, name: str) -> Value:
        """`value.name` for modules, outside names and classes."""
        match value:
            case Namespace():
                module = self.project.find(value.name)
                if module is not None:
                    own = self.scope(module).own(name)
                    if own is not None:
                        return own
                return self.submodule(value.name, name)
            case External():
                return External(canonical(f"{value.name}.{name}"))
            case Class():
                return self.class_attribute(value.info, name, None)
        return UNKNOWN

    # -- classes ---------------------------------------------------------------------------------------------------

    def mro(self, info: ClassInfo) -> list[ClassInfo | str]:
        """The class, its project bases and the canonical names of its outside bases, nearest first."""
        found = self._mro.get(info)
        if found is not None:
            return found
        order: list[ClassInfo | str] = [info]
        self._mro[info] = order  # a cycle ends here
        self._ordering += 1
        scope = self.scope(info.module)
        for base in info.node.bases:
            if isinstance(base, ast.Subscript):
                base = base.value
            value = scope.static(base)
            if isinstance(base, ast.Call) and _makes_tuple(scope.static(base.func)):
                value = self.evaluate(base, info.module)
            for option in value.options if isinstance(value, Union) else (value,):
                if isinstance(option, Class):
                    order.extend(b for b in self.mro(option.info) if b not in order)
                elif isinstance(option, External) and option.name not in order:
                    order.append(option.name)
                elif isinstance(option, Unknown) and isinstance(base, (ast.Attribute, ast.Name)) and "?" not in order:
                    order.append("?")
        self._ordering -= 1
        return order

    def bases(self, info: ClassInfo) -> tuple[str, ...]:
        """Outside base names; a class with a `forward` and a base nobody knows is taken for an nn.Module."""
        found = self._bases.get(info)
        if found is None:
            found = self._outside_bases(info)
            if not self._ordering:
                self._bases[info] = found
        return found

    def _outside_bases(self, info: ClassInfo) -> tuple[str, ...]:
        names = [b for b in self.mro(info) if isinstance(b, str)]
        foreign = [n for n in names if n != "object" and n.partition(".")[0] not in PLAIN]
        if (
            foreign
            and "torch.nn.Module" not in names
            and "torch.autograd.Function" not in names
            and (
                any(n.startswith("torch.nn.") for n in names)
                or any(isinstance(b, ClassInfo) and "forward" in b.methods for b in self.mro(info))
            )
        ):
            names.append("torch.nn.Module")
        if any(is_optimizer(n) for n in names):
            names.append("torch.optim.Optimizer")
        return tuple(n for n in names if n != "?")

    def instance(
        self, info: ClassInfo, origin: Origin | None = None, attrs: Mapping[str, Value] | None = None
    ) -> Instance:
        return Instance(info, "", self.bases(info), attrs or {}, origin=origin)

    def is_typed_dict(self, info: ClassInfo) -> bool:
        """Whether a class is a TypedDict: calling it makes a dict."""
        return any(b in ("typing.TypedDict", "typing_extensions.TypedDict") for b in self.mro(info))

    def has_optional_keys(self, info: ClassInfo) -> bool:
        """Whether a TypedDict may lack some of its keys: `total=False`, or one that is NotRequired."""
        for base in self.mro(info):
            if not isinstance(base, ClassInfo):
                continue
            partly = any(k.arg == "total" and getattr(k.value, "value", True) is False for k in base.node.keywords)
            for noted in base.annotations.values():
                around = self.scope(base.module).static(noted.value) if isinstance(noted, ast.Subscript) else UNKNOWN
                name = around.name.rpartition(".")[2] if isinstance(around, External) else ""
                if name == "NotRequired" or (partly and name != "Required"):
                    return True
        return False

    def method(self, info: ClassInfo, name: str, after: ClassInfo | None = None) -> FunctionInfo | None:
        """The function that `name` means on an instance; `after`: past that class in the order (super())."""
        if (info, name, after) in self._methods:
            return self._methods[info, name, after]
        found = self._method(info, name, after)
        if not self._ordering:
            self._methods[info, name, after] = found
        return found

    def _method(self, info: ClassInfo, name: str, after: ClassInfo | None) -> FunctionInfo | None:
        seen = after is None
        for base in self.mro(info):
            if isinstance(base, ClassInfo):
                if seen and name in base.methods:
                    return base.methods[name]
                if base is after:
                    seen = True
        return None

    def class_attribute(self, info: ClassInfo, name: str, receiver: Value | None) -> Value:
        """An attribute looked up on a class: a method (bound to `receiver` if it is an instance) or a variable."""
        for base in self.mro(info):
            if not isinstance(base, ClassInfo):
                continue
            if name in base.methods:
                function = base.methods[name]
                kinds = set(function.decorators)
                if "staticmethod" in kinds:
                    return self.decorated(Function(function), function, self.scope(base.module))
                if "classmethod" in kinds:
                    return self.decorated(Function(function, bound=Class(info)), function, self.scope(base.module))
                return self.decorated(Function(function, bound=receiver), function, self.scope(base.module))
            noted = base.annotations.get(name)
            if name in base.attributes:
                value = self.evaluate(base.attributes[name], base.module)
                if noted is None or receiver is None:
                    return value
                # a dataclass's default, or a variable's: an instance may have been given something else
                declared = as_named(annotated(noted, self.scope(base.module), str(base.module.path)), name)
                return declared if isinstance(value, Unknown) else join(value, declared)
            if noted is not None:
                return as_named(annotated(noted, self.scope(base.module), str(base.module.path)), name)
            nested = base.module.class_named.get(f"{base.qualname}.{name}")
            if nested is not None:
                return Class(nested)
        return UNKNOWN

    def init_attributes(self, info: ClassInfo) -> dict[str, Value]:
        """What the attributes of an instance are once `__init__` is done, its arguments taken as annotated."""
        found = self._attrs.get(info)
        if found is not None:
            return found
        init = self.method(info, "__init__")
        if init is None:
            self._attrs[info] = {}
            return {}
        summary = self.generic(init, self.instance(info))
        if summary.done:
            self._attrs[info] = dict(summary.self_writes)
        return summary.self_writes

    def built_attributes(self, info: ClassInfo) -> Mapping[str, Value]:
        """The same where `__init__` is left to its defaults: `Loss()` takes the distance that it makes itself."""
        found = self._built.get(info)
        init = self.method(info, "__init__") if found is None else None
        if init is None or self.depth >= MAX_CALL_DEPTH:
            return found or {}
        self._built[info] = {}  # until it is known
        arguments = dict(self.parameters(init))
        spec = init.node.args
        for name, value in arguments.items():
            default = init.default(name)
            if default is not None and isinstance(value, Unknown):
                arguments[name] = self.evaluate(default, init.module)
        if spec.vararg is not None:
            arguments[spec.vararg.arg] = Seq("tuple", ())
        if spec.kwarg is not None:
            arguments[spec.kwarg.arg] = Map({})
        probe = Summary(init.module, init, arguments, bound=self.instance(info))
        self._silently(probe)
        self._built[info] = probe.self_writes
        return probe.self_writes

    def _silently(self, probe: Summary) -> None:
        """Interpret a function for what it sets, telling nobody of it."""
        from compilelint.engine.run import Run

        self.depth += 1
        try:
            run = Run(self, probe)
            run.silent = 1
            run.execute()
        finally:
            self.depth -= 1

    def attribute(self, info: ClassInfo, name: str) -> Value | None:
        """`self.name` of an instance about which nothing more is known; None when no class says anything of it."""
        known = self._lazy_attrs.get((info, name))
        if known is not None or (info, name) in self._unset:
            return known
        if (info, name) in self._attr_pending:
            # asked for by a method that sets it: what is known so far, the start of a fixpoint
            return self._attr_pending[(info, name)]
        value = self.init_attributes(info).get(name)
        if isinstance(value, Unknown):
            value = self.built_attributes(info).get(name, value)
        writers = list(self._writers(info).get(name, ()))
        if value is None and not writers:
            if info in self._attrs and not self._ordering:
                self._unset.add((info, name))
            return None
        if isinstance(value, (Seq, Map)) or (isinstance(value, Instance) and value.external in CONTAINERS):
            fillers = [f for b in self.mro(info) if isinstance(b, ClassInfo) for f in b.fills.get(name, ())]
            fillers = [f for f in fillers if f.name != "__init__" and f not in writers]
            writers += fillers[: max(0, MAX_WRITERS - len(writers))]
        if value is None and any(isinstance(base, ClassInfo) and name in base.attributes for base in self.mro(info)):
            value = self.class_attribute(info, name, None)  # until a method sets it
        if writers and len(writers) <= MAX_WRITERS:
            self._attr_pending[(info, name)] = value if value is not None else UNKNOWN
            try:
                for writer in writers:
                    writes, complete = self._writes(writer)
                    if name not in writes and not complete and value is not None:
                        continue  # it asks for another attribute that it sets itself: what it adds here comes later
                    if name not in writes and writer.cls is not None and writer not in writer.cls.stores.get(name, ()):
                        continue  # it fills what is no container that is known
                    written = writes.get(name, UNKNOWN)
                    value = written if value is None else join(value, written)
            finally:
                del self._attr_pending[(info, name)]
        elif writers:
            value = UNKNOWN
        result = value if value is not None else UNKNOWN
        if not self._attr_pending and info in self._attrs:
            self._lazy_attrs[(info, name)] = result
        return result

    def reads_when_built(self, info: ClassInfo, name: str) -> bool:
        """Whether `__init__`, or a method that it calls, reads `self.name`: a cached property is known from then on."""
        waiting = [
            b.methods["__init__"] for b in self.mro(info) if isinstance(b, ClassInfo) and "__init__" in b.methods
        ]
        seen = set(waiting)
        while waiting:
            writer = waiting.pop()
            me = next((a.arg for a in writer.node.args.args), "")
            for node in walk_tree(writer.node):
                match node:
                    case ast.Attribute(value=ast.Name(id=owner), attr=attr, ctx=ast.Load()) if owner == me:
                        if attr == name:
                            return True
                        if (called := self.method(info, attr)) is not None and called not in seen:
                            seen.add(called)
                            waiting.append(called)
        return False

    def _writers(self, info: ClassInfo) -> Mapping[str, list[FunctionInfo]]:
        """The methods but `__init__` that set attributes of a class's objects, by attribute."""
        found = self._stores.get(info)
        if found is None:
            found = {}
            for base in self.mro(info):
                for name, writers in base.stores.items() if isinstance(base, ClassInfo) else ():
                    found.setdefault(name, []).extend(w for w in writers if w.name != "__init__")
            if not self._ordering:
                self._stores[info] = found
        return found

    def _writes(self, writer: FunctionInfo) -> tuple[Mapping[str, Value], bool]:
        """The attributes that a method sets, and whether these are all of them.

        A method that is being interpreted just now is looked at aside, silently.
        """
        known = self._generic.get(writer)
        if known is not None and known.done:
            return known.self_writes, True
        probe = self._probes.get(writer)
        if probe is None:
            if self.depth >= MAX_CALL_DEPTH:
                self.hit("call depth")
                return {}, True
            probe = Summary(
                writer.module,
                writer,
                dict(self.parameters(writer)),
                cold=not self.home(writer.module),
                bound=self.receiver(writer),
            )
            self._probes[writer] = probe
            self._silently(probe)
            probe.done = True
        return probe.self_writes, probe.done

    def fields(self, info: ClassInfo) -> list[str]:
        """The annotated fields of a dataclass or named tuple, in order."""
        names: list[str] = []
        for base in reversed([b for b in self.mro(info) if isinstance(b, ClassInfo)]):
            names.extend(n for n in base.annotations if n not in names)
        return names

    # -- functions -------------------------------------------------------------------------------------------------

    def decorated(self, function: Value, info: FunctionInfo, scope: Names) -> Value:
        """What a function's decorators make of it, as far as that matters: compiled ones enter a region when called."""
        if not info.decorators or isinstance(info.node, ast.Lambda):
            return function
        value = function
        for node in reversed(info.node.decorator_list):
            call = node if isinstance(node, ast.Call) else None
            target = scope.static(call.func if call is not None else node)
            if isinstance(target, External):
                if target.name == "torch.compile":
                    value = Compiled(value, call is not None and asks_fullgraph(call))
                elif (
                    target.name in ("torch.library.custom_op", "torch.library.triton_op")
                    and call is not None
                    and call.args
                ):
                    value = self.operator(call.args[0], value, info.module)
                elif target.name in COMPILES_APART:
                    value = Instance(None, target.name, attrs={"function": value})
                elif target.name == "functools.partial" and call is not None and call.args:
                    inner = scope.static(call.args[0])
                    if isinstance(inner, External) and inner.name == "torch.compile":
                        value = Compiled(value, asks_fullgraph(call))
        return value

    def operator(self, name: ast.expr, function: Value, module: Module) -> Value:
        """What `custom_op` makes of a function: an operator that is known to have a fake implementation, or not."""
        qualified = name.value if isinstance(name, ast.Constant) else None
        attrs = {"function": function}
        if self.unregistered(qualified, module):
            attrs["unregistered"] = Const(True)
        return Instance(
            None, "torch.library.CustomOpDef", attrs=attrs, origin=Origin(str(module.path), name, "names the operator")
        )

    def unregistered(self, qualified: object, module: Module) -> bool:
        """Whether a custom operator is defined in a module, and without a fake implementation."""
        known = self._operators.get(module)
        if known is None:
            known = self._operators[module] = operators(module)
        return known.get(qualified) is False if isinstance(qualified, str) else False

    def asks_compiling(self, function: Function, depth: int = 0) -> bool:
        """Whether a function of the project is true while Dynamo traces: a small one that calls is_compiling()."""
        info = function.info
        known = self._asks.get(info)
        if known is None:
            self._asks[info] = known = depth < 4 and self._returns_compiling(info, depth)
        return known

    def _returns_compiling(self, info: FunctionInfo, depth: int) -> bool:
        body = info.node.body
        if not isinstance(body, list) or len(body) > 15:
            return False
        if not any(isinstance(s, ast.Return) for s in walk_tree(info.node)):
            return False
        scope = self.scope(info.module)
        imported: dict[str, Value] = {}
        for node in walk_tree(info.node):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imported.update(scope.imports(node))
        for node in walk_tree(info.node):
            if isinstance(node, ast.Call):
                callee = scope.static(node.func)
                root = node.func
                while isinstance(root, ast.Attribute):
                    root = root.value
                if isinstance(root, ast.Name) and root.id in imported:
                    callee = imported[root.id]
                    for name in ast.unparse(node.func).split(".")[1:]:
                        callee = self.member(callee, name)
                asks = isinstance(callee, External) and callee.name == "torch.compiler.is_compiling"
                if isinstance(callee, Function) and callee.info is not info:
                    asks = self.asks_compiling(callee, depth + 1)
                if asks and not _denies(node, info.module):
                    return True
        return False

    def is_generator(self, info: FunctionInfo) -> bool:
        if info.generator is None:
            info.generator = info.mentions(YIELD) and is_generator(info.node)
        return info.generator

    def disabled(self, info: FunctionInfo) -> bool:
        """Whether Dynamo is kept out of a function: by torch.compiler.disable, or since it is an operator's body."""
        if self._is_marked(info, KEPT_OUT):
            return True
        return any(name.rpartition(".")[2] in REGISTERS for name in info.decorators)

    def is_kernel(self, info: FunctionInfo) -> bool:
        """Whether another compiler makes machine code of a function: it works on memory, not on tensors."""
        return self._is_marked(info, KERNELS)

    def _is_marked(self, info: FunctionInfo, names: Collection[str]) -> bool:
        """Whether a function is decorated with one of these."""
        if isinstance(info.node, ast.Lambda) or not info.decorators:
            return False
        scope = self.scope(info.module)
        targets = [scope.static(d.func if isinstance(d, ast.Call) else d) for d in info.node.decorator_list]
        return any(isinstance(t, External) and t.name in names for t in targets)

    def parameters(self, info: FunctionInfo) -> dict[str, Value]:
        """Each parameter's value judged by annotation, default and use: what a caller nobody saw would pass."""
        found = self._defaults.get(info)
        if found is not None:
            return found
        result: dict[str, Value] = {}
        self._defaults[info] = result
        args = info.node.args
        path = str(info.module.path)
        scope = self.scope(info.module)
        plain = args.posonlyargs + args.args
        defaults: dict[str, ast.expr] = {}
        for arg, default in zip(reversed(plain), reversed(args.defaults), strict=False):
            defaults[arg.arg] = default
        for arg, maybe in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if maybe is not None:
                defaults[arg.arg] = maybe
        everything = plain + args.kwonlyargs
        untyped: set[str] = set()
        for arg in everything:
            value = annotated(arg.annotation, scope, path, arg)
            if isinstance(value, Unknown):
                untyped.add(arg.arg)
            given = defaults.get(arg.arg)
            if isinstance(given, ast.Constant):
                if given.value is None:
                    value = join(NONE, value) if not isinstance(value, Unknown) else UNKNOWN
                elif isinstance(value, Unknown) and arg.annotation is None and (kind := scalar_type(given.value)):
                    value = Scalar(kind, Flow.STATIC)
                    untyped.discard(arg.arg)
            result[arg.arg] = value
        untyped -= {info.me}
        if untyped:
            uses = scan(info.node, untyped, scope.static)
            for name, node in uses.tensors.items():
                tensor = Tensor(origin=Origin(path, node, "is an operation of tensors alone"))
                given = defaults.get(name)
                optional = isinstance(given, ast.Constant) and given.value is None
                result[name] = join(NONE, tensor) if optional else tensor
            for name, value in self._documented(info, untyped - uses.tensors.keys()).items():
                given = defaults.get(name)
                result[name] = join(NONE, value) if isinstance(given, ast.Constant) else value
        if info.mentions(ARRAYS):
            for name in made_arrays(info.node, scope.static) & result.keys():
                if isinstance(value := result[name], Tensor):
                    result[name] = replace(value, device=Device.CPU)
        result.update({name: as_named(value, name) for name, value in result.items()})
        if args.vararg is not None:
            element = annotated(args.vararg.annotation, scope, path, args.vararg)
            result[args.vararg.arg] = Seq("tuple", None, element)
        if args.kwarg is not None:
            result[args.kwarg.arg] = Map(None, Scalar("str"), annotated(args.kwarg.annotation, scope, path, args.kwarg))
        return result

    def _documented(self, info: FunctionInfo, names: set[str]) -> dict[str, Value]:
        """Those of the parameters that the docstring calls tensors; `__init__` may be documented with its class."""
        texts = [docs.of(info.node)]
        if info.cls is not None and info.name == "__init__":
            texts.append(docs.of(info.cls.node))
        found: dict[str, Value] = {}
        for text in texts if names else ():
            if "ensor" not in text:
                continue
            for name, said in docs.documented(text).items():
                if name in names and name not in found:
                    origin = Origin(str(info.module.path), info.node, f"documents `{name}` as a tensor")
                    found[name] = _said(said, origin)
        return found

    def receiver(self, info: FunctionInfo) -> Value | None:
        """`self` or `cls` of a method interpreted on its own."""
        if info.cls is None or "staticmethod" in info.decorators:
            return None
        return Class(info.cls) if "classmethod" in info.decorators else self.instance(info.cls)

    def generic(self, info: FunctionInfo, bound: Value | None = None, cold: bool = False) -> Summary:
        """The function interpreted on its own: parameters as annotated or used."""
        bound = bound if bound is not None else self.receiver(info)
        if isinstance(bound, Instance) and bound.info is not None and (bound.info is not info.cls or bound.attrs):
            return self.call(Function(info, bound=bound), dict(self.parameters(info)), generic=True)
        found = self._generic.get(info)
        if found is None and cold:
            found = self._cold.get(info)
        if found is None:
            known = self._cold if cold else self._generic
            found = known[info] = Summary(
                info.module, info, dict(self.parameters(info)), generic=True, cold=cold, bound=bound
            )
            self._interpret(found)
        return found

    def completes(self, info: ClassInfo, name: str) -> Instance | None:
        """An instance whose class inherits method `name` and overrides one that it calls on `self`: a template."""
        inherited = self.method(info, name)
        if inherited is None or inherited.cls is None or inherited.cls is info:
            return None
        owner, receiver = inherited.cls, next((a.arg for a in inherited.node.args.args), "")
        called = {
            node.func.attr
            for node in walk_tree(inherited.node)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == receiver
        }
        if all(self.method(info, other) is self.method(owner, other) for other in called):
            return None
        instance = self.instance(info)
        return instance if instance.isa("torch.nn.Module") else None

    def call(
        self, function: Function, arguments: dict[str, Value], generic: bool = False, caller: Summary | None = None
    ) -> Summary:
        """The function interpreted for these argument values (`arguments` complete, `self` not included)."""
        info = function.info
        cold = caller is not None and self._is_cold(caller) and not self.home(info.module)
        if caller is not None and (caller.builds or caller.sets_up) and _stands_for_itself(function, arguments):
            return self.generic(info, cold=cold)
        lone = cold and function.closure is None and not _matter(arguments)
        if lone and caller is not None and self._signed_enough(info, caller):
            return self._by_signature(info, arguments)
        builds = caller is not None and _inherited(function) and (caller.builds or caller.sets_up)
        contexts = self._contexts.setdefault(info, {})
        entered = self._active.get(info, 0)
        if entered:
            # a recursion: constants that change from level to level would make a new context at each
            arguments = {name: widened(value) for name, value in arguments.items()}
            if entered >= MAX_RECURSION:
                self.hit("recursion")
                return self._generic.get(info) or Summary(info.module, info, arguments)
        context = (
            tuple(key(v) for v in arguments.values()),
            None if function.bound is None else key(function.bound),
            id(function.closure),
            builds,
            cold,
        )
        found = contexts.get(context)
        if found is not None:
            return found
        if function.closure is None and self.depth >= MAX_CALL_DEPTH:
            self.hit("call depth")
            return self._generic.get(info) or Summary(info.module, info, arguments)
        if not generic and len(contexts) >= MAX_CONTEXTS and self._has_enough(function, contexts):
            self.hit("contexts")
            return self.generic(info) if function.closure is None else Summary(info.module, info, arguments)
        if self.depth >= MAX_CALL_DEPTH * 2:
            self.hit("call depth")
            return Summary(info.module, info, arguments)
        found = contexts[context] = Summary(
            info.module,
            info,
            arguments,
            generic=generic,
            closure=function.closure,
            bound=function.bound,
            builds=builds,
            cold=cold,
        )
        self._interpret(found)
        return found

    def _is_cold(self, caller: Summary) -> bool:
        """Whether a context runs once, whoever asks for it: set-up, a module's own statements, what loads or saves."""
        if caller.cold or caller.builds or caller.sets_up:
            return True
        return caller.info is None or runs_once(caller.info)

    def _signed_enough(self, info: FunctionInfo, caller: Summary) -> bool:
        """Whether a signature says what a function gives: plain values or, if the caller is of no interest, objects."""
        known = self._signatures.get(info)
        if known is None:
            known = self._signatures[info] = self._what_signed(info)
        return known == "plain" or (known == "object" and caller.cold)

    def _what_signed(self, info: FunctionInfo) -> str:
        node = info.node
        if isinstance(node, ast.Lambda) or info.name in SETUP or self.is_generator(info):
            return ""
        if info.cls is not None and any(info in writers for writers in info.cls.stores.values()):
            return ""
        if node.returns is None:
            returns = any(isinstance(n, ast.Return) and n.value is not None for n in walk_tree(node))
            return "" if returns else "plain"
        value = annotated(node.returns, self.scope(info.module), str(info.module.path), node.returns)
        if any(isinstance(v, Unknown) for v in options(value)):
            return ""
        held = list(walk(value))
        if any(isinstance(v, _MATTERS) or (isinstance(v, Instance) and v.isa("torch.nn.Module")) for v in held):
            return ""
        return "object" if any(isinstance(v, Instance) for v in held) else "plain"

    def _by_signature(self, info: FunctionInfo, arguments: dict[str, Value]) -> Summary:
        summary = Summary(info.module, info, arguments, cold=True)
        if not isinstance(info.node, ast.Lambda) and info.node.returns is None:
            summary.returns = NONE
        self._take_signature(summary)
        return summary

    def _has_enough(self, function: Function, contexts: Mapping[Any, Summary]) -> bool:
        """Whether a function was interpreted in so many contexts that one more is too many."""
        if function.closure is not None:
            return len(contexts) >= MAX_CLOSURE_CONTEXTS
        if isinstance(function.bound, Instance):
            own = sum(isinstance(s.bound, Instance) and s.bound.info is function.bound.info for s in contexts.values())
            return own >= MAX_CONTEXTS or len(contexts) >= MAX_INHERITED_CONTEXTS
        return len(contexts) >= MAX_IMPORT_CONTEXTS or not imports_by_name(function.info.node)

    def top_level(self, module: Module) -> Summary:
        """A module's own statements."""
        found = self._modules.get(module.name)
        if found is None or found.module is not module:
            found = self._modules[module.name] = Summary(module, None, generic=True)
            self._interpret(found)
        return found

    def _follows(self, info: FunctionInfo) -> bool:
        """Whether one more context of a function may be interpreted: in installed packages they are bounded."""
        if not info.module.installed:
            return True
        if self._followed >= MAX_FOLLOWED:
            self.hit("contexts in installed packages")
            return False
        self._followed += 1
        return True

    def _take_signature(self, summary: Summary) -> None:
        """Judge a function by what it is annotated to return, where nothing better is known."""
        info = summary.info
        if info is not None and not isinstance(info.node, ast.Lambda) and isinstance(summary.returns, Unknown):
            returns = info.node.returns
            if returns is not None:
                returned = annotated(returns, self.scope(info.module), str(info.module.path), returns)
                summary.returns = as_named(returned, info.name)
            elif "ensor" in (text := docs.of(info.node)) and (said := docs.returned(text)) is not None:
                summary.returns = _said(
                    said, Origin(str(info.module.path), info.node, "is documented to give a tensor")
                )
        summary.done = True

    def _interpret(self, summary: Summary) -> None:
        from compilelint.engine.run import Run

        info = summary.info
        if self.overdue(summary) or (info is not None and not self._follows(info)):
            self._take_signature(summary)
            return
        self.depth += 1
        if info is not None:
            self._active[info] = self._active.get(info, 0) + 1
        try:
            Run(self, summary).execute()
        finally:
            self.depth -= 1
            if info is not None:
                self._active[info] = self._active.get(info, 1) - 1
            self._take_signature(summary)

    def evaluate(self, node: ast.expr, module: Module) -> Value:
        """The value of an expression at a module's top level; no events."""
        from compilelint.engine.run import Run

        if isinstance(node, ast.Constant):
            return Const(node.value)
        if self.depth >= MAX_CALL_DEPTH * 2:
            self.hit("call depth")
            return UNKNOWN
        self.depth += 1
        try:
            run = Run(self, Summary(module, None))
            run.silent = 1
            return run.evaluate(node)
        finally:
            self.depth -= 1

    def add_compile_root(self, function: Value, fullgraph: bool = False) -> None:
        """Remember that a function (or a module's forward) is compiled, even where nobody is seen to call it."""
        match function:
            case Function(info=info, bound=bound):
                if function.closure is None:
                    self.compile_roots.append((self.generic(info, bound), fullgraph))
            case Instance(info=info) if info is not None:
                forward = self.method(info, "forward")
                if forward is not None:
                    self.compile_roots.append((self.generic(forward, function), fullgraph))
            case Class(info=info):
                forward = self.method(info, "forward")
                if forward is not None:
                    self.compile_roots.append((self.generic(forward, self.instance(info)), fullgraph))
            case Partial(func=func):
                self.add_compile_root(func, fullgraph)
            case Compiled(inner=inner):
                self.add_compile_root(inner, fullgraph)
            case Union(options=choices):
                for choice in choices:
                    self.add_compile_root(choice, fullgraph)

    def summaries(self) -> list[Summary]:
        """Every context interpreted so far."""
        found = [*self._modules.values(), *self._generic.values(), *self._cold.values()]
        for contexts in self._contexts.values():
            found.extend(contexts.values())
        return found

    def contexts(self, info: FunctionInfo) -> list[Summary]:
        """Those of one function."""
        found = [known[info] for known in (self._generic, self._cold) if info in known]
        return [*found, *self._contexts.get(info, {}).values()]

    def release(self) -> None:
        """Breaks the cycles, so that all goes at once: to have them looked for costs a tenth of the time."""
        for summary in self.summaries():
            summary.edges.clear()
            summary.events.clear()
            summary.unresolved.clear()
            summary.values = None
        for frame in self.enclosing:
            frame.release()
        for scope in self._scopes.values():
            scope.known.clear()
        for table in (self._scopes, self._contexts, self._generic, self._cold, self._modules, self._probes):
            table.clear()
        for values in (self._defaults, self._attrs, self._lazy_attrs, self._built):
            values.clear()
        self.enclosing.clear()
        self.compile_roots.clear()
        self.hooks.clear()
        self.backward_hooks.clear()

    def recover(self) -> None:
        """After an exception: nothing is being interpreted any more."""
        self.depth = 0
        self._active.clear()

    def seen(self, info: FunctionInfo) -> bool:
        """Whether a function was interpreted in any context."""
        return bool(self._contexts.get(info)) or info in self._generic

    def overdue(self, summary: Summary) -> bool:
        """Whether it is past the deadline; then a context is not followed any further, which is noted."""
        if time.thread_time() < self.deadline:
            return False
        self.hit(f"{TOO_SLOW}{summary.name}")
        return True

    def hit(self, bound: str) -> None:
        self.bounds[bound] = self.bounds.get(bound, 0) + 1

    def edge(
        self, caller: Summary, callee: Summary, site: Site, node: ast.AST, statement: ast.stmt, compiled: Entry
    ) -> None:
        disabled = callee.info is not None and self.disabled(callee.info)
        caller.edges.append(Edge(callee, site, node, statement, compiled, disabled))


def _said(said: docs.Documented, origin: Origin) -> Value:
    """The value that a docstring speaks of."""
    tensor = Tensor(dtype=said.dtype, origin=origin)
    value: Value = Seq(said.held, None, tensor) if said.held else tensor
    return declared(join(NONE, value)) if said.optional else value


def _denies(call: ast.Call, module: Module) -> bool:
    """Whether a call of is_compiling() decides for a false answer: `if is_compiling(): return False`."""
    child: ast.AST = call
    while not isinstance(child, ast.stmt):
        child = module.parents[child]
    match child:
        case ast.If(body=[*_, ast.Return(value=ast.Constant(value=answer))]):
            return not answer
    return False


def _inherited(function: Function) -> bool:
    """Whether a method is called on an object of a class that has it from another."""
    bound = function.bound
    return isinstance(bound, Instance) and bound.info is not None and bound.info is not function.info.cls


def _stands_for_itself(function: Function, arguments: Mapping[str, Value]) -> bool:
    """Whether code that builds an object calls an inherited method that is alike for all classes.

    It is given nothing that holds a tensor, or that can be called; what constructors hand on to one another is known.
    """
    if not _inherited(function) or function.info.name in MAKES:
        return False
    return not _matter(arguments)


def _matter(arguments: Mapping[str, Value]) -> bool:
    """Whether anything is passed that holds a tensor, or that can be called."""
    return any(isinstance(v, _MATTERS) for value in arguments.values() for v in walk(value))


def _makes_tuple(function: Value) -> bool:
    return isinstance(function, External) and function.name == "collections.namedtuple"


def asks_fullgraph(call: ast.Call) -> bool:
    """Whether a call of torch.compile says fullgraph=True."""
    return any(
        k.arg == "fullgraph" and isinstance(k.value, ast.Constant) and k.value.value is True for k in call.keywords
    )
