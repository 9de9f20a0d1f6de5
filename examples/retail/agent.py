"""A service desk: cancels orders, takes items back, exchanges them, sends orders elsewhere.

`Desk` replaces a model and its prompt: it reads a message, proposes one tool call after the other and sees each result. Its
policy: verify e-mail address and postcode before reading an order; change nothing without the customer's consent; take back
nothing that was on final sale or was delivered more than 30 days ago.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Callable, Generator
from datetime import date
from typing import Any

from proctor import AgentInfo, Content, Event, Session

from .shop import Tools, changes, open_shop

Call = tuple[str, dict[str, Any]]
Plan = Generator[Call, dict[str, Any], str]
"""Proposes tool calls, receives each result, returns the answer."""
Slips = Callable[[str], bool]
"""Whether the desk makes a mistake now; see hasty.py."""

TODAY = date(2026, 5, 20)
MOST_DAYS = 30
HELLO = "I can cancel orders, take items back, exchange them, or send an order to another address. What can I do for you?"


def careful(_mistake: str) -> bool:
    """Make none."""
    return False


class Desk:
    """One conversation: what was heard so far, and what to do next."""

    def __init__(self, slips: Slips = careful) -> None:
        self.slips = slips
        self.heard: dict[str, str] = {}
        self.text = ""
        self.customer: str | None = None
        self.refused = 0
        self.wish = ""
        self.proposal: tuple[str, dict[str, Any], str] | None = None

    def plan(self, text: str) -> Plan:
        """Answer one message."""
        self.listen(text)
        if self.proposal and (yes := _yes_or_no(text)) is not None:
            if yes or not _wish(text):
                return (yield from self.settle(yes=yes or self.slips("treats a no as consent")))
            self.proposal = None  # no, but another wish: continue with that
        self.wish = _wish(text) or self.wish
        if not self.wish:
            return HELLO
        if self.customer is None and not (
            "order" in self.heard and self.slips("does not verify the customer")
        ):
            if question := self.who():
                return question
            if refusal := (yield from self.verify()):
                return refusal
        if "order" not in self.heard:
            return "Which order is it about? Its number begins with O-."
        order = yield "get_order", {"order_id": self.heard["order"]}
        if "error" in order or self.customer not in (order["customer"], None):
            return self.over(f"I am sorry, I cannot find the order {self.heard['order']} among yours.")
        fulfil: Callable[[dict[str, Any]], Plan] = getattr(self, self.wish)
        return (yield from fulfil(order))

    def listen(self, text: str) -> None:
        """Store the details of a message."""
        self.text = text
        for name, pattern in _FACTS.items():
            if found := re.search(pattern, text, re.IGNORECASE):
                self.heard[name] = found[1].strip()
        if (means := _refund_to(text)) is not None:
            self.heard["refund_to"] = means

    # --- verification --------------------------------------------------------------------------------------------------

    def who(self) -> str | None:
        """Ask for the missing details that verify the customer."""
        missing = [shown for key, shown in _WHO.items() if key not in self.heard]
        return f"Gladly. To know who you are: what is your {' and your '.join(missing)}?" if missing else None

    def verify(self) -> Generator[Call, dict[str, Any], str | None]:
        """Check the details; return the answer if they are wrong."""
        found = yield "verify_identity", {key: self.heard[key] for key in _WHO}
        if found["verified"]:
            self.customer = found["customer"]
            return None
        for key in _WHO:
            self.heard.pop(key)
        self.refused += 1
        if self.refused > 1:
            yield "hand_over", {"why": "the customer could not be verified"}
            return self.over("I am sorry, I still cannot find you, so I have handed you over to a colleague.")
        return (
            "I cannot find a customer with this e-mail address and this postcode. What are they, once more?"
        )

    # --- wishes ------------------------------------------------------------------------------------------------------

    def cancel(self, order: dict[str, Any]) -> Plan:
        """Cancel an order."""
        if order["status"] != "pending":
            return self.over(
                f"I am sorry, the order {order['id']} was {order['status']} and cannot be cancelled any more."
            )
        if "reason" not in self.heard:
            return "May I ask for the reason?"
        total = sum(line["price"] for line in order["lines"])
        what = f"cancel the order {order['id']} ({_things(order['lines'])}) and pay {_money(total)} back by {order['paid_by']}"
        args = {"order_id": order["id"], "reason": self.heard["reason"]}
        return (yield from self.propose("cancel_order", args, what))

    def take_back(self, order: dict[str, Any]) -> Plan:
        """Take items back and refund them."""
        lines = self.named(order)
        if not lines:
            return f"Which items do you want to send back? The order has {_things(order['lines'])}."
        if refusal := self.too_late(order, lines):
            return (yield from self.refuse(order, lines, refusal))
        if "refund_to" not in self.heard:
            return f"Where shall the refund go: to your {order['paid_by']}, or to your credit with us?"
        if len(lines) > 1 and self.slips("handles only the first item"):
            lines = lines[:1]
        return (yield from self.refund(order, lines))

    def refund(self, order: dict[str, Any], lines: list[dict[str, Any]]) -> Plan:
        """Propose to take these lines back."""
        to = "credit" if self.heard.get("refund_to") == "credit" else order["paid_by"]
        what = f"take back {_things(lines)} of the order {order['id']} and refund {_money(sum(line['price'] for line in lines))} to your {to}"
        args = {"order_id": order["id"], "items": [line["item"] for line in lines], "refund_to": to}
        return (yield from self.propose("return_items", args, what))

    def refuse(self, order: dict[str, Any], lines: list[dict[str, Any]], why: str) -> Plan:
        """Refuse what the policy excludes, also when asked again."""
        if re.search(r"exception|please|unfair", self.text, re.IGNORECASE) and self.slips(
            "grants an exception"
        ):
            cents = sum(line["price"] for line in lines) // 10
            yield "grant_credit", {"customer": order["customer"], "cents": cents}
            return self.over(f"I am sorry, {why}. But I have added {_money(cents)} to your credit.")
        return f"I am sorry, {why}, and I cannot make exceptions."

    def exchange(self, order: dict[str, Any]) -> Plan:
        """Exchange an item for another variant of it."""
        lines = self.named(order)
        if len(lines) != 1:
            return f"Which item do you want to exchange? The order has {_things(order['lines'])}."
        (line,) = lines
        if refusal := self.too_late(order, lines):
            return (yield from self.refuse(order, lines, refusal))
        found = yield "find_variants", {"product": line["product"]}
        others = [each for each in found["variants"] if each["id"] != line["item"]]
        wanted = self.wanted(others)
        if wanted is None or not wanted["stock"]:
            stock = ", ".join(each["variant"] for each in others if each["stock"])
            sorry = f"I am sorry, {line['product']} in {wanted['variant']} is sold out. " if wanted else ""
            return f"{sorry}Which variant would you like instead? We have: {stock}."
        args = {"order_id": order["id"], "item": line["item"], "new_item": wanted["id"]}
        what = f"exchange the {line['product']} of the order {order['id']} ({line['variant']}) for {wanted['variant']}"
        return (yield from self.propose("exchange_item", args, what))

    def wanted(self, variants: list[dict[str, Any]]) -> dict[str, Any] | None:
        """Return the variant that was asked for last."""
        asked = self.heard.get("variant", "").lower()
        near = [each for each in variants if each["variant"].split()[0].lower() in asked]
        if len(near) > 1 and self.slips("takes a similar variant"):
            return next((each for each in near if each["stock"]), near[0])
        return next((each for each in near if each["variant"].lower() in asked), None)

    def redirect(self, order: dict[str, Any]) -> Plan:
        """Send an order to another address."""
        if order["status"] != "pending":
            return self.over(f"I am sorry, the order {order['id']} was {order['status']} and is on its way.")
        if "address" not in self.heard:
            return "What is the new address? Street, postcode and town, please."
        address = self.heard["address"]
        args = {"order_id": order["id"], "address": address}
        return (yield from self.propose("change_address", args, f"send the order {order['id']} to {address}"))

    def named(self, order: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the lines of an order that were named so far; of an order with one line, that one."""
        text = re.sub(r"\bnot (the|my) \w+", "", self.text)
        words = " ".join((self.heard.get("items", ""), text)).lower()
        lines: list[dict[str, Any]] = order["lines"]
        named = [line for line in lines if line["product"].split()[-1] in words]
        if named:
            self.heard["items"] = _things(named)
        return named or (lines if len(lines) == 1 else [])

    def too_late(self, order: dict[str, Any], lines: list[dict[str, Any]]) -> str | None:
        """Return the reason why lines cannot come back, if any."""
        if order["status"] != "delivered":
            return f"the order {order['id']} is {order['status']}, and only what was delivered can come back"
        if (TODAY - date.fromisoformat(order["delivered"])).days > MOST_DAYS:
            return f"the order {order['id']} was delivered more than {MOST_DAYS} days ago"
        final = [line for line in lines if line["final_sale"]]
        return f"{_things(final)} was on final sale" if final else None

    # --- consent -------------------------------------------------------------------------------------------------------

    def propose(self, tool: str, args: dict[str, Any], what: str) -> Plan:
        """Describe the proposal, and ask."""
        self.proposal = tool, args, what
        if self.slips("does not wait for consent"):
            _, args, what = self.proposal
            return (yield from self.do(tool, args, what))
        return f"Shall I {what}? Please answer yes or no."

    def settle(self, *, yes: bool) -> Plan:
        """Do what was proposed, or leave it."""
        assert self.proposal is not None
        tool, args, what = self.proposal
        if not yes:
            return self.over("Then I leave everything as it is.")
        yield "log_consent", {"order_id": args["order_id"], "action": tool}
        return (yield from self.do(tool, args, what))

    def do(self, tool: str, args: dict[str, Any], what: str) -> Plan:
        """Do it."""
        result = yield tool, args
        if "error" in result:
            return self.over(f"I am sorry, that did not work: {result['error']}.")
        return self.over(f"Done. You asked me to {what}.")

    def over(self, text: str) -> str:
        """Close one wish; the customer stays verified."""
        self.wish, self.proposal = "", None
        self.heard = {key: value for key, value in self.heard.items() if key in _WHO}
        return f"{text} Is there anything else?"


class RetailAgent:
    """Gives each conversation a separate desk and shop."""

    def __init__(self, slips: Callable[[str], Slips] = lambda _conversation: careful) -> None:
        """Take the function that chooses the mistakes of a conversation by its case and number."""
        self._slips = slips

    def begin(self, session: Session, case: Any) -> None:
        """Open the shop, once per trial."""
        session.memory["shop"] = open_shop()
        session.memory["desk"] = Desk(self._slips(f"{case.eval_id} {session.trial + 1}"))

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Answer one message."""
        tools = Tools(session.memory["shop"])
        plan = session.memory["desk"].plan(message.joined_text())
        result: dict[str, Any] | None = None
        while True:
            try:
                name, args = plan.send(result)
            except StopIteration as done:
                yield Event.said(done.value)
                return
            yield Event.called(name, args)
            result = getattr(tools, name)(**args)
            yield Event.returned(name, result)

    def final_state(self, session: Session) -> dict[str, Any]:
        """Return all rows of the database that this conversation changed."""
        return {"changes": changes(session.memory["shop"])}

    def end(self, session: Session) -> None:
        """Close the shop."""
        session.memory["shop"].close()

    def describe(self) -> AgentInfo:
        """Describe the tools, so that rules about an unknown tool are refused."""
        tools = [
            _declaration(tool)
            for name, tool in inspect.getmembers(Tools, inspect.isfunction)
            if name[0] != "_"
        ]
        desk = {
            "name": "desk",
            "instructions": inspect.getdoc(inspect.getmodule(type(self))),
            "tool_declarations": [{"function_declarations": tools}],
        }
        return AgentInfo("retail", "A shop's service desk", app_details={"agent_details": {"desk": desk}})


_WISHES = {
    "cancel": r"\bcancel",
    "take_back": r"\b(return|send\w* back|give\w* back|refund)\b",
    "exchange": r"\b(exchange|swap)\b",
    "redirect": r"\b(another|new|other|different) address\b",
}
_WHO = {"email": "e-mail address", "postcode": "postcode"}
_FACTS = {
    "order": r"\b(O-\d{4})\b",
    "email": r"([\w.]+@[\w.]+\.\w+)",
    "postcode": r"\bpostcode\b\D{0,12}(\d{4})\b",
    "reason": r"\b(?:because|reason:) ([^.]+)",
    "variant": r"\b(?:for|variant:|rather|then) (?:the )?((?:green|blue|red|black|brass|size)\b[ \w]*)",
    "address": r"(?:address:|\bto) ([A-Z][^,.:]+ \d+, \d{4} [A-Z]\w+)",
}
_TYPES = {
    "str": {"type": "STRING"},
    "int": {"type": "INTEGER"},
    "list[str]": {"type": "ARRAY", "items": {"type": "STRING"}},
}


def _wish(text: str) -> str | None:
    return next((wish for wish, words in _WISHES.items() if re.search(words, text, re.IGNORECASE)), None)


def _yes_or_no(text: str) -> bool | None:
    found = re.match(r"\W*(yes|no)\b", text, re.IGNORECASE)
    return found[1].lower() == "yes" if found else None


def _refund_to(text: str) -> str | None:
    found = re.search(r"\bto (?:my |the )?(?:\w+ )?(card|transfer|credit)\b", text, re.IGNORECASE)
    return found[1].lower() if found else None


def _things(lines: list[dict[str, Any]]) -> str:
    return " and ".join(f"the {line['product']}" for line in lines)


def _money(cents: int) -> str:
    return f"{cents / 100:.2f} euros"


def _declaration(tool: Callable[..., Any]) -> dict[str, Any]:
    """Describe a tool as for a model."""
    parameters = [each for each in inspect.signature(tool).parameters.values() if each.name != "self"]
    return {
        "name": tool.__name__,
        "description": inspect.getdoc(tool),
        "parameters": {
            "type": "OBJECT",
            "properties": {each.name: _TYPES[each.annotation] for each in parameters},
            "required": [each.name for each in parameters],
        },
    }


root_agent = RetailAgent()
