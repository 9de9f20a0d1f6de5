"""Generated conversations as plain data, and what is made of them: an eval set that expects them, an agent that does them."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from unicodedata import category

from hypothesis import strategies as st

from proctor.agents.base import Session
from proctor.metrics.matchers.base import misspelled_matcher
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, text_of

Json = Any
Call = tuple[str, dict[str, Json] | None]


@dataclass
class Turn:
    """One turn: calls, then the answer."""

    calls: list[Call]
    text: str | None
    as_events: bool
    """Whether the expectation is written in the current form, or in the older one."""


@dataclass
class Script:
    """One conversation. The user's message is the number of the turn."""

    turns: list[Turn]
    state: dict[str, Json]
    """The state at the end."""
    initial: dict[str, Json] = field(default_factory=dict)


def eval_set(*scripts: Script) -> dict[str, Any]:
    """The eval set that expects exactly these conversations; case `c0` is the first."""
    return {
        "eval_set_id": "generated",
        "eval_cases": [
            {
                "eval_id": f"c{number}",
                "conversation": [_expected(number, index, turn) for index, turn in enumerate(script.turns)],
                "session_input": {"app_name": "app", "user_id": "user", "state": script.initial},
                "final_session_state": script.state,
            }
            for number, script in enumerate(scripts)
        ],
    }


def _expected(number: int, index: int, turn: Turn) -> dict[str, Any]:
    calls = [{"name": name, "args": args} for name, args in turn.calls]
    events = [
        {"author": "agent", "content": {"role": "model", "parts": [{"function_call": call}]}}
        for call in calls
    ]
    expected: dict[str, Any] = {
        "invocation_id": f"{number}-{index}",
        "user_content": {"role": "user", "parts": [{"text": f"{number} {index}"}]},
        "intermediate_data": {"invocation_events": events} if turn.as_events else {"tool_uses": calls},
    }
    if turn.text is not None:
        expected["final_response"] = {"role": "model", "parts": [{"text": turn.text}]}
    return expected


class Doing:
    """An agent that follows the scripts, each turn after a delay."""

    def __init__(self, *scripts: Script, delays: list[float] | None = None) -> None:
        self._scripts = copy.deepcopy(scripts)
        self._delays = delays or [0.0]

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Do one turn."""
        number, index = map(int, text_of(message).split())
        script = self._scripts[number]
        if delay := self._delays[(7 * number + index) % len(self._delays)]:
            await asyncio.sleep(delay)
        turn = script.turns[index]
        for name, args in turn.calls:
            yield Event.model_validate(
                {"content": {"role": "model", "parts": [{"function_call": {"name": name, "args": args}}]}}
            )
        if index + 1 == len(script.turns) and script.state:
            yield Event.changed(script.state)
        if turn.text is not None:
            yield Event.said(turn.text)


# --- strategies --------------------------------------------------------------------------------------------------------

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
# an expected state with a misspelled `$match`, such as `$MAT`, is a configuration error, not a state to compare
keys = st.text(characters, min_size=1, max_size=6).filter(lambda key: not misspelled_matcher({key: None}))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(characters, max_size=8),
)
values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(keys, values, max_size=3)
names = st.sampled_from(["look", "book", "pay"]) | st.text(characters, min_size=1, max_size=8)
calls = st.tuples(names, st.none() | objects)
texts = st.text(characters, max_size=30) | st.sampled_from(["It is sunny in Paris.", "👍", "晴れです", "!?"])


def turns() -> st.SearchStrategy[Turn]:
    """One turn, with or without calls, with or without an answer; never neither, which is an error of the agent."""
    return st.builds(
        Turn, calls=st.lists(calls, max_size=4), text=st.none() | texts, as_events=st.booleans()
    ).filter(lambda turn: bool(turn.calls) or any(category(sign)[0] not in "CZ" for sign in turn.text or ""))


def scripts() -> st.SearchStrategy[Script]:
    """One conversation of up to three turns."""
    return st.builds(
        Script,
        turns=st.lists(turns(), min_size=1, max_size=3),
        state=st.dictionaries(keys, values, max_size=3),
        initial=st.dictionaries(keys, values, max_size=2),
    )
