"""What a check sees of the place of one event: the implementation of sdk.Context."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from compilelint.engine.events import Event, Site
from compilelint.engine.regions import Standing
from compilelint.engine.summary import Summary
from compilelint.engine.values import UNKNOWN, Value
from compilelint.finding import Region
from compilelint.source.spans import source_of

if TYPE_CHECKING:
    from compilelint.analysis import Analyser
    from compilelint.sdk import Frame


RAISES = "`torch.compile(fullgraph=True)` raises here"


class FrameContext:
    """What a check sees of one context of a function (sdk.Frame)."""

    def __init__(self, analyser: Analyser, summary: Summary) -> None:
        self._analyser = analyser
        self._summary = summary

    @property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
        return self._summary.info.node if self._summary.info is not None else None

    def value(self, node: ast.AST) -> Value:
        return self._analyser.values(self._summary).get(node, UNKNOWN)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._summary.module.parents.get(node)

    def calls(self) -> list[tuple[Frame, ast.Call]]:
        info = self._summary.info
        found = self._analyser.callers(info) if info is not None else []
        return [(FrameContext(self._analyser, caller), node) for caller, node in found]

    def passed(self, name: str) -> list[Value]:
        info = self._summary.info
        contexts = self._analyser.called(info) if info is not None else ()
        return [context.arguments[name] for context in contexts if name in context.arguments]

    def is_here(self, frame: Frame) -> bool:
        return isinstance(frame, FrameContext) and frame._summary.module is self._summary.module


class SiteContext(FrameContext):
    """What a check sees of the place of one event (sdk.Context)."""

    def __init__(self, analyser: Analyser, summary: Summary, event: Event, standing: Standing) -> None:
        super().__init__(analyser, summary)
        self._event = event
        self.standing = standing

    @property
    def region(self) -> Region:
        return self.standing.region

    @property
    def torch(self) -> tuple[int, int]:
        return self._analyser.settings.torch

    @property
    def python(self) -> tuple[int, int]:
        return self._analyser.settings.python

    @property
    def compiled(self) -> bool:
        return self._analyser.traced(self.region, self._event.site, self._summary)

    def source(self, node: ast.AST) -> str:
        return source_of(self._summary.module, node)

    def feeds_device(self, node: ast.AST) -> bool:
        return node in self._analyser.engine.fed_loaders

    def torch_says(self, target: str) -> dict[str, Any]:
        return self._analyser.engine.tables.says(target)

    def whole_frame(self, site: Site) -> bool:
        """Whether a break here makes Dynamo skip a function's frame. Before Python 3.12 a comprehension has its own."""
        innermost = site.loops[-1].kind if site.loops else ""
        return bool(site.loops) and (innermost != "comprehension" or len(site.loops) > 1 or self.python >= (3, 12))

    def consequence(self, site: Site) -> str:
        function = self._summary.info.name if self._summary.info is not None else "the module"
        if self.standing.fullgraph:
            return RAISES
        if self.whole_frame(site):
            return f"inside a loop Dynamo can't resume: it skips the whole frame of `{function}`"
        if self.standing.looped:
            return f"called in a loop, where Dynamo can't resume: it skips the whole frame of `{self.standing.looped}`"
        if site.loops:
            return f"the comprehension runs eagerly, and the graph of `{function}` is split around it"
        if site.protected:
            return f"inside `try` or `with` Dynamo can't resume: the rest of `{function}` runs eagerly"
        return "the graph is split here"
