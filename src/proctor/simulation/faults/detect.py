"""All rules over one conversation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.schema.evidence.played_user import PlayedUser
from proctor.schema.evidence.simulator_fault import UserFault
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.scenario import ConversationScenario
from proctor.simulation.faults.base import Heard, Rule
from proctor.simulation.faults.ignored_question import ignored_question
from proctor.simulation.faults.invented_fact import invented_fact
from proctor.simulation.faults.leaked_answer import leaked_answer
from proctor.simulation.faults.left_plan import left_plan
from proctor.simulation.faults.repeated_itself import repeated_itself
from proctor.simulation.faults.stopped_early import stopped_early
from proctor.simulation.transcript import paragraphs

__all__ = ["find_faults", "heard_in"]

_LONGEST = 20_000
_LONGEST_WORD = 300
_NO_WORD = re.compile(rf"\S{{{_LONGEST_WORD},}}")
RULES: Sequence[Rule] = (
    left_plan,
    leaked_answer,
    stopped_early,
    invented_fact,
    repeated_itself,
    ignored_question,
)


def find_faults(heard: Heard) -> list[UserFault]:
    """Return what rules find, in the order of the turns; a value that was leaked is not said to be invented, too."""
    found = [one for rule in RULES for one in rule(heard)]
    leaked = {one.turn for one in found if one.kind == "leaked_answer"}
    kept = [one for one in found if not (one.kind == "invented_fact" and one.turn in leaked)]
    return sorted(kept, key=lambda one: one.turn)


def heard_in(
    case: EvalCase,
    scenario: ConversationScenario,
    played: PlayedUser,
    turns: Sequence[Invocation],
    final_state: Mapping[str, Any] | None,
    *,
    with_calls: bool,
) -> Heard:
    """Return a conversation as its user went through it."""
    given = case.session_input.state if case.session_input is not None else None
    said = [_readable(text_of(turn.user_content, thoughts=False)) for turn in turns]
    made = {reply.turn for reply in played.replies}
    who, manner = _persona(scenario)
    return Heard(
        plan=scenario.conversation_plan,
        briefing="\n".join([who, *(text for turn, text in enumerate(said) if turn not in made)]),
        manner=manner,
        said=said,
        answers=[_readable(_shown(turn, with_calls=with_calls)) for turn in turns],
        replies=played.replies,
        expected_state=case.final_session_state or {},
        initial_state=given or {},
        final_state=final_state or {},
        rubrics=[text for one in case.rubrics or () if (text := one.rubric_content.text_property)],
    )


def _readable(text: str) -> str:
    """Return a text as far as rules read it: without what is no word, and not the middle of what nobody reads.

    The time that rules take grows with the square of a word's length.
    """
    if len(text) > _LONGEST_WORD:
        text = _NO_WORD.sub(" ", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"


def _shown(turn: Invocation, *, with_calls: bool) -> str:
    """What the user was shown of a turn behind its own message, without who said it."""
    return "\n".join(line.partition(": ")[2] for line in [*paragraphs(turn, with_calls=with_calls)][1:])


def _persona(scenario: ConversationScenario) -> tuple[str, str]:
    """Who the user is, and how it is to behave."""
    persona = scenario.user_persona
    if persona is None:
        return "", ""
    habits = [line for one in persona.behaviors for line in (one.description, *one.behavior_instructions)]
    return persona.description, "\n".join(habits)
