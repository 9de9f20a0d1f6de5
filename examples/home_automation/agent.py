"""A house to talk to: lights, a fan, a radio and heating, all of them session state.

No model is asked: a few rules read the sentence, tools do the work. `root_agent` is a plain generator: Proctor
gives it the text and the session, and it yields its actions and returns its answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any

from proctor import Event, Session

HOUSE: dict[str, Any] = {
    "kitchen_light": "on",
    "kitchen_radio": "off",
    "bedroom_light": "on",
    "bedroom_fan": "on",
    "living_room_light": "off",
    "living_room_fan": "off",
    "kitchen_temperature": 20,
    "bedroom_temperature": 18,
    "living_room_temperature": 21,
}
"""The state of the house when a session sets nothing else."""

ROOMS = ("kitchen", "bedroom", "living_room")
DEVICES = [key for key in HOUSE if not key.endswith("_temperature")]

State = dict[str, Any]
Steps = Generator[Event, None, str]
"""Yield the agent's actions, return its answer."""


# --- tools: what the agent can do to a house -------------------------------------------------------------------------


def get_device_info(state: State, device_id: str) -> dict[str, Any]:
    """Tell whether a device is on."""
    return {"device_id": device_id, "status": state[device_id]}


def set_device_info(state: State, device_id: str, status: str) -> dict[str, Any]:
    """Switch a device on or off."""
    state[device_id] = status
    return {"device_id": device_id, "status": status}


def list_devices(
    state: State, location: str | None = None, kind: str | None = None, status: str | None = None
) -> dict[str, Any]:
    """List devices: of one room, of one kind, in one status, where that is asked for."""
    found = [d for d in DEVICES if d.startswith(location or "") and d.endswith(kind or "")]
    return {"devices": [d for d in found if status is None or state[d] == status]}


def get_temperature(state: State, location: str) -> dict[str, Any]:
    """Tell the degrees (Celsius) that a room's heating is set to."""
    return {"location": location, "celsius": state[f"{location}_temperature"]}


def set_temperature(state: State, location: str, celsius: int) -> dict[str, Any]:
    """Set a room's heating to so many degrees Celsius."""
    state[f"{location}_temperature"] = celsius
    return {"location": location, "celsius": celsius}


def use(
    tool: Callable[..., dict[str, Any]], session: Session, **args: Any
) -> Generator[Event, None, dict[str, Any]]:
    """Call a tool and let Proctor see the call and its result."""
    yield Event.called(tool.__name__, args)
    result = tool(session.state, **args)
    yield Event.returned(tool.__name__, result)
    return result


# --- the agent -------------------------------------------------------------------------------------------------------


def root_agent(text: str, session: Session) -> Steps:
    """Answer one sentence about the house."""
    for key, value in HOUSE.items():
        session.state.setdefault(key, value)
    for pattern, step in RULES:
        if match := re.search(pattern, text, re.IGNORECASE):
            return (yield from step(match, text, session))
    return "Sorry, I can only look after lights, fans, the radio and the heating."


def switch_room(match: re.Match[str], text: str, session: Session) -> Steps:
    """Switch everything in a room, touching only what has to change."""
    room = _room(text, session)
    if room is None:
        return "In which room?"
    wanted = match["status"].lower()
    other = "off" if wanted == "on" else "on"
    found = yield from use(list_devices, session, location=room, status=other)
    for device in found["devices"]:
        yield from use(set_device_info, session, device_id=device, status=wanted)
    return (
        f"Everything in the {_spoken(room)} is {wanted}."
        if found["devices"]
        else f"It was all {wanted} already."
    )


def switch(match: re.Match[str], text: str, session: Session) -> Steps:
    """Switch one device."""
    status = (match["before"] or match["after"]).lower()
    if (device := _device(text, session)) is None:
        return "I don't know that device."
    yield from use(set_device_info, session, device_id=device, status=status)
    return f"The {_spoken(device)} is now {status}."


def tell_status(match: re.Match[str], text: str, session: Session) -> Steps:
    """Say whether a device is on."""
    if (device := _device(text, session)) is None:
        return "I don't know that device."
    info = yield from use(get_device_info, session, device_id=device)
    yes = "Yes" if info["status"] == match["status"].lower() else "No"
    return f"{yes}, the {_spoken(device)} is {info['status']}."


def list_by_status(match: re.Match[str], text: str, session: Session) -> Steps:
    """Say which devices are on, or off."""
    status = match["status"].lower()
    asked = {"location": _room(text, None), "kind": _kind(text), "status": status}
    found = yield from use(list_devices, session, **{k: v for k, v in asked.items() if v is not None})
    names = [f"the {_spoken(device)}" for device in found["devices"]]
    return f"These are {status}: {', '.join(names)}." if names else f"Nothing is {status}."


def warm_by(match: re.Match[str], text: str, session: Session) -> Steps:
    """Change a room's heating by some degrees."""
    if (room := _room(text, session)) is None:
        return "In which room?"
    now = yield from use(get_temperature, session, location=room)
    change = _NUMBERS.get(match["by"].lower()) or int(match["by"])
    sign = 1 if match["way"].lower() == "warmer" else -1
    done = yield from use(set_temperature, session, location=room, celsius=now["celsius"] + sign * change)
    return f"The {_spoken(room)} is now set to {done['celsius']} degrees."


def warm_to(match: re.Match[str], text: str, session: Session) -> Steps:
    """Set a room's heating."""
    if (room := _room(text, session)) is None:
        return "In which room?"
    done = yield from use(set_temperature, session, location=room, celsius=int(match["celsius"]))
    return f"The {_spoken(room)} is now set to {done['celsius']} degrees."


def tell_temperature(_match: re.Match[str], text: str, session: Session) -> Steps:
    """Say how warm a room is."""
    if (room := _room(text, session)) is None:
        return "In which room?"
    now = yield from use(get_temperature, session, location=room)
    return f"The {_spoken(room)} is set to {now['celsius']} degrees."


RULES: list[tuple[str, Callable[[re.Match[str], str, Session], Steps]]] = [
    (r"(?P<by>\w+) degrees? (?P<way>warmer|cooler)", warm_by),
    (r"(?P<celsius>\d+) degrees", warm_to),
    (r"how (warm|cold)|temperature", tell_temperature),
    (r"\b(which|what)\b.*\b(?P<status>on|off)\b", list_by_status),
    (r"^(?=.*\b(?:everything|all)\b).*\b(?P<status>on|off)\b", switch_room),
    (r"\bis\b.*\b(?P<status>on|off)\b", tell_status),
    (r"\b(turn|switch|put)\b (?:(?P<before>on|off)\b|.*\b(?P<after>on|off)\b)", switch),
]
"""What a sentence may ask for; the first that fits is done."""

_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


def _device(text: str, session: Session) -> str | None:
    """Find the device a sentence means; "it" is the one spoken of last."""
    kind = _kind(text)
    if kind is None:
        return session.memory.get("device") if re.search(r"\b(it|that)\b", text, re.IGNORECASE) else None
    room = _room(text, session)
    candidates = [d for d in DEVICES if d.endswith(kind) and (room is None or d.startswith(room))]
    device = candidates[0] if len(candidates) == 1 else None
    session.memory["device"] = device
    return device


def _kind(text: str) -> str | None:
    kind = re.search(r"\b(light|lamp|fan|radio)s?\b", text, re.IGNORECASE)
    return kind[1].lower().replace("lamp", "light") if kind else None


def _room(text: str, session: Session | None) -> str | None:
    """Find the room a sentence names, else (with a session) the one spoken of last."""
    words = text.lower().replace(" ", "_")
    room = next((room for room in ROOMS if room in words), None)
    if session is None:
        return room
    if room is not None:
        session.memory["room"] = room
    return room or session.memory.get("room")


def _spoken(name: str) -> str:
    return name.replace("_", " ")
