"""Measures one side: runs the program eagerly and compiled, keeps its values, and counts breaks, kernels and syncs."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import platform
import random
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, Literal

import torch
from torch.utils import _pytree as pytree

from compilelint.runtime.breaks import Dynamo
from compilelint.runtime.kernels import count_operators, inductor_kernels, kernels_report_themselves, profile_cuda
from compilelint.runtime.load import SEED, Loader, Program, seed
from compilelint.runtime.places import Places
from compilelint.runtime.results import Mode, ModeName, Side, Site
from compilelint.runtime.syncs import Prediction, Sites, cuda_sync_sites
from compilelint.runtime.values import Values, flatten, kept

CALLS = 2  # a recompile shows on the second
TIMED_CALLS = (3, 40)
TIMED_SECONDS = 1.5
UserError = (Exception, SystemExit)

Report = Callable[[str], None]


class Measurement:
    """One side, in this process. `run()` gives the Side; `values` holds what each mode computed."""

    def __init__(self, loader: Loader, places: Places, label: str, backend: str, report: Report) -> None:
        self.loader, self.places, self.backend, self.report = loader, places, backend, report
        self.device = loader.device
        self.side = Side(label, torch=torch.__version__, python=platform.python_version(), device=str(self.device))
        if self.device.type == "cuda":
            self.side.device_name = torch.cuda.get_device_name(self.device)
        self.values: dict[ModeName, Values] = {"eager": {}, "compiled": {}}
        self.nudged: Values = {}  # the eager values, from numbers that are off by a rounding error
        self.exact: Values = {}  # the eager values in double precision, where the program can be run so
        self.random = False  # whether the program draws random numbers

    def run(self) -> Side:
        self.side.eager = self._eager()
        self.side.compiled = self._compiled()
        return self.side

    def nudge(self) -> None:
        """Run eagerly once more, from numbers that are off by a rounding error: what changes then is noise, such as the
        direction in which Adam moves a parameter whose gradient is zero but for rounding."""
        self._repeat(self._nudged_program(), self.nudged, "inputs off by a rounding error")

    def refer(self) -> None:
        """Run eagerly once more, in double precision: what the values would be without rounding. A program that draws
        random numbers would draw others then; one that asks for a precision of its own may raise."""
        if self.random:
            return
        program = self.loader.make()
        default = torch.get_default_dtype()
        try:
            for module in program.modules:
                module.double()
            program.args, program.kwargs = pytree.tree_map(_double, (program.args, program.kwargs))
            torch.set_default_dtype(torch.float64)
            self._repeat(program, self.exact, "in double precision")
        except UserError:  # a module that has no such precision
            return
        finally:
            torch.set_default_dtype(default)

    def _repeat(self, program: Program, values: Values, how: str) -> None:
        """The checked calls again, eagerly."""
        with torch.compiler.set_stance("force_eager"):
            runner = Runner(program, self.device)
            with _quiet(), contextlib.suppress(*UserError):
                for index in range(CALLS):
                    self.report(f"eager, {how}: call {index + 1} of {CALLS}")
                    out, arguments = runner.call(index)
                    values.update(runner.outputs(index, out))
                    runner.backward()
                    values.update(runner.effects(index, arguments))
            values.update(runner.state())

    def _nudged_program(self) -> Program:
        program = self.loader.make()
        generator = torch.Generator().manual_seed(SEED)
        leaves = [*(value for _, value in program.named_state()), *program.tensors()]
        with torch.no_grad():
            for leaf in {
                id(leaf): leaf for leaf in leaves if leaf.is_floating_point() and leaf.is_contiguous()
            }.values():
                signs = torch.randint(0, 2, leaf.shape, generator=generator).mul_(2).sub_(1).to(leaf.device)
                leaf.mul_((1 + 4 * torch.finfo(leaf.dtype).eps * signs).to(leaf.dtype))
        return program

    def _eager(self) -> Mode:
        """Nothing compiled: where the target calls torch.compile itself, its code runs as if it had not."""
        with torch.compiler.set_stance("force_eager"):
            mode, runner = self._checked("eager", self.loader.make)
            if not mode.exception:
                self.report("eager: timing")
                self._timed(mode, runner)
                self.report("eager: counting kernels and syncs")
                self._counted(mode, runner)
            self._other()
        return mode

    def _other(self) -> None:
        """Where a module is called, the results of one call in the other of training and inference: what holds in one
        need not in the other."""
        program = self.loader.make()
        if program.module is None:
            return
        training = not program.module.training
        modes = {part: part.training for module in program.modules for part in module.modules()}
        for module in program.modules:
            module.train(training)
        name = "training" if training else "inference"
        self.report(f"eager, in {name}: call 1 of 1")
        runner, values = Runner(program, self.device), self.values["eager"]
        with _quiet():
            try:
                out, _ = runner.call(0)
            except UserError as error:
                values[f"{name} raises"] = type(error).__name__
            else:
                values.update((f"{name} {key}", value) for key, value in runner.outputs(0, out).items())
        for part, mode in modes.items():  # the target may hand out the same modules again
            part.training = mode

    def _compiled(self) -> Mode:
        """As the target compiles itself where it does; else the whole callable in torch.compile."""
        with contextlib.ExitStack() as stack:
            if self.random and self.backend == "inductor":
                from torch._inductor import config

                # Inductor draws other random numbers than eager code does, and others again in another graph
                stack.enter_context(config.patch(fallback_random=True))
                self.side.notes.append("draws random numbers: Inductor was told to draw those that eager code draws")
            if self.device.type == "cpu" and self.backend == "inductor":
                stack.enter_context(kernels_report_themselves())
            mode = self._compiled_by("target")
            return mode if mode is not None else self._compiled_by("verify") or Mode()

    def _compiled_by(self, who: Literal["target", "verify"]) -> Mode | None:
        """None where the target was to compile something itself, and did not."""
        torch._dynamo.reset()
        self.values["compiled"].clear()
        self.side.compiled_by = who
        with inductor_kernels() as generated, Dynamo(self.places) as dynamo:

            def idle() -> bool:
                return who == "target" and dynamo.frames() == 0

            mode, runner = self._checked("compiled", self.loader.make if who == "target" else self._wrapped, idle)
            if idle():
                return None
            if not mode.exception:
                self.report("compiled: timing")
                self._timed(mode, runner)
            mode.breaks = sorted(dynamo.breaks.values(), key=lambda site: (site.path, site.line, site.what))
            mode.graphs, mode.recompiles = dynamo.graphs(), dynamo.recompiles()
            count = generated()
        if not mode.exception:
            self.report("compiled: counting kernels and syncs")
            self._counted(mode, runner, count)
        return mode

    def _wrapped(self) -> Program:
        program = self.loader.make()
        call = program.call
        if not (inspect.isfunction(call) or inspect.ismethod(call) or isinstance(call, torch.nn.Module)):
            inner = call

            def call(
                *args: Any, **kwargs: Any
            ) -> Any:  # a partial or a callable object: Dynamo looks into it from a frame
                return inner(*args, **kwargs)

        program.without_gradients = program.inference
        program.call = torch.compile(call, backend=self.backend)
        return program

    def _checked(
        self, name: ModeName, make: Callable[[], Program], idle: Callable[[], bool] = lambda: False
    ) -> tuple[Mode, Runner]:
        """The calls whose values are kept. `idle` ends them after the first."""
        mode, values = Mode(), self.values[name]
        self.report(f"{name}: making the program")
        runner = Runner(make(), self.device)
        printed = io.StringIO()
        with _quiet(printed):
            for index in range(CALLS):
                self.report(f"{name}: call {index + 1} of {CALLS}")
                seed(SEED + index)
                seeded = dict(self._random_states())
                try:
                    out, arguments = runner.call(index)
                    self.random = self.random or runner.drew
                    values.update(runner.outputs(index, out))
                    runner.backward()
                except UserError as error:
                    mode.exception = f"{type(error).__name__}: {_first_line(error)}"
                    mode.exception_at = _place(error, self.places)
                    if (hint := runner.program.mismatch()) and hint not in self.side.notes:
                        self.side.notes.append(hint)
                    break
                finally:
                    mode.calls += 1
                    for key, state in self._random_states():
                        if state != seeded.get(key):
                            mode.random[f"call {mode.calls} ({key})"] = state
                values.update(runner.effects(index, arguments))
                mode.mutated += [key for key, _ in runner.changed(arguments) if key not in mode.mutated]
                if idle():
                    return mode, runner
        values.update(runner.state())
        mode.backward, mode.printed = runner.has_backward, printed.getvalue()
        return mode, runner

    def _random_states(self) -> Iterator[tuple[str, str]]:
        """A digest of the state of each generator that programs draw from."""
        states: dict[str, Any] = {"Python": random.getstate(), "torch": torch.get_rng_state().tolist()}
        if (numpy := sys.modules.get("numpy")) is not None:
            name, keys, *rest = numpy.random.get_state()
            states["NumPy"] = (name, keys.tolist(), rest)
        if self.device.type == "cuda":
            states["CUDA"] = torch.cuda.get_rng_state(self.device).tolist()
        for key, state in states.items():
            yield key, hashlib.sha256(repr(state).encode()).hexdigest()[:16]

    def _timed(self, mode: Mode, runner: Runner) -> None:
        least, most = TIMED_CALLS
        times: list[float] = []
        spent = 0.0
        with _quiet():
            while len(times) < least or (len(times) < most and spent < TIMED_SECONDS):
                seed(SEED + len(times))
                arguments = runner.program.fresh()
                runner.clear_gradients()
                self._wait()
                start = time.perf_counter()
                runner.again(arguments)
                self._wait()
                times.append(time.perf_counter() - start)
                spent += times[-1]
                if spent > 10 * TIMED_SECONDS:
                    break
        mode.timed_calls = len(times)
        mode.wall_us = statistics.median(times) * 1e6
        if len(times) > 1:
            low, _, high = statistics.quantiles(times, n=4)
            mode.wall_range_us = (low * 1e6, high * 1e6)

    def _counted(self, mode: Mode, runner: Runner, generated: int | None = None) -> None:
        with _quiet():
            arguments = runner.program.fresh()
            runner.clear_gradients()
            if self.device.type == "cuda":
                counts = profile_cuda(lambda: runner.again(arguments))
                mode.kernels, mode.kernel_names = counts.total, counts.kernels
                mode.kernel_us, mode.memop_names = counts.kernel_us, counts.memops
                mode.launches, mode.memops, mode.gpu_us = counts.launches, sum(counts.memops.values()), counts.gpu_us
                mode.graph_launches, mode.replayed = counts.graph_launches, counts.replayed
                arguments = runner.program.fresh()
                runner.clear_gradients()
                with cuda_sync_sites(self.places) as sites:
                    runner.again(arguments)
                mode.syncs = _joined(sites.list(), counts.waits)
            else:
                counts = count_operators(lambda: runner.again(arguments))
                mode.kernel_names = counts.kernels
                mode.generated = generated
                mode.kernels = counts.total
                if generated is None:
                    mode.syncs = self._predicted()

    def _predicted(self) -> list[Site]:
        """The syncs of a second call; the making and the first call tell which tensors live where."""
        sites = Sites(self.places)
        with Prediction(sites) as prediction:
            runner = Runner(self.loader.make(), self.device)
            for _ in range(2):
                sites.clear()
                prediction.place("device", (value for _, value in runner.program.named_state()))
                arguments = runner.program.fresh()
                prediction.place("argument", runner.tensors(arguments))
                runner.clear_gradients()
                runner.again(arguments)
        return sites.list()

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


class Runner:
    """Calls a program again and again: forward, and backward where its results ask for it."""

    def __init__(self, program: Program, device: torch.device) -> None:
        self.program, self.device = program, device
        self.has_backward = False
        self.drew = False  # whether a call drew random numbers
        self._out: list[torch.Tensor] = []
        self._cotangents: dict[tuple[Any, ...], torch.Tensor] = {}

    def call(self, index: int) -> tuple[Any, tuple[tuple[Any, ...], dict[str, Any]]]:
        arguments = self.program.fresh()
        self.clear_gradients()
        seed(SEED + index)
        before = self._random_state()
        out = self._forward(arguments)
        self.drew = self.drew or not torch.equal(before, self._random_state())
        return out, arguments

    def _random_state(self) -> torch.Tensor:
        states = [torch.get_rng_state()]
        if self.device.type == "cuda":
            states.append(torch.cuda.get_rng_state(self.device))
        return torch.cat(states)

    def _forward(self, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        self._out = []
        if self.device.type == "cuda":
            torch.compiler.cudagraph_mark_step_begin()  # what the last call returned is not used any more
        with torch.no_grad() if self.program.inference else contextlib.nullcontext():
            out = self.program.call(*arguments[0], **arguments[1])
        self._out = [
            leaf
            for _, leaf in flatten(out, "")
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad and leaf.grad_fn is not None
        ]
        return out

    def backward(self) -> None:
        """From every differentiable output at once, each with fixed weights: in a plain sum errors may cancel."""
        if self._out:
            self.has_backward = True
            # the same tensor returned twice takes part once
            unique = list({id(leaf): leaf for leaf in self._out}.values())
            torch.autograd.backward(unique, [self._cotangent(leaf) for leaf in unique])
            self._out = []

    def again(self, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
        self._forward(arguments)
        self.backward()

    def _cotangent(self, leaf: torch.Tensor) -> torch.Tensor:
        key = (tuple(leaf.shape), leaf.dtype, leaf.device)
        if key not in self._cotangents:
            # eighths, none of them zero: exact in every dtype
            weights = torch.cos(torch.arange(leaf.numel(), dtype=torch.float64)).reshape(leaf.shape)
            weights = torch.where(weights < 0, weights.mul(8).floor(), weights.mul(8).ceil()).clamp(-8, 8) / 8
            self._cotangents[key] = weights.to(leaf.dtype).to(leaf.device)
        return self._cotangents[key]

    def clear_gradients(self) -> None:
        """Only of a program whose backward is ours: a training step looks after its own."""
        if self.has_backward:
            for parameter in self.program.parameters().values():
                parameter.grad = None

    def tensors(self, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> Iterator[torch.Tensor]:
        return (leaf for _, leaf in _argument_leaves(arguments) if isinstance(leaf, torch.Tensor))

    def outputs(self, index: int, out: Any) -> Values:
        return {key: kept(leaf) for key, leaf in flatten(out, f"call {index + 1} output")}

    def effects(self, index: int, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> Values:
        """What a call left behind: gradients, and the new values of inputs that it wrote into."""
        values = {f"call {index + 1} gradient of {key}": kept(leaf) for key, leaf in self.gradients(arguments)}
        values.update((f"call {index + 1} changed {key}", kept(leaf)) for key, leaf in self.changed(arguments))
        return values

    def state(self) -> Values:
        return {f"state {key}": kept(leaf) for key, leaf in self.program.named_state()}

    def gradients(self, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> Iterator[tuple[str, torch.Tensor]]:
        for name, parameter in self.program.parameters().items():
            if parameter.grad is not None:
                yield name, parameter.grad
        for name, leaf in _argument_leaves(arguments):
            if isinstance(leaf, torch.Tensor) and leaf.is_leaf and leaf.grad is not None:
                yield name, leaf.grad

    def changed(self, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> Iterator[tuple[str, Any]]:
        """Inputs that the call wrote into, with their new value."""
        pristine = dict(_argument_leaves((self.program.args, self.program.kwargs)))
        for name, leaf in _argument_leaves(arguments):
            if name not in pristine:
                yield name, leaf
            elif isinstance(leaf, torch.Tensor) and isinstance(pristine[name], torch.Tensor):
                if isinstance(leaf, torch.nn.Parameter) or leaf is pristine[name]:
                    continue
                old = pristine[name]
                if leaf.shape != old.shape or leaf.dtype != old.dtype or not _identical(leaf, old):
                    yield name, leaf


def _argument_leaves(arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    for index, value in enumerate(arguments[0]):
        yield from flatten(value, f"argument {index}")
    for name, value in arguments[1].items():
        yield from flatten(value, f"argument {name}")


def _identical(left: torch.Tensor, right: torch.Tensor) -> bool:
    left, right = left.detach(), right.detach()
    same = left == right
    if left.dtype.is_floating_point or left.dtype.is_complex:
        same = same | (left.isnan() & right.isnan())
    return bool(same.all())


def _joined(sites: list[Site], waits: dict[str, int]) -> list[Site]:
    """CUPTI counts the waits, the debug mode knows their lines; the rest is told by the runtime's names."""
    rest = sum(waits.values()) - sum(site.count for site in sites)
    if rest > 0:
        names = ", ".join(f"{name} \u00d7{count}" for name, count in sorted(waits.items()))
        sites = [*sites, Site("(no Python site)", 0, "host wait", rest, f"of all: {names}")]
    return sites


@contextlib.contextmanager
def _quiet(into: io.StringIO | None = None) -> Iterator[None]:
    """What the program prints is kept from the user's terminal."""
    with contextlib.redirect_stdout(into or io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _double(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or not leaf.is_floating_point() or isinstance(leaf, torch.nn.Parameter):
        return leaf
    return leaf.detach().double().requires_grad_(leaf.requires_grad)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else ""


def _place(error: BaseException, places: Places) -> str:
    stack = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    found = places.innermost(stack)
    return f"{found[0]}:{found[1]}" if found else ""
