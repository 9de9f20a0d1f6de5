"""A city guide: looks a city up and answers only from its entry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from proctor import Event

CITIES = {
    "bern": {"river": "Aare", "landmark": "Zytglogge", "people": 134_000},
    "porto": {"river": "Douro", "landmark": "Ribeira", "people": 231_000},
    "kyoto": {"river": "Kamo", "landmark": "Kinkaku-ji", "people": 1_440_000},
}


def look_up(city: str) -> dict[str, Any]:
    """Return the entry of a city in the guide's book."""
    return CITIES.get(city.lower(), {"error": "not in the book"})


def root_agent(text: str) -> Iterator[Event | str]:
    """Describe the requested city."""
    asked = next((city for city in CITIES if city in text.lower()), None)
    named = re.search(r"\b(?:about|in) ([A-Z]\w+)", text)
    city = asked.title() if asked else named[1] if named else None
    if city is None:
        yield "Which city would you like to hear about?"
        return
    yield Event.called("look_up", {"city": city})
    found = look_up(city)
    yield Event.returned("look_up", found)
    if "error" in found:
        yield f"My book says nothing about {city}, so I would rather not guess."
        return
    yield f"{city} has about {found['people']:,} people. It lies on the {found['river']}. Do not miss the {found['landmark']}!"
