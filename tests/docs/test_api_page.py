"""`docs/api.md` names each public object by the module that defines it, so that the built page finds its docstring."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

API_PAGE = Path(__file__).parents[2] / "docs" / "api.md"
NAMES = re.findall(r"^::: (\S+)$", API_PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_name_of_the_api_page_is_defined_where_the_page_says(name: str) -> None:
    module_name, _, attribute = name.rpartition(".")
    if _is_module(name):
        return
    found = getattr(importlib.import_module(module_name), attribute, None)
    assert found is not None, f"docs/api.md: {module_name} has no {attribute}"
    assert found.__module__ == module_name, f"docs/api.md: write {found.__module__}.{attribute}"


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the parent is a module, not a package
        return False
