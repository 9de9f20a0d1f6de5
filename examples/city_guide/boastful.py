"""A bad build of the guide: it adds invented facts, in the style of a brochure."""

from __future__ import annotations

from collections.abc import Iterator

from examples.city_guide.agent import root_agent as honest
from proctor import Event


def root_agent(text: str) -> Iterator[Event | str]:
    """Repeat the honest guide's answer, and add to it."""
    for sentence in honest(text):
        boasts = isinstance(sentence, str) and "people" in sentence
        yield f"{sentence} It was voted the most beautiful city of the world in 2019." if boasts else sentence
