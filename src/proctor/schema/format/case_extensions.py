"""Extensions of a case: keys beyond the format, where google-adk's readers allow them: in the case, or its session input."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import to_camel

__all__ = ["BEYOND", "Stated", "all_stated", "places_of", "said_twice", "stated", "states_more"]

BEYOND = ("expectations", "trajectory_rules", "response_schema")
"""The keys that Proctor's metrics read; in this spelling, or in camelCase like any other key."""
SESSION = "session_input"


class Stated(NamedTuple):
    """The value of an extension key, and its location."""

    where: str
    """The key as written, with its parent object: `session_input.expectations`."""
    value: Any


def stated(case: EvalCase, key: str) -> Stated | None:
    """Return the value of one of `BEYOND`: from the case itself, or else from its session input."""
    return next(places_of(case, key), None)


def places_of(case: EvalCase, key: str) -> Iterator[Stated]:
    """Yield every location of `key` in a case, those of the case itself first."""
    if not states_more(case):
        return
    spellings = {key: None, to_camel(key): None}
    session = case.session_input
    for inside, extra in (("", case.model_extra), (f"{SESSION}.", session and session.model_extra)):
        yield from (Stated(f"{inside}{name}", extra[name]) for name in spellings if extra and name in extra)


def said_twice(case: EvalCase) -> Iterator[str]:
    """Yield a message for each key that a case states in two locations with different values."""
    for key in BEYOND:
        places = [*places_of(case, key)]
        for other in places[1:]:
            if _text(places[0].value) != _text(other.value):
                yield f"{other.where}: `{places[0].where}` says something else; keep one of the two"


def all_stated(case: EvalCase) -> Mapping[str, Any] | None:
    """Return all unknown keys of a case for metrics, with those of `BEYOND` in their standard spelling."""
    if not states_more(case):
        return None
    found = {**(case.model_extra or {})}
    found |= {key: there.value for key in BEYOND if (there := stated(case, key)) is not None}
    return found


def states_more(case: EvalCase) -> bool:
    """Return quickly whether there is any unknown key; most cases have none, and every trial calls this."""
    session: Any = case.__dict__["session_input"]
    return bool(case.__pydantic_extra__ or (session is not None and session.__pydantic_extra__))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)
