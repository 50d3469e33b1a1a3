"""Breaking lines of new code that are longer than those of the file: one argument a line, as formatters do."""

from __future__ import annotations

import ast

UNIT = "    "
WIDTHS = (88, 100, 120)


def width_of(text: str) -> int:
    """The line length a file keeps to: the least usual one that nearly all of its lines fit in, in characters."""
    lengths = [len(line) for line in text.splitlines()]
    for width in WIDTHS:
        if sum(length > width for length in lengths) * 100 <= len(lengths):
            return width
    return WIDTHS[-1]


def fold_statements(code: str, parsed: list[ast.stmt], width: int) -> str:
    """Statements at the margin, the simple ones on lines of more than `width` characters folded."""
    lines = code.split("\n")
    if all(len(line) <= width for line in lines):
        return code
    for node in ast.walk(ast.Module(parsed, [])):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.lineno == node.end_lineno:
            line = lines[node.lineno - 1]
            lead, piece = line[: node.col_offset], line[node.col_offset :]
            if len(line) > width and not lead.strip():
                lines[node.lineno - 1] = lead + fold(piece, width - len(lead)).replace("\n", "\n" + lead)
    return "\n".join(lines)


def fold(code: str, width: int, *, before: int = 0) -> str:
    """One line of code that ends in a call, its arguments on lines of their own unless it fits.

    `before` characters stand on the line already. Other code is left as it is.
    """
    if before + len(code) <= width or "\n" in code or not code.isascii():
        return code
    call = _last_call(code)
    if call is None:
        return code
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    parts = [_segment(code, each) for each in arguments]
    opening = code.index("(", call.func.end_col_offset or 0)
    head, joined = code[: opening + 1], ", ".join(parts)
    if len(UNIT) + len(joined) <= width and len(parts) > 1:
        return f"{head}\n{UNIT}{joined}\n)"
    folded = [fold(part, width - len(UNIT), before=1).replace("\n", f"\n{UNIT}") for part in parts]
    return f"{head}\n" + "".join(f"{UNIT}{part},\n" for part in folded) + ")"


def _last_call(code: str) -> ast.Call | None:
    """The call whose arguments stand between the last parentheses of a simple statement or an argument."""
    try:
        statement = ast.parse(code).body[0]
    except SyntaxError:
        return None
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call) or value.end_col_offset != len(code) or not (value.args or value.keywords):
        return None
    if isinstance(value.args[0] if value.args else None, ast.GeneratorExp):
        return None
    if any(isinstance(each, ast.JoinedStr) for each in ast.walk(value)):
        return None  # before Python 3.12 the places in f-strings are not reliable
    return value


def _segment(code: str, node: ast.expr | ast.keyword) -> str:
    """The text of an argument, with the parentheses around its value."""
    if isinstance(node, ast.keyword):
        return f"{node.arg}={_segment(code, node.value)}" if node.arg else f"**{_segment(code, node.value)}"
    if isinstance(node, ast.Starred):
        return f"*{_segment(code, node.value)}"
    start, end = node.col_offset, node.end_col_offset or len(code)
    while (before := code[:start].rstrip()).endswith("(") and (behind := code[end:].lstrip()).startswith(")"):
        outside = before[:-1].rstrip()
        if outside and outside[-1] not in "(,=*[{":
            break  # these are the call's own
        start, end = len(before) - 1, len(code) - len(behind) + 1
    return code[start:end]
