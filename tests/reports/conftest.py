"""Snapshots of what users see: files beside the tests; UPDATE_SNAPSHOTS=1 writes them anew."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture
def snapshot() -> Callable[[str, str], None]:
    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if os.environ.get("UPDATE_SNAPSHOTS") == "1":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
