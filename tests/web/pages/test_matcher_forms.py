"""The page's forms know every kind of matcher that the reader knows, with its options: neither has one more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.metrics.matchers.parse import AMOUNTS, FLAGS, KINDS, WITHOUT_VALUE

FORMS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).parents[3].joinpath("ui/src/screens/evalCase/calls/matchers.json").read_text()
)


def test_there_is_a_form_for_each_kind() -> None:
    assert set(FORMS) == set(KINDS)


@pytest.mark.parametrize("kind", [*KINDS])
def test_a_form_has_the_options_of_its_kind(kind: str) -> None:
    form = FORMS[kind]
    assert set(form) - {"value"} == KINDS[kind]
    assert ("value" in form) == (kind not in WITHOUT_VALUE)
    assert {name for name, how in form.items() if how == "flag"} == KINDS[kind] & FLAGS
    assert {name for name, how in form.items() if how == "number"} == KINDS[kind] & AMOUNTS
