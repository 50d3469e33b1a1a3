"""A file from which another is generated does not run: only the other is reported."""

from __future__ import annotations

from pathlib import Path

from compilelint import api
from compilelint.config import Settings

CODE = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x + 1 if x.sum() > 0 else x\n"


def test_templates_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "modular_net.py").write_text(CODE)
    (tmp_path / "other_net.py").write_text(CODE)
    (tmp_path / "modeling_net.py").write_text(
        "# This file was automatically generated from src/nets/modular_net.py.\n# Do NOT edit it.\n" + CODE
    )
    result = api.check([tmp_path], Settings())
    assert [Path(f.span.path).name for f in result.findings] == ["modeling_net.py", "other_net.py"]
    assert result.stats.bounds["templates of generated files left out"] == 1
