"""What a rule looks at: one conversation that is over, with all that its user was told and all that it said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from proctor.common.quick_dataclasses import dataclass, field
from proctor.schema.evidence.played_user import NextStatus, UserReply
from proctor.schema.evidence.simulator_fault import FaultKind, UserFault

__all__ = ["Heard", "Rule", "fault"]

_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A conversation as its user went through it."""

    plan: str
    briefing: str = ""
    """What else it was given: the starting prompt, messages that were recorded, who it is."""
    manner: str = ""
    """How it was told to behave."""
    said: Sequence[str]
    """What the user said, turn by turn."""
    answers: Sequence[str]
    """What the user was shown of the agent's answer to each."""
    replies: Sequence[UserReply] = ()
    """What the simulator replied; turns without one were nobody's doing but the case's."""
    expected_state: Mapping[str, Any] = field(default_factory=dict)
    initial_state: Mapping[str, Any] = field(default_factory=dict)
    final_state: Mapping[str, Any] = field(default_factory=dict)
    rubrics: Sequence[str] = ()

    def own_turns(self) -> Iterator[tuple[int, str]]:
        """Return the turns whose messages the simulator made, with what it said."""
        for reply in self.replies:
            if reply.turn < len(self.said):
                yield reply.turn, self.said[reply.turn]

    def known_before(self, turn: int) -> str:
        """Return all that the user could know when it began a turn: what it was told, and what the agent had said."""
        return "\n".join([self.plan, self.briefing, self.manner, *self.answers[:turn]])

    def answer_before(self, turn: int) -> str:
        """Return what the agent said last before a turn."""
        return self.answers[turn - 1] if turn else ""

    @property
    def end(self) -> UserReply | None:
        """The reply by which the user ended the conversation; `None` where somebody else did."""
        last = self.replies[-1] if self.replies else None
        return last if last is not None and last.status is NextStatus.STOP_SIGNAL_DETECTED else None

    @property
    def is_reached(self) -> bool | None:
        """Whether the state is as expected; `None` where nothing is expected of it."""
        if not self.expected_state:
            return None
        return all(
            key in self.final_state and self.final_state[key] == value
            for key, value in self.expected_state.items()
        )


Rule = Callable[[Heard], Iterator[UserFault]]
"""Looks for one kind of fault."""


def fault(kind: FaultKind, turn: int, evidence: str, why: str) -> UserFault:
    """Return a fault that a rule found."""
    quoted = evidence.strip()
    return UserFault(
        kind=kind,
        turn=turn,
        evidence=quoted if len(quoted) <= _LONGEST else f"{quoted[: _LONGEST - 1]}…",
        why=why,
    )
