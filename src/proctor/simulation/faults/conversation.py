"""A finished conversation from the point of view of its simulated user: the input of every rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proctor.common.safe_text import cut_text
from proctor.schema.evidence.simulated_user import FaultKind, NextStatus, SimulatedUser, UserFault, UserReply
from proctor.schema.format.case import ConversationScenario, EvalCase
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation
from proctor.simulation.user_prompt import paragraphs

_LONGEST_EVIDENCE = 300
_LONGEST_TEXT = 20_000
_LONGEST_WORD = 300
_NO_WORD = re.compile(rf"\S{{{_LONGEST_WORD},}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserConversation:
    """A finished conversation with everything that its user knew."""

    plan: str
    briefing: str = ""
    """The description of the persona, the starting prompt and recorded messages."""
    behavior: str = ""
    """The instructions of the persona."""
    user_messages: Sequence[str]
    """The user's message of each turn."""
    answers: Sequence[str]
    """What the user saw of the agent's answer to each message."""
    replies: Sequence[UserReply] = ()
    """The simulator's replies; the messages of the other turns come from the case."""
    expected_state: Mapping[str, object] = field(default_factory=dict)
    initial_state: Mapping[str, object] = field(default_factory=dict)
    final_state: Mapping[str, object] = field(default_factory=dict)
    rubrics: Sequence[str] = ()

    def own_turns(self) -> Iterator[tuple[int, str]]:
        """Yield each turn whose message the simulator wrote, with the message."""
        for reply in self.replies:
            if reply.turn < len(self.user_messages):
                yield reply.turn, self.user_messages[reply.turn]

    def known_before(self, turn: int) -> str:
        """Return all that the user knew before a turn: its instructions and the agent's earlier answers."""
        return "\n".join([self.plan, self.briefing, self.behavior, *self.answers[:turn]])

    def answer_before(self, turn: int) -> str:
        """Return the agent's last answer before a turn."""
        return self.answers[turn - 1] if turn else ""

    @property
    def end(self) -> UserReply | None:
        """The reply by which the user ended the conversation; `None` if it ended otherwise."""
        last = self.replies[-1] if self.replies else None
        return last if last is not None and last.status is NextStatus.STOP_SIGNAL_DETECTED else None

    @property
    def has_expected_state(self) -> bool | None:
        """Whether the final state is as expected; `None` if no state is expected."""
        if not self.expected_state:
            return None
        return all(
            key in self.final_state and self.final_state[key] == value
            for key, value in self.expected_state.items()
        )


def new_fault(kind: FaultKind, turn: int, evidence: str, why: str) -> UserFault:
    """Return a fault with its evidence shortened."""
    quoted = cut_text(evidence.strip(), _LONGEST_EVIDENCE)
    return UserFault(kind=kind, turn=turn, evidence=quoted, why=why)


def user_conversation(
    case: EvalCase,
    scenario: ConversationScenario,
    user: SimulatedUser,
    turns: Sequence[Invocation],
    final_state: Mapping[str, object] | None,
    *,
    with_calls: bool,
) -> UserConversation:
    """Return a conversation as its user experienced it."""
    initial_state = case.session_input.state if case.session_input is not None else None
    messages = [_shorten(text_of(turn.user_content, thoughts=False)) for turn in turns]
    simulated = {reply.turn for reply in user.replies}
    description, behavior = _persona_texts(scenario)
    recorded = [text for turn, text in enumerate(messages) if turn not in simulated]
    return UserConversation(
        plan=scenario.conversation_plan,
        briefing="\n".join([description, *recorded]),
        behavior=behavior,
        user_messages=messages,
        answers=[_shorten(_visible_answer(turn, with_calls=with_calls)) for turn in turns],
        replies=user.replies,
        expected_state=case.final_session_state or {},
        initial_state=initial_state or {},
        final_state=final_state or {},
        rubrics=_rubric_texts(case),
    )


def _rubric_texts(case: EvalCase) -> list[str]:
    return [text for rubric in case.rubrics or () if (text := rubric.rubric_content.text_property)]


def _shorten(text: str) -> str:
    """Return a text without very long words and, if it is very long, without its middle.

    The rules' time grows with the square of a word's length.
    """
    if len(text) > _LONGEST_WORD:
        text = _NO_WORD.sub(" ", text)
    return (
        text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT // 2]}\n{text[-_LONGEST_TEXT // 2 :]}"
    )


def _visible_answer(turn: Invocation, *, with_calls: bool) -> str:
    """Return what the user saw of the agent's answer, without the authors."""
    return "\n".join(line.partition(": ")[2] for line in [*paragraphs(turn, with_calls=with_calls)][1:])


def _persona_texts(scenario: ConversationScenario) -> tuple[str, str]:
    """Return the description of the persona, and the instructions for its behavior."""
    persona = scenario.user_persona
    if persona is None:
        return "", ""
    lines = [line for each in persona.behaviors for line in (each.description, *each.behavior_instructions)]
    return persona.description, "\n".join(lines)
