"""Conversations with planted faults of their simulated users, and clean ones: read from `planted/*.yaml`, played by scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from proctor.agents.base import Session
from proctor.models.base import Finish, ModelError, ModelFault, Reply
from proctor.models.scripted import ScriptedModel

FOLDER = Path(__file__).parent / "planted"
TUNED, HELD_OUT, SECOND_LOOK = "tuned", "held_out", "second_look"
_STOP = "</finished>"


@dataclass(frozen=True)
class Conversation:
    """One conversation, and what is at fault in it."""

    name: str
    source: str
    kind: str
    """The kind of its planted fault; empty for a clean one."""
    scenario: dict[str, Any]
    user: Sequence[Any]
    """What the user's model replies, in order."""
    agent: Sequence[str]
    """What the agent answers, in order."""
    state: dict[str, Any] = field(default_factory=dict)
    rubric: str = ""
    is_reached: bool = True

    @property
    def case(self) -> dict[str, Any]:
        """Return it as a case of an eval set."""
        case: dict[str, Any] = {"eval_id": self.name, "conversation_scenario": self.scenario}
        if self.state:
            case["final_session_state"] = self.state
        if self.rubric:
            case["rubrics"] = [{"rubric_id": "r", "rubric_content": {"text_property": self.rubric}}]
        return case

    def play_agent(self, _message: str, session: Session) -> str:
        """Answer from the script; the expected state is there at the end, where the agent gets that far."""
        turn: int = session.memory.get("turn", 0)
        session.memory["turn"] = turn + 1
        if self.is_reached and turn >= len(self.agent) - 1:
            session.state.update(self.state)
        answer: str = self.agent[min(turn, len(self.agent) - 1)]
        return answer

    def model(self) -> ScriptedModel:
        """Return a model that sends the user's messages."""
        return ScriptedModel([*self.user, _STOP])


def conversations(*sources: str) -> Iterator[Conversation]:
    """Return all conversations of the files called `sources` (without any: the first two); clean ones also with an agent that never keeps its promises."""
    for one in _conversations(*sources):
        yield one
        if not one.kind and one.state and one.is_reached:
            yield replace(one, name=f"{one.name}, the agent failed", is_reached=False)


def _conversations(*sources: str) -> Iterator[Conversation]:
    for source in sources or (TUNED, HELD_OUT):
        for entry in yaml.safe_load((FOLDER / f"{source}.yaml").read_text(encoding="utf-8")):
            yield _made(entry, source, "clean-0", {})
            for number, edit in enumerate(entry["clean"], 1):
                yield _made(entry, source, f"clean-{number}", edit)
            for edit in entry["planted"]:
                yield _made(entry, source, edit["kind"], edit)


def _made(entry: dict[str, Any], source: str, name: str, edit: dict[str, Any]) -> Conversation:
    talk = entry["talk"]
    agent, user = list(talk[0::2]), list(talk[1::2])
    ends = None
    for key, value in edit.items():
        verb, _, place = key.partition(" ")
        if verb == "at":
            user[int(place) - 1] = value
        elif verb == "after":
            agent[int(place)] = value
        elif verb == "end":
            ends = int(place) - 1
        elif verb in ("empty", "error"):
            user[value - 1] = _broken(verb, value)
    if ends is not None:
        user = user[:ends]
    scenario = {"starting_prompt": entry["start"], "conversation_plan": entry["plan"]}
    if "persona" in entry:
        scenario["user_persona"] = entry["persona"]
    return Conversation(
        name=f"{entry['id']}-{name}",
        source=source,
        kind=edit.get("kind", ""),
        scenario=scenario,
        user=user,
        agent=agent,
        state=entry.get("state", {}),
        rubric=edit.get("rubric", ""),
        is_reached=edit.get("reached", True),
    )


def _broken(how: str, place: int) -> Any:
    if how == "empty":
        return " " * place
    errors = (
        ModelError("no route to the provider", fault=ModelFault.UNAVAILABLE),
        Reply(text="To the", finish=Finish.LENGTH),
        Reply(text="", finish=Finish.CONTENT_FILTER),
    )
    return errors[place % 3]
