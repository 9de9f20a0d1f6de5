"""A bad build of the guide: it adds what nobody told it, and writes as a brochure does."""

from __future__ import annotations

from collections.abc import Iterator

from examples.city_guide.agent import root_agent as honest
from proctor import Event


def root_agent(text: str) -> Iterator[Event | str]:
    """Say what the honest guide says, and more."""
    for said in honest(text):
        boasts = isinstance(said, str) and "people" in said
        yield f"{said} It was voted the most beautiful city of the world in 2019." if boasts else said
