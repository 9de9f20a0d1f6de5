"""No process outlives its test."""

from collections.abc import Iterator

import pytest

from tests.stories.crashing import Process


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    yield
    for process in [*Process.running]:
        process.kill()
        process.wait()
