"""The comment that suppresses a finding, where an editor adds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilelint import api
from compilelint.fix.edits import apply_edits

HEAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, y: torch.Tensor):\n"


def ignored(body: str) -> str | None:
    """The text with the first finding ignored; it must be gone then, and no other come."""
    text = HEAD + body
    first, *others = found(text)
    edit = api.ignore(text, first)
    if edit is None:
        return None
    after = apply_edits(text, [edit])
    assert [finding.code for finding in found(after)] == [finding.code for finding in others]
    assert after.startswith(HEAD)
    return after.removeprefix(HEAD)


def found(text: str) -> list[api.Finding]:
    return api.check_source(text.encode(), Path("a.py"), api.Settings()).findings


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("    return x.item()\n", "    return x.item()  # compilelint: ignore[CL103]\n"),
        ("    return x.item()", "    return x.item()  # compilelint: ignore[CL103]"),
        ("    return x.item()  \r\n", "    return x.item()  # compilelint: ignore[CL103]  \r\n"),
        ("    return x.item()  # why\n", "    return x.item()  # why  # compilelint: ignore[CL103]\n"),
        (
            "    return x.item()  # compilelint: ignore[CL110] said\n",
            "    return x.item()  # compilelint: ignore[CL110, CL103] said\n",
        ),
        (
            "    return [\n        x.item(),\n    ]\n",
            "    return [\n        x.item(),  # compilelint: ignore[CL103]\n    ]\n",
        ),
        (
            "    return (y, \\\n        x.item())\n",
            "    return (y, \\\n        x.item())  # compilelint: ignore[CL103]\n",
        ),
        ("    return (x.item(), \\\n        y)\n", None),
        (
            "    return f'''\n    {x.item()}\n    '''\n",
            "    return f'''\n    {x.item()}\n    '''  # compilelint: ignore[CL103]\n",
        ),
    ],
)
def test_where_the_comment_stands(body: str, after: str | None) -> None:
    assert ignored(body) == after
