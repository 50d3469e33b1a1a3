"""Calls and attributes: into the project by summary, out of it by the models."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from compilelint.engine.events import Call, Convert, Touch, own_loop
from compilelint.engine.frame import Frame
from compilelint.engine.summary import Entry, Summary
from compilelint.engine.usage import OF_TENSORS, READS, shows_tensor, takes_tensor
from compilelint.engine.values import (
    BATCH,
    DEFAULT,
    ITERATED,
    LOADED,
    LOADER,
    NEVER,
    OUTPUT,
    READ,
    TOKENIZED,
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
    join_all,
    options,
    same,
    tensor_of,
    without_none,
)
from compilelint.models import containers, nn, objects, sparse, torch_api
from compilelint.models import tensors as tensor_model
from compilelint.source.module import ClassInfo, FunctionInfo
from compilelint.source.walk import walk as walk_tree

MADE_OF = "is made of a tensor by a function that isn't known"


def _is_no_tensor(value: Value | None) -> bool:
    """Whether a parameter is declared a bool, a text or a container: a tensor passed for it was inferred wrongly."""
    return isinstance(value, (Seq, Map)) or (isinstance(value, Scalar) and value.type in ("bool", "str"))


def _is_of_numbers(value: Value | None) -> bool:
    """Whether a parameter is declared a list of numbers or texts."""
    if isinstance(value, Union):
        value = without_none(value)
    return isinstance(value, Seq) and isinstance(value.any_item(), Scalar)


def _is_on_host(value: Value | None) -> bool:
    """Whether a parameter is a tensor of the host, by its name or use."""
    tensor = tensor_of(value) if value is not None else None
    return tensor is not None and tensor.device is Device.CPU


def _is_contradicted(value: Value, noted: Value | None) -> bool:
    """Whether what was inferred of an argument can't be, by its parameter's annotation or name."""
    match value:
        case Tensor(device=device):
            return _is_no_tensor(noted) or (device is Device.UNKNOWN and _is_on_host(noted))
        case Instance(external=external):
            return external in (BATCH, OUTPUT) and _is_of_numbers(noted)
        case Seq():
            return _is_of_numbers(noted) and isinstance(value.any_item(), Tensor)
    return False


NAMED_TUPLES = ("typing.NamedTuple", "collections.namedtuple")
# what an attribute must hold for its calls to lead somewhere
_CALLABLE = (Function, Class, Partial, Compiled, Instance)


def _writers(base: ClassInfo | str, name: str) -> Sequence[FunctionInfo]:
    return base.stores.get(name, ()) if isinstance(base, ClassInfo) else ()


def _made_of_tensor(value: Value) -> bool:
    """Whether a value nobody knows is what an unknown function made of a tensor: no table, no text."""
    return value.origin is not None and value.origin.why == MADE_OF


def _is_tokenizer(arguments: Arguments) -> bool:
    """Whether a call is one of Hugging Face's tokenizers or processors, which make tensors on the host."""
    asked = arguments.kwargs.get("return_tensors")
    return isinstance(asked, Const) and asked.value == "pt" and "device" not in arguments.kwargs


class Arguments:
    """The evaluated arguments of one call. `starred`: more may be passed than is known."""

    __slots__ = ("args", "kwargs", "node", "starred")

    def __init__(self, args: list[Value], kwargs: dict[str, Value], starred: bool, node: ast.Call | None) -> None:
        self.args = args
        self.kwargs = kwargs
        self.starred = starred
        self.node = node

    @classmethod
    def none(cls) -> Arguments:
        return cls([], {}, False, None)

    def get(self, position: int, name: str) -> Value | None:
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if position < len(self.args) else None


class Calls(Frame):
    def evaluate(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def peek(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        raise NotImplementedError

    # -- the call expression -----------------------------------------------------------------------------------------

    def call_expression(self, node: ast.Call) -> Value:
        func = node.func
        if isinstance(func, ast.Name) and func.id == "super" and not isinstance(self.lookup("super"), Function):
            return UNKNOWN
        callee = self.evaluate(func)
        read, owner = self.last_owner
        arguments = self.arguments(node)
        if isinstance(callee, Unknown) and isinstance(func, ast.Attribute):
            if read is not func:
                owner = self.peek(func.value)
            if func.attr == "backward" and arguments.args:
                self._training()  # `accelerator.backward(loss)`: it need not be a tensor's
            elif func.attr in objects.MODULE_HOOKS and (arguments.args or arguments.kwargs):
                callee = Method(func.attr, Instance(None, "torch.nn.Module"))
            elif not isinstance(owner, Unknown):
                pass
            elif shows_tensor(node, func) or (func.attr in OF_TENSORS and _made_of_tensor(owner)):
                callee = Method(func.attr, self.proved(func.value, func, "is an operation of tensors alone"))
            elif func.attr == "requires_grad_":
                self._tell_requires_grad(func, arguments, node)
            elif func.attr in READS and not node.args and not node.keywords:  # of an array, perhaps: on the host
                tensor = Tensor(Device.CPU, origin=self.origin(func, READ))
                callee = Method(func.attr, tensor)
        target = callee.name if isinstance(callee, External) else ""
        given = arguments.args[0] if target and arguments.args else None
        if isinstance(given, Unknown):
            first = node.args[0]
            alone = target == "torch.where" and len(arguments.args) + len(arguments.kwargs) == 1
            if not isinstance(first, ast.Starred) and (alone or takes_tensor(target)):
                arguments.args[0] = self.proved(first, node, "is an operation of tensors alone")
        elif isinstance(given, Instance) and given.external == BATCH and takes_tensor(target):
            arguments.args[0] = objects.batch_tensor(given)
        if isinstance(func, ast.Attribute) and isinstance(callee, (Method, Unknown)):
            self._update_receiver(func, callee, arguments, node)
        if isinstance(callee, Unknown) and isinstance(func, ast.Attribute):
            self._note_unresolved(func.attr, arguments)
        if isinstance(callee, External) and callee.name == "setattr" and len(arguments.args) == 3:
            self._setattr(node, arguments)
        result = self.call(callee, arguments, node)
        if isinstance(result, Unknown) and result is not NEVER and _is_tokenizer(arguments):
            return Instance(None, BATCH, origin=self.origin(node, TOKENIZED))
        return result

    def _note_unresolved(self, method: str, arguments: Arguments) -> None:
        if not self.silent and any(isinstance(v, Tensor) for v in (*arguments.args, *arguments.kwargs.values())):
            self.summary.unresolved.append((method, arguments.args, arguments.kwargs))

    def _tell_requires_grad(self, func: ast.Attribute, arguments: Arguments, node: ast.Call) -> None:
        """`x.requires_grad_()`: of a tensor or a module, which comes to the same; a parameter may need it already."""
        if self.dotted(func.value) in self.summary.arguments:
            return
        tensor = Tensor(origin=self.origin(func, "needs a gradient as tensors do"))
        self._tell_call("Tensor.requires_grad_", arguments, tensor, UNKNOWN, node)

    def proved(self, node: ast.expr, use: ast.AST, why: str) -> Tensor:
        """`x.backward()` shows what nobody knew before: `x` is a tensor."""
        tensor = Tensor(origin=self.origin(use, why))
        path = self.dotted(node)
        if path is not None:
            self.bind(path, tensor)
        return tensor

    def arguments(self, node: ast.Call) -> Arguments:
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        starred = False
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                value = self.evaluate(arg.value)
                if isinstance(value, Seq) and value.items is not None:
                    args.extend(value.items)
                else:
                    starred = True
            elif starred:
                self.evaluate(arg)
            else:
                args.append(self.evaluate(arg))
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, Map) and value.items is not None:
                kwargs.update({k: v for k, v in value.items.items() if isinstance(k, str)})
            else:
                starred = True
        return Arguments(args, kwargs, starred, node)

    def call(self, callee: Value, arguments: Arguments, node: ast.AST, compiled: Entry = "") -> Value:
        """Call a value."""
        match callee:
            case Function():
                return self.call_function(callee, arguments, node, compiled)
            case External():
                return self.call_external(callee.name, arguments, node)
            case Method():
                return self.call_method(callee, arguments, node)
            case Class():
                return self.instantiate(callee.info, arguments, node)
            case Instance():
                return self.call_instance(callee, arguments, node, compiled)
            case Partial():
                merged = Arguments(
                    [*callee.args, *arguments.args],
                    {**callee.kwargs, **arguments.kwargs},
                    arguments.starred,
                    arguments.node,
                )
                return self.call(callee.func, merged, node, compiled)
            case Compiled():
                return self.call(callee.inner, arguments, node, "fullgraph" if callee.fullgraph else "split")
            case Union():
                found = [
                    self.call(option, arguments, node, compiled)
                    for option in callee.options
                    if not (isinstance(option, Const) and option.value is None)
                ]
                found = [value for value in found if value is not NEVER]
                return join_all(found) if found else UNKNOWN
        self._callbacks(arguments, node)
        given = next((v for v in arguments.args if isinstance(v, Tensor)), None)
        return UNKNOWN if given is None else Unknown(origin=self.origin(node, MADE_OF, given))

    # -- into the project --------------------------------------------------------------------------------------------

    def call_function(self, function: Function, arguments: Arguments, node: ast.AST, compiled: Entry = "") -> Value:
        summary = self._enter(function, arguments, node, compiled)
        if self.engine.is_generator(function.info):
            return Seq("generator", None, summary.yields if summary.yields is not None else UNKNOWN)
        if sparse.is_sparse(summary.returns) and not any(map(sparse.is_sparse, arguments.args)):
            self._come_through(node)
        return declared(summary.returns)

    def _come_through(self, node: ast.AST) -> None:
        """A call that makes a sparse tensor breaks the graph: one that a name holds by then must come through."""
        for name, value in (self.env or {}).items():
            if "." not in name and sparse.is_sparse(value) and self.wants(Touch):
                self.emit(Touch(node, self.site, self.statement, value, made_here=True))
                return

    def _enter(self, function: Function, arguments: Arguments, node: ast.AST, compiled: Entry = "") -> Summary:
        """What comes of a function called with these arguments; the call is remembered."""
        bound = self.bind_arguments(function, arguments)
        if compiled:
            bound = {name: self._passed_in(function.info, name, value) for name, value in bound.items()}
        summary = self.engine.call(function, bound, caller=self.summary)
        if not self.silent:
            self.engine.edge(self.summary, summary, self.site, node, self.statement, compiled)
        self._take_writes(function, summary.self_writes)
        return summary

    def _passed_in(self, info: FunctionInfo, name: str, value: Value) -> Value:
        """An argument as compiled code sees it: a tensor is an input, whatever the caller made it from."""
        arg = next((a for a in walk_tree(info.node.args) if isinstance(a, ast.arg) and a.arg == name), None)
        if not isinstance(value, Tensor) or arg is None:
            return value
        return replace(value, constant=False, origin=Origin(str(info.module.path), arg, "is passed in", value.origin))

    def _take_writes(self, function: Function, writes: Mapping[str, Value]) -> None:
        """A method called on our own `self` set attributes of it."""
        if self.me is None or not writes or self.env is None:
            return
        mine = self.summary.bound
        if isinstance(function.bound, Instance) and isinstance(mine, Instance) and function.bound.info is mine.info:
            for name, value in writes.items():
                path = f"{self.me}.{name}"
                before = self.env.get(path, self._unset(mine, name, value))
                self.put(path, value if before is None else join(before, value))
                self.note_write(name, value)

    def _unset(self, mine: Instance, name: str, value: Value) -> Value | None:
        """What an attribute held before, where the class says that it may hold nothing instead of what was written."""
        known = self.engine.attribute(mine.info, name) if mine.info is not None else None
        optional = isinstance(known, Union) and any(same(value, option) for option in known.options)
        return known if optional else None

    def bind_arguments(self, function: Function, arguments: Arguments) -> dict[str, Value]:
        """Each parameter's value: what is passed, or what its annotation, default and use say where that is unknown."""
        info = function.info
        spec = info.node.args
        plain = [a.arg for a in spec.posonlyargs + spec.args]
        bound: dict[str, Value] = {}
        if function.bound is not None and plain:
            plain = plain[1:]
        generic = self.engine.parameters(info)
        given = list(arguments.args)
        names = set(plain) | {a.arg for a in spec.kwonlyargs}
        for name in plain:
            if given:
                bound[name] = given.pop(0)
            elif name in arguments.kwargs:
                bound[name] = arguments.kwargs[name]
        for arg in spec.kwonlyargs:
            if arg.arg in arguments.kwargs:
                bound[arg.arg] = arguments.kwargs[arg.arg]
        result: dict[str, Value] = {}
        for name in [*plain, *(a.arg for a in spec.kwonlyargs)]:
            value = bound.get(name)
            if value is None:
                value = generic.get(name, UNKNOWN) if arguments.starred else self._default(info, name, generic)
            elif isinstance(value, Unknown) or _is_contradicted(value, generic.get(name)):
                value = generic.get(name, UNKNOWN)
            result[name] = value
        if spec.vararg is not None:
            known = not arguments.starred
            result[spec.vararg.arg] = Seq("tuple", tuple(given)) if known else generic.get(spec.vararg.arg, UNKNOWN)
        if spec.kwarg is not None:
            extra = {k: v for k, v in arguments.kwargs.items() if k not in names}
            result[spec.kwarg.arg] = Map(extra) if not arguments.starred else generic.get(spec.kwarg.arg, UNKNOWN)
        return result

    def _default(self, info: FunctionInfo, name: str, generic: Mapping[str, Value]) -> Value:
        """The default of a parameter that this call leaves out."""
        default = info.default(name)
        return generic.get(name, UNKNOWN) if default is None else self._default_value(info, default)

    def _default_value(self, info: FunctionInfo, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return Const(node.value, origin=Origin(str(info.module.path), node, DEFAULT))
        value = self.engine.evaluate(node, info.module)
        if isinstance(value, Instance) and value.external == "torch.device":
            return replace(value, origin=Origin(str(info.module.path), node, DEFAULT))
        return value

    def instantiate(self, info: ClassInfo, arguments: Arguments, node: ast.AST) -> Value:
        """`Class(…)`: run `__init__` for its effects, give an instance."""
        if self.engine.is_typed_dict(info):
            return self._typed_dict(info, arguments, node)
        instance = self.engine.instance(info, self.origin(node, "is constructed"))
        if arguments.starred and not (arguments.args or arguments.kwargs):
            return instance
        init = self.engine.method(info, "__init__")
        if init is not None:
            summary = self._enter(Function(init, bound=instance), arguments, node)
            kept = self._kept(info, arguments, summary.self_writes)
            return self.engine.instance(info, instance.origin, kept) if kept else instance
        fields = self.engine.fields(info)
        if fields:
            attrs = dict(zip(fields, arguments.args, strict=False))
            attrs.update({k: v for k, v in arguments.kwargs.items() if k in fields})
            for name in fields if not arguments.starred else ():
                attrs.setdefault(name, self.engine.class_attribute(info, name, None))
            attrs = {k: v for k, v in attrs.items() if not isinstance(v, Unknown)}
            return self.engine.instance(info, instance.origin, attrs)
        if instance.isa("torch.autograd.Function"):
            return UNKNOWN
        return instance

    def _typed_dict(self, info: ClassInfo, arguments: Arguments, node: ast.AST) -> Map:
        """`Options(verbose=True)` of a TypedDict: the dict of its arguments."""
        if self.engine.has_optional_keys(info):
            self._tell_call("typing.TypedDict.__optional_keys__", arguments, None, UNKNOWN, node)
        return Map(dict(arguments.kwargs)) if not arguments.args and not arguments.starred else Map(None, Scalar("str"))

    def _kept(self, info: ClassInfo, arguments: Arguments, writes: Mapping[str, Value]) -> dict[str, Value]:
        """What attributes hold from `__init__` on of what is passed to it: functions, classes, objects, and tensors
        where the class alone does not tell."""
        passed = [v for v in (*arguments.args, *arguments.kwargs.values()) if isinstance(v, (*_CALLABLE, Tensor))]
        return {
            name: value
            for name, value in writes.items()
            if any(same(value, argument) for argument in passed)
            and all(writer.name == "__init__" for base in self.engine.mro(info) for writer in _writers(base, name))
            and (not isinstance(value, Tensor) or isinstance(self.engine.attribute(info, name), Unknown))
        }

    def call_instance(self, instance: Instance, arguments: Arguments, node: ast.AST, compiled: Entry) -> Value:
        """`module(x)` and other callable objects."""
        info = instance.info
        if info is None:
            return self.call_external_instance(instance, arguments, node)
        method = self.engine.method(info, "__call__")
        if method is None and instance.isa("torch.nn.Module"):
            self._in_loop_module()
            method = self.engine.method(info, "forward")
            if method is None:
                for base in instance.bases:
                    if base != "torch.nn.Module" and base.startswith("torch.nn."):
                        inherited = Instance(None, base, attrs=instance.attrs, origin=instance.origin)
                        return self.call_external_instance(inherited, arguments, node)
            elif (layer := nn.recurrent(instance)) is not None:
                self._tell_call(f"{layer}.__call__", arguments, instance, UNKNOWN, node)
        if method is None:
            return UNKNOWN
        function = self.engine.decorated(Function(method, bound=instance), method, self.scope)
        result = self.call(function, arguments, node, compiled)
        if isinstance(result, Unknown) and method.name == "forward":
            return Instance(None, OUTPUT, origin=self.origin(node, "is a module's output"))
        return result

    def _in_loop_module(self) -> None:
        (own_loop(self.loops) or self.summary.body).calls_module = True

    def function_value(self, node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        info = self.module.function_of.get(node)
        if info is None:
            info = FunctionInfo(self.module, f"{self.summary.name.partition(':')[2]}.<lambda>", node)
            self.module.function_of[node] = info
        if not self.encloses:
            self.encloses = True
            self.engine.enclosing.append(self)
        return Function(info, closure=self)

    def super_attribute(self, name: str) -> Value:
        info = self.summary.info
        bound = self.summary.bound
        frame = self.parent
        while info is not None and info.cls is None and frame is not None:
            info, bound, frame = frame.summary.info, frame.summary.bound, frame.parent
        if info is None or info.cls is None or bound is None:
            return UNKNOWN
        owner = bound.info if isinstance(bound, (Instance, Class)) else info.cls
        method = self.engine.method(owner or info.cls, name, after=info.cls)
        if method is not None:
            static = "staticmethod" in method.decorators
            return Function(method, bound=None if static else bound)
        for base in self.engine.bases(info.cls):
            if base not in ("object", "abc.ABC"):
                return Method(name, Instance(None, base, attrs={"": bound}))
        return UNKNOWN

    # -- out of the project ------------------------------------------------------------------------------------------

    def call_external(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        result = torch_api.call(self, name, arguments, node)
        receiver: Value | None = None
        if name.startswith("torch.ops.") and self.engine.unregistered("::".join(name.split(".")[2:4]), self.module):
            receiver = Instance(None, "torch.library.CustomOpDef", attrs={"unregistered": Const(True)})
        self._tell_call(name, arguments, receiver, result, node)
        return result

    def call_external_instance(self, instance: Instance, arguments: Arguments, node: ast.AST) -> Value:
        if instance.isa("torch.nn.Module") or nn.is_module(instance.external):
            self._in_loop_module()
            result = nn.call(self, instance.external, instance, arguments, node)
            self._tell_call(f"{instance.external}.__call__", arguments, instance, result, node)
            return result
        if instance.external == "torch.library.CustomOpDef":
            # its body is opaque to Dynamo: known for the result's sake alone
            self.silent += 1
            result = self.call(instance.attrs.get("function", UNKNOWN), arguments, node)
            self.silent -= 1
        else:
            result = objects.call(self, instance, arguments, node)
        self._tell_call(f"{instance.external}.__call__", arguments, instance, result, node)
        return result

    def call_method(self, method: Method, arguments: Arguments, node: ast.AST) -> Value:
        receiver = method.receiver
        match receiver:
            case Tensor():
                if method.name in objects.TENSOR_HOOKS:
                    objects.hook(self, receiver, method.name, arguments, node)
                result = tensor_model.call(self, receiver, method.name, arguments, node)
                if method.name == "backward":
                    self._training()
                owner = "numpy.ndarray" if receiver.kind == "numpy" else "Tensor"
            case Instance():
                result = objects.method(self, receiver, method.name, arguments, node)
                if receiver.external == BATCH and method.name in ("to", "cuda"):
                    self._feeds_device(receiver, result)
                owner = objects.owner(receiver)
                if owner == "torch.optim.Optimizer" and method.name == "step":
                    self._training()
            case _:
                result = containers.method(self, receiver, method.name, arguments, node)
                owner = containers.owner(receiver)
        self._tell_call(f"{owner}.{method.name}", arguments, receiver, result, node)
        return result

    def _feeds_device(self, batch: Instance, result: Value) -> None:
        """A batch, or a part of one, is copied to a device: remember the loader it came from."""
        if isinstance(result, Tensor) and result.device is Device.CPU:
            return
        link = batch.origin
        while link is not None:
            if link.why == LOADER:
                self.engine.fed_loaders.add(link.node)
            link = link.parent

    def _training(self) -> None:
        (own_loop(self.loops) or self.summary.body).trains = True

    def _tell_call(
        self, target: str, arguments: Arguments, receiver: Value | None, result: Value, node: ast.AST
    ) -> None:
        if self.wants(Call, target):
            discarded = isinstance(self.statement, ast.Expr) and self.statement.value is node
            self.emit(
                Call(
                    node, self.site, self.statement, target, arguments.args, arguments.kwargs, receiver, result,
                    discarded, arguments.starred,
                )
            )  # fmt: skip

    def convert(self, node: ast.AST, value: Value, kind: str) -> None:
        """A tensor (or a container's element) becomes a Python number."""
        if any(isinstance(v, Tensor) for v in options(value)) and self.wants(Convert):
            self.emit(Convert(node, self.site, self.statement, value, kind))

    def _callbacks(self, arguments: Arguments, node: ast.AST) -> None:
        """Functions passed to a callee nobody knows are taken to be called, with arguments nobody knows."""
        for value in (*arguments.args, *arguments.kwargs.values()):
            if isinstance(value, Function) and (value.closure is not None or value.info.cls is None):
                self.call_back(value, [], node)

    def call_back(self, function: Value, args: Sequence[Value], node: ast.AST) -> Value:
        """Call a function passed as an argument with these values, what is missing taken from its parameters' uses."""
        return self.call(function, Arguments(list(args), {}, True, None), node)

    # -- attributes of objects -----------------------------------------------------------------------------------------

    def instance_attribute(self, instance: Instance, name: str, node: ast.AST) -> Value:
        known = instance.attrs.get(name)
        if known is not None:
            return known
        info = instance.info
        if info is None:
            return objects.attribute(self, instance, name, node)
        if name == "_replace" and instance.isa(*NAMED_TUPLES):
            return Method(name, instance)
        value = self.engine.attribute(info, name)
        if value is not None and not isinstance(value, Unknown):
            return value
        method = self.engine.method(info, name)
        if method is not None:
            self.engine.references.setdefault(method, set()).add(self.summary.info)
            kinds = method.decorators
            function = self.engine.class_attribute(info, name, instance)
            cached = "functools.cached_property" in kinds or "cached_property" in kinds
            if cached and not self.engine.reads_when_built(info, name):
                self._tell_call("functools.cached_property.__get__", Arguments.none(), None, UNKNOWN, node)
            if any(k.rpartition(".")[2] in ("property", "cached_property", "lazy_property") for k in kinds):
                return self.call(function, Arguments.none(), node)
            return function
        found = self.engine.class_attribute(info, name, instance)
        if not isinstance(found, Unknown):
            return found
        if value is not None:
            return value
        getter = self.engine.method(info, "__getattr__")
        if getter is not None and self._raises(Function(getter, bound=instance), name, node):
            return NEVER
        return objects.attribute(self, instance, name, node)

    def _raises(self, getter: Function, name: str, node: ast.AST) -> bool:
        """Whether `__getattr__` does nothing but raise: a stand-in for what is not installed."""
        body = getter.info.node.body
        if not isinstance(body, list) or not isinstance(body[-1], ast.Raise) or len(body) > 2:
            return False
        return self.call_function(getter, Arguments([Const(name)], {}, False, None), node) is NEVER

    def container_attribute(self, base: Value, name: str) -> Value:
        if isinstance(base, Seq) and base.items is not None and len(base.items) == 2 and name in ("values", "indices"):
            return base.items[name == "indices"]  # of torch.max, sort, topk
        return Method(name, base)

    def instance_item(self, instance: Instance, index: Value, node: ast.AST) -> Value:
        """`object[index]` for module containers and objects with `__getitem__`."""
        if instance.external in nn.CONTAINERS:
            self.convert(node, index, "index")
            return nn.item(instance, index)
        if (parts := self.parts(instance, node)) is not None:
            return self._item_of(parts, index)
        if instance.info is not None:
            getter = self.engine.method(instance.info, "__getitem__")
            if getter is not None:
                return self.call_function(Function(getter, bound=instance), Arguments([index], {}, False, None), node)
            for base in instance.bases:
                if base in nn.CONTAINERS:
                    return UNKNOWN
        return UNKNOWN

    def parts(self, instance: Instance, node: ast.AST) -> Seq | None:
        """A named tuple as the tuple that it is; None for any other object."""
        if instance.info is None or not instance.isa(*NAMED_TUPLES):
            return None
        fields = self.engine.fields(instance.info)
        return Seq("tuple", tuple(self.instance_attribute(instance, name, node) for name in fields))

    @staticmethod
    def _item_of(seq: Seq, index: Value) -> Value:
        items = seq.items or ()
        position = index.value if isinstance(index, Const) else None
        if type(position) is int and -len(items) <= position < len(items):
            return items[position]
        return seq.any_item() if isinstance(index, (Const, Scalar)) else UNKNOWN

    # -- iteration -----------------------------------------------------------------------------------------------------

    def element_of(self, value: Value, node: ast.AST) -> Value:
        """What iterating over a value yields."""
        match value:
            case Seq():
                return value.any_item()
            case Map():
                return value.key if value.items is None else join_all(Const(k) for k in value.items)
            case Tensor():
                rank = value.rank - 1 if value.rank else None
                return Tensor(
                    value.device, value.dtype, rank, kind="numpy" if value.kind == "numpy" else "",
                    origin=self.origin(node, ITERATED, value),
                )  # fmt: skip
            case Instance():
                if value.external in (BATCH, OUTPUT):
                    return value
                if value.external in nn.CONTAINERS:
                    return nn.element(value)
                if value.external in ("torch.utils.data.DataLoader", "<loader>"):
                    return Instance(None, BATCH, attrs=dict(value.attrs), origin=self.origin(node, LOADED, value))
                if (parts := self.parts(value, node)) is not None:
                    return parts.any_item()
                if value.info is not None:
                    iterator = self.engine.method(value.info, "__iter__")
                    if iterator is not None:
                        result = self.call_function(Function(iterator, bound=value), Arguments.none(), node)
                        return result.any_item() if isinstance(result, Seq) else UNKNOWN
                if value.isa("torch.utils.data.DataLoader"):
                    return Instance(None, BATCH, origin=self.origin(node, LOADED, value))
                return UNKNOWN
            case Const(value=str()) | Scalar(type="str"):
                return Scalar("str", Flow.STATIC)
            case Union():
                found = [
                    self.element_of(v, node) for v in value.options if not (isinstance(v, Const) and v.value is None)
                ]
                return join_all(found) if found else UNKNOWN
        return UNKNOWN

    # -- changes in place ----------------------------------------------------------------------------------------------

    def _update_receiver(self, func: ast.Attribute, callee: Value, arguments: Arguments, node: ast.Call) -> None:
        """`xs.append(v)` and the like change what the name `xs` holds."""
        if not isinstance(callee, Method) or not isinstance(callee.receiver, (Seq, Map)):
            return
        changed = containers.mutated(callee.receiver, callee.name, arguments)
        if changed is None:
            return
        path = self.dotted(func.value)
        if callee.name in ("append", "add") and arguments.args and path is not None:
            self.accumulate(node, path, "append", callee.receiver, arguments.args[0])
        if path is not None and self.env is not None:
            self.put(path, changed)
            if self.me is not None and path.startswith(self.me + ".") and path.count(".") == 1:
                self.note_write(path[len(self.me) + 1 :], changed)

    def _setattr(self, node: ast.Call, arguments: Arguments) -> None:
        name = arguments.args[1]
        if isinstance(name, Const) and isinstance(name.value, str):
            path = self.dotted(node.args[0])
            if path is not None:
                self.bind(f"{path}.{name.value}", arguments.args[2])
                if path == self.me:
                    self.note_write(name.value, arguments.args[2])

    def numpy_array(self, node: ast.AST) -> Tensor:
        return Tensor(Device.CPU, kind="numpy", origin=self.origin(node, "is a NumPy array"))

    def store(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        raise NotImplementedError

    def iterate(self, value: Value, node: ast.AST, kind: str) -> Value:
        raise NotImplementedError

    def tested(self, value: Value, node: ast.AST, kind: str, owner: ast.AST) -> None:
        raise NotImplementedError

    def is_loader(self, value: Value) -> bool:
        raise NotImplementedError
