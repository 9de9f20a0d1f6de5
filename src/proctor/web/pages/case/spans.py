"""A trial over time: turns, the model requests and tool calls in them, and how long each took where that is recorded.

Evidence has the time of a turn, on the clock of whoever ran it, and of its events what the agent tells: some tell when
each was emitted, many do not. From these times follows how long a tool took (from its call to its answer), and how
long a model at most (from what came before to its answer). Nothing is guessed beyond that. A turn that was traced shows its
spans instead (`traced`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from proctor.reports.evidence.trajectory_diff import call_text
from proctor.reports.evidence.value_text import value_text
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial, Turn
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import AppDetails
from proctor.web.pages.case.span_models import AgentPart, SpanPart, SpansPage, Timing
from proctor.web.pages.case.texts import clip
from proctor.web.pages.case.traced_spans import cut_from, is_traced, traced_parts

__all__ = ["SpansPage", "spans_page"]

_TOOL_TEXT = 5_000
_TOOL_NAME = 200


def spans_page(run_id: str, position: int, number: int, trial: Trial | None) -> SpansPage:
    """Return the waterfall of a trial; without its evidence an empty one that says so."""
    if trial is None:
        return SpansPage(
            run_id=run_id, position=position, number=number, seconds=None,
            told="The evidence of this trial was not kept.", spans=[], agents=[],
        )  # fmt: skip
    origin = trial.started_at or next((turn.started_at for turn in trial.turns if turn.started_at), 0.0)
    spans = [span for index, turn in enumerate(trial.turns) for span in _of_turn(index, turn, origin)]
    return SpansPage(
        run_id=run_id,
        position=position,
        number=number,
        seconds=_length(trial, spans),
        told=_told(spans, [is_traced(turn) for turn in trial.turns]),
        spans=spans,
        cut=cut_from(trial.turns),
        agents=[*_agents(trial)],
    )


def _length(trial: Trial, spans: Sequence[SpanPart]) -> float | None:
    ends = [span.start + (span.seconds or 0.0) for span in spans if span.start is not None]
    return max([trial.duration, *ends]) or None


def _of_turn(index: int, turn: Turn, origin: float) -> Iterator[SpanPart]:
    waterfall = _Waterfall(index, turn, origin)
    if is_traced(turn):
        yield waterfall.head()
        yield from traced_parts(index, turn, origin)
    else:
        yield from waterfall.spans()


def _told(spans: Sequence[SpanPart], traced: Sequence[bool]) -> str:
    if all(traced) and spans:
        return _TRACED
    if not any(traced):
        return f"{_told_by_events(spans)} No spans of a tracing were recorded."
    numbers = ", ".join(str(number) for number, one in enumerate(traced, 1) if not one)
    rest = [span for span in spans if not traced[span.turn]]
    return f"{_TRACED} Not so of turn {numbers}, of which no spans were recorded. {_told_by_events(rest)}"


_TRACED = "Inside of turns, these are the spans that were traced, with their own times."


def _told_by_events(spans: Sequence[SpanPart]) -> str:
    inside = [span for span in spans if span.kind in ("model", "tool")]
    timed = sum(span.timing != "none" for span in inside)
    if not spans:
        return "Nothing was recorded."
    if not inside:
        return "Turns are timed; the agent tells of no model requests or tool calls in them."
    if not timed:
        return "Only turns are timed: the agent does not tell when its events were emitted."
    some = "" if timed == len(inside) else f" Of {len(inside) - timed} of {len(inside)} there is no time."
    return (
        "Turns are timed by a clock. Inside, a tool took from its call to its answer, and a model at most from the event "
        f"before to its answer, by the times that the agent tells of its events.{some}"
    )


@dataclass(slots=True)
class _Asked:
    """A model or a tool that was asked, on the way to a span."""

    kind: Literal["model", "tool", "event"]
    name: str
    author: str
    call: int | None = None
    call_id: str | None = None
    begin: float | None = None
    end: float | None = None
    failed: bool = False
    tokens: tuple[int | None, int | None] = (None, None)
    request: str = ""
    response: str = ""


@dataclass(slots=True)
class _Waterfall:
    """The spans of one turn."""

    index: int
    turn: Turn
    origin: float
    asked: list[_Asked] = field(default_factory=list)
    _news: list[str] = field(default_factory=list)
    """What the next model is told that it was not told before."""
    _calls: int = 0

    def spans(self) -> Iterator[SpanPart]:
        """Return the turn, and what is in it, in order."""
        self._news = [text_of(self.turn.user_content)]
        last = self.turn.started_at or None
        for event in self.turn.events:
            if not event.partial and event.author.lower() != "user":
                self._take(event, last)
            last = event.timestamp or last
        yield self.head()
        authors = list(dict.fromkeys(one.author for one in self.asked))
        yield from self._inside(several=len(authors) > 1)

    def head(self) -> SpanPart:
        """Return the turn itself."""
        begin = self.turn.started_at or None
        return self._part(0, "turn", f"turn {self.index + 1}", "", begin, self.turn.duration, "clock")

    def _take(self, event: Event, last: float | None) -> None:
        parts = (event.content.parts or ()) if event.content is not None else ()
        if event.usage_metadata is not None or event.model_version is not None:
            self._model(event, last)
        elif event.error_code:
            self.asked.append(_Asked("event", f"error {event.error_code}", event.author, failed=True))
            self.asked[-1].response = event.error_message or ""
        for part in parts:
            if (call := part.function_call) is not None:
                name, text = call.name or "(no name)", call_text(call.name or "", call.args)
                tool = _Asked("tool", name, event.author, self._calls, call.id, event.timestamp, request=text)
                self.asked.append(tool)
                self._calls += 1
            elif (answer := part.function_response) is not None:
                self._answered(answer.id, answer.name, value_text(answer.response), event.timestamp)

    def _model(self, event: Event, last: float | None) -> None:
        usage = event.usage_metadata
        tokens = (
            (usage.prompt_token_count, usage.candidates_token_count) if usage is not None else (None, None)
        )
        begin = last if event.timestamp is not None and last is not None and last <= event.timestamp else None
        self.asked.append(
            _Asked(
                "model", event.model_version or "model", event.author, None, None, begin, event.timestamp,
                bool(event.error_code), tokens, "\n".join(self._news), _said(event),
            )
        )  # fmt: skip
        self._news = []

    def _answered(self, its_id: str | None, name: str | None, text: str, at: float | None) -> None:
        self._news.append(f"{name or 'tool'} → {text}")
        waiting = [one for one in self.asked if one.kind == "tool" and not one.response]
        found = next((one for one in waiting if its_id is not None and one.call_id == its_id), None)
        found = found or next((one for one in waiting if one.name == name), None)
        if found is not None:
            found.response, found.end = text or "null", at

    # --- spans -------------------------------------------------------------------------------------------------------

    def _inside(self, *, several: bool) -> Iterator[SpanPart]:
        before = None
        for place, one in enumerate(self.asked):
            if several and one.author != before:
                yield self._agent(place)
            before = one.author
            yield self._asked_part(one, 2 if several else 1)

    def _agent(self, place: int) -> SpanPart:
        """The stretch in which one of several agents was at work."""
        mine: list[_Asked] = []
        for one in self.asked[place:]:
            if one.author != self.asked[place].author:
                break
            mine.append(one)
        begins = [one.begin for one in mine if one.begin is not None]
        ends = [one.end for one in mine if one.end is not None]
        known = bool(begins and ends) and max(ends) >= min(begins)
        seconds = max(ends) - min(begins) if known else None
        author = self.asked[place].author
        return self._part(
            1, "agent", author, author, min(begins) if known else None, seconds, "events" if known else "none"
        )

    def _asked_part(self, one: _Asked, depth: int) -> SpanPart:
        known = one.begin is not None and one.end is not None and one.end >= one.begin
        seconds = one.end - one.begin if known and one.end is not None and one.begin is not None else None
        part = self._part(
            depth,
            one.kind,
            one.name,
            one.author,
            one.begin if known else None,
            seconds,
            "events" if known else "none",
        )
        part.call, part.failed = one.call, one.failed
        part.input_tokens, part.output_tokens = one.tokens
        part.request = clip(one.request, _TOOL_TEXT) if one.request else None
        part.response = clip(one.response, _TOOL_TEXT) if one.response else None
        return part

    def _part(
        self,
        depth: int,
        kind: Literal["turn", "agent", "model", "tool", "event"],
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
            output_tokens=None, request=None, response=None,
        )  # fmt: skip


def _said(event: Event) -> str:
    """What a model answered, in words: its texts, and the calls that it wants."""
    told = []
    for part in (event.content.parts or ()) if event.content is not None else ():
        if part.text:
            told.append(part.text)
        elif (call := part.function_call) is not None:
            told.append(call_text(call.name or "", call.args))
    return "\n".join([*told, *filter(None, [event.error_message])])


def _agents(trial: Trial) -> Iterator[AgentPart]:
    details: dict[str, Any] = {}
    for told in (trial.app_details, *(turn.app_details for turn in trial.turns)):
        if told:
            details |= AppDetails.model_validate(told).agent_details
    for name, agent in details.items():
        yield AgentPart(
            name=name,
            instructions=clip(agent.instructions) if agent.instructions else None,
            tools=[tool for declared in agent.tool_declarations for tool in _tool_names(declared)],
        )


def _tool_names(declared: Any) -> list[str]:
    if not isinstance(declared, dict):
        return []
    inside = declared.get("function_declarations")
    found = inside if isinstance(inside, list) else [declared]
    return [str(one["name"]) for one in found if isinstance(one, dict) and one.get("name")]
