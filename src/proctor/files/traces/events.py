"""One turn of a trace as events: walks the spans in order, and counts each call once.

A call may be recorded twice, by the model that requested it and by the span of the executed tool: these are one call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.common.limits import MAX_EVENTS
from proctor.common.secrets import hide_secrets
from proctor.files.traces.contents import Contents, Reader
from proctor.files.traces.messages import TraceMessage, read_arguments, read_response, response_part
from proctor.files.traces.semantic_conventions import (
    TraceSpanKind,
    agent_name,
    call_id,
    error_of,
    kind_of,
    model_of,
    tool_name,
    usage_of,
)
from proctor.files.traces.span_tree import TraceSpan
from proctor.schema.evidence.event import Event, incomplete_answer_reason

AGENT = "agent"
"""The author if no span names one."""


@dataclass(slots=True)
class _Visit:
    """A span on the way, and where it was met."""

    span: TraceSpan
    author: str
    around: TraceSpan | None = None
    """The nearest span around it that is about an agent, a model or a tool."""
    is_within: bool = False
    """Whether it happened while a tool was executed: an agent that another called."""


class TurnBuilder:
    """Walks the spans of one turn and records their events."""

    def __init__(self, reader: Reader, known: Iterable[TraceCall] = ()) -> None:
        """`known`: calls of the turn before, which this turn continues."""
        self._reader = reader
        self._known = [str(call.part["name"]) for call in known]
        self._executing: dict[int, TraceCall] = {}
        self.turn = TurnEvents()

    def build(self, roots: Iterable[TraceSpan]) -> TurnEvents:
        """Record one turn; every span is entered before the spans inside it, and left after them."""
        for root in roots:
            stack = [(_Visit(root, self._author(root, AGENT)), False)]
            while stack:
                visit, is_done = stack.pop()
                if is_done:
                    self._end_visit(visit)
                    continue
                if len(self.turn.events) > MAX_EVENTS:
                    self.turn.lost.append(
                        f"of more than {MAX_EVENTS:,} events in one turn, the rest is not read"
                    )
                    return self.turn
                self._enter(visit)
                stack.append((visit, True))
                stack += [(self._child_visit(visit, one), False) for one in reversed(visit.span.children)]
        return self.turn

    def _child_visit(self, visit: _Visit, span: TraceSpan) -> _Visit:
        kind = kind_of(visit.span)
        around = visit.around if kind is TraceSpanKind.OTHER else visit.span
        within = visit.is_within or kind is TraceSpanKind.TOOL
        return _Visit(span, self._author(span, visit.author), around, is_within=within)

    def _author(self, span: TraceSpan, around: str) -> str:
        """The agent that a span belongs to: the one whose span encloses it."""
        own = agent_name(span) if kind_of(span) is TraceSpanKind.AGENT or around == AGENT else ""
        return _agent_author(own) if own and kind_of(span) is not TraceSpanKind.OTHER else around

    def _repeats_enclosing_span(self, visit: _Visit) -> bool:
        """Whether the span around it describes the same call: of the same model call, or of the same tool."""
        kind, around = kind_of(visit.span), visit.around
        if around is None or kind_of(around) is not kind:
            return False
        if kind is TraceSpanKind.MODEL:
            return not self._reader.encloses_calls(around)
        return tool_name(around) == tool_name(visit.span)

    def _note_losses(self, span: TraceSpan) -> None:
        """Record why a span of any kind is not usable as evidence."""
        if not span.end and kind_of(span) is not TraceSpanKind.OTHER:
            self.turn.endless = self.turn.endless or span.name
        if span.clashes:
            self.turn.lost.append(
                f"two spans have the id {span.span_id!r}: whose calls are whose is not known"
            )
        if kind_of(span) in (TraceSpanKind.MODEL, TraceSpanKind.AGENT) and self._reader.of(span).is_dropped:
            self.turn.lost.append(f"of the messages in the span {span.name!r} attributes were dropped")

    def _enter(self, visit: _Visit) -> None:
        span, kind = visit.span, kind_of(visit.span)
        self._note_losses(span)
        if kind is TraceSpanKind.MODEL and not self._repeats_enclosing_span(visit):
            if not self._reader.encloses_calls(span):
                self._model(visit)
        elif kind is TraceSpanKind.TOOL and not self._repeats_enclosing_span(visit):
            self._tool_begins(span, visit.author)
        elif (
            kind is TraceSpanKind.AGENT
            and (messages := self._lone_agent_messages(span))
            and _has_calls(messages)
        ):
            self._messages(messages, visit)

    def _end_visit(self, visit: _Visit) -> None:
        span, kind = visit.span, kind_of(visit.span)
        if (
            kind is TraceSpanKind.MODEL
            and self._reader.encloses_calls(span)
            and (error := error_of(span)) is not None
        ):
            self.turn.errors.append(error)
            self._add_error(visit, error)
        elif kind is TraceSpanKind.TOOL and not self._repeats_enclosing_span(visit):
            self._tool_ends(span, visit.author)
            self.turn.tool_seconds += 0.0 if visit.is_within else span.seconds or 0.0
        elif kind is TraceSpanKind.AGENT:
            self._end_agent(visit)

    def _end_agent(self, visit: _Visit) -> None:
        span = visit.span
        if messages := self._lone_agent_messages(span):
            if not _has_calls(messages):
                self._messages(messages, visit)
            self.turn.is_bare = self.turn.is_bare or not self.turn.calls
            return
        self._add_forwarded_calls(self._reader.of(span).output or (), visit.author, before=1)
        if (error := error_of(span)) is not None and visit.around is not None:
            self.turn.survived.append((visit.author, error[1]))

    def _lone_agent_messages(self, span: TraceSpan) -> list[TraceMessage]:
        """Record the answer of an agent's span that contains no span of a model or of another agent."""
        waiting = list(span.children)
        while waiting:
            inner = waiting.pop()
            if kind_of(inner) in (TraceSpanKind.MODEL, TraceSpanKind.AGENT):
                return []
            waiting += inner.children if kind_of(inner) is TraceSpanKind.OTHER else []
        return self._reader.of(span).output or []

    # --- models -------------------------------------------------------------------------------------------------------

    def _model(self, visit: _Visit) -> None:
        span, author = visit.span, visit.author
        contents, error = self._reader.of(span), error_of(span)
        self.turn.model_seconds += span.seconds or 0.0
        self.turn.errors.append(error)
        self._describe(author, contents)
        self._add_forwarded_calls(contents.input or (), author)
        self._add_earlier_responses(contents)
        if contents.output is None and error is None:
            self.turn.lost.append(f"what the model said in the span {span.name!r} is not in the trace")
        self._messages(contents.output or [], visit)
        if (broken := error or _cut_off(span, contents.output or ())) is not None:
            self._add_error(visit, broken)

    def _add_error(self, visit: _Visit, error: tuple[str, str]) -> None:
        event = {
            "author": visit.author,
            "error_code": error[0] or "error",
            "error_message": hide_secrets(error[1]),
        }
        self.turn.events.append({**event, "partial": visit.is_within or None})

    def _messages(self, messages: list[TraceMessage], visit: _Visit) -> None:
        """Record messages, one event each; the last one has the usage."""
        self.turn.spoke = self.turn.spoke or bool(messages)
        for index, message in enumerate(messages):
            if message.lost:
                self.turn.lost.append(
                    f"what was said in the span {visit.span.name!r} is not known: {message.lost}"
                )
            is_last = index == len(messages) - 1
            if not message.parts and not is_last:
                continue
            if message.role in ("user", "system") and message.has_content:
                continue
            self._event(message, visit, is_last=is_last)

    def _event(self, message: TraceMessage, visit: _Visit, *, is_last: bool) -> None:
        span, author = visit.span, visit.author
        event: dict[str, Any] = {"author": author, "timestamp": (span.end or span.start) / 1e9 or None}
        if message.parts:
            event["content"] = {"role": "model" if message.has_content else "user", "parts": message.parts}
        if visit.is_within and message.text:
            event["partial"] = True  # addressed to the calling agent, not to the user
        if is_last:
            event |= {"usage_metadata": usage_of(span), "model_version": model_of(span)}
        for part in message.parts:
            self._note_call(part, span, author)
        self.turn.events.append(event)

    def _note_call(self, part: dict[str, Any], span: TraceSpan, author: str) -> None:
        """Record the call of a part, or that its response answers a call."""
        if (call := part.get("function_call")) is not None:
            self.turn.calls.append(TraceCall(call, author, by_model=True))
            if not call["name"]:
                self.turn.lost.append(f"a call has no name in the span {span.name!r}")
        elif (response := part.get("function_response")) is not None:
            answered_call = self._answer_call(response)
            if answered_call is not None and response["name"] is None:
                response["name"] = answered_call.part["name"]

    def _describe(self, author: str, contents: Contents) -> None:
        if author in self.turn.agents or not (contents.instructions or contents.tools):
            return
        tools = [{"function_declarations": contents.tools}] if contents.tools else []
        described = {"name": author, "instructions": contents.instructions, "tool_declarations": tools}
        self.turn.agents[author] = described

    # --- tools --------------------------------------------------------------------------------------------------------

    def _tool_begins(self, span: TraceSpan, author: str) -> None:
        arguments = span.first(*ARGUMENTS)
        args, lost = read_arguments(arguments) if arguments is not None else (None, "")
        call = self._requested_call(call_id(span), tool_name(span), args, author)
        if call is None:
            call = TraceCall(
                {"id": call_id(span), "name": tool_name(span), "args": args}, author, by_model=False
            )
            content = {"role": "model", "parts": [{"function_call": call.part}]}
            time = span.start / 1e9 or None
            self.turn.events.append({"author": author, "content": content, "timestamp": time})
            self.turn.calls.append(call)
        elif call.part["args"] is None:
            call.part["args"] = args
        elif args is not None and call.part["args"] != args:
            self.turn.altered.append(call.part["name"])
        if lost and call.part["args"] is None:
            self.turn.lost.append(f"the arguments of {tool_name(span)!r} are not known: {lost}")
        call.is_executed = True
        self._executing[id(span)] = call

    def _requested_call(self, its_id: str | None, name: str, args: object, author: str) -> TraceCall | None:
        """Return the call that a tool is executed for: by its id, else by name and arguments, else by name."""
        open_calls = [call for call in self.turn.calls if call.by_model and not call.is_executed]
        by_id = [call for call in open_calls if its_id and call.part["id"] == its_id]
        return next(iter((*by_id, *_calls_by_name(open_calls, name, args, author))), None)

    def _tool_ends(self, span: TraceSpan, author: str) -> None:
        call = self._executing.pop(id(span), None)
        result, error = span.first(*RESULTS), error_of(span)
        if call is None or call.is_answered:
            return
        if result is not None:
            response = read_response(result)
        elif error is not None:
            response = {"error": error[1]}
        else:
            return  # the next model call may contain it
        call.is_answered = True
        part = response_part(call.part["name"], call.part["id"], response)
        self._add_response(part, author, (span.end or span.start) / 1e9 or None)
        if error is not None:
            self.turn.failed = len(self.turn.events)

    def _add_response(self, part: dict[str, object], author: str, time: float | None = None) -> None:
        content = {"role": "user", "parts": [part]}
        self.turn.events.append({"author": author, "content": content, "timestamp": time})

    def _add_forwarded_calls(self, messages: Iterable[TraceMessage], author: str, *, before: int = 0) -> None:
        """Add the calls of this turn that have no span from messages that were passed on, `before` so many events."""
        since: list[dict[str, Any]] = []
        for message in messages:
            if message.role == "user" and message.has_content:
                since = []
            since += [part["function_call"] for part in message.parts if "function_call" in part]
        call_counts = Counter(
            [*self._known, *(str(call.part["name"]) for call in self.turn.calls)] if since else ()
        )
        at = max(0, len(self.turn.events) - before)
        for call in since:
            call_counts[call["name"]] -= 1
            if call_counts[call["name"]] < 0:
                content = {"role": "model", "parts": [{"function_call": call}]}
                self.turn.insert_call(TraceCall(call, author, by_model=True, is_executed=True), content, at)
                at += 1

    def _add_earlier_responses(self, contents: Contents) -> None:
        """Add the tool responses in a model's input whose tools have no span, or a span without the response."""
        if not any(not call.is_answered for call in self.turn.calls):
            return
        since: list[dict[str, Any]] = []
        for message in contents.input or ():
            if message.has_content:
                since = []
            since += [part for part in message.parts if "function_response" in part]
        for part in since:
            if (call := self._answer_call(part["function_response"])) is not None:
                answer = {**part["function_response"], "id": call.part["id"], "name": call.part["name"]}
                self._add_response({"function_response": answer}, call.author)

    def _answer_call(self, answer: dict[str, object]) -> TraceCall | None:
        """Return the call that an answer is for, which has none yet."""
        waiting = [call for call in self.turn.calls if not call.is_answered]
        if answer["id"]:
            matches = [call for call in waiting if call.part["id"] == answer["id"]]
        else:
            matches = [call for call in waiting if answer["name"] in (None, call.part["name"])]
        call = next(iter(matches), None)
        if call is not None:
            call.is_answered = True
        return call


ARGUMENTS = (
    "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "tool_arguments", "input.value",
    "langfuse.observation.input", "traceloop.entity.input", "tool.parameters",
)  # fmt: skip
RESULTS = (
    "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "tool_response", "output.value",
    "langfuse.observation.output", "traceloop.entity.output",
)  # fmt: skip


def _cut_off(span: TraceSpan, messages: Sequence[TraceMessage]) -> tuple[str, str] | None:
    """Why an answer ends where it ends, if not because it was complete; as `error_of`."""
    attribute = span.attributes.get("gen_ai.response.finish_reasons")
    finish_reasons = attribute if isinstance(attribute, list) else [attribute]
    reasons = [*(one.finish for one in messages), *(str(one) for one in finish_reasons)]
    return next(((reason, why) for reason in reasons if (why := incomplete_answer_reason(reason))), None)


def _has_calls(messages: list[TraceMessage]) -> bool:
    return any("function_call" in part for message in messages for part in message.parts)


def _agent_author(name: str) -> str:
    """An author's name that is not the user's: events of the user are no evidence of the agent."""
    return name if name.lower() != "user" else AGENT


# --- the events of one turn -------------------------------------------------------------------------------------------


def _calls_by_name(calls: Iterable[TraceCall], name: str, args: object, author: str) -> list[TraceCall]:
    """Return the calls of a tool: those with these arguments, then others that may be the same call."""
    candidates = [call for call in calls if call.part["name"] == name]
    alike = [call for call in candidates if call.part["args"] == args]
    possible = [call for call in candidates if call.author == author or None in (args, call.part["args"])]
    return [*alike, *possible]


@dataclass(slots=True, eq=False)
class TraceCall:
    """A tool call in the trace."""

    part: dict[str, Any]
    """The call in its event; its arguments may come later, from the span of the tool."""
    author: str
    by_model: bool
    is_executed: bool = False
    is_answered: bool = False


@dataclass(slots=True)
class TurnEvents:
    """The events of one turn, as far as its spans contain them."""

    events: list[dict[str, Any]] = field(default_factory=list)
    calls: list[TraceCall] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """What is missing without which nothing can be scored."""
    endless: str = ""
    """The name of a span that never ended."""
    failed: int = 0
    """How many events there were when a tool had failed last."""
    forwarded_calls: int = 0
    """The number of calls that only passed-on messages contain: in a later model call, or in the agent's output."""
    altered: list[str] = field(default_factory=list)
    """Tools that were executed with other arguments than the model asked for."""
    is_bare: bool = False
    """Whether only the input and the output of an agent are known."""
    survived: list[tuple[str, str]] = field(default_factory=list)
    """Agents inside that failed: name and message."""
    errors: list[tuple[str, str] | None] = field(default_factory=list)
    """How each model call ended, in order: class and message of its error, or `None`."""
    spoke: bool = False
    """Whether a model, or an agent's own span, contained an answer, even an empty one."""
    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Instructions and tools by the agent's name."""

    def insert_call(self, call: TraceCall, content: dict[str, Any], at: int) -> None:
        """Add a call without a span, as the event `at`."""
        self.forwarded_calls += 1
        self.calls.append(call)
        self.events.insert(at, {"author": call.author, "content": content})
        self.failed += self.failed > at

    def validated_events(self) -> list[Event]:
        """Return the events."""
        return [Event.model_validate(event) for event in self.events]
