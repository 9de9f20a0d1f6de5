"""A recorded conversation, and a mutant of it: the same conversation with one planted fault.

The words are those of mutation testing of programs (DeMillo, Lipton and Sayward 1978; Jia and Harman 2011): a *mutation
operator* makes *mutants*; a case *catches* (kills) a mutant if it does not pass, otherwise the mutant *survives*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from proctor.common.json_values import equal_json
from proctor.common.safe_text import one_line
from proctor.metrics.matchers.base import holds_matcher
from proctor.metrics.matchers.parse import MatcherReader
from proctor.schema.evidence.convert_events import events_of, invocations_of, text_parts
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, FunctionCall, Part, text_of, user_text
from proctor.schema.format.invocation import Invocation, states_silence

Events = Sequence[Event]

SCENARIO = "a scenario: nothing is recorded to mutate (--from RUN mutates its first trial that passed)"
NO_STATE = (
    "no value is recorded that the matchers of its final state accept (--from RUN takes those of a run)"
)


@dataclass(frozen=True)
class Recording:
    """The conversation that a case records, or that a run has of it, as events: the agent that must pass (the oracle)."""

    case: EvalCase
    other: Sequence[str] = ()
    """The answers of another case, for the agent that gives them here."""
    trial: Trial | None = None
    """The trial of a run in place of the recorded conversation."""

    @cached_property
    def conversation(self) -> Sequence[Invocation]:
        """The turns; of a scenario without a trial its first message, which is not answered."""
        if self.trial is not None:
            return self.trial.invocations
        scenario = self.case.conversation_scenario
        first = [] if scenario is None else [Invocation(user_content=user_text(scenario.starting_prompt))]
        return self.case.conversation or self.case.opening or first

    @cached_property
    def problem(self) -> str:
        """Why there is no conversation that could be mutated; empty if there is one."""
        if self.trial is not None:
            return ""
        if self.case.conversation is None:
            return SCENARIO
        expected_state = self.case.final_session_state or {}
        keys = [key for key, value in expected_state.items() if not self._is_value_recorded(key, value)]
        return f"{NO_STATE}: {', '.join(keys)}" if keys else ""

    def _is_value_recorded(self, key: str, value: Any) -> bool:
        return not holds_matcher(value) or MatcherReader().template(value, key).fits((self.state or {})[key])

    @property
    def is_recorded(self) -> bool:
        """Whether there is a conversation that could be mutated."""
        return not self.problem

    @cached_property
    def turns(self) -> list[list[Event]]:
        """The events of each turn. A turn of which nothing is recorded has a short answer: silence would be an error of the agent."""
        return [_events(turn) for turn in self.conversation]

    @cached_property
    def evidence(self) -> list[Turn]:
        """The turns as the evidence of a trial, with what the agent declared."""
        return [
            Turn(user_content=turn.user_content, events=events, app_details=_declared(turn))
            for turn, events in zip(self.conversation, self.turns, strict=True)
        ]

    @cached_property
    def invocations(self) -> list[Invocation]:
        """The turns as metrics read them."""
        return invocations_of(self.evidence, None)

    @cached_property
    def empty_trial(self) -> Trial:
        """A trial of the case without turns, of which the trials of mutants are copies."""
        return Trial(eval_set_id="", eval_id=self.case.eval_id)

    @cached_property
    def messages(self) -> list[str]:
        """The user's message of each turn."""
        return [text_of(turn.user_content) for turn in self.conversation]

    @cached_property
    def answers(self) -> list[str]:
        """The text of each final response, without thoughts; empty if there is none."""
        return [text_of(turn.final_response, thoughts=False) for turn in self.conversation]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of all answers, in lower case."""
        return frozenset(word for answer in self.answers for word in answer.lower().split())

    @cached_property
    def state(self) -> dict[str, Any] | None:
        """The final session state of the trial, or the one that the case states; a matcher counts as the value that it compares with."""
        if self.trial is not None:
            return self.trial.final_state
        expected_state = self.case.final_session_state
        return {key: _plain(value) for key, value in expected_state.items()} if expected_state else None

    @cached_property
    def state_change(self) -> Event:
        """The event that sets the final state."""
        return Event.changed(self.state or {})

    @cached_property
    def state_keys(self) -> list[str]:
        """The keys of the final state that a fault may change: the stated ones; of a trial without any, those that it changed."""
        state, expected_state = self.state or {}, self.case.final_session_state
        if expected_state:
            return [key for key in expected_state if key in state]
        before = self.initial_state
        changed = (key for key in state if not (key in before and equal_json(before[key], state[key])))
        return [key for key in changed if not key.startswith(("_", "temp:"))]

    @cached_property
    def initial_state(self) -> dict[str, Any]:
        """The session state before the first turn."""
        return dict(self.case.session_input.state) if self.case.session_input is not None else {}

    def user_text(self, turn: int) -> str:
        """Return the user's messages up to a turn, in lower case."""
        return "\n".join(self.messages[: turn + 1]).lower()


NO_WORK = "Understood."
"""An answer without content."""


def _events(turn: Invocation) -> list[Event]:
    events = events_of(turn)
    return events if events or states_silence(turn) else only_text(NO_WORK)


def _declared(turn: Invocation) -> dict[str, Any] | None:
    return None if turn.app_details is None else turn.app_details.model_dump(exclude_none=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        if "$match" in value:
            return _plain(value["value"] if "value" in value else next(iter(value.get("values") or [None])))
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """One planted fault: which turns have other events, or which final state the session has."""

    turn: int | None
    """The turn of the fault, from 0; `None`: the final state."""
    text: str
    """The fault in a few words: `'42' → '17'`."""
    events: Callable[[], Mapping[int, Events]] = field(default=dict)
    """Makes the events of the turns that differ."""
    state: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Changes a copy of the stated final state."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A mutation operator."""

    name: str
    """As `--mutants` and JSON spell it."""
    label: str
    """The fault in words, in the plural: `wrong numbers`."""
    family: str
    """`calls`, `answers`, `state`, `conversation`, or `agents` that must fail."""
    find: Callable[[Recording, Random], Iterator[PlantedFault]]
    """Yields every fault that the operator can plant; none if it does not apply."""


# --- Parts of a turn -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A tool call, and its place in a turn."""

    event: int
    part: int
    call: FunctionCall


def calls_in(events: Events) -> list[CallPlace]:
    """Return the tool calls of a turn, in order."""
    return [
        CallPlace(index, number, part.function_call)
        for index, event in enumerate(events)
        for number, part in enumerate((event.content and event.content.parts) or ())
        if part.function_call is not None
    ]


def with_parts(event: Event, parts: Sequence[Part]) -> Event:
    """Return a copy of an event with other parts."""
    role = event.content.role if event.content is not None else "model"
    return event.model_copy(update={"content": Content(role=role, parts=list(parts))})


def replace_call(events: Events, place: CallPlace, call: FunctionCall) -> list[Event]:
    """Return the events of a turn with another call in place of one."""
    event = events[place.event]
    parts = [*((event.content and event.content.parts) or ())]
    parts[place.part] = parts[place.part].model_copy(update={"function_call": call})
    return [*events[: place.event], with_parts(event, parts), *events[place.event + 1 :]]


def with_answer(recording: Recording, turn: int, text: str) -> dict[int, Events]:
    """Return the events of one turn with another text as its final response."""
    return {turn: answer_with(recording.turns[turn], text)}


def answer_with(events: Events, text: str) -> list[Event]:
    """Return the events of a turn with another text as its final response."""
    last = events[-1] if events else None
    if last is None or not (last.is_final_response() and text_parts(last)):
        return [*events, Event.said(text)]
    thoughts = [part for part in parts_of(last) if part.thought]
    rest = [part for part in parts_of(last) if not part.text]
    final = with_parts(last, [*thoughts, Part(text=text), *rest])
    if rest:  # final, even if another part comes last
        final.skip_summarization = True
    return [*events[:-1], final]


def texts_before_answer(events: Events) -> list[str]:
    """Return the texts of a turn before its final response, without thoughts."""
    return [
        part.text or ""
        for event in _before_answer(events)
        for part in text_parts(event)
        if not part.thought and event.author.lower() != "user"
    ]


def replace_before_answer(events: Events, replace: Callable[[str], str]) -> list[Event]:
    """Return the events of a turn with other texts before its final response."""
    before = _before_answer(events)
    return [*(_with_other_texts(event, replace) for event in before), *events[len(before) :]]


def _before_answer(events: Events) -> Events:
    ends = bool(events) and events[-1].is_final_response() and bool(text_parts(events[-1]))
    return events[:-1] if ends else events


def _with_other_texts(event: Event, replace: Callable[[str], str]) -> Event:
    parts = [
        part.model_copy(update={"text": replace(part.text)}) if part.text and not part.thought else part
        for part in parts_of(event)
    ]
    return with_parts(event, parts)


def parts_of(event: Event) -> Sequence[Part]:
    """Return the parts of an event."""
    return (event.content.parts if event.content is not None else None) or ()


def only_text(text: str) -> list[Event]:
    """Return the events of a turn that has nothing but a text."""
    return [Event.said(text)]


def shorten_change(text: str, most: int = 48) -> str:
    """Quote a text, on one line and cut."""
    return f"'{one_line(text, most)}'"
