"""The Rewriter: what a rule's fix edits a file with. It records changes of `ast` nodes and lowers them to text edits.

See docs/writing-fixes.md for the whole of it with examples.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from compilelint.finding import Edit
from compilelint.fix import layout
from compilelint.fix.arguments import ArgumentChanges
from compilelint.fix.cst import CstFile, expression, generate, same, statements
from compilelint.fix.edits import OverlapError, apply_edits, parses
from compilelint.fix.errors import CannotFix
from compilelint.fix.folding import fold, fold_statements
from compilelint.fix.names import Names
from compilelint.source.lines import lines_of

if TYPE_CHECKING:
    import libcst

__all__ = ["CannotFix", "CstFile", "Rewriter"]

_SIMPLE = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Delete, ast.Raise, ast.Assert, ast.Import,
    ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip
_ATOMS = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.JoinedStr,
)  # fmt: skip
# edits at one place are merged in this order
_IMPORT, _AFTER, _BEFORE, _WRAP, _REPLACE = range(5)


@dataclass
class _Change:
    """What shall become of one statement. `code` is None while it stays; deleting it is replacing it by nothing."""

    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    code: str | None = None

    @property
    def gone(self) -> bool:
        return self.code == "" and not self.before and not self.after


class Rewriter:
    """Records the changes of one fix to one file.

    `Rewriter(CstFile(path, text, tree), at=node)`: share the CstFile between the fixes of a file; `at` is the finding's
    node, where `name_for` looks names up unless told otherwise. `Rewriter(path, text, tree)` makes its own CstFile.
    """

    def __init__(
        self,
        file: CstFile | str | Path,
        text: str | None = None,
        tree: ast.Module | None = None,
        *,
        at: ast.AST | None = None,
    ) -> None:
        if not isinstance(file, CstFile):
            if text is None or tree is None:
                raise TypeError("Rewriter(path, text, tree) or Rewriter(CstFile)")
            file = CstFile(str(file), text, tree)
        self.file = file
        self.at = at
        self._changes: dict[ast.stmt, _Change] = {}
        self._arguments: dict[ast.Call, ArgumentChanges] = {}
        self._raw: list[tuple[int, Edit]] = []
        self._names = Names(file, at)

    # Reading

    def text(self, node: ast.AST) -> str:
        """The exact source text of a node, comments and line ends inside it included."""
        return self.file.source(node)

    def code(self, node: ast.AST) -> str:
        """The text of a node to build new code from.

        Its further lines are moved as if the first stood at the margin; an expression that spans lines without brackets
        gets parentheses.
        """
        return self.file.code(node)

    def operand(self, node: ast.expr) -> str:
        """Like `code`, in parentheses unless the expression can stand before `.name` or beside any operator."""
        code = self.code(node)
        if isinstance(node, _ATOMS):
            return code
        try:
            whole = same(expression(f"{code}.x"), ast.Attribute(expression(code), "x", ast.Load()))
        except CannotFix:
            whole = False
        return code if whole else f"({code})"

    def fill(self, template: str, **parts: ast.expr | str) -> str:
        """An expression or statements from a template: `rw.fill("{test} and not {flag}", test=node, flag="a or b")`.

        Each part, a node or code, goes in whole, with the parentheses that it needs at its place.
        """
        codes = {name: part if isinstance(part, str) else self.code(part) for name, part in parts.items()}
        trees: dict[str, ast.AST] = {name: expression(f"({code}\n)") for name, code in codes.items()}
        marks = {name: f"_part_{n}_" for n, name in enumerate(parts)}
        shape = ast.Module(statements(layout.dedent(template.format(**marks))), [])
        swap: dict[ast.AST, ast.AST] = {}
        chosen = dict(codes)
        for name, mark in marks.items():
            places = [each for each in ast.walk(shape) if isinstance(each, ast.Name) and each.id == mark]
            mine: dict[ast.AST, ast.AST] = dict.fromkeys(places, trees[name])
            swap |= mine
            if not _reads_as(layout.dedent(template.format(**{**marks, name: codes[name]})), shape, mine):
                chosen[name] = f"({codes[name]})"
        code = layout.dedent(template.format(**chosen))
        if not _reads_as(code, shape, swap):
            raise CannotFix(f"`{template}` can't be filled")
        return code

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The syntactic parent of a node."""
        return self.file.parents.get(node)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement a node is in (itself, when it is one)."""
        return self.file.statement(node)

    def siblings(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the block a statement stands in, itself included."""
        return self.file.siblings(statement)

    def cst(self, node: ast.AST) -> libcst.CSTNode:
        """A libcst tree of one expression or statement; change it and hand it to `replace`."""
        return self.file.cst(node)

    def indent(self, code: str, by: str | None = None) -> str:
        """Code one level deeper (the file's own unit), leaving what string literals hold alone."""
        return layout.indent(layout.dedent(code), self.file.unit if by is None else by)

    # Expressions

    def replace(self, node: ast.AST, code: str | libcst.CSTNode) -> None:
        """Replace an expression, with the parentheses that the new one needs there and no others; or a statement."""
        text = code if isinstance(code, str) else generate(code)
        if isinstance(node, ast.stmt):
            self.replace_statement(node, text)
        elif isinstance(node, ast.expr):
            try:
                self._replace_expression(node, text.strip())
            except RecursionError:
                raise CannotFix("the expression is nested too deeply") from None
        else:
            raise CannotFix(f"a {type(node).__name__} can't be replaced: replace its statement")

    def _replace_expression(self, node: ast.expr, code: str) -> None:
        old, given = self.file.source(node), code
        start, end = self.file.span(node)
        new = expression(f"({code}\n)")
        statement = self.file.statement(node)
        outer = self.file.fstring(node)
        if outer is not None:
            self._check_fstring(outer, node, code)
        if outer is None:
            line = self.file.index.line_start(start)
            rest = self.file.index.line_end(end) - end
            indent = len(layout.leading(self.file.text[line:start]))
            folded = fold(code, self.file.width - indent, before=start - line - indent + rest)
            if folded != code:
                code = layout.indent(folded, self.file.text[line : line + indent], first=False)
        if "\n" in code and "\n" in given:
            code = self._fit(code, self.file.indentation(statement), first=False)
        if "#" in old:
            found = layout.scan(f"(\n{old}\n)\n")
            self._keep_comments(statement, [text for _, _, text in found.comments], code)
        for begin, stop, text in self._spellings(node, start, end, code):
            if self._means(statement, begin, stop, text, node, new):
                self._raw.append((_REPLACE, Edit(begin, stop, self._newlines(text, start))))
                return
        raise CannotFix(f"`{code}` does not fit where `{old}` stands")

    def _spellings(self, node: ast.expr, start: int, end: int, code: str) -> list[tuple[int, int, str]]:
        """Ways to write `code` in the place of a node, the plainest first."""
        source = self.file.text
        found = [(start, end, code), (start, end, f"({code})")]
        before, behind = start, end
        while before and source[before - 1] in " \t":
            before -= 1
        while behind < len(source) and source[behind] in " \t":
            behind += 1
        if source[before - 1 : before] == "(" and source[behind : behind + 1] == ")" and "\n" not in code:
            found.insert(0, (before - 1, behind + 1, code))
        return found

    def _means(self, statement: ast.stmt, start: int, end: int, code: str, node: ast.AST, new: ast.expr) -> bool:
        """Whether the statement, with this text in place, parses as itself with `node` replaced by `new`."""
        first, last = self.file.span(statement)
        source = self.file.text
        piece = source[first:start] + code + source[end:last]
        if self.file.is_elif(statement):
            piece = piece[2:]
        try:
            found = statements(layout.framed(piece, self.file.indentation(statement)))
        except CannotFix:
            return False
        result = found[0].body if self.file.indentation(statement) and isinstance(found[0], ast.If) else found[1:]
        return len(result) == 1 and same(result[0], statement, {node: new})

    def _check_fstring(self, outer: ast.expr, node: ast.expr, code: str) -> None:
        """New code inside an f-string must be readable by Python 3.10 too: no quotes, no backslashes."""
        source = self.file.text
        begin, _ = self.file.span(outer)
        stop = self.file.span(node)[1]
        if any(mark in code for mark in "'\"\\#\n{}!:") and code != self.file.source(node):
            raise CannotFix("the new code can't stand inside an f-string")
        rest = source[stop:].lstrip(" \t)")
        if rest.startswith("=") and not rest.startswith("=="):
            raise CannotFix("an f-string shows this expression's text (`{…=}`)")
        if source.startswith("(", begin):
            raise CannotFix("the f-string's position is not reliable")

    def add_argument(self, call: ast.Call, code: str) -> None:
        """Add `value`, after the positional arguments, or `name=value`, after all. Commas and layout are kept."""
        self._argument_changes(call).add(code)

    def remove_argument(self, call: ast.Call, which: str | int) -> None:
        """Remove a keyword argument by name or a positional one by index."""
        self._argument_changes(call).remove(which)

    def _argument_changes(self, call: ast.Call) -> ArgumentChanges:
        self.file.source(call)
        return self._arguments.setdefault(call, ArgumentChanges(self.file, call))

    # Statements

    def replace_statement(self, statement: ast.stmt, code: str | libcst.CSTNode, *, keep_comments: bool = True) -> None:
        """Replace a statement by any number of statements.

        Comments inside the old one that the code lacks are put above, unless told otherwise; one behind it stays.
        """
        text = layout.dedent(code if isinstance(code, str) else generate(code)).rstrip()
        text = layout.with_unit(self._folded(text, statement), self.file.unit)
        if not statements(text):
            raise CannotFix("no statement in the new code: use delete_statement")
        change = self._change(statement)
        if change.code is not None or change.headers:
            raise CannotFix("the statement is changed twice")
        start, end = self.file.span(statement)
        file_text = self.file.text
        if keep_comments and "#" in file_text[start:end]:
            found = layout.scan_piece(*self.file.piece(statement))
            text = "".join(f"{comment}\n" for comment in self._lost([c for _, _, c in found.comments], text)) + text
        behind = file_text[end : self.file.index.line_end(end)].strip()
        change.code = text.removesuffix(behind).rstrip() if behind.startswith("#") else text

    def delete_statement(self, statement: ast.stmt) -> None:
        """Delete a statement with its lines; `pass` is left where its block would be empty. Comments above it stay."""
        change = self._change(statement)
        if change.code is not None or change.headers:
            raise CannotFix("the statement is changed twice")
        change.code = ""

    def insert_before(self, statement: ast.stmt, code: str) -> None:
        """Insert statements before a statement, above the comments that belong to it."""
        self._change(statement).before.append(self._statements(code, statement))

    def insert_after(self, statement: ast.stmt, code: str) -> None:
        """Insert statements after a statement, at its level."""
        self._change(statement).after.append(self._statements(code, statement))

    def wrap_statement(self, statement: ast.stmt, header: str, *, last: ast.stmt | None = None) -> None:
        """Put a statement (or those from it to its sibling `last`) under a header such as `if flag:`."""
        siblings = self.file.siblings(statement)
        position = siblings.index(statement)
        if last is not None and not any(each is last for each in siblings[position:]):
            raise CannotFix("the statements to wrap are not of one block")
        statements(f"{header.strip()}\n    pass\n")
        for each in siblings[position : siblings.index(last if last is not None else statement) + 1]:
            change = self._change(each)
            if change.headers or change.code is not None:
                raise CannotFix("the statement is changed twice")
            change.headers.append(header.strip() if each is statement else "")

    def _statements(self, code: str, beside: ast.stmt) -> str:
        text = layout.with_unit(self._folded(layout.dedent(code).rstrip(), beside), self.file.unit)
        statements(text)
        return text

    def _folded(self, code: str, beside: ast.stmt) -> str:
        """Statements at the margin with the lines that would be too long at the level of `beside` broken."""
        return fold_statements(code, statements(code), self.file.width - len(self.file.indentation(beside)))

    def _change(self, statement: ast.stmt) -> _Change:
        if not isinstance(statement, ast.stmt):
            raise CannotFix(f"a {type(statement).__name__} is not a statement")
        self.file.block(statement)
        return self._changes.setdefault(statement, _Change())

    def _keep_comments(self, statement: ast.stmt, comments: list[str], code: str) -> None:
        if lost := self._lost(comments, code):
            while self.file.is_elif(statement):  # nothing can stand above it
                statement = self.file.statement(self.file.parents[statement])
            self._change(statement).before.append("\n".join(lost))

    @staticmethod
    def _lost(comments: list[str], code: str) -> list[str]:
        return [comment for comment in comments if comment not in code and not layout.PRAGMA.match(comment)]

    # Names

    def name_for(self, target: str, at: ast.AST | None = None) -> str:
        """How `torch.where` is spelled at a place (by default the finding's); imported when nothing there means it."""
        return self._names.name_for(target, at if at is not None else self.at)

    def fresh_name(self, name: str, within: ast.AST | None = None) -> str:
        """`name`, or `name_2`, …: one that is not used inside the given function (by default, in the file)."""
        return self._names.fresh(name, within)

    # Lowering

    def edits(self) -> tuple[Edit, ...]:
        """The changes as text edits, in order, disjoint; the edited file is known to parse. Raises CannotFix."""
        ranked = list(self._raw)
        done: set[ast.stmt] = set()
        for statement in self._changes:
            if statement not in done:
                mates = self.file.line_mates(statement)
                done.update(mates)
                ranked += self._lower(mates)
        for changes in self._arguments.values():
            ranked += [(_REPLACE, edit) for edit in changes.edits()]
        merged = _merged(ranked)
        imports = self._names.imports()
        if imports and any(edit.start == each.start for edit in merged for each in imports):
            merged = _merged([(_IMPORT, edit) for edit in imports] + [(_REPLACE, edit) for edit in merged])
        else:
            merged = sorted([*imports, *merged], key=lambda edit: edit.start)
        self._verify(merged)
        self._names.keep()
        return tuple(merged)

    def _verify(self, edits: list[Edit]) -> None:
        if not edits:
            return
        try:
            if all(parses(part) is None for part in self.file.changed(edits)):
                return  # the rest is as it was
            problem = parses(apply_edits(self.file.text, edits))
        except OverlapError:
            raise CannotFix("the fix changes the same code twice") from None
        if problem is not None:
            raise CannotFix(f"the result would not be Python: {problem}")

    def _lower(self, mates: list[ast.stmt]) -> list[tuple[int, Edit]]:
        """The edits for the statements of one line."""
        file = self.file
        if file.is_elif(mates[0]):
            return self._lower_elif(mates[0])
        changes = [self._changes.get(mate) or _Change() for mate in mates]
        spans = [file.span(mate) for mate in mates]
        indent = file.indentation(mates[0])
        below = "\n" + indent
        opens = file.own_start(mates[0])
        if self._leaves_nothing(mates):
            changes[-1] = _Change(code="pass")
        for change in changes:
            if change.code == "" and not change.gone:
                change.code = "\n".join(change.before + change.after)
                change.before, change.after = [], []
        if opens and all(change.gone for change in changes):
            start, end = file.index.line_start(spans[0][0]), file.index.next_line(spans[-1][1])
            return [(_REPLACE, Edit(start, end, ""))]
        kept = [n for n, change in enumerate(changes) if not change.gone]
        blocks = [self._is_block(change) for change in changes]
        starts = [block or bool(change.before) for block, change in zip(blocks, changes, strict=True)]
        ends = [block or bool(change.after) for block, change in zip(blocks, changes, strict=True)]
        out: list[tuple[int, Edit]] = []

        def add(rank: int, start: int, end: int, text: str) -> None:
            out.append((rank, Edit(start, end, self._newlines(text, spans[0][0]))))

        previous = -1
        for n in kept:
            change, (start, end) = changes[n], spans[n]
            gaps = [1 if indent else lines_below(code) for code in change.before]
            before = "".join(self._fit(code, indent) + "\n" * n for code, n in zip(change.before, gaps, strict=True))
            if previous >= 0:
                if ends[previous] or starts[n]:
                    after = "".join("\n" + self._fit(code, indent) for code in changes[previous].after)
                    add(_BEFORE, spans[previous][1], start, after + "\n" + before + indent)
                elif n > previous + 1:
                    add(_REPLACE, spans[previous][1], start, "; ")
            else:
                if not opens and any(starts + ends):
                    add(_BEFORE, file.gap_before(mates[0])[0], start, "\n" + before + indent)
                elif n:
                    add(_REPLACE, spans[0][0], start, "")
                if opens and before:
                    anchor = self._above(mates[0], indent)
                    add(_BEFORE, anchor, anchor, before)
            if change.code:
                add(_REPLACE, start, end, self._fit(change.code, indent, first=False))
            elif change.headers:
                self._shift(mates[n], indent, below, change.headers[0], add)
            previous = n
        if previous + 1 < len(mates):
            add(_REPLACE, spans[previous][1], spans[-1][1], "")
        if changes[previous].after:
            self._insert_below(mates[-1], indent, changes[previous].after, add)
        return out

    def _lower_elif(self, statement: ast.stmt) -> list[tuple[int, Edit]]:
        """`elif` becomes `else:` and `if`, one level deeper, where something must stand beside it."""
        file, change = self.file, self._changes[statement]
        start, end = file.span(statement)
        indent = file.indentation(statement)
        unit = file.unit_at(statement)
        deeper = indent + unit
        out: list[tuple[int, Edit]] = []

        def add(rank: int, first: int, last: int, text: str) -> None:
            out.append((rank, Edit(first, last, self._newlines(text, start))))

        if change.gone:
            add(_REPLACE, file.index.line_start(start), file.index.next_line(end), "")
            return out
        before = "".join("\n" + self._fit(code, deeper) for code in change.before)
        if change.code is not None:
            codes = [*change.before, *([change.code] if change.code else []), *change.after]
            add(_REPLACE, start, end, "else:" + "".join("\n" + self._fit(code, deeper) for code in codes))
            return out
        header = f"\n{deeper}{change.headers[0]}" if change.headers and change.headers[0] else ""
        levels = 2 if change.headers else 1
        add(_REPLACE, start, start + 2, f"else:{before}{header}\n{indent}{unit * levels}")
        self._indent_lines(statement, indent, unit * levels, add)
        if change.after:
            self._insert_below(statement, deeper, change.after, add)
        return out

    def _shift(self, statement: ast.stmt, indent: str, below: str, header: str, add: _Add) -> None:
        """Put the header above a statement and its lines one level deeper, by insertions only."""
        start = self.file.span(statement)[0]
        unit = self.file.unit_at(statement)
        add(_WRAP, start, start, (header + below if header else "") + unit)
        if not header and self.file.own_start(statement):
            self._indent_comments(statement, indent, unit, add)
        self._indent_lines(statement, indent, unit, add)

    def _indent_comments(self, statement: ast.stmt, indent: str, unit: str, add: _Add) -> None:
        """The comments between a statement and the one before it move with it."""
        file = self.file
        siblings = file.siblings(statement)
        above = file.index.line(file.span(siblings[siblings.index(statement) - 1])[1])
        for line in range(above + 1, file.index.line(file.span(statement)[0])):
            begin = file.index.starts[line - 1]
            if file.text.startswith(indent + "#", begin):
                add(_WRAP, begin + len(indent), begin + len(indent), unit)

    def _indent_lines(self, statement: ast.stmt, indent: str, unit: str, add: _Add) -> None:
        file = self.file
        start, end = file.span(statement)
        literal = layout.scan_piece(*file.piece(statement)).literal
        first, last = file.index.line(start), file.index.line(end)
        for line in range(first + 1, last + 1):
            begin = file.index.starts[line - 1]
            text = file.text[begin : file.index.line_end(begin)]
            if line - first not in literal and text.strip():
                place = begin + len(indent) if text.startswith(indent) else begin
                add(_WRAP, place, place, unit)
        for begin in self._deeper_comments(statement, indent):
            add(_WRAP, begin + len(indent), begin + len(indent), unit)

    def _deeper_comments(self, statement: ast.stmt, indent: str) -> list[int]:
        """The lines of comments that end a statement's block."""
        file = self.file
        found: list[int] = []
        begin = file.index.next_line(file.span(statement)[1])
        while begin < len(file.text) and isinstance(getattr(statement, "body", None), list):
            line = file.text[begin : file.index.line_end(begin)]
            lead = layout.leading(line)
            if not line.lstrip().startswith("#") or len(lead) <= len(indent) or not lead.startswith(indent):
                break
            found.append(begin)
            begin = file.index.next_line(begin)
        return found

    def _insert_below(self, statement: ast.stmt, indent: str, codes: list[str], add: _Add) -> None:
        """Insert under the lines of a statement, and under deeper comments that follow its block."""
        file = self.file
        last = max([file.span(statement)[1], *self._deeper_comments(statement, indent)])
        anchor = file.index.next_line(last)
        text = "".join(self._fit(code, indent) + "\n" for code in codes)
        if anchor == len(file.text) and not file.text.endswith(("\n", "\r")):
            add(_AFTER, anchor, anchor, "\n" + text.removesuffix("\n"))
        else:
            add(_AFTER, anchor, anchor, text)

    def _above(self, statement: ast.stmt, indent: str) -> int:
        """Where lines before a statement go: above the comments right above it, but not above the file's first."""
        file = self.file
        start = place = file.index.line_start(file.span(statement)[0])
        siblings = file.siblings(statement)
        position = siblings.index(statement)
        floor = file.index.line(file.span(siblings[position - 1])[1]) if position else 1
        while (line := file.index.line(place)) - 1 > floor:
            begin = file.index.starts[line - 2]
            text = file.text[begin:place]
            if not text.lstrip().startswith("#") or layout.leading(text) != indent:
                break
            place = begin
        if file.index.line(place) == 2 and not position and file.text.startswith("#"):
            return start  # a licence or an encoding line opens the file
        return place

    def _leaves_nothing(self, mates: list[ast.stmt]) -> bool:
        """Whether all of a block is deleted, and these statements are its last."""
        parent = self.file.block(mates[0])[0]
        siblings = self.file.siblings(mates[0])
        if isinstance(parent, ast.Module) or mates[-1] is not siblings[-1]:
            return False
        return all(each in self._changes and self._changes[each].gone for each in siblings)

    @staticmethod
    def _is_block(change: _Change) -> bool:
        """Whether what becomes of the statement itself needs lines of its own."""
        if change.headers:
            return True
        if not change.code:
            return False
        return (
            "\n" in change.code
            or "#" in change.code
            or not all(isinstance(s, _SIMPLE) for s in statements(change.code))
        )

    def _fit(self, code: str, indent: str, *, first: bool = True) -> str:
        """Code at the margin, indented; lines inside brackets that were copied from the file stay as they are."""
        lines = lines_of(code)
        if len(lines) == 1 or not indent:
            return layout.indent(code, indent, first=first)
        try:
            found = layout.scan(code + "\n")
        except CannotFix:  # an expression that needs the brackets around it
            found = layout.scan(f"(\n{code}\n)\n").moved(-1)
        out: list[str] = []
        copied = False
        for n, line in enumerate(lines):
            if n in found.inner and line.strip():
                closes = copied and line.lstrip()[0] in ")]}"
                copied = closes or self._is_copied(line, lines[n - 1].strip(), within=copied)
            else:
                copied = False
            keep = n in found.literal or copied or not line.strip() or (n == 0 and not first)
            out.append(line if keep else indent + line)
        return "\n".join(out)

    def _is_copied(self, line: str, before: str, *, within: bool) -> bool:
        """Whether a line inside brackets stands in the file too, behind what opens them; `within` copied lines, behind
        the same line."""
        for above in self.file.lines_above.get(line, ()):
            pairs = zip(reversed(above), reversed(before), strict=False)
            size = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(above), len(before)))
            same = above[len(above) - size :]
            opens = sum(map(same.count, "([{")) > sum(map(same.count, ")]}"))
            if opens or (within and same == above):
                return True
        return False

    def _newlines(self, text: str, near: int) -> str:
        """Text with the newlines of the file's line at an offset."""
        lines = lines_of(text)
        return self.file.index.newline_near(near).join(lines) if len(lines) > 1 else text


if TYPE_CHECKING:
    from collections.abc import Callable

    _Add = Callable[[int, int, int, str], None]


def _reads_as(code: str, shape: ast.Module, swap: dict[ast.AST, ast.AST]) -> bool:
    try:
        return same(ast.Module(statements(code), []), shape, swap)
    except CannotFix:
        return False


def _merged(ranked: list[tuple[int, Edit]]) -> list[Edit]:
    """One edit for each place: what is inserted there, in the order of ranks and recording, then what is replaced."""
    out: list[Edit] = []
    for _, edit in sorted(ranked, key=lambda item: (item[1].start, item[0], item[1].start != item[1].end)):
        last = out[-1] if out else None
        if last is not None and last.start == edit.start and last.start == last.end:
            out[-1] = Edit(last.start, edit.end, last.text + edit.text)
        elif edit.start != edit.end or edit.text:
            out.append(edit)
    return out


def lines_below(code: str) -> int:
    """Ends of lines between code inserted in a module and what follows: two lines stay empty below a definition."""
    last = statements(code)[-1:]
    return 3 if last and isinstance(last[0], (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else 1
