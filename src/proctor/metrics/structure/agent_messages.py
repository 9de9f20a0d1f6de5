"""What agents said in a turn before its final response, and who said it, from either form of recorded data."""

from __future__ import annotations

from typing import NamedTuple

from proctor.schema.format.content import Content, text_of
from proctor.schema.format.invocation import IntermediateData, Invocation

__all__ = ["Said", "names_nobody", "said_on_the_way"]


class Said(NamedTuple):
    """One response on the way."""

    author: str
    text: str

    def __str__(self) -> str:
        return f"{self.author}: {self.text}" if self.author else self.text


def said_on_the_way(invocation: Invocation) -> list[Said]:
    """The texts of a turn's intermediate responses, in order; thoughts, calls and results of tools left out."""
    data = invocation.intermediate_data
    if data is None:
        return []
    if isinstance(data, IntermediateData):
        said = [
            Said(author, text_of(Content(parts=parts), thoughts=False))
            for author, parts in data.intermediate_responses
        ]
        return [each for each in said if each.text.strip()]
    final = invocation.final_response
    return [
        Said(event.author, text)
        for event in data.invocation_events
        if event.author.lower() != "user"
        and event.content is not None
        and event.content != final  # an event that answers and calls a (long-running) tool keeps its content
        and (text := text_of(event.content, thoughts=False)).strip()
    ]


def names_nobody(author: str) -> bool:
    """Tell whether an author is none: older files have a role in its place, or nothing."""
    return author in {"", "model"}
