"""`docs/reference/python.md` names each public object by the module that defines it, so that the built page finds its docstring."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

API_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
NAMES = re.findall(r"^::: (\S+)$", API_PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_name_of_the_api_page_is_defined_where_the_page_says(name: str) -> None:
    found = resolve_name(name)
    if not isinstance(found, ModuleType):
        module_name, _, attribute = name.rpartition(".")
        assert found.__module__ == module_name, (
            f"docs/reference/python.md: write {found.__module__}.{attribute}"
        )
