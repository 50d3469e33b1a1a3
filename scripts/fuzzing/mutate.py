"""Changes programs as programs: what comes out mostly parses, so that it reaches what lies behind the parser.

Changes are made to the text of syntax nodes, so that layout and comments stay and are changed too.
"""

from __future__ import annotations

import ast
import bisect
import io
import random
import textwrap
import tokenize
import warnings
from collections.abc import Callable, Sequence

NAMES = (
    "x y self torch nn F np math len range int float list dict print super isinstance enumerate zip sum max any all "
    "loss model loader optimizer device mask total forward __init__ Tensor é _ match type"
).split()
CONSTANTS = (
    "0 1 -1 2 1.5 1e400 0j None True False ... '' 'cuda' 'cpu' b'' 'é😀' '''a\nb''' r'\\' 0x_ff 99999999999999999999 "
    "'mean' f'{x}' f'{x!r:>{n}}' () [] {} {*()}"
).split(" ")
WRAPS = (
    "({})",
    "(v := {})",
    "[{} for v in x]",
    "{{v: {} for v in x}}",
    "(lambda v: {})(x)",
    "({} if x else y)",
    "(not {})",
    "({}).item()",
    "({})[0]",
    "({})[x > 0]",
    "f({}, *x, **y)",
    "torch.where(x > 0, {}, y)",
    "(*{},)",
    "{{**{}}}",
    "(yield {})",
    "(await {})",
    "({} and x or y)",
    "(0 < {} < 1)",
    "bool({})",
    "float({})",
    "sum({})",
    "f'{{{}}}'",
    "f'''é{{{}:>{{x}}}}'''",
    "({}).to('cuda')",
    "[{}]",
    "{}.any()",
    "{},",
    "x[{}:]",
    "getattr({}, 'x')",
)
HEADERS = (
    "if x:",
    "if x.sum() > 0:",
    "while x:",
    "while True:",
    "for v in x:",
    "for i, (x, y) in enumerate(loader):",
    "with torch.no_grad():",
    "with x as y, y as x:",
    "try:",
    "def f(x, *a, y=1, **k):",
    "async def f(x):",
    "class C(nn.Module):",
    "def forward(self, x: torch.Tensor):",
    "match x:\n    case [y, *_]:",
    "if not torch.compiler.is_compiling():",
    "if i % 100 == 0:",
)
DECORATORS = (
    "@torch.compile",
    "@torch.compile(fullgraph=True)",
    "@torch.no_grad()",
    "@staticmethod",
    "@classmethod",
    "@property",
    "@torch.jit.script",
    "@functools.cache",
    "@torch.compiler.disable",
)
COMMENTS = (
    "# compilelint: ignore",
    "# compilelint: ignore[CL101]",
    "# compilelint: ignore[CL201, CL202] because",
    "# compilelint: ignore[",
    "# noqa: CL201",
    "# type: ignore",
    "# é😀",
    "#",
)
SIMPLE = (
    "return x",
    "return",
    "break",
    "continue",
    "global x",
    "nonlocal x",
    "del x",
    "pass",
    "raise x",
    "assert x, y",
    "from x import *",
    "import torch as t, os.path",
    "x: torch.Tensor = y",
    "x += x.item()",
    "x, *y = y, x",
    "x[0] = y",
    "x.y = z",
    "self.x = x",
    "loss.backward()",
    "optimizer.step()",
    "print(x)",
    "x = x.item(); y = x",
    "if x: y = x",
    "yield x",
)
HARDNESS = 3  # changes at once, at most


class Source:
    """A text with its syntax nodes and where they stand in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tree = ast.parse(text)
        self.starts = [0]
        for line in io.StringIO(text, newline=""):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = list(io.StringIO(text, newline=""))
        self.statements = [n for n in ast.walk(self.tree) if isinstance(n, ast.stmt)]
        self.expressions = [
            n
            for n in ast.walk(self.tree)
            if isinstance(n, ast.expr) and not isinstance(n, ast.FormattedValue | ast.Slice)
        ]

    def offset(self, line: int, column: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return self.starts[line - 1] + len(text.encode()[:column].decode(errors="ignore"))

    def span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        first = min(((d.lineno, d.col_offset - 1) for d in getattr(node, "decorator_list", [])), default=None)
        start = self.offset(*(first or (node.lineno, node.col_offset)))
        return start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def code(self, node: ast.stmt | ast.expr) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def indent(self, at: int) -> str:
        line = self.lines[bisect.bisect_right(self.starts, at) - 1]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def block(self, node: ast.stmt) -> str:
        """A statement's code without its indentation."""
        start, _ = self.span(node)
        return textwrap.dedent(self.indent(start) + self.code(node))


class Mutator:
    """Changes texts, with parts of the `donors` where it needs code."""

    def __init__(self, donors: Sequence[str]) -> None:
        self.donors = donors
        self.statements: list[str] = list(SIMPLE)
        self.expressions: list[str] = []
        for text in donors:
            source = Source(text)
            self.statements += [code for n in source.statements if len(code := source.block(n)) < 800]
            self.expressions += [code for n in source.expressions if len(code := source.code(n)) < 200]
        self.expressions = sorted(set(self.expressions))
        self.statements = sorted(set(self.statements))

    def __call__(self, text: str, rng: random.Random) -> str:
        for _ in range(rng.randint(1, HARDNESS)):
            text = self.once(text, rng)
        return text

    def once(self, text: str, rng: random.Random) -> str:
        try:
            source = Source(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return rng.choice((self.noise, self.splice, self.start_again))(text, rng)
        changes: list[tuple[int, Callable[[Source, random.Random], str]]] = [
            (8, self.swap_expression),
            (5, self.wrap_expression),
            (3, self.constant),
            (8, self.swap_statement),
            (4, self.delete),
            (4, self.duplicate),
            (5, self.insert),
            (5, self.wrap_statement),
            (3, self.rename),
            (2, self.decorate),
            (3, self.layout),
            (1, lambda source, rng: self.splice(source.text, rng)),
            (1, lambda source, rng: self.noise(source.text, rng)),
        ]
        after = text
        for _ in range(4):
            [(_, change)] = rng.choices(changes, [weight for weight, _ in changes])
            try:
                after = change(source, rng)
                ast.parse(after)
                return after
            except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
                continue
        return after if rng.random() < 0.02 else text

    # -- expressions -----------------------------------------------------------------------------------------------

    def swap_expression(self, source: Source, rng: random.Random) -> str:
        new = rng.choice(self.expressions)
        return self.replaced(source, rng.choice(source.expressions), f"({new})" if "\n" in new else new)

    def wrap_expression(self, source: Source, rng: random.Random) -> str:
        node = rng.choice(source.expressions)
        return self.replaced(source, node, rng.choice(WRAPS).format(source.code(node)))

    def constant(self, source: Source, rng: random.Random) -> str:
        nodes = [n for n in source.expressions if isinstance(n, ast.Constant | ast.Name)]
        return self.replaced(source, rng.choice(nodes), rng.choice(CONSTANTS))

    def replaced(self, source: Source, node: ast.stmt | ast.expr, new: str) -> str:
        start, end = source.span(node)
        return source.text[:start] + new + source.text[end:]

    def rename(self, source: Source, rng: random.Random) -> str:
        """One name becomes another, everywhere or in one place."""
        tokens = [t for t in tokenize.generate_tokens(io.StringIO(source.text).readline) if t.type == tokenize.NAME]
        names = sorted({t.string for t in tokens})
        old, new = rng.choice(names), rng.choice([*names, *NAMES])
        where = [t for t in tokens if t.string == old]
        if rng.random() < 0.5:
            where = [rng.choice(where)]
        lines = source.text.split("\n")
        for token in reversed(where):
            line = lines[token.start[0] - 1]
            lines[token.start[0] - 1] = line[: token.start[1]] + new + line[token.end[1] :]
        return "\n".join(lines)

    # -- statements ------------------------------------------------------------------------------------------------

    def swap_statement(self, source: Source, rng: random.Random) -> str:
        node = rng.choice(source.statements)
        start, _ = source.span(node)
        return self.replaced(source, node, _indented(rng.choice(self.statements), source.indent(start)))

    def insert(self, source: Source, rng: random.Random) -> str:
        node = rng.choice(source.statements)
        start, _ = source.span(node)
        indent = source.indent(start)
        return (
            source.text[:start] + _indented(rng.choice(self.statements), indent) + f"\n{indent}" + source.text[start:]
        )

    def delete(self, source: Source, rng: random.Random) -> str:
        node = rng.choice(source.statements)
        return self.replaced(source, node, rng.choice(("", "pass")))

    def duplicate(self, source: Source, rng: random.Random) -> str:
        node, other = rng.choice(source.statements), rng.choice(source.statements)
        start, _ = source.span(other)
        indent = source.indent(start)
        return source.text[:start] + _indented(source.block(node), indent) + f"\n{indent}" + source.text[start:]

    def wrap_statement(self, source: Source, rng: random.Random) -> str:
        node, header = rng.choice(source.statements), rng.choice(HEADERS)
        start, _ = source.span(node)
        depth = header.count("\n") + 1
        inner = f"{header}\n{textwrap.indent(source.block(node), '    ' * depth)}"
        if header == "try:":
            inner += rng.choice(("\nexcept Exception as e:\n    x = e", "\nfinally:\n    pass", "\nexcept: raise"))
        elif header.startswith(("if", "for", "while")) and rng.random() < 0.4:
            inner += "\nelse:\n" + textwrap.indent(rng.choice(self.statements), "    ")
        return self.replaced(source, node, _indented(inner, source.indent(start)))

    def decorate(self, source: Source, rng: random.Random) -> str:
        nodes = [n for n in source.statements if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
        start, _ = source.span(rng.choice(nodes))
        return f"{source.text[:start]}{rng.choice(DECORATORS)}\n{source.indent(start)}{source.text[start:]}"

    # -- layout ----------------------------------------------------------------------------------------------------

    def layout(self, source: Source, rng: random.Random) -> str:
        text, line = source.text, rng.randrange(len(source.lines))
        body = source.lines[line].rstrip("\r\n")
        end = source.lines[line][len(body) :]
        match rng.randrange(12):
            case 0 | 1:
                body = f"{body}  {rng.choice(COMMENTS)}"
            case 2:
                return text.replace("\n", rng.choice(("\r\n", "\r")))
            case 3:
                return text.replace("    ", rng.choice(("\t", " ", "  ")))
            case 4:
                return text.rstrip("\n") + rng.choice(("", "\n\n\n", "\\\n", "  ", "\x0c", "# end"))
            case 5:
                body = f"{body};"
            case 6:
                body = body.replace(" ", rng.choice(("  ", " \\\n ", "\x0c ")), 1)
            case 7:
                body = body.replace("(", "(\n  # c\n", 1)
            case 8:
                return f"{rng.choice(('﻿', '# -*- coding: latin-1 -*-', '# coding: utf-16', '# coding: x'))}\n{text}"
            case 9:
                end = rng.choice(("\r\n", "\r", "\n\n", "\n\x0c\n", "\n# c\n", f"{end}\t"))
            case 10:
                body = rng.choice(("\x0c", "\t", " ")) + body
            case _:
                simple = body.strip()
                body = f"{body}; {simple}" if simple and not simple.endswith(":") else body
        return "".join([*source.lines[:line], body + end, *source.lines[line + 1 :]])

    # -- texts -----------------------------------------------------------------------------------------------------

    def splice(self, text: str, rng: random.Random) -> str:
        return text + "\n\n" + rng.choice(self.donors)

    def start_again(self, text: str, rng: random.Random) -> str:
        return rng.choice(self.donors)

    def noise(self, text: str, rng: random.Random) -> str:
        at = rng.randrange(len(text) + 1)
        new = rng.choice(
            ("", "(", ")", "'", '"""', ":", "\n", "    ", "\x00", "\ud800", "\\", "\t", "é", ",", "=", "#")
        )
        return text[:at] + new + text[at + rng.randrange(3) :]


def _indented(code: str, indent: str) -> str:
    """Code with all lines but the first indented."""
    first, newline, rest = code.partition("\n")
    return first + newline + textwrap.indent(rest, indent)
