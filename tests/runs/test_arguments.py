"""The functions of the Python API and their synchronous forms: what `help()` shows, and former names of parameters."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

import proctor

FORMS = [
    name.removesuffix("_sync")
    for name in proctor.__all__
    if name.endswith("_sync") and hasattr(getattr(proctor, name), "__wrapped__")
]


@pytest.mark.parametrize("name", FORMS)
def test_a_synchronous_form_has_the_parameters_and_the_help_of_its_coroutine(name: str) -> None:
    main, form = getattr(proctor, name), getattr(proctor, f"{name}_sync")
    assert inspect.signature(form) == inspect.signature(main)
    assert str(inspect.getdoc(form)).endswith(str(inspect.getdoc(main)))
    assert form.__name__ == f"{name}_sync"


def test_former_names_of_parameters_are_accepted_and_not_shown() -> None:
    assert "notify" in inspect.signature(proctor.audit).parameters
    assert "tell" not in inspect.signature(proctor.audit).parameters
    assert "tell" not in inspect.signature(proctor.audit_sync).parameters
    options: Any = {"tell": [].append}
    with pytest.raises(proctor.SetupProblems):
        proctor.audit_sync("missing.evalset.json", **options)
    with pytest.raises(TypeError, match="tells"):
        asyncio.run(proctor.audit("missing.evalset.json", tells=print))  # type: ignore[call-arg]  # that is the test
