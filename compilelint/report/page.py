"""One self-contained HTML page: no request leaves it, its script is named by its digest, light and dark."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from compilelint.escaping import as_html

Section = tuple[str, str, str]  # the anchor, the title, HTML; left out where that is empty


def page(title: str, header: str, top: str, sections: Sequence[Section]) -> str:
    """`title` is text; `header` goes beside it, `top` above the sections: both are HTML."""
    style, script = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    shown = [(name, text, body) for name, text, body in sections if body]
    links = "".join(f'<a href="#{name}">{as_html(text)}</a>' for name, text, _ in shown)
    body = "".join(f'<section id="{name}"><h2>{as_html(text)}</h2>{body}</section>' for name, text, body in shown)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{as_html(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{as_html(title)}</title><style>{style}</style></head><body>"
        f"<header>{header}</header>"
        f'<nav aria-label="Sections">{links}<button id="theme" type="button">Light or dark</button></nav>'
        f"<main>{top}{body}</main><script>{script}</script></body></html>\n"
    )


def figures(named: Sequence[tuple[object, str]]) -> str:
    """Boxes of a figure and what it counts; those of None are left out."""
    items = [f"<li><b>{value}</b>{as_html(name)}</li>" for value, name in named if value is not None]
    return f'<ul class="figures">{"".join(items)}</ul>'
