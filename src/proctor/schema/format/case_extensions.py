"""What a case states beyond the format, where google-adk's readers allow further keys: in the case, or its session input."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import to_camel

__all__ = ["BEYOND", "Stated", "all_stated", "places_of", "said_twice", "stated", "states_more"]

BEYOND = ("expectations", "trajectory_rules", "response_schema")
"""The keys that metrics of this house read; written so, or in camelCase as any other key."""
SESSION = "session_input"


class Stated(NamedTuple):
    """What a case says under one key, and where."""

    where: str
    """The key as it is written, with the object that it stands in: `session_input.expectations`."""
    value: Any


def stated(case: EvalCase, key: str) -> Stated | None:
    """What the case says under one of `BEYOND`: itself, or else by its session input."""
    return next(places_of(case, key), None)


def places_of(case: EvalCase, key: str) -> Iterator[Stated]:
    """Every place of a case where `key` is stated, those of the case itself first."""
    if not states_more(case):
        return
    spellings = {key: None, to_camel(key): None}
    session = case.session_input
    for inside, extra in (("", case.model_extra), (f"{SESSION}.", session and session.model_extra)):
        yield from (Stated(f"{inside}{name}", extra[name]) for name in spellings if extra and name in extra)


def said_twice(case: EvalCase) -> Iterator[str]:
    """What a case states in two places, and differently: which one is meant?"""
    for key in BEYOND:
        places = [*places_of(case, key)]
        for other in places[1:]:
            if _text(places[0].value) != _text(other.value):
                yield f"{other.where}: `{places[0].where}` says something else; keep one of the two"


def all_stated(case: EvalCase) -> Mapping[str, Any] | None:
    """All keys of a case that the format does not have, as metrics see them: those of `BEYOND` in their usual spelling."""
    if not states_more(case):
        return None
    found = {**(case.model_extra or {})}
    found |= {key: there.value for key in BEYOND if (there := stated(case, key)) is not None}
    return found


def states_more(case: EvalCase) -> bool:
    """Whether there is any further key at all; most cases have none, and this is asked for every trial."""
    session: Any = case.__dict__["session_input"]
    return bool(case.__pydantic_extra__ or (session is not None and session.__pydantic_extra__))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)
