"""The conformance checks: what each shows, and a function that raises if the agent does not conform."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from proctor.agents.base import AgentInfo
from proctor.common.error_text import safe_repr
from proctor.runs.conformance.conversation import (
    KEY,
    ConformanceError,
    ConversationRecord,
    NotApplicableError,
    Subject,
    call_optional,
    case_with_messages,
    first_event,
    hold_conversation,
    new_conversation,
    short_text,
)
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part

AT_ONCE = 8
"""Number of concurrent conversations."""

_MOMENT = 2.0
"""Seconds in which an agent must end after its turn is cancelled or its events are no longer read."""


@dataclass(frozen=True, slots=True)
class Check:
    """One conformance rule."""

    name: str
    shows: str
    run: Callable[[Subject], Awaitable[None]]
    """Raises ConformanceError if the agent breaks the rule, and NotApplicableError if the rule cannot be tested."""


# --- one conversation ------------------------------------------------------------------------------------------------


async def _events(subject: Subject) -> None:
    for case in subject.cases:
        conversation = await hold_conversation(
            subject, case
        )  # raises for anything that is not an event or not JSON
        for event in conversation.events:
            again = Event.model_validate_json(event.model_dump_json(exclude_none=True))
            if again.model_dump(exclude_none=True) != event.model_dump(exclude_none=True):
                raise ConformanceError(
                    f"an event is another one when it is read again: {safe_repr(event, 200)}"
                )


async def _final_response(subject: Subject) -> None:
    async for number, turn in _turns(subject):
        whole = [event for event in turn.events if not event.partial]
        if not any(event.is_final_response() and _speaks(event) for event in whole):
            raise ConformanceError(
                f"turn {number} ({short_text(turn.user_content)}) has no final response: {_kinds(turn)}"
            )


async def _order(subject: Subject) -> None:
    async for number, turn in _turns(subject):
        events = [event for event in turn.events if _parts(event)]
        if events and not _waits(turn) and (events[-1].partial or not events[-1].is_final_response()):
            raise ConformanceError(f"turn {number} does not end with its final response: {_kinds(turn)}")


async def _pairing(subject: Subject) -> None:
    has_calls = False
    earlier: list[FunctionCall] = []
    async for number, turn in _turns(subject):
        earlier = [] if number == 1 else earlier  # pending calls may be answered in a later turn
        open_calls: list[FunctionCall] = []
        for event in turn.events:
            calls = _calls(event)
            has_calls = has_calls or bool(calls)
            _check_ids(calls, open_calls, number)
            open_calls += calls
            for response in _responses(event):
                call = _call_of(response, [*open_calls, *earlier], number)
                (open_calls if call in open_calls else earlier).remove(call)
        earlier += open_calls
        _check_answered(turn, open_calls, number)
    if not has_calls:
        raise NotApplicableError("it called no tool: --set FILE names conversations in which it does")


def _check_answered(turn: Turn, open_calls: Sequence[FunctionCall], number: int) -> None:
    waiting = {name for event in turn.events for name in event.long_running_tool_ids or ()}
    unanswered = [call.name for call in open_calls if call.id not in waiting]
    if unanswered and any(map(_responses, turn.events)):
        raise ConformanceError(f"turn {number}: no response to the call of {', '.join(map(str, unanswered))}")


def _check_ids(calls: list[FunctionCall], before: list[FunctionCall], number: int) -> None:
    known = {call.id for call in before}
    for call in calls:
        if call.id and call.id in known:
            raise ConformanceError(f"turn {number}: two calls have the id {call.id!r}")
        known.add(call.id)


def _call_of(response: FunctionResponse, calls: list[FunctionCall], number: int) -> FunctionCall:
    by_id = [call for call in calls if call.id and call.id == response.id]
    matches = by_id or [
        call for call in calls if call.name == response.name and not (call.id and response.id)
    ]
    if not matches:
        which = f" with the id {response.id!r}" if response.id else ""
        raise ConformanceError(
            f"turn {number}: a response of {response.name}{which} belongs to no call before it"
        )
    if matches[0].name != response.name:
        raise ConformanceError(f"turn {number}: the call of {matches[0].name} is answered as {response.name}")
    return matches[0]


async def _streaming(subject: Subject) -> None:
    streamed = False
    async for number, turn in _turns(subject):
        pieces = ""
        for event in turn.events:
            text = "".join(part.text or "" for part in _parts(event) if not part.thought)
            if event.partial:
                pieces, streamed = pieces + text, True
            elif text:
                pieces = "" if pieces.strip() in text or not pieces else pieces
        if pieces.strip():
            raise ConformanceError(f"turn {number}: no whole event follows the pieces {pieces[:80]!r}")
    if not streamed:
        raise NotApplicableError("it streamed nothing")


async def _state(subject: Subject) -> None:
    for case in subject.cases:
        conversation = await hold_conversation(subject, case)
        state = conversation.final_state
        if not isinstance(state, dict):
            raise ConformanceError(f"final_state() returned {safe_repr(state)}; expected a dict")
        try:
            json.dumps(state)
        except (TypeError, ValueError) as error:
            raise ConformanceError(f"the final state is not JSON: {error}") from None
        expected = {**conversation.session.state, KEY: conversation.token, **_changes(conversation)}
        for key, value in expected.items():
            if (
                not key.startswith("temp:")
                and state.get(key) != value
                and key in {KEY, *_changes(conversation)}
            ):
                origin = "was given with the session" if key == KEY else "was changed by an event"
                raise ConformanceError(
                    f"{key!r} {origin} to {safe_repr(value)}, and is {safe_repr(state.get(key))} in the final state"
                )


def _changes(conversation: ConversationRecord) -> dict[str, object]:
    return {key: value for event in conversation.events for key, value in (event.state_delta or {}).items()}


# --- cancellation, concurrency, errors, description and cleanup -------------------------------------------------------


async def _cancellation(subject: Subject) -> None:
    case, conversation = new_conversation(subject.case())
    agent, session = subject.agent, conversation.session
    await call_optional(agent, "begin", session, case)
    task = asyncio.ensure_future(first_event(agent.answer(_message(case), session), leave=False))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    if task.done():
        task.exception()
        raise NotApplicableError("it answers without ever waiting, so that it cannot be cancelled")
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=_MOMENT)
    if not done:
        task.cancel()
        raise ConformanceError(f"it continued for more than {_MOMENT:g} s after it was cancelled")
    if not task.cancelled() and task.exception() is None:
        raise ConformanceError("it swallowed its cancellation and answered to the end")
    await call_optional(agent, "end", session)
    await _can_converse_again(subject, "a turn was cancelled")


async def _leaving(subject: Subject) -> None:
    case, conversation = new_conversation(subject.case())
    await call_optional(subject.agent, "begin", conversation.session, case)
    try:
        async with asyncio.timeout(subject.timeout + _MOMENT):
            await first_event(subject.agent.answer(_message(case), conversation.session), leave=True)
    except TimeoutError:
        raise ConformanceError("it continued although no caller took its events any more") from None
    await call_optional(subject.agent, "end", conversation.session)
    await _can_converse_again(subject, "a turn was left after its first event")


async def _can_converse_again(subject: Subject, what: str) -> None:
    try:
        conversation = await hold_conversation(subject, subject.case())
    except Exception as error:
        raise ConformanceError(f"after {what}, the next conversation failed: {error}") from error
    if not conversation.events:
        raise ConformanceError(f"after {what}, the next conversation had no answer")


async def _concurrency(subject: Subject) -> None:
    cases = [subject.case(number) for number in range(AT_ONCE)]
    conversations = await asyncio.gather(*(hold_conversation(subject, case) for case in cases))
    for conversation in conversations:
        transcript = json.dumps(
            [event.model_dump(mode="json", exclude_none=True) for event in conversation.events]
        )
        transcript += repr(conversation.final_state)
        for other in conversations:
            if other is not conversation and (other.token in transcript or other.session.id in transcript):
                raise ConformanceError(
                    f"data of the session {other.session.id} is in that of {conversation.session.id}, which was held "
                    "at the same time"
                )


async def _errors(subject: Subject) -> None:
    if subject.failing is None:
        raise NotApplicableError("no message is known that makes it fail: --failing TEXT names one")
    try:
        conversation = await hold_conversation(subject, case_with_messages([subject.failing]))
    except ConformanceError:
        raise
    except Exception:  # noqa: BLE001 - the check expects a failure of any kind
        await _can_converse_again(subject, "it failed")
        return
    raise ConformanceError(
        f"{subject.failing!r} made it answer {_kinds(conversation.turns[-1])}, and raise nothing"
    )


async def _description(subject: Subject) -> None:
    if getattr(subject.agent, "describe", None) is None:
        raise NotApplicableError("it has no describe()")
    info = await call_optional(subject.agent, "describe")
    if info is None:
        raise NotApplicableError("it does not describe itself")
    if not (isinstance(info, AgentInfo) and info.name and isinstance(info.name, str)):
        raise ConformanceError(f"describe() returned {safe_repr(info)}; expected an AgentInfo with a name")
    details = info.app_details
    if details is not None and not isinstance(details.get("agent_details"), dict):
        raise ConformanceError(
            f"app_details of describe() is {safe_repr(details)}; expected {{'agent_details': {{…}}}}"
        )
    try:
        json.dumps(details)
    except (TypeError, ValueError) as error:
        raise ConformanceError(f"app_details of describe() is not JSON: {error}") from None


async def _tidiness(subject: Subject) -> None:
    before = asyncio.all_tasks()
    await hold_conversation(subject, subject.case())
    await call_optional(subject.agent, "close")
    await asyncio.sleep(0.1)
    left = asyncio.all_tasks() - before
    await call_optional(subject.agent, "open")
    if left:
        names = ", ".join(sorted(task.get_name() for task in left)[:5])
        raise ConformanceError(f"it left {len(left)} task(s) running when it was closed: {names}")


CHECKS = (
    Check("events", "everything it yields is an event, and JSON", _events),
    Check("final-response", "every turn has a final response", _final_response),
    Check("order", "a turn ends with its final response", _order),
    Check("pairing", "every tool response belongs to a call before it, and calls are answered", _pairing),
    Check("streaming", "a whole event follows the pieces of a streamed answer", _streaming),
    Check("state", "the session's state reaches it and comes back, with what it changed", _state),
    Check(
        "cancellation",
        "a turn that is cancelled ends at once, and the next conversation works",
        _cancellation,
    ),
    Check("leaving", "a turn that is left in the middle ends, and the next conversation works", _leaving),
    Check("concurrency", f"{AT_ONCE} conversations at once see nothing of each other", _concurrency),
    Check("errors", "a failure is reported as one, and the next conversation works", _errors),
    Check("description", "it reports its name, and its tools in the form of AppDetails", _description),
    Check("tidiness", "it leaves no task running when it is closed", _tidiness),
)
"""The checks in the order in which they run. The agent is opened again for each."""


# --- properties of events ---------------------------------------------------------------------------------------------


async def _turns(subject: Subject) -> AsyncIterator[tuple[int, Turn]]:
    for case in subject.cases:
        conversation = await hold_conversation(subject, case)
        for number, turn in enumerate(conversation.turns, 1):
            yield number, turn


def _waits(turn: Turn) -> bool:
    """Return whether the turn ends with calls that another party is to answer."""
    answered = {response.id for event in turn.events for response in _responses(event)}
    return any({*(event.long_running_tool_ids or ())} - answered for event in turn.events)


def _message(case: EvalCase) -> Content:
    return (case.conversation or [])[0].user_content


def _parts(event: Event) -> list[Part]:
    return list((event.content and event.content.parts) or ())


def _speaks(event: Event) -> bool:
    return any(part.text and not part.thought for part in _parts(event)) or bool(event.long_running_tool_ids)


def _calls(event: Event) -> list[FunctionCall]:
    return [part.function_call for part in _parts(event) if part.function_call is not None]


def _responses(event: Event) -> list[FunctionResponse]:
    return [part.function_response for part in _parts(event) if part.function_response is not None]


def _kinds(turn: Turn) -> str:
    return ", ".join(_kind(event) for event in turn.events) or "no event at all"


def _kind(event: Event) -> str:
    names = [f"call of {call.name}" for call in _calls(event)]
    names += [f"response of {response.name}" for response in _responses(event)]
    if text := "".join(part.text or "" for part in _parts(event)):
        names.append(("a piece " if event.partial else "text ") + repr(text[:40]))
    return " and ".join(names) or ("state" if event.state_delta else "an event without content")
