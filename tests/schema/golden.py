"""Recorded behaviour of google-adk (`../shared/golden`), for the tests of this folder."""

import json
from pathlib import Path
from typing import Any

import pytest

Vector = dict[str, Any]

_GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"


def vectors(name: str) -> list[Any]:
    """The vectors of one file as parameters; a single skipped one when the material is not there."""
    path = _GOLDEN / f"{name}.json"
    if not path.exists():
        return [pytest.param({}, marks=pytest.mark.skip(reason="the folder ../shared is missing"))]
    found = json.loads(path.read_text(encoding="utf-8"))["vectors"]
    assert found, f"{path.name} has no vectors"
    return [pytest.param(vector, id=f"{name}-{index}") for index, vector in enumerate(found)]


def is_error(outcome: dict[str, Any]) -> bool:
    """Whether ADK refused."""
    return "error" in outcome


def as_json(model: Any, **options: Any) -> Any:
    """What a model writes, parsed."""
    return json.loads(model.model_dump_json(**options))
