"""Sortable tables. Cells are HTML: whoever makes one escapes what is in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from compilelint.escaping import as_html

Column = tuple[str, Callable[[Any], str]]  # its head, and the cell that it makes of a row


class _Number(str):
    __slots__ = ()


def number(value: float | None) -> str:
    """A cell that is aligned and sorted as a number; empty for None."""
    return _Number("" if value is None else str(value))


def table(rows: Sequence[Any], columns: Sequence[Column]) -> str:
    """ "" without rows."""
    if not rows:
        return ""
    heads = "".join(_head(name, make(rows[0])) for name, make in columns)
    body = "".join(f"<tr>{''.join(_cell(make(row)) for _, make in columns)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'


def _head(name: str, first: str) -> str:
    kind = ' class="number"' if isinstance(first, _Number) else ""
    return f'<th scope="col"{kind}><button type="button">{as_html(name)}</button></th>'


def _cell(html: str) -> str:
    return f'<td class="number">{html}</td>' if isinstance(html, _Number) else f"<td>{html}</td>"
