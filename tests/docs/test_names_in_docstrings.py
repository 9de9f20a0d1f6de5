"""A name that a docstring of Proctor gives, such as `proctor.schema.evidence.turn.Span`, can be imported."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name

import proctor

NAME = re.compile(r"`(proctor(?:\.[A-Za-z_]+)+)`")
NOT_PYTHON = {"proctor.eval_id", "proctor.toml"}
"""An attribute of spans, and a file."""


def test_a_dotted_name_in_the_text_of_a_module_is_the_name_of_something() -> None:
    folder = Path(proctor.__file__).parent
    found = {
        (name, str(path.relative_to(folder)))
        for path in folder.rglob("*.py")
        for name in NAME.findall(path.read_text(encoding="utf-8"))
        if name not in NOT_PYTHON
    }

    assert len(found) > 10
    assert [place for place in sorted(found) if not is_there(place[0])] == []


def is_there(name: str) -> bool:
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True
