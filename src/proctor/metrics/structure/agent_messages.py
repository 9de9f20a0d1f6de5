"""The texts of agents in a turn before its final response, with their authors, from either form of recorded data."""

from __future__ import annotations

from typing import NamedTuple

from proctor.schema.format.content import Content, text_of
from proctor.schema.format.invocation import IntermediateData, Invocation


class IntermediateText(NamedTuple):
    """One text before the final response."""

    author: str
    text: str

    def __str__(self) -> str:
        return f"{self.author}: {self.text}" if self.author else self.text


def intermediate_texts(invocation: Invocation) -> list[IntermediateText]:
    """Return the texts of a turn's intermediate responses, in order, without thoughts, calls and results of tools."""
    data = invocation.intermediate_data
    if data is None:
        return []
    if isinstance(data, IntermediateData):
        contents = [(author, Content(parts=parts)) for author, parts in data.intermediate_responses]
    else:
        final = invocation.final_response
        contents = [
            (event.author, event.content)
            for event in data.invocation_events
            if event.author.lower() != "user"
            and event.content is not None
            and event.content
            != final  # an event that answers and calls a (long-running) tool has this content
        ]
    texts = [IntermediateText(author, text_of(content, thoughts=False)) for author, content in contents]
    return [each for each in texts if each.text.strip()]


def has_no_author(author: str) -> bool:
    """Return whether an author is unknown: older files have a role in its place, or nothing."""
    return author in {"", "model"}
