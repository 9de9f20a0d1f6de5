"""What the toy agent does: the same in every framework, protocol and language, so that a comparison shows the adapter.

A toy's scripted model asks `next_step` what it does next; its tools answer with `respond` and `remember` writes state. The
model knows the session's state from its instructions, as it would in a real agent: `instructions` puts it in,
`state_in` reads it out. `whole_turn` is for toys without a model: a function, a server, another language.

Standard library only: every toy imports this, in any environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

ROOT = "assistant"
"""The agent that users talk to."""
SUB_AGENT = "units"
"""The agent that answers conversions; the root hands over to it by the tool `transfer_to_agent`."""
TRANSFER = "transfer_to_agent"
MODEL = "toy-1"
TOKENS_IN, TOKENS_OUT = 7, 5
"""Reported tokens of each answer of the scripted model."""
CRASH = "the model is away"
"""The message of the error that the model raises when it is asked to."""

WEATHER = {"Oslo": ("rain", 7), "Rome": ("sun", 24), "Lima": ("fog", 17)}
FACTORS = {"km": (0.6, "miles"), "kg": (2.2, "pounds")}


class Call(NamedTuple):
    """One call of a tool."""

    name: str
    args: dict[str, Any]
    author: str = ROOT


class Answer(NamedTuple):
    """The text of an agent at the end of its turn."""

    text: str
    author: str = ROOT


Step = tuple[Call, ...] | Answer
"""One answer of the model: calls of tools (all at once), or a text."""


class ModelAwayError(RuntimeError):
    """The model raises this when the user asks it to crash."""


def next_step(text: str, state: Mapping[str, Any], done: int) -> Step:
    """Return what the model does next: `text` is the user's last message, `done` how often it answered since."""
    if "crash" in text.lower():
        raise ModelAwayError(CRASH)
    steps = _plan(text, state)
    return steps[min(done, len(steps) - 1)]


def respond(name: str, args: Mapping[str, Any], state: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a tool answers; `remember` writes into `state`; the hand-over answers nothing."""
    return None if name == TRANSFER else _TOOLS[name](args, state)


def instructions(state: Mapping[str, Any]) -> str:
    """Return the instructions of the toy's agents."""
    return f"You tell the weather, convert units and remember things.\nState: {json.dumps(dict(state), sort_keys=True)}"


def state_in(text: str) -> dict[str, Any]:
    """Return the state that such instructions hold."""
    found = re.search(r"^State: (.*)$", text, re.MULTILINE)
    state: dict[str, Any] = json.loads(found[1]) if found else {}
    return state


def whole_turn(text: str, state: dict[str, Any]) -> list[tuple[Call, dict[str, Any] | None] | Answer]:
    """Return a turn from its first call to its last word, each call with its response; `state` is written into."""
    turn: list[tuple[Call, dict[str, Any] | None] | Answer] = []
    for step in model_answers(text, state):
        turn += [step] if isinstance(step, Answer) else step
    return turn


def model_answers(
    text: str, state: dict[str, Any]
) -> Iterator[list[tuple[Call, dict[str, Any] | None]] | Answer]:
    """Yield a turn by answers of the model: the calls of one answer, each with its response, and the final text."""
    done = 0
    before = dict(state)
    while not isinstance(step := next_step(text, before, done), Answer):
        yield [(call, respond(call.name, call.args, state)) for call in step]
        done += 1
    yield step


# --- the script ------------------------------------------------------------------------------------------------------


def _plan(text: str, state: Mapping[str, Any]) -> Sequence[Step]:
    if found := re.search(r"remember that (?:my |the )?(\w+) is (\w+)", text, re.IGNORECASE):
        key, value = found.groups()
        return (Call("remember", {"key": key, "value": value}),), Answer(f"I will remember your {key}.")
    if found := re.search(r"convert (\d+) (\w+)", text, re.IGNORECASE):
        return _conversion(int(found[1]), found[2])
    if "weather" in text.lower():
        return _weather([city for city in WEATHER if city in text] or [str(state.get("home", "Rome"))])
    if found := re.search(r"what is my (\w+)", text, re.IGNORECASE):
        return (Answer(f"Your {found[1]} is {state.get(found[1], 'not known to me')}."),)
    return (Answer("Hello, what can I do for you?"),)


def _weather(cities: Sequence[str]) -> Sequence[Step]:
    reports = [f"{WEATHER[city][0]} at {WEATHER[city][1]} degrees in {city}" for city in cities]
    return tuple(Call("get_weather", {"city": city}) for city in cities), Answer(
        f"It is {' and '.join(reports)}."
    )


def _conversion(amount: int, unit: str) -> Sequence[Step]:
    factor, name = FACTORS[unit]
    return (
        (Call(TRANSFER, {"agent_name": SUB_AGENT}),),
        (Call("convert", {"amount": amount, "unit": unit}, SUB_AGENT),),
        Answer(f"{amount} {unit} are {round(amount * factor, 2)} {name}.", SUB_AGENT),
    )


def _get_weather(args: Mapping[str, Any], _state: dict[str, Any]) -> dict[str, Any]:
    condition, celsius = WEATHER[args["city"]]
    return {"condition": condition, "celsius": celsius}


def _convert(args: Mapping[str, Any], _state: dict[str, Any]) -> dict[str, Any]:
    factor, name = FACTORS[args["unit"]]
    return {"amount": round(args["amount"] * factor, 2), "unit": name}


def _remember(args: Mapping[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    state[args["key"]] = args["value"]
    return {"stored": True}


_TOOLS = {"get_weather": _get_weather, "convert": _convert, "remember": _remember}
