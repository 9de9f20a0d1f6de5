"""Conversion of traced conversations to the evidence of trials."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Sequence

from proctor.agents.base import Session
from proctor.engine.trial.event_recorder import record_turn
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps
from proctor.engine.trial.failure_attribution import ReportedError
from proctor.errors import AgentError
from proctor.files.traces.conversations import TRACE, TracedConversation, TracedTurn
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Failure, FailureKind, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase, SessionInput
from proctor.schema.format.content import Content, text_of

CAPS = TurnCaps()


def trial_of(
    conversation: TracedConversation | None, case: EvalCase | None, eval_set_id: str, *, claimed: int = 0
) -> Trial:
    """Return the evidence for a case; if no conversation matches it, the evidence has that failure.

    `claimed`: the number of conversations that match this case and also another one. The texts pass the same checks
    as those of a running agent: they are limited in size and made readable.
    """
    trial = Trial(eval_set_id=eval_set_id, eval_id=case.eval_id if case is not None else "")
    if conversation is None:
        message = "none of the conversations in the traces belongs to this case"
        if claimed:
            message += f"; {claimed} could, and as well to another case: `proctor.eval_id` on a span names it"
        trial.failure = Failure(where=TRACE, kind=FailureKind.NOT_LOADED, message=message)
        return trial
    limiter = EvidenceLimiter(CAPS, trial.notes)
    trial.session_id, trial.app_name = (
        limiter.readable(conversation.id, "session id: "),
        limiter.readable(conversation.app_name, "app: "),
    )
    trial.user_id = limiter.readable(conversation.user_id, "user id: ")
    trial.failure = conversation.failure
    for turn in conversation.turns:
        trial.turns.append(_record_turn(turn, limiter, trial))
    trial.notes += conversation.notes
    trial.started_at = conversation.turns[0].started_at
    trial.duration = round(sum(turn.duration or 0.0 for turn in conversation.turns), 3)
    if trial.failure is None and case is not None:
        trial.failure = _other_length(trial.turns, case)
    return trial


def _record_turn(traced_turn: TracedTurn, limiter: EvidenceLimiter, trial: Trial) -> Turn:
    """Record one turn as if its events arrived now, with the durations of the trace."""
    user_content = Content.model_validate(traced_turn.asked)
    for part in user_content.parts or ():
        if part.text is not None:
            part.text = limiter.readable(part.text, "user message: ")
    turn = Turn(user_content=user_content, started_at=traced_turn.started_at)
    session = Session(id="", app_name="", user_id="", memory={"spans": traced_turn.spans()})
    try:
        _run_to_end(record_turn(_all(traced_turn.events), turn, session, limiter))
    except AgentError as error:
        failure = Failure(where="agent", kind=FailureKind.RAISED, message=str(error), turn=len(trial.turns))
        trial.failure = trial.failure or failure
    except ReportedError as error:
        trial.failure = trial.failure or error.failure("agent", len(trial.turns))
    turn.duration, turn.started_at = traced_turn.duration, traced_turn.started_at
    turn.model_duration, turn.tool_duration = traced_turn.model_duration, traced_turn.tool_duration
    turn.app_details = (
        limiter.object(traced_turn.app_details, "agents: ") if traced_turn.app_details else None
    )
    return turn


async def _all(events: Sequence[Event]) -> AsyncIterator[Event]:
    for event in events:
        yield event


def _run_to_end(recording: Coroutine[object, object, None]) -> None:
    """Run a coroutine that never waits."""
    try:
        recording.send(None)
    except StopIteration:
        return
    raise RuntimeError("what is in memory already had to be waited for")


def _other_length(turns: Sequence[Turn], case: EvalCase) -> Failure | None:
    """Return a failure if the conversation and its case differ in length: they cannot be compared turn by turn."""
    expected = len(case.conversation) if case.conversation is not None else len(turns)
    if len(turns) == expected:
        return None
    message = f"the case has {expected} turn(s), and the conversation in the trace {len(turns)}"
    return Failure(where=TRACE, kind=FailureKind.UNUSABLE_ANSWER, message=message)


def differing_turn(conversation: TracedConversation, case: EvalCase) -> int | None:
    """Return the first turn, from 0, in which the user's message differs from the case."""
    for index, (turn, expected) in enumerate(zip(conversation.turns, case.conversation or (), strict=False)):
        if turn.text and normalize_space(turn.text) != normalize_space(text_of(expected.user_content)):
            return index
    return None


def normalize_space(text: str) -> str:
    """Return a text normalized for comparison: each run of whitespace becomes one space."""
    return " ".join(text.split())


def session_of(conversation: TracedConversation) -> SessionInput | None:
    """Return the app and the user of a conversation, if the trace names them."""
    if not conversation.app_name and not conversation.user_id:
        return None
    return SessionInput(app_name=conversation.app_name, user_id=conversation.user_id)
