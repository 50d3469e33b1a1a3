"""A file under the knife: spans of `ast` nodes in its text, and pieces of it as libcst nodes.

`ast` says what a node is and where it stands; libcst is for surgery on one node. Only the statement at hand is given to
libcst, not the file: libcst's positions cost a second for each one or two thousand lines, a statement a millisecond.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from compilelint.finding import Edit
from compilelint.fix import layout
from compilelint.fix.edits import LineIndex, apply_edits, order
from compilelint.fix.errors import CannotFix
from compilelint.fix.folding import width_of
from compilelint.source.lines import lines_of

if TYPE_CHECKING:
    import libcst

Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Block = tuple[ast.AST, str]  # a node and the field of it that holds a list of statements
_FSTRING: tuple[type[ast.expr], ...] = (ast.JoinedStr, ast.FormattedValue)
if sys.version_info >= (3, 14):
    _FSTRING += (ast.TemplateStr, ast.Interpolation)
_IGNORED = frozenset({"ctx", "kind", "type_comment"})
_CONTINUED = re.compile(r"\\(?:\r\n|\r|\n)\Z")
_GAP = re.compile(r"(?:[ \t\x0c]|\\(?:\r\n?|\n))*")


class CstFile:
    """One file at one time. It costs nothing to create; share it between all Rewriters of the file.

    A changed text needs a new one.
    """

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        # scope → fresh names that fixes of this file were given, each with the place of its fix
        self.taken: dict[ast.AST, dict[str, ast.AST | None]] = {}
        self.bound: dict[ast.AST, dict[str, list[ast.AST]]] = {}  # scope → what it binds, filled by fix.names

    @cached_property
    def index(self) -> LineIndex:
        return LineIndex(self.text)

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """Child → parent. Context singletons (`ast.Load`) aside, each node has one."""
        table: dict[ast.AST, ast.AST] = {}
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            for child in ast.iter_child_nodes(node):
                table[child] = node
                stack.append(child)
        return table

    @cached_property
    def _starts(self) -> list[int]:
        """Where the lines begin on which a statement of the top level does, and no other ends."""
        starts, last = [0], 0
        for statement in self.tree.body:
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
            if first > last and first > 1:
                starts.append(self.index.starts[first - 1])
            last = statement.end_lineno or first
        return starts

    def changed(self, edits: Sequence[Edit]) -> Iterator[str]:
        """What becomes of the statements of the top level that edits change, each with what stands below it."""
        ends = [*self._starts[1:], len(self.text)]
        parts: list[tuple[int, int, list[Edit]]] = []
        for edit in sorted(edits, key=order):
            first, last = (bisect_right(self._starts, offset) - 1 for offset in (edit.start, edit.end))
            here = [edit]
            if parts and first <= parts[-1][1]:
                first, before, others = parts.pop()
                last, here = max(last, before), [*others, edit]
            parts.append((first, last, here))
        for first, last, here in parts:
            start = self._starts[first]
            moved = [replace(edit, start=edit.start - start, end=edit.end - start) for edit in here]
            yield apply_edits(self.text[start : ends[last]], moved)

    @cached_property
    def unit(self) -> str:
        """One level of indentation."""
        return layout.block_unit(self.text)

    @cached_property
    def width(self) -> int:
        """The length that lines of new code should not exceed."""
        return width_of(self.text)

    @cached_property
    def lines_above(self) -> dict[str, set[str]]:
        """The indented lines of the text, and what stands above each, to tell code that was copied from it."""
        above: dict[str, set[str]] = {}
        lines = lines_of(self.text)
        for before, line in itertools.pairwise(lines):
            if line[:1] in (" ", "\t"):
                above.setdefault(line, set()).add(before.strip())
        return above

    def unit_at(self, statement: ast.stmt) -> str:
        """One level of indentation as it is around a statement."""
        outer = next((each for each in self.ancestors(statement) if isinstance(each, ast.stmt)), None)
        if outer is not None:
            inside, outside = self.indentation(statement), self.indentation(outer)
            if inside != outside and inside.startswith(outside):
                return inside[len(outside) :]
        return self.unit

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The parents of a node, innermost first. Raises CannotFix for a node of another tree."""
        if node is not self.tree and node not in self.parents:
            raise CannotFix("the node is not of this file")
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement a node belongs to: the node itself when it is one."""
        for each in (node, *self.ancestors(node)):
            if isinstance(each, ast.stmt):
                return each
        raise CannotFix("the node is not part of a statement")

    def block(self, statement: ast.stmt) -> Block:
        """The parent of a statement and the field (`body`, `orelse`, …) it stands in."""
        parent = next(self.ancestors(statement))
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(each is statement for each in value):
                return parent, name
        raise CannotFix("the statement is not part of a block")

    def siblings(self, statement: ast.stmt) -> list[ast.stmt]:
        parent, name = self.block(statement)
        found: list[ast.stmt] = getattr(parent, name)
        return found

    # Spans

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Start and end of a node in the text; a definition's start is its first decorator's `@`."""
        start, end = self._raw_span(node)
        if isinstance(node, Def) and node.decorator_list:
            first = self._raw_span(node.decorator_list[0])[0]
            start = self.text.rfind("@", 0, first)
        return start, end

    def _raw_span(self, node: ast.AST) -> tuple[int, int]:
        if not isinstance(node, (ast.expr, ast.stmt, ast.keyword, ast.arg, ast.alias, ast.excepthandler, ast.pattern)):
            raise CannotFix(f"a {type(node).__name__} has no position")
        if node.end_lineno is None or node.end_col_offset is None or node.end_lineno > len(self.index.starts):
            raise CannotFix(f"the {type(node).__name__} has no position in this text")
        return self.index.offset(node.lineno, node.col_offset), self.index.offset(node.end_lineno, node.end_col_offset)

    def source(self, node: ast.AST) -> str:
        """The exact text of a node, checked to be that node's. Raises CannotFix."""
        start, end = self.span(node)
        piece = self.text[start:end]
        if not isinstance(node, ast.stmt):
            self.refuse_fstring(node)
        if isinstance(node, ast.expr) and not any(isinstance(each, ast.Slice) for each in (node, *_elements(node))):
            if isinstance(node, ast.Starred):
                found = next(iter(_elements(expression(f"({piece},\n)"))))
            else:
                found = expression(f"({piece}\n)")
            if not same(found, node):
                raise CannotFix("the position of the expression is not reliable")
        return piece

    def refuse_fstring(self, node: ast.AST) -> None:
        """Positions inside f-strings are right since Python 3.12 only."""
        if self.fstring(node) is not None and sys.version_info < (3, 12):
            raise CannotFix(
                "the expression stands inside an f-string, where Python before 3.12 gives no reliable positions"
            )

    def fstring(self, node: ast.AST) -> ast.expr | None:
        """The outermost f-string that a node is inside of."""
        outermost: ast.expr | None = None
        for each in self.ancestors(node):
            if isinstance(each, ast.stmt):
                break
            if isinstance(each, _FSTRING):
                outermost = each
        return outermost

    # Lines of a statement

    def own_start(self, statement: ast.stmt) -> bool:
        """Whether no other code stands before a statement on its (logical) line."""
        start = self.span(statement)[0]
        line_start = self.index.line_start(start)
        if self.text[line_start:start].strip(layout.BLANKS + "\ufeff"):
            return False
        begin = self._back(start)
        above = self.text[self.index.line_start(begin) : begin]
        return begin >= line_start or above.lstrip().startswith("#") or not above.endswith((";", ":"))

    def own_end(self, statement: ast.stmt) -> bool:
        """Whether no other statement follows on the line a statement ends on."""
        stop = self._gap(self.span(statement)[1])
        if self.text.startswith(";", stop):
            stop = self._gap(stop + 1)
        return stop == len(self.text) or self.text[stop] in "\r\n#"

    def _gap(self, offset: int) -> int:
        """The end of the blanks and continued line ends from `offset` on."""
        match = _GAP.match(self.text, offset)
        return match.end() if match else offset

    def _back(self, offset: int) -> int:
        """The start of the blanks and continued line ends before `offset`."""
        while offset:
            if self.text[offset - 1] in layout.BLANKS:
                offset -= 1
            elif (match := _CONTINUED.search(self.text, max(0, offset - 3), offset)) is not None:
                offset = match.start()
            else:
                break
        return offset

    def line_mates(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the block that share a line with this one, itself included, in order."""
        siblings = self.siblings(statement)
        first = last = siblings.index(statement)
        while first and not self.own_start(siblings[first]):
            first -= 1
        while last + 1 < len(siblings) and not self.own_end(siblings[last]):
            last += 1
        return siblings[first : last + 1]

    def gap_before(self, statement: ast.stmt) -> tuple[int, int]:
        """What separates the first statement of a one-line body from the colon."""
        start = self.span(statement)[0]
        begin = self._back(start)
        if not self.text.endswith(":", 0, begin):
            raise CannotFix("the statement shares its line in a way that is not understood")
        return begin, start

    def indentation(self, statement: ast.stmt) -> str:
        """The whitespace that lines of the statement's block start with, or would if they were lines of their own."""
        for sibling in (statement, *self.siblings(statement)):
            if self.own_start(sibling):
                start = self.span(sibling)[0]
                return self.text[self.index.line_start(start) : start].lstrip("\ufeff").replace("\x0c", "")
        parent = self.block(statement)[0]
        while not isinstance(parent, (ast.stmt, ast.Module)):
            parent = self.parents[parent]
        return self.indentation(parent) + self.unit if isinstance(parent, ast.stmt) else ""

    def is_elif(self, statement: ast.stmt) -> bool:
        return isinstance(statement, ast.If) and self.text.startswith("elif", self.span(statement)[0])

    # Pieces

    def piece(self, statement: ast.stmt) -> tuple[str, str]:
        """(text of a statement, indentation its further lines count from). An `elif` becomes an `if`."""
        start, end = self.span(statement)
        text = self.text[start:end]
        indent = self.indentation(statement)
        return text[2:] if self.is_elif(statement) else text, indent

    def code(self, node: ast.AST) -> str:
        """The text of a node, its lines moved so that the first one stands at the margin; an open expression that
        spans lines gets parentheses. What string literals hold stays."""
        text = self.source(node)
        if isinstance(node, ast.stmt):
            text, indent = self.piece(node)
            if "\n" not in text and "\r" not in text:
                return text
            return layout.dedent(indent + text)
        lines = lines_of(text)
        if len(lines) == 1:
            return text
        indent = self.indentation(self.statement(node))
        literal = layout.scan(f"(\n{text}\n)\n").literal
        moved = [line if n + 1 in literal or n == 0 else line.removeprefix(indent) for n, line in enumerate(lines)]
        text = "\n".join(moved)
        return text if stands_alone(text) else f"({text})"

    def cst(self, node: ast.AST) -> libcst.CSTNode:
        """A libcst tree of one expression or statement (for a statement, as it would stand at the margin)."""
        import libcst

        code = self.code(node)
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            code = f"({code})"  # no expressions to libcst without them
        try:
            if isinstance(node, ast.stmt):
                return libcst.parse_module(code, self.libcst_config).body[0]
            return libcst.parse_expression(code, self.libcst_config)
        except (libcst.ParserSyntaxError, IndexError) as error:
            raise CannotFix(f"libcst can't read the code: {error}") from None

    @cached_property
    def libcst_config(self) -> libcst.PartialParserConfig:
        import libcst

        return libcst.PartialParserConfig(default_indent=self.unit, default_newline="\n")


def generate(node: libcst.CSTNode) -> str:
    """The code of a libcst expression or statement, without the newline it ends in."""
    import libcst

    return libcst.Module([]).code_for_node(node).rstrip("\r\n")


def _elements(node: ast.expr) -> Iterator[ast.expr]:
    """A subscript's tuple may hold slices, which are no expressions of their own."""
    if isinstance(node, ast.Tuple):
        yield from node.elts


def expression(code: str) -> ast.expr:
    """Parse one expression. Raises CannotFix."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CannotFix(f"not an expression: {code.strip()!r}: {error}") from None


def statements(code: str) -> list[ast.stmt]:
    """Parse statements. Raises CannotFix."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CannotFix(f"not Python: {error}") from None


def stands_alone(code: str) -> bool:
    """Whether an expression is one without parentheses around it (they are needed when it spans lines)."""
    try:
        expression(code)
    except CannotFix:
        return False
    return True


def same(one: object, other: object, swap: Mapping[ast.AST, ast.AST] | None = None) -> bool:
    """Whether two trees mean the same, where nodes of `other` that are keys of `swap` count as their values."""
    if swap and isinstance(other, ast.AST) and other in swap:
        other = swap[other]
    if isinstance(one, ast.AST):
        return type(one) is type(other) and all(
            same(getattr(one, name, None), getattr(other, name, None), swap)
            for name in one._fields
            if name not in _IGNORED
        )
    if isinstance(one, list):
        return (
            isinstance(other, list) and len(one) == len(other) and all(map(lambda a, b: same(a, b, swap), one, other))
        )
    if isinstance(one, int):  # no repr: one of too many digits has none
        return type(one) is type(other) and one == other
    return type(one) is type(other) and repr(one) == repr(other)
