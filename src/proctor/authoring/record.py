"""Conversations become cases: one that was just had with an agent, or one that google-adk kept as a session."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import read_document
from proctor.runs.traces.match_cases import ids_of
from proctor.runs.traces.score import TracesLike, read_traces
from proctor.runs.traces.to_trials import session_of, trial_of
from proctor.schema.evidence.convert_events import to_invocations
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import EvalCase, EvalSet, SessionInput
from proctor.schema.format.content import FunctionCall, FunctionResponse, text_content, text_of
from proctor.schema.format.invocation import IntermediateData, Invocation

if TYPE_CHECKING:
    from proctor.engine.trial.live_conversation import Conversation


def recorded_case(
    eval_id: str,
    turns: Sequence[Invocation],
    *,
    session_input: SessionInput | None = None,
    final_state: dict[str, object] | None = None,
) -> EvalCase:
    """Return a conversation as a case that expects it: each turn's answer, tool calls and tool responses.

    Ids, times and usage of this one conversation are left out. `final_state`: keys that the final state must have.
    """
    return EvalCase(
        eval_id=eval_id,
        conversation=[_expected_turn(turn) for turn in turns],
        session_input=session_input,
        creation_timestamp=round(time.time(), 3),
        final_session_state=final_state or {},
    )


def _expected_turn(turn: Invocation) -> Invocation:
    data = IntermediateData(
        tool_uses=[FunctionCall(name=call.name, args=call.args or {}) for call in turn.tool_calls],
        tool_responses=[
            FunctionResponse(name=one.name, response=one.response) for one in turn.tool_responses
        ],
    )
    answer = text_of(turn.final_response, thoughts=False)
    return Invocation(
        user_content=turn.user_content,
        final_response=text_content(answer, "model") if answer else None,
        intermediate_data=data,
    )


async def case_of_conversation(
    conversation: Conversation, eval_id: str, *, with_final_state: bool
) -> EvalCase:
    """Return the conversation that is being had as a case; `with_final_state`: it expects the state keys that it changed."""
    session, state = conversation.session_input, None
    if with_final_state:
        state = changed_keys(
            dict((session.state if session else None) or {}), await conversation.final_state()
        )
    return recorded_case(eval_id, conversation.invocations, session_input=session, final_state=state)


def case_of_session(eval_id: str, path: str | Path) -> EvalCase:
    """Return a session of google-adk (its JSON, in either spelling) as a case.

    The session's own state is not the state that it began with, and is not taken over.

    Raises:
        EvalFileError: the file cannot be read, is not a session, or has no user message.
    """
    value = read_document(Path(path)).value
    events = value.get("events") if isinstance(value, dict) else None
    if not isinstance(events, list):
        raise EvalFileError(f"{path}: expected a session: an object with `events`, as google-adk writes it")
    turns = to_invocations([_event(event, f"{path}: events[{index}]") for index, event in enumerate(events)])
    user_turns = [turn for turn in turns if turn.user_content.parts]
    if not user_turns:
        raise EvalFileError(f"{path}: this session has no message of a user")
    return recorded_case(eval_id, user_turns, session_input=_session_input(value))


def _session_input(session: dict[str, object]) -> SessionInput | None:
    """Return the names of a session; `None` if it has none."""
    names = {name: session.get(name) or session.get(camel) for name, camel in _SESSION.items()}
    texts = {name: str(value) for name, value in names.items() if value}
    return SessionInput.model_validate({"app_name": "", "user_id": "", **texts}) if texts else None


def _event(event: object, where: str) -> Event:
    """Read one event. Raises EvalFileError: it cannot be read."""
    if not isinstance(event, dict):
        raise EvalFileError(
            f"{where}: expected an event, an object as google-adk writes it, got {json.dumps(event)}"
        )
    try:
        return Event.from_adk(event)
    except ValidationError as error:
        first = error.errors()[0]
        field = "".join(f".{part}" for part in first["loc"])
        raise EvalFileError(f"{where}{field}: this event cannot be read: {first['msg']}") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise EvalFileError(f"{where}: this event cannot be read: {error}") from None


_SESSION = {"app_name": "appName", "user_id": "userId"}


def changed_keys(before: dict[str, object], after: dict[str, object]) -> dict[str, Any]:
    """Return the keys of a state that are new or have another value."""
    same = {key for key in after if key in before and _plain(before[key]) == _plain(after[key])}
    return {key: value for key, value in after.items() if key not in same}


def _plain(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


# --- traces -------------------------------------------------------------------------------------------------------------


def eval_set_of(traces: TracesLike, eval_set_id: str = "traces") -> tuple[EvalSet, list[str]]:
    """Return the conversations of some traces as a set that expects what was done; and those that could not be taken.

    A conversation that ended in an error or is incomplete is left out.

    Raises:
        EvalFileError: a trace cannot be read, or no agent's span is in any.
    """
    paths = [traces] if isinstance(traces, str | Path) else list(traces)
    left: list[str] = []
    cases = []
    conversations = read_traces(paths).conversations
    for name, conversation in zip(ids_of(conversations), conversations, strict=True):
        if conversation.failure is not None:
            left.append(f"{name}: {conversation.failure.cause}")
            continue
        trial = trial_of(conversation, None, eval_set_id)
        if trial.failure is not None:
            left.append(f"{name}: {trial.failure.cause}")
            continue
        cases.append(recorded_case(name, trial.invocations, session_input=session_of(conversation)))
    return EvalSet(eval_set_id=eval_set_id, eval_cases=cases), left
