"""A session becomes a case that expects what the agent did in it, as google-adk makes one."""

from __future__ import annotations

import re
import time
from typing import Any

from proctor.agents.chat_host import Json
from proctor.errors import SetupError
from proctor.files.eval_sets.selectors import require_new_case_id
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.to_invocations import to_invocations
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import IntermediateData, Invocation, InvocationEvents
from proctor.schema.format.session import SessionInput

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")


def case_of_session(eval_id: str, session: Json, state: dict[str, Any]) -> EvalCase:
    """Return the case; `state` is what its session starts with.

    Turns in which no user said anything (a change of the state alone) are left out: there is nothing to repeat.

    Raises:
        SetupError: the id could not be named on a command line, or nobody said anything in the session.
    """
    require_new_case_id(eval_id)
    turns = to_invocations(Event.from_adk(event) for event in session["events"])
    turns = [_writable(turn) for turn in turns if turn.user_content.parts]
    if not turns:
        raise SetupError(
            f"the session {session['id']!r} has no message of a user: there is nothing to repeat"
        )
    return EvalCase(
        eval_id=eval_id,
        conversation=turns,
        session_input=SessionInput(app_name=session["appName"], user_id=session["userId"], state=state),
        creation_timestamp=time.time(),
    )


def _writable(turn: Invocation) -> Invocation:
    """Return a turn in which nothing was done in the form that a file can hold: an empty list of events is not written."""
    data = turn.intermediate_data
    if isinstance(data, InvocationEvents) and not data.invocation_events:
        return turn.model_copy(update={"intermediate_data": IntermediateData()})
    return turn


def placeholders(agent: Json) -> dict[str, Any]:
    """Return a state with an empty text for each `{word}` in the instructions of an agent and those below it."""
    found = dict.fromkeys(_PLACEHOLDER.findall(str(agent.get("instruction") or "")), "")
    for below in agent.get("sub_agents") or ():
        found |= placeholders(below)
    return found
