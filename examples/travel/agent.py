"""A travel desk: books tables and flights, and keeps what it booked as session state.

`plan` replaces a model: it proposes one tool call after the other and sees each result. `answer` runs the tools and yields
everything as events. Proctor needs only this class.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Generator
from datetime import date, datetime
from time import strptime
from typing import Any, ClassVar

from proctor import Content, Event, Session

State = dict[str, Any]
Call = tuple[str, dict[str, Any]]
Plan = Generator[Call, dict[str, Any], str]
"""Proposes tool calls, receives each result, returns the answer."""

RESTAURANTS = {
    "La Trattoria": {"opens": "17:00", "closes": "23:00"},
    "Chez Nous": {"opens": "18:00", "closes": "22:30"},
    "Blue Lotus": {"opens": "12:00", "closes": "21:00"},
}
FLIGHTS = {"Paris": "PR 204", "Lisbon": "PR 381", "Oslo": "PR 77"}

# --- tools -----------------------------------------------------------------------------------------------------------


async def find_restaurant(state: State, name: str) -> dict[str, Any]:
    """Look a restaurant up: is it known, has it a free table?"""
    await asyncio.sleep(0)  # where the request to the restaurant guide would be waited for
    if name not in RESTAURANTS:
        return {"found": False}
    return {"found": True, "free": name not in state.get("full", []), **RESTAURANTS[name]}


async def book_table(state: State, restaurant: str, covers: int, time: str) -> dict[str, Any]:
    """Book a table."""
    await asyncio.sleep(0)
    state["table"] = {"restaurant": restaurant, "covers": covers, "time": time}
    return {"confirmed": True}


async def cancel_table(state: State, restaurant: str) -> dict[str, Any]:
    """Give a booked table back."""
    await asyncio.sleep(0)
    state["table"] = None
    return {"cancelled": restaurant}


async def find_flight(_state: State, destination: str) -> dict[str, Any]:
    """Look up which flight goes there, if any."""
    await asyncio.sleep(0)
    return {"number": FLIGHTS.get(destination)}


async def book_flight(state: State, number: str, date: str) -> dict[str, Any]:
    """Book a seat on a flight of one day."""
    await asyncio.sleep(0)
    state["flight"] = {"number": number, "date": date}
    return {"confirmed": True}


# --- the agent -------------------------------------------------------------------------------------------------------


class TravelAgent:
    """Books tables and flights. What is still open is asked for, and remembered until the next turn."""

    tools: ClassVar[dict[str, Any]] = {
        tool.__name__: tool for tool in (find_restaurant, book_table, cancel_table, find_flight, book_flight)
    }

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Answer one message."""
        text = " ".join(part.text or "" for part in message.parts or [])
        plan = self.plan(text, session.state)
        result: dict[str, Any] | None = None
        while True:
            try:
                name, args = plan.send(result)  # type: ignore[arg-type]  # a generator starts with None
            except StopIteration as done:
                yield Event.said(done.value)
                return
            yield Event.called(name, args)
            result = await self.tools[name](session.state, **args)
            yield Event.returned(name, result)

    def plan(self, text: str, state: State) -> Plan:
        """Decide what a message asks for."""
        if re.search(r"\bcancel\b", text, re.IGNORECASE):
            return self.cancel(state)
        if re.search(r"\b(open|close)s?\b", text, re.IGNORECASE):
            return self.opening_hours(text)
        if re.search(r"\b(flight|fly)\b", text, re.IGNORECASE) or state.get("asked") == "flight":
            return self.flight(text, state)
        if re.search(r"\b(table|restaurant|dinner)\b", text, re.IGNORECASE) or state.get("asked") == "table":
            return self.table(text, state)
        return self.say("I can book tables and flights. What would you like?")

    def say(self, text: str) -> Plan:
        """Only answer."""
        return text
        yield  # a plan is a generator, also one without a call

    def table(self, text: str, state: State) -> Plan:
        """Book a table, as soon as restaurant, number of guests and time are known."""
        slots = self.remember(
            state, "table", restaurant=_restaurant(text), covers=_covers(text), time=_time(text)
        )
        for slot, question in _TABLE_QUESTIONS.items():
            if slots.get(slot) is None:
                return question
        return (yield from self.reserve(slots, state))

    def reserve(self, slots: dict[str, Any], state: State) -> Plan:
        """Book the table, if the restaurant is there and has one."""
        name = slots["restaurant"]
        found = yield "find_restaurant", {"name": name}
        if not found["found"]:
            self.forget(state, "restaurant")
            return f"I could not find {name}. Which other restaurant would you like?"
        if not found["free"]:
            self.forget(state, "restaurant")
            return f"{name} is fully booked. Which other restaurant would you like?"
        yield "book_table", slots
        self.forget(state)
        return f"Done! Table booked at {name} for {slots['covers']} at {clock(slots['time'])}."

    def flight(self, text: str, state: State) -> Plan:
        """Book a flight, as soon as destination and day are known."""
        today = date.fromisoformat(state.get("today") or datetime.now().astimezone().date().isoformat())
        slots = self.remember(state, "flight", destination=_destination(text), date=self.day(text, today))
        for slot, question in _FLIGHT_QUESTIONS.items():
            if slots.get(slot) is None:
                return question
        return (yield from self.take_off(slots, state))

    def take_off(self, slots: dict[str, Any], state: State) -> Plan:
        """Book the flight, if we fly there."""
        self.forget(state)
        found = yield "find_flight", {"destination": slots["destination"]}
        if found["number"] is None:
            return f"Sorry, we do not fly to {slots['destination']}."
        yield "book_flight", {"number": found["number"], "date": slots["date"]}
        return f"Done! Flight {found['number']} to {slots['destination']} is booked for {_spoken_day(slots['date'])}."

    def cancel(self, state: State) -> Plan:
        """Cancel the table that is booked."""
        if not (table := state.get("table")):
            return "You have no table booked."
        yield "cancel_table", {"restaurant": table["restaurant"]}
        return f"Your table at {table['restaurant']} is cancelled."

    def opening_hours(self, text: str) -> Plan:
        """Tell when a restaurant is open."""
        name = _restaurant(text)
        if name is None:
            return "Which restaurant?"
        found = yield "find_restaurant", {"name": name}
        if not found["found"]:
            return f"I could not find {name}."
        return f"{name} is open from {clock(found['opens'])} to {clock(found['closes'])}."

    def day(self, text: str, today: date) -> str | None:
        """Read a day like "June 15th" or "15 June": the next one from `today` on."""
        match = re.search(rf"({_MONTHS}) (\d+)|(\d+)\w* ({_MONTHS})", text, re.IGNORECASE)
        if match is None:
            return None
        spelled = f"{match[1] or match[4]} {match[2] or match[3]} {today.year}"
        try:
            day = date(*strptime(spelled, "%B %d %Y")[:3])
        except ValueError:  # February 30th: ask again
            return None
        return (day if day >= today else day.replace(year=today.year + 1)).isoformat()

    def remember(self, state: State, topic: str, **heard: Any) -> dict[str, Any]:
        """Add what was heard now to what was heard before."""
        before = state.get("heard", {}) if state.get("asked") == topic else {}
        known = before | {slot: value for slot, value in heard.items() if value is not None}
        state["asked"], state["heard"] = topic, known
        return {slot: known.get(slot) for slot in heard}

    def forget(self, state: State, *slots: str) -> None:
        """Forget some of what was heard, or everything once it is done."""
        state["heard"] = {slot: v for slot, v in state["heard"].items() if slots and slot not in slots}
        state["asked"] = state["asked"] if slots else None


_TABLE_QUESTIONS = {
    "restaurant": "Which restaurant?",
    "covers": "For how many people?",
    "time": "At what time?",
}
_FLIGHT_QUESTIONS = {
    "destination": "Where would you like to fly?",
    "date": "Which date would you like to travel?",
}
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def _restaurant(text: str) -> str | None:
    """Read a restaurant: one we know anywhere in the text, or any name after "at"."""
    known = next((name for name in RESTAURANTS if name.lower() in text.lower()), None)
    named = re.search(r"\bat (?:the )?([A-Z]\w*(?: [A-Z]\w*)*)", text)
    return known or (named[1] if named else None)


def _destination(text: str) -> str | None:
    named = re.search(r"\bto ([A-Z]\w+)", text)
    return named[1] if named else next((city for city in FLIGHTS if city in text), None)


def _covers(text: str) -> int | None:
    counted = re.search(rf"\b(?:for|of) (\d+|{'|'.join(_NUMBERS)})\b", text, re.IGNORECASE)
    if counted is None:
        return None
    return int(counted[1]) if counted[1].isdecimal() else _NUMBERS[counted[1].lower()]


def _time(text: str) -> str | None:
    """Read a time like "7pm", "8:30 pm" or "19:00"; the result is "19:00"."""
    match = re.search(r"\b(\d{1,2})(?::(\d\d))? ?(am|pm)\b|\b(\d{1,2}):(\d\d)\b", text, re.IGNORECASE)
    if match is None:
        return None
    if match[4]:
        return f"{int(match[4]):02}:{match[5]}"
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "pm" else 0)
    return f"{hour:02}:{match[2] or '00'}"


def _spoken_day(iso: str) -> str:
    day = date.fromisoformat(iso)
    return f"{day:%B} {day.day}"


def clock(time: str) -> str:
    """Say a time as people do: "19:30" is "7:30pm"."""
    hour, minutes = time.split(":")
    shown = f"{(int(hour) - 1) % 12 + 1}" + (f":{minutes}" if minutes != "00" else "")
    return shown + ("pm" if int(hour) >= 12 else "am")


root_agent = TravelAgent()
