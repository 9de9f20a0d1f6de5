"""The same travel desk as a bad build: seven mistakes, each of a kind that reviews let pass.

Score it with the sets of the good build, and Proctor names every one of them:

* guests mentioned in an earlier turn are forgotten, and four are assumed;
* a text message goes out after each booking, without a request;
* a full restaurant is booked all the same;
* opening hours come from memory, and wrong, instead of a lookup;
* a cancelled table stays in the state;
* flights are looked up only after they were booked;
* days are read in one spelling only, and any other one raises.
"""

from __future__ import annotations

import re
from datetime import date
from time import strptime
from typing import Any, ClassVar

from .agent import FLIGHTS, Plan, State, TravelAgent, cancel_table, clock


async def send_sms(_state: State, text: str) -> dict[str, Any]:
    """Send the guest a text message."""
    return {"sent": text}


async def cancel_table_but_keep_it(_state: State, restaurant: str) -> dict[str, Any]:
    """Say that a table was given back."""
    return {"cancelled": restaurant}


class FlawedTravelAgent(TravelAgent):
    """Books tables and flights, badly."""

    tools: ClassVar[dict[str, Any]] = {
        **TravelAgent.tools,
        "send_sms": send_sms,
        cancel_table.__name__: cancel_table_but_keep_it,
    }

    def remember(self, state: State, topic: str, **heard: Any) -> dict[str, Any]:
        """Forget the guests of the turns before."""
        slots = super().remember(state, topic, **heard)
        if state.get("asked") == "table" and len(state["heard"]) == len(heard) and heard["covers"] is None:
            slots["covers"] = 4
        return slots

    def reserve(self, slots: dict[str, Any], state: State) -> Plan:
        """Book without asking whether there is a table, and tell the whole world."""
        name = slots["restaurant"]
        found = yield "find_restaurant", {"name": name}
        if not found["found"]:
            return f"I could not find {name}. Which other restaurant would you like?"
        yield "book_table", slots
        yield "send_sms", {"text": f"See you at {name}!"}
        self.forget(state)
        return f"Done! Table booked at {name} for {slots['covers']} at {clock(slots['time'])}."

    def opening_hours(self, _text: str) -> Plan:
        """Tell from memory."""
        return self.say(
            "We are open around the clock, every single day of the year, and always happy to see you!"
        )

    def take_off(self, slots: dict[str, Any], state: State) -> Plan:
        """Book first, look afterwards."""
        self.forget(state)
        number = FLIGHTS[slots["destination"]]
        yield "book_flight", {"number": number, "date": slots["date"]}
        yield "find_flight", {"destination": slots["destination"]}
        return f"Done! Flight {number} to {slots['destination']} is booked."

    def day(self, text: str, today: date) -> str | None:
        """Read "15 June" and nothing else."""
        match = re.search(r"\bon (\w+ \w+)|^(\w+ \d+\w*)", text)
        if match is None:
            return None
        day = strptime(f"{match[1] or match[2]} {today.year}", "%d %B %Y")
        return date(*day[:3]).isoformat()


root_agent = FlawedTravelAgent()
