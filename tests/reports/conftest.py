"""Snapshots of what users see, in the folder `snapshots` next to the test. UPDATE_SNAPSHOTS=1 writes them again."""

import os
from collections.abc import Callable

import pytest


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    def compare(name: str, text: str) -> None:
        path = request.path.parent / "snapshots" / name
        if os.environ.get("UPDATE_SNAPSHOTS") == "1":
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
