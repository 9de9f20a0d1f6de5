"""A trial over time: turns, the model requests and tool calls in them, and their durations as far as they are recorded.

The evidence contains the measured time of each turn, and the timestamps of events if the agent reports them. They give the
duration of a tool (from its call to its response) and an upper bound for a model (from the previous event to its answer).
Nothing else is estimated. A turn that was traced shows its spans instead (`traced_spans`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from proctor.common.json_values import json_line
from proctor.reports.evidence.trajectory_diff import call_text
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import FunctionCall, FunctionResponse, Part, text_of
from proctor.schema.format.invocation import AgentDetails, AppDetails
from proctor.web.pages.case.page_parts import OpenCalls, agent_events, clip
from proctor.web.pages.case.traced_spans import (
    AgentPart,
    SpanPart,
    SpansPage,
    Timing,
    cut_from,
    has_spans,
    request_cost,
    traced_parts,
)

_Kind = Literal["turn", "agent", "model", "tool", "event"]

_TOOL_TEXT = 5_000
_TOOL_NAME = 200


def spans_page(run_id: str, position: int, number: int, trial: Trial | None) -> SpansPage:
    """Return the waterfall of a trial; without its evidence it is empty."""
    if trial is None:
        return SpansPage(
            run_id=run_id, position=position, number=number, seconds=None,
            note="The evidence of this trial was not stored.", spans=[], agents=[],
        )  # fmt: skip
    origin = trial.started_at or next((turn.started_at for turn in trial.turns if turn.started_at), 0.0)
    spans = [span for index, turn in enumerate(trial.turns) for span in _turn_spans(index, turn, origin)]
    return SpansPage(
        run_id=run_id,
        position=position,
        number=number,
        seconds=_length(trial, spans),
        note=_timing_note(spans, [has_spans(turn) for turn in trial.turns]),
        spans=spans,
        cut=cut_from(trial.turns),
        agents=[*_agents(trial)],
    )


def _length(trial: Trial, spans: Sequence[SpanPart]) -> float | None:
    ends = [span.start + (span.seconds or 0.0) for span in spans if span.start is not None]
    return max([trial.duration, *ends]) or None


def _turn_spans(index: int, turn: Turn, origin: float) -> Iterator[SpanPart]:
    waterfall = _Waterfall(index, turn, origin)
    if has_spans(turn):
        yield waterfall.head()
        yield from traced_parts(index, turn, origin)
    else:
        yield from waterfall.spans()


def _timing_note(spans: Sequence[SpanPart], traced: Sequence[bool]) -> str:
    if all(traced) and spans:
        return _TRACED
    if not any(traced):
        return f"{_event_timing_note(spans)} No trace was recorded."
    numbers = ", ".join(str(number) for number, one in enumerate(traced, 1) if not one)
    rest = [span for span in spans if not traced[span.turn]]
    return f"{_TRACED} Turn {numbers} has no trace. {_event_timing_note(rest)}"


_TRACED = "Turns contain their traced spans with measured times."


def _event_timing_note(spans: Sequence[SpanPart]) -> str:
    inside = [span for span in spans if span.kind in ("model", "tool")]
    timed = sum(span.timing != "none" for span in inside)
    if not spans:
        return "Nothing was recorded."
    if not inside:
        return "Turns are timed; the agent reports no model requests or tool calls."
    if not timed:
        return "Only turns are timed: the events of the agent have no timestamps."
    some = "" if timed == len(inside) else f" {len(inside) - timed} of {len(inside)} have no time."
    return (
        "The times of turns are measured. Inside a turn they follow from the timestamps of the agent's events: a tool from "
        f"its call to its response, a model (at most) from the previous event to its answer.{some}"
    )


@dataclass(slots=True)
class _Step:
    """A request of a model or a tool, from which a span is made."""

    kind: Literal["model", "tool", "event"]
    name: str
    author: str
    call: int | None = None
    begin: float | None = None
    end: float | None = None
    failed: bool = False
    tokens: tuple[int | None, int | None] = (None, None)
    cost: float | None = None
    request: str = ""
    response: str = ""


@dataclass(slots=True)
class _Waterfall:
    """The spans of one turn."""

    index: int
    turn: Turn
    origin: float
    steps: list[_Step] = field(default_factory=list)
    _news: list[str] = field(default_factory=list)
    """The new part of the next model request."""
    _open: OpenCalls[_Step] = field(default_factory=OpenCalls)
    _calls: int = 0

    def spans(self) -> Iterator[SpanPart]:
        """Yield the turn, and its steps in order."""
        self._news = [text_of(self.turn.user_content)]
        last = self.turn.started_at or None
        agents = {id(event): parts for event, parts in agent_events(self.turn)}
        for event in self.turn.events:
            if id(event) in agents:
                self._add_event(event, agents[id(event)], last)
            last = event.timestamp or last
        yield self.head()
        authors = list(dict.fromkeys(one.author for one in self.steps))
        yield from self._nested_spans(several=len(authors) > 1)

    def head(self) -> SpanPart:
        """Return the span of the turn."""
        begin = self.turn.started_at or None
        return self._part(0, "turn", f"turn {self.index + 1}", "", begin, self.turn.duration, "clock")

    def _add_event(self, event: Event, parts: Sequence[Part], last: float | None) -> None:
        if event.usage_metadata is not None or event.model_version is not None:
            self._model(event, last)
        elif event.error_code:
            error = f"error {event.error_code}"
            self.steps.append(
                _Step("event", error, event.author, failed=True, response=event.error_message or "")
            )
        for part in parts:
            if (call := part.function_call) is not None:
                self._add_call(call, event)
            elif (answer := part.function_response) is not None:
                self._attach_response(answer, event.timestamp)

    def _add_call(self, call: FunctionCall, event: Event) -> None:
        text = call_text(call.name or "", call.args)
        name = call.name or "(no name)"
        step = _Step("tool", name, event.author, self._calls, begin=event.timestamp, request=text)
        self.steps.append(step)
        self._open.add(step, call.id, call.name)
        self._calls += 1

    def _model(self, event: Event, last: float | None) -> None:
        usage = event.usage_metadata
        tokens = (
            (usage.prompt_token_count, usage.candidates_token_count) if usage is not None else (None, None)
        )
        cost = request_cost(event.model_version or "", usage.__dict__) if usage is not None else None
        begin = last if event.timestamp is not None and last is not None and last <= event.timestamp else None
        self.steps.append(
            _Step(
                "model", event.model_version or "model", event.author, None, begin, event.timestamp,
                bool(event.error_code), tokens, cost, "\n".join(self._news), _response_text(event),
            )
        )  # fmt: skip
        self._news = []

    def _attach_response(self, answer: FunctionResponse, at: float | None) -> None:
        text = json_line(answer.response)
        self._news.append(f"{answer.name or 'tool'} → {text}")
        if (step := self._open.take(answer.id, answer.name)) is not None:
            step.response, step.end = text or "null", at

    # --- spans -------------------------------------------------------------------------------------------------------

    def _nested_spans(self, *, several: bool) -> Iterator[SpanPart]:
        before = None
        for place, step in enumerate(self.steps):
            if several and step.author != before:
                yield self._agent(place)
            before = step.author
            yield self._step_part(step, 2 if several else 1)

    def _agent(self, place: int) -> SpanPart:
        """Return the span of an agent that starts with the step at `place`, if several agents take part."""
        author = self.steps[place].author
        steps = list(takewhile(lambda step: step.author == author, self.steps[place:]))
        begin = min((step.begin for step in steps if step.begin is not None), default=None)
        end = max((step.end for step in steps if step.end is not None), default=None)
        return self._timed_part(1, "agent", author, author, begin, end)

    def _step_part(self, step: _Step, depth: int) -> SpanPart:
        part = self._timed_part(depth, step.kind, step.name, step.author, step.begin, step.end)
        part.call, part.failed = step.call, step.failed
        part.input_tokens, part.output_tokens = step.tokens
        part.cost = step.cost
        part.request = clip(step.request, _TOOL_TEXT) if step.request else None
        part.response = clip(step.response, _TOOL_TEXT) if step.response else None
        return part

    def _timed_part(
        self, depth: int, kind: _Kind, name: str, author: str, begin: float | None, end: float | None
    ) -> SpanPart:
        """Return a span that is timed by events; without a begin before its end it has no time."""
        if begin is None or end is None or end < begin:
            return self._part(depth, kind, name, author, None, None, "none")
        return self._part(depth, kind, name, author, begin, end - begin, "events")

    def _part(
        self,
        depth: int,
        kind: _Kind,
        name: str,
        author: str,
        begin: float | None,
        seconds: float | None,
        timing: Timing,
    ) -> SpanPart:
        start = begin - self.origin if begin is not None and begin >= self.origin else None
        return SpanPart(
            kind=kind, name=name[:_TOOL_NAME], depth=depth, turn=self.index, call=None, author=author, start=start,
            seconds=seconds, timing=timing if seconds is not None else "none", failed=False, input_tokens=None,
            output_tokens=None, cost=None, request=None, response=None,
        )  # fmt: skip


def _response_text(event: Event) -> str:
    """Return a model's answer as text: its texts, and the calls that it requests."""
    texts = []
    for part in (event.content.parts or ()) if event.content is not None else ():
        if part.text:
            texts.append(part.text)
        elif (call := part.function_call) is not None:
            texts.append(call_text(call.name or "", call.args))
    return "\n".join([*texts, *filter(None, [event.error_message])])


def _agents(trial: Trial) -> Iterator[AgentPart]:
    details: dict[str, AgentDetails] = {}
    for document in (trial.app_details, *(turn.app_details for turn in trial.turns)):
        if document:
            details |= AppDetails.model_validate(document).agent_details
    for name, agent in details.items():
        yield AgentPart(
            name=name,
            instructions=clip(agent.instructions) if agent.instructions else None,
            tools=[tool for declaration in agent.tool_declarations for tool in _tool_names(declaration)],
        )


def _tool_names(declaration: object) -> list[str]:
    if not isinstance(declaration, dict):
        return []
    functions = declaration.get("function_declarations")
    tools = functions if isinstance(functions, list) else [declaration]
    return [str(tool["name"]) for tool in tools if isinstance(tool, dict) and tool.get("name")]
